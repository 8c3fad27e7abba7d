/* libsvm.c - translates -t, -g, -c and -v. -q is --quiet. */
#include "libsvm.h"

#include "progress.h"

#include <string.h>

const char *libsvm_instead(char letter)
{
    static const struct {
        char letter;
        const char *sentence;
    } other[] = {
        {'s', "klift names its learners: use --learner (klift list learners)"},
        {'e', "ridge is solved exactly and needs no tolerance: leave it out"},
        {'p', "the epsilon-insensitive loss does not exist yet: leave it out (ridge minimises the squared error)"},
        {'B', "ridge always has an intercept without penalty: leave it out"},
        {'w', "class weights do not exist yet"},
        {'b', "probabilities do not exist yet; klift predict --scores prints the decision values"},
        {'r', "write it into the kernel, as in --kernel poly:degree=3,gamma=1,offset=1"},
        {'d', "write it into the kernel, as in --kernel poly:degree=3,gamma=1,offset=1"},
        {'n', "nu-SVMs do not exist yet"},
        {'h', "there is nothing to shrink in ridge; for help: klift train --help"},
        {'m', "use --max-memory, e.g. --max-memory 500M"},
    };
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (other[i].letter == letter)
            return other[i].sentence;
    return NULL;
}

static klift_status set_kernel(const options *given, klift_spec *spec)
{
    const char *type = options_get(given, "t"), *gamma = options_get(given, "g");
    char kernel[128] = "linear";
    if (type == NULL && gamma == NULL)
        return KLIFT_OK;
    if (options_has(given, "kernel"))
        return progress_fail(KLIFT_USAGE, "--kernel and -%c both choose the kernel: give one of them", type != NULL ? 't' : 'g');
    if (type != NULL && strcmp(type, "0") != 0 && strcmp(type, "2") != 0)
        return progress_fail(KLIFT_USAGE, "-t is '%s'; klift knows -t 0 (linear) and -t 2 (gaussian): name other kernels with --kernel (klift list kernels)",
                             type);
    bool linear = type != NULL && type[0] == '0';
    if (linear && gamma != NULL)
        return progress_fail(KLIFT_USAGE, "-g belongs to the gaussian kernel (-t 2); the linear one has no gamma");
    if (gamma != NULL && strlen(gamma) > 64)
        return progress_fail(KLIFT_USAGE, "-g is not a number; write it like 0.5");
    if (!linear)
        snprintf(kernel, sizeof kernel, "gaussian%s%s", gamma != NULL ? ":gamma=" : "", gamma != NULL ? gamma : "");
    return progress_check(klift_spec_set(spec, "kernel", kernel));
}

klift_status libsvm_apply(const options *given, klift_spec *spec)
{
    const char *folds = options_get(given, "v"), *cost = options_get(given, "c");
    klift_status status = set_kernel(given, spec);
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
