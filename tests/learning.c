/* learning.c - see learning.h. */
#include "model_bytes.h"
#include "support.h"
#include "learning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static klift_status set(klift_spec *spec, const char *key, const char *value)
{
    return value != NULL ? klift_spec_set(spec, key, value) : KLIFT_OK;
}

static klift_status set_all(klift_spec *spec, const training *how)
{
    const char *const pairs[][2] = {{"kernel", how->kernel != NULL ? how->kernel : "linear"}, {"map", how->map}, {"features", how->features}, {"warm-start", how->warm_start}, {"holdout", how->holdout}, {"early-stop", how->early_stop}, {"learner", how->learner}, {"task", how->task}, {"lambda", how->lambda}, {"c", how->c}, {"class-weight", how->class_weight},
                                    {"seed", how->seed}, {"search", how->search}, {"prepare", how->prepare}, {"allow-one-class", how->allow_one_class}, {"probability", how->probability}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        klift_status status = set(spec, pairs[i][0], pairs[i][1]);
        if (status != KLIFT_OK)
            return status;
    }
    return KLIFT_OK;
}

typedef struct once {
    const klift_batch *rows;
    int64_t at;
} once;

/* Some rows at a time. */
static klift_status next(void *user, klift_batch *batch)
{
    enum { AT_ONCE = 1000 };
    once *from = user;
    int64_t left = from->rows->rows - from->at, columns = from->rows->columns;
    *batch = *from->rows;
    batch->rows = left < AT_ONCE ? left : AT_ONCE;
    batch->dense += from->at * columns;
    batch->target += from->at;
    batch->weight = batch->weight != NULL ? batch->weight + from->at : NULL;
    from->at += batch->rows;
    return KLIFT_OK;
}

klift_status learn_rows(const klift_batch *rows, const training *how, klift_model **model)
{
    klift_spec *spec;
    klift_run *run;
    klift_data *data;
    once from = {rows, 0};
    klift_source source = {.size = sizeof source, .user = &from, .next = next};
    *model = NULL;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "threads", how->threads != NULL ? how->threads : "1"), KLIFT_OK);
    if (how->memory != NULL)
        assert_int_equal(klift_run_set(run, "max-memory", how->memory), KLIFT_OK);
    if (how->batch != NULL)
        assert_int_equal(klift_run_set(run, "batch", how->batch), KLIFT_OK);
    if (how->event != NULL)
        klift_run_on_event(run, how->event, how->user);
    if (how->show != NULL)
        klift_run_on_model(run, 1, how->show, how->show_user);
    assert_int_equal(klift_spec_new(&spec), KLIFT_OK);
    assert_int_equal(how->once ? klift_data_from(&source, &data) : klift_data_view(rows, &data), KLIFT_OK);
    klift_status status = set_all(spec, how);
    if (status == KLIFT_OK)
        status = klift_train(spec, data, run, model);
    if (status != KLIFT_OK)
        assert_null(*model);
    klift_data_free(data);
    klift_spec_free(spec);
    klift_run_free(run);
    return status;
}

void check_refusals(const klift_batch *rows, const refusal *wrong, size_t count)
{
    klift_model *model;
    for (size_t i = 0; i < count; i++)
        if (learn_rows(rows, &wrong[i].how, &model) != wrong[i].status || strstr(klift_error(), wrong[i].answer) == NULL)
            fail_msg("case %zu, %s: answered with: %s", i, wrong[i].how.learner, klift_error());
}

void check_same_bytes(const klift_batch *rows, const training *how, int trainings)
{
    model_file first = {0};
    for (int k = 0; k < trainings; k++) {
        model_file file;
        klift_model *model;
        if (learn_rows(how[k].instead != NULL ? how[k].instead : rows, &how[k], &model) != KLIFT_OK)
            fail_msg("%s: %s", how[k].learner, klift_error());
        assert_true(model_bytes_of(model, "LERN", &file));
        klift_model_free(model);
        if (k == 0) {
            first = file;
            continue;
        }
        if (file.size != first.size || memcmp(file.bytes, first.bytes, (size_t)file.size) != 0)
            fail_msg("%s: training %d gives other bytes than the first", how[k].learner, k);
        free(file.bytes);
    }
    free(first.bytes);
}

void check_sparse_bytes(const char *learner, const char *task)
{
    enum { ROWS = 700, COLUMNS = 200 };
    float *x = calloc(ROWS * COLUMNS, sizeof *x);
    double y[ROWS];
    assert_non_null(x);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 7; k++)
            x[i * COLUMNS + (int)(syn_uniform((uint64_t)(i * 7 + k)) * COLUMNS)] = (float)syn_normal((uint64_t)i, (uint64_t)k);
        y[i] = (x[i * COLUMNS + 3] + x[i * COLUMNS + 100] > 0) + (i % 3 == 0);
    }
    csr entries = csr_of(ROWS, COLUMNS, x);
    klift_batch dense = dense_batch(ROWS, COLUMNS, x), sparse = csr_batch(ROWS, COLUMNS, &entries);
    dense.target = sparse.target = y;
    dense.targets = sparse.targets = 1;
    const training way = {.learner = learner, .task = task};
    training ways[3] = {way, way, way};
    ways[1].instead = ways[2].instead = &sparse;
    ways[2].threads = "3";
    check_same_bytes(&dense, ways, 3);
    csr_free(&entries);
    free(x);
}

void linear_weights_of(const klift_model *model, int64_t columns, int64_t outputs, double *w)
{
    float *unit = calloc((size_t)((columns + 1) * columns), sizeof *unit);
    double *score = calloc((size_t)((columns + 1) * outputs), sizeof *score);
    assert_true(unit != NULL && score != NULL);
    for (int64_t j = 0; j < columns; j++)
        unit[(j + 1) * columns + j] = 1;
    klift_batch rows = dense_batch(columns + 1, columns, unit);
    assert_int_equal(klift_model_outputs(model), outputs);
    assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, score, NULL), KLIFT_OK);
    for (int64_t o = 0; o < outputs; o++) {
        w[o * (columns + 1) + columns] = score[o];
        for (int64_t j = 0; j < columns; j++)
            w[o * (columns + 1) + j] = score[(j + 1) * outputs + o] - score[o];
    }
    free(unit);
    free(score);
}
