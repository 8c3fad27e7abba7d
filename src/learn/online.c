/* online.c - see online.h. All in float64 on float32 features. */
#include "learn/online.h"

#include "base/memory.h"
#include "math/micro.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 12 /* outputs whose scores of a row are made before they are used */, LANES = 16 };

/* Scores beyond it are those of weights that run away; scales below the other would soon be no number. MEMORY: weights of the mean
 * grow like T^MEMORY, so that the beginning is forgotten (Shamir and Zhang 2013). */
static const double RUNAWAY = 1e30, TINY = 1e-100, MEMORY = 8;

klift_status kl_online_grow(kl_online *s, int64_t outputs)
{
    int64_t used = s->outputs * s->features, count = outputs * s->features;
    KL_TRY(kl_grow(&s->v, &s->v_room, used, count, sizeof *s->v, "the weights"));
    if (s->average)
        KL_TRY(kl_grow(&s->u, &s->u_room, used, count, sizeof *s->u, "the weights"));
    KL_TRY(kl_grow(&s->output, &s->output_room, s->outputs, outputs, sizeof *s->output, "the weights"));
    memset(s->v + used, 0, (size_t)(count - used) * sizeof *s->v);
    if (s->average)
        memset(s->u + used, 0, (size_t)(count - used) * sizeof *s->u);
    for (; s->outputs < outputs; s->outputs++)
        s->output[s->outputs] = (kl_online_output){.scale = 1, .share = 1, .first = 1};
    return KLIFT_OK;
}

void kl_online_clear(kl_online *s)
{
    kl_free(s->v);
    kl_free(s->u);
    kl_free(s->output);
    *s = (kl_online){0};
}

/* ---- one row and one output ---- */

/* In sums by the column, as kl_row_dots: the same for a row with its zeros. */
static double square_of(const kl_online *s, const kl_row *z)
{
    double lane[LANES] = {0};
    int64_t p = 0;
    for (; z->column == NULL && p + LANES <= z->count; p += LANES)
        for (int64_t k = 0; k < LANES; k++)
            lane[k] += (double)z->value[p + k] * (double)z->value[p + k];
    for (; p < z->count; p++)
        lane[(z->column != NULL ? z->column[p] : p) % LANES] += (double)z->value[p] * (double)z->value[p];
    return kl_row_total(lane) + s->bias * s->bias;
}

static void dots(const kl_online *s, const kl_row *z, const kl_row *next, int64_t from, int64_t count, double *dot)
{
    kl_row_dots(z, next, s->features, count, s->v + from * s->features, s->features, dot);
    for (int64_t o = 0; o < count; o++)
        dot[o] += s->output[from + o].v * s->bias;
}

static void add_to(const kl_online *s, const kl_row *z, double factor, double *w, double *constant)
{
    kl_row_add(z, s->features, factor, w);
    *constant += factor * s->bias;
}

/* w and the mean as they are, with scales of 1. */
static void unscale(kl_online *s, int64_t at)
{
    kl_online_output *out = &s->output[at];
    double *v = s->v + at * s->features, *u = s->average ? s->u + at * s->features : NULL;
    for (int64_t p = 0; s->average && p < s->features; p++)
        u[p] = out->share * u[p] + out->mix * v[p];
    for (int64_t p = 0; p < s->features; p++)
        v[p] *= out->scale;
    out->u = out->share * out->u + out->mix * out->v;
    out->v *= out->scale;
    out->norm *= out->scale * out->scale;
    out->scale = out->share = 1;
    out->mix = 0;
}

static double step_of(const kl_online *s, const kl_online_output *out, double total)
{
    return s->pegasos ? 1 / (s->lambda * total) : out->first / (1 + s->lambda * out->first * total);
}

/* w += factor z, and the mean stays what it is. dot: v'z. */
static void push(kl_online *s, int64_t at, const kl_row *z, double square, double dot, double factor)
{
    kl_online_output *out = &s->output[at];
    double change = factor / out->scale;
    add_to(s, z, change, s->v + at * s->features, &out->v);
    out->norm += 2 * change * dot + change * change * square;
    if (s->average && out->mix != 0)
        add_to(s, z, -out->mix * change / out->share, s->u + at * s->features, &out->u);
}

static void project(const kl_online *s, kl_online_output *out)
{
    double length = out->scale * sqrt(out->norm > 0 ? out->norm : 0), most = 1 / sqrt(s->lambda);
    if (length > most)
        out->scale *= most / length;
}

/* w joins the mean, which T - weight made so far. */
static void join_mean(kl_online_output *out, double weight, double total)
{
    double part = (1 + MEMORY) * weight / (total + MEMORY * weight);
    if (part >= 1) { /* the first one */
        out->share = 1;
        out->mix = out->scale;
        return;
    }
    out->share *= 1 - part;
    out->mix = (1 - part) * out->mix + part * out->scale;
}

typedef struct row {
    const kl_row *z;
    double weight, total; /* total: T with this row */
    double square;        /* |z|^2 + B^2; NaN: not made yet */
    bool still;
} row;

static klift_status move(kl_online *s, int64_t at, row *r, double y, double dot)
{
    kl_online_output *out = &s->output[at];
    double f = out->scale * dot, loss = s->loss->value(y - out->shift, f, s->epsilon), slope = s->loss->slope(y - out->shift, f, s->epsilon);
    if (!(fabs(f) < RUNAWAY))
        return kl_fail(KLIFT_FAILED, "sgd ran away after %lld rows: scores are beyond %g; scale the data, for example with prepare=standardise, or leave step out, or use a larger lambda",
                       (long long)s->rows, RUNAWAY);
    out->sum += r->weight * loss;
    if (r->still)
        return KLIFT_OK;
    double step = step_of(s, out, r->total) * r->weight, along = step;
    if (slope != 0 && isnan(r->square))
        r->square = square_of(s, r->z);
    if (!s->pegasos && slope != 0)
        along = fmin(step, s->loss->reach * loss / (slope * slope * r->square));
    out->scale *= s->pegasos ? 1 - r->weight / r->total : 1 / (1 + s->lambda * step);
    if (out->scale < TINY || out->share < TINY) {
        dot *= out->scale;
        unscale(s, at);
    }
    if (slope != 0)
        push(s, at, r->z, r->square, dot, -along * slope);
    if (s->project)
        project(s, out);
    if (s->average)
        join_mean(out, r->weight, r->total);
    return KLIFT_OK;
}

/* ---- rows ---- */

typedef struct work {
    kl_online *s;
    const kl_online_rows *rows;
    int64_t from, to, parts;
} work;

static int64_t number_of(const kl_online_rows *rows, int64_t i)
{
    return rows->index != NULL ? rows->index[i] : i;
}

/* A range of outputs, row after row: a row is read once for all of them. */
static klift_status outputs_task(void *context, int64_t task, int worker)
{
    const work *k = context;
    const kl_online_rows *rows = k->rows;
    kl_online *s = k->s;
    int64_t outputs = k->to - k->from, from = k->from + outputs * task / k->parts, to = k->from + outputs * (task + 1) / k->parts;
    double total = s->weight;
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++) {
        int64_t at = number_of(rows, i);
        row r = {&rows->z[i], rows->weight[at], 0, NAN, rows->still};
        if (!(r.weight > 0))
            continue;
        r.total = total += r.weight;
        for (int64_t o = from; o < to; o += AT_ONCE) {
            double dot[AT_ONCE];
            int64_t count = to - o < AT_ONCE ? to - o : AT_ONCE;
            dots(s, r.z, &rows->z[i + 1 < rows->count ? i + 1 : i], o, count, dot);
            for (int64_t c = 0; c < count; c++)
                KL_TRY(move(s, o + c, &r, s->target_of(s->user, at, o + c), dot[c]));
        }
    }
    return KLIFT_OK;
}

/* Sums of what was added one by one drift. */
static void measure_norms(kl_online *s, int64_t from, int64_t to)
{
    for (int64_t o = from; o < to; o++) {
        const double *v = s->v + o * s->features;
        double sum = s->output[o].v * s->output[o].v;
        for (int64_t p = 0; p < s->features; p++)
            sum += v[p] * v[p];
        s->output[o].norm = sum;
    }
}

klift_status kl_online_visit(kl_online *s, const kl_online_rows *rows, int64_t from, int64_t to, klift_run *run)
{
    int64_t threads = kl_run_threads(run);
    work k = {s, rows, from, to, to - from < threads ? to - from : threads};
    KL_TRY(kl_run_whole(run, k.parts, outputs_task, &k));
    for (int64_t i = 0; !rows->still && i < rows->count; i++)
        s->weight += rows->weight[number_of(rows, i)];
    s->rows += rows->still ? 0 : rows->count;
    if (s->project)
        measure_norms(s, from, to);
    return KLIFT_OK;
}

/* The step that takes a row of the usual length from the usual miss to none: a standard deviation for numbers; classes go half of the
 * way from a score of 0, which was better than all of it (docs/decisions.md). */
static double first_step(const kl_online *s, double spread, double square)
{
    double miss = !s->numbers ? 0.5 : spread > 0 ? spread : 1, slope = fabs(s->numbers ? s->loss->slope(0, miss, s->epsilon) : s->loss->slope(1, 0, s->epsilon));
    if (!isnan(s->step))
        return s->step;
    return (slope > 0 ? miss / slope : 1) / (square > 0 ? square : 1);
}

void kl_online_begin(kl_online *s, const kl_online_rows *rows)
{
    double square = 0, weight = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        double m = rows->weight[number_of(rows, i)];
        square += m > 0 ? m * square_of(s, &rows->z[i]) : 0;
        weight += m > 0 ? m : 0;
    }
    for (int64_t o = 0; o < s->outputs; o++) {
        double mean = 0, spread = 0;
        for (int pass = 0; s->numbers && weight > 0 && pass < 2; pass++) {
            double sum = 0;
            for (int64_t i = 0; i < rows->count; i++) {
                double m = rows->weight[number_of(rows, i)], y = s->target_of(s->user, number_of(rows, i), o) - mean;
                sum += m * (pass == 0 ? y : y * y);
            }
            *(pass == 0 ? &mean : &spread) = sum / weight;
        }
        if (s->start == 0)
            s->output[o].shift = mean;
        s->output[o].first = first_step(s, sqrt(spread), weight > 0 ? square / weight : 0);
    }
}

klift_status kl_online_resume(kl_online *s, int64_t output, double sign, const double *w, double b)
{
    kl_online_output *out = &s->output[output];
    if (s->bias == 0 && !s->numbers && b != 0)
        return kl_fail(KLIFT_USAGE, "bias=%g leaves the intercept out, and the weights to go on from have one; leave bias out", s->bias);
    for (int64_t p = 0; p < s->features; p++) {
        s->v[output * s->features + p] = sign * w[p];
        if (s->average)
            s->u[output * s->features + p] = sign * w[p];
    }
    *out = (kl_online_output){.scale = 1, .share = 1, .first = 1, .shift = s->numbers ? sign * b : 0};
    out->v = out->u = s->numbers || s->bias == 0 ? 0 : sign * b / s->bias;
    measure_norms(s, output, output + 1);
    return KLIFT_OK;
}

void kl_online_copy(kl_online *s, int64_t from, int64_t to, double sign)
{
    kl_online_output *out = &s->output[to];
    *out = s->output[from];
    out->v *= sign;
    out->u *= sign;
    for (int64_t p = 0; p < s->features; p++) {
        s->v[to * s->features + p] = sign * s->v[from * s->features + p];
        if (s->average)
            s->u[to * s->features + p] = sign * s->u[from * s->features + p];
    }
}

void kl_online_weights(const kl_online *s, int64_t output, double *w, double *b)
{
    const kl_online_output *out = &s->output[output];
    const double *v = s->v + output * s->features, *u = s->average ? s->u + output * s->features : v;
    double share = s->average ? out->share : 0, mix = s->average ? out->mix : out->scale;
    for (int64_t p = 0; p < s->features; p++)
        w[p] = share * u[p] + mix * v[p];
    *b = (share * out->u + mix * out->v) * s->bias + out->shift;
}

void kl_online_settle(kl_online *s, int64_t output)
{
    kl_online_output *out = &s->output[output];
    double b;
    kl_online_weights(s, output, s->v + output * s->features, &b);
    out->v = s->average ? out->share * out->u + out->mix * out->v : out->scale * out->v;
    out->u = out->share = out->sum = 0;
    out->scale = out->mix = 1;
}
