/* early.c - see early.h. */
#include "learn/early.h"

#include "base/memory.h"
#include "learn/statistics.h"

klift_status kl_early_observe(kl_early *e, const kl_targets *t, const kl_batch *x)
{
    int64_t first = t->count - x->rows;
    if (e->share == 0)
        return KLIFT_OK;
    KL_TRY(kl_targets_check_order(t, "sgd"));
    KL_TRY(kl_grow(&e->held, &e->room, e->rows, e->rows + x->rows, sizeof *e->held, "the rows held out"));
    for (int64_t i = 0; i < x->rows; i++)
        if (kl_statistics_held(kl_statistics_key(x, i, kl_targets_class(t, first + i)), e->seed, e->share))
            e->held[e->rows++] = (int32_t)(first + i);
    return KLIFT_OK;
}

/* The row's own, without the factor of its class; rows of a class that does not count are not tested either. */
static double own_weight(const kl_early *e, const kl_targets *t, int64_t row)
{
    double factor = t->goal == KL_CLASSIFY ? kl_class_weight_of(e->by_class, kl_targets_class(t, row)) : 1;
    return factor > 0 ? t->weight[row] / factor : 0;
}

klift_status kl_early_split(kl_early *e, const kl_targets *t, int32_t *others, int64_t *count)
{
    int64_t next = 0;
    double left = 0;
    *count = 0;
    for (int64_t i = 0; i < t->count; i++)
        if (next < e->rows && e->held[next] == i) {
            e->weight += own_weight(e, t, i);
            next++;
        } else {
            left += t->weight[i];
            others[(*count)++] = (int32_t)i;
        }
    if (e->share > 0 && !(e->weight > 0 && left > 0))
        return kl_fail(KLIFT_DATA, "holdout=%g holds out %lld of %lld rows: that leaves nothing to %s; give more rows, or another share", e->share, (long long)e->rows,
                       (long long)t->count, e->weight > 0 ? "learn from" : "test on");
    return KLIFT_OK;
}

klift_status kl_early_test(const kl_early *e, const kl_targets *t, kl_passes *passes, klift_run *run, kl_weights *w)
{
    kl_weights order = {0}; /* which column an output is */
    int64_t *column = NULL;
    double *f = NULL, sum = 0;
    kl_row *z = NULL;
    klift_status status;
    KL_GO(kl_targets_outputs(t, &order, &column));
    KL_GO(kl_new(&f, w->outputs, sizeof *f, "scores"));
    KL_GO(kl_new(&z, passes->at_most, sizeof *z, "the order of rows"));
    for (int64_t from = 0; from < e->rows; from += passes->at_most) {
        int64_t count = e->rows - from < passes->at_most ? e->rows - from : passes->at_most;
        KL_GO(passes->take(passes, e->held + from, count, run, z));
        for (int64_t i = 0; i < count; i++) {
            int64_t row = e->held[from + i];
            kl_row_dots(&z[i], &z[i], w->features, w->outputs, w->w, w->features, f);
            for (int64_t o = 0; o < w->outputs; o++)
                f[o] += w->b[o];
            sum += own_weight(e, t, row) * kl_targets_error(t, column, row, w->outputs, f);
        }
    }
    w->cv_error = sum / e->weight;
    w->cv_rows = t->goal == KL_CLASSIFY ? e->rows : 0;
done:
    kl_free(column);
    kl_free(f);
    kl_free(z);
    kl_weights_clear(&order);
    return status;
}

void kl_early_keep(kl_early *e, kl_weights *weights)
{
    e->round++;
    if (e->best_round == 0 || weights->cv_error < e->best.cv_error) {
        kl_weights_clear(&e->best);
        e->best = *weights;
        *weights = (kl_weights){0};
        e->best_round = e->round;
    }
    kl_weights_clear(weights);
}

bool kl_early_over(const kl_early *e)
{
    return e->patience > 0 && e->round - e->best_round >= e->patience;
}

void kl_early_save(const kl_early *e, kl_record_writer *to)
{
    const kl_weights *w = &e->best;
    kl_record_put_i64(to, e->round);
    kl_record_put_i64(to, e->best_round);
    if (e->best_round == 0)
        return;
    kl_keep_put_numbers(to, &w->cv_error, 1);
    kl_keep_put_numbers(to, w->w, w->outputs * w->features);
    kl_keep_put_numbers(to, w->b, w->outputs);
}

klift_status kl_early_load(kl_early *e, kl_record_reader *from, kl_weights *weights)
{
    e->best = *weights;
    *weights = (kl_weights){0};
    KL_TRY(kl_record_get_i64(from, 0, INT64_MAX, &e->round));
    KL_TRY(kl_record_get_i64(from, 0, e->round, &e->best_round));
    if (e->best_round == 0)
        return KLIFT_OK;
    e->best.cv_rows = e->best.goal == KL_CLASSIFY ? e->rows : 0;
    KL_TRY(kl_keep_get_numbers(from, &e->best.cv_error, 1));
    KL_TRY(kl_keep_get_numbers(from, e->best.w, e->best.outputs * e->best.features));
    return kl_keep_get_numbers(from, e->best.b, e->best.outputs);
}

void kl_early_clear(kl_early *e)
{
    kl_weights_clear(&e->best);
    kl_free(e->held);
    *e = (kl_early){0};
}
