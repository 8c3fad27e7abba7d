/* main.c - klift: finds the command, parses its options, turns its status into an exit code. */
#include "commands.h"

#include "config.h"
#include "help.h"
#include "nearest.h"
#include "output.h"
#include "progress.h"
#include "signal.h"

#include <signal.h>
#include <string.h>

static klift_status refuse(const char *name)
{
    const char *known[32] = {"help", "version"};
    for (int i = 0; commands[i] != NULL; i++)
        known[2 + i] = commands[i]->name;
    const char *near = nearest(name, known);
    if (near != NULL)
        return progress_fail(KLIFT_USAGE, "unknown command '%s': did you mean '%s'?", name, near);
    return progress_fail(KLIFT_USAGE, "unknown command '%s'; klift --help lists them", name);
}

static klift_status run(const cli_command *chosen, int argc, char **argv)
{
    options given;
    klift_status status = options_parse(chosen, argc, argv, &given);
    if (status == KLIFT_OK && options_has(&given, "help"))
        help_command(chosen);
    else if (status == KLIFT_OK) {
        progress_init(options_has(&given, "quiet"), options_has(&given, "verbose"));
        if (options_has(&given, "verbose"))
            config_report(&given);
        status = chosen->run(&given);
        progress_end();
    }
    options_clear(&given);
    return status;
}

static klift_status dispatch(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (name == NULL) {
        help_usage(stderr);
        return KLIFT_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help_run(0, NULL);
    if (strcmp(name, "help") == 0)
        return help_run(argc - 2, argv + 2);
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("klift %s\n", klift_version());
        return KLIFT_OK;
    }
    const cli_command *chosen = commands_find(name);
    return chosen != NULL ? run(chosen, argc - 2, argv + 2) : refuse(name);
}

/* Statuses are exit codes; a stopped run ends as the signal would have ended it, a closed pipe as SIGPIPE would have. */
static int exit_code(klift_status status)
{
    if (status != KLIFT_OK && signal_caught() != 0)
        return 128 + signal_caught();
    if (status == KLIFT_CANCELLED)
        return 128 + SIGINT;
    if (output_reader_left(status))
        return 128 + SIGPIPE;
    return (int)status;
}

int main(int argc, char **argv)
{
    signal_init();
    progress_init(false, false);
    klift_status status = dispatch(argc, argv), written = output_finish();
    return exit_code(status != KLIFT_OK ? status : written);
}
