/* warm.c - see warm.h. What data decided (auto, search) in the model agrees with a setting that leaves it to the data. */
#include "warm.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers that were left to the data become those that they have decided. */
static void adopt_values(const kl_param *params, kl_value *to, const kl_value *from)
{
    for (int64_t i = 0; params[i].name != NULL; i++)
        if ((params[i].kind == KL_REAL || params[i].kind == KL_WHOLE) && isnan(to[i].number))
            to[i] = from[i];
}

static void adopt_kernel(kl_kernel *to, const kl_kernel *from)
{
    if (to == NULL || from == NULL || to->type != from->type)
        return;
    adopt_values(to->type->params, to->value, from->value);
    adopt_kernel(to->outer, from->outer);
    adopt_kernel(to->inner, from->inner);
}

static void adopt_map(kl_map *to, const kl_map *from)
{
    if (to == NULL || from == NULL || to->type != from->type)
        return;
    adopt_values(to->type->params, to->value, from->value);
    adopt_map(to->inner, from->inner);
}

static klift_status differ(const char *setting, const char *given, const char *has)
{
    return kl_fail(KLIFT_USAGE, "%s=%.150s, but the model to go on from has %s=%.150s; leave %s out, or warm-start", setting, given, setting, has, setting);
}

/* Clears both texts. */
static klift_status same_text(const char *setting, kl_text *given, kl_text *has)
{
    klift_status status = kl_text_status(given);
    if (status == KLIFT_OK)
        status = kl_text_status(has);
    if (status == KLIFT_OK && strcmp(given->text, has->text) != 0)
        status = differ(setting, given->text, has->text);
    kl_text_clear(given);
    kl_text_clear(has);
    return status;
}

static klift_status same_kernel(const klift_spec *spec, const kl_map *map)
{
    kl_kernel *kernel;
    kl_text given = {0}, has = {0};
    if (!kl_settings_given(spec, "kernel"))
        return KLIFT_OK;
    KL_TRY(kl_kernel_new(spec->kernel, &kernel));
    adopt_kernel(kernel, map->kernel);
    kl_kernel_print(kernel, &given);
    kl_kernel_print(map->kernel, &has);
    kl_kernel_free(kernel);
    return same_text("kernel", &given, &has);
}

static klift_status same_map(const klift_spec *spec, const kl_map *map)
{
    kl_map *asked;
    kl_text given = {0}, has = {0};
    if (!kl_settings_given(spec, "map") || strcmp(spec->map, "auto") == 0)
        return KLIFT_OK;
    KL_TRY(kl_map_new(spec->map, map->kernel, map->features, map->seed, 0, &asked));
    adopt_map(asked, map);
    kl_map_print(asked, &given);
    kl_map_print(map, &has);
    kl_map_free(asked);
    return same_text("map", &given, &has);
}

static klift_status same_count(const klift_spec *spec, const char *setting, int64_t given, int64_t has)
{
    char one[32], other[32];
    if (!kl_settings_given(spec, setting) || given == has)
        return KLIFT_OK;
    snprintf(one, sizeof one, "%lld", (long long)given);
    snprintf(other, sizeof other, "%lld", (long long)has);
    return differ(setting, one, other);
}

static klift_status same_settings(const klift_spec *spec, const klift_model *start)
{
    static const char *const tasks[] = {"classify", "regress"};
    const kl_map *map = start->lift->map;
    int task = (int)start->weights.goal;
    KL_TRY(same_kernel(spec, map));
    KL_TRY(same_map(spec, map));
    KL_TRY(same_count(spec, "features", spec->features == map->n_out ? map->features : spec->features, map->features));
    KL_TRY(same_count(spec, "seed", (int64_t)spec->seed, (int64_t)map->seed));
    if (kl_settings_given(spec, "prepare") && spec->prepare != start->lift->prepare.kind)
        return differ("prepare", kl_prepare_name(spec->prepare), kl_prepare_name(start->lift->prepare.kind));
    if (spec->dim > 0)
        KL_TRY(same_count(spec, "dim", spec->dim, start->lift->prepare.n_in));
    return spec->task == 0 || spec->task == 1 + task ? KLIFT_OK : differ("task", tasks[spec->task - 1], tasks[task]);
}

/* One output for two classes, otherwise one for every class or target. */
static klift_status check_weights(const klift_model *start, const char *path)
{
    const kl_weights *w = &start->weights;
    if (w->outputs == 0)
        return kl_fail(KLIFT_MODEL, "%s: the model has no weights to go on from: it holds a preparation and a map only; train one", path);
    if (w->code.bits > 0 || (w->goal == KL_CLASSIFY && w->outputs != (w->classes.count == 2 ? 1 : w->classes.count)))
        return kl_fail(KLIFT_USAGE, "%s: its weights are those of a code of the classes, from which no learner goes on; train the model without code", path);
    return KLIFT_OK;
}

klift_status kl_warm_open(const klift_spec *spec, klift_run *run, klift_model **start)
{
    *start = NULL;
    if (strcmp(spec->warm_start, "none") == 0)
        return KLIFT_OK;
    KL_TRY(kl_model_load(spec->warm_start, start));
    klift_status status = check_weights(*start, spec->warm_start);
    if (status == KLIFT_OK)
        status = same_settings(spec, *start);
    if (status == KLIFT_OK)
        kl_run_say(run, KLIFT_EVENT_NOTE, "start", "goes on from %s, of %.0f rows", spec->warm_start, (*start)->weights.rows);
    if (status != KLIFT_OK) {
        kl_model_free(*start);
        *start = NULL;
    }
    return status;
}

klift_status kl_warm_refuse(const klift_spec *spec)
{
    return strcmp(spec->warm_start, "none") == 0 ? KLIFT_OK : kl_fail(KLIFT_USAGE, "warm-start is for klift_train: neither maps nor statistics go on from weights; leave it out");
}

klift_spec kl_warm_settings(const klift_spec *spec, const klift_model *start)
{
    klift_spec own = *spec;
    if (start == NULL)
        return own;
    own.features = start->lift->map->features;
    own.seed = start->lift->map->seed;
    own.prepare = start->lift->prepare.kind;
    own.task = 1 + (int)start->weights.goal;
    if (isnan(own.lambda) && isnan(own.c) && strcmp(own.path, "none") == 0)
        own.lambda = start->weights.lambda;
    return own;
}

klift_status kl_warm_check_rows(const klift_map *lift, const kl_survey *survey)
{
    int64_t width = lift->prepare.n_in;
    if (survey->columns > width || (survey->columns < width && !survey->sparse))
        return kl_fail(KLIFT_DATA, "the rows have %lld columns, those of the model to go on from %lld; give rows of the same kind", (long long)survey->columns, (long long)width);
    return KLIFT_OK;
}
