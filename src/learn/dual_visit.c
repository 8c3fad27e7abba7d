/*
 * dual_visit.c - one coordinate at a time: with f = w'z + b B and H = |z|^2 + B^2 + diagonal,
 *   classes   g = y f - 1 + diagonal alpha,  alpha := clip(alpha - g / H, 0, top)
 *   targets   g = f - y + diagonal beta, beta := clip(argmin of g step + H step^2 / 2 + epsilon |beta + step|, -top, top)
 * and w, b follow by the change. Features are float32, all else float64; single: scores of sweeps are float32 sums over a copy
 * of w, to which rows are added in float32, four at a time (group.h); what the rows of a chunk added joins w.
 */
#include "learn/dual.h"

#include "base/memory.h"
#include "math/group.h"

#include <math.h>

enum { AT_ONCE = 12 }; /* outputs whose scores of a row are made before they are used */
enum { PIECE = 64 };   /* rows of a task that measures them or looks at them */
static const double HARDER = 0.1; /* of the steepest slope of the last sweep */

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

double kl_dual_best(const kl_dual *d, kl_dual_row row, double f, double square, double alpha)
{
    double diagonal = kl_loss_is_squared(d->loss) ? 0.5 / row.cost : 0, top = kl_loss_is_squared(d->loss) ? INFINITY : row.cost, h = square + diagonal;
    if (d->loss <= KL_SQUARED_HINGE) {
        double g = row.y * f - 1 + diagonal * alpha;
        return h > 0 ? clip(alpha - g / h, 0, top) : g < 0 ? top : alpha;
    }
    double g = f - row.y + diagonal * alpha, low = g + d->epsilon, high = g - d->epsilon;
    if (!(h > 0))
        return low < 0 ? top : high > 0 ? -top : 0;
    double to = low < h * alpha ? alpha - low / h : high > h * alpha ? alpha - high / h : 0;
    return clip(to, -top, top);
}

double kl_dual_part(const kl_dual *d, kl_dual_row row, double f, double alpha)
{
    double loss = row.cost * kl_loss_of(d->loss, d->epsilon, row.y, f);
    return loss + (d->loss <= KL_SQUARED_HINGE ? row.y : 1) * alpha * f - kl_dual_value(d, row, alpha);
}

typedef struct work {
    kl_dual *d;
    const kl_dual_block *rows;
    int64_t parts;
} work;

/* Slope of the dual where a class's variable is, and whether it is at its upper bound. */
static double slope_of(const kl_dual *d, kl_dual_row r, double f, double alpha, bool *top)
{
    *top = !kl_loss_is_squared(d->loss) && alpha >= r.cost;
    return r.y * f - 1 + (kl_loss_is_squared(d->loss) ? 0.5 / r.cost * alpha : 0);
}

/* In a sweep: whether a variable is at a bound and pushes against it harder than any other moved in the last sweep. */
static bool goes_to_rest(kl_dual *d, int64_t output, kl_dual_row r, double f, double alpha)
{
    double *limit = d->limit + 2 * output, *seen = d->seen + 2 * output;
    bool top;
    if (d->loss > KL_SQUARED_HINGE)
        return false;
    double g = slope_of(d, r, f, alpha, &top);
    if ((alpha == 0 && g > HARDER * limit[1]) || (top && g < HARDER * limit[0]))
        return true;
    double follows = alpha == 0 ? (g < 0 ? g : 0) : top ? (g > 0 ? g : 0) : g;
    seen[0] = follows < seen[0] ? follows : seen[0];
    seen[1] = follows > seen[1] ? follows : seen[1];
    return false;
}

/* In a look at all rows: one that rests wakes where it would move. */
static bool stays_at_rest(const kl_dual *d, kl_dual_row r, double f, double alpha)
{
    bool top;
    double g = slope_of(d, r, f, alpha, &top);
    return alpha == 0 ? g >= 0 : top && g <= 0;
}

static kl_dual_row row_of(const work *k, int64_t i, int64_t output)
{
    return k->d->row_of(k->d->user, k->rows->index[i], output);
}

/* What is to be done with a row whose score is f: the factor with which it joins the weights, 0: it does not. */
static double visit(const work *k, int64_t i, int64_t output, kl_dual_row r, double f)
{
    kl_dual *d = k->d;
    int64_t at = k->rows->index[i];
    bool *rest = &d->rest[output * d->rows + at];
    double *alpha = &d->alpha[output * d->rows + at];
    if (r.cost <= 0) {
        *rest = *rest || k->rows->sweep; /* a row that is held out never moves */
        return 0;
    }
    if (!k->rows->sweep) {
        d->sum[output] += r.cost * kl_loss_of(d->loss, d->epsilon, r.y, f);
        *rest = *rest && stays_at_rest(d, r, f, *alpha);
        return 0;
    }
    d->sum[output] += kl_dual_part(d, r, f, *alpha);
    *rest = goes_to_rest(d, output, r, f, *alpha);
    if (*rest)
        return 0;
    double to = kl_dual_best(d, r, f, d->square[at], *alpha), step = to - *alpha;
    if (step == 0 || !isfinite(to))
        return 0;
    *alpha = to;
    return d->loss <= KL_SQUARED_HINGE ? step * r.y : step;
}

/* Whether an output has nothing to do with a row now. */
static bool passes_by(const work *k, int64_t i, int64_t output)
{
    const kl_dual *d = k->d;
    return d->done[output] || (k->rows->sweep && d->rest[output * d->rows + k->rows->index[i]]);
}

/* Up to four rows for an output: their scores before any of them moves, then what each move changes of those behind it. */
static void visit_group(const work *k, int64_t output, const int64_t *at, int count)
{
    kl_dual *d = k->d;
    float *copy = d->copy + output * d->features, *delta = d->delta + output * d->features;
    double *b = &d->b[output];
    const kl_row *z[KL_GROUP], *next[KL_GROUP];
    double f[KL_GROUP], inner[KL_GROUP_PAIRS], factor[KL_GROUP] = {0};
    float rounded[KL_GROUP];
    kl_dual_row row[KL_GROUP];
    bool moves = false;
    for (int g = 0; g < count; g++) { /* rows come in any order: what is known of these arrives while their scores are made */
        int64_t here = k->rows->index[at[g]];
        row[g] = row_of(k, at[g], output);
        __builtin_prefetch(&d->alpha[output * d->rows + here]);
        __builtin_prefetch(&d->rest[output * d->rows + here]);
        __builtin_prefetch(&d->square[here]);
    }
    for (int g = 0; g < KL_GROUP; g++) {
        int64_t after = at[count - 1] + 1 + g;
        z[g] = &k->rows->z[at[g < count ? g : count - 1]];
        next[g] = &k->rows->z[after < k->rows->count ? after : k->rows->count - 1];
    }
    kl_group_dots(z, next, d->features, copy, f, inner);
    for (int g = 0; g < count; g++) {
        for (int h = 0; h < g; h++)
            f[g] += factor[h] != 0 ? factor[h] * kl_group_inner(z, inner, h, g) : 0;
        factor[g] = visit(k, at[g], output, row[g], f[g] + *b * d->bias);
        *b += factor[g] * d->bias;
        moves = moves || factor[g] != 0;
    }
    for (int g = 0; g < KL_GROUP; g++)
        rounded[g] = (float)factor[g];
    if (moves)
        kl_group_add(z, d->features, rounded, copy, delta);
    d->moved[output] = d->moved[output] || moves;
}

/* Rows first .. end - 1 by groups, for one output after the other: its vectors stay in the nearest cache, the rows in the next. */
static void visit_chunk(const work *k, int64_t first, int64_t end, int64_t output)
{
    int64_t at[KL_GROUP];
    int count = 0;
    for (int64_t i = first; i < end; i++) {
        if (!passes_by(k, i, output))
            at[count++] = i;
        if (count == KL_GROUP || (count > 0 && i == end - 1)) {
            visit_group(k, output, at, count);
            count = 0;
        }
    }
}

/* A row for all outputs of a range: it is read once. */
static void visit_row(const work *k, int64_t i, int64_t from, int64_t to)
{
    for (int64_t o = from; o < to;) {
        double f[AT_ONCE];
        int64_t count = 0;
        for (; o < to && passes_by(k, i, o); o++)
            ;
        while (o + count < to && count < AT_ONCE && !passes_by(k, i, o + count))
            count++;
        if (count == 0)
            return;
        kl_dual_scores(k->d, &k->rows->z[i], &k->rows->z[i + 1 < k->rows->count ? i + 1 : i], o, count, f);
        for (int64_t c = 0; c < count; c++) {
            double factor = visit(k, i, o + c, row_of(k, i, o + c), f[c]);
            if (factor != 0)
                kl_dual_add(k->d, &k->rows->z[i], o + c, factor);
        }
        o += count;
    }
}

/* What a chunk's rows added in float32 joins the weights. */
static void settle(const work *k, int64_t first, int64_t end, int64_t output)
{
    kl_dual *d = k->d;
    int64_t at = output * d->features;
    if (d->moved[output])
        kl_group_settle(k->rows->z + first, end - first, d->features, d->w + at, d->copy + at, d->delta + at);
    d->moved[output] = false;
}

/* load (outputs + 1): visits of the outputs before, over the rows of a block. */
static void count_visits(const work *k)
{
    kl_dual *d = k->d;
    for (int64_t o = 0; o < d->outputs; o++) {
        d->load[o + 1] = d->load[o];
        for (int64_t i = 0; i < k->rows->count; i++)
            d->load[o + 1] += !passes_by(k, i, o);
    }
}

/* The first output of a task: all have about the same work. Which thread has which output decides nothing. */
static int64_t first_of(const work *k, int64_t task)
{
    const kl_dual *d = k->d;
    double total = (double)d->load[d->outputs];
    int64_t o = 0;
    while (o < d->outputs && (double)(d->load[o] + d->load[o + 1]) / 2 * (double)k->parts < total * (double)task)
        o++;
    return task == k->parts ? d->outputs : o;
}

static klift_status outputs_task(void *context, int64_t task, int worker)
{
    const work *k = context;
    kl_dual *d = k->d;
    int64_t from = first_of(k, task), to = first_of(k, task + 1);
    bool single = d->single && k->rows->sweep;
    (void)worker;
    for (int64_t p = from * d->features; single && p < to * d->features; p++)
        d->copy[p] = (float)d->w[p];
    for (int64_t first = 0; first < k->rows->count; first += KL_DUAL_CHUNK) {
        int64_t end = first + KL_DUAL_CHUNK < k->rows->count ? first + KL_DUAL_CHUNK : k->rows->count;
        for (int64_t o = from; single && o < to; o++) {
            visit_chunk(k, first, end, o);
            settle(k, first, end, o);
        }
        for (int64_t i = first; !single && i < end; i++)
            visit_row(k, i, from, to);
    }
    return KLIFT_OK;
}

static klift_status measure_task(void *context, int64_t task, int worker)
{
    const work *k = context;
    int64_t rows = k->rows->count, end = (task + 1) * PIECE < rows ? (task + 1) * PIECE : rows;
    (void)worker;
    for (int64_t i = task * PIECE; i < end; i++)
        k->d->square[k->rows->index[i]] = kl_row_square(k->d->bias * k->d->bias, &k->rows->z[i], &k->rows->z[i + 1 < end ? i + 1 : i]);
    return KLIFT_OK;
}

klift_status kl_dual_measure(kl_dual *d, const kl_dual_block *rows, klift_run *run)
{
    work k = {d, rows, 0};
    return kl_run_parallel(run, (rows->count + PIECE - 1) / PIECE, measure_task, &k);
}

/* Scores of rows that are only looked at: look (rows, outputs). */
static klift_status look_task(void *context, int64_t task, int worker)
{
    const work *k = context;
    kl_dual *d = k->d;
    int64_t rows = k->rows->count, end = (task + 1) * PIECE < rows ? (task + 1) * PIECE : rows;
    (void)worker;
    for (int64_t i = task * PIECE; i < end; i++)
        kl_dual_scores(d, &k->rows->z[i], &k->rows->z[i + 1 < end ? i + 1 : i], 0, d->outputs, d->look + i * d->outputs);
    return KLIFT_OK;
}

/* Fewer outputs than threads: these share the rows. */
static klift_status look(const work *k, klift_run *run)
{
    kl_dual *d = k->d;
    int64_t count = k->rows->count;
    KL_TRY(kl_grow(&d->look, &d->look_room, 0, count * d->outputs, sizeof *d->look, "scores"));
    KL_TRY(kl_run_parallel(run, (count + PIECE - 1) / PIECE, look_task, (void *)k));
    for (int64_t i = 0; i < count; i++)
        for (int64_t o = 0; o < d->outputs; o++)
            if (!d->done[o])
                visit(k, i, o, row_of(k, i, o), d->look[i * d->outputs + o]);
    return KLIFT_OK;
}

klift_status kl_dual_visit(kl_dual *d, const kl_dual_block *rows, klift_run *run)
{
    int64_t threads = kl_run_threads(run);
    work k = {d, rows, d->outputs < threads ? d->outputs : threads};
    if (rows->first)
        KL_TRY(kl_dual_measure(d, rows, run));
    if (!rows->sweep && d->outputs < threads)
        return look(&k, run);
    count_visits(&k);
    return kl_run_whole(run, k.parts, outputs_task, &k);
}
