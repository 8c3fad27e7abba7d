/* manual.c - klift(1) with all topics, klift-COMMAND(1) with all options. */
#include "manual.h"

#include "commands.h"
#include "help.h"
#include "page.h"
#include "progress.h"
#include "topics.h"

#include <ctype.h>
#include <string.h>

static void print_title(const char *name, const char *date)
{
    fputs(".TH ", stdout);
    for (const char *c = name; *c != '\0'; c++) {
        char upper = (char)toupper((unsigned char)*c);
        page_escape(&upper, 1, stdout);
    }
    printf(" 1 \"%s\" \"klift %s\" \"klift manual\"\n.nr HY 0\n.nh\n.ad l\n", date, klift_version());
}

static void print_name(page *p, const char *name, const char *summary)
{
    page_heading(p, "Name");
    page_escape(name, strlen(name), stdout);
    fputs(" \\- ", stdout);
    page_escape(summary, strlen(summary), stdout);
    fputc('\n', stdout);
}

static void print_synopsis(page *p, const char *words, const char *arguments)
{
    page_heading(p, "Synopsis");
    printf(".B klift%s%s\n", *words != '\0' ? " " : "", words);
    page_escape(arguments, strlen(arguments), stdout);
    fputc('\n', stdout);
}

/* Every other page of klift. */
static void print_others(page *p, const cli_command *self)
{
    page_heading(p, "See also");
    if (self != NULL)
        puts(".BR klift (1),");
    for (int i = 0; commands[i] != NULL; i++)
        if (commands[i] != self)
            printf(".BR klift\\-%s (1),\n", commands[i]->name);
    puts(".BR klift (3)");
}

static klift_status print_command(const cli_command *command, const char *date)
{
    char name[64];
    page p = page_roff(stdout);
    const cli_topic *codes = topics_find("exit-codes");
    snprintf(name, sizeof name, "klift-%s", command->name);
    print_title(name, date);
    print_name(&p, name, command->summary);
    print_synopsis(&p, command->name, command->arguments);
    page_heading(&p, "Description");
    page_paragraph(&p, command->detail);
    page_heading(&p, "Options");
    help_options(&p, command);
    page_heading(&p, "Examples");
    page_example(&p, command->examples);
    page_heading(&p, codes->title);
    klift_status status = help_topic_body(&p, codes);
    print_others(&p, command);
    return status;
}

static klift_status print_klift(const char *date)
{
    klift_status status = KLIFT_OK;
    page p = page_roff(stdout);
    print_title("klift", date);
    print_name(&p, "klift", "kernel machines by explicit feature maps");
    print_synopsis(&p, "", "COMMAND [options] ...");
    page_heading(&p, "Description");
    page_paragraph(&p, "klift replaces a kernel K by an explicit feature map z with z(x).z(y) ~ K(x, y) and trains a linear model on z(x): it streams over the "
                       "data, whatever their size, and a prediction costs the same however many rows there were.");
    page_paragraph(&p, "Results go to standard output, progress and messages to standard error. Each command has a page of its own, and klift COMMAND --help. "
                       "The sections below are also printed by klift help TOPIC.");
    page_heading(&p, "Commands");
    help_commands(&p);
    for (const cli_topic *topic = topics; topic->name != NULL && status == KLIFT_OK; topic++) {
        page_heading(&p, topic->title);
        status = help_topic_body(&p, topic);
        page_end(&p);
        if (topic->examples != NULL) {
            page_paragraph(&p, "Examples:");
            page_example(&p, topic->examples);
        }
    }
    page_heading(&p, "Examples");
    page_example(&p, help_examples);
    print_others(&p, NULL);
    return status;
}

klift_status manual_print(const char *name, const char *date)
{
    const cli_command *command = commands_find(name);
    if (strcmp(name, "klift") != 0 && command == NULL)
        return progress_fail(KLIFT_USAGE, "there is no manual page of '%s': klift, or the name of a command", name);
    if (date[strspn(date, "0123456789-")] != '\0')
        return progress_fail(KLIFT_USAGE, "'%s' is no date; YYYY-MM-DD", date);
    return command != NULL ? print_command(command, date) : print_klift(date);
}
