/*
 * svm.c - the learner `svm`: min (1/n) sum weight loss(y, w'z + b) + lambda (|w|^2 + b^2 / B^2) / 2 by dual coordinate ascent and
 * Newton steps, several passes over the features (svm_solve.c). b is the weight of one more feature of value B and is penalised with the
 * others, as in LIBLINEAR. Classes: one against the rest, or all at once (crammer.c). search=folds or holdout, C from a path, and
 * the scores for probabilities: svm_folds.c. A training that was stopped is taken up by svm_keep.c.
 */
#include "base/memory.h"
#include "learn/dual_core.h"
#include "learn/statistics.h"
#include "learn/svm.h"

#include <math.h>

enum { LOSS, EPSILON, BIAS, TOLERANCE, PASSES, CLASSES, CACHE };
static const double SINGLE = 1e-4; /* the tolerance from which float32 scores will do */
static const double COARSE = 1e-3; /* the tolerance from which features of one size may have 15 bits: they change scores by 2^-16 or so */

static const kl_param params[] = {
    {"loss", KL_WORD, "auto", 0, 0, false, "auto|hinge|squared-hinge|epsilon|squared-epsilon", "of a row; auto: squared-hinge for classes, squared-epsilon for numbers"},
    {"epsilon", KL_REAL, "0.1", 0, 1e30, false, NULL, "regression: errors up to it cost nothing"},
    {"bias", KL_REAL, "1", -1, 1e30, false, NULL, "value of the constant feature behind the intercept, -1 or 0: none"},
    {"tolerance", KL_REAL, "0.001", 0, 1, true, NULL, "stop when the duality gap is this part of the objective"},
    {"passes", KL_WHOLE, "1000", 1, 1000000000, false, NULL, "at most so many passes over the rows"},
    {"classes", KL_WORD, "one-vs-rest", 0, 0, false, "one-vs-rest|crammer-singer", "how several classes are told apart: each from the rest, or all in one problem (hinge loss)"},
    {"cache", KL_WORD, "auto", 0, 0, false, "auto|float32|bf16|int16", "what features are rounded to for training; int16: half the memory, 15 bits of a row's largest number; bf16: 8 bits of every number; auto: int16 for the features of fourier, orthogonal and fastfood from tolerance 0.001 on, else float32"},
    {0}};

bool kl_svm_is_joint(const kl_learner *learner)
{
    return learner->value[CLASSES].word == 1;
}

double kl_svm_tolerance(const kl_learner *learner)
{
    return learner->value[TOLERANCE].number;
}

int64_t kl_svm_passes(const kl_learner *learner)
{
    return (int64_t)learner->value[PASSES].number;
}

static kl_narrow narrow(const kl_learner *learner)
{
    static const kl_narrow kinds[] = {KL_FLOAT32, KL_FLOAT32, KL_BFLOAT16, KL_INT16};
    int64_t word = learner->value[CACHE].word;
    return word == 0 && learner->spec.reach > 0 && kl_svm_tolerance(learner) >= COARSE ? KL_INT16 : kinds[word];
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
    if (kl_svm_is_joint(learner) && (!classes || learner->value[LOSS].word - 1 == KL_SQUARED_HINGE))
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

klift_status kl_svm_begin(const kl_learner *learner, int64_t outputs, kl_dual *d)
{
    kl_svm *st = learner->state;
    const kl_learn_spec *spec = &learner->spec;
    double bias = learner->value[BIAS].number;
    *d = (kl_dual){.loss = st->loss, .epsilon = learner->value[EPSILON].number,
                   .bias = bias > 0 ? bias : 0, .rows = st->targets.count, .features = learner->features, .outputs = outputs, .seed = spec->seed, .single = !kl_svm_is_joint(learner) && kl_svm_tolerance(learner) >= SINGLE, .row_of = kl_svm_row, .user = st};
    return kl_dual_new(d);
}

/* Room for what is trained on parts of the rows, and what was kept of it and of all else. */
static klift_status take_up(kl_svm_state *s, const kl_passes *passes)
{
    const kl_learn_spec *spec = &s->learner->spec;
    if (kl_svm_holds_out(spec)) {
        s->search.folds = spec->search == KL_BY_HOLDOUT ? 1 : spec->folds;
        KL_TRY(kl_new(&s->search.machine, s->search.folds, sizeof *s->search.machine, "the folds"));
    }
    s->place.next = -1;
    return passes->keep != NULL && passes->keep->found != NULL ? kl_svm_load(s, passes->keep) : KLIFT_OK;
}

static klift_status learn(kl_learner *learner, kl_passes *passes, klift_run *run, kl_weights *weights)
{
    kl_svm *st = learner->state;
    const kl_learn_spec *spec = &learner->spec;
    int64_t *column = NULL, rows = st->targets.count;
    kl_svm_state s = {.learner = learner};
    kl_keeping keeping = {.keep = passes->keep, .state = &s, .save = kl_svm_save};
    kl_svm_tour t = {.passes = passes, .place = &s.place, .keeping = &keeping};
    kl_held held = {0};
    double c;
    klift_status status;
    KL_GO(kl_svm_start(learner, weights, &column));
    c = kl_svm_cost(spec, weights->weight);
    s.search.outputs = weights->outputs;
    if (kl_svm_is_joint(learner) && weights->classes.count == 2) {
        s.search.outputs = 2;
        column[1] = column[0];
        column[0] = 1 - column[0];
    }
    KL_GO(kl_new(&t.order, rows, sizeof *t.order, "the order of rows"));
    KL_GO(kl_new(&t.work, rows, sizeof *t.work, "the order of rows"));
    KL_GO(kl_new(&t.z, passes->at_most, sizeof *t.z, "the order of rows"));
    held.classes = weights->classes.count;
    st->scores = spec->probability ? &held : NULL;
    KL_GO(take_up(&s, passes));
    if (kl_svm_holds_out(spec))
        KL_GO(kl_svm_validate(learner, &t, &s.search, run, weights, &c));
    if (spec->probability)
        KL_GO(kl_probability_fit(&held, &weights->classes, &weights->probability));
    if (s.machine.alpha == NULL)
        KL_GO(kl_svm_begin(learner, s.search.outputs, &s.machine));
    KL_GO(kl_svm_solve(learner, &t, c, kl_svm_tolerance(learner), run, &s.machine));
    weights->lambda = 1 / (c * weights->weight);
    KL_GO(give_weights(&s.machine, weights));
done:
    kl_dual_clear(&s.machine);
    kl_svm_search_clear(&s.search);
    kl_newton_leave(&s.place.newton);
    kl_free(t.order);
    kl_free(t.work);
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
    kl_plan_add(to, kl_svm_is_joint(learner) ? 0 : kl_core_bytes(extent->rows, learner->features), "inner products of rows");
    kl_plan_add(to, squared && !kl_svm_is_joint(learner) ? kl_newton_bytes(extent->rows, learner->features) : 0, "Newton's method");
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
    .narrow = narrow,
    .plan = plan,
    .clear = kl_svm_clear,
};
