/*
 * options.h - one table of options: what the parser accepts is what help, manual pages and completion show. Options of the
 * library carry its own names and go to klift_spec_set, klift_run_set or klift_data_open as they are.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "klift.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum { TO_SPEC, TO_LIBSVM, TO_RUN, TO_DATA, TO_COMMAND } destination; /* TO_LIBSVM: through libsvm.c to the spec */

typedef struct cli_option {
    const char *name;     /* long, or one letter when it has no long form */
    char letter;          /* 0: none */
    const char *value;    /* what the help calls it; NULL: a flag */
    const char *commands; /* the commands that take it, separated by blanks */
    destination to;
    const char *help;
} cli_option;

typedef struct options options;

typedef struct cli_command {
    const char *name, *arguments, *summary;
    const char *detail, *examples;
    int least, most;   /* arguments beside options */
    const char *names; /* klift_list of what the first argument may be; NULL: it is a file */
    klift_status (*run)(const options *given);
} cli_command;

typedef struct setting {
    const cli_option *option;
    const char *value; /* "" for a flag */
    char *place;       /* "FILE:LINE" of --config, owned, and value with it; NULL: the command line */
} setting;

struct options {
    const cli_command *command;
    setting *setting; /* (settings), in the order given */
    int settings;
    const char **argument; /* (arguments) */
    int arguments;
    char **word; /* (words) all of it, as typed after the command's name */
    int words;
    int aside; /* lines of the --config file that do not count here */
};

/* argv after the command's name, then the file of --config; messages go to stderr. The strings of argv are borrowed. */
klift_status options_parse(const cli_command *command, int argc, char **argv, options *given);
void options_clear(options *given);
const char *options_get(const options *given, const char *name); /* the last value; NULL when not given */
bool options_has(const options *given, const char *name);
/* Walks the options of a command, or with NULL the whole table: start with after NULL. */
const cli_option *options_next(const cli_command *command, const cli_option *after);

#endif
