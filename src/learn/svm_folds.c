/*
 * svm_folds.c - search=folds or holdout of the learner svm: one training without the rows of each fold (of a row's content), which
 * then are predicted; with a path of C each fold's machine goes on from one C to the next. Scores are what probabilities are fitted on.
 */
#include "learn/svm.h"

#include "base/memory.h"

#include <math.h>

static const double TRIAL = 10; /* times the tolerance: what the error of a C that is only tried needs */

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

/* For probabilities: the class of a row and its score, of two classes learnt together the difference. */
static klift_status keep_score(const kl_svm *st, int64_t row, int64_t outputs, const double *f)
{
    double target = st->targets.target[row], apart = outputs == 2 ? f[1] - f[0] : f[0];
    bool two = st->scores->classes == 2;
    int64_t class = two && target == (double)st->column[outputs - 1];
    while (!two && target != (double)st->column[class])
        class++;
    return kl_held_add(st->scores, two ? &apart : f, class, st->targets.weight[row]);
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
            kl_dual_scores(d, &t->z[i], &t->z[i], 0, d->outputs, f);
            sum->error += st->targets.weight[row] * error_of(st, row, d->outputs, f);
            sum->weight += st->targets.weight[row];
            if (st->scores != NULL)
                KL_GO(keep_score(st, row, d->outputs, f));
        }
    }
    sum->rows += rows;
done:
    kl_free(f);
    return status;
}

/* Machines of the folds, which go on with the next C from the weights that they have. */
typedef struct trial {
    const kl_learner *learner;
    const kl_svm_tour *t;
    int64_t outputs;
    double weight; /* of all rows */
    int folds;
    kl_dual *machine; /* (folds) */
    int64_t passes;   /* of the fold that took most, at the last C */
    kl_held scores;
} trial;

static klift_status one_fold(trial *k, double c, klift_run *run, held_out *sum)
{
    kl_svm *st = k->learner->state;
    kl_dual *d = &k->machine[st->held];
    double n = kl_svm_weights(st);
    if (!(n > 0) || n == k->weight) /* nothing to learn from, or nothing to test on */
        return KLIFT_OK;
    bool alone = k->learner->path.count == 0;
    double tolerance = kl_svm_tolerance(k->learner) * (alone ? 1 : TRIAL);
    int64_t before = d->passes;
    if (d->alpha == NULL)
        KL_TRY(kl_svm_begin(k->learner, k->outputs, d));
    KL_TRY(kl_svm_solve(k->learner, k->t, alone ? kl_svm_cost(&k->learner->spec, n) : c, tolerance, run, d));
    k->passes = d->passes - before > k->passes ? d->passes - before : k->passes;
    KL_TRY(test_held(st, d, k->t, run, sum));
    if (alone) {
        kl_dual_clear(d);
        *d = (kl_dual){0};
    }
    return KLIFT_OK;
}

/* The error at one C, of all folds. */
static klift_status try_cost(trial *k, double c, klift_run *run, held_out *sum)
{
    kl_svm *st = k->learner->state;
    klift_status status = KLIFT_OK;
    *sum = (held_out){0};
    k->passes = 0;
    if (st->scores != NULL)
        st->scores->rows = 0;
    for (st->held = 0; st->held < k->folds && status == KLIFT_OK; st->held++)
        status = one_fold(k, c, run, sum);
    st->held = -1;
    sum->error = sum->weight > 0 ? sum->error / sum->weight : NAN;
    return status;
}

/* The scores of the best C wait beside those of the one that is tried. */
static void swap_scores(trial *k)
{
    kl_svm *st = k->learner->state;
    if (st->scores == NULL)
        return;
    kl_held now = *st->scores;
    *st->scores = k->scores;
    st->scores->classes = now.classes;
    k->scores = now;
}

/* Up the path until two in a row are worse than the best, or one takes too many passes: the next takes twice as many for twice
 * the C. Ties go to the smaller C. */
static klift_status climb(trial *k, klift_run *run, kl_weights *weights, double *c, held_out *best)
{
    const kl_cost_path *path = &k->learner->path;
    double tried[KL_COSTS_MAX];
    int worse = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < path->count && worse < 2 && k->passes <= path->passes; i++) {
        held_out sum;
        KL_TRY(try_cost(k, path->c[i], run, &sum));
        kl_run_say(run, KLIFT_EVENT_NOTE, "search", "C %g: error %.4g on %lld rows held out", path->c[i], sum.error, (long long)sum.rows);
        tried[count++] = sum.error;
        worse = i > 0 && sum.error > best->error ? worse + 1 : 0;
        if (i == 0 || sum.error < best->error) {
            *c = path->c[i];
            *best = sum;
            swap_scores(k);
        }
    }
    swap_scores(k);
    kl_run_say(run, KLIFT_EVENT_NOTE, "search", "C %g has the least error", *c);
    while (count-- > 0)
        weights->path[weights->path_points++] = (kl_path_point){1 / (path->c[count] * weights->weight), tried[count]};
    return KLIFT_OK;
}

klift_status kl_svm_validate(const kl_learner *learner, const kl_svm_tour *t, int64_t outputs, klift_run *run, kl_weights *weights, double *c)
{
    trial k = {.learner = learner, .t = t, .outputs = outputs, .weight = weights->weight, .folds = learner->spec.search == KL_BY_HOLDOUT ? 1 : learner->spec.folds};
    held_out sum = {0};
    klift_status status;
    KL_GO(kl_new(&k.machine, k.folds, sizeof *k.machine, "the folds"));
    weights->search = learner->spec.search_given ? learner->spec.search : KL_BY_FOLDS;
    if (learner->path.count > 0)
        KL_GO(climb(&k, run, weights, c, &sum));
    else {
        KL_GO(try_cost(&k, *c, run, &sum));
        if (!isnan(sum.error))
            weights->path[weights->path_points++] = (kl_path_point){1 / (*c * weights->weight), sum.error};
    }
    weights->cv_error = sum.error;
    weights->cv_rows = learner->spec.goal == KL_CLASSIFY ? sum.rows : 0;
done:
    for (int f = 0; k.machine != NULL && f < k.folds; f++)
        kl_dual_clear(&k.machine[f]);
    kl_free(k.machine);
    kl_held_clear(&k.scores);
    return status;
}
