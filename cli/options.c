/* options.c - the table and its parser. */
#include "options.h"

#include "config.h"
#include "libsvm.h"
#include "nearest.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

#define MAPS "train transform"
#define RUNS "train predict test transform"
#define READS "train predict test transform inspect"

static const cli_option table[] = {
    {"kernel", 0, "SPEC", MAPS, TO_SPEC, "kernel, e.g. gaussian:gamma=0.5 (klift list kernels); default gaussian"},
    {"map", 0, "SPEC", MAPS, TO_SPEC, "feature map (klift list maps); default auto: by the kernel"},
    {"features", 0, "N", MAPS, TO_SPEC, "columns of the feature map; default 2048"},
    {"prepare", 0, "NAME", MAPS, TO_SPEC, "none, unit, unit-keep-norm, standardise, minmax, maxnorm or meannorm: what is done to rows first; default none"},
    {"seed", 0, "N", MAPS, TO_SPEC, "seed of everything random; default 1"},
    {"learner", 0, "SPEC", "train", TO_SPEC, "learner (klift list learners); default ridge"},
    {"tolerance", 'e', "X", "train", TO_SPEC, "svm: stop when the duality gap is this part of the objective; default 0.001. logistic: when the gradient is this part of that at the start; 0.0001"},
    {"epsilon", 'p', "X", "train", TO_SPEC, "svm, sgd, doubly-stochastic: errors of a regression up to it cost nothing, or with loss=huber their square; default 0.1"},
    {"bias", 'B', "X", "train", TO_SPEC, "svm, sgd: the constant feature behind the intercept, -1 for none; default 1"},
    {"cache", 0, "NAME", "train", TO_SPEC, "svm: auto, float32, int16 or bf16: what features are rounded to for training; 16 bits take half the memory; default auto"},
    {"holdout", 0, "SHARE", "train", TO_SPEC, "sgd with several passes: hold this share of the rows out, and give the weights of the pass with the least error on them; default: 0.1 with --early-stop"},
    {"early-stop", 0, "ROUNDS", "train", TO_SPEC, "sgd with several passes: end when so many in a row were no better on the rows held out; default: never"},
    {"warm-start", 0, "MODEL", "train", TO_SPEC, "go on from MODEL (sgd), or begin at it (logistic): preparation, map, seed and lambda are its own"},
    {"task", 0, "NAME", "train", TO_SPEC, "auto, classify or regress; default auto: by the labels"},
    {"lambda", 0, "X", "train", TO_SPEC, "regularisation, relative to the rows; default auto: by search"},
    {"path", 0, "C,C,...", "train", TO_SPEC, "svm: values of C to choose from by --search or -v, or auto: 2^-5, 2^-3, ... while they get better"},
    {"search", 0, "NAME", "train", TO_SPEC, "how lambda is chosen: auto, folds, holdout or gcv"},
    {"folds", 0, "K", "train", TO_SPEC, "folds of the cross-validation; default 5"},
    {"code", 0, "NAME", "train", TO_SPEC, "identity, random, balanced, hadamard or exhaustive: error-correcting output code of the classes; default none"},
    {"bits", 0, "N", "train", TO_SPEC, "bits of a random or balanced code; default auto: 50 for every doubling of the classes"},
    {"decode", 0, "NAME", "train", TO_SPEC, "soft or hamming: how the bits of a code become a class; default soft"},
    {"allow-one-class", 0, NULL, "train", TO_SPEC, "train on rows of one class too: the model always answers it"},
    {"probability", 0, NULL, "train", TO_SPEC, "fit probabilities of the classes on scores of rows held out, for predict --probability; svm then trains once more per fold"},
    {"class-weight", 0, "W", "train", TO_SPEC, "factor of the rows of a class: balanced, or LABEL=W,LABEL=W; default none"},
    {"c", 'c', "C", "train", TO_LIBSVM, "cost: lambda = 1 / (C rows)"},
    {"s", 's', "0|3", "train", TO_LIBSVM, "svm-train's types: 0 is --learner svm:loss=hinge --task classify, 3 is svm:loss=epsilon, regress"},
    {"t", 't', "0|1|2|3", "train", TO_LIBSVM, "kernel: 0 linear, 1 poly, 2 gaussian, 3 sigmoid"},
    {"g", 'g', "GAMMA", "train", TO_LIBSVM, "gamma of the gaussian, poly or sigmoid kernel"},
    {"d", 'd', "DEGREE", "train", TO_LIBSVM, "degree of the poly kernel (-t 1); default 3"},
    {"r", 'r', "OFFSET", "train", TO_LIBSVM, "offset of the poly or sigmoid kernel (-t 1, -t 3); default 0"},
    {"w", 'w', "LABEL W", "train", TO_LIBSVM, "factor of the rows of a class, label and letter together: -w1 5 -w-1 0.5; --class-weight says the same"},
    {"b", 'b', "0|1", "train predict", TO_LIBSVM, "1: the same as --probability"},
    {"v", 'v', "K", "train", TO_LIBSVM, "K-fold cross-validation: prints LIBSVM's line, writes no model"},
    {"threads", 0, "N", RUNS " doctor", TO_RUN, "threads; default: the CPUs this process may use"},
    {"batch", 0, "ROWS", RUNS, TO_RUN, "rows read at a time; default 4096"},
    {"max-memory", 0, "SIZE", RUNS, TO_RUN, "memory limit, e.g. 500M or 16G; default: half of the machine's"},
    {"checkpoint", 0, "FILE", "train", TO_RUN, "keep the state of the training in FILE, so that a run that was stopped or killed can go on; removed when the model is written"},
    {"checkpoint-every", 0, "TIME|ROWS", "train", TO_RUN, "how often: 30s, 5m or 1h, or a number of rows; default: every minute, less often where writing takes long"},
    {"resume", 0, NULL, "train", TO_RUN, "go on from the file of --checkpoint; without one there, start at the first row"},
    {"format", 0, "NAME", READS, TO_DATA, "format of DATA; default auto: by content"},
    {"dim", 0, "N", READS, TO_DATA, "number of columns; default: from the data or the model"},
    {"labels", 0, "FILE", READS, TO_DATA, "file of labels, NPY or IDX, for data without them (NPY, IDX)"},
    {"key", 0, "NAME", READS, TO_DATA, "array of the rows in an NPZ file; default: the only 2-D one, else X, x, data or arr_0"},
    {"label-key", 0, "NAME", READS, TO_DATA, "array of the labels in an NPZ file, or none; default: y, labels, target or arr_1"},
    {"no-label", 0, NULL, READS, TO_DATA, "rows of text data have no label"},
    {"index-base", 0, "0|1", READS, TO_DATA, "number of the first column in text data; default: by content"},
    {"sort-indices", 0, NULL, READS, TO_DATA, "sort rows of LIBSVM text whose indices do not ascend; default: they are an error"},
    {"ignore-extra", 0, NULL, READS, TO_DATA, "leave out entries of LIBSVM text beyond the columns of the model or --dim; default: they are an error"},
    {"label-type", 0, "NAME", READS, TO_DATA, "number or text: what labels in text data are; default: number, in CSV by content"},
    {"label", 0, "COLUMN", READS, TO_DATA, "label column of CSV: name, or position from 1, negative from the end; default: label, target, class or y, else the last"},
    {"header", 0, "true|false", READS, TO_DATA, "whether the first row of CSV names the columns; default: by content"},
    {"delimiter", 0, "NAME", READS, TO_DATA, "comma, semicolon, tab, pipe or space; default: by content, never space"},
    {"categorical", 0, "COLUMNS", READS, TO_DATA, "columns of CSV to take as categories though they hold numbers, joined by +; text columns always are"},
    {"ignore", 0, "COLUMNS", READS, TO_DATA, "columns of CSV to leave out, joined by +"},
    {"missing", 0, "NAME", READS, TO_DATA, "error, zero, mean or skip: empty cells, NA, NaN, null and ? in CSV, NaN in LIBSVM text (there without mean); default error, or as in training"},
    {"decimal", 0, "NAME", READS, TO_DATA, "point or comma: decimal sign in CSV; default point"},
    {"rows", 0, "N", "generate", TO_DATA, "rows to make; default 1000"},
    {"dim", 0, "D", "generate", TO_DATA, "columns; default: the fewest that make sense"},
    {"noise", 0, "X", "generate", TO_DATA, "spread of the points or of the response, or share of wrong labels"},
    {"seed", 0, "N", "generate", TO_DATA, "other seeds make other rows of the same kind; default 1"},
    {"labels", 0, "FILE", "generate", TO_COMMAND, "where the labels of an .npy file go"},
    {"output", 'o', "MODEL", "train", TO_COMMAND, "model to write; default: DATA's file name + .klift, here"},
    {"test", 0, "FILE", "train", TO_COMMAND, "test the model on FILE and print the metrics"},
    {"test-labels", 0, "FILE", "train", TO_COMMAND, "file of labels for --test (NPY, IDX)"},
    {"curve", 0, NULL, "train", TO_COMMAND, "also print the error at doubling counts of rows: of --test, otherwise of rows held out (ridge, sgd); the model is the same"},
    {"snapshot-every", 0, "ROWS", "train", TO_COMMAND, "write the model that the first rows make to MODEL after every so many, at the end of a block (ridge, sgd); for input that does not end"},
    {"scores", 0, NULL, "predict", TO_COMMAND, "a header line, then the label and every output, tab-separated"},
    {"probability", 0, NULL, "predict", TO_COMMAND, "a header line, then the label and the probability of every class, tab-separated; for models trained with it"},
    {"model", 0, "MODEL", "transform", TO_COMMAND, "use the preparation and map of this model"},
    {"save", 0, "MODEL", "transform", TO_COMMAND, "keep the fitted preparation and map as a model without weights"},
    {"output-labels", 0, "FILE", "transform", TO_COMMAND, "where the labels of an .npy file go"},
    {"json", 0, NULL, "train test inspect list doctor", TO_COMMAND, "one JSON value on standard output"},
    {"verbose", 0, NULL, "train", TO_COMMAND, "also print the error of every lambda tried"},
    {"quiet", 'q', NULL, READS " generate", TO_COMMAND, "no progress and no notes; warnings and errors remain"},
    {"config", 0, "FILE", READS " list generate doctor", TO_COMMAND, "take options from lines key = value of FILE (klift help config); those given here win"},
    {"help", 'h', NULL, "predict test transform inspect list generate doctor", TO_COMMAND, "this text"},
    {"help", 0, NULL, "train", TO_COMMAND, "this text"}, /* LIBSVM's -h is something else */
};
enum { OPTIONS = sizeof table / sizeof table[0] };

static bool takes(const cli_option *option, const char *command)
{
    size_t length = strlen(command);
    for (const char *p = option->commands; *p != '\0'; p += strspn(p, " ")) {
        size_t span = strcspn(p, " ");
        if (span == length && memcmp(p, command, length) == 0)
            return true;
        p += span;
    }
    return false;
}

const cli_option *options_next(const cli_command *command, const cli_option *after)
{
    for (const cli_option *option = after != NULL ? after + 1 : table; option < table + OPTIONS; option++)
        if (command == NULL || takes(option, command->name))
            return option;
    return NULL;
}

static bool is_long(const cli_option *option)
{
    return option->name[1] != '\0';
}

static const cli_option *find_long(const char *command, const char *name, size_t length)
{
    for (int i = 0; i < OPTIONS; i++)
        if (takes(&table[i], command) && is_long(&table[i]) && strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

static klift_status refuse(const cli_command *command, const char *name, int length, const char *written)
{
    const char *known[OPTIONS + 1], *elsewhere = NULL;
    char typed[64];
    int count = 0;
    snprintf(typed, sizeof typed, "%.*s", length, name);
    for (int i = 0; i < OPTIONS; i++) {
        if (takes(&table[i], command->name) && is_long(&table[i]))
            known[count++] = table[i].name;
        else if (strcmp(table[i].name, typed) == 0)
            elsewhere = table[i].commands;
    }
    known[count] = NULL;
    const char *near = nearest(typed, known);
    if (elsewhere != NULL && (near == NULL || strcmp(near, typed) != 0))
        return progress_fail(KLIFT_USAGE, "%s has no option %s; it belongs to: %s", command->name, written, elsewhere);
    if (near != NULL)
        return progress_fail(KLIFT_USAGE, "unknown option %s: did you mean --%s?", written, near);
    return progress_fail(KLIFT_USAGE, "unknown option %s; klift %s --help lists them", written, command->name);
}

/* Keeps the option; its value is attached, or the next argument. */
static klift_status keep(options *given, const cli_option *option, const char *attached, int argc, char **argv, int *at)
{
    const char *value = "";
    if (option->value == NULL && attached != NULL)
        return progress_fail(KLIFT_USAGE, "%s takes no value", argv[*at]);
    if (option->value != NULL) {
        if (attached == NULL && *at + 1 >= argc)
            return progress_fail(KLIFT_USAGE, "%s needs a value: %s", argv[*at], option->help);
        value = attached != NULL ? attached : argv[++*at];
    }
    given->setting[given->settings++] = (setting){option, value, NULL};
    return KLIFT_OK;
}

static klift_status read_long(options *given, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const cli_option *option = find_long(given->command->name, name, length);
    if (option == NULL)
        return refuse(given->command, name, (int)length, argv[*at]);
    return keep(given, option, name[length] == '=' ? name + length + 1 : NULL, argc, argv, at);
}

/* -wLABEL W: two settings, the label and then its weight. */
static klift_status keep_weight(options *given, const cli_option *option, int argc, char **argv, int *at)
{
    const char *label = argv[*at] + 2;
    if (*label == '\0')
        return progress_fail(KLIFT_USAGE, "-w needs the label of a class at once after it: write -w1 5, or use --class-weight 1=5");
    if (*at + 1 >= argc)
        return progress_fail(KLIFT_USAGE, "%s needs a value: the weight of class %s", argv[*at], label);
    given->setting[given->settings++] = (setting){option, label, NULL};
    given->setting[given->settings++] = (setting){option, argv[++*at], NULL};
    return KLIFT_OK;
}

static klift_status read_short(options *given, int argc, char **argv, int *at)
{
    const char *typed = argv[*at] + 1, *command = given->command->name, *instead;
    const cli_option *option = NULL;
    size_t length = strlen(typed);
    for (int i = 0; i < OPTIONS; i++)
        if (table[i].letter == typed[0] && takes(&table[i], command))
            option = &table[i];
    if (length > 1 && (find_long(command, typed, length) != NULL || (option != NULL && option->value == NULL)))
        return refuse(given->command, typed, (int)length, argv[*at]); /* -kernel for --kernel */
    if (option != NULL && option->letter == 'w')
        return keep_weight(given, option, argc, argv, at);
    if (option != NULL)
        return keep(given, option, length > 1 ? typed + 1 : NULL, argc, argv, at);
    if ((strcmp(command, "train") == 0 || strcmp(command, "predict") == 0) && (instead = libsvm_instead(typed[0])) != NULL)
        return progress_fail(KLIFT_USAGE, "-%c is not an option of klift %s: %s", typed[0], command, instead);
    return refuse(given->command, typed, (int)length, argv[*at]);
}

static klift_status count_arguments(const options *given)
{
    const cli_command *command = given->command;
    if (options_has(given, "help"))
        return KLIFT_OK;
    if (given->arguments < command->least)
        return progress_fail(KLIFT_USAGE, "%s is incomplete; usage: klift %s %s", command->name, command->name, command->arguments);
    if (given->arguments > command->most)
        return progress_fail(KLIFT_USAGE, "'%s' is one argument too many; usage: klift %s %s", given->argument[command->most], command->name,
                             command->arguments);
    return KLIFT_OK;
}

klift_status options_parse(const cli_command *command, int argc, char **argv, options *given)
{
    bool ended = false;
    klift_status status = KLIFT_OK;
    *given = (options){.command = command, .word = argv, .words = argc};
    given->setting = calloc((size_t)argc + 1, sizeof *given->setting);
    given->argument = calloc((size_t)argc + 1, sizeof *given->argument);
    if (given->setting == NULL || given->argument == NULL)
        return progress_fail(KLIFT_MEMORY, "no memory for the command line");
    for (int at = 0; at < argc && status == KLIFT_OK; at++) {
        if (ended || argv[at][0] != '-' || argv[at][1] == '\0')
            given->argument[given->arguments++] = argv[at];
        else if (strcmp(argv[at], "--") == 0)
            ended = true;
        else if (argv[at][1] == '-')
            status = read_long(given, argc, argv, &at);
        else
            status = read_short(given, argc, argv, &at);
    }
    if (status == KLIFT_OK)
        status = count_arguments(given);
    return status == KLIFT_OK && !options_has(given, "help") ? config_read(given) : status;
}

void options_clear(options *given)
{
    for (int i = 0; i < given->settings; i++)
        free(given->setting[i].place);
    free(given->setting);
    free(given->argument);
    *given = (options){0};
}

const char *options_get(const options *given, const char *name)
{
    for (int i = given->settings; i-- > 0;)
        if (strcmp(given->setting[i].option->name, name) == 0)
            return given->setting[i].value;
    return NULL;
}

bool options_has(const options *given, const char *name)
{
    return options_get(given, name) != NULL;
}
