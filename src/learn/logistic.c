/*
 * logistic.c - the learner `logistic`: min (1/n) sum weight loss + lambda |w|^2 / 2, the intercepts unpenalised, by Newton's method
 * (trust_region.c) on passes over the features (log_loss.c), until the gradient is a small part of what it was at the start.
 * Several classes: one loss for all of them (multinomial), or each against the rest. Two classes have one output. Its scores are
 * logarithms of odds: of the second class against the first, of a class against its rest, or up to a constant of each class.
 * Call order: begin, observe ..., learn.
 */
#include "base/memory.h"
#include "learn/descent.h"
#include "learn/log_loss.h"
#include "learn/targets.h"

#include <math.h>
#include <string.h>

enum { CLASSES, TOLERANCE, PASSES };
enum { MULTINOMIAL };

static const kl_param params[] = {
    {"classes", KL_WORD, "multinomial", 0, 0, false, "multinomial|one-vs-rest", "how several classes are told apart: in one loss, or each from the rest"},
    {"tolerance", KL_REAL, "0.0001", 0, 1, true, NULL, "stop when the gradient is this part of what it was at the start"},
    {"passes", KL_WHOLE, "1000", 2, 1000000000, false, NULL, "at most so many passes over the rows"},
    {0}};

typedef struct state {
    kl_targets targets;
} state;

static klift_status begin(kl_learner *learner, klift_run *run)
{
    state *st = learner->state;
    (void)run;
    if (learner->spec.goal != KL_CLASSIFY)
        return kl_fail(KLIFT_USAGE, "learner logistic is for classes, and the task is regress: say task=classify, or use learner=ridge or learner=svm");
    if (learner->spec.search_given)
        return kl_fail(KLIFT_USAGE, "learner logistic holds no rows out: leave search out and give lambda or c, or use learner=ridge or learner=svm");
    st->targets.goal = KL_CLASSIFY;
    if (learner->class_weight.label.count > 0)
        st->targets.by_class = &learner->class_weight;
    return KLIFT_OK;
}

static klift_status observe(kl_learner *learner, const kl_batch *x)
{
    return kl_targets_observe(&((state *)learner->state)->targets, x);
}

/* After every pass. */
static klift_status tell(void *user, int64_t passes, double value)
{
    const kl_log_loss *l = user;
    return kl_run_progress(l->run, "passes", passes * l->passes->rows, 0, value);
}

static klift_status look(void *user, const double *w, double *value, double *gradient)
{
    return kl_log_loss_look(user, w, value, gradient);
}

static klift_status curve(void *user, const double *w, const double *s, double *product)
{
    return kl_log_loss_curve(user, w, s, product);
}

/* The weights to begin at, which change no solution: their classes are to be those of the rows. w is zero, and from is the gradient there. */
static klift_status begin_at(const kl_weights *start, const kl_names *classes, kl_log_loss *l, double *w, double *from)
{
    int64_t size = kl_log_loss_size(l), count = l->outputs * l->features;
    double value, *gradient;
    for (int64_t k = 0; k < classes->count || k < start->classes.count; k++)
        if (k >= classes->count || k >= start->classes.count || strcmp(classes->name[k], start->classes.name[k]) != 0)
            return kl_fail(KLIFT_DATA, "learner logistic begins at weights of the same classes only, and the model has class '%.60s' where the rows have '%.60s'; leave warm-start out",
                           k < start->classes.count ? start->classes.name[k] : "", k < classes->count ? classes->name[k] : "");
    KL_TRY(kl_new(&gradient, size, sizeof *gradient, "the weights"));
    klift_status status = kl_log_loss_look(l, w, &value, gradient);
    for (int64_t i = 0; i < size; i++)
        *from += gradient[i] * gradient[i];
    *from = sqrt(*from);
    memcpy(w, start->w, (size_t)count * sizeof *w);
    memcpy(w + count, start->b, (size_t)l->outputs * sizeof *w);
    kl_free(gradient);
    return status;
}

static klift_status solve(const kl_learner *learner, const kl_names *classes, kl_log_loss *l, klift_run *run, double *w)
{
    kl_smooth problem = {.size = kl_log_loss_size(l), .user = l, .look = look, .curve = curve, .tell = tell};
    kl_descent way = {.tolerance = learner->value[TOLERANCE].number, .most = (int64_t)learner->value[PASSES].number, .keep = l->passes->keep};
    if (learner->spec.start != NULL)
        KL_TRY(begin_at(learner->spec.start, classes, l, w, &way.from));
    KL_TRY(kl_trust_region(&problem, w, &way));
    kl_run_say(run, KLIFT_EVENT_NOTE, "passes", "objective %.7g, gradient %.2g of that at %s, %lld passes", way.value, way.slope,
               learner->spec.start != NULL ? "no weights" : "the start", (long long)way.passes);
    if (way.slope > way.tolerance)
        kl_run_say(run, KLIFT_EVENT_WARNING, "passes", "the gradient is still %.2g of that at the start; allow more passes, or use a larger lambda", way.slope);
    return KLIFT_OK;
}

static klift_status give_weights(const kl_log_loss *l, const double *w, kl_weights *weights)
{
    int64_t count = l->outputs * l->features;
    KL_TRY(kl_new(&weights->w, count, sizeof(double), "the weights"));
    KL_TRY(kl_new(&weights->b, l->outputs, sizeof(double), "the weights"));
    for (int64_t i = 0; i < kl_log_loss_size(l); i++) {
        if (!isfinite(w[i]))
            return kl_fail(KLIFT_FAILED, "the solution is not finite; scale the data or use a larger lambda");
        *(i < count ? &weights->w[i] : &weights->b[i - count]) = w[i];
    }
    return KLIFT_OK;
}

/* Which output is for a class: two classes have one, for the second. (classes), to be freed. */
static klift_status place_classes(const kl_targets *t, kl_weights *weights, int64_t **output)
{
    int64_t *column = NULL;
    klift_status status;
    KL_GO(kl_targets_outputs(t, weights, &column));
    KL_GO(kl_new(output, t->columns, sizeof **output, "outputs"));
    for (int64_t k = 0; k < t->columns; k++)
        (*output)[k] = -1;
    for (int64_t o = 0; o < weights->outputs; o++)
        (*output)[column[o]] = o;
done:
    kl_free(column);
    return status;
}

/* Scores are logarithms of odds already. Those of several classes by themselves are not each other's. */
static klift_status give_probability(const kl_learn_spec *spec, bool joint, kl_weights *weights)
{
    if (joint || weights->outputs == 1)
        weights->probability = (kl_probability){.known = true, .scale = 1};
    else if (spec->probability)
        return kl_fail(KLIFT_USAGE, "learner logistic: classes=one-vs-rest of several classes has no probabilities that add up to 1; use classes=multinomial, or leave probability=true out");
    return KLIFT_OK;
}

static klift_status learn(kl_learner *learner, kl_passes *passes, klift_run *run, kl_weights *weights)
{
    state *st = learner->state;
    const kl_learn_spec *spec = &learner->spec;
    int64_t *output = NULL;
    double *w = NULL, n;
    kl_log_loss l = {.passes = passes, .run = run, .features = learner->features, .class_of = st->targets.target, .weight = st->targets.weight};
    klift_status status;
    *weights = (kl_weights){.goal = spec->goal, .features = learner->features, .search = KL_BY_HAND, .folds = spec->folds, .cv_error = NAN};
    KL_GO(kl_targets_balance(&st->targets, &learner->class_weight));
    n = kl_targets_weight(&st->targets);
    KL_GO(kl_targets_check(&st->targets, n, spec->allow_one_class));
    KL_GO(kl_targets_check_order(&st->targets, "logistic"));
    weights->rows = (double)st->targets.count;
    weights->weight = n;
    weights->lambda = !isnan(spec->c) ? 1 / (spec->c * n) : !isnan(spec->lambda) ? spec->lambda : 1 / n;
    KL_GO(place_classes(&st->targets, weights, &output));
    l.outputs = weights->outputs;
    l.output_of = output;
    l.n = n;
    l.lambda = weights->lambda;
    l.joint = learner->value[CLASSES].word == MULTINOMIAL && weights->outputs > 1;
    KL_GO(give_probability(spec, l.joint, weights));
    KL_GO(kl_log_loss_new(&l));
    KL_GO(kl_new(&w, kl_log_loss_size(&l), sizeof *w, "the weights"));
    KL_GO(solve(learner, &weights->classes, &l, run, w));
    KL_GO(give_weights(&l, w, weights));
done:
    kl_log_loss_clear(&l);
    kl_free(w);
    kl_free(output);
    if (status != KLIFT_OK)
        kl_weights_clear(weights);
    return status;
}

static void clear(kl_learner *learner)
{
    kl_targets_clear(&((state *)learner->state)->targets);
}

const kl_learner_type kl_learner_logistic = {
    .name = "logistic",
    .summary = "logistic regression on the features, multinomial or one class against the rest, by Newton's method; several passes",
    .params = params,
    .state_size = sizeof(state),
    .probabilities = true,
    .starts = true,
    .begin = begin,
    .observe = observe,
    .learn = learn,
    .plan = kl_learner_plan_passes,
    .clear = clear,
};
