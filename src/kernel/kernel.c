/* kernel.c - the registry of kernels, and what all of them share. */
#include "kernel/kernel.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define KERNEL(name) extern const kl_kernel_type kl_kernel_##name;
#include "kernel/kernel_list.h"
#undef KERNEL

static const kl_kernel_type *const types[] = {
#define KERNEL(name) &kl_kernel_##name,
#include "kernel/kernel_list.h"
#undef KERNEL
    NULL};

const kl_kernel_type *kl_kernel_type_at(int64_t index)
{
    return types[index];
}

const char *kl_kernel_name_at(int64_t index, const void *context)
{
    (void)context;
    return types[index] != NULL ? types[index]->name : NULL;
}

static klift_status build(const kl_spec *spec, kl_kernel **out);

static klift_status take_arguments(kl_kernel *kernel, const kl_spec *spec, const char *where)
{
    if (kernel->type->compose == NULL)
        return spec->arguments > 0 ? kl_fail(KLIFT_USAGE, "%s takes no arguments in parentheses", where) : KLIFT_OK;
    if (spec->arguments != 2)
        return kl_fail(KLIFT_USAGE, "%s takes two kernels in parentheses, as in %s(exp, gaussian), and there %s %lld", where, spec->name, spec->arguments == 1 ? "is" : "are", (long long)spec->arguments);
    KL_TRY(build(spec->argument[0], &kernel->outer)); /* as deep as the grammar allows parentheses */
    KL_TRY(build(spec->argument[1], &kernel->inner));
    const kl_kernel_type *type = kernel->type->compose(kernel->outer, kernel->inner);
    if (type == NULL)
        return KLIFT_USAGE;
    kernel->type = type;
    return KLIFT_OK;
}

static klift_status build(const kl_spec *spec, kl_kernel **out)
{
    kl_kernel *kernel = NULL;
    klift_status status;
    char where[80] = "kernel ";
    KL_GO(kl_new(&kernel, 1, sizeof *kernel, "a kernel"));
    for (int64_t i = 0; types[i] != NULL; i++)
        if (strcmp(types[i]->name, spec->name) == 0)
            kernel->type = types[i];
    if (kernel->type == NULL) {
        status = kl_unknown("kernel", spec->name, kl_kernel_name_at, NULL);
        goto done;
    }
    strncat(where, spec->name, 60);
    KL_GO(take_arguments(kernel, spec, where));
    KL_GO(kl_params_read(kernel->type->params, spec, where, kernel->value));
    if (kernel->type->check != NULL)
        KL_GO(kernel->type->check(kernel));
    *out = kernel;
    kernel = NULL;
done:
    kl_kernel_free(kernel);
    return status;
}

klift_status kl_kernel_new(const char *text, kl_kernel **out)
{
    kl_spec *spec = NULL;
    *out = NULL;
    KL_TRY(kl_spec_parse(text, "kernel", &spec));
    klift_status status = build(spec, out);
    kl_spec_free(spec);
    return status;
}

klift_status kl_kernel_copy(const kl_kernel *kernel, kl_kernel **out)
{
    kl_kernel *copy;
    klift_status status = KLIFT_OK;
    *out = NULL;
    KL_TRY(kl_new(&copy, 1, sizeof *copy, "a kernel"));
    *copy = *kernel;
    copy->outer = copy->inner = NULL;
    if (kernel->outer != NULL)
        KL_GO(kl_kernel_copy(kernel->outer, &copy->outer));
    if (kernel->inner != NULL)
        KL_GO(kl_kernel_copy(kernel->inner, &copy->inner));
    *out = copy;
    copy = NULL;
done:
    kl_kernel_free(copy);
    return status;
}

void kl_kernel_free(kl_kernel *kernel)
{
    if (kernel == NULL)
        return;
    kl_kernel_free(kernel->outer);
    kl_kernel_free(kernel->inner);
    kl_free(kernel);
}

klift_status kl_kernel_fit(kl_kernel *kernel, const kl_survey *survey)
{
    KL_TRY(kl_domain_check(kernel, survey));
    if (kernel->type->fit != NULL)
        KL_TRY(kernel->type->fit(kernel, survey));
    return kernel->type->offers & KL_SERIES ? kl_expansion_check(kernel, survey->norm_max) : KLIFT_OK;
}

klift_status kl_kernel_ready(const kl_kernel *kernel)
{
    const kl_param *params = kernel->type->params;
    if (kernel->outer != NULL)
        KL_TRY(kl_kernel_ready(kernel->outer));
    if (kernel->inner != NULL)
        KL_TRY(kl_kernel_ready(kernel->inner));
    for (int64_t i = 0; params[i].name != NULL; i++)
        if (params[i].kind != KL_WORD && kernel->value[i].word >= 0)
            return kl_fail(KLIFT_USAGE, "kernel %s: %s is learnt from data; without data it must be a number", kernel->type->name, params[i].name);
    return KLIFT_OK;
}

/* Without a copy: no memory must not look like no search. */
static bool is_search(const kl_param *param, int word)
{
    const char *at = word >= 0 ? param->words : NULL;
    for (int i = 0; at != NULL && i < word; i++) {
        at = strchr(at, '|');
        at = at == NULL ? NULL : at + 1;
    }
    return at != NULL && strcspn(at, "|") == 6 && memcmp(at, "search", 6) == 0;
}

kl_kernel *kl_kernel_searched(kl_kernel *kernel, int64_t *param)
{
    if (kernel == NULL)
        return NULL;
    const kl_param *params = kernel->type->params;
    for (*param = 0; params[*param].name != NULL; (*param)++)
        if (is_search(&params[*param], kernel->value[*param].word))
            return kernel;
    kl_kernel *inside = kl_kernel_searched(kernel->inner, param);
    return inside != NULL ? inside : kl_kernel_searched(kernel->outer, param);
}

static void print(const kl_kernel *kernel, bool with_parameters, kl_text *text)
{
    kl_text_add(text, "%s", kernel->type->name);
    if (kernel->inner != NULL) {
        kl_text_add(text, "(");
        print(kernel->outer, with_parameters, text);
        kl_text_add(text, ", ");
        print(kernel->inner, with_parameters, text);
        kl_text_add(text, ")");
    }
    if (with_parameters)
        kl_params_print(kernel->type->params, kernel->value, text);
}

void kl_kernel_name(const kl_kernel *kernel, kl_text *text)
{
    print(kernel, false, text);
}

void kl_kernel_print(const kl_kernel *kernel, kl_text *text)
{
    print(kernel, true, text);
}

void kl_pair_set(kl_pair *pair, int64_t n, const double *x, const double *y)
{
    *pair = (kl_pair){.n = n, .x = x, .y = y};
    for (int64_t i = 0; i < n; i++) {
        pair->xy += x[i] * y[i];
        pair->xx += x[i] * x[i];
        pair->yy += y[i] * y[i];
    }
}

double kl_pair_distance(const kl_pair *pair)
{
    double sum = 0;
    for (int64_t i = 0; i < pair->n; i++)
        sum += (pair->x[i] - pair->y[i]) * (pair->x[i] - pair->y[i]);
    return sqrt(sum);
}

double kl_kernel_value(const kl_kernel *kernel, const kl_pair *pair)
{
    return kernel->type->value(kernel, pair, 1);
}
