/*
 * sgd.c - the learner `sgd`: stochastic gradient descent (online.c) on the objective of svm: the intercept is the weight of one more
 * feature of value B. With passes=1 rows are learnt from as they come and forgotten, O(features x classes) of memory whatever
 * their number: begin, { observe, ..., consume }, finish. With more passes it goes through all rows in an order of the
 * seed's in each: begin, observe ..., learn.
 * Classes: each against the rest. An output of its own, for which every row is of another class, stands for all classes that have not
 * come yet: a class that comes late begins as its copy, as if it had been known from the start. Of two classes one output is the
 * other's negative.
 */
#include "learn/sgd.h"

#include "base/memory.h"

#include <math.h>

enum { LOSS, EPSILON, BIAS, STEP, PASSES, AVERAGE, PROJECT };
enum { LOSS_AUTO, STEP_AUTO = 0, STEP_PEGASOS };

static const double UNKNOWN_ROWS = 1e6; /* what C = 1 counts where rows cannot be counted before they are learnt from */

static const kl_param params[] = {
    {"loss", KL_WORD, "auto", 0, 0, false, "auto|" KL_LOSS_WORDS, "of a row; auto: hinge for classes, squared for numbers"},
    {"epsilon", KL_REAL, "0.1", 0, 1e30, false, NULL, "regression: errors up to it cost nothing (epsilon), or their square (huber)"},
    {"bias", KL_REAL, "1", -1, 1e30, false, NULL, "value of the constant feature behind the intercept, -1 or 0: none"},
    {"step", KL_REAL, "auto", 0, 1e30, true, "auto|pegasos", "the first step; auto: from the first rows; pegasos: 1 / (lambda t), as published"},
    {"passes", KL_WHOLE, "1", 1, 1000000000, false, NULL, "over the rows; 1: as they come, none is kept"},
    {"average", KL_WORD, "true", 0, 0, false, "false|true", "give the mean of the weights on the way, the later ones more, instead of the last"},
    {"project", KL_WORD, "false", 0, 0, false, "false|true", "step=pegasos with the hinge loss: onto |w| <= 1 / sqrt(lambda) after every step"},
    {0}};

static bool streams(const kl_value *value)
{
    return value[PASSES].number == 1;
}

static double target_of(const void *user, int64_t row, int64_t output)
{
    const kl_targets *t = user;
    if (t->goal == KL_REGRESS)
        return t->target[row * t->columns + output];
    return t->target[row] == (double)(output - KL_SGD_FIRST_CLASS) ? 1 : -1;
}

static klift_status check_loss(const kl_learner *learner, const kl_loss_type *loss)
{
    KL_TRY(kl_loss_check(loss, learner->spec.goal == KL_CLASSIFY, "sgd"));
    if (learner->value[PROJECT].word == 1 && (learner->value[STEP].word != STEP_PEGASOS || loss != &kl_loss_types[KL_LOSS_HINGE]))
        return kl_fail(KLIFT_USAGE, "learner sgd: project=true belongs to step=pegasos with loss=hinge, whose solution is never longer than 1 / sqrt(lambda); leave it out");
    return KLIFT_OK;
}

/* Of two classes only the first has one. */
static int64_t outputs_of(const kl_targets *t)
{
    return t->goal == KL_REGRESS ? t->columns : t->columns <= 2 ? KL_SGD_FIRST_CLASS + 1 : KL_SGD_FIRST_CLASS + t->columns;
}

/* Outputs and classes of the weights to go on from. A class that they do not have begins where every row is told from it: at a
 * score of -1. */
static klift_status resume(kl_learner *learner)
{
    kl_sgd *st = learner->state;
    kl_online *s = &st->online;
    const kl_weights *from = learner->spec.start;
    int64_t known = from->classes.count, index;
    for (int64_t k = 0; k < known; k++)
        KL_TRY(kl_names_add(&st->targets.classes, from->classes.name[k], &index));
    st->targets.columns = s->numbers ? from->outputs : known;
    s->start = s->weight = from->weight;
    KL_TRY(kl_online_grow(s, outputs_of(&st->targets)));
    if (!s->numbers && s->bias > 0)
        s->output[KL_SGD_NOBODY].v = s->output[KL_SGD_NOBODY].u = -1 / s->bias;
    for (int64_t o = 0; o < from->outputs; o++) /* of two classes theirs is for the second, ours for the first */
        KL_TRY(kl_online_resume(s, s->numbers ? o : KL_SGD_FIRST_CLASS + o, known == 2 ? -1 : 1, from->w + o * s->features, from->b[o]));
    return KLIFT_OK;
}

/* The lambda of rows that are learnt from before they are all known: C counts rows, not their weights. */
static klift_status early_lambda(const kl_learn_spec *spec, klift_run *run, double *lambda)
{
    bool known = spec->rows > 0 && spec->rows < INT64_MAX;
    double c = isnan(spec->c) ? 1 : spec->c, rows = known ? (double)spec->rows : UNKNOWN_ROWS;
    *lambda = isnan(spec->lambda) ? 1 / (c * rows) : spec->lambda;
    if (known || !isnan(spec->lambda))
        return KLIFT_OK;
    if (!isnan(spec->c))
        return kl_fail(KLIFT_USAGE, "c=%g is 1 / (lambda n), and the number n of rows of a pipe is not known before they are learnt from: give lambda, or a file", spec->c);
    kl_run_say(run, KLIFT_EVENT_NOTE, "rows", "the rows of a pipe cannot be counted before they are learnt from: lambda is %g, as for C = 1 and %g rows", *lambda, UNKNOWN_ROWS);
    return KLIFT_OK;
}

static klift_status begin(kl_learner *learner, klift_run *run)
{
    kl_sgd *st = learner->state;
    const kl_value *value = learner->value;
    bool classes = learner->spec.goal == KL_CLASSIFY;
    int loss = value[LOSS].word == LOSS_AUTO ? (classes ? KL_LOSS_HINGE : KL_LOSS_SQUARED) : value[LOSS].word - 1;
    KL_TRY(check_loss(learner, &kl_loss_types[loss]));
    if (learner->spec.search_given)
        return kl_fail(KLIFT_USAGE, "learner sgd holds no rows out: leave search out and give lambda or c, or use learner=ridge or learner=svm");
    if (learner->class_weight.balanced && streams(value))
        return kl_fail(KLIFT_USAGE, "sgd with passes=1 looks at every row once, and for class-weight=balanced it must know before how many there are of each class; give a file instead of a "
                       "pipe, or weights as in class-weight=1=5, or say passes=2");
    if (learner->spec.holdout > 0 && streams(value))
        return kl_fail(KLIFT_USAGE, "sgd with passes=1 ends when the rows do, and tells the loss of each before it learns from it; leave holdout and early-stop out, or say learner=sgd:passes=100");
    st->early = (kl_early){.share = learner->spec.holdout, .patience = learner->spec.early_stop, .seed = learner->spec.seed, .by_class = &learner->class_weight};
    st->passes = (int64_t)value[PASSES].number;
    st->targets.goal = learner->spec.goal;
    if (learner->class_weight.label.count > 0)
        st->targets.by_class = &learner->class_weight;
    st->online = (kl_online){.loss = &kl_loss_types[loss], .epsilon = value[EPSILON].number, .bias = value[BIAS].number > 0 ? value[BIAS].number : 0, .step = value[STEP].number,
                             .pegasos = value[STEP].word == STEP_PEGASOS, .project = value[PROJECT].word == 1, .average = value[AVERAGE].word == 1, .numbers = !classes,
                             .features = learner->features, .target_of = target_of, .user = &st->targets};
    if (learner->spec.start != NULL)
        KL_TRY(resume(learner));
    return streams(value) ? early_lambda(&learner->spec, run, &st->online.lambda) : KLIFT_OK;
}

static klift_status observe(kl_learner *learner, const kl_batch *x)
{
    kl_sgd *st = learner->state;
    KL_TRY(kl_targets_observe(&st->targets, x));
    return kl_early_observe(&st->early, &st->targets, x);
}

static void plan(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *to)
{
    int64_t block = kl_learner_block(learner->features);
    if (streams(learner->value))
        kl_plan_add(to, block * kl_learner_line(learner, extent), "a block of %lld rows", (long long)block);
    else
        kl_learner_plan_passes(learner, extent, limit, to);
    kl_plan_add(to, (learner->value[AVERAGE].word == 1 ? 2 : 1) * learner->features * (int64_t)sizeof(double), "weights of an output");
}

/* ---- outputs ---- */

/* Outputs for the classes that have come since. */
klift_status kl_sgd_add_outputs(kl_sgd *st)
{
    kl_online *s = &st->online;
    int64_t before = s->outputs, needed = outputs_of(&st->targets);
    if (needed <= before)
        return KLIFT_OK;
    KL_TRY(kl_online_grow(s, needed));
    for (int64_t o = before; before > 0 && o < needed; o++)
        kl_online_copy(s, o == KL_SGD_FIRST_CLASS + 1 ? KL_SGD_FIRST_CLASS : KL_SGD_NOBODY, o, o == KL_SGD_FIRST_CLASS + 1 ? -1 : 1);
    return KLIFT_OK;
}

double kl_sgd_mean_loss(const kl_sgd *st)
{
    const kl_online *s = &st->online;
    double sum = 0;
    for (int64_t o = s->numbers ? 0 : KL_SGD_FIRST_CLASS; o < s->outputs; o++)
        sum += s->output[o].sum;
    return sum / (s->weight - s->start);
}

static klift_status give_output(const kl_online *s, int64_t output, double sign, double *w, double *b)
{
    kl_online_weights(s, output, w, b);
    for (int64_t p = 0; p < s->features; p++) {
        w[p] *= sign;
        if (!isfinite(w[p]))
            *b = NAN;
    }
    *b *= sign;
    return isfinite(*b) ? KLIFT_OK : kl_fail(KLIFT_FAILED, "the solution is not finite; scale the data or use a larger lambda");
}

klift_status kl_sgd_give_weights(const kl_learner *learner, double rows, kl_weights *weights)
{
    const kl_sgd *st = learner->state;
    const kl_online *s = &st->online;
    int64_t *column = NULL;
    klift_status status;
    if (learner->spec.start != NULL)
        rows += learner->spec.start->rows;
    *weights = (kl_weights){.goal = learner->spec.goal, .features = learner->features, .search = KL_BY_HAND, .folds = learner->spec.folds, .cv_error = NAN, .rows = rows,
                            .weight = s->weight, .lambda = s->lambda};
    KL_GO(kl_targets_outputs(&st->targets, weights, &column));
    KL_GO(kl_new(&weights->w, weights->outputs * s->features, sizeof(double), "the weights"));
    KL_GO(kl_new(&weights->b, weights->outputs, sizeof(double), "the weights"));
    for (int64_t o = 0; o < weights->outputs; o++) {
        int64_t from = s->numbers ? column[o] : KL_SGD_FIRST_CLASS + column[o];
        bool other = from >= s->outputs; /* the second of two classes */
        KL_GO(give_output(s, other ? KL_SGD_FIRST_CLASS : from, other ? -1 : 1, weights->w + o * s->features, &weights->b[o]));
    }
done:
    kl_free(column);
    if (status != KLIFT_OK)
        kl_weights_clear(weights);
    return status;
}

/* ---- one pass, as they come ---- */

/* The rows of st->z. */
static klift_status take_rows(kl_learner *learner, int64_t rows, klift_run *run)
{
    kl_sgd *st = learner->state;
    kl_online *s = &st->online;
    kl_online_rows block = {.count = rows, .z = st->z, .weight = st->targets.weight};
    KL_TRY(kl_sgd_add_outputs(st));
    if (s->weight == s->start)
        kl_online_begin(s, &block);
    KL_TRY(kl_online_visit(s, &block, 0, s->outputs, run));
    learner->loss = s->weight > s->start ? kl_sgd_mean_loss(st) : NAN;
    learner->loss_weight = s->weight - s->start;
    st->targets.count = 0;
    return KLIFT_OK;
}

static klift_status consume(kl_learner *learner, const float *z, int64_t stride, int64_t rows, klift_run *run)
{
    kl_sgd *st = learner->state;
    if (rows == 0)
        return KLIFT_OK;
    KL_TRY(kl_grow(&st->z, &st->z_room, 0, rows, sizeof *st->z, "the order of rows"));
    for (int64_t i = 0; i < rows; i++)
        st->z[i] = (kl_row){.count = learner->features, .value = z + i * stride};
    return take_rows(learner, rows, run);
}

static klift_status consume_sparse(kl_learner *learner, const kl_rows *z, klift_run *run)
{
    kl_sgd *st = learner->state;
    if (z->rows == 0)
        return KLIFT_OK;
    KL_TRY(kl_grow(&st->z, &st->z_room, 0, z->rows, sizeof *st->z, "the order of rows"));
    for (int64_t i = 0; i < z->rows; i++)
        st->z[i] = kl_row_of(z->start, z->column, z->value, i);
    return take_rows(learner, z->rows, run);
}

static void save_stream(const kl_learner *learner, kl_record_writer *to)
{
    const kl_sgd *st = learner->state;
    kl_targets_save(&st->targets, to);
    kl_online_save(&st->online, to);
}

static klift_status load_stream(kl_learner *learner, int64_t width, kl_record_reader *from)
{
    kl_sgd *st = learner->state;
    (void)width;
    KL_TRY(kl_targets_load(&st->targets, from));
    KL_TRY(kl_online_load(&st->online, from));
    if (st->online.outputs != outputs_of(&st->targets))
        return kl_record_damaged("its outputs and its classes do not agree");
    learner->loss = st->online.weight > 0 ? kl_sgd_mean_loss(st) : NAN;
    learner->loss_weight = st->online.weight - st->online.start;
    return KLIFT_OK;
}

static klift_status finish(const kl_learner *learner, const kl_lift *lift, klift_run *run, kl_weights *weights)
{
    const kl_sgd *st = learner->state;
    (void)lift;
    KL_TRY(kl_targets_check(&st->targets, st->online.weight - st->online.start, learner->spec.allow_one_class));
    kl_run_say(run, KLIFT_EVENT_NOTE, "rows", "loss %.7g of rows before they were learnt from", learner->loss);
    return kl_sgd_give_weights(learner, (double)st->online.rows, weights);
}

static void clear(kl_learner *learner)
{
    kl_sgd *st = learner->state;
    kl_targets_clear(&st->targets);
    kl_online_clear(&st->online);
    kl_early_clear(&st->early);
    kl_free(st->z);
}

const kl_learner_type kl_learner_sgd = {
    .name = "sgd",
    .summary = "stochastic gradient descent on the features: one pass as rows come, or more",
    .params = params,
    .state_size = sizeof(kl_sgd),
    .stops = true,
    .starts = true,
    .shows = true,
    .begin = begin,
    .observe = observe,
    .consume = consume,
    .consume_sparse = consume_sparse,
    .finish = finish,
    .learn = kl_sgd_learn,
    .streams = streams,
    .save = save_stream,
    .load = load_stream,
    .plan = plan,
    .clear = clear,
};
