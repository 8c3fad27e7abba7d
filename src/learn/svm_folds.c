/*
 * svm_folds.c - search=folds or holdout of the learner svm: one training without the rows of each fold (of a row's content), which
 * then are predicted.
 */
#include "learn/svm.h"

#include "base/memory.h"

#include <math.h>

/* Errors of rows held out: weights of the wrong ones, or squares over all targets. Weights are the rows' own. */
typedef struct held_out {
    double error, weight;
    int64_t rows;
} held_out;

static double error_of(const kl_svm *st, int64_t row, int64_t outputs, const double *f)
{
    const kl_targets *t = &st->targets;
    int64_t best = 0;
    double sum = 0;
    for (int64_t o = 0; t->goal == KL_REGRESS && o < outputs; o++) {
        double miss = f[o] - t->target[row * t->columns + st->column[o]];
        sum += miss * miss / (double)outputs;
    }
    if (t->goal == KL_REGRESS)
        return sum;
    if (outputs == 1 && t->columns == 2)
        return (f[0] > 0) != (t->target[row] == (double)st->column[0]);
    for (int64_t o = 1; o < outputs; o++)
        best = f[o] > f[best] ? o : best;
    return t->target[row] != (double)st->column[best];
}

/* The rows that solve did not see. */
static klift_status test_held(const kl_svm *st, const kl_dual *d, const kl_svm_tour *t, klift_run *run, held_out *sum)
{
    double *f;
    int64_t rows = 0;
    klift_status status = KLIFT_OK;
    KL_TRY(kl_new(&f, d->outputs, sizeof *f, "scores"));
    for (int64_t i = 0; i < d->rows; i++)
        if (st->fold[i] == st->held && kl_svm_own_weight(st, i) > 0)
            t->order[rows++] = (int32_t)i;
    for (int64_t from = 0; from < rows; from += t->passes->at_most) {
        int64_t count = rows - from < t->passes->at_most ? rows - from : t->passes->at_most;
        KL_GO(t->passes->take(t->passes, t->order + from, count, run, t->z));
        for (int64_t i = 0; i < count; i++) {
            int64_t row = t->order[from + i];
            kl_dual_scores(d, t->z[i], t->z[i], 0, d->outputs, f);
            sum->error += st->targets.weight[row] * error_of(st, row, d->outputs, f);
            sum->weight += st->targets.weight[row];
        }
    }
    sum->rows += rows;
done:
    kl_free(f);
    return status;
}

klift_status kl_svm_validate(const kl_learner *learner, const kl_svm_tour *t, int64_t outputs, klift_run *run, kl_weights *weights)
{
    kl_svm *st = learner->state;
    int folds = learner->spec.search == KL_BY_HOLDOUT ? 1 : learner->spec.folds;
    held_out sum = {0};
    klift_status status = KLIFT_OK;
    for (st->held = 0; st->held < folds && status == KLIFT_OK; st->held++) {
        kl_dual d = {0};
        double n = kl_svm_weights(st);
        if (!(n > 0) || n == weights->weight) /* nothing to learn from, or nothing to test on */
            continue;
        status = kl_svm_solve(learner, t, outputs, run, &d);
        if (status == KLIFT_OK)
            status = test_held(st, &d, t, run, &sum);
        kl_dual_clear(&d);
    }
    st->held = -1;
    weights->search = learner->spec.search;
    weights->cv_error = sum.weight > 0 ? sum.error / sum.weight : NAN;
    weights->cv_rows = learner->spec.goal == KL_CLASSIFY ? sum.rows : 0;
    return status;
}
