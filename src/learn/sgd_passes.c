/* sgd_passes.c - sgd over all rows several times, in an order of the seed's in each; its state is kept behind every block (keep.h), and the
 * best weights where rows are held out (early.h). Call order: start, or load; { pass, look } ...; measure. */
#include "learn/sgd.h"

#include "base/memory.h"
#include "math/random.h"

#include <math.h>

typedef struct tour {
    kl_passes *passes;
    int64_t rows;    /* to learn from */
    int32_t *number; /* (rows) theirs */
    int32_t *order;  /* (rows) of this pass */
    kl_row *z;       /* (passes->at_most) */
    const kl_sgd *st;
    kl_keeping keeping;
    /* with the state, what is kept: */
    int64_t pass, at; /* at: row of its order */
    double before;    /* the sum of losses when it began */
    bool settled;     /* all passes are done, and the weights that they gave are measured */
} tour;

static const uint32_t KEPT = KL_TAG('S', 'G', 'D', '1');

static void save(const void *state_of, kl_record_writer *to)
{
    const tour *t = state_of;
    kl_keep_put_head(to, KEPT, t->st->targets.count, t->st->online.features, t->st->online.outputs);
    kl_record_put_i64(to, t->pass);
    kl_record_put_i64(to, t->at);
    kl_keep_put_any(to, &t->before, 1);
    kl_keep_put_flags(to, &t->settled, 1);
    kl_online_save(&t->st->online, to);
    if (t->st->early.share > 0)
        kl_early_save(&t->st->early, to);
}

static klift_status load(const kl_learner *learner, tour *t)
{
    kl_sgd *st = learner->state;
    int64_t passes = st->passes;
    kl_record_reader *from = t->passes->keep->found;
    int64_t rows = st->targets.count;
    KL_TRY(kl_keep_get_head(from, KEPT, rows, st->online.features, st->online.outputs));
    KL_TRY(kl_record_get_i64(from, 0, passes, &t->pass));
    KL_TRY(kl_record_get_i64(from, 0, rows, &t->at));
    KL_TRY(kl_keep_get_any(from, &t->before, 1));
    KL_TRY(kl_keep_get_flags(from, &t->settled, 1));
    if (t->pass == passes ? t->at > 0 && !t->settled : t->settled)
        return kl_record_damaged("it is not where its passes are");
    KL_TRY(kl_online_load(&st->online, from));
    if (st->early.share > 0) {
        kl_weights like;
        KL_TRY(kl_sgd_give_weights(learner, (double)t->rows, &like));
        KL_TRY(kl_early_load(&st->early, from, &like));
    }
    return kl_keep_found(t->passes->keep);
}

/* A block is learnt from whole, so that the state may be kept behind each. */
static klift_status pass_over(kl_sgd *st, tour *t, klift_run *run)
{
    kl_online *s = &st->online;
    while (t->at < t->rows) {
        int64_t left = t->rows - t->at;
        kl_online_rows rows = {left < t->passes->at_most ? left : t->passes->at_most, t->order + t->at, t->z, st->targets.weight, t->settled};
        klift_status status = t->passes->take(t->passes, rows.index, rows.count, run, t->z);
        if (status == KLIFT_OK && s->weight == s->start && !t->settled)
            kl_online_begin(s, &rows);
        if (status == KLIFT_OK)
            status = kl_online_visit(s, &rows, s->numbers ? 0 : KL_SGD_FIRST_CLASS, s->outputs, run);
        t->at += status == KLIFT_OK ? rows.count : 0;
        KL_TRY(kl_keep_at(&t->keeping, status));
    }
    return KLIFT_OK;
}

/* LIBLINEAR's, of all outputs, at the weights that are given. */
static klift_status measure(kl_sgd *st, tour *t, double n, klift_run *run, double *objective)
{
    kl_online *s = &st->online;
    *objective = 0;
    for (int64_t o = 0; !t->settled && o < s->outputs; o++)
        kl_online_settle(s, o);
    t->settled = true;
    for (int64_t i = 0; i < st->targets.count; i++)
        t->order[i] = (int32_t)i;
    KL_TRY(pass_over(st, t, run));
    for (int64_t o = s->numbers ? 0 : KL_SGD_FIRST_CLASS; o < s->outputs; o++) {
        double norm = s->output[o].v * s->output[o].v;
        for (int64_t p = 0; p < s->features; p++)
            norm += s->v[o * s->features + p] * s->v[o * s->features + p];
        *objective += norm / 2 + s->output[o].sum / (s->lambda * n);
    }
    return KLIFT_OK;
}

/* What the weights are now, for whoever looks at them and for the rows held out. */
static klift_status look_at(const kl_learner *learner, const tour *t, bool watched, klift_run *run, double *error)
{
    kl_sgd *st = learner->state;
    kl_weights now = {0}, shown = {0};
    klift_status status = KLIFT_OK;
    if (st->early.share > 0) {
        KL_GO(kl_sgd_give_weights(learner, (double)t->rows, &now));
        KL_GO(kl_early_test(&st->early, &st->targets, t->passes, run, &now));
        *error = now.cv_error;
    }
    if (watched) {
        KL_GO(kl_sgd_give_weights(learner, (double)t->rows, &shown));
        shown.cv_error = *error;
        KL_GO(learner->watch->show(learner->watch, &shown, run));
    }
    if (st->early.share > 0)
        kl_early_keep(&st->early, &now);
done:
    kl_weights_clear(&now);
    return status;
}

static klift_status descend(const kl_learner *learner, tour *t, double n, klift_run *run)
{
    kl_sgd *st = learner->state;
    int64_t passes = st->passes, rows = t->rows;
    double objective, error = NAN;
    while (t->pass < passes && !kl_early_over(&st->early)) {
        kl_random from = {learner->spec.seed, (uint32_t)t->pass, KL_DRAW_SWEEP};
        kl_random_permutation(&from, 0, rows, t->order);
        for (int64_t i = 0; i < rows; i++)
            t->order[i] = t->number[t->order[i]];
        KL_TRY(pass_over(st, t, run));
        klift_status status = look_at(learner, t, kl_watch_due(learner->watch, (t->pass + 1) * rows, run), run, &error);
        if (status != KLIFT_OK) /* nothing has changed yet */
            return kl_keep_at(&t->keeping, status);
        double sum = kl_sgd_mean_loss(st) * (st->online.weight - st->online.start), gained = sum - t->before;
        t->before = sum;
        t->pass++;
        t->at = 0;
        KL_TRY(kl_keep_at(&t->keeping, kl_run_tell(run, (klift_event){.stage = "passes", .rows = t->pass * rows, .rows_total = passes * rows, .loss = gained / n, .holdout = error})));
    }
    if (st->early.share > 0) {
        kl_run_say(run, KLIFT_EVENT_NOTE, "passes", "error %.4g on %lld rows held out, least after pass %lld of %lld", st->early.best.cv_error, (long long)st->early.rows,
                   (long long)st->early.best_round, (long long)st->early.round);
        return KLIFT_OK;
    }
    KL_TRY(measure(st, t, n, run, &objective));
    kl_run_say(run, KLIFT_EVENT_NOTE, "passes", "objective %.7g, %lld passes", objective, (long long)passes);
    return KLIFT_OK;
}

/* The last ones, or where rows were held out the best. */
static klift_status end_passes(kl_learner *learner, const tour *t, double n, kl_weights *weights)
{
    kl_sgd *st = learner->state;
    st->online.weight = st->online.start + n;
    if (st->early.share == 0)
        return kl_sgd_give_weights(learner, (double)t->rows, weights);
    *weights = st->early.best;
    weights->weight = st->online.weight;
    st->early.best = (kl_weights){0};
    return KLIFT_OK;
}

static double weight_of(const kl_targets *targets, const tour *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->rows; i++)
        sum += targets->weight[t->number[i]];
    return sum;
}

klift_status kl_sgd_learn(kl_learner *learner, kl_passes *passes, klift_run *run, kl_weights *weights)
{
    kl_sgd *st = learner->state;
    const kl_learn_spec *spec = &learner->spec;
    tour t = {.passes = passes, .st = st, .keeping = {.keep = passes->keep, .state = &t, .save = save}};
    double n;
    klift_status status;
    KL_GO(kl_targets_balance(&st->targets, &learner->class_weight));
    KL_GO(kl_targets_check(&st->targets, kl_targets_weight(&st->targets), spec->allow_one_class));
    KL_GO(kl_targets_check_order(&st->targets, "sgd"));
    KL_GO(kl_new(&t.number, st->targets.count, sizeof *t.number, "the order of rows"));
    KL_GO(kl_early_split(&st->early, &st->targets, t.number, &t.rows));
    n = weight_of(&st->targets, &t);
    st->online.lambda = !isnan(spec->c) ? 1 / (spec->c * n) : !isnan(spec->lambda) ? spec->lambda : 1 / n;
    KL_GO(kl_sgd_add_outputs(st));
    KL_GO(kl_new(&t.order, t.rows, sizeof *t.order, "the order of rows"));
    KL_GO(kl_new(&t.z, passes->at_most, sizeof *t.z, "the order of rows"));
    if (passes->keep != NULL && passes->keep->found != NULL)
        KL_GO(load(learner, &t));
    KL_GO(descend(learner, &t, n, run));
    status = end_passes(learner, &t, n, weights);
done:
    kl_free(t.number);
    kl_free(t.order);
    kl_free(t.z);
    return status;
}
