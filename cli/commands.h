/* commands.h - the commands: one file each, which ends with its description. commands.c lists them. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

extern const cli_command cmd_train, cmd_predict, cmd_test, cmd_transform, cmd_inspect, cmd_list, cmd_generate, cmd_doctor;
extern const cli_command *const commands[]; /* NULL-terminated, in the order of the help */

const cli_command *commands_find(const char *name); /* NULL: there is none */

/* Forwards a failure, which has been reported, to the `done:` label of a function that has `klift_status status`. */
#define CLI_GO(call)            \
    do {                        \
        status = (call);        \
        if (status != KLIFT_OK) \
            goto done;          \
    } while (0)

#endif
