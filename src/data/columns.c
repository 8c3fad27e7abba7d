/*
 * columns.c - sums of columns and norms of rows. Both are chains of additions whose order is fixed, so what runs side by side
 * is other chains: a task takes a range of columns for all rows, or a range of rows; inside it four rows at a time, of which a
 * column's sums take one after the other while they are in a register, and whose norms are four chains. No branch looks at
 * a value: a zero that is added changes no bit, because no sum that begins with +0 is ever -0.
 */
#include "data/columns.h"

#include "base/memory.h"

#include <math.h>

enum { TOGETHER = 4, LINE = 8, LEAST_WORK = 1 << 16 }; /* rows; numbers of a cache line; values: some 80 microseconds */

typedef struct job {
    kl_columns *columns;
    const kl_batch *batch;
    int64_t column_tasks, row_tasks;
    unsigned mode; /* denormal values count as what they are, which tasks would take for zero */
} job;

klift_status kl_columns_widen(kl_columns *c, int64_t count, int64_t limit)
{
    if (count <= c->count)
        return KLIFT_OK;
    int64_t needed = count * (int64_t)(4 * sizeof(double) + sizeof *c->nonzeros);
    if (needed > limit)
        return kl_fail(KLIFT_MEMORY,
                       "the survey of %lld columns needs %.0f MB, the limit is %.0f MB; if an index is wrong, correct it, else use a larger max-memory=SIZE",
                       (long long)count, (double)needed / 1e6, (double)limit / 1e6);
    double **all[] = {&c->sum, &c->square, &c->low, &c->high};
    int64_t room = c->room, nonzeros_room = c->room;
    for (int i = 0; i < 4; i++) {
        room = c->room;
        KL_TRY(kl_grow(all[i], &room, c->count, count, sizeof(double), "the survey"));
    }
    KL_TRY(kl_grow(&c->nonzeros, &nonzeros_room, c->count, count, sizeof *c->nonzeros, "the survey"));
    for (int64_t j = c->count; j < count; j++) {
        c->low[j] = (double)INFINITY;
        c->high[j] = -(double)INFINITY;
    }
    c->room = room;
    c->count = count;
    return KLIFT_OK;
}

static double weight_of(const kl_batch *batch, int64_t row)
{
    return batch->weight != NULL ? batch->weight[row] : 1;
}

static inline void add_value(const kl_columns *c, int64_t j, double weight, double x)
{
    double weighted = weight * x;
    c->sum[j] += weighted;
    c->square[j] += weighted * x;
    c->low[j] = x < c->low[j] ? x : c->low[j];
    c->high[j] = x > c->high[j] ? x : c->high[j];
    c->nonzeros[j] += x != 0;
}

/* Columns from .. to-1 of TOGETHER rows, each column in the order of the rows; written out for the compiler to vectorise over the columns. */
static void add_together(const kl_columns *columns, const kl_batch *batch, int64_t row, int64_t from, int64_t to)
{
    double *restrict sum = columns->sum, *restrict square = columns->square, *restrict low = columns->low, *restrict high = columns->high;
    int64_t *restrict nonzeros = columns->nonzeros;
    const float *x0 = batch->dense + row * batch->stride, *x1 = x0 + batch->stride, *x2 = x1 + batch->stride, *x3 = x2 + batch->stride;
    const double w0 = weight_of(batch, row), w1 = weight_of(batch, row + 1), w2 = weight_of(batch, row + 2), w3 = weight_of(batch, row + 3);
    for (int64_t j = from; j < to; j++) {
        double a = (double)x0[j], b = (double)x1[j], c = (double)x2[j], d = (double)x3[j], least = low[j], most = high[j];
        double wa = w0 * a, wb = w1 * b, wc = w2 * c, wd = w3 * d;
        sum[j] = sum[j] + wa + wb + wc + wd;
        square[j] = square[j] + wa * a + wb * b + wc * c + wd * d;
        least = a < least ? a : least;
        least = b < least ? b : least;
        least = c < least ? c : least;
        low[j] = d < least ? d : least;
        most = a > most ? a : most;
        most = b > most ? b : most;
        most = c > most ? c : most;
        high[j] = d > most ? d : most;
        nonzeros[j] += (a != 0) + (b != 0) + (c != 0) + (d != 0);
    }
}

static void add_dense(const kl_columns *c, const kl_batch *batch, int64_t from, int64_t to)
{
    int64_t i = 0;
    for (; i + TOGETHER <= batch->rows; i += TOGETHER)
        add_together(c, batch, i, from, to);
    for (; i < batch->rows; i++)
        for (int64_t j = from; j < to; j++)
            add_value(c, j, weight_of(batch, i), (double)batch->dense[i * batch->stride + j]);
}

static void add_sparse(const kl_columns *c, const kl_batch *batch)
{
    for (int64_t i = 0; i < batch->rows; i++)
        for (int64_t p = batch->start[i]; p < batch->start[i + 1]; p++)
            add_value(c, batch->column[p], weight_of(batch, i), (double)batch->value[p]);
}

static void measure_together(const kl_batch *batch, int64_t row, double norm[TOGETHER])
{
    const float *x0 = batch->dense + row * batch->stride, *x1 = x0 + batch->stride, *x2 = x1 + batch->stride, *x3 = x2 + batch->stride;
    double a = 0, b = 0, c = 0, d = 0;
    for (int64_t j = 0; j < batch->columns; j++) {
        a += (double)x0[j] * (double)x0[j];
        b += (double)x1[j] * (double)x1[j];
        c += (double)x2[j] * (double)x2[j];
        d += (double)x3[j] * (double)x3[j];
    }
    norm[0] = sqrt(a);
    norm[1] = sqrt(b);
    norm[2] = sqrt(c);
    norm[3] = sqrt(d);
}

static void measure_rows(const kl_columns *c, const kl_batch *batch, int64_t from, int64_t to)
{
    for (int64_t i = from, step; i < to; i += step) {
        step = batch->dense != NULL && i + TOGETHER <= to ? TOGETHER : 1;
        if (step == TOGETHER)
            measure_together(batch, i, c->norm + i);
        else
            c->norm[i] = kl_batch_row_norm(batch, i);
        for (int64_t r = i; r < i + step; r++)
            c->entries[r] = kl_batch_row_nonzeros(batch, r);
    }
}

/* Where part `index` of `parts` begins: whole cache lines, so that no two tasks write to one. */
static int64_t begin_of(int64_t total, int64_t index, int64_t parts)
{
    int64_t width = ((total + parts - 1) / parts + LINE - 1) / LINE * LINE;
    return index * width < total ? index * width : total;
}

static klift_status run_part(void *context, int64_t index, int worker)
{
    const job *j = context;
    int64_t part = index - j->column_tasks, columns = j->batch->columns, rows = j->batch->rows;
    unsigned mode = kl_denormals_flush();
    (void)worker;
    kl_denormals_restore(j->mode);
    if (part >= 0)
        measure_rows(j->columns, j->batch, begin_of(rows, part, j->row_tasks), begin_of(rows, part + 1, j->row_tasks));
    else if (j->batch->dense != NULL)
        add_dense(j->columns, j->batch, begin_of(columns, index, j->column_tasks), begin_of(columns, index + 1, j->column_tasks));
    else
        add_sparse(j->columns, j->batch);
    kl_denormals_restore(mode);
    return KLIFT_OK;
}

klift_status kl_columns_add(kl_columns *columns, const kl_batch *batch, klift_run *run)
{
    bool dense = batch->dense != NULL;
    if (batch->rows == 0)
        return KLIFT_OK;
    int64_t work = dense ? batch->rows * batch->columns : batch->start[batch->rows] - batch->start[0];
    int64_t parts = work < LEAST_WORK ? 1 : kl_run_threads(run);
    KL_TRY(kl_grow(&columns->norm, &columns->norm_room, 0, batch->rows, sizeof *columns->norm, "the survey"));
    KL_TRY(kl_grow(&columns->entries, &columns->entries_room, 0, batch->rows, sizeof *columns->entries, "the survey"));
    job j = {.columns = columns, .batch = batch, .column_tasks = dense ? parts : 1, .row_tasks = parts, .mode = kl_denormals_flush()};
    kl_denormals_restore(j.mode); /* looked at only */
    if (parts > 1)
        return kl_run_parallel(run, j.column_tasks + j.row_tasks, run_part, &j);
    KL_TRY(run_part(&j, 0, 0));
    return run_part(&j, 1, 0);
}

void kl_columns_clear(kl_columns *columns)
{
    kl_free(columns->sum);
    kl_free(columns->square);
    kl_free(columns->low);
    kl_free(columns->high);
    kl_free(columns->nonzeros);
    kl_free(columns->norm);
    kl_free(columns->entries);
    *columns = (kl_columns){0};
}
