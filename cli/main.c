/* main.c - klift: finds the command, parses its options, turns its status into an exit code. */
#include "commands.h"

#include "nearest.h"
#include "output.h"
#include "progress.h"
#include "signal.h"

#include <signal.h>
#include <string.h>

static const cli_command *const commands[] = {&cmd_train, &cmd_predict, &cmd_test, &cmd_transform, &cmd_inspect, &cmd_list, &cmd_generate, &cmd_doctor};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *to)
{
    fputs("usage: klift COMMAND [options] ...\n\n", to);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help       how a command is used: klift help train\n"
          "  version    the version of klift\n",
          to);
}

static void print_help(void)
{
    printf("klift %s - kernel machines by explicit feature maps\n\n", klift_version());
    print_usage(stdout);
    puts("\nklift COMMAND --help tells all options of a command.\n\n"
         "Examples:\n"
         "  klift generate rings train.svm --rows 10000\n"
         "  klift generate rings test.svm --rows 5000 --seed 2\n"
         "  klift train train.svm --test test.svm\n"
         "  klift predict train.svm.klift test.svm labels.txt\n\n"
         "Exit codes: 0 done, 1 failed, 2 usage, 3 data, 4 model, 5 input or output, 6 memory, 130 or 143 interrupted.");
}

static const cli_command *find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static klift_status refuse(const char *name)
{
    const char *known[COMMANDS + 3] = {"help", "version"};
    for (int i = 0; i < COMMANDS; i++)
        known[2 + i] = commands[i]->name;
    const char *near = nearest(name, known);
    if (near != NULL)
        return progress_fail(KLIFT_USAGE, "unknown command '%s': did you mean '%s'?", name, near);
    return progress_fail(KLIFT_USAGE, "unknown command '%s'; klift --help lists them", name);
}

static klift_status help(const char *topic)
{
    const cli_command *about = topic != NULL ? find(topic) : NULL;
    if (topic != NULL && about == NULL && strcmp(topic, "help") != 0 && strcmp(topic, "version") != 0)
        return refuse(topic);
    if (about != NULL)
        options_help(about, stdout);
    else
        print_help();
    return KLIFT_OK;
}

static klift_status run(const cli_command *chosen, int argc, char **argv)
{
    options given;
    klift_status status = options_parse(chosen, argc, argv, &given);
    if (status == KLIFT_OK && options_has(&given, "help"))
        options_help(chosen, stdout);
    else if (status == KLIFT_OK) {
        progress_init(options_has(&given, "quiet"), options_has(&given, "verbose"));
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
        print_usage(stderr);
        return KLIFT_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(strcmp(name, "help") == 0 && argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("klift %s\n", klift_version());
        return KLIFT_OK;
    }
    const cli_command *chosen = find(name);
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
