/*
 * dual.c - one coordinate at a time: with f = w'z + b B and H = |z|^2 + B^2 + diagonal,
 *   classes   g = y f - 1 + diagonal alpha,  alpha := clip(alpha - g / H, 0, top)
 *   targets   g = f - y + diagonal beta, beta := clip(argmin of g step + H step^2 / 2 + epsilon |beta + step|, -top, top)
 * and w, b follow by the change. The gap is P - D, with D = sum (alpha - diagonal alpha^2 / 2) - |w|^2 / 2, or
 * sum (y beta - epsilon |beta| - diagonal beta^2 / 2) - |w|^2 / 2. All in float64; features are float32.
 */
#include "learn/dual.h"

#include "base/memory.h"
#include "math/micro.h"
#include "math/random.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 12 }; /* outputs whose scores of a row are made before they are used */

klift_status kl_dual_new(kl_dual *d)
{
    KL_TRY(kl_new(&d->alpha, d->outputs * d->rows, sizeof *d->alpha, "the dual variables"));
    KL_TRY(kl_new(&d->w, d->outputs * d->features, sizeof *d->w, "the weights"));
    KL_TRY(kl_new(&d->b, d->outputs, sizeof *d->b, "the weights"));
    KL_TRY(kl_new(&d->square, d->rows, sizeof *d->square, "the lengths of the rows"));
    KL_TRY(kl_new(&d->done, d->outputs, sizeof *d->done, "the weights"));
    KL_TRY(kl_new(&d->sum, d->outputs, sizeof *d->sum, "the weights"));
    KL_TRY(kl_new(&d->primal, d->outputs, sizeof *d->primal, "the weights"));
    return kl_new(&d->dual, d->outputs, sizeof *d->dual, "the weights");
}

void kl_dual_clear(kl_dual *d)
{
    kl_free(d->alpha);
    kl_free(d->w);
    kl_free(d->b);
    kl_free(d->square);
    kl_free(d->done);
    kl_free(d->sum);
    kl_free(d->primal);
    kl_free(d->dual);
}

static bool is_squared(kl_loss loss)
{
    return loss == KL_SQUARED_HINGE || loss == KL_SQUARED_EPSILON;
}

static double loss_of(const kl_dual *d, double y, double f)
{
    double over = d->loss <= KL_SQUARED_HINGE ? 1 - y * f : fabs(f - y) - d->epsilon;
    over = over > 0 ? over : 0;
    return is_squared(d->loss) ? over * over : over;
}

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* The value of the variable at which the dual is largest, all others as they are. */
static double best_value(const kl_dual *d, kl_dual_row row, double f, double square, double alpha)
{
    double diagonal = is_squared(d->loss) ? 0.5 / row.cost : 0, top = is_squared(d->loss) ? INFINITY : row.cost, h = square + diagonal;
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

typedef struct block {
    kl_dual *d;
    const kl_batch *z;
    int64_t first;
    bool sweep;
    const int32_t *order; /* (rows of the block) */
    int64_t parts;
} block;

void kl_dual_scores(const kl_dual *d, const kl_batch *z, int64_t row, int64_t next, int64_t from, int64_t count, double *f)
{
    const double *w = d->w + from * d->features;
    const int32_t *column;
    const float *value, *after;
    int64_t entries = kl_batch_row(z, row, &column, &value);
    if (column == NULL) {
        kl_batch_row(z, next, &column, &after);
        kl_micro_get()->row_dots(entries, value, after, count, w, d->features, f);
    } else
        for (int64_t o = 0; o < count; o++) {
            double sum = 0;
            for (int64_t p = 0; p < entries; p++)
                sum += (double)value[p] * w[o * d->features + column[p]];
            f[o] = sum;
        }
    for (int64_t o = 0; o < count; o++)
        f[o] += d->b[from + o] * d->bias;
}

void kl_dual_add(kl_dual *d, const kl_batch *z, int64_t row, int64_t output, double factor)
{
    double *w = d->w + output * d->features;
    const int32_t *column;
    const float *value;
    int64_t entries = kl_batch_row(z, row, &column, &value);
    if (column == NULL)
        kl_micro_get()->row_add(entries, factor, value, w);
    else
        for (int64_t p = 0; p < entries; p++)
            w[column[p]] += factor * (double)value[p];
    d->b[output] += factor * d->bias;
}

double kl_dual_norm(const kl_dual *d, int64_t output)
{
    const double *w = d->w + output * d->features;
    double norm = d->b[output] * d->b[output];
    for (int64_t p = 0; p < d->features; p++)
        norm += w[p] * w[p];
    return norm;
}

static void visit(const block *k, int64_t row, int64_t output, double f)
{
    kl_dual *d = k->d;
    int64_t at = k->first + row;
    kl_dual_row r = d->row_of(d->user, at, output);
    if (r.cost <= 0)
        return;
    d->sum[output] += r.cost * loss_of(d, r.y, f);
    if (!k->sweep)
        return;
    double *alpha = &d->alpha[output * d->rows + at], to = best_value(d, r, f, d->square[at], *alpha), step = to - *alpha;
    if (step == 0 || !isfinite(to))
        return;
    *alpha = to;
    kl_dual_add(d, k->z, row, output, d->loss <= KL_SQUARED_HINGE ? step * r.y : step);
}

/* A range of outputs, row after row: a row is read once for all of them. */
static klift_status outputs_task(void *context, int64_t task, int worker)
{
    const block *k = context;
    const kl_dual *d = k->d;
    int64_t from = d->outputs * task / k->parts, to = d->outputs * (task + 1) / k->parts;
    (void)worker;
    for (int64_t i = 0; i < k->z->rows; i++) {
        int64_t row = k->order[i], next = k->order[i + 1 < k->z->rows ? i + 1 : i];
        for (int64_t o = from; o < to;) {
            double f[AT_ONCE];
            int64_t count = 0;
            for (; o < to && d->done[o]; o++)
                ;
            while (o + count < to && count < AT_ONCE && !d->done[o + count])
                count++;
            kl_dual_scores(d, k->z, row, next, o, count, f);
            for (int64_t c = 0; c < count; c++)
                visit(k, row, o + c, f[c]);
            o += count;
        }
    }
    return KLIFT_OK;
}

static void measure_rows(const kl_dual *d, const kl_batch *z, int64_t first)
{
    for (int64_t i = 0; i < z->rows; i++) {
        const int32_t *column;
        const float *value;
        int64_t entries = kl_batch_row(z, i, &column, &value);
        double sum = d->bias * d->bias;
        for (int64_t p = 0; p < entries; p++)
            sum += (double)value[p] * (double)value[p];
        d->square[first + i] = sum;
    }
}

klift_status kl_dual_order(kl_dual *d, const kl_batch *z, int64_t first, int64_t pass, bool sweep, int32_t **order)
{
    kl_random from = {d->seed, (uint32_t)pass, KL_DRAW_SWEEP};
    KL_TRY(kl_new(order, z->rows, sizeof **order, "the order of rows"));
    if (pass == 0)
        measure_rows(d, z, first);
    if (sweep)
        kl_random_permutation(&from, (uint32_t)(first / 1024), z->rows, *order);
    else
        for (int64_t i = 0; i < z->rows; i++)
            (*order)[i] = (int32_t)i;
    return KLIFT_OK;
}

klift_status kl_dual_block(kl_dual *d, const kl_batch *z, int64_t first, int64_t pass, bool sweep, klift_run *run)
{
    int64_t threads = kl_run_threads(run);
    int32_t *order = NULL;
    KL_TRY(kl_dual_order(d, z, first, pass, sweep, &order));
    block k = {d, z, first, sweep, order, d->outputs < threads ? d->outputs : threads};
    klift_status status = kl_run_parallel(run, k.parts, outputs_task, &k);
    kl_free(order);
    return status;
}

static double dual_of(const kl_dual *d, int64_t output)
{
    const double *alpha = d->alpha + output * d->rows;
    double sum = 0;
    for (int64_t i = 0; i < d->rows; i++) {
        if (alpha[i] == 0)
            continue;
        kl_dual_row r = d->row_of(d->user, i, output);
        double diagonal = is_squared(d->loss) ? 0.5 / r.cost : 0;
        sum += (d->loss <= KL_SQUARED_HINGE ? alpha[i] : r.y * alpha[i] - d->epsilon * fabs(alpha[i])) - diagonal * alpha[i] * alpha[i] / 2;
    }
    return sum;
}

double kl_dual_gap(kl_dual *d, bool exact, double tolerance)
{
    double worst = 0;
    for (int64_t o = 0; o < d->outputs; o++) {
        if (d->done[o])
            continue;
        double norm = kl_dual_norm(d, o);
        d->primal[o] = norm / 2 + d->sum[o];
        d->dual[o] = dual_of(d, o) - norm / 2;
        d->sum[o] = 0;
        double gap = d->primal[o] > 0 ? (d->primal[o] - d->dual[o]) / d->primal[o] : 0;
        worst = gap > worst ? gap : worst;
        d->done[o] = exact && gap <= tolerance;
    }
    return worst;
}
