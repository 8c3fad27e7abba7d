/*
 * probability.c - two classes with one score f (Platt 1999): P(1) = 1 / (1 + exp(-(a f + b))). More classes with one score each:
 * P(k) = exp(a f_k) / sum_j exp(a f_j), 1 / a being the temperature (Guo et al. 2017). a and b minimise
 *   L = -(1/W) sum_i w_i sum_k t_ik log P_i(k),   t_ik = (N_y + 1) / (N_y + 2) for the class k = y of row i, the rest shared by the others,
 * N_y being the weight of class y, W of all rows: Platt's targets, for more classes too. They keep a finite where the scores tell all
 * rows apart. L is convex: Newton's method with halved steps and the stable forms of Lin, Lin and Weng (2007, algorithm 1), in float64,
 * rows in their order. a >= 0: scores that say the opposite of the classes say nothing, and a = 0 gives every row the same.
 */
#include "learn/probability.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 100, LAST_STEPS = 3 };

/* A share of L so small that full steps of Newton's method only get better: below it differences of L are rounding. */
static const double CLOSE = 1e-12;

/* ---- rows ---- */

klift_status kl_held_add(kl_held *held, const double *score, int64_t truth, double weight)
{
    int64_t outputs = kl_held_outputs(held), used = held->rows * outputs, needed;
    if (kl_multiply(held->rows + 1, outputs, &needed))
        return kl_fail(KLIFT_MEMORY, "no memory for scores of %lld classes", (long long)held->classes);
    KL_TRY(kl_grow(&held->row, &held->row_room, held->rows, held->rows + 1, sizeof *held->row, "scores of rows held out"));
    KL_TRY(kl_grow(&held->score, &held->score_room, used, needed, sizeof *held->score, "scores of rows held out"));
    if (score != NULL)
        memcpy(held->score + used, score, (size_t)outputs * sizeof *score);
    else
        memset(held->score + used, 0, (size_t)outputs * sizeof *score);
    held->row[held->rows++] = (kl_held_row){truth, weight};
    return KLIFT_OK;
}

void kl_held_save(const kl_held *held, kl_record_writer *to)
{
    int64_t outputs = kl_held_outputs(held);
    kl_record_put_i64(to, held->rows);
    for (int64_t i = 0; i < held->rows; i++) {
        kl_record_put_i64(to, held->row[i].truth);
        kl_record_put_f64(to, held->row[i].weight);
        for (int64_t o = 0; o < outputs; o++)
            kl_record_put_f64(to, held->score[i * outputs + o]);
    }
}

klift_status kl_held_load(kl_held *held, int64_t most, kl_record_reader *from)
{
    int64_t rows, truth, outputs = kl_held_outputs(held);
    double weight;
    KL_TRY(kl_record_get_i64(from, 0, most, &rows));
    for (held->rows = 0; held->rows < rows;) {
        KL_TRY(kl_record_get_i64(from, 0, held->classes - 1, &truth));
        KL_TRY(kl_record_get_f64(from, &weight));
        KL_TRY(kl_held_add(held, NULL, truth, weight));
        for (int64_t o = 0; o < outputs; o++)
            KL_TRY(kl_record_get_f64(from, &held->score[(held->rows - 1) * outputs + o]));
    }
    return KLIFT_OK;
}

void kl_held_clear(kl_held *held)
{
    kl_free(held->row);
    kl_free(held->score);
    *held = (kl_held){0};
}

/* ---- fit ---- */

/* What is minimised: scores are divided by the largest one, so that no square of them overflows. */
typedef struct problem {
    const kl_held *held;
    double *count; /* N (classes) */
    double weight, unit;
    int64_t rows; /* that count */
} problem;

/* L and its derivatives by (a, b). */
typedef struct point {
    double a, b, loss, slope_a, slope_b, curve_aa, curve_ab, curve_bb;
} point;

/* Two classes: g = a f + b, t the target of class 1. */
static void add_pair(point *at, double f, double t, double weight)
{
    double g = at->a * f + at->b, e = exp(-fabs(g)), p = g >= 0 ? 1 / (1 + e) : e / (1 + e), curve = weight * e / ((1 + e) * (1 + e));
    at->loss += weight * ((g >= 0 ? (1 - t) * g : -t * g) + log1p(e));
    at->slope_a += weight * (p - t) * f;
    at->slope_b += weight * (p - t);
    at->curve_aa += curve * f * f;
    at->curve_ab += curve * f;
    at->curve_bb += curve;
}

/* More classes: the derivatives by a are moments of the scores under P. own, other: targets of the row's class and of each other one. */
static void add_many(point *at, const problem *q, const double *score, const kl_held_row *row, double own, double other)
{
    int64_t classes = q->held->classes, largest = 0;
    double sum = 0, mean = 0, square = 0, all = 0, a = at->a;
    for (int64_t k = 1; k < classes; k++)
        if (a * score[k] > a * score[largest])
            largest = k;
    double top = score[largest] / q->unit;
    for (int64_t k = 0; k < classes; k++) {
        double f = score[k] / q->unit - top, e = exp(a * f); /* f about the largest: moments without cancellation where P is near 1 */
        sum += e;
        mean += e * f;
        square += e * f * f;
        all += f;
    }
    mean /= sum;
    double wanted = other * all + (own - other) * (score[row->truth] / q->unit - top), curve = square / sum - mean * mean;
    at->loss += row->weight * (log(sum) - a * wanted);
    at->slope_a += row->weight * (mean - wanted);
    at->curve_aa += row->weight * (curve > 0 ? curve : 0);
}

static point look(const problem *q, double a, double b)
{
    const kl_held *held = q->held;
    int64_t outputs = kl_held_outputs(held);
    point at = {.a = a, .b = b};
    for (int64_t i = 0; i < held->rows; i++) {
        const kl_held_row *row = &held->row[i];
        if (!(row->weight > 0))
            continue;
        double rest = held->classes > 1 ? 1 / (q->count[row->truth] + 2) : 0, own = 1 - rest, other = rest / (double)(held->classes > 1 ? held->classes - 1 : 1);
        if (held->classes == 2)
            add_pair(&at, held->score[i] / q->unit, row->truth == 1 ? own : other, row->weight);
        else
            add_many(&at, q, held->score + i * outputs, row, own, other);
    }
    double *value[] = {&at.loss, &at.slope_a, &at.slope_b, &at.curve_aa, &at.curve_ab, &at.curve_bb};
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++)
        *value[i] /= q->weight;
    return at;
}

/* Newton's step by (a, b), or by a alone; returns how far L falls along it, twice. */
static double newton(const problem *q, const point *at, double *step_a, double *step_b)
{
    const double least = 1e-12; /* a curvature that is never 0 (Lin, Lin and Weng) */
    double aa = at->curve_aa + least, bb = at->curve_bb + least, determinant = aa * bb - at->curve_ab * at->curve_ab;
    if (q->held->classes != 2) {
        *step_a = -at->slope_a / aa;
        *step_b = 0;
    } else {
        *step_a = -(bb * at->slope_a - at->curve_ab * at->slope_b) / determinant;
        *step_b = -(aa * at->slope_b - at->curve_ab * at->slope_a) / determinant;
    }
    return -(at->slope_a * *step_a + at->slope_b * *step_b);
}

static point descend(const problem *q, point at)
{
    for (int step = 0, last = 0; step < MOST_STEPS && last < LAST_STEPS; step++) {
        double da, db, fall = newton(q, &at, &da, &db), part = 1;
        point next = look(q, at.a + da, at.b + db);
        if (fall <= CLOSE)
            last++;
        else
            while (!(next.loss < at.loss - 1e-4 * part * fall) && part > 1e-10) {
                part /= 2;
                next = look(q, at.a + part * da, at.b + part * db);
            }
        if (!isfinite(next.loss) || part <= 1e-10)
            break;
        at = next;
    }
    return at;
}

static klift_status count_rows(problem *q, const kl_names *classes)
{
    const kl_held *held = q->held;
    int64_t outputs = kl_held_outputs(held);
    for (int64_t i = 0; i < held->rows; i++) {
        if (!(held->row[i].weight > 0))
            continue;
        for (int64_t k = 0; k < outputs; k++) {
            double size = fabs(held->score[i * outputs + k]);
            if (!isfinite(size))
                return kl_fail(KLIFT_FAILED, "a row held out has a score that is not finite; scale the data or use a larger lambda");
            q->unit = fmax(q->unit, size);
        }
        q->count[held->row[i].truth] += held->row[i].weight;
        q->weight += held->row[i].weight;
        q->rows++;
    }
    q->unit = q->unit > 0 ? q->unit : 1;
    if (q->rows == 0)
        return kl_fail(KLIFT_DATA, "no row could be held out to fit probabilities on; give more rows, or leave probability=true out");
    for (int64_t k = 0; held->classes == 2 && k < 2; k++)
        if (!(q->count[k] > 0))
            return kl_fail(KLIFT_DATA, "of the %lld rows held out none is of class '%s', so that its probability is not known; give more rows of it, or leave "
                           "probability=true out", (long long)q->rows, classes->name[k]);
    return KLIFT_OK;
}

static double mean_loss(const kl_probability *p, const problem *q)
{
    const kl_held *held = q->held;
    double sum = 0;
    for (int64_t i = 0; i < held->rows; i++)
        if (held->row[i].weight > 0)
            sum -= held->row[i].weight * kl_probability_log(p, held->classes, held->score + i * kl_held_outputs(held), held->row[i].truth);
    return sum / q->weight;
}

klift_status kl_probability_fit(const kl_held *held, const kl_names *classes, kl_probability *to)
{
    problem q = {.held = held};
    klift_status status;
    *to = (kl_probability){0};
    KL_GO(kl_new(&q.count, held->classes, sizeof *q.count, "probabilities"));
    KL_GO(count_rows(&q, classes));
    bool two = held->classes == 2;
    point at = look(&q, 0, 0);
    at = descend(&q, at);
    if (!(at.a > 0)) { /* b alone: the logarithm of the odds of the mean target */
        double low = q.count[0] / (q.count[0] + 2), high = two ? q.count[1] * (q.count[1] + 1) / (q.count[1] + 2) : 0, share = (low + high) / q.weight;
        at = (point){.b = two ? log(share / (1 - share)) : 0};
    }
    *to = (kl_probability){.known = true, .scale = at.a / q.unit, .offset = two ? at.b : 0, .rows = q.rows};
    to->log_loss = mean_loss(to, &q);
    if (!isfinite(to->scale) || !isfinite(to->offset) || !isfinite(to->log_loss))
        status = kl_fail(KLIFT_FAILED, "probabilities could not be fitted: scores of rows held out are too large or too small; scale the data");
done:
    kl_free(q.count);
    return status;
}

/* ---- use ---- */

/* log of sum_k exp(scale (f_k - f_largest)), which is at least 0; the differences cannot overflow. */
static double spread(const kl_probability *p, int64_t classes, const double *score, int64_t *largest)
{
    double sum = 0;
    *largest = 0;
    for (int64_t k = 1; k < classes; k++)
        if (score[k] > score[*largest])
            *largest = k;
    for (int64_t k = 0; k < classes; k++)
        sum += p->scale > 0 ? exp(p->scale * (score[k] - score[*largest])) : 1;
    return log(sum);
}

double kl_probability_log(const kl_probability *p, int64_t classes, const double *score, int64_t class)
{
    int64_t largest;
    if (classes == 2) {
        double g = p->scale * score[0] + p->offset;
        g = class == 1 ? g : -g;
        return fmax((g < 0 ? g : 0) - log1p(exp(-fabs(g))), -DBL_MAX);
    }
    double all = spread(p, classes, score, &largest);
    return p->scale > 0 ? fmax(p->scale * (score[class] - score[largest]) - all, -DBL_MAX) : -all;
}

void kl_probability_of(const kl_probability *p, int64_t classes, const double *score, double *out)
{
    int64_t largest;
    if (classes == 2) {
        double g = p->scale * score[0] + p->offset, e = exp(-fabs(g)), small = e / (1 + e), large = 1 / (1 + e);
        out[0] = g >= 0 ? small : large;
        out[1] = g >= 0 ? large : small;
        return;
    }
    double all = spread(p, classes, score, &largest), top = score[largest];
    for (int64_t k = 0; k < classes; k++)
        out[k] = exp((p->scale > 0 ? p->scale * (score[k] - top) : 0) - all);
}

/* ---- the model file ---- */

void kl_probability_save(const kl_probability *p, kl_record_writer *to)
{
    kl_record_put_f64(to, p->scale);
    kl_record_put_f64(to, p->offset);
    kl_record_put_i64(to, p->rows);
    kl_record_put_f64(to, p->log_loss);
}

klift_status kl_probability_load(kl_probability *p, kl_record_reader *from)
{
    KL_TRY(kl_record_get_f64(from, &p->scale));
    KL_TRY(kl_record_get_f64(from, &p->offset));
    KL_TRY(kl_record_get_i64(from, 0, INT64_MAX, &p->rows));
    KL_TRY(kl_record_get_f64(from, &p->log_loss));
    if (p->scale < 0 || p->log_loss < 0)
        return kl_record_damaged("a number of its probabilities is below 0");
    p->known = true;
    return KLIFT_OK;
}
