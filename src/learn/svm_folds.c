/*
 * svm_folds.c - search=folds or holdout of the learner svm: one training without the rows of each fold (of a row's content), which
 * then are predicted; with a path of C each fold's machine goes on from one C to the next. Scores are what probabilities are fitted on.
 */
#include "learn/svm.h"

#include "base/memory.h"

#include <math.h>

static const double TRIAL = 10; /* times the tolerance: what the error of a C that is only tried needs */


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

/* The rows that solve did not see. A failure leaves the sum and the scores as they were. */
static klift_status test_held(const kl_svm *st, const kl_dual *d, const kl_svm_tour *t, klift_run *run, kl_svm_error *sum)
{
    double *f;
    int64_t rows = 0, kept = st->scores != NULL ? st->scores->rows : 0;
    kl_svm_error before = *sum;
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
            sum->error += st->targets.weight[row] * kl_targets_error(&st->targets, st->column, row, d->outputs, f);
            sum->weight += st->targets.weight[row];
            if (st->scores != NULL)
                KL_GO(keep_score(st, row, d->outputs, f));
        }
    }
    sum->rows += rows;
done:
    kl_free(f);
    if (status != KLIFT_OK) {
        *sum = before;
        if (st->scores != NULL)
            st->scores->rows = kept;
    }
    return status;
}

typedef struct trial {
    const kl_learner *learner;
    const kl_svm_tour *t;
    kl_svm_search *s;
    double weight; /* of all rows */
} trial;

static klift_status one_fold(const trial *k, double c, klift_run *run)
{
    kl_svm *st = k->learner->state;
    kl_svm_search *s = k->s;
    kl_svm_place *place = k->t->place;
    kl_dual *d = &s->machine[st->held];
    double n = kl_svm_weights(st);
    if (!(n > 0) || n == k->weight) /* nothing to learn from, or nothing to test on */
        return KLIFT_OK;
    bool alone = k->learner->path.count == 0;
    double tolerance = kl_svm_tolerance(k->learner) * (alone ? 1 : TRIAL);
    if (d->alpha == NULL)
        KL_TRY(kl_svm_begin(k->learner, s->outputs, d));
    KL_TRY(kl_svm_solve(k->learner, k->t, alone ? kl_svm_cost(&k->learner->spec, n) : c, tolerance, run, d));
    klift_status status = test_held(st, d, k->t, run, &s->sum);
    if (status != KLIFT_OK)
        return kl_keep_at(k->t->keeping, status);
    s->passes = d->passes - place->before > s->passes ? d->passes - place->before : s->passes;
    place->phase = KL_SVM_START;
    if (alone) {
        kl_dual_clear(d);
        *d = (kl_dual){0};
    }
    return KLIFT_OK;
}

/* The error at one C, of all folds. */
static klift_status try_cost(const trial *k, double c, klift_run *run)
{
    kl_svm *st = k->learner->state;
    kl_svm_search *s = k->s;
    klift_status status = KLIFT_OK;
    if (!s->under_way) {
        s->sum = (kl_svm_error){0};
        s->passes = 0;
        if (st->scores != NULL)
            st->scores->rows = 0;
        st->held = 0;
        s->under_way = true;
    }
    for (; st->held < s->folds && status == KLIFT_OK; st->held++)
        status = one_fold(k, c, run);
    st->held = -1;
    s->under_way = false;
    s->sum.error = s->sum.weight > 0 ? s->sum.error / s->sum.weight : NAN;
    return status;
}

/* The scores of the best C wait beside those of the one that is tried. */
static void swap_scores(const trial *k)
{
    kl_svm *st = k->learner->state;
    if (st->scores == NULL)
        return;
    kl_held now = *st->scores;
    *st->scores = k->s->scores;
    st->scores->classes = now.classes;
    k->s->scores = now;
}

/* Up the path until two in a row are worse than the best, or one takes too many passes: the next takes twice as many for twice
 * the C. Ties go to the smaller C. */
static klift_status climb(const trial *k, klift_run *run)
{
    const kl_cost_path *path = &k->learner->path;
    kl_svm_search *s = k->s;
    while (s->tried < path->count && s->worse < 2 && (s->under_way || s->passes <= path->passes)) {
        double c = path->c[s->tried];
        KL_TRY(try_cost(k, c, run));
        kl_run_say(run, KLIFT_EVENT_NOTE, "search", "C %g: error %.4g on %lld rows held out", c, s->sum.error, (long long)s->sum.rows);
        bool first = s->tried == 0;
        s->error[s->tried++] = s->sum.error;
        s->worse = !first && s->sum.error > s->best.error ? s->worse + 1 : 0;
        if (first || s->sum.error < s->best.error) {
            s->c = c;
            s->best = s->sum;
            swap_scores(k);
        }
    }
    swap_scores(k);
    kl_run_say(run, KLIFT_EVENT_NOTE, "search", "C %g has the least error", s->c);
    return KLIFT_OK;
}

/* Of one C, or of all that a path has. */
static klift_status search_cost(const trial *k, klift_run *run)
{
    kl_svm_search *s = k->s;
    if (s->done)
        return KLIFT_OK;
    if (k->learner->path.count > 0)
        KL_TRY(climb(k, run));
    else {
        KL_TRY(try_cost(k, s->c, run));
        s->best = s->sum;
        s->error[0] = s->sum.error;
        s->tried = !isnan(s->sum.error);
    }
    s->done = true;
    kl_held_clear(&s->scores);
    for (int f = 0; f < s->folds; f++) {
        kl_dual_clear(&s->machine[f]);
        s->machine[f] = (kl_dual){0};
    }
    return KLIFT_OK;
}

klift_status kl_svm_validate(const kl_learner *learner, const kl_svm_tour *t, kl_svm_search *s, klift_run *run, kl_weights *weights, double *c)
{
    trial k = {.learner = learner, .t = t, .s = s, .weight = weights->weight};
    const double *cost = learner->path.count > 0 ? learner->path.c : c;
    weights->search = learner->spec.search_given ? learner->spec.search : KL_BY_FOLDS;
    s->c = s->done || s->tried > 0 ? s->c : *c;
    KL_TRY(search_cost(&k, run));
    for (int64_t i = s->tried; i-- > 0;)
        weights->path[weights->path_points++] = (kl_path_point){1 / (cost[i] * weights->weight), s->error[i]};
    weights->cv_error = s->best.error;
    weights->cv_rows = learner->spec.goal == KL_CLASSIFY ? s->best.rows : 0;
    *c = s->c;
    return KLIFT_OK;
}

void kl_svm_search_clear(kl_svm_search *s)
{
    for (int f = 0; s->machine != NULL && f < s->folds; f++)
        kl_dual_clear(&s->machine[f]);
    kl_free(s->machine);
    kl_held_clear(&s->scores);
}
