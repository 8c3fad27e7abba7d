/* list.c - walks the registries: a new file and its registry line appear here by themselves. */
#include "list.h"

#include "data/synthetic.h"
#include "model/settings.h"

#include <string.h>

static void list_kernels(kl_text *json)
{
    for (int64_t i = 0; kl_kernel_type_at(i) != NULL; i++) {
        const kl_kernel_type *type = kl_kernel_type_at(i);
        kl_json_open(json, NULL, '{');
        kl_json_text(json, "name", type->name);
        kl_json_text(json, "summary", type->summary);
        kl_params_json(type->params, "params", json);
        kl_json_close(json, '}');
    }
}

static void list_fitting(const kl_map_type *map, kl_text *json)
{
    kl_json_open(json, "fits", '[');
    for (int64_t i = 0; kl_kernel_type_at(i) != NULL; i++)
        if (kl_map_fits(map, kl_kernel_type_at(i)))
            kl_json_text(json, NULL, kl_kernel_type_at(i)->name);
    kl_json_close(json, ']');
}

static void list_maps(kl_text *json)
{
    static const char *const accuracy[] = {"exact", "unbiased", "biased"};
    for (int64_t i = 0; kl_map_type_at(i) != NULL; i++) {
        const kl_map_type *type = kl_map_type_at(i);
        kl_json_open(json, NULL, '{');
        kl_json_text(json, "name", type->name);
        kl_json_text(json, "summary", type->summary);
        kl_json_text(json, "accuracy", accuracy[type->accuracy]);
        kl_params_json(type->params, "params", json);
        list_fitting(type, json);
        kl_json_close(json, '}');
    }
}

static void list_learners(kl_text *json)
{
    for (int64_t i = 0; kl_learner_type_at(i) != NULL; i++) {
        const kl_learner_type *type = kl_learner_type_at(i);
        kl_json_open(json, NULL, '{');
        kl_json_text(json, "name", type->name);
        kl_json_text(json, "summary", type->summary);
        kl_params_json(type->params, "params", json);
        kl_json_close(json, '}');
    }
}

static void list_formats(kl_text *json)
{
    static const kl_param none[] = {{0}};
    for (int64_t i = 0; kl_reader_type_at(i) != NULL; i++) {
        const kl_reader_type *type = kl_reader_type_at(i);
        if (!type->listed)
            continue;
        kl_json_open(json, NULL, '{');
        kl_json_text(json, "name", type->name);
        kl_json_text(json, "summary", type->summary);
        kl_params_json(type->params != NULL ? type->params : none, "params", json);
        kl_json_close(json, '}');
    }
}

/* Every option with the place it belongs to: spec, run or data. */
static void list_options(kl_text *json)
{
    const struct {
        const char *place;
        const kl_param *params;
    } tables[] = {{"spec", kl_settings_params}, {"run", kl_run_params}, {"data", kl_reader_params}};
    for (int t = 0; t < 3; t++) {
        kl_json_open(json, NULL, '{');
        kl_json_text(json, "name", tables[t].place);
        kl_params_json(tables[t].params, "params", json);
        kl_json_close(json, '}');
    }
}

static void list_fits(kl_text *json)
{
    for (int64_t i = 0; kl_map_type_at(i) != NULL; i++) {
        kl_json_open(json, NULL, '{');
        kl_json_text(json, "name", kl_map_type_at(i)->name);
        list_fitting(kl_map_type_at(i), json);
        kl_json_close(json, '}');
    }
}

static void list_data(kl_text *json)
{
    for (int64_t i = 0; kl_synthetic_name_at(i, NULL) != NULL; i++) {
        kl_json_open(json, NULL, '{');
        kl_json_text(json, "name", kl_synthetic_name_at(i, NULL));
        kl_json_text(json, "summary", kl_synthetic_summary(i));
        kl_json_close(json, '}');
    }
}

static const struct {
    const char *name;
    void (*list)(kl_text *json);
} topics[] = {{"kernels", list_kernels}, {"maps", list_maps}, {"learners", list_learners}, {"formats", list_formats},
              {"options", list_options}, {"fits", list_fits}, {"data", list_data}};

enum { TOPICS = sizeof topics / sizeof topics[0] };

static const char *topic_at(int64_t index, const void *context)
{
    (void)context;
    return index < TOPICS ? topics[index].name : NULL;
}

klift_status kl_list(const char *what, kl_text *json)
{
    for (int i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, what) == 0) {
            kl_json_open(json, NULL, '[');
            topics[i].list(json);
            kl_json_close(json, ']');
            return KLIFT_OK;
        }
    return kl_unknown("list", what, topic_at, NULL);
}
