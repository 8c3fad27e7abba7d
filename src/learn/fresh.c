/* fresh.c - see fresh.h. Every row's score and every column's sum is made by one task in a fixed order, whatever the threads. */
#include "learn/fresh.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 128 }; /* of one task */

/* RUNAWAY: scores beyond it are those of weights that run away. FARTHEST, NEAR, TURNS: where the search along a line ends. */
static const double RUNAWAY = 1e30, FARTHEST = 1024, NEAR = 0.001;
enum { TURNS = 20 };

klift_status kl_fresh_new(kl_fresh *f, int64_t count)
{
    int64_t most = f->passes->at_most, rows;
    f->each = f->passes->features / f->passes->parts;
    f->scale = sqrt(1 / (double)f->passes->parts);
    f->count = count;
    f->all = count == f->passes->rows;
    KL_TRY(kl_new(&f->score, count * f->outputs, sizeof *f->score, "scores"));
    KL_TRY(kl_new(&f->push, count * f->outputs, sizeof *f->push, "scores"));
    KL_TRY(kl_new(&f->weight, most, sizeof *f->weight, "weights of rows"));
    KL_TRY(kl_new(&f->sum, f->outputs * f->each, sizeof *f->sum, "a gradient"));
    KL_TRY(kl_new(&f->change, f->outputs * f->each, sizeof *f->change, "a step"));
    if (!f->curved)
        return KLIFT_OK;
    rows = most < KL_TILES_ROWS ? most : KL_TILES_ROWS;
    KL_TRY(kl_new(&f->far, f->outputs, sizeof *f->far, "a step"));
    KL_TRY(kl_new(&f->before, f->outputs, sizeof *f->before, "a step"));
    KL_TRY(kl_new(&f->right, f->outputs * f->each, sizeof *f->right, "a step"));
    KL_TRY(kl_new(&f->zero, f->each, sizeof *f->zero, "a step"));
    KL_TRY(kl_new(&f->order, most, sizeof *f->order, "the order of rows"));
    for (int64_t i = 0; i < most; i++)
        f->order[i] = (int32_t)i;
    KL_TRY(kl_tiles_new(&f->curve, f->each, f->run));
    return kl_new(&f->packed, kl_tiles_packed(&f->curve, rows), 1, "a step");
}

int64_t kl_fresh_bytes(int64_t rows, int64_t count, int64_t each, int64_t outputs, bool curved)
{
    int64_t known = rows < count ? rows : count;
    return 2 * outputs * (known + 2 * each) * (int64_t)sizeof(double) + (curved ? kl_tiles_bytes(each) : 0);
}

void kl_fresh_clear(kl_fresh *f)
{
    kl_free(f->score);
    kl_free(f->push);
    kl_free(f->weight);
    kl_free(f->sum);
    kl_free(f->change);
    kl_free(f->far);
    kl_free(f->before);
    kl_free(f->right);
    kl_free(f->zero);
    kl_free(f->order);
    kl_tiles_clear(&f->curve);
    kl_free(f->packed);
}

/* ---- scores ---- */

typedef struct work {
    kl_fresh *f;
    const float *z;        /* (count, each) */
    int64_t first, count;  /* rows of the step that are on their way */
    const double *w;       /* (outputs, stride) */
    int64_t stride;
    double *to;            /* (rows of the step, outputs): w z is added */
} work;

static klift_status score_task(void *context, int64_t task, int worker)
{
    const work *k = context;
    kl_fresh *f = k->f;
    double dot[ROWS];
    (void)worker;
    for (int64_t i = task * ROWS; i < k->count && i < (task + 1) * ROWS; i++) {
        int64_t after = i + 1 < k->count ? i + 1 : i;
        kl_row z = {.count = f->each, .value = k->z + i * f->each}, next = {.count = f->each, .value = k->z + after * f->each};
        for (int64_t o = 0; o < f->outputs; o += ROWS) {
            int64_t outputs = f->outputs - o < ROWS ? f->outputs - o : ROWS;
            kl_row_dots(&z, &next, f->each, outputs, k->w + o * k->stride, k->stride, dot);
            for (int64_t c = 0; c < outputs; c++)
                k->to[(k->first + i) * f->outputs + o + c] += f->scale * dot[c];
        }
    }
    return KLIFT_OK;
}

/* Rows from k->first on: as many as there are at a time, and the features of a copy. */
static klift_status take(work *k, int64_t part)
{
    kl_fresh *f = k->f;
    int64_t left = f->count - k->first, most = f->passes->at_most;
    k->count = left < most ? left : most;
    return f->passes->take_part(f->passes, f->row + k->first, k->count, part, f->run, &k->z);
}

static klift_status add_scores(work *k, int64_t part)
{
    KL_TRY(take(k, part));
    return kl_run_parallel(k->f->run, (k->count + ROWS - 1) / ROWS, score_task, k);
}

void kl_fresh_rows(kl_fresh *f, const int32_t *row)
{
    f->row = row;
    f->mass = 0;
    for (int64_t i = 0; i < f->count; i++)
        f->mass += f->targets->weight[row[i]];
}

klift_status kl_fresh_score(kl_fresh *f, int64_t copies)
{
    work k = {.f = f, .stride = f->passes->features, .to = f->score};
    if (f->all)
        return KLIFT_OK;
    memset(f->score, 0, (size_t)(f->count * f->outputs) * sizeof *f->score);
    for (; copies > 0 && k.first < f->count; k.first += k.count)
        for (int64_t part = 0; part < copies; part++) {
            k.w = f->w + part * f->each;
            KL_TRY(add_scores(&k, part));
        }
    return KLIFT_OK;
}

/* ---- slopes ---- */

static double target_of(const kl_fresh *f, int64_t row, int64_t output)
{
    const kl_targets *t = f->targets;
    if (t->goal == KL_REGRESS)
        return t->target[row * t->columns + f->column[output]];
    return t->target[row] == (double)f->column[output] ? 1 : -1;
}

klift_status kl_fresh_look(kl_fresh *f)
{
    double sum = 0;
    for (int64_t i = 0; i < f->count; i++)
        for (int64_t o = 0; o < f->outputs; o++) {
            double y = target_of(f, f->row[i], o), at = f->score[i * f->outputs + o] + f->b[o], weight = f->targets->weight[f->row[i]];
            if (!(fabs(at) < RUNAWAY))
                return kl_fail(KLIFT_FAILED, "doubly-stochastic ran away: scores are beyond %g; leave step out or make it smaller, scale the data, for example with prepare=standardise, or "
                               "use a larger lambda", RUNAWAY);
            sum += weight * f->loss->value(y, at, f->epsilon);
            f->push[i * f->outputs + o] = weight * f->loss->slope(y, at, f->epsilon);
        }
    f->mean = f->mass > 0 ? sum / f->mass : 0;
    return KLIFT_OK;
}

/* b moves by its own bound. */
static void level(kl_fresh *f)
{
    for (int64_t o = 0; f->mass > 0 && o < f->outputs; o++) {
        double sum = 0;
        for (int64_t i = 0; i < f->count; i++)
            sum += f->push[i * f->outputs + o];
        f->b[o] -= sum / (f->loss->curvature * f->mass);
    }
}

/* ---- steps ---- */

static klift_status gradient_task(void *context, int64_t task, int worker)
{
    const work *k = context;
    kl_fresh *f = k->f;
    int64_t first = task * COLUMNS, columns = f->each - first < COLUMNS ? f->each - first : COLUMNS;
    (void)worker;
    for (int64_t i = 0; i < k->count; i++) {
        kl_row z = {.count = columns, .value = k->z + i * f->each + first};
        const double *push = f->push + (k->first + i) * f->outputs;
        for (int64_t o = 0; o < f->outputs; o++)
            if (push[o] != 0)
                kl_row_add(&z, columns, push[o], f->sum + o * f->each + first);
    }
    return KLIFT_OK;
}

static klift_status add_curve(const work *k)
{
    kl_fresh *f = k->f;
    for (int64_t i = 0; i < k->count; i++)
        f->weight[i] = f->targets->weight[f->row[k->first + i]];
    for (int64_t from = 0; from < k->count; from += KL_TILES_ROWS) {
        int64_t left = k->count - from;
        kl_tile_rows rows = {k->z, f->each, left < KL_TILES_ROWS ? left : KL_TILES_ROWS, f->order + from, f->zero, f->targets->weighted ? f->weight : NULL};
        KL_TRY(kl_tiles_add(&f->curve, &rows, f->packed, f->run));
    }
    return KLIFT_OK;
}

/* sum and curve: of unscaled features, not yet divided by M. */
static klift_status gather(kl_fresh *f, int64_t part)
{
    work k = {.f = f};
    memset(f->sum, 0, (size_t)(f->outputs * f->each) * sizeof *f->sum);
    if (f->curved)
        memset(f->curve.value, 0, (size_t)kl_tiles_bytes(f->each));
    for (; k.first < f->count; k.first += k.count) {
        KL_TRY(take(&k, part));
        KL_TRY(kl_run_parallel(f->run, (f->each + COLUMNS - 1) / COLUMNS, gradient_task, &k));
        if (f->curved)
            KL_TRY(add_curve(&k));
    }
    return KLIFT_OK;
}

/* to (rows of the step, outputs) += what f->change of a copy's weights adds to the scores */
static klift_status add_change(kl_fresh *f, int64_t part, double *to)
{
    work k = {.f = f, .w = f->change, .stride = f->each, .to = to};
    for (; k.first < f->count; k.first += k.count)
        KL_TRY(add_scores(&k, part));
    return KLIFT_OK;
}

static void move(kl_fresh *f, int64_t part)
{
    for (int64_t o = 0; o < f->outputs; o++)
        for (int64_t j = 0; j < f->each; j++)
            f->w[o * f->passes->features + part * f->each + j] += f->change[o * f->each + j];
}

/* What the change adds to the scores, in f->push, whose slopes are used up. */
static klift_status try_change(kl_fresh *f, int64_t part)
{
    memset(f->push, 0, (size_t)(f->count * f->outputs) * sizeof *f->push);
    return add_change(f, part, f->push);
}

klift_status kl_fresh_descend(kl_fresh *f, int64_t part, double step)
{
    double keep = 1 - step * f->lambda;
    if (!(f->mass > 0))
        return KLIFT_OK;
    KL_TRY(gather(f, part));
    for (int64_t i = 0; i < f->outputs * f->each; i++)
        f->change[i] = -step / (f->scale * f->mass) * f->sum[i]; /* copies times scale is 1 / scale */
    if (f->all)
        KL_TRY(try_change(f, part));
    for (int64_t i = 0; i < f->outputs * f->passes->features; i++)
        f->w[i] *= keep;
    for (int64_t i = 0; f->all && i < f->count * f->outputs; i++)
        f->score[i] = keep * f->score[i] + f->push[i];
    move(f, part);
    return KLIFT_OK;
}

/* c Z' m Z / M + lambda, factored. */
static klift_status factor_curve(kl_fresh *f)
{
    double factor = f->loss->curvature * f->scale * f->scale / f->mass;
    int64_t edge = f->curve.edge, failed;
    for (int64_t i = 0; i < f->curve.count * (f->curve.count + 1) / 2 * edge * edge; i++)
        f->curve.value[i] *= factor;
    for (int64_t j = 0; j < f->each; j++)
        kl_tiles_at(&f->curve, j / edge, j / edge)[(j % edge) * edge + j % edge] += f->lambda;
    KL_TRY(kl_tiles_factor(&f->curve, f->run, &failed));
    if (failed >= 0)
        return kl_fail(KLIFT_FAILED, "the equations of a copy's features are not positive at lambda %g: use a larger lambda, or scale the data", f->lambda);
    return KLIFT_OK;
}

/* The slope of the objective at `far` times the change. */
static double slope_at(const kl_fresh *f, int64_t part, int64_t output, double far)
{
    const double *w = f->w + output * f->passes->features + part * f->each, *change = f->change + output * f->each;
    double sum = 0, penalty = 0;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t at = i * f->outputs + output;
        double y = target_of(f, f->row[i], output), score = f->score[at] + far * f->push[at] + f->b[output];
        sum += f->targets->weight[f->row[i]] * f->loss->slope(y, score, f->epsilon) * f->push[at];
    }
    for (int64_t j = 0; j < f->each; j++)
        penalty += (w[j] + far * change[j]) * change[j];
    return sum / f->mass + f->lambda * penalty;
}

typedef struct search {
    kl_fresh *f;
    int64_t part;
} search;

/* The least of one output along its change, which is at 1 or beyond: doubled until the slope turns, then by false position, where an end
 * that stays counts half (Illinois). */
static klift_status search_task(void *context, int64_t output, int worker)
{
    const search *s = context;
    double low = 1, high = 1, near = NEAR * fabs(slope_at(s->f, s->part, output, 0)), below = slope_at(s->f, s->part, output, low), above = below, *far = &s->f->far[output];
    (void)worker;
    while (above < -near && high < FARTHEST) {
        low = high;
        below = above;
        high *= 2;
        above = slope_at(s->f, s->part, output, high);
    }
    *far = high;
    for (int turn = 0, side = 0; high > low && above > near && turn < TURNS; turn++) {
        double slope;
        *far = low - below * (high - low) / (above - below);
        slope = slope_at(s->f, s->part, output, *far);
        if (fabs(slope) <= near)
            break;
        if (slope < 0) {
            low = *far;
            below = slope;
            above *= side < 0 ? 0.5 : 1;
        } else {
            high = *far;
            above = slope;
            below *= side > 0 ? 0.5 : 1;
        }
        side = slope < 0 ? -1 : 1;
    }
    return KLIFT_OK;
}

/* The change as far as its line goes down, and the scores with it. */
static klift_status go_far(kl_fresh *f, int64_t part)
{
    search s = {f, part};
    KL_TRY(try_change(f, part));
    KL_TRY(kl_run_parallel(f->run, f->outputs, search_task, &s));
    for (int64_t i = 0; i < f->outputs * f->each; i++)
        f->change[i] *= f->far[i / f->each];
    for (int64_t i = 0; i < f->count * f->outputs; i++)
        f->score[i] += f->far[i % f->outputs] * f->push[i];
    return KLIFT_OK;
}

static klift_status settle(kl_fresh *f, int64_t part)
{
    level(f);
    KL_TRY(kl_fresh_look(f));
    KL_TRY(gather(f, part));
    KL_TRY(factor_curve(f));
    for (int64_t o = 0; o < f->outputs; o++)
        for (int64_t j = 0; j < f->each; j++)
            f->right[j * f->outputs + o] = -f->scale / f->mass * f->sum[o * f->each + j] - f->lambda * f->w[o * f->passes->features + part * f->each + j];
    KL_TRY(kl_tiles_solve(&f->curve, f->outputs, f->right, f->run));
    for (int64_t o = 0; o < f->outputs; o++)
        for (int64_t j = 0; j < f->each; j++)
            f->change[o * f->each + j] = f->right[j * f->outputs + o];
    if (f->all)
        KL_TRY(go_far(f, part));
    move(f, part);
    return KLIFT_OK;
}

klift_status kl_fresh_settle(kl_fresh *f, int64_t part)
{
    if (!(f->mass > 0))
        return KLIFT_OK;
    memcpy(f->before, f->b, (size_t)f->outputs * sizeof *f->b);
    klift_status status = settle(f, part);
    if (status != KLIFT_OK)
        memcpy(f->b, f->before, (size_t)f->outputs * sizeof *f->b);
    return status;
}

/* ---- what is kept ---- */

void kl_fresh_save(const kl_fresh *f, kl_record_writer *to)
{
    kl_keep_put_any(to, &f->mean, 1);
    kl_keep_put_numbers(to, f->w, f->outputs * f->passes->features);
    kl_keep_put_numbers(to, f->b, f->outputs);
    if (f->all)
        kl_keep_put_numbers(to, f->score, f->count * f->outputs);
}

klift_status kl_fresh_load(kl_fresh *f, kl_record_reader *from)
{
    KL_TRY(kl_keep_get_any(from, &f->mean, 1));
    KL_TRY(kl_keep_get_numbers(from, f->w, f->outputs * f->passes->features));
    KL_TRY(kl_keep_get_numbers(from, f->b, f->outputs));
    return f->all ? kl_keep_get_numbers(from, f->score, f->count * f->outputs) : KLIFT_OK;
}
