/* help.c - klift help, klift COMMAND --help and klift help TOPIC. */
#include "help.h"

#include "commands.h"
#include "completion.h"
#include "libsvm.h"
#include "manual.h"
#include "nearest.h"
#include "progress.h"
#include "registry.h"

#include <string.h>

const char help_examples[] = "  klift generate rings train.svm --rows 10000\n"
                             "  klift generate rings test.svm --rows 5000 --seed 2\n"
                             "  klift train train.svm --test test.svm\n"
                             "  klift predict train.svm.klift test.svm labels.txt\n";

void help_commands(page *p)
{
    for (int i = 0; commands[i] != NULL; i++)
        page_item(p, page_entry, commands[i]->name, NULL, commands[i]->summary);
    page_item(p, page_entry, "help", NULL, "how a command is used, or a topic: klift help train");
    page_item(p, page_entry, "version", NULL, "the version of klift");
}

void help_topics(page *p)
{
    for (const cli_topic *topic = topics; topic->name != NULL; topic++)
        page_item(p, page_entry, topic->name, NULL, topic->summary);
}

void help_usage(FILE *to)
{
    page p = page_text(to);
    fputs("usage: klift COMMAND [options] ...\n\n", to);
    help_commands(&p);
}

static void print_overview(void)
{
    page p = page_text(stdout);
    printf("klift %s - kernel machines by explicit feature maps\n\n", klift_version());
    help_usage(stdout);
    puts("\nklift COMMAND --help tells all options of a command, klift help TOPIC explains:");
    help_topics(&p);
    page_heading(&p, "Examples");
    page_example(&p, help_examples);
    puts("\nExit codes: 0 done, 1 failed, 2 usage, 3 data, 4 model, 5 input or output, 6 memory, 130 or 143 interrupted.");
}

static void print_option(page *p, const cli_option *option)
{
    char name[64], letter[8] = "    ";
    bool is_long = option->name[1] != '\0';
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c%s", option->letter, is_long ? ", " : "");
    snprintf(name, sizeof name, "%s%s%s", letter, is_long ? "--" : "", is_long ? option->name : "");
    page_item(p, page_option, name, option->value, option->help);
}

void help_options(page *p, const cli_command *command)
{
    static const char *const heading[] = {"What is computed", "LIBSVM's flags for the same", "How it runs", "Data", "The command"};
    for (int group = TO_SPEC; group <= TO_COMMAND; group++) {
        bool any = false;
        for (const cli_option *option = NULL; (option = options_next(command, option)) != NULL;) {
            if ((int)option->to != group)
                continue;
            if (!any)
                page_subheading(p, heading[group]);
            any = true;
            print_option(p, option);
        }
    }
}

void help_command(const cli_command *command)
{
    char usage[256];
    page p = page_text(stdout);
    snprintf(usage, sizeof usage, "klift %s %s", command->name, command->arguments);
    page_paragraph(&p, usage);
    page_paragraph(&p, command->detail);
    help_options(&p, command);
    page_heading(&p, "Examples");
    page_example(&p, command->examples);
}

static void print_libsvm(page *p)
{
    char flag[] = "-?";
    for (const cli_option *option = NULL; (option = options_next(&cmd_train, option)) != NULL;)
        if (option->letter != 0 && (option->to == TO_LIBSVM || option->to == TO_SPEC)) {
            flag[1] = option->letter;
            page_item(p, page_entry, flag, option->value, option->help);
        }
    page_item(p, page_entry, "-q", NULL, "no progress; warnings and results remain");
    for (char letter = 'A'; letter <= 'z'; letter++)
        if (libsvm_instead(letter) != NULL) {
            flag[1] = letter;
            page_item(p, page_entry, flag, NULL, libsvm_instead(letter));
        }
}

klift_status help_topic_body(page *p, const cli_topic *topic)
{
    klift_status status = KLIFT_OK;
    page_write(p, topic->before);
    if (topic->list != NULL && strcmp(topic->list, "libsvm") == 0)
        print_libsvm(p);
    else if (topic->list != NULL)
        status = registry_print(p, topic->list);
    if (topic->after != NULL)
        page_write(p, topic->after);
    return status;
}

static klift_status print_topic(const cli_topic *topic)
{
    page p = page_text(stdout);
    printf("%s: %s\n", topic->title, topic->summary);
    p.begun = true;
    if (strchr(topic->before[0], '\t') != NULL)
        putchar('\n'); /* items leave no line above them */
    klift_status status = help_topic_body(&p, topic);
    if (status == KLIFT_OK && topic->examples != NULL) {
        page_heading(&p, "Examples");
        page_example(&p, topic->examples);
    }
    return status;
}

static klift_status refuse(const char *name)
{
    const char *known[64] = {"help", "version"};
    size_t count = 2;
    for (int i = 0; commands[i] != NULL; i++)
        known[count++] = commands[i]->name;
    for (const cli_topic *topic = topics; topic->name != NULL && count < sizeof known / sizeof known[0] - 1; topic++)
        known[count++] = topic->name;
    const char *near = nearest(name, known);
    if (near != NULL)
        return progress_fail(KLIFT_USAGE, "there is no help on '%s': did you mean '%s'?", name, near);
    return progress_fail(KLIFT_USAGE, "there is no help on '%s'; klift help lists the commands and topics", name);
}

klift_status help_run(int argc, char **argv)
{
    const char *name = argc > 0 ? argv[0] : "help";
    const cli_command *command = commands_find(name);
    const cli_topic *topic = topics_find(name);
    if (strcmp(name, "--man") == 0 && argc > 1)
        return manual_print(argv[1], argc > 2 ? argv[2] : "");
    if (strcmp(name, "--completion") == 0 && argc > 1)
        return completion_print(argv[1]);
    if (argc > 1)
        return progress_fail(KLIFT_USAGE, "'%s' is one argument too many; usage: klift help [COMMAND | TOPIC]", argv[1]);
    if (command != NULL)
        help_command(command);
    else if (topic != NULL)
        return print_topic(topic);
    else if (strcmp(name, "help") == 0 || strcmp(name, "version") == 0 || strcmp(name, "--help") == 0)
        print_overview();
    else
        return refuse(name);
    return KLIFT_OK;
}
