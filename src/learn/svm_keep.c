/*
 * svm_keep.c - the state of a training of the learner svm as bytes: which C and fold is tried and what came of those before, or that all
 * rows are trained on; where that solve is; and its machine, with a path of C those of all folds. Targets, weights, folds of the
 * rows and features are made again. Nothing read is trusted.
 */
#include "learn/dual_core.h"
#include "learn/svm.h"

static const uint32_t KEPT = KL_TAG('S', 'V', 'M', '2');

/* ---- the search ---- */

static void put_error(const kl_svm_error *e, kl_record_writer *to)
{
    kl_keep_put_any(to, &e->error, 1); /* NaN: no row was held out */
    kl_record_put_f64(to, e->weight);
    kl_record_put_i64(to, e->rows);
}

static klift_status get_error(kl_svm_error *e, int64_t rows, kl_record_reader *from)
{
    KL_TRY(kl_keep_get_any(from, &e->error, 1));
    KL_TRY(kl_record_get_f64(from, &e->weight));
    return kl_record_get_i64(from, 0, rows, &e->rows);
}

static void save_search(const kl_svm_search *s, const kl_svm *st, kl_record_writer *to)
{
    kl_keep_put_flags(to, &s->done, 1);
    kl_record_put_i64(to, st->held);
    kl_record_put_i64(to, s->tried);
    kl_record_put_i64(to, s->worse);
    kl_record_put_i64(to, s->passes);
    kl_record_put_f64(to, s->c);
    kl_keep_put_any(to, s->error, s->tried);
    put_error(&s->sum, to);
    put_error(&s->best, to);
    if (st->scores != NULL) {
        kl_held_save(st->scores, to);
        kl_held_save(&s->scores, to);
    }
    for (int f = 0; !s->done && f < s->folds; f++) {
        bool there = s->machine[f].alpha != NULL;
        kl_keep_put_flags(to, &there, 1);
        if (there)
            kl_dual_save(&s->machine[f], to);
    }
}

static klift_status load_machines(const kl_learner *learner, kl_svm_search *s, kl_record_reader *from)
{
    for (int f = 0; f < s->folds; f++) {
        bool there;
        KL_TRY(kl_keep_get_flags(from, &there, 1));
        if (!there)
            continue;
        KL_TRY(kl_svm_begin(learner, s->outputs, &s->machine[f]));
        KL_TRY(kl_dual_load(&s->machine[f], from));
    }
    return KLIFT_OK;
}

static klift_status load_search(const kl_learner *learner, kl_svm_search *s, kl_record_reader *from)
{
    kl_svm *st = learner->state;
    int64_t held, worse, rows = st->targets.count, most = learner->path.count > 0 ? learner->path.count : 1;
    KL_TRY(kl_keep_get_flags(from, &s->done, 1));
    KL_TRY(kl_record_get_i64(from, s->done ? -1 : 0, s->done ? -1 : s->folds - 1, &held));
    KL_TRY(kl_record_get_i64(from, 0, s->done ? most : most - 1, &s->tried));
    KL_TRY(kl_record_get_i64(from, 0, 2, &worse));
    KL_TRY(kl_record_get_i64(from, 0, INT32_MAX, &s->passes));
    KL_TRY(kl_record_get_f64(from, &s->c));
    if (!(s->c > 0))
        return kl_record_damaged("a C is not above 0");
    KL_TRY(kl_keep_get_any(from, s->error, s->tried));
    KL_TRY(get_error(&s->sum, rows, from));
    KL_TRY(get_error(&s->best, rows, from));
    if (st->scores != NULL) {
        s->scores.classes = st->scores->classes;
        KL_TRY(kl_held_load(st->scores, rows, from));
        KL_TRY(kl_held_load(&s->scores, rows, from));
    }
    s->worse = (int)worse;
    s->under_way = !s->done;
    st->held = (int)held;
    return s->done ? KLIFT_OK : load_machines(learner, s, from);
}

/* ---- the place of a solve ---- */

static void save_place(const kl_svm_place *p, const kl_dual *d, kl_record_writer *to)
{
    const double number[] = {p->first, p->looked, p->gap};
    kl_record_put_u32(to, p->phase);
    kl_record_put_i64(to, p->next);
    kl_record_put_i64(to, p->before);
    kl_record_put_i64(to, p->steps);
    kl_record_put_i64(to, p->end);
    kl_keep_put_any(to, number, 3);
    kl_newton_save(d, &p->newton, to);
}

static klift_status load_place(const kl_learner *learner, kl_svm_place *p, const kl_dual *d, kl_record_reader *from)
{
    uint32_t phase;
    double number[3];
    if (d->alpha == NULL)
        return kl_record_damaged("the machine that is trained is not there");
    KL_TRY(kl_record_get_u32(from, &phase));
    bool newton = phase == KL_SVM_NEWTON || phase == KL_SVM_LOOK_AGAIN;
    bool misfit = (newton && (kl_svm_is_joint(learner) || !kl_newton_fits(d))) || (phase == KL_SVM_CORE && !kl_core_ready(d));
    if (phase == KL_SVM_START || phase > KL_SVM_SOLVED || misfit)
        return kl_record_damaged("nobody knows what comes next");
    p->phase = (kl_svm_phase)phase;
    KL_TRY(kl_record_get_i64(from, -1, d->rows - 1, &p->next));
    KL_TRY(kl_record_get_i64(from, 0, d->passes, &p->before));
    KL_TRY(kl_record_get_i64(from, 0, d->steps, &p->steps));
    KL_TRY(kl_record_get_i64(from, 0, d->passes + kl_svm_passes(learner), &p->end));
    KL_TRY(kl_keep_get_any(from, number, 3));
    p->first = number[0];
    p->looked = number[1];
    p->gap = number[2];
    return kl_newton_load(d, &p->newton, from);
}

/* ---- all of it ---- */

/* The machine that is trained now: of all rows, or of those that the fold leaves. */
static const kl_dual *machine_of(const kl_svm_state *s)
{
    const kl_svm *st = s->learner->state;
    return st->held < 0 ? &s->machine : &s->search.machine[st->held];
}

void kl_svm_save(const void *state, kl_record_writer *to)
{
    const kl_svm_state *s = state;
    const kl_svm *st = s->learner->state;
    kl_keep_put_head(to, KEPT, st->targets.count, s->learner->features, s->search.outputs);
    if (kl_svm_holds_out(&s->learner->spec))
        save_search(&s->search, st, to);
    if (st->held < 0)
        kl_dual_save(&s->machine, to);
    save_place(&s->place, machine_of(s), to);
}

klift_status kl_svm_load(kl_svm_state *s, kl_keep *keep)
{
    kl_record_reader *from = keep->found;
    const kl_svm *st = s->learner->state;
    KL_TRY(kl_keep_get_head(from, KEPT, st->targets.count, s->learner->features, s->search.outputs));
    if (kl_svm_holds_out(&s->learner->spec))
        KL_TRY(load_search(s->learner, &s->search, from));
    if (st->held < 0) {
        KL_TRY(kl_svm_begin(s->learner, s->search.outputs, &s->machine));
        KL_TRY(kl_dual_load(&s->machine, from));
    }
    KL_TRY(load_place(s->learner, &s->place, machine_of(s), from));
    return kl_keep_found(keep);
}
