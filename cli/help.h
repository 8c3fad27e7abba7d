/*
 * help.h - the pages of help, from the table of options, the list of commands, the topics and the library's registries.
 * Each is written to a page, so that klift help and the manual pages are one text.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "options.h"
#include "page.h"
#include "topics.h"

void help_usage(FILE *to);                                     /* the commands, in a few lines */
void help_command(const cli_command *command);                 /* klift COMMAND --help */
void help_options(page *p, const cli_command *command);        /* its options, by what they are about */
klift_status help_topic_body(page *p, const cli_topic *topic); /* without title and examples */
void help_commands(page *p);                                   /* names and summaries */
void help_topics(page *p);
extern const char help_examples[]; /* of klift --help */

/* klift help [COMMAND | TOPIC], and for make: help --man PAGE [DATE], help --completion bash|zsh. */
klift_status help_run(int argc, char **argv);

#endif
