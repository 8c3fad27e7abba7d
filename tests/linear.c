/* linear.c - see linear.h. */
#include "linear.h"

#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MOST = 8 };

void linear_problem(int64_t n, int64_t d, float *x, double *sign, double *target)
{
    syn_rows_float(n, d, x);
    for (int64_t i = 0; i < n; i++) {
        double f = (double)x[i * d] + 0.5 * (double)x[i * d + 1], noise = syn_normal((uint64_t)i, 100);
        sign[i] = f + 0.3 * noise > 0 ? 1 : -1;
        target[i] = 2 * f + 0.2 * noise;
    }
}

klift_model *linear_train(const char *learner, const char *task, const klift_batch *rows, const char *threads, const char *memory)
{
    klift_spec *spec = spec_of(PAIRS("kernel", "linear", "learner", learner, "task", task, "c", "3"));
    klift_run *run = run_of(PAIRS("threads", threads, memory != NULL ? "max-memory" : NULL, memory));
    klift_model *model;
    (void)train_rows(spec, rows, run, &model); /* NULL when it is refused */
    klift_spec_free(spec);
    klift_run_free(run);
    return model;
}

klift_status linear_train_set(const klift_batch *rows, const char *const *setting, klift_run *run, klift_model **model)
{
    klift_spec *spec = spec_of(PAIRS(NULL));
    klift_status status = KLIFT_OK;
    *model = NULL;
    for (; status == KLIFT_OK && *setting != NULL; setting += 2)
        status = klift_spec_set(spec, setting[0], setting[1]);
    if (status == KLIFT_OK)
        status = train_rows(spec, rows, run, model);
    klift_spec_free(spec);
    return status;
}

/* Weights by scores: of the origin and of each unit vector. */
void linear_weights(const klift_model *model, int64_t d, int64_t outputs, double *w)
{
    float unit[(MOST + 1) * MOST] = {0};
    double score[(MOST + 1) * MOST];
    assert_true(d <= MOST && outputs <= MOST);
    for (int64_t j = 0; j < d; j++)
        unit[(j + 1) * d + j] = 1;
    klift_batch rows = dense_batch(d + 1, d, unit);
    assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, score, NULL), KLIFT_OK);
    for (int64_t o = 0; o < outputs; o++) {
        w[o * (d + 1) + d] = score[o];
        for (int64_t j = 0; j < d; j++)
            w[o * (d + 1) + j] = score[(j + 1) * outputs + o] - score[o];
    }
}

double linear_objective(kl_loss loss, double c, const klift_batch *rows, const double *w, double b)
{
    double sum = 0;
    for (int64_t j = 0; j < rows->columns; j++)
        sum += w[j] * w[j] / 2;
    for (int64_t i = 0; i < rows->rows; i++) {
        double f = b, y = rows->target[i];
        for (int64_t j = 0; j < rows->columns; j++)
            f += w[j] * (double)rows->dense[i * rows->stride + j];
        double over = loss <= KL_SQUARED_HINGE ? 1 - y * f : fabs(f - y) - 0.1;
        over = over > 0 ? over : 0;
        sum += c * (loss == KL_SQUARED_HINGE || loss == KL_SQUARED_EPSILON ? over * over : over);
    }
    return sum;
}
