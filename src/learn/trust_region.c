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

typedef struct state {
    const kl_smooth *problem;
    kl_descent *way;
    double *w, *g;         /* here */
    double *to, *to_g;     /* there */
    double *s, *r, *d, *h; /* step, residual, direction, H times it */
    double value, radius;
} state;

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

static klift_status told(const state *st)
{
    st->way->passes++;
    return st->problem->tell != NULL ? st->problem->tell(st->problem->user, st->way->passes, st->value) : KLIFT_OK;
}

static klift_status look(state *st, const double *w, double *value, double *g)
{
    KL_TRY(st->problem->look(st->problem->user, w, value, g));
    return told(st);
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
    double small = INNER * length(n, st->g), rr;
    memset(st->s, 0, (size_t)n * sizeof *st->s);
    for (int64_t i = 0; i < n; i++)
        st->d[i] = st->r[i] = -st->g[i];
    rr = dot(n, st->r, st->r);
    while (sqrt(rr) > small && st->way->passes + 1 < st->way->most) { /* one is left to look where the step leads */
        KL_TRY(st->problem->curve(st->problem->user, st->w, st->d, st->h));
        KL_TRY(told(st));
        double bend = dot(n, st->d, st->h), far = bend > 0 ? rr / bend : INFINITY, before = rr;
        double border = to_border(st);
        if (!(far < border)) {
            add(n, border, st->d, st->s);
            add(n, -border, st->h, st->r);
            break;
        }
        add(n, far, st->d, st->s);
        add(n, -far, st->h, st->r);
        rr = dot(n, st->r, st->r);
        for (int64_t i = 0; i < n; i++)
            st->d[i] = st->r[i] + rr / before * st->d[i];
    }
    return KLIFT_OK;
}

/* By how far the step led against how far it should have. slope: g's; rise: what the value did. */
static void set_radius(state *st, double fall, double promised, double slope, double far, bool first)
{
    double rise = -fall - slope, part = rise <= 0 ? GROW : fmax(SHRINK, -slope / (2 * rise)), radius = st->radius;
    if (first)
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

/* One step; false in `on` when rounding hides every further fall. */
static klift_status step(state *st, bool first, bool *on)
{
    int64_t n = st->problem->size;
    double there, slope, promised, fall;
    KL_TRY(find_step(st));
    memcpy(st->to, st->w, (size_t)n * sizeof *st->w);
    add(n, 1, st->s, st->to);
    KL_TRY(look(st, st->to, &there, st->to_g));
    slope = dot(n, st->g, st->s);
    promised = -0.5 * (slope - dot(n, st->s, st->r));
    fall = isfinite(there) ? st->value - there : -INFINITY;
    set_radius(st, fall, promised, slope, length(n, st->s), first);
    if (fall > TAKEN * promised) {
        double *w = st->w, *g = st->g;
        st->w = st->to;
        st->g = st->to_g;
        st->to = w;
        st->to_g = g;
        st->value = there;
    }
    *on = promised > 1e-15 * fabs(st->value) && st->radius > 0;
    return KLIFT_OK;
}

klift_status kl_trust_region(const kl_smooth *problem, double *w, kl_descent *way)
{
    int64_t n = problem->size;
    double *room = NULL, start;
    bool on = true;
    klift_status status;
    KL_TRY(kl_new(&room, 8 * n, sizeof *room, "the weights"));
    state st = {.problem = problem, .way = way, .w = room, .g = room + n, .to = room + 2 * n, .to_g = room + 3 * n, .s = room + 4 * n, .r = room + 5 * n, .d = room + 6 * n, .h = room + 7 * n};
    way->passes = 0;
    memcpy(st.w, w, (size_t)n * sizeof *w);
    KL_GO(look(&st, st.w, &st.value, st.g));
    start = st.radius = length(n, st.g);
    for (bool first = true; on && length(n, st.g) > way->tolerance * start && way->passes + 1 < way->most; first = false)
        KL_GO(step(&st, first, &on));
    memcpy(w, st.w, (size_t)n * sizeof *w);
    way->value = st.value;
    way->slope = start > 0 ? length(n, st.g) / start : 0;
done:
    kl_free(room);
    return status;
}
