/*
 * svm.c - the learner `svm`: min (1/n) sum weight loss(y, w'z + b) + lambda (|w|^2 + b^2 / B^2) / 2 by dual coordinate ascent
 * (dual.c), several passes over the features, and Newton steps (newton.c), until the relative duality gap is below the tolerance. b is
 * the weight of one more feature of value B and is penalised with the others, as in LIBLINEAR. Classes: one against the rest, or all
 * at once (crammer.c). search=folds or holdout, C from a path, and the scores for probabilities: svm_folds.c.
 */
#include "base/memory.h"
#include "learn/crammer.h"
#include "learn/newton.h"
#include "learn/statistics.h"
#include "learn/svm.h"
#include "math/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOSS, EPSILON, BIAS, TOLERANCE, PASSES, CLASSES, CACHE };
enum { STEPS = 20 }; /* of Newton's method at most, at a time */
static const double OLD = 2; /* sweeps after which rows that rest are looked at */
static const double SINGLE = 1e-4; /* the tolerance from which float32 scores will do */
static const double EASY = 0.0625, ROUGHLY = 0.05; /* the first C of a squared loss, and the gap at which it is doubled */

static const kl_param params[] = {
    {"loss", KL_WORD, "auto", 0, 0, false, "auto|hinge|squared-hinge|epsilon|squared-epsilon", "of a row; auto: squared-hinge for classes, squared-epsilon for numbers"},
    {"epsilon", KL_REAL, "0.1", 0, 1e30, false, NULL, "regression: errors up to it cost nothing"},
    {"bias", KL_REAL, "1", -1, 1e30, false, NULL, "value of the constant feature behind the intercept, -1 or 0: none"},
    {"tolerance", KL_REAL, "0.001", 0, 1, true, NULL, "stop when the duality gap is this part of the objective"},
    {"passes", KL_WHOLE, "1000", 1, 1000000000, false, NULL, "at most so many passes over the rows"},
    {"classes", KL_WORD, "one-vs-rest", 0, 0, false, "one-vs-rest|crammer-singer", "how several classes are told apart: each from the rest, or all in one problem (hinge loss)"},
    {"cache", KL_WORD, "float32", 0, 0, false, "float32|bf16", "what features are rounded to for training; bf16: half the memory, 8 bits of every number"},
    {0}};

static bool is_joint(const kl_learner *learner)
{
    return learner->value[CLASSES].word == 1;
}

static bool rounds(const kl_learner *learner)
{
    return learner->value[CACHE].word == 1;
}

static klift_status begin(kl_learner *learner, klift_run *run)
{
    kl_svm *st = learner->state;
    bool classes = learner->spec.goal == KL_CLASSIFY;
    (void)run;
    st->held = -1;
    if (learner->spec.search_given && learner->spec.search == KL_BY_GCV)
        return kl_fail(KLIFT_USAGE, "learner svm has no generalised cross-validation: use search=folds or search=holdout, or leave it out");
    KL_TRY(kl_svm_read_loss(learner, learner->value[LOSS].word));
    if (is_joint(learner) && (!classes || learner->value[LOSS].word - 1 == KL_SQUARED_HINGE))
        return kl_fail(KLIFT_USAGE, "learner svm: classes=crammer-singer is for classification with the hinge loss; leave out %s", classes ? "loss=squared-hinge" : "classes");
    return KLIFT_OK;
}

static klift_status observe(kl_learner *learner, const kl_batch *x)
{
    kl_svm *st = learner->state;
    int64_t first = st->targets.count;
    KL_TRY(kl_targets_observe(&st->targets, x));
    if (!kl_svm_holds_out(&learner->spec))
        return KLIFT_OK;
    KL_TRY(kl_grow(&st->fold, &st->fold_room, first, st->targets.count, sizeof *st->fold, "the folds"));
    for (int64_t i = 0; i < x->rows; i++)
        st->fold[first + i] = kl_statistics_fold(kl_statistics_key(x, i, kl_targets_class(&st->targets, first + i)), learner->spec.folds);
    return KLIFT_OK;
}

static double objective(const kl_dual *d) /* LIBLINEAR's, of all outputs */
{
    double sum = 0;
    for (int64_t o = 0; o < d->outputs; o++)
        sum += d->primal[o];
    return sum;
}

/* One pass: a sweep over the rows that do not rest, in an order of its own, or a look at all of them in theirs. */
static klift_status pass_over(const kl_learner *learner, kl_dual *d, const kl_svm_tour *t, int64_t pass, bool sweep, klift_run *run)
{
    kl_random from = {d->seed, (uint32_t)pass, KL_DRAW_SWEEP};
    int64_t count = d->rows;
    if (sweep) {
        kl_random_permutation(&from, 0, d->rows, t->order);
        count = kl_dual_awake(d, d->rows, t->order);
        d->swept += (double)count / (double)d->rows;
    }
    for (int64_t i = 0; !sweep && i < d->rows; i++)
        t->order[i] = (int32_t)i;
    for (int64_t i = 0; i < count; i += t->passes->at_most) {
        kl_dual_block rows = {count - i < t->passes->at_most ? count - i : t->passes->at_most, t->order + i, t->z, pass == 0, sweep};
        t->passes->narrow = d->single;
        klift_status status = t->passes->take(t->passes, rows.index, rows.count, run, t->z);
        t->passes->narrow = false;
        KL_TRY(status);
        KL_TRY(is_joint(learner) ? kl_crammer_visit(d, &rows, run) : kl_dual_visit(d, &rows, run));
    }
    return KLIFT_OK;
}

/* Where sweeps have cost as much as some steps of Newton's method would have. */
static bool is_slow(const kl_learner *learner, const kl_dual *d, double sweeps)
{
    return !is_joint(learner) && kl_newton_fits(d) && sweeps >= 4 && sweeps > 2 * kl_newton_sweeps(d);
}

/* The outputs that are not done yet, then their gaps. */
static klift_status step(const kl_learner *learner, kl_dual *d, const kl_svm_tour *t, double tolerance, klift_run *run, double *gap)
{
    for (int64_t o = 0; o < d->outputs; o++) {
        int64_t steps = STEPS;
        if (d->done[o])
            continue;
        KL_TRY(kl_newton_solve(d, o, t->passes, tolerance / 4, run, &steps));
        d->steps += steps;
    }
    KL_TRY(pass_over(learner, d, t, d->passes, false, run));
    *gap = kl_dual_gap(d, true, tolerance);
    return KLIFT_OK;
}

static bool some_sleep(const kl_dual *d)
{
    bool some = false;
    for (int64_t o = 0; o < d->outputs; o++)
        some = some || (!d->done[o] && d->asleep[o] > 0);
    return some;
}

/* Passes until the gap is small. The loss summed in a sweep is that of weights on the way, and of rows that rest when they went to:
 * when it looks good, or those are old, a look at all rows measures. rough: that is not needed, and slow progress ends it;
 * otherwise Newton's method takes over then. */
static klift_status ascend(const kl_learner *learner, kl_dual *d, const kl_svm_tour *t, double tolerance, bool rough, klift_run *run, double *gap)
{
    double (*gap_of)(kl_dual *, bool, double) = is_joint(learner) ? kl_crammer_gap : kl_dual_gap;
    kl_svm *st = learner->state;
    double cost = d->c * kl_svm_weights(st), first = d->swept, looked = d->swept;
    int64_t end = d->passes + (int64_t)learner->value[PASSES].number;
    st->c = d->c;
    memset(d->done, 0, (size_t)d->outputs * sizeof *d->done);
    for (*gap = INFINITY; *gap > tolerance && d->passes < end;) {
        KL_TRY(pass_over(learner, d, t, d->passes, true, run));
        d->passes++;
        *gap = gap_of(d, false, tolerance);
        double since = d->swept - looked;
        if (!rough && (*gap <= tolerance || d->passes == end || (since >= OLD && some_sleep(d)))) {
            KL_TRY(pass_over(learner, d, t, d->passes, false, run));
            *gap = gap_of(d, true, tolerance);
            looked = d->swept;
        }
        if (*gap > tolerance && is_slow(learner, d, d->swept - first)) {
            if (rough)
                return KLIFT_OK;
            KL_TRY(step(learner, d, t, tolerance, run, gap));
            kl_dual_wake(d);
            first = looked = d->swept; /* not again at once, should it not have been enough */
        }
        KL_TRY(kl_run_progress(run, "passes", d->passes * d->rows, 0, objective(d) / cost));
    }
    return KLIFT_OK;
}

/* Two classes that were learnt together become the one output that tells them apart. */
static klift_status give_weights(const kl_dual *d, kl_weights *weights)
{
    bool pair = weights->outputs < d->outputs;
    KL_TRY(kl_new(&weights->w, weights->outputs * d->features, sizeof(double), "the weights"));
    KL_TRY(kl_new(&weights->b, weights->outputs, sizeof(double), "the weights"));
    for (int64_t o = 0; o < weights->outputs; o++) {
        const double *w = d->w + (pair ? 1 : o) * d->features;
        for (int64_t p = 0; p < d->features; p++)
            weights->w[o * d->features + p] = pair ? w[p] - d->w[p] : w[p];
        weights->b[o] = (pair ? d->b[1] - d->b[0] : d->b[o]) * d->bias;
        if (!isfinite(weights->b[o]))
            return kl_fail(KLIFT_FAILED, "the solution is not finite; scale the data or use a larger lambda");
    }
    return KLIFT_OK;
}

double kl_svm_tolerance(const kl_learner *learner)
{
    return learner->value[TOLERANCE].number;
}

klift_status kl_svm_begin(const kl_learner *learner, int64_t outputs, kl_dual *d)
{
    kl_svm *st = learner->state;
    const kl_learn_spec *spec = &learner->spec;
    double bias = learner->value[BIAS].number;
    *d = (kl_dual){.loss = st->loss, .epsilon = learner->value[EPSILON].number,
                   .bias = bias > 0 ? bias : 0, .rows = st->targets.count, .features = learner->features, .outputs = outputs, .seed = spec->seed, .single = !is_joint(learner) && kl_svm_tolerance(learner) >= SINGLE, .row_of = kl_svm_row, .user = st};
    return kl_dual_new(d);
}

/* Dual variables grow about as C does, those of a squared loss nearly all of them: C is doubled from where it is easy, the weights
 * with it, while that is quick. At C = 10 that is a third of the passes from nothing. */
klift_status kl_svm_solve(const kl_learner *learner, const kl_svm_tour *t, double c, double tolerance, klift_run *run, kl_dual *d)
{
    double gap;
    int64_t before = d->passes, steps = d->steps;
    char and[40] = "";
    bool grows = kl_loss_is_squared(d->loss), begun = d->c > 0;
    if (!begun)
        d->c = grows && c > EASY ? EASY : c;
    while (d->c < c) {
        gap = 0;
        if (!begun)
            KL_TRY(ascend(learner, d, t, ROUGHLY, true, run, &gap));
        kl_dual_grow(d, grows && gap <= ROUGHLY && 2 * d->c < c ? 2 * d->c : c);
        begun = false;
    }
    KL_TRY(ascend(learner, d, t, tolerance, false, run, &gap));
    if (d->steps > steps)
        snprintf(and, sizeof and, " and %lld Newton steps", (long long)(d->steps - steps));
    kl_run_say(run, KLIFT_EVENT_NOTE, "passes", "objective %.7g, duality gap %.2g of it, %lld passes%s", objective(d), gap, (long long)(d->passes - before), and);
    if (gap > tolerance)
        kl_run_say(run, KLIFT_EVENT_WARNING, "passes", "the duality gap is still %.2g of the objective; allow more passes, or use a smaller C", gap);
    return KLIFT_OK;
}

static klift_status learn(kl_learner *learner, kl_passes *passes, klift_run *run, kl_weights *weights)
{
    kl_svm *st = learner->state;
    const kl_learn_spec *spec = &learner->spec;
    int64_t *column = NULL, rows = st->targets.count, outputs;
    kl_dual d = {0};
    kl_svm_tour t = {.passes = passes};
    kl_held held = {0};
    double c;
    klift_status status;
    KL_GO(kl_svm_start(learner, weights, &column));
    c = kl_svm_cost(spec, weights->weight);
    outputs = weights->outputs;
    if (is_joint(learner) && weights->classes.count == 2) {
        outputs = 2;
        column[1] = column[0];
        column[0] = 1 - column[0];
    }
    KL_GO(kl_new(&t.order, rows, sizeof *t.order, "the order of rows"));
    KL_GO(kl_new(&t.z, passes->at_most, sizeof *t.z, "the order of rows"));
    held.classes = weights->classes.count;
    st->scores = spec->probability ? &held : NULL;
    if (kl_svm_holds_out(spec))
        KL_GO(kl_svm_validate(learner, &t, outputs, run, weights, &c));
    if (spec->probability)
        KL_GO(kl_probability_fit(&held, &weights->classes, &weights->probability));
    KL_GO(kl_svm_begin(learner, outputs, &d));
    KL_GO(kl_svm_solve(learner, &t, c, kl_svm_tolerance(learner), run, &d));
    weights->lambda = 1 / (c * weights->weight);
    KL_GO(give_weights(&d, weights));
done:
    kl_dual_clear(&d);
    kl_free(t.order);
    kl_free(t.z);
    kl_free(column);
    kl_held_clear(&held);
    st->column = NULL;
    st->scores = NULL;
    if (status != KLIFT_OK)
        kl_weights_clear(weights);
    return status;
}

/* With a squared loss Newton's method may be wanted; the state that knows the loss is not there yet. */
static void plan(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *to)
{
    bool squared = kl_loss_is_squared(kl_svm_loss(learner->spec.goal, learner->value[LOSS].word));
    kl_svm_plan(learner, extent, limit, to);
    kl_plan_add(to, squared && !is_joint(learner) ? kl_newton_bytes(extent->rows, learner->features) : 0, "Newton's method");
}

const kl_learner_type kl_learner_svm = {
    .name = "svm",
    .summary = "linear support vector machine on the features, by dual coordinate ascent; several passes",
    .params = params,
    .paths = true,
    .state_size = sizeof(kl_svm),
    .probabilities = true,
    .begin = begin,
    .observe = observe,
    .learn = learn,
    .rounds = rounds,
    .plan = plan,
    .clear = kl_svm_clear,
};
