/*
 * pivoted.c - randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2023) in rounds (Epperly, Tropp and Webber
 * 2024): F (rows, t) with F F' ~ K; a pivot is drawn with the probability of its residual d = diag(K - F F').
 *   round: KL_LANDMARKS_ROUND rows are drawn from the d of its start; row i is taken when u d_i < its residual by then,
 *          H = K(round, round) - F F' with those taken before it eliminated, which leaves the law of the pivots unchanged;
 *          the columns of those taken are made together: G = K(:, S) - F F_S', F := [F, G R^-T], R R' = H_SS
 * so that F is read once a round, not once a pivot. When the residuals are below 1 % of the trace, those of outliers are most
 * of them: from then on rows are drawn evenly among those not explained yet. It ends when sum d <= 1e-12 trace K.
 */
#include "map/landmarks.h"

#include "base/memory.h"
#include "math/product64.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256, ROUND = KL_LANDMARKS_ROUND };

static const double negligible = 1e-12, nearly_all = 0.01;

typedef struct work {
    const kl_kernel *kernel;
    kl_side sample;
    int64_t columns, wanted, taken;
    double *f;        /* (rows, wanted) */
    double *residual; /* (rows) */
    double *sum;      /* (rows) running sums of residual */
    double smallest;  /* a residual that counts as none */
    bool even;        /* the residuals are small: rows are drawn evenly */
    /* of a round */
    int64_t proposal[ROUND]; /* rows of the sample; the first `accepted` after the choice are those taken */
    int64_t accepted;
    kl_rows rows;
    double norm[ROUND];
    double *f_rows;   /* (ROUND, wanted) rows of f */
    double h[ROUND * ROUND], r[ROUND * ROUND]; /* r: column b of R is its row b, (accepted, accepted) */
    unsigned char *scratch;
    int64_t scratch_bytes;
} work;

int64_t kl_landmarks_bytes(int64_t rows, int64_t wanted)
{
    int64_t bytes;
    if (kl_multiply(rows + ROUND, (wanted < rows ? wanted : rows) * (int64_t)sizeof(double), &bytes))
        return INT64_MAX;
    return bytes;
}

static int64_t chunk_scratch(const work *w)
{
    int64_t block = kl_block_scratch(w->kernel, CHUNK, ROUND, w->columns), product = kl_product64_scratch(CHUNK, ROUND);
    return ((block > product ? block : product) + 63) / 64 * 64;
}

/* A row drawn with probability residual / total: the first whose running sum is above share * total. */
static int64_t draw_row(const work *w, double share)
{
    int64_t low = 0, high = w->sample.rows.rows - 1;
    double at = share * w->sum[high];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (w->sum[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Copies the rows of the round, and those of f, to where they are contiguous. */
static klift_status gather(work *w, int64_t count)
{
    kl_rows_empty(&w->rows);
    for (int64_t l = 0; l < count; l++) {
        int64_t i = w->proposal[l];
        KL_TRY(kl_rows_add(&w->rows, &w->sample.rows, i, 1));
        w->norm[l] = w->sample.norm[i];
        memcpy(w->f_rows + l * w->wanted, w->f + i * w->wanted, (size_t)w->taken * sizeof *w->f);
    }
    return KLIFT_OK;
}

/* What a row is drawn by, its residual being d. */
static double weight(const work *w, double d)
{
    return w->even ? (d > w->smallest ? 1 : 0) : d;
}

/* Draws a round and its residual matrix H. */
static klift_status propose(work *w, const double *u)
{
    double sum = 0;
    for (int64_t i = 0; i < w->sample.rows.rows; i++)
        w->sum[i] = sum += weight(w, w->residual[i]);
    for (int l = 0; l < ROUND; l++)
        w->proposal[l] = draw_row(w, u[2 * l]);
    KL_TRY(gather(w, ROUND));
    kl_side rows = {kl_rows_view(&w->rows), w->norm};
    kl_matrix64 f = {w->f_rows, ROUND, w->wanted};
    kl_block_values(w->kernel, &rows, &rows, w->columns, w->h, ROUND, w->scratch);
    kl_product64(f, f, w->taken, -1, w->h, ROUND, w->scratch);
    return KLIFT_OK;
}

/* Takes or leaves each row of the round; those taken are eliminated from H. */
static void choose(work *w, const double *u)
{
    int64_t at[ROUND];
    w->accepted = 0;
    for (int l = 0; l < ROUND && w->taken + w->accepted < w->wanted; l++) {
        double left = w->h[l * ROUND + l], *column = w->r + w->accepted * ROUND;
        if (left <= w->smallest)
            w->residual[w->proposal[l]] = 0;
        if (left <= w->smallest || u[2 * l + 1] * weight(w, w->residual[w->proposal[l]]) >= weight(w, left))
            continue;
        for (int m = 0; m < ROUND; m++)
            column[m] = w->h[m * ROUND + l] / sqrt(left);
        for (int m = 0; m < ROUND; m++)
            for (int n = 0; n < ROUND; n++)
                w->h[m * ROUND + n] -= column[m] * column[n];
        at[w->accepted++] = l;
    }
    for (int64_t b = 0; b < w->accepted; b++)
        for (int64_t a = 0; a < w->accepted; a++)
            w->r[b * ROUND + a] = w->r[b * ROUND + at[a]];
    for (int64_t a = 0; a < w->accepted; a++)
        w->proposal[a] = w->proposal[at[a]];
}

/* g (accepted) := R^-1 g; the sum of its squares */
static double divide(const work *w, double *g)
{
    double squares = 0;
    for (int64_t b = 0; b < w->accepted; b++) {
        const double *column = w->r + b * ROUND;
        double v = g[b] /= column[b];
        for (int64_t a = b + 1; a < w->accepted; a++)
            g[a] -= column[a] * v;
        squares += v * v;
    }
    return squares;
}

/* The new columns of f for one chunk of rows, and what they leave of the residuals. */
static klift_status extend_chunk(void *context, int64_t index, int worker)
{
    work *w = context;
    int64_t first = index * CHUNK, left = w->sample.rows.rows - first, count = left < CHUNK ? left : CHUNK;
    kl_side rows = {kl_batch_part(&w->sample.rows, first, count), w->sample.norm + first}, new = {kl_rows_view(&w->rows), w->norm};
    double *f = w->f + first * w->wanted, *g = f + w->taken;
    void *scratch = w->scratch + worker * w->scratch_bytes;
    kl_block_values(w->kernel, &rows, &new, w->columns, g, w->wanted, scratch);
    kl_product64((kl_matrix64){f, count, w->wanted}, (kl_matrix64){w->f_rows, w->accepted, w->wanted}, w->taken, -1, g, w->wanted, scratch);
    for (int64_t i = 0; i < count; i++)
        w->residual[first + i] = fmax(0, w->residual[first + i] - divide(w, g + i * w->wanted));
    return KLIFT_OK;
}

static klift_status extend(work *w, klift_run *run, kl_landmarks *chosen)
{
    KL_TRY(gather(w, w->accepted));
    KL_TRY(kl_run_parallel(run, (w->sample.rows.rows + CHUNK - 1) / CHUNK, extend_chunk, w));
    for (int64_t a = 0; a < w->accepted; a++) {
        w->residual[w->proposal[a]] = 0;
        chosen->row[chosen->count++] = w->proposal[a];
    }
    w->taken += w->accepted;
    return KLIFT_OK;
}

/* Residuals of the start, K(x, x), and their sum. */
static double begin(work *w)
{
    double trace = 0;
    kl_block_diagonal(w->kernel, &w->sample, w->columns, w->residual, w->scratch);
    for (int64_t i = 0; i < w->sample.rows.rows; i++) {
        w->residual[i] = fmax(0, w->residual[i]);
        trace += w->residual[i];
    }
    w->smallest = negligible * trace / (double)w->sample.rows.rows;
    return trace;
}

static double left_over(const work *w)
{
    double sum = 0;
    for (int64_t i = 0; i < w->sample.rows.rows; i++)
        sum += w->residual[i];
    return sum;
}

klift_status kl_landmarks_pivoted(const kl_kernel *kernel, const kl_batch *sample, int64_t columns, int64_t wanted, const kl_random *from, klift_run *run, kl_landmarks *chosen)
{
    int64_t rows = sample->rows, most = wanted < rows ? wanted : rows;
    double *norm = NULL, u[2 * ROUND];
    work *w = NULL;
    klift_status status;
    KL_GO(kl_new(&w, 1, sizeof *w, "landmarks"));
    KL_GO(kl_new(&norm, rows, sizeof *norm, "landmarks"));
    *w = (work){.kernel = kernel, .columns = columns, .wanted = most};
    w->scratch_bytes = chunk_scratch(w);
    KL_GO(kl_new(&w->f, rows * most, sizeof *w->f, "the factor of the landmarks"));
    KL_GO(kl_new(&w->f_rows, ROUND * most, sizeof *w->f_rows, "landmarks"));
    KL_GO(kl_new(&w->residual, rows, sizeof *w->residual, "landmarks"));
    KL_GO(kl_new(&w->sum, rows, sizeof *w->sum, "landmarks"));
    KL_GO(kl_new(&w->scratch, w->scratch_bytes * kl_run_threads(run), 1, "landmarks"));
    KL_GO(kl_new(&chosen->row, most, sizeof *chosen->row, "landmarks"));
    kl_block_norms(sample, norm);
    w->sample = (kl_side){*sample, norm};
    chosen->trace = chosen->error = begin(w);
    for (uint32_t round = 0; w->taken < most && chosen->error > negligible * chosen->trace; round++) {
        kl_random_uniforms(from, round, 2 * ROUND, u);
        w->even = chosen->error < nearly_all * chosen->trace;
        KL_GO(propose(w, u));
        choose(w, u);
        KL_GO(extend(w, run, chosen));
        chosen->error = left_over(w);
        KL_GO(kl_run_progress(run, "landmarks", w->taken, most, NAN));
    }
done:
    if (w != NULL) {
        kl_free(w->f);
        kl_free(w->f_rows);
        kl_free(w->residual);
        kl_free(w->sum);
        kl_free(w->scratch);
        kl_rows_clear(&w->rows);
    }
    kl_free(w);
    kl_free(norm);
    return status;
}
