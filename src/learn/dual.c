/*
 * dual.c - one coordinate at a time: with f = w'z + b B and H = |z|^2 + B^2 + diagonal,
 *   classes   g = y f - 1 + diagonal alpha,  alpha := clip(alpha - g / H, 0, top)
 *   targets   g = f - y + diagonal beta, beta := clip(argmin of g step + H step^2 / 2 + epsilon |beta + step|, -top, top)
 * and w, b follow by the change. The gap is P - D, with D = sum (alpha - diagonal alpha^2 / 2) - |w|^2 / 2, or
 * sum (y beta - epsilon |beta| - diagonal beta^2 / 2) - |w|^2 / 2. All in float64; features are float32.
 */
#include "learn/dual.h"

#include "base/memory.h"

#include <math.h>

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

double kl_loss_of(kl_loss loss, double epsilon, double y, double f)
{
    double over = loss <= KL_SQUARED_HINGE ? 1 - y * f : fabs(f - y) - epsilon;
    over = over > 0 ? over : 0;
    return is_squared(loss) ? over * over : over;
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

void kl_dual_scores(const kl_dual *d, const kl_row *z, const kl_row *next, int64_t from, int64_t count, double *f)
{
    kl_row_dots(z, next, d->features, count, d->w + from * d->features, d->features, f);
    for (int64_t o = 0; o < count; o++)
        f[o] += d->b[from + o] * d->bias;
}

void kl_dual_add(kl_dual *d, const kl_row *z, int64_t output, double factor)
{
    kl_row_add(z, d->features, factor, d->w + output * d->features);
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

typedef struct work {
    kl_dual *d;
    const kl_dual_block *rows;
    int64_t parts;
} work;

static void visit(const work *k, int64_t i, int64_t output, double f)
{
    kl_dual *d = k->d;
    int64_t at = k->rows->index[i];
    kl_dual_row r = d->row_of(d->user, at, output);
    if (r.cost <= 0)
        return;
    d->sum[output] += r.cost * kl_loss_of(d->loss, d->epsilon, r.y, f);
    if (!k->rows->sweep)
        return;
    double *alpha = &d->alpha[output * d->rows + at], to = best_value(d, r, f, d->square[at], *alpha), step = to - *alpha;
    if (step == 0 || !isfinite(to))
        return;
    *alpha = to;
    kl_dual_add(d, &k->rows->z[i], output, d->loss <= KL_SQUARED_HINGE ? step * r.y : step);
}

/* A range of outputs, row after row: a row is read once for all of them. */
static klift_status outputs_task(void *context, int64_t task, int worker)
{
    const work *k = context;
    const kl_dual *d = k->d;
    int64_t from = d->outputs * task / k->parts, to = d->outputs * (task + 1) / k->parts, rows = k->rows->count;
    (void)worker;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t o = from; o < to;) {
            double f[AT_ONCE];
            int64_t count = 0;
            for (; o < to && d->done[o]; o++)
                ;
            while (o + count < to && count < AT_ONCE && !d->done[o + count])
                count++;
            kl_dual_scores(d, &k->rows->z[i], &k->rows->z[i + 1 < rows ? i + 1 : i], o, count, f);
            for (int64_t c = 0; c < count; c++)
                visit(k, i, o + c, f[c]);
            o += count;
        }
    return KLIFT_OK;
}

void kl_dual_measure(kl_dual *d, const kl_dual_block *rows)
{
    for (int64_t i = 0; i < rows->count; i++)
        d->square[rows->index[i]] = kl_row_square(d->bias * d->bias, &rows->z[i]);
}

klift_status kl_dual_visit(kl_dual *d, const kl_dual_block *rows, klift_run *run)
{
    int64_t threads = kl_run_threads(run);
    work k = {d, rows, d->outputs < threads ? d->outputs : threads};
    if (rows->first)
        kl_dual_measure(d, rows);
    return kl_run_parallel(run, k.parts, outputs_task, &k);
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

void kl_dual_grow(kl_dual *d, double c)
{
    double factor = c / d->c;
    for (int64_t i = 0; i < d->outputs * d->rows; i++)
        d->alpha[i] *= factor;
    for (int64_t i = 0; i < d->outputs * d->features; i++)
        d->w[i] *= factor;
    for (int64_t o = 0; o < d->outputs; o++)
        d->b[o] *= factor;
    d->c = c;
}
