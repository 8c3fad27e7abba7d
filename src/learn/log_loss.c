/*
 * log_loss.c - with p_k the softmax of the scores, or each one's own sigmoid, the gradient of a row is (p_k - [k = y]) z and its
 * curvature along t = s'z is p_k (t_k - sum p t) z, or p_k (1 - p_k) t_k z. Scores are made again in every pass: keeping p would take
 * rows times outputs numbers.
 * Groups of rows belong to parts by their numbers; the sums of a part go on from block to block, and parts are added in their order at
 * the end of the pass: the same bits for any threads. All in float64 on float32 features; a row is read once for its scores and its sums.
 */
#include "learn/log_loss.h"

#include "base/memory.h"
#include "learn/loss.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = 16, PART_SUMS = 1 << 24, GROUP = 64 };

int64_t kl_log_loss_size(const kl_log_loss *l)
{
    return l->outputs * (l->features + 1);
}

klift_status kl_log_loss_new(kl_log_loss *l)
{
    int64_t size = kl_log_loss_size(l), parts = PART_SUMS / size;
    l->parts = parts < 2 ? 2 : parts < MOST_PARTS ? parts : MOST_PARTS;
    KL_TRY(kl_new(&l->order, l->passes->at_most, sizeof *l->order, "the order of rows"));
    KL_TRY(kl_new(&l->z, l->passes->at_most, sizeof *l->z, "the order of rows"));
    KL_TRY(kl_new(&l->sum, l->parts * size, sizeof *l->sum, "the sums of a pass"));
    KL_TRY(kl_new(&l->loss, l->parts, sizeof *l->loss, "the sums of a pass"));
    return kl_new(&l->score, l->parts * 2 * l->outputs, sizeof *l->score, "scores");
}

void kl_log_loss_clear(kl_log_loss *l)
{
    kl_free(l->order);
    kl_free(l->z);
    kl_free(l->sum);
    kl_free(l->loss);
    kl_free(l->score);
}

typedef struct work {
    kl_log_loss *l;
    const double *w, *s; /* s NULL: the gradient */
    int64_t first, count; /* rows of this block */
} work;

static void scores(const kl_log_loss *l, const double *w, const kl_row *z, const kl_row *next, double *f)
{
    kl_row_dots(z, next, l->features, l->outputs, w, l->features, f);
    for (int64_t o = 0; o < l->outputs; o++)
        f[o] += w[l->outputs * l->features + o];
}

/* f becomes p; the loss of output y. */
static double softmax(int64_t outputs, int64_t y, double *f)
{
    double most = f[0], own = f[y], sum = 0;
    for (int64_t o = 1; o < outputs; o++)
        most = f[o] > most ? f[o] : most;
    for (int64_t o = 0; o < outputs; o++)
        sum += f[o] = exp(f[o] - most);
    for (int64_t o = 0; o < outputs; o++)
        f[o] /= sum;
    return log(sum) + most - own;
}

static double sigmoids(int64_t outputs, int64_t y, double *f)
{
    const kl_loss_type *loss = &kl_loss_types[KL_LOSS_LOGISTIC];
    double sum = 0;
    for (int64_t o = 0; o < outputs; o++) {
        sum += loss->value(o == y ? 1 : -1, f[o], 0);
        f[o] = loss->slope(-1, f[o], 0); /* p of the output: how much a negative row pushes */
    }
    return sum;
}

/* t becomes the factors of z in the product. */
static void bend(const kl_log_loss *l, const double *p, double *t)
{
    double mean = 0;
    for (int64_t o = 0; l->joint && o < l->outputs; o++)
        mean += p[o] * t[o];
    for (int64_t o = 0; o < l->outputs; o++)
        t[o] = p[o] * (l->joint ? t[o] - mean : (1 - p[o]) * t[o]);
}

static void visit(const work *k, int64_t part, int64_t i, const kl_row *next)
{
    const kl_log_loss *l = k->l;
    double *p = l->score + part * 2 * l->outputs, *t = p + l->outputs, *sum = l->sum + part * kl_log_loss_size(l);
    const kl_row *z = &l->z[i];
    double weight = l->weight[k->first + i] / l->n;
    int64_t y = l->output_of[(int64_t)l->class_of[k->first + i]];
    scores(l, k->w, z, next, p);
    l->loss[part] += weight * (l->joint ? softmax(l->outputs, y, p) : sigmoids(l->outputs, y, p));
    if (k->s != NULL) {
        scores(l, k->s, z, next, t);
        bend(l, p, t);
    } else
        for (int64_t o = 0; o < l->outputs; o++)
            t[o] = p[o] - (o == y);
    for (int64_t o = 0; o < l->outputs; o++) {
        kl_row_add(z, l->features, weight * t[o], sum + o * l->features);
        sum[l->outputs * l->features + o] += weight * t[o];
    }
}

static klift_status part_task(void *context, int64_t part, int worker)
{
    const work *k = context;
    const kl_log_loss *l = k->l;
    int64_t end = k->first + k->count;
    (void)worker;
    for (int64_t row = k->first, next; row < end; row = next) {
        next = (row / GROUP + 1) * GROUP < end ? (row / GROUP + 1) * GROUP : end;
        for (int64_t r = row; row / GROUP % l->parts == part && r < next; r++)
            if (l->weight[r] > 0)
                visit(k, part, r - k->first, &l->z[(r + 1 < next ? r + 1 : r) - k->first]);
    }
    return KLIFT_OK;
}

/* The features of a block, in the rows' own order. */
static klift_status take(kl_log_loss *l, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        l->order[i] = (int32_t)(first + i);
    return l->passes->take(l->passes, l->order, count, l->run, l->z);
}

static klift_status pass_over(work *k, double *total)
{
    kl_log_loss *l = k->l;
    int64_t size = kl_log_loss_size(l), most = l->passes->at_most;
    memset(l->sum, 0, (size_t)(l->parts * size) * sizeof *l->sum);
    memset(l->loss, 0, (size_t)l->parts * sizeof *l->loss);
    for (k->first = 0; k->first < l->passes->rows; k->first += most) {
        k->count = l->passes->rows - k->first < most ? l->passes->rows - k->first : most;
        KL_TRY(take(l, k->first, k->count));
        KL_TRY(kl_run_parallel(l->run, l->parts, part_task, k));
    }
    memcpy(total, l->sum, (size_t)size * sizeof *total);
    for (int64_t part = 1; part < l->parts; part++)
        for (int64_t i = 0; i < size; i++)
            total[i] += l->sum[part * size + i];
    return KLIFT_OK;
}

klift_status kl_log_loss_look(kl_log_loss *l, const double *w, double *value, double *gradient)
{
    work k = {.l = l, .w = w};
    double norm = 0;
    KL_TRY(pass_over(&k, gradient));
    for (int64_t i = 0; i < l->outputs * l->features; i++) {
        gradient[i] += l->lambda * w[i];
        norm += w[i] * w[i];
    }
    *value = l->lambda * norm / 2;
    for (int64_t part = 0; part < l->parts; part++)
        *value += l->loss[part];
    return KLIFT_OK;
}

klift_status kl_log_loss_curve(kl_log_loss *l, const double *w, const double *s, double *product)
{
    work k = {.l = l, .w = w, .s = s};
    KL_TRY(pass_over(&k, product));
    for (int64_t i = 0; i < l->outputs * l->features; i++)
        product[i] += l->lambda * s[i];
    return KLIFT_OK;
}
