/*
 * trust_region.c - trust region Newton method (Lin, Weng and Keerthi 2008; Lin and More 1999): the step s is the minimum of
 * g's + s'Hs / 2 over |s| <= radius, by conjugate gradients (Steihaug 1983) to a tenth of |g|, one product with H an iteration.
 * It is taken when the value falls by enough of what the model promised; that ratio also says how the radius goes on.
 */
#include "base/memory.h"
#include "learn/descent.h"

#include <math.h>
#include <string.h>

/* Parts of the promised fall at which a step is taken, and at which the radius shrinks or grows; and by how much. */
static const double TAKEN = 1e-4, POOR = 0.25, GOOD = 0.75, SHRINK = 0.25, HALVE = 0.5, GROW = 4, INNER = 0.1;

/* What comes next. Only passes take long, and a pass changes nothing but what it gives, so that the state is whole before each. */
typedef enum { TURN, BEND, LOOK } phase;

typedef struct state {
    const kl_smooth *problem;
    kl_descent *way;
    kl_keeping keeping;
    double *w, *g;         /* here */
    double *s, *r, *d;     /* step, residual, direction */
    double *to, *to_g, *h; /* there; H times the direction: results of a pass, never kept */
    double value, radius;
    double start;          /* length of the first gradient */
    phase next;
    bool first, on;        /* on: rounding does not hide every further fall yet */
} state;

enum { KEPT_VECTORS = 5, VECTORS = 8 };
static const uint32_t KEPT = KL_TAG('T', 'R', 'U', '1');

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double length(int64_t n, const double *a)
{
    return sqrt(dot(n, a, a));
}

static void add(int64_t n, double factor, const double *a, double *to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += factor * a[i];
}

static void save(const void *state_of, kl_record_writer *to)
{
    const state *st = state_of;
    const double *vector[KEPT_VECTORS] = {st->w, st->g, st->s, st->r, st->d}, number[] = {st->value, st->radius, st->start};
    const bool flag[] = {st->first, st->on};
    kl_keep_put_head(to, KEPT, 0, st->problem->size, 1);
    kl_record_put_i64(to, st->way->passes);
    kl_record_put_u32(to, st->next);
    kl_keep_put_flags(to, flag, 2);
    kl_keep_put_any(to, number, 3);
    for (int i = 0; i < KEPT_VECTORS; i++)
        kl_keep_put_numbers(to, vector[i], st->problem->size);
}

static klift_status load(state *st)
{
    kl_record_reader *from = st->way->keep->found;
    double *vector[KEPT_VECTORS] = {st->w, st->g, st->s, st->r, st->d}, number[3];
    bool flag[2];
    uint32_t next;
    KL_TRY(kl_keep_get_head(from, KEPT, 0, st->problem->size, 1));
    KL_TRY(kl_record_get_i64(from, 1, st->way->most, &st->way->passes));
    KL_TRY(kl_record_get_u32(from, &next));
    if (next > LOOK)
        return kl_record_damaged("nobody knows what comes next");
    KL_TRY(kl_keep_get_flags(from, flag, 2));
    KL_TRY(kl_keep_get_any(from, number, 3));
    for (int i = 0; i < KEPT_VECTORS; i++)
        KL_TRY(kl_keep_get_numbers(from, vector[i], st->problem->size));
    st->next = (phase)next;
    st->first = flag[0];
    st->on = flag[1];
    st->value = number[0];
    st->radius = number[1];
    st->start = number[2];
    return kl_keep_found(st->way->keep);
}

/* After a pass and what came of it. */
static klift_status told(state *st)
{
    st->way->passes++;
    return kl_keep_at(&st->keeping, st->problem->tell != NULL ? st->problem->tell(st->problem->user, st->way->passes, st->value) : KLIFT_OK);
}

/* How far along d from s, which is inside, the border is. */
static double to_border(const state *st)
{
    int64_t n = st->problem->size;
    double sd = dot(n, st->s, st->d), ss = dot(n, st->s, st->s), dd = dot(n, st->d, st->d), room = st->radius * st->radius - ss;
    double root = sqrt(sd * sd + dd * room);
    return sd >= 0 ? room / (sd + root) : (root - sd) / dd; /* neither of which subtracts what is nearly equal */
}

/* s, and r = -g - Hs. */
static klift_status find_step(state *st)
{
    int64_t n = st->problem->size;
    double small = INNER * length(n, st->g);
    if (st->next == TURN) {
        memset(st->s, 0, (size_t)n * sizeof *st->s);
        for (int64_t i = 0; i < n; i++)
            st->d[i] = st->r[i] = -st->g[i];
        st->next = BEND;
    }
    while (st->next == BEND && length(n, st->r) > small && st->way->passes + 1 < st->way->most) { /* one is left to look where the step leads */
        klift_status status = st->problem->curve(st->problem->user, st->w, st->d, st->h);
        if (status != KLIFT_OK)
            return kl_keep_at(&st->keeping, status);
        double bend = dot(n, st->d, st->h), before = dot(n, st->r, st->r), far = bend > 0 ? before / bend : INFINITY, border = to_border(st);
        bool inside = far < border;
        add(n, inside ? far : border, st->d, st->s);
        add(n, inside ? -far : -border, st->h, st->r);
        double after = dot(n, st->r, st->r);
        for (int64_t i = 0; i < n && inside; i++)
            st->d[i] = st->r[i] + after / before * st->d[i];
        st->next = inside ? BEND : LOOK;
        KL_TRY(told(st));
    }
    st->next = LOOK;
    return KLIFT_OK;
}

/* By how far the step led against how far it should have. slope: g's; rise: what the value did. */
static void set_radius(state *st, double fall, double promised, double slope, double far)
{
    double rise = -fall - slope, part = rise <= 0 ? GROW : fmax(SHRINK, -slope / (2 * rise)), radius = st->radius;
    if (st->first)
        radius = fmin(radius, far);
    if (fall < TAKEN * promised)
        radius = fmin(part * far, HALVE * radius);
    else if (fall < POOR * promised)
        radius = fmax(SHRINK * radius, fmin(part * far, HALVE * radius));
    else if (fall < GOOD * promised)
        radius = fmax(SHRINK * radius, fmin(part * far, GROW * radius));
    else
        radius = fmax(radius, fmin(part * far, GROW * radius));
    st->radius = radius;
}

static klift_status step(state *st)
{
    int64_t n = st->problem->size;
    double there, slope, promised, fall;
    KL_TRY(find_step(st));
    memcpy(st->to, st->w, (size_t)n * sizeof *st->w);
    add(n, 1, st->s, st->to);
    klift_status status = st->problem->look(st->problem->user, st->to, &there, st->to_g);
    if (status != KLIFT_OK)
        return kl_keep_at(&st->keeping, status);
    slope = dot(n, st->g, st->s);
    promised = -0.5 * (slope - dot(n, st->s, st->r));
    fall = isfinite(there) ? st->value - there : -INFINITY;
    set_radius(st, fall, promised, slope, length(n, st->s));
    if (fall > TAKEN * promised) {
        double *w = st->w, *g = st->g;
        st->w = st->to;
        st->g = st->to_g;
        st->to = w;
        st->to_g = g;
        st->value = there;
    }
    st->first = false;
    st->on = promised > 1e-15 * fabs(st->value) && st->radius > 0;
    st->next = TURN;
    return told(st);
}

static klift_status begin(state *st, const double *w)
{
    int64_t n = st->problem->size;
    kl_keep *keep = st->way->keep;
    st->keeping = (kl_keeping){.keep = keep, .state = st, .save = save};
    if (keep != NULL && keep->found != NULL)
        return load(st);
    st->way->passes = 0;
    memcpy(st->w, w, (size_t)n * sizeof *w);
    KL_TRY(st->problem->look(st->problem->user, st->w, &st->value, st->g));
    st->radius = length(n, st->g);
    st->start = st->way->from > 0 ? st->way->from : st->radius;
    st->first = st->on = true;
    return told(st);
}

klift_status kl_trust_region(const kl_smooth *problem, double *w, kl_descent *way)
{
    int64_t n = problem->size;
    double *room = NULL;
    klift_status status;
    KL_TRY(kl_new(&room, VECTORS * n, sizeof *room, "the weights"));
    state st = {.problem = problem, .way = way, .w = room, .g = room + n, .to = room + 2 * n, .to_g = room + 3 * n, .s = room + 4 * n, .r = room + 5 * n, .d = room + 6 * n, .h = room + 7 * n};
    KL_GO(begin(&st, w));
    while (st.next != TURN || (st.on && length(n, st.g) > way->tolerance * st.start && way->passes + 1 < way->most))
        KL_GO(step(&st));
    memcpy(w, st.w, (size_t)n * sizeof *w);
    way->value = st.value;
    way->slope = st.start > 0 ? length(n, st.g) / st.start : 0;
done:
    kl_free(room);
    return status;
}
