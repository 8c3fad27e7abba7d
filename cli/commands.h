/* commands.h - the commands: one file each, which ends with its description. main.c lists them. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

extern const cli_command cmd_train, cmd_predict, cmd_test, cmd_transform, cmd_inspect, cmd_list, cmd_generate, cmd_doctor;

/* Forwards a failure, which has been reported, to the `done:` label of a function that has `klift_status status`. */
#define CLI_GO(call)            \
    do {                        \
        status = (call);        \
        if (status != KLIFT_OK) \
            goto done;          \
    } while (0)

#endif
