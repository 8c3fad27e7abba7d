/* dual.c - the arrays of a machine, its gap, and which variables rest; dual_visit.c moves the variables. The gap is P - D, with
 *   classes   D = sum (alpha - diagonal alpha^2 / 2) - |w|^2 / 2
 *   targets   D = sum (y beta - epsilon |beta| - diagonal beta^2 / 2) - |w|^2 / 2
 */
#include "learn/dual.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

klift_status kl_dual_new(kl_dual *d)
{
    KL_TRY(kl_new(&d->alpha, d->outputs * d->rows, sizeof *d->alpha, "the dual variables"));
    KL_TRY(kl_new(&d->w, d->outputs * d->features, sizeof *d->w, "the weights"));
    if (d->single) {
        KL_TRY(kl_new(&d->copy, d->outputs * d->features, sizeof *d->copy, "the weights"));
        KL_TRY(kl_new(&d->delta, d->outputs * d->features, sizeof *d->delta, "the weights"));
        KL_TRY(kl_new(&d->moved, d->outputs, sizeof *d->moved, "the weights"));
    }
    KL_TRY(kl_new(&d->b, d->outputs, sizeof *d->b, "the weights"));
    KL_TRY(kl_new(&d->square, d->rows, sizeof *d->square, "the lengths of the rows"));
    KL_TRY(kl_new(&d->done, d->outputs, sizeof *d->done, "the weights"));
    KL_TRY(kl_new(&d->rest, d->outputs * d->rows, sizeof *d->rest, "the dual variables"));
    KL_TRY(kl_new(&d->limit, 2 * d->outputs, sizeof *d->limit, "the weights"));
    KL_TRY(kl_new(&d->seen, 2 * d->outputs, sizeof *d->seen, "the weights"));
    kl_dual_wake(d);
    KL_TRY(kl_new(&d->load, d->outputs + 1, sizeof *d->load, "the weights"));
    KL_TRY(kl_new(&d->sum, d->outputs, sizeof *d->sum, "the weights"));
    KL_TRY(kl_new(&d->primal, d->outputs, sizeof *d->primal, "the weights"));
    return kl_new(&d->dual, d->outputs, sizeof *d->dual, "the weights");
}

void kl_dual_clear(kl_dual *d)
{
    kl_free(d->alpha);
    kl_free(d->w);
    kl_free(d->copy);
    kl_free(d->delta);
    kl_free(d->moved);
    kl_free(d->look);
    kl_free(d->b);
    kl_free(d->square);
    kl_free(d->done);
    kl_free(d->rest);
    kl_free(d->limit);
    kl_free(d->seen);
    kl_free(d->load);
    kl_free(d->sum);
    kl_free(d->primal);
    kl_free(d->dual);
}

bool kl_loss_is_squared(kl_loss loss)
{
    return loss == KL_SQUARED_HINGE || loss == KL_SQUARED_EPSILON;
}

double kl_loss_of(kl_loss loss, double epsilon, double y, double f)
{
    double over = loss <= KL_SQUARED_HINGE ? 1 - y * f : fabs(f - y) - epsilon;
    over = over > 0 ? over : 0;
    return kl_loss_is_squared(loss) ? over * over : over;
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

double kl_dual_value(const kl_dual *d, kl_dual_row row, double alpha)
{
    double diagonal = kl_loss_is_squared(d->loss) ? 0.5 / row.cost : 0;
    return (d->loss <= KL_SQUARED_HINGE ? alpha : row.y * alpha - d->epsilon * fabs(alpha)) - diagonal * alpha * alpha / 2;
}

enum { SUMS = 8 };

/* Without the norm. After every sweep: the hinge loss, whose sweeps are many and short, has it from the variables alone. */
static double dual_of(const kl_dual *d, int64_t output)
{
    const double *alpha = d->alpha + output * d->rows;
    double sum = 0, part[SUMS] = {0};
    int64_t i = 0;
    for (; d->loss == KL_HINGE && i + SUMS <= d->rows; i += SUMS)
        for (int s = 0; s < SUMS; s++)
            part[s] += alpha[i + s];
    for (int s = 0; s < SUMS; s++)
        sum += part[s];
    for (; i < d->rows; i++)
        sum += alpha[i] != 0 ? kl_dual_value(d, d->row_of(d->user, i, output), alpha[i]) : 0;
    return sum;
}

/* The slopes of the sweep that ends are the limits of the next; none on a side means no limit there. */
static void set_limits(kl_dual *d, int64_t output)
{
    double *limit = d->limit + 2 * output, *seen = d->seen + 2 * output;
    limit[0] = seen[0] < 0 ? seen[0] : -INFINITY;
    limit[1] = seen[1] > 0 ? seen[1] : INFINITY;
    seen[0] = INFINITY;
    seen[1] = -INFINITY;
}

double kl_dual_gap(kl_dual *d, bool exact, double tolerance)
{
    double worst = 0;
    for (int64_t o = 0; o < d->outputs; o++) {
        if (d->done[o])
            continue;
        double norm = kl_dual_norm(d, o);
        d->dual[o] = dual_of(d, o) - norm / 2;
        d->primal[o] = exact ? norm / 2 + d->sum[o] : d->dual[o] + d->sum[o];
        d->sum[o] = 0;
        double gap = d->primal[o] > 0 ? (d->primal[o] - d->dual[o]) / d->primal[o] : 0;
        worst = gap > worst ? gap : worst;
        d->done[o] = exact && gap <= tolerance;
        if (!exact)
            set_limits(d, o);
    }
    return worst;
}

int64_t kl_dual_awake(const kl_dual *d, int32_t *row)
{
    int64_t kept = 0;
    for (int64_t i = 0; d->outputs == 1 && !d->done[0] && i < d->rows; i++) { /* without a branch, which nobody could guess */
        row[kept] = (int32_t)i;
        kept += !d->rest[i];
    }
    if (d->outputs == 1)
        return kept;
    for (int64_t i = 0; i < d->rows; i++) {
        bool awake = false;
        for (int64_t o = 0; o < d->outputs && !awake; o++)
            awake = !d->done[o] && !d->rest[o * d->rows + i];
        row[kept] = (int32_t)i;
        kept += awake;
    }
    return kept;
}

void kl_dual_wake(kl_dual *d)
{
    memset(d->rest, 0, (size_t)(d->outputs * d->rows) * sizeof *d->rest);
    for (int64_t o = 0; o < d->outputs; o++) {
        d->limit[2 * o] = d->seen[2 * o + 1] = -INFINITY;
        d->limit[2 * o + 1] = d->seen[2 * o] = INFINITY;
    }
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
    for (int64_t o = 0; o < d->outputs; o++) {
        d->limit[2 * o] *= factor;
        d->limit[2 * o + 1] *= factor;
    }
    d->c = c;
}
