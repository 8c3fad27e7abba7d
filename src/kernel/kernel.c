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

klift_status kl_kernel_new(const char *text, kl_kernel **out)
{
    kl_spec *spec = NULL;
    kl_kernel *kernel = NULL;
    klift_status status;
    char where[80] = "kernel ";
    *out = NULL;
    KL_GO(kl_spec_parse(text, "kernel", &spec));
    KL_GO(kl_new(&kernel, 1, sizeof *kernel, "a kernel"));
    for (int64_t i = 0; types[i] != NULL; i++)
        if (strcmp(types[i]->name, spec->name) == 0)
            kernel->type = types[i];
    if (kernel->type == NULL) {
        status = kl_unknown("kernel", spec->name, kl_kernel_name_at, NULL);
        goto done;
    }
    strncat(where, spec->name, 60);
    if (spec->arguments > 0) {
        status = kl_fail(KLIFT_USAGE, "%s takes no arguments in parentheses", where);
        goto done;
    }
    KL_GO(kl_params_read(kernel->type->params, spec, where, kernel->value));
    if (kernel->type->check != NULL)
        KL_GO(kernel->type->check(kernel));
    *out = kernel;
    kernel = NULL;
done:
    kl_spec_free(spec);
    kl_kernel_free(kernel);
    return status;
}

klift_status kl_kernel_copy(const kl_kernel *kernel, kl_kernel **copy)
{
    KL_TRY(kl_new(copy, 1, sizeof **copy, "a kernel"));
    **copy = *kernel;
    return KLIFT_OK;
}

void kl_kernel_free(kl_kernel *kernel)
{
    kl_free(kernel);
}

klift_status kl_kernel_fit(kl_kernel *kernel, const kl_survey *survey)
{
    KL_TRY(kl_domain_check(kernel, survey));
    if (kernel->type->fit != NULL)
        KL_TRY(kernel->type->fit(kernel, survey));
    return kl_kernel_offers(kernel) & KL_SERIES ? kl_expansion_check(kernel, survey->norm_max) : KLIFT_OK;
}

unsigned kl_kernel_offers(const kl_kernel *kernel)
{
    return kernel->type->offers;
}

klift_status kl_kernel_ready(const kl_kernel *kernel)
{
    const kl_param *params = kernel->type->params;
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

int64_t kl_kernel_searched(const kl_kernel *kernel)
{
    const kl_param *params = kernel->type->params;
    for (int64_t i = 0; params[i].name != NULL; i++)
        if (is_search(&params[i], kernel->value[i].word))
            return i;
    return -1;
}

void kl_kernel_print(const kl_kernel *kernel, kl_text *text)
{
    kl_text_add(text, "%s", kernel->type->name);
    kl_params_print(kernel->type->params, kernel->value, text);
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
