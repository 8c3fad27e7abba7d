/* training.c - see training.h. */
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

klift_spec *spec_of(const char *const *pairs)
{
    klift_spec *spec;
    OK(klift_spec_new(&spec));
    for (; *pairs != NULL; pairs += 2)
        OK(klift_spec_set(spec, pairs[0], pairs[1]));
    return spec;
}

klift_run *run_of(const char *const *pairs)
{
    klift_run *run;
    OK(klift_run_new(&run));
    for (; *pairs != NULL; pairs += 2)
        OK(klift_run_set(run, pairs[0], pairs[1]));
    return run;
}

klift_data *synthetic(const char *name, const char *options)
{
    char text[128];
    klift_data *data;
    snprintf(text, sizeof text, "format=synthetic,%s", options);
    OK(klift_data_open(name, text, &data));
    return data;
}

table load(const char *name, const char *options)
{
    klift_data *data = synthetic(name, options);
    klift_batch batch;
    table out = {0};
    for (;;) {
        OK(klift_data_next(data, 1000, &batch));
        if (batch.rows == 0)
            break;
        out.d = batch.columns;
        out.t = batch.targets;
        out.x = realloc(out.x, (size_t)((out.n + batch.rows) * out.d) * sizeof *out.x);
        out.y = realloc(out.y, (size_t)((out.n + batch.rows) * out.t) * sizeof *out.y);
        for (int64_t i = 0; i < batch.rows; i++)
            memcpy(out.x + (out.n + i) * out.d, batch.dense + i * batch.stride, (size_t)out.d * sizeof *out.x);
        memcpy(out.y + out.n * out.t, batch.target, (size_t)(batch.rows * out.t) * sizeof *out.y);
        out.n += batch.rows;
    }
    klift_data_free(data);
    return out;
}

klift_batch rows_of(const table *t, int64_t first, int64_t count)
{
    return (klift_batch){.size = sizeof(klift_batch), .rows = count, .columns = t->d, .dense = t->x + first * t->d, .stride = t->d, .target = t->y + first * t->t, .targets = t->t};
}

void table_free(table *t)
{
    free(t->x);
    free(t->y);
}

klift_status train_rows(const klift_spec *spec, const klift_batch *rows, klift_run *run, klift_model **model)
{
    klift_data *data;
    OK(klift_data_view(rows, &data));
    klift_status status = klift_train(spec, data, run, model);
    klift_data_free(data);
    assert_true(status == KLIFT_OK || *model == NULL);
    return status;
}

klift_model *train_data(const klift_spec *spec, klift_data *data, klift_run *run)
{
    klift_model *model;
    OK(klift_train(spec, data, run, &model));
    klift_data_free(data);
    return model;
}

klift_map *map_of(const klift_spec *spec, const klift_batch *rows, klift_run *run)
{
    klift_data *data;
    klift_map *map;
    OK(klift_data_view(rows, &data));
    OK(klift_map_fit(spec, data, run, &map));
    klift_data_free(data);
    return map;
}

klift_stats *stats_of(const klift_map *map, const klift_spec *spec, const klift_batch *rows, klift_run *run)
{
    klift_stats *stats;
    klift_data *data;
    OK(klift_stats_new(map, spec, run, &stats));
    OK(klift_data_view(rows, &data));
    OK(klift_stats_add(stats, data, run));
    klift_data_free(data);
    return stats;
}

void *bytes_of(const klift_model *model, int64_t *count)
{
    OK(klift_model_bytes(model, NULL, 0, count));
    void *bytes = malloc((size_t)*count);
    assert_non_null(bytes);
    OK(klift_model_bytes(model, bytes, *count, count));
    return bytes;
}

void assert_same_bytes(const klift_model *a, const klift_model *b)
{
    int64_t n, m;
    void *p = bytes_of(a, &n), *q = bytes_of(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, (size_t)n);
    free(p);
    free(q);
}

double largest_score_difference(const klift_model *a, const klift_model *b, const klift_batch *x)
{
    int64_t count = x->rows * klift_model_outputs(a);
    double *p = malloc((size_t)count * sizeof *p), *q = malloc((size_t)count * sizeof *q), most = 0;
    assert_int_equal(klift_model_outputs(a), klift_model_outputs(b));
    OK(klift_model_predict(a, x, KLIFT_SCORES, p, NULL));
    OK(klift_model_predict(b, x, KLIFT_SCORES, q, NULL));
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(p[i] - q[i]));
    free(p);
    free(q);
    return most;
}

double described(const klift_model *model, const char *key)
{
    char text[8192], sought[64];
    OK(klift_model_describe(model, text, sizeof text, NULL));
    snprintf(sought, sizeof sought, "\"%s\":", key);
    const char *at = strstr(text, sought);
    assert_non_null(at);
    return strtod(at + strlen(sought), NULL);
}
