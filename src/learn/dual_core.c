/* dual_core.c - see dual_core.h. Outputs as many at a time as there are threads and room for: { gather and multiply, some features at a time },
 * ascend, join. Nothing of the machine changes before the end. */
#include "learn/dual_core.h"

#include "base/memory.h"
#include "math/product.h"
#include "math/random.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 8 };                    /* outputs at a time */
enum { NARROWEST = 512, WIDEST = 16384, MOST = 1024 }; /* features, and rows at most: room that such machines have besides */
enum { PART = 256 };                     /* features of the rows at a time */
enum { ROWS = 126, PIECE = 64 };         /* of a task that multiplies, whole groups of 14 or 6, and of one that copies */
enum { SWEEPS = 1000 };                  /* of an ascent */
static const double ROWS_PER_SWEEP = 32; /* their inner products cost about as much as a sweep over them by features */

typedef struct core {
    int64_t output, count;
    int32_t *row;   /* (count) */
    float *q;       /* (count, count) */
    double *f;      /* (count) scores */
    double *alpha;  /* (count) */
    int32_t *order; /* (count) */
    double *w, b;   /* (features) what the weights get */
} core;

/* What all outputs use one after the other. */
typedef struct cores {
    kl_dual *d;
    kl_passes *passes;
    double enough; /* relative gap */
    int count;
    core core[AT_ONCE];
    core *now;
    int64_t from, width;  /* the part of the features */
    int64_t first, taken; /* rows of it that z has */
    kl_row *z;            /* (at_most) */
    float *part;          /* (count, PART) */
    kl_panels panels;     /* the same, packed */
    char *scratch;        /* (threads, room) */
    int64_t room;
} cores;

static int64_t most_rows(int64_t features)
{
    int64_t part = features >= NARROWEST && features <= WIDEST ? features / 8 * 3 : 0;
    return part < MOST ? part : MOST;
}

int64_t kl_core_bytes(int64_t of_all, int64_t features)
{
    int64_t rows = of_all > INT64_MAX / 64 ? 0 : most_rows(features) < of_all ? most_rows(features) : of_all;
    return rows > 0 ? rows * (rows + PART) * (int64_t)sizeof(float) + kl_panels_bytes(rows, PART) + kl_product_scratch(PART) + features * (int64_t)sizeof(double) : 0;
}

static int64_t count_awake(const kl_dual *d, int64_t output)
{
    const bool *rest = d->rest + output * d->rows;
    int64_t resting = 0;
    for (int64_t i = 0; i < d->rows; i++)
        resting += rest[i];
    return d->rows - resting;
}

bool kl_core_ready(const kl_dual *d)
{
    bool ready = d->single && d->loss <= KL_SQUARED_HINGE && most_rows(d->features) > 0;
    for (int64_t o = 0; o < d->outputs && ready; o++) {
        int64_t awake = d->done[o] ? 0 : count_awake(d, o);
        ready = awake <= most_rows(d->features) && (double)awake <= ROWS_PER_SWEEP * (double)d->passes;
    }
    return ready;
}

/* ---- inner products ---- */

/* Columns from .. from + count - 1 of a row. */
static void spread(const kl_row *z, int64_t from, int64_t count, float *to)
{
    kl_row part = {count, NULL, z->value != NULL ? z->value + from : NULL, z->half != NULL ? z->half + from : NULL, z->scale};
    if (z->column == NULL) {
        kl_row_spread(&part, count, to);
        return;
    }
    memset(to, 0, (size_t)count * sizeof *to);
    for (int64_t e = 0; e < z->count; e++)
        if (z->column[e] >= from && z->column[e] < from + count)
            to[z->column[e] - from] = z->value[e];
}

/* A part of some rows, as it is and packed; with the first one, the rows' scores. */
static klift_status copy_task(void *context, int64_t task, int worker)
{
    cores *k = context;
    int64_t end = (task + 1) * PIECE < k->taken ? (task + 1) * PIECE : k->taken;
    (void)worker;
    for (int64_t i = task * PIECE; i < end; i++) {
        int64_t at = k->first + i;
        float *values = k->part + at * k->width, *packed = kl_panels_at(&k->panels, at, 0);
        spread(&k->z[i], k->from, k->width, values);
        for (int64_t p = 0; p < k->width; p++)
            packed[p * k->panels.width] = values[p];
        if (k->from == 0)
            kl_dual_scores(k->d, &k->z[i], &k->z[i + 1 < end ? i + 1 : i], k->now->output, 1, &k->now->f[at]);
    }
    return KLIFT_OK;
}

/* The rows of the output that is worked on, as many at a time as can be had, each time the tasks of all that were taken. */
static klift_status each_row(cores *k, kl_task task, bool alone, klift_run *run)
{
    int64_t most = k->passes->at_most, count = k->now->count;
    for (k->first = 0; k->first < count; k->first += most) {
        k->taken = count - k->first < most ? count - k->first : most;
        KL_TRY(k->passes->take(k->passes, k->now->row + k->first, k->taken, run, k->z));
        KL_TRY(kl_run_parallel(run, alone ? 1 : (k->taken + PIECE - 1) / PIECE, task, k));
    }
    return KLIFT_OK;
}

/* Where sums of a part go: to what the parts before it gave. */
typedef struct target {
    float *q; /* (rows, stride) */
    int64_t stride;
} target;

static void add_sums(const void *context, int64_t row, int64_t column, int64_t count, const float *sums)
{
    const target *to = context;
    float *q = to->q + row * to->stride + column;
    for (int64_t j = 0; j < count; j++)
        q[j] += sums[j];
}

/* Some rows against those up to the last of them. */
static klift_status multiply_task(void *context, int64_t task, int worker)
{
    cores *k = context;
    int64_t from = task * ROWS, rows = k->now->count - from < ROWS ? k->now->count - from : ROWS;
    target to = {k->now->q + from * k->now->count, k->now->count};
    kl_panels before = k->panels;
    before.n = from + rows;
    kl_product_dense(&before, rows, k->part + from * k->width, k->width, &(kl_product_out){.take = add_sums, .context = &to}, k->scratch + worker * k->room);
    return KLIFT_OK;
}

static klift_status make_core(cores *k, core *c)
{
    const kl_dual *d = k->d;
    KL_TRY(kl_new(&c->row, c->count, sizeof *c->row, "the dual variables"));
    KL_TRY(kl_new(&c->q, c->count * c->count, sizeof *c->q, "inner products of rows"));
    KL_TRY(kl_new(&c->f, c->count, sizeof *c->f, "the dual variables"));
    KL_TRY(kl_new(&c->alpha, c->count, sizeof *c->alpha, "the dual variables"));
    KL_TRY(kl_new(&c->order, c->count, sizeof *c->order, "the dual variables"));
    KL_TRY(kl_new(&c->w, d->features, sizeof *c->w, "the weights"));
    for (int64_t i = 0, at = 0; i < d->rows; i++)
        if (!d->rest[c->output * d->rows + i])
            c->row[at++] = (int32_t)i;
    for (int64_t i = 0; i < c->count; i++)
        c->alpha[i] = d->alpha[c->output * d->rows + c->row[i]];
    return KLIFT_OK;
}

static void clear_core(core *c)
{
    void *all[] = {c->row, c->q, c->f, c->alpha, c->order, c->w};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        kl_free(all[i]);
}

static klift_status multiply(cores *k, core *c, klift_run *run)
{
    const kl_dual *d = k->d;
    KL_TRY(make_core(k, c));
    k->now = c;
    for (k->from = 0; k->from < d->features; k->from += k->width) {
        k->width = d->features - k->from < PART ? d->features - k->from : PART;
        k->panels.n = c->count;
        k->panels.k = k->width;
        KL_TRY(each_row(k, copy_task, false, run));
        KL_TRY(kl_run_parallel(run, (c->count + ROWS - 1) / ROWS, multiply_task, k));
    }
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t j = 0; j <= i; j++)
            c->q[j * c->count + i] = c->q[i * c->count + j] += (float)(d->bias * d->bias);
    return KLIFT_OK;
}

/* ---- the ascent ---- */

/* One sweep; returns what its rows had of the gap when they were met. */
static double sweep(const kl_dual *d, core *c, uint32_t number)
{
    kl_random from = {d->seed, (uint32_t)d->passes, KL_DRAW_SWEEP};
    double gap = 0;
    kl_random_order(&from, number, c->count, c->order); /* 0 is the order of the pass itself */
    for (int64_t at = 0; at < c->count; at++) {
        int64_t i = c->order[at];
        kl_dual_row r = d->row_of(d->user, c->row[i], c->output);
        if (!(r.cost > 0))
            continue;
        gap += kl_dual_part(d, r, c->f[i], c->alpha[i]);
        double to = kl_dual_best(d, r, c->f[i], d->square[c->row[i]], c->alpha[i]), step = to - c->alpha[i];
        if (step == 0 || !isfinite(to))
            continue;
        c->alpha[i] = to;
        kl_row_add(&(kl_row){c->count, NULL, c->q + i * c->count, NULL, 0}, c->count, step * r.y, c->f);
    }
    return gap;
}

static klift_status ascend_task(void *context, int64_t task, int worker)
{
    cores *k = context;
    core *c = &k->core[task];
    (void)worker;
    for (uint32_t s = 1; s <= SWEEPS && sweep(k->d, c, s) > k->enough * k->d->primal[c->output]; s++)
        ;
    return KLIFT_OK;
}

/* What the variables changed of the weights: in the rows' order, so by one task. */
static klift_status join_task(void *context, int64_t task, int worker)
{
    cores *k = context;
    const kl_dual *d = k->d;
    core *c = k->now;
    (void)task;
    (void)worker;
    for (int64_t i = 0; i < k->taken; i++) {
        int64_t at = k->first + i, row = c->row[at];
        double step = (c->alpha[at] - d->alpha[c->output * d->rows + row]) * d->row_of(d->user, row, c->output).y;
        if (step != 0)
            kl_row_add(&k->z[i], d->features, step, c->w);
        c->b += step * d->bias;
    }
    return KLIFT_OK;
}

static void give(const cores *k)
{
    kl_dual *d = k->d;
    for (int c = 0; c < k->count; c++) {
        const core *from = &k->core[c];
        for (int64_t p = 0; p < d->features; p++)
            d->w[from->output * d->features + p] += from->w[p];
        d->b[from->output] += from->b;
        for (int64_t i = 0; i < from->count; i++)
            d->alpha[from->output * d->rows + from->row[i]] = from->alpha[i];
    }
}

/* ---- some outputs ---- */

/* The next ones that are not done, from *output on. */
static void choose(cores *k, int at_once, int64_t *output)
{
    k->count = 0;
    for (; *output < k->d->outputs && k->count < at_once; ++*output)
        if (!k->d->done[*output])
            k->core[k->count++] = (core){.output = *output, .count = count_awake(k->d, *output)};
}

static klift_status solve_some(cores *k, klift_run *run)
{
    klift_status status = KLIFT_OK;
    for (int c = 0; c < k->count; c++)
        KL_GO(multiply(k, &k->core[c], run));
    KL_GO(kl_run_parallel(run, k->count, ascend_task, k));
    for (int c = 0; c < k->count; c++) {
        k->now = &k->core[c];
        KL_GO(each_row(k, join_task, true, run));
    }
    give(k);
done:
    for (int c = 0; c < k->count; c++)
        clear_core(&k->core[c]);
    return status;
}

/* How many outputs are worked on together decides nothing: as many as there are threads, if an eighth of the memory has room for them. */
static int outputs_at_once(const kl_dual *d, klift_run *run)
{
    int64_t room = kl_run_memory(run) / 8 / kl_core_bytes(d->rows, d->features), threads = kl_run_threads(run), most = room < threads ? room : threads;
    return most < 1 ? 1 : most > AT_ONCE ? AT_ONCE : (int)most;
}

klift_status kl_core_solve(kl_dual *d, kl_passes *passes, double tolerance, int64_t *output, kl_keeping *keeping, klift_run *run)
{
    cores k = {.d = d, .passes = passes, .enough = tolerance / 2, .room = kl_product_scratch(PART)};
    int64_t rows = most_rows(d->features) < d->rows ? most_rows(d->features) : d->rows;
    klift_status status;
    KL_GO(kl_new(&k.z, passes->at_most, sizeof *k.z, "rows of the dual variables"));
    KL_GO(kl_new(&k.part, rows * PART, sizeof *k.part, "rows of the dual variables"));
    KL_GO(kl_panels_new(&k.panels, rows, PART));
    KL_GO(kl_new(&k.scratch, kl_run_threads(run) * k.room, 1, "inner products of rows"));
    while (*output < d->outputs) {
        int64_t next = *output;
        choose(&k, outputs_at_once(d, run), &next);
        KL_GO(kl_keep_at(keeping, solve_some(&k, run)));
        *output = next;
        KL_GO(kl_keep_at(keeping, KLIFT_OK));
    }
done:
    kl_free(k.z);
    kl_free(k.part);
    kl_panels_clear(&k.panels);
    kl_free(k.scratch);
    return status;
}
