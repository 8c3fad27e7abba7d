/*
 * doubly_stochastic.c - the learner `doubly-stochastic` (Dai, Xie, He, Liang, Raj, Balcan and Song 2014): step t takes a copy of the map that
 * nobody has seen, and rows, and gives the copy its weights (fresh.c); the map is made of copies (copies.c), which are drawn from the seed,
 * so that seed and weights are the model and no matrix of all features is ever made.
 *   step=auto         all rows, and the step that the curvature of the loss in that copy calls for; b has no penalty
 *   step=NUMBER       some rows, and NUMBER / (1 + lambda NUMBER t) times their gradient
 *   step=published    the same with 1 / (lambda t)
 * Steps by the gradient have no b, as published; that of numbers is their mean.
 * More than one pass visits the copies again. Call order: begin, observe ..., learn.
 */
#include "base/memory.h"
#include "learn/fresh.h"
#include "math/random.h"

#include <math.h>

enum { LOSS, EPSILON, STEP, ROWS, PASSES };
enum { LOSS_AUTO, STEP_AUTO = 0, ROWS_AUTO = 0 };
enum { FEW_ROWS = 1024 }; /* of a step by the gradient */

static const kl_param params[] = {
    {"loss", KL_WORD, "auto", 0, 0, false, "auto|" KL_LOSS_WORDS, "of a row; auto: squared-hinge for classes, squared for numbers"},
    {"epsilon", KL_REAL, "0.1", 0, 1e30, false, NULL, "regression: errors up to it cost nothing (epsilon), or their square (huber)"},
    {"step", KL_REAL, "auto", 0, 1e30, true, "auto|published", "auto: by the curvature of the loss; published: 1 / (lambda t) times the gradient; or the first such step"},
    {"rows", KL_WHOLE, "auto", 1, 2147483647, false, "auto", "of a step, new ones in each until all have come; auto: all, or 1024 where step is given"},
    {"passes", KL_WHOLE, "1", 1, 1000000, false, NULL, "over the copies of the map"},
    {0}};

typedef struct state {
    kl_targets targets;
    const kl_loss_type *loss;
} state;

static bool by_curvature(const kl_value *value)
{
    return value[STEP].word == STEP_AUTO;
}

static int64_t rows_of(const kl_value *value, int64_t rows)
{
    int64_t wanted = value[ROWS].word != ROWS_AUTO ? (int64_t)value[ROWS].number : by_curvature(value) ? rows : FEW_ROWS;
    return wanted < rows ? wanted : rows;
}

static klift_status begin(kl_learner *learner, klift_run *run)
{
    state *st = learner->state;
    bool classes = learner->spec.goal == KL_CLASSIFY;
    int loss = learner->value[LOSS].word == LOSS_AUTO ? (classes ? KL_LOSS_SQUARED_HINGE : KL_LOSS_SQUARED) : learner->value[LOSS].word - 1;
    (void)run;
    st->loss = &kl_loss_types[loss];
    KL_TRY(kl_loss_check(st->loss, classes, "doubly-stochastic"));
    if (st->loss->curvature == 0 && by_curvature(learner->value))
        return kl_fail(KLIFT_USAGE, "learner doubly-stochastic: loss=%s has corners, where its curvature tells no step; use %s, or give step=NUMBER", st->loss->name,
                       classes ? "squared-hinge, logistic or squared" : "squared or huber");
    if (learner->spec.search_given)
        return kl_fail(KLIFT_USAGE, "learner doubly-stochastic holds no rows out: leave search out and give lambda or c, or use learner=ridge or learner=svm");
    st->targets.goal = learner->spec.goal;
    if (learner->class_weight.label.count > 0)
        st->targets.by_class = &learner->class_weight;
    return KLIFT_OK;
}

static klift_status observe(kl_learner *learner, const kl_batch *x)
{
    return kl_targets_observe(&((state *)learner->state)->targets, x);
}

static void plan(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *to)
{
    int64_t known = extent->rows < INT64_MAX ? extent->rows : 0, each = kl_learner_width(learner, extent);
    if (extent->parts > 0) { /* before that nothing is known of a copy */
        kl_learner_plan_passes(learner, extent, limit, to);
        kl_plan_add(to, kl_fresh_bytes(known, rows_of(learner->value, known), each, 1, by_curvature(learner->value)), "scores and a step of an output");
    }
    kl_plan_add(to, learner->features * (int64_t)sizeof(double), "weights of an output");
}

/* Steps, and the rows of each: all, or the next ones of an order of the seed's, another one when they are through. */
typedef struct tour {
    kl_fresh *f;
    int32_t *order; /* (rows) */
    int64_t rows, count, round; /* round: that the order is of; -1: of none */
    uint64_t seed;
    kl_keeping keeping;
    int64_t step;   /* with f, what is kept */
} tour;

static void next_rows(tour *t)
{
    int64_t blocks = t->rows / t->count, round = t->step / blocks;
    if (t->count < t->rows && round != t->round)
        kl_random_permutation(&(kl_random){t->seed, (uint32_t)round, KL_DRAW_SWEEP}, 0, t->rows, t->order);
    t->round = round;
    kl_fresh_rows(t->f, t->order + t->step % blocks * t->count);
}

static const uint32_t KEPT = KL_TAG('D', 'S', 'G', '1');

static void save(const void *state_of, kl_record_writer *to)
{
    const tour *t = state_of;
    kl_keep_put_head(to, KEPT, t->rows, t->f->passes->features, t->f->outputs);
    kl_record_put_i64(to, t->step);
    kl_fresh_save(t->f, to);
}

static klift_status load(tour *t, int64_t steps)
{
    kl_keep *keep = t->keeping.keep;
    KL_TRY(kl_keep_get_head(keep->found, KEPT, t->rows, t->f->passes->features, t->f->outputs));
    KL_TRY(kl_record_get_i64(keep->found, 0, steps, &t->step));
    KL_TRY(kl_fresh_load(t->f, keep->found));
    return kl_keep_found(keep);
}

static double step_of(const kl_learner *learner, double lambda, int64_t t)
{
    double first = learner->value[STEP].number;
    return isnan(first) ? 1 / (lambda * (double)t) : first / (1 + lambda * first * (double)t);
}

/* That of numbers where no step moves it. */
static void set_intercepts(kl_fresh *f)
{
    const kl_targets *t = f->targets;
    double mass = kl_targets_weight(t);
    for (int64_t o = 0; t->goal == KL_REGRESS && !f->curved && o < f->outputs; o++)
        for (int64_t i = 0; i < t->count; i++)
            f->b[o] += t->weight[i] / mass * t->target[i * t->columns + f->column[o]];
}

static klift_status take_step(const kl_learner *learner, tour *t)
{
    kl_fresh *f = t->f;
    int64_t copies = f->passes->parts;
    next_rows(t);
    KL_TRY(kl_fresh_score(f, t->step < copies ? t->step : copies));
    KL_TRY(kl_fresh_look(f));
    return f->curved ? kl_fresh_settle(f, t->step % copies) : kl_fresh_descend(f, t->step % copies, step_of(learner, f->lambda, t->step + 1));
}

static klift_status descend(const kl_learner *learner, tour *t)
{
    kl_fresh *f = t->f;
    int64_t steps = (int64_t)learner->value[PASSES].number * f->passes->parts;
    set_intercepts(f);
    if (t->keeping.keep != NULL && t->keeping.keep->found != NULL)
        KL_TRY(load(t, steps));
    while (t->step < steps) {
        klift_status status = take_step(learner, t);
        if (status == KLIFT_OK) {
            t->step++;
            status = kl_run_progress(f->run, "copies", t->step * f->count, steps * f->count, f->mean);
        }
        KL_TRY(kl_keep_at(&t->keeping, status));
    }
    return KLIFT_OK;
}

static klift_status tell(kl_fresh *f, const int32_t *all)
{
    double norm = 0;
    if (f->all) {
        kl_fresh_rows(f, all);
        KL_TRY(kl_fresh_look(f));
    }
    for (int64_t i = 0; i < f->outputs * f->passes->features; i++)
        norm += f->w[i] * f->w[i];
    if (!isfinite(norm))
        return kl_fail(KLIFT_FAILED, "the solution is not finite; scale the data or use a larger lambda");
    if (f->all)
        kl_run_say(f->run, KLIFT_EVENT_NOTE, "copies", "objective %.7g, %lld copies of %lld features", f->mean + f->lambda * norm / 2, (long long)f->passes->parts, (long long)f->each);
    else
        kl_run_say(f->run, KLIFT_EVENT_NOTE, "copies", "loss %.7g of the last rows before they were learnt from, %lld copies of %lld features", f->mean, (long long)f->passes->parts,
                   (long long)f->each);
    return KLIFT_OK;
}

static klift_status learn_outputs(const kl_learner *learner, kl_fresh *f, kl_weights *weights)
{
    const kl_targets *targets = f->targets;
    tour t = {.f = f, .rows = targets->count, .count = rows_of(learner->value, targets->count), .round = -1, .seed = learner->spec.seed, .keeping = {.keep = f->passes->keep, .state = &t, .save = save}};
    klift_status status;
    KL_GO(kl_new(&weights->w, weights->outputs * weights->features, sizeof(double), "the weights"));
    KL_GO(kl_new(&weights->b, weights->outputs, sizeof(double), "the weights"));
    f->w = weights->w;
    f->b = weights->b;
    KL_GO(kl_fresh_new(f, t.count));
    KL_GO(kl_new(&t.order, t.rows, sizeof *t.order, "the order of rows"));
    for (int64_t i = 0; i < t.rows; i++)
        t.order[i] = (int32_t)i;
    KL_GO(descend(learner, &t));
    status = tell(f, t.order);
done:
    kl_free(t.order);
    return status;
}

static klift_status learn(kl_learner *learner, kl_passes *passes, klift_run *run, kl_weights *weights)
{
    state *st = learner->state;
    const kl_learn_spec *spec = &learner->spec;
    int64_t *column = NULL;
    kl_fresh f = {.passes = passes, .run = run, .targets = &st->targets, .loss = st->loss, .epsilon = learner->value[EPSILON].number, .curved = by_curvature(learner->value)};
    klift_status status;
    *weights = (kl_weights){.goal = spec->goal, .features = learner->features, .search = KL_BY_HAND, .folds = spec->folds, .cv_error = NAN};
    if (passes->parts == 0)
        return kl_fail(KLIFT_USAGE, "learner doubly-stochastic takes a map made of copies, such as copies(fourier)");
    KL_GO(kl_targets_balance(&st->targets, &learner->class_weight));
    weights->weight = kl_targets_weight(&st->targets);
    weights->rows = (double)st->targets.count;
    KL_GO(kl_targets_check(&st->targets, weights->weight, spec->allow_one_class));
    KL_GO(kl_targets_check_order(&st->targets, "doubly-stochastic"));
    weights->lambda = f.lambda = !isnan(spec->c) ? 1 / (spec->c * weights->weight) : !isnan(spec->lambda) ? spec->lambda : 1 / weights->weight;
    KL_GO(kl_targets_outputs(&st->targets, weights, &column));
    f.column = column;
    f.outputs = weights->outputs;
    status = learn_outputs(learner, &f, weights);
done:
    kl_fresh_clear(&f);
    kl_free(column);
    if (status != KLIFT_OK)
        kl_weights_clear(weights);
    return status;
}

static void clear(kl_learner *learner)
{
    kl_targets_clear(&((state *)learner->state)->targets);
}

const kl_learner_type kl_learner_doubly_stochastic = {
    .name = "doubly-stochastic",
    .summary = "copy after copy of a random map, each given its weights once: many features, none stored",
    .params = params,
    .state_size = sizeof(state),
    .by_parts = true,
    .begin = begin,
    .observe = observe,
    .learn = learn,
    .plan = plan,
    .clear = clear,
};
