/*
 * ridge.c - the learner `ridge`: min (1/n) sum weight (y - w'z - b)^2 / 2 + lambda |w|^2 / 2, b unpenalised, from one
 * pass of statistics (normal.c solves, search.c chooses lambda).
 * A class is a 0/1 column; scores are given on the -1/+1 scale (2 w, 2 b - 1), so 0 is the border. A code of the classes is applied
 * to the solution (code.c): statistics and search are those of one class against the rest. Probabilities are fitted on the scores that
 * the search gives its kept rows, which are then held out for a lambda that was given too.
 */
#include "learn/ridge.h"

#include "base/memory.h"

#include <math.h>

enum { CACHE };
static const kl_param params[] = {
    {"cache", KL_WORD, "float32", 0, 0, false, "float32|int16", "what features are rounded to for training; int16: 11 bits and a sign about their means, products in half the time; only for features of fourier, orthogonal and fastfood"},
    {0}};

typedef struct state {
    kl_statistics statistics;
    kl_search search;
} state;

/* Sets of tiles a search keeps. */
static int sets_of(kl_search search, int folds)
{
    return search == KL_BY_FOLDS ? folds : search == KL_BY_HOLDOUT ? 2 : 1;
}

enum { MANY_FEATURES = 2048, MANY_ROWS = 16384 };

/* auto: one held-out fold where it holds out enough rows and a factor per fold and lambda would take longer than the
 * statistics; otherwise folds while their tiles take at most half of the limit, else one held-out fold, else GCV, which holds out
 * no row for probabilities. */
static kl_search choose_search(const kl_learn_spec *spec, int64_t features, int64_t limit)
{
    int64_t tiles = kl_tiles_bytes(features);
    bool fixed = !isnan(spec->lambda) || !isnan(spec->c);
    if (!spec->search_given && fixed && !spec->probability)
        return KL_BY_HAND;
    if (spec->search_given)
        return spec->search;
    if (features > MANY_FEATURES && (spec->rows == 0 || spec->rows > MANY_ROWS) && tiles <= limit / 4)
        return KL_BY_HOLDOUT;
    if (tiles <= limit / 2 / spec->folds)
        return KL_BY_FOLDS;
    return tiles <= limit / 4 || spec->probability ? KL_BY_HOLDOUT : KL_BY_GCV;
}

static void plan(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *to)
{
    const kl_learn_spec *spec = &learner->spec;
    int64_t features = learner->features, rows = extent->rows;
    int64_t tiles = kl_tiles_bytes(features), block = kl_learner_block(features);
    kl_search search = choose_search(spec, features, limit);
    int sets = sets_of(search, spec->folds);
    int64_t most = KL_KEPT_ROWS < rows ? KL_KEPT_ROWS : rows;
    bool kept = spec->goal == KL_CLASSIFY && (search == KL_BY_FOLDS || search == KL_BY_HOLDOUT);
    if (tiles > INT64_MAX / 256) /* of no machine: only the refusal counts */
        tiles = INT64_MAX / 256;
    kl_plan_add(to, sets * tiles, "%d set%s of statistics (lambda %s %s)", sets, sets == 1 ? "" : "s", search == KL_BY_HAND ? "is" : "by",
                search == KL_BY_HAND ? "given" : kl_search_name(search));
    kl_plan_add(to, tiles + kl_tiles_factor_bytes(features), "the solution");
    kl_plan_add(to, block * features * (int64_t)sizeof(float), "a block of %lld rows", (long long)block);
    kl_plan_add(to, 2 * KL_TILES_ROWS * features * (int64_t)(features <= KL_TILES_EXACT ? sizeof(double) : sizeof(float)), "packed rows");
    kl_plan_add(to, kept ? most * extent->row_bytes : 0, "%lld kept rows", (long long)most);
    kl_plan_add(to, kept && most * features <= KL_RIDGE_KEPT ? most * features * (int64_t)sizeof(float) : 0, "their features");
}

/* The step to which features are rounded, 0: not. A feature is at most twice the largest from its mean. */
static klift_status step_of(const kl_learner *learner, float *step)
{
    *step = 0;
    if (learner->value[CACHE].word == 0)
        return KLIFT_OK;
    if (!(learner->spec.reach > 0))
        return kl_fail(KLIFT_USAGE, "learner ridge: cache=int16 needs features of one size, those of the maps fourier, orthogonal and fastfood; take one of them or cache=float32");
    int exponent;
    frexp(2 * learner->spec.reach / KL_WHOLE_MOST, &exponent);
    *step = ldexpf(1, exponent);
    return KLIFT_OK;
}

static klift_status begin(kl_learner *learner, klift_run *run)
{
    state *st = learner->state;
    kl_plan needed = {0};
    float step;
    KL_TRY(step_of(learner, &step));
    plan(learner, &(kl_extent){.rows = INT64_MAX}, kl_run_memory(run), &needed);
    KL_TRY(kl_plan_check(&needed, learner->features, true, run));
    if (learner->class_weight.balanced)
        return kl_fail(KLIFT_USAGE, "ridge looks at every row once, and for class-weight=balanced it must know before how many there are of each class; give a file instead of a pipe or "
                       "parts, or weights as in class-weight=1=5, or use learner=svm");
    st->search = choose_search(&learner->spec, learner->features, kl_run_memory(run));
    KL_TRY(kl_statistics_begin(&st->statistics, learner->spec.goal, learner->features, learner->spec.folds, sets_of(st->search, learner->spec.folds), learner->spec.seed, run));
    for (int f = 0; f < st->statistics.sets; f++)
        st->statistics.fold[f].gram.step = step;
    if (learner->class_weight.label.count > 0)
        st->statistics.targets.by_class = &learner->class_weight;
    return KLIFT_OK;
}

static klift_status observe(kl_learner *learner, const kl_batch *x)
{
    return kl_statistics_observe(&((state *)learner->state)->statistics, x);
}

static klift_status consume(kl_learner *learner, const float *z, int64_t stride, int64_t rows, klift_run *run)
{
    return kl_statistics_consume(&((state *)learner->state)->statistics, z, stride, rows, run);
}

static void save(const kl_learner *learner, kl_record_writer *to)
{
    kl_statistics_save(&((const state *)learner->state)->statistics, to);
}

static klift_status load(kl_learner *learner, int64_t width, kl_record_reader *from)
{
    return kl_statistics_load(&((state *)learner->state)->statistics, width, from);
}

static klift_status merge(kl_learner *into, const kl_learner *from, int sign)
{
    const state *a = into->state, *b = from->state;
    if (a->search != b->search)
        return kl_fail(KLIFT_USAGE, "statistics for search=%s and search=%s cannot be merged; make all parts with the same spec", kl_search_name(a->search),
                       kl_search_name(b->search));
    return kl_statistics_merge(&((state *)into->state)->statistics, &b->statistics, sign);
}

/* From the shifted model to one on plain z; classes to the -1/+1 scale. */
static klift_status give_weights(const kl_ridge *r, kl_weights *weights)
{
    const kl_statistics *s = r->s;
    double scale = s->goal == KL_CLASSIFY ? 2 : 1;
    KL_TRY(kl_new(&weights->w, r->outputs * s->features, sizeof(double), "the weights"));
    KL_TRY(kl_new(&weights->b, r->outputs, sizeof(double), "the weights"));
    kl_ridge_plain(r, weights->w, weights->b);
    for (int64_t i = 0; i < r->outputs * s->features; i++)
        weights->w[i] *= scale;
    for (int64_t o = 0; o < r->outputs; o++) {
        weights->b[o] = s->goal == KL_CLASSIFY ? 2 * weights->b[o] - 1 : weights->b[o];
        if (!isfinite(weights->b[o]))
            return kl_fail(KLIFT_FAILED, "the solution is not finite; scale the data or use a larger lambda");
    }
    return KLIFT_OK;
}

/* Before anything is solved: a code that does not fit the classes is refused at once. */
static klift_status give_code(const kl_learn_spec *spec, kl_weights *weights)
{
    if (spec->code == KL_CODE_NONE)
        return KLIFT_OK;
    KL_TRY(kl_code_new(spec->code, weights->classes.count, spec->bits, spec->seed, &weights->code));
    weights->code.decode = spec->decode;
    return KLIFT_OK;
}

/* From the scores of the rows held out, with a code those of its classes. */
static klift_status give_probability(const kl_held *held, kl_weights *weights)
{
    double *bits = NULL;
    if (weights->code.bits > 0)
        KL_TRY(kl_new(&bits, weights->code.bits, sizeof *bits, "scores"));
    for (int64_t i = 0; bits != NULL && i < held->rows; i++) {
        double *score = held->score + i * kl_held_outputs(held);
        kl_code_values(&weights->code, score, bits);
        kl_code_scores(&weights->code, bits, score);
    }
    kl_free(bits);
    return kl_probability_fit(held, &weights->classes, &weights->probability);
}

static klift_status finish(const kl_learner *learner, const kl_lift *lift, klift_run *run, kl_weights *weights)
{
    const state *st = learner->state;
    const kl_statistics *s = &st->statistics;
    kl_ridge r = {.s = s};
    kl_held held = {0};
    int64_t *column = NULL;
    klift_status status = KLIFT_OK;
    KL_TRY(kl_targets_check(&s->targets, s->shifted ? kl_ridge_weight(s, -1) : 0, learner->spec.allow_one_class));
    *weights = (kl_weights){.goal = s->goal, .features = s->features, .search = st->search, .folds = s->folds, .cv_error = NAN};
    double n = kl_ridge_weight(s, -1);
    weights->lambda = isnan(learner->spec.c) ? learner->spec.lambda : 1 / (learner->spec.c * n);
    weights->weight = n;
    for (int f = 0; f < s->sets; f++)
        weights->rows += s->fold[f].rows;
    KL_GO(kl_targets_outputs(&s->targets, weights, &column));
    KL_GO(give_code(&learner->spec, weights));
    r.column = column;
    r.outputs = weights->outputs;
    held.classes = weights->classes.count;
    r.held = learner->spec.probability ? &held : NULL;
    KL_GO(kl_tiles_new_bare(&r.a, s->features));
    KL_GO(kl_new(&r.w, s->features * r.outputs, sizeof *r.w, "the weights"));
    KL_GO(kl_new(&r.b, r.outputs, sizeof *r.b, "the weights"));
    KL_GO(kl_new(&r.mean, s->features, sizeof *r.mean, "the weights"));
    if (st->search != KL_BY_HAND) {
        KL_GO(kl_run_progress(run, "search", 0, 0, NAN));
        KL_GO(kl_ridge_search(&r, st->search, weights->lambda, lift, run, weights));
    }
    if (r.held != NULL)
        KL_GO(give_probability(&held, weights));
    KL_GO(kl_run_progress(run, "solve", 0, 0, NAN));
    r.jitter = 0;
    r.single = false;
    KL_GO(kl_ridge_model(&r, -1, weights->lambda, run));
    weights->jitter = r.jitter;
    KL_GO(give_weights(&r, weights));
    if (weights->code.bits > 0)
        KL_GO(kl_code_apply(&weights->code, s->features, &weights->w, &weights->b));
    KL_GO(kl_run_progress(run, "solve", (int64_t)weights->rows, (int64_t)weights->rows, NAN));
done:
    kl_run_scratch_drop(run, KL_SCRATCH_FACTOR);
    kl_tiles_clear(&r.a);
    kl_free(r.w);
    kl_free(r.b);
    kl_free(r.mean);
    kl_held_clear(&held);
    kl_free(column);
    if (status != KLIFT_OK)
        kl_weights_clear(weights);
    return status;
}

static void clear(kl_learner *learner)
{
    kl_statistics_clear(&((state *)learner->state)->statistics);
}

const kl_learner_type kl_learner_ridge = {
    .name = "ridge",
    .summary = "least squares from one pass of statistics, lambda by exact cross-validation",
    .params = params,
    .state_size = sizeof(state),
    .codes = true,
    .probabilities = true,
    .begin = begin,
    .observe = observe,
    .consume = consume,
    .finish = finish,
    .save = save,
    .load = load,
    .merge = merge,
    .plan = plan,
    .clear = clear,
};
