/* libsvm.c - translates -s, -t, -d, -g, -r, -c, -w, -b and -v. -q is --quiet. */
#include "libsvm.h"

#include "progress.h"

#include <string.h>

const char *libsvm_instead(char letter)
{
    static const struct {
        char letter;
        const char *sentence;
    } other[] = {
        {'n', "nu-SVMs do not exist yet"},
        {'h', "klift shrinks nothing: leave it out; for help: klift train --help"},
        {'m', "use --max-memory, e.g. --max-memory 500M"},
    };
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (other[i].letter == letter)
            return other[i].sentence;
    return NULL;
}

/* The flags that say something about a kernel, in the order in which messages name them. */
static const char *const flags[] = {"t", "g", "d", "r"};
enum { FLAGS = 4, LINEAR = 0, POLY = 1, GAUSSIAN = 2, SIGMOID = 3, UNKNOWN = 4 };

static klift_status refuse_flags(const options *given, const char *kernel, const char *refused)
{
    for (const char *flag = refused; *flag != '\0'; flag++) {
        const char name[2] = {*flag, '\0'};
        if (options_has(given, name))
            return progress_fail(KLIFT_USAGE, "-%s says nothing about the %s kernel: leave it out, or choose another kernel with -t", name, kernel);
    }
    return KLIFT_OK;
}

/* LIBSVM's defaults, but for gamma: 1 / columns is not known before the data are read. */
static klift_status print_product(const options *given, bool poly, char *kernel, size_t room)
{
    const char *degree = options_get(given, "d"), *gamma = options_get(given, "g"), *offset = options_get(given, "r");
    if (gamma == NULL)
        return progress_fail(KLIFT_USAGE, "-t %d needs -g: LIBSVM's default is 1 / columns, which is not known before the data are read", poly ? POLY : SIGMOID);
    offset = offset != NULL ? offset : "0";
    if (poly)
        snprintf(kernel, room, "poly:degree=%s,gamma=%s,offset=%s", degree != NULL ? degree : "3", gamma, offset);
    else
        snprintf(kernel, room, "sigmoid:gamma=%s,offset=%s", gamma, offset);
    return poly ? KLIFT_OK : refuse_flags(given, "sigmoid", "d");
}

static klift_status print_kernel(const options *given, char *kernel, size_t room)
{
    const char *type = options_get(given, "t"), *gamma = options_get(given, "g");
    int which = type == NULL ? GAUSSIAN : strlen(type) == 1 && type[0] >= '0' && type[0] <= '3' ? type[0] - '0' : UNKNOWN;
    if (which == UNKNOWN)
        return progress_fail(KLIFT_USAGE, "-t is '%s'; klift knows -t 0 (linear), -t 1 (poly), -t 2 (gaussian) and -t 3 (sigmoid): name other kernels with --kernel (klift list kernels)", type);
    if (which == POLY || which == SIGMOID)
        return print_product(given, which == POLY, kernel, room);
    snprintf(kernel, room, which == LINEAR ? "linear" : "gaussian%s%s", gamma != NULL ? ":gamma=" : "", gamma != NULL ? gamma : "");
    return which == LINEAR ? refuse_flags(given, "linear", "gdr") : refuse_flags(given, "gaussian", "dr");
}

static klift_status set_kernel(const options *given, klift_spec *spec)
{
    const char *first = NULL;
    char kernel[256];
    for (int i = 0; i < FLAGS; i++) {
        const char *value = options_get(given, flags[i]);
        first = first == NULL && value != NULL ? flags[i] : first;
        if (value != NULL && strlen(value) > 64)
            return progress_fail(KLIFT_USAGE, "-%s is not a number; write it like 0.5", flags[i]);
    }
    if (first == NULL)
        return KLIFT_OK;
    if (options_has(given, "kernel"))
        return progress_fail(KLIFT_USAGE, "--kernel and -%s both choose the kernel: give one of them", first);
    klift_status status = print_kernel(given, kernel, sizeof kernel);
    return status == KLIFT_OK ? progress_check(klift_spec_set(spec, "kernel", kernel)) : status;
}

/* -wLABEL W ..., which options.c keeps as label, weight, label, weight. */
static klift_status set_class_weight(const options *given, klift_spec *spec)
{
    char text[4096];
    size_t used = 0;
    int count = 0;
    for (int i = 0; i < given->settings; i++) {
        if (given->setting[i].option->letter != 'w')
            continue;
        if (strlen(given->setting[i].value) + 2 > sizeof text - used)
            return progress_fail(KLIFT_USAGE, "-w: too many weights of classes; use --class-weight in a file for --config");
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", count == 0 ? "" : count % 2 == 1 ? "=" : ",", given->setting[i].value);
        count++;
    }
    if (count > 0 && options_has(given, "class-weight"))
        return progress_fail(KLIFT_USAGE, "--class-weight and -w both weigh classes: give one of them");
    return count > 0 ? progress_check(klift_spec_set(spec, "class-weight", text)) : KLIFT_OK;
}

/* The two types that klift has. LIBLINEAR's numbers mean others, so that they are not guessed at. */
static klift_status set_type(const options *given, klift_spec *spec)
{
    const char *type = options_get(given, "s"), *task = options_get(given, "task");
    if (type == NULL)
        return KLIFT_OK;
    bool classes = strcmp(type, "0") == 0;
    if (!classes && strcmp(type, "3") != 0)
        return progress_fail(KLIFT_USAGE, "-s is '%s'; klift knows svm-train's -s 0 (C-SVC) and -s 3 (epsilon-SVR): name others, and LIBLINEAR's, with --learner, e.g. --learner "
                             "svm:loss=squared-hinge (klift help learners)", type);
    if (options_has(given, "learner"))
        return progress_fail(KLIFT_USAGE, "--learner and -s both choose the learner: give one of them");
    if (task != NULL && strcmp(task, classes ? "classify" : "regress") != 0)
        return progress_fail(KLIFT_USAGE, "-s %s is for --task %s: leave --task out, or use --learner instead of -s", type, classes ? "classify" : "regress");
    klift_status status = progress_check(klift_spec_set(spec, "learner", classes ? "svm:loss=hinge" : "svm:loss=epsilon"));
    return status == KLIFT_OK ? progress_check(klift_spec_set(spec, "task", classes ? "classify" : "regress")) : status;
}

klift_status libsvm_probability(const options *given, bool *wanted)
{
    const char *flag = options_get(given, "b");
    *wanted = options_has(given, "probability") || (flag != NULL && strcmp(flag, "1") == 0);
    if (flag == NULL)
        return KLIFT_OK;
    if (options_has(given, "probability"))
        return progress_fail(KLIFT_USAGE, "--probability and -b both say whether there are probabilities: give one of them");
    return *wanted || strcmp(flag, "0") == 0 ? KLIFT_OK : progress_fail(KLIFT_USAGE, "-b is '%s'; it is 1 for probabilities, or 0: use --probability", flag);
}

klift_status libsvm_apply(const options *given, klift_spec *spec)
{
    const char *folds = options_get(given, "v"), *cost = options_get(given, "c");
    bool probability;
    klift_status status = set_type(given, spec);
    if (status == KLIFT_OK)
        status = set_kernel(given, spec);
    if (status == KLIFT_OK)
        status = set_class_weight(given, spec);
    if (status == KLIFT_OK)
        status = libsvm_probability(given, &probability);
    if (status == KLIFT_OK && probability)
        status = progress_check(klift_spec_set(spec, "probability", "true"));
    if (status == KLIFT_OK && cost != NULL)
        status = progress_check(klift_spec_set(spec, "c", cost));
    if (status != KLIFT_OK || folds == NULL)
        return status;
    if (options_has(given, "output"))
        return progress_fail(KLIFT_USAGE, "-v writes no model: leave -o out");
    if (options_has(given, "search") || options_has(given, "folds"))
        return progress_fail(KLIFT_USAGE, "-v chooses --search folds and --folds itself: leave them out");
    status = progress_check(klift_spec_set(spec, "folds", folds));
    return status == KLIFT_OK ? progress_check(klift_spec_set(spec, "search", "folds")) : status;
}
