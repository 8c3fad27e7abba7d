/* api.c - the bodies of klift.h: check arguments, one internal call each. klift_run_* are in base/run.c. */
#include "klift.h"

#include "base/memory.h"
#include "data/gather.h"
#include "data/writer.h"
#include "doctor.h"
#include "list.h"
#include "pipeline.h"

#include <string.h>

/* Refuses a NULL argument by name. */
#define NEEDS(argument)                                                                  \
    do {                                                                                 \
        if ((argument) == NULL)                                                          \
            return kl_fail(KLIFT_USAGE, "%s: %s is NULL", __func__, #argument);          \
    } while (0)

/* ---- library ---- */

const char *klift_version(void)
{
    return KLIFT_VERSION; /* by the Makefile */
}

const char *klift_error(void)
{
    return kl_error_text();
}

klift_status klift_list(const char *what, char *json, int64_t room, int64_t *needed)
{
    kl_text text = {0};
    NEEDS(what);
    klift_status status = kl_list(what, &text);
    if (status != KLIFT_OK) {
        kl_text_clear(&text);
        return status;
    }
    return kl_text_give(&text, json, room, needed);
}

klift_status klift_doctor(klift_run *run, char *json, int64_t room, int64_t *needed)
{
    kl_text text = {0};
    klift_status status = kl_doctor(run, &text);
    if (status != KLIFT_OK) {
        kl_text_clear(&text);
        return status;
    }
    return kl_text_give(&text, json, room, needed);
}

/* ---- what ---- */

klift_status klift_spec_new(klift_spec **spec)
{
    NEEDS(spec);
    return kl_settings_new(spec);
}

klift_status klift_spec_set(klift_spec *spec, const char *key, const char *value)
{
    NEEDS(spec);
    NEEDS(key);
    NEEDS(value);
    return kl_settings_set(spec, key, value);
}

klift_status klift_spec_text(const klift_spec *spec, char *text, int64_t room, int64_t *needed)
{
    kl_text out = {0};
    NEEDS(spec);
    kl_settings_print(spec, &out);
    return kl_text_give(&out, text, room, needed);
}

void klift_spec_free(klift_spec *spec)
{
    kl_settings_free(spec);
}

/* ---- rows ---- */

klift_status klift_data_open(const char *path, const char *options, klift_data **data)
{
    NEEDS(data);
    *data = NULL;
    NEEDS(path);
    return kl_reader_open(path, options, data);
}

klift_status klift_data_view(const klift_batch *rows, klift_data **data)
{
    NEEDS(data);
    *data = NULL;
    NEEDS(rows);
    return kl_reader_view(rows, data);
}

klift_status klift_data_from(const klift_source *source, klift_data **data)
{
    NEEDS(data);
    return kl_reader_from(source, data);
}

klift_status klift_data_chain(klift_data **parts, int64_t count, klift_data **data)
{
    NEEDS(data);
    *data = NULL;
    NEEDS(parts);
    return kl_reader_chain(parts, count, data);
}

klift_status klift_data_next(klift_data *data, int64_t at_most, klift_batch *batch)
{
    NEEDS(data);
    NEEDS(batch);
    if (at_most < 1)
        return kl_fail(KLIFT_USAGE, "klift_data_next: at_most is %lld; it must be at least 1", (long long)at_most);
    return kl_reader_next(data, at_most, batch);
}

klift_status klift_data_rewind(klift_data *data)
{
    NEEDS(data);
    return kl_reader_rewind(data);
}

klift_status klift_data_save(klift_data *data, const char *path, const char *options, klift_run *run)
{
    NEEDS(data);
    NEEDS(path);
    return kl_writer_save(data, path, options, run);
}

static void describe_survey(const kl_survey *survey, const klift_data *data, kl_text *json)
{
    kl_goal goal;
    klift_spec plain = {.task = 0};
    bool labelled = survey->text_labels || survey->targets > 0;
    kl_json_open(json, NULL, '{');
    kl_json_text(json, "format", data->type->name);
    kl_json_bool(json, "complete", survey->complete);
    kl_json_count(json, "rows", survey->rows);
    kl_json_count(json, "columns", survey->columns);
    kl_json_bool(json, "sparse", survey->sparse);
    kl_json_number(json, "density", (double)survey->nonzeros / ((double)survey->rows * (double)survey->columns));
    kl_json_number(json, "norm_max", survey->norm_max);
    kl_json_number(json, "norm_mean", survey->norm_mean);
    kl_json_count(json, "index_base", survey->index_base);
    kl_json_count(json, "targets", survey->text_labels ? 1 : survey->targets);
    kl_json_count(json, "distinct_labels", survey->distinct);
    kl_json_bool(json, "more_labels", survey->distinct >= KL_SURVEY_DISTINCT);
    kl_json_text(json, "task", !labelled ? NULL : kl_settings_goal(&plain, survey, &goal) != KLIFT_OK ? "unclear" : goal == KL_CLASSIFY ? "classify" : "regress");
    kl_schema_describe(&data->schema, json);
    kl_json_close(json, '}');
}

klift_status klift_data_describe(klift_data *data, klift_run *run, char *json, int64_t room, int64_t *needed)
{
    kl_survey survey;
    kl_text text = {0};
    NEEDS(data);
    KL_TRY(kl_survey_take(data, 1, 0, run, &survey));
    describe_survey(&survey, data, &text);
    kl_survey_clear(&survey);
    return kl_text_give(&text, json, room, needed);
}

klift_status klift_data_match(klift_data *data, const klift_model *model)
{
    NEEDS(data);
    NEEDS(model);
    return kl_pipeline_match(model->lift, &model->weights.classes, data);
}

void klift_data_report(klift_data *data, klift_run *run)
{
    if (data != NULL)
        kl_reader_say(data, run);
}

int64_t klift_data_count(const klift_data *data)
{
    return data == NULL ? 0 : data->handed;
}

void klift_data_free(klift_data *data)
{
    kl_reader_free(data);
}

/* ---- maps ---- */

klift_status klift_map_fit(const klift_spec *spec, klift_data *data, klift_run *run, klift_map **map)
{
    klift_run *own, *use;
    NEEDS(map);
    *map = NULL;
    NEEDS(spec);
    KL_TRY(kl_run_local(run, &own, &use));
    klift_status status = kl_pipeline_fit(spec, data, false, use, map);
    klift_run_free(own);
    return status;
}

klift_status klift_map_describe(const klift_map *map, char *json, int64_t room, int64_t *needed)
{
    kl_text text = {0};
    NEEDS(map);
    kl_json_open(&text, NULL, '{');
    kl_lift_describe(map, &text);
    kl_json_close(&text, '}');
    return kl_text_give(&text, json, room, needed);
}

klift_status klift_map_size(const klift_map *map, int64_t *n_in, int64_t *n_out)
{
    NEEDS(map);
    if (n_in != NULL)
        *n_in = map->prepare.n_in;
    if (n_out != NULL)
        *n_out = map->map->n_out;
    return KLIFT_OK;
}

static klift_status check_rows(const klift_map *map, const klift_batch *x)
{
    KL_TRY(kl_batch_check(x, "x"));
    return kl_gather_check_width(x, map->prepare.n_in, "x");
}

klift_status klift_map_apply(const klift_map *map, const klift_batch *x, float *z, int64_t stride, klift_run *run)
{
    klift_run *own, *use;
    NEEDS(map);
    NEEDS(z);
    KL_TRY(kl_batch_check_shape(x, "x"));
    KL_TRY(kl_gather_check_width(x, map->prepare.n_in, "x"));
    if (stride < map->map->n_out)
        return kl_fail(KLIFT_USAGE, "klift_map_apply: stride %lld is below the %lld features", (long long)stride, (long long)map->map->n_out);
    KL_TRY(kl_run_local(run, &own, &use));
    klift_status status = kl_lift_unchecked(map, x, "x", z, stride, use);
    klift_run_free(own);
    return status;
}

klift_status klift_map_apply_sparse(const klift_map *map, const klift_batch *x, int64_t *start, int32_t *column, float *value, int64_t room, int64_t *needed, klift_run *run)
{
    klift_run *own, *use;
    NEEDS(map);
    NEEDS(start);
    NEEDS(needed);
    if (room > 0) {
        NEEDS(column);
        NEEDS(value);
    }
    KL_TRY(kl_batch_check_shape(x, "x"));
    KL_TRY(kl_gather_check_width(x, map->prepare.n_in, "x"));
    KL_TRY(kl_run_local(run, &own, &use));
    klift_status status = kl_lift_sparse(map, x, "x", start, column, value, room, needed, use);
    klift_run_free(own);
    return status;
}

klift_status klift_map_kernel(const klift_map *map, const klift_batch *x, const klift_batch *y, double *k)
{
    NEEDS(map);
    NEEDS(k);
    KL_TRY(check_rows(map, x));
    KL_TRY(check_rows(map, y));
    return kl_lift_kernel(map, x, y, k);
}

void klift_map_free(klift_map *map)
{
    kl_lift_free(map);
}

/* ---- statistics ---- */

klift_status klift_stats_new(const klift_map *map, const klift_spec *spec, klift_run *run, klift_stats **stats)
{
    NEEDS(stats);
    *stats = NULL;
    NEEDS(map);
    NEEDS(spec);
    return kl_pipeline_stats(map, spec, run, stats);
}

klift_status klift_stats_add(klift_stats *stats, klift_data *data, klift_run *run)
{
    klift_run *own, *use;
    NEEDS(stats);
    NEEDS(data);
    if (kl_reader_can_match(data))
        KL_TRY(kl_pipeline_match(stats->lift, NULL, data));
    KL_TRY(kl_run_local(run, &own, &use));
    klift_status status = kl_pipeline_feed(stats->lift, data, stats->learner, NULL, use);
    klift_run_free(own);
    return status;
}

klift_status klift_stats_merge(klift_stats *into, const klift_stats *from, int sign)
{
    NEEDS(into);
    NEEDS(from);
    if (sign != 1 && sign != -1)
        return kl_fail(KLIFT_USAGE, "klift_stats_merge: sign is %d; it must be 1 or -1", sign);
    return kl_pipeline_merge(into, from, sign);
}

klift_status klift_stats_solve(const klift_stats *stats, klift_run *run, klift_model **model)
{
    klift_run *own, *use;
    NEEDS(model);
    *model = NULL;
    NEEDS(stats);
    KL_TRY(kl_run_local(run, &own, &use));
    klift_status status = kl_pipeline_solve(stats, use, model);
    klift_run_free(own);
    return status;
}

void klift_stats_free(klift_stats *stats)
{
    kl_pipeline_stats_free(stats);
}

/* ---- models ---- */

klift_status klift_train(const klift_spec *spec, klift_data *data, klift_run *run, klift_model **model)
{
    klift_run *own, *use;
    NEEDS(model);
    *model = NULL;
    NEEDS(spec);
    NEEDS(data);
    KL_TRY(kl_run_local(run, &own, &use));
    klift_status status = kl_pipeline_train(spec, data, use, model);
    klift_run_free(own);
    return status;
}

static klift_status check_what(const klift_model *model, int what)
{
    if (what == KLIFT_PROBABILITY)
        return kl_model_check_probabilities(model);
    if (what == KLIFT_SCORES || (what == KLIFT_CLASS && model->weights.goal == KL_CLASSIFY))
        return KLIFT_OK;
    return kl_fail(KLIFT_USAGE, "klift_model_predict: what is %d: use KLIFT_SCORES, or for a classifier KLIFT_CLASS or KLIFT_PROBABILITY", what);
}

static klift_status predict(const klift_model *model, const klift_batch *x, int what, double *out, klift_run *run)
{
    return what == KLIFT_SCORES ? kl_model_scores(model, x, out, run) : what == KLIFT_PROBABILITY ? kl_model_probabilities(model, x, out, run) : kl_model_classes(model, x, out, run);
}

klift_status klift_model_predict(const klift_model *model, const klift_batch *x, int what, double *out, klift_run *run)
{
    klift_run *own, *use;
    NEEDS(model);
    NEEDS(out);
    KL_TRY(check_what(model, what));
    KL_TRY(check_rows(model->lift, x));
    if (x->rows == 0)
        return KLIFT_OK;
    KL_TRY(kl_run_local(run, &own, &use));
    klift_status status = predict(model, x, what, out, use);
    klift_run_free(own);
    return status;
}

klift_status klift_model_test(const klift_model *model, klift_data *data, klift_run *run, char *json, int64_t room, int64_t *needed)
{
    klift_run *own, *use;
    kl_text text = {0};
    NEEDS(model);
    NEEDS(data);
    KL_TRY(kl_run_local(run, &own, &use));
    klift_status status = kl_pipeline_test(model, data, use, &text);
    klift_run_free(own);
    if (status == KLIFT_OK)
        return kl_text_give(&text, json, room, needed);
    kl_text_clear(&text);
    return status;
}

klift_status klift_model_describe(const klift_model *model, char *json, int64_t room, int64_t *needed)
{
    kl_text text = {0};
    NEEDS(model);
    kl_model_describe(model, &text);
    return kl_text_give(&text, json, room, needed);
}

int64_t klift_model_outputs(const klift_model *model)
{
    return model == NULL ? 0 : model->weights.outputs;
}

int64_t klift_model_classes(const klift_model *model)
{
    return model == NULL ? 0 : model->weights.classes.count;
}

const char *klift_model_class(const klift_model *model, int64_t index)
{
    return model == NULL || index < 0 || index >= model->weights.classes.count ? NULL : model->weights.classes.name[index];
}

const klift_map *klift_model_map(const klift_model *model)
{
    return model == NULL ? NULL : model->lift;
}

klift_status klift_model_from_map(const klift_map *map, klift_model **model)
{
    klift_map *copy;
    kl_weights none = {0};
    NEEDS(model);
    *model = NULL;
    NEEDS(map);
    KL_TRY(kl_lift_copy(map, &copy));
    return kl_model_new(&copy, &none, NULL, model);
}

klift_status klift_model_save(const klift_model *model, const char *path)
{
    NEEDS(model);
    NEEDS(path);
    return kl_model_save(model, path);
}

klift_status klift_model_load(const char *path, klift_model **model)
{
    NEEDS(model);
    *model = NULL;
    NEEDS(path);
    return kl_model_load(path, model);
}

klift_status klift_model_bytes(const klift_model *model, void *bytes, int64_t room, int64_t *needed)
{
    kl_record_writer to = {0};
    NEEDS(model);
    klift_status status = kl_model_write(model, &to);
    if (status == KLIFT_OK) {
        if (needed != NULL)
            *needed = to.length;
        if (bytes != NULL && room >= to.length)
            memcpy(bytes, to.bytes, (size_t)to.length);
        else if (bytes != NULL && room > 0)
            status = kl_fail(KLIFT_USAGE, "klift_model_bytes: the model has %lld bytes, there is room for %lld", (long long)to.length, (long long)room);
    }
    kl_record_clear(&to);
    return status;
}

klift_status klift_model_parse(const void *bytes, int64_t count, klift_model **model)
{
    NEEDS(model);
    *model = NULL;
    NEEDS(bytes);
    if (count < 0)
        return kl_fail(KLIFT_USAGE, "klift_model_parse: count is %lld", (long long)count);
    return kl_model_read(bytes, count, NULL, model);
}

void klift_model_free(klift_model *model)
{
    kl_model_free(model);
}
