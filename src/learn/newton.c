/* newton.c - see newton.h. Sums over rows are in their order, those of tiles too, so that threads change no bit. */
#include "learn/newton.h"

#include "base/memory.h"
#include "math/tiles.h"

#include <math.h>
#include <string.h>

enum { PIECE = 64, GATHERED = 256 }; /* rows of a task that makes scores, and of an addition to H */

typedef struct newton {
    kl_dual *d;
    int64_t output;
    kl_passes *passes;
    double *w, b;          /* (features) where the objective is made small: the place's */
    double *f, *q;         /* (rows) w'z + b B, the place's, and the same of the step */
    double *g, gb;         /* (features) gradient */
    double *v, vb;         /* (features) the border of H that belongs to the constant feature, and its corner */
    double *side;          /* (features, 2) right sides, then solutions */
    double *step, sb;      /* (features) */
    kl_tiles h;
    void *packed;
    float *block, *nothing; /* (GATHERED, features) rows on their way to H; (features) zeros */
    double *weight;         /* (GATHERED) */
    int32_t *index;         /* (GATHERED) 0, 1, ... */
    int64_t gathered;
    int32_t *order; /* (at_most) */
    kl_row *z;      /* (at_most) */
    double primal, dual;
} newton;

bool kl_newton_fits(const kl_dual *d)
{
    return kl_loss_is_squared(d->loss) && d->features <= KL_NEWTON_WIDEST;
}

int64_t kl_newton_bytes(int64_t rows, int64_t features)
{
    int64_t row = (int64_t)sizeof(float) + 2 * (int64_t)sizeof(double); /* gathered, and packed for both sides of a product */
    if (features > KL_NEWTON_WIDEST || rows > INT64_MAX / 64)
        return 0;
    return kl_tiles_bytes(features) + (GATHERED * row + 8 * (int64_t)sizeof(double)) * features + 2 * rows * (int64_t)sizeof(double);
}

/* A row of a sweep takes 4 operations a feature at the speed of memory, one of H half a square of them about 20 times as fast. */
double kl_newton_sweeps(const kl_dual *d)
{
    double active = 0, rows = (double)d->rows, features = (double)d->features;
    for (int64_t i = 0; i < d->outputs * d->rows; i++)
        active += d->alpha[i] != 0;
    return (active / (rows * (double)d->outputs) * features + features * features / (3 * rows)) / 20;
}

/* The part of a row's error that costs, and which way the score should go. */
static double over_of(const kl_dual *d, double y, double f, double *sign)
{
    if (d->loss == KL_SQUARED_HINGE) {
        *sign = y;
        return 1 - y * f;
    }
    *sign = f > y ? -1 : 1;
    return fabs(f - y) - d->epsilon;
}

typedef struct scoring {
    const newton *k;
    const double *w;
    double b, *out;
    int64_t from, count;
} scoring;

static klift_status score_task(void *context, int64_t task, int worker)
{
    const scoring *s = context;
    const kl_dual *d = s->k->d;
    int64_t end = (task + 1) * PIECE < s->count ? (task + 1) * PIECE : s->count;
    (void)worker;
    for (int64_t i = task * PIECE; i < end; i++) {
        double *out = &s->out[s->from + i];
        kl_row_dots(&s->k->z[i], &s->k->z[i + 1 < end ? i + 1 : i], d->features, 1, s->w, d->features, out);
        *out += s->b * d->bias;
    }
    return KLIFT_OK;
}

/* Rows from.. of a pass in their own order. */
static klift_status take(newton *k, int64_t from, klift_run *run, int64_t *count)
{
    int64_t left = k->d->rows - from;
    *count = left < k->passes->at_most ? left : k->passes->at_most;
    for (int64_t i = 0; i < *count; i++)
        k->order[i] = (int32_t)(from + i);
    return k->passes->take(k->passes, k->order, *count, run, k->z);
}

static klift_status make_scores(newton *k, const double *w, double b, double *out, klift_run *run)
{
    scoring s = {k, w, b, out, 0, 0};
    for (; s.from < k->d->rows; s.from += s.count) {
        KL_TRY(take(k, s.from, run, &s.count));
        KL_TRY(kl_run_parallel(run, (s.count + PIECE - 1) / PIECE, score_task, &s));
    }
    return KLIFT_OK;
}

/* The gradient, the border of H, and both objectives: of w, and of the variables that it gives. */
static klift_status slope(newton *k, klift_run *run)
{
    kl_dual *d = k->d;
    double norm = k->b * k->b, dual_norm;
    memcpy(k->g, k->w, (size_t)d->features * sizeof *k->g);
    memset(k->v, 0, (size_t)d->features * sizeof *k->v);
    k->gb = k->b;
    k->vb = 1;
    k->primal = k->dual = 0;
    for (int64_t from = 0, count; from < d->rows; from += count) {
        KL_TRY(take(k, from, run, &count));
        for (int64_t i = 0; i < count; i++) {
            kl_dual_row row = d->row_of(d->user, from + i, k->output);
            double sign, over = over_of(d, row.y, k->f[from + i], &sign), r = 2 * row.cost * over;
            if (!(row.cost > 0 && over > 0))
                continue;
            kl_row_add(&k->z[i], d->features, -r * sign, k->g);
            k->gb -= r * sign * d->bias;
            kl_row_add(&k->z[i], d->features, 2 * row.cost * d->bias, k->v);
            k->vb += 2 * row.cost * d->bias * d->bias;
            k->primal += row.cost * over * over;
            k->dual += (d->loss == KL_SQUARED_HINGE ? r : row.y * r * sign - d->epsilon * r) - r * r / (4 * row.cost);
        }
    }
    dual_norm = (k->b - k->gb) * (k->b - k->gb);
    for (int64_t p = 0; p < d->features; p++) {
        norm += k->w[p] * k->w[p];
        dual_norm += (k->w[p] - k->g[p]) * (k->w[p] - k->g[p]);
    }
    k->primal += norm / 2;
    k->dual -= dual_norm / 2;
    return KLIFT_OK;
}

static klift_status add_gathered(newton *k, klift_run *run)
{
    kl_tile_rows rows = {k->block, k->d->features, k->gathered, k->index, k->nothing, k->weight};
    k->gathered = 0;
    return rows.count > 0 ? kl_tiles_add(&k->h, &rows, k->packed, run) : KLIFT_OK;
}

static void gather(newton *k, const kl_row *z, double weight)
{
    int64_t features = k->d->features;
    kl_row_spread(z, features, k->block + k->gathered * features);
    k->weight[k->gathered++] = weight;
}

/* H over the features, factored. *failed: the column that is not positive, or -1. */
static klift_status curvature(newton *k, klift_run *run, int64_t *failed)
{
    kl_dual *d = k->d;
    memset(k->h.value, 0, (size_t)(k->h.count * (k->h.count + 1) / 2 * k->h.edge * k->h.edge) * sizeof *k->h.value);
    for (int64_t from = 0, count; from < d->rows; from += count) {
        KL_TRY(take(k, from, run, &count));
        for (int64_t i = 0; i < count; i++) {
            kl_dual_row row = d->row_of(d->user, from + i, k->output);
            double sign;
            if (!(row.cost > 0 && over_of(d, row.y, k->f[from + i], &sign) > 0))
                continue;
            gather(k, &k->z[i], 2 * row.cost);
            if (k->gathered == GATHERED)
                KL_TRY(add_gathered(k, run));
        }
    }
    KL_TRY(add_gathered(k, run));
    for (int64_t p = 0; p < d->features; p++) {
        int64_t tile = p / k->h.edge, at = p % k->h.edge;
        kl_tiles_at(&k->h, tile, tile)[at * k->h.edge + at] += 1;
    }
    return kl_tiles_factor(&k->h, run, failed);
}

/* step = -H^-1 g, the constant feature by elimination. */
static klift_status solve_step(newton *k, klift_run *run)
{
    double along = 0, border = 0;
    for (int64_t p = 0; p < k->d->features; p++) {
        k->side[2 * p] = k->g[p];
        k->side[2 * p + 1] = k->v[p];
    }
    KL_TRY(kl_tiles_solve(&k->h, 2, k->side, run));
    for (int64_t p = 0; p < k->d->features; p++) {
        along += k->v[p] * k->side[2 * p];
        border += k->v[p] * k->side[2 * p + 1];
    }
    k->sb = k->d->bias > 0 ? (along - k->gb) / (k->vb - border) : 0;
    for (int64_t p = 0; p < k->d->features; p++)
        k->step[p] = -k->side[2 * p] - k->side[2 * p + 1] * k->sb;
    return KLIFT_OK;
}

/* Slope of the objective at w + t step; *bend: its derivative. ww: step'w, ss: step'step. */
static double slope_along(const newton *k, double ws, double ss, double t, double *bend)
{
    const kl_dual *d = k->d;
    double sum = ws + t * ss;
    *bend = ss;
    for (int64_t i = 0; i < d->rows; i++) {
        kl_dual_row row = d->row_of(d->user, i, k->output);
        double sign, over = over_of(d, row.y, k->f[i] + t * k->q[i], &sign);
        if (!(row.cost > 0 && over > 0))
            continue;
        sum -= 2 * row.cost * over * sign * k->q[i];
        *bend += 2 * row.cost * k->q[i] * k->q[i];
    }
    return sum;
}

/* Where the slope along the step is 0: the objective is convex and made of parabolas. */
static double best_length(const newton *k)
{
    double ws = k->b * k->sb, ss = k->sb * k->sb, low = 0, high = INFINITY, t = 1;
    for (int64_t p = 0; p < k->d->features; p++) {
        ws += k->w[p] * k->step[p];
        ss += k->step[p] * k->step[p];
    }
    for (int tries = 0; tries < 60; tries++) {
        double bend, at = slope_along(k, ws, ss, t, &bend), next = t - at / bend;
        if (at < 0)
            low = t;
        else
            high = t;
        if (!(next > low && next < high))
            next = isinf(high) ? 2 * t : (low + high) / 2;
        if (fabs(next - t) <= 1e-12 * t)
            break;
        t = next;
    }
    return t;
}

static klift_status step_once(newton *k, klift_run *run, bool *stuck)
{
    int64_t failed;
    KL_TRY(curvature(k, run, &failed));
    *stuck = failed >= 0;
    if (*stuck)
        return KLIFT_OK;
    KL_TRY(solve_step(k, run));
    KL_TRY(make_scores(k, k->step, k->sb, k->q, run));
    double t = best_length(k);
    *stuck = !(t > 0 && isfinite(t));
    for (int64_t p = 0; p < k->d->features && !*stuck; p++)
        k->w[p] += t * k->step[p];
    for (int64_t i = 0; i < k->d->rows && !*stuck; i++)
        k->f[i] += t * k->q[i];
    k->b += *stuck ? 0 : t * k->sb;
    return KLIFT_OK;
}

/* The variables of w, and the weights that belong to them. */
static void give(const newton *k)
{
    kl_dual *d = k->d;
    double *w = d->w + k->output * d->features, *alpha = d->alpha + k->output * d->rows;
    for (int64_t p = 0; p < d->features; p++)
        w[p] = k->w[p] - k->g[p];
    d->b[k->output] = k->b - k->gb;
    for (int64_t i = 0; i < d->rows; i++) {
        kl_dual_row row = d->row_of(d->user, i, k->output);
        double sign, over = over_of(d, row.y, k->f[i], &sign), r = row.cost > 0 && over > 0 ? 2 * row.cost * over : 0;
        alpha[i] = d->loss == KL_SQUARED_HINGE ? r : r * sign;
    }
}

static klift_status make_room(newton *k, klift_run *run)
{
    const kl_dual *d = k->d;
    KL_TRY(kl_new(&k->q, d->rows, sizeof *k->q, "Newton's method"));
    KL_TRY(kl_new(&k->g, d->features, sizeof *k->g, "Newton's method"));
    KL_TRY(kl_new(&k->v, d->features, sizeof *k->v, "Newton's method"));
    KL_TRY(kl_new(&k->side, 2 * d->features, sizeof *k->side, "Newton's method"));
    KL_TRY(kl_new(&k->step, d->features, sizeof *k->step, "Newton's method"));
    KL_TRY(kl_tiles_new(&k->h, d->features, run));
    KL_TRY(kl_new(&k->packed, kl_tiles_packed(&k->h, GATHERED), 1, "Newton's method"));
    KL_TRY(kl_new(&k->block, GATHERED * d->features, sizeof *k->block, "Newton's method"));
    KL_TRY(kl_new(&k->nothing, d->features, sizeof *k->nothing, "Newton's method"));
    KL_TRY(kl_new(&k->weight, GATHERED, sizeof *k->weight, "Newton's method"));
    KL_TRY(kl_new(&k->index, GATHERED, sizeof *k->index, "Newton's method"));
    KL_TRY(kl_new(&k->order, k->passes->at_most, sizeof *k->order, "Newton's method"));
    KL_TRY(kl_new(&k->z, k->passes->at_most, sizeof *k->z, "Newton's method"));
    for (int32_t i = 0; i < GATHERED; i++)
        k->index[i] = i;
    return KLIFT_OK;
}

static void clear(newton *k)
{
    void *all[] = {k->q, k->g, k->v, k->side, k->step, k->packed, k->block, k->nothing, k->weight, k->index, k->order, k->z};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        kl_free(all[i]);
    kl_tiles_clear(&k->h);
}

static klift_status begin(newton *k, kl_newton_place *at, klift_run *run)
{
    const kl_dual *d = k->d;
    KL_TRY(kl_newton_begin(d, at));
    k->w = at->w;
    k->f = at->f;
    k->b = at->begun ? at->b : d->b[k->output];
    if (at->begun)
        return KLIFT_OK;
    memcpy(k->w, d->w + k->output * d->features, (size_t)d->features * sizeof *k->w);
    KL_TRY(make_scores(k, k->w, k->b, k->f, run));
    at->b = k->b;
    at->steps = 0;
    at->begun = true;
    return KLIFT_OK;
}

klift_status kl_newton_solve(kl_dual *d, kl_passes *passes, double tolerance, kl_newton_place *at, kl_keeping *keeping, klift_run *run)
{
    newton k = {.d = d, .output = at->output, .passes = passes};
    bool stuck = false;
    klift_status status;
    KL_GO(make_room(&k, run));
    KL_GO(begin(&k, at, run));
    KL_GO(slope(&k, run));
    while (at->steps < at->most && k.primal - k.dual > tolerance * k.primal) {
        KL_GO(step_once(&k, run, &stuck));
        at->b = k.b;
        at->steps++;
        if (stuck)
            break;
        KL_GO(kl_keep_at(keeping, KLIFT_OK));
        KL_GO(slope(&k, run));
    }
    if (at->steps > 0)
        give(&k);
    kl_newton_leave(at);
done:
    kl_run_scratch_drop(run, KL_SCRATCH_FACTOR);
    clear(&k);
    return status == KLIFT_CANCELLED ? kl_keep_at(keeping, status) : status;
}
