/*
 * svm_solve.c - one machine of the learner svm: passes of dual coordinate ascent (dual.c, crammer.c), from a small C where that helps,
 * and Newton steps (newton.c) where passes are slow, until the relative duality gap is below the tolerance.
 * A solve can be stopped and taken up after any block of rows: what it was about to do is in kl_svm_place, all else in kl_dual.
 */
#include "learn/crammer.h"
#include "learn/dual_core.h"
#include "learn/svm.h"
#include "math/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 20 }; /* of Newton's method at most, at a time */
static const double OLD = 4; /* sweeps after which rows that rest are looked at */
static const double ROUGHLY = 0.05; /* the gap at which the C of a squared loss is doubled */
static const double NEARLY = 1.25;  /* what rows have of the gap when a sweep meets them is about so much more than what they have behind it */

static double objective(const kl_dual *d) /* LIBLINEAR's, of all outputs */
{
    double sum = 0;
    for (int64_t o = 0; o < d->outputs; o++)
        sum += d->primal[o];
    return sum;
}

/* The order of a pass, from where it goes on: rows that it has seen may rest since, those to come are as they were when it began, and
 * stand as they stood. */
static int64_t order_rows(kl_dual *d, const kl_svm_tour *t, bool sweep)
{
    kl_random from = {d->seed, (uint32_t)d->passes, KL_DRAW_SWEEP};
    int64_t seen = 0, next = t->place->next, count = sweep ? kl_dual_awake(d, t->order) : d->rows;
    for (int64_t i = 0; !sweep && i < count; i++)
        t->order[i] = (int32_t)i;
    if (sweep)
        kl_random_among(&from, 0, count, t->order, t->work);
    while (next >= 0 && seen < count && t->order[seen] != next)
        seen++;
    memmove(t->order, t->order + seen, (size_t)(count - seen) * sizeof *t->order);
    d->swept += sweep && next < 0 ? (double)count / (double)d->rows : 0;
    return count - seen;
}

/* One pass: a sweep over the rows that do not rest, in an order of its own, or a look at all of them in theirs. */
static klift_status pass_over(const kl_learner *learner, kl_dual *d, const kl_svm_tour *t, bool sweep, klift_run *run)
{
    int64_t count = order_rows(d, t, sweep), most = t->passes->at_most;
    for (int64_t i = 0; i < count; i += most) {
        kl_dual_block rows = {count - i < most ? count - i : most, t->order + i, t->z, d->passes == 0, sweep};
        t->place->next = t->order[i];
        klift_status status = t->passes->take(t->passes, rows.index, rows.count, run, t->z);
        if (status == KLIFT_OK)
            status = kl_svm_is_joint(learner) ? kl_crammer_visit(d, &rows, run) : kl_dual_visit(d, &rows, run);
        if (status == KLIFT_OK && i + most < count)
            t->place->next = t->order[i + most];
        if (status != KLIFT_OK || i + most < count)
            KL_TRY(kl_keep_at(t->keeping, status));
    }
    t->place->next = -1;
    return KLIFT_OK;
}

/* Where sweeps have cost as much as some steps of Newton's method would have. */
static bool is_slow(const kl_learner *learner, const kl_dual *d, double sweeps)
{
    return !kl_svm_is_joint(learner) && kl_newton_fits(d) && sweeps >= 4 && sweeps > 2 * kl_newton_sweeps(d);
}

/* The outputs that are not done yet. */
static klift_status step(kl_dual *d, const kl_svm_tour *t, double tolerance, klift_run *run)
{
    kl_newton_place *at = &t->place->newton;
    at->most = STEPS;
    for (; at->output < d->outputs; at->output++) {
        if (d->done[at->output])
            continue;
        KL_TRY(kl_newton_solve(d, t->passes, tolerance / 4, at, t->keeping, run));
        d->steps += at->steps;
    }
    return KLIFT_OK;
}

static bool some_sleep(const kl_dual *d)
{
    bool some = false;
    for (int64_t o = 0; o < d->outputs && !some; o++)
        some = !d->done[o] && memchr(d->rest + o * d->rows, true, (size_t)d->rows) != NULL;
    return some;
}

static double gap_of(const kl_learner *learner, kl_dual *d, bool exact, double tolerance)
{
    return kl_svm_is_joint(learner) ? kl_crammer_gap(d, exact, tolerance) : kl_dual_gap(d, exact, tolerance);
}

/* What comes behind a pass of that kind. */
static kl_svm_phase phase_after(const kl_learner *learner, const kl_dual *d, const kl_svm_place *p, double tolerance, bool rough)
{
    bool sweep = p->phase == KL_SVM_SWEEP, near = p->gap <= (sweep && !rough ? NEARLY : 1) * tolerance;
    if (sweep && !rough && !near && d->passes < p->end && kl_core_ready(d))
        return KL_SVM_CORE;
    if (sweep && !rough && (near || d->passes == p->end || (d->swept - p->looked >= OLD && some_sleep(d))))
        return KL_SVM_LOOK;
    if (near || p->phase == KL_SVM_LOOK_AGAIN || !is_slow(learner, d, d->swept - p->first))
        return KL_SVM_SWEEP;
    return rough ? KL_SVM_SOLVED : KL_SVM_NEWTON;
}

/* What the phase says, and what comes next. */
static klift_status go_on(const kl_learner *learner, kl_dual *d, const kl_svm_tour *t, double tolerance, bool rough, klift_run *run)
{
    kl_svm_place *p = t->place;
    bool sweep = p->phase == KL_SVM_SWEEP, again = p->phase == KL_SVM_LOOK_AGAIN;
    if (p->phase == KL_SVM_NEWTON) {
        KL_TRY(step(d, t, tolerance, run));
        p->phase = KL_SVM_LOOK_AGAIN;
        return KLIFT_OK;
    }
    if (p->phase == KL_SVM_CORE) {
        KL_TRY(kl_core_solve(d, t->passes, tolerance, &p->newton.output, t->keeping, run));
        p->phase = KL_SVM_LOOK;
        return KLIFT_OK;
    }
    KL_TRY(pass_over(learner, d, t, sweep, run));
    d->passes += sweep;
    p->gap = gap_of(learner, d, !sweep, tolerance);
    if (again)
        kl_dual_wake(d);
    if (!sweep)
        p->looked = d->swept;
    if (again)
        p->first = d->swept; /* not again at once, should it not have been enough */
    p->phase = phase_after(learner, d, p, tolerance, rough);
    p->newton.output = 0;
    return KLIFT_OK;
}

/* Passes until the gap is small. The loss summed in a sweep is that of weights on the way, and of rows that rest when they went to:
 * when it looks good, or those are old, a look at all rows measures. rough: that is not needed, and slow progress ends it;
 * otherwise Newton's method takes over then. */
static klift_status ascend(const kl_learner *learner, kl_dual *d, const kl_svm_tour *t, double tolerance, bool rough, klift_run *run)
{
    kl_svm_place *p = t->place;
    kl_svm *st = learner->state;
    double cost = d->c * kl_svm_weights(st);
    st->c = d->c;
    if (p->phase == KL_SVM_START) {
        p->first = p->looked = d->swept;
        p->end = d->passes + kl_svm_passes(learner);
        p->gap = INFINITY;
        p->phase = KL_SVM_SWEEP;
        memset(d->done, 0, (size_t)d->outputs * sizeof *d->done);
    }
    while (p->phase != KL_SVM_SOLVED && (p->phase != KL_SVM_SWEEP || (p->gap > tolerance && d->passes < p->end))) {
        KL_TRY(go_on(learner, d, t, tolerance, rough, run));
        if (p->phase == KL_SVM_SWEEP)
            KL_TRY(kl_keep_at(t->keeping, kl_run_progress(run, "passes", d->passes * d->rows, 0, objective(d) / cost)));
    }
    p->phase = KL_SVM_START;
    return KLIFT_OK;
}

/* The C from which a squared loss begins: a sixteenth, within bounds that are easy. */
static double easy_part(double c)
{
    double first = c / 16;
    first = first < 0.0625 ? 0.0625 : first > 1 ? 1 : first;
    return c < first ? c : first;
}

/* Dual variables grow about as C does, those of a squared loss nearly all of them: C is doubled from where it is easy, the weights
 * with it, while that is quick. At C = 10 that is a third of the passes from nothing. */
klift_status kl_svm_solve(const kl_learner *learner, const kl_svm_tour *t, double c, double tolerance, klift_run *run, kl_dual *d)
{
    kl_svm_place *p = t->place;
    char and[40] = "";
    bool grows = kl_loss_is_squared(d->loss), taken_up = p->phase != KL_SVM_START, begun = d->c > 0 && !taken_up;
    if (p->phase == KL_SVM_SOLVED)
        return KLIFT_OK;
    if (!taken_up) {
        p->before = d->passes;
        p->steps = d->steps;
        p->gap = 0;
    }
    if (!begun && !taken_up)
        d->c = grows ? easy_part(c) : c;
    while (d->c < c) {
        p->gap = begun ? 0 : p->gap;
        if (!begun)
            KL_TRY(ascend(learner, d, t, ROUGHLY, true, run));
        kl_dual_grow(d, grows && p->gap <= ROUGHLY && 2 * d->c < c ? 2 * d->c : c);
        begun = false;
    }
    KL_TRY(ascend(learner, d, t, tolerance, false, run));
    p->phase = KL_SVM_SOLVED;
    if (d->steps > p->steps)
        snprintf(and, sizeof and, " and %lld Newton steps", (long long)(d->steps - p->steps));
    kl_run_say(run, KLIFT_EVENT_NOTE, "passes", "objective %.7g, duality gap %.2g of it, %lld passes%s", objective(d), p->gap, (long long)(d->passes - p->before), and);
    if (p->gap > tolerance)
        kl_run_say(run, KLIFT_EVENT_WARNING, "passes", "the duality gap is still %.2g of the objective; allow more passes, or use a smaller C", p->gap);
    return KLIFT_OK;
}
