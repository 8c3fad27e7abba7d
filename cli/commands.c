/* commands.c - the list of commands: main.c, help, manual pages and completion walk it. */
#include "commands.h"

#include <string.h>

const cli_command *const commands[] = {&cmd_train, &cmd_predict, &cmd_test, &cmd_transform, &cmd_inspect, &cmd_list, &cmd_generate, &cmd_doctor, NULL};

const cli_command *commands_find(const char *name)
{
    for (int i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}
