/*
 * pivoted.c - randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2023) in rounds (Epperly, Tropp and Webber
 * 2024): F (rows, t) with F F' ~ K; a pivot is drawn with the probability of its residual d = diag(K - F F').
 *   round: KL_LANDMARKS_ROUND rows are drawn from the d of its start; row i is taken when u d_i < its residual by then,
 *          H = K(round, round) - F F' with those taken before it eliminated, which leaves the law of the pivots unchanged;
 *          the columns of those taken are made together: G = K(:, S) - F F_S', F := [F, G R^-T], R R' = H_SS
 * so that F is read once a round, not once a pivot; it is kept in the panels in which products read it. When the residuals are below 1 % of the trace, those of outliers are most
 * of them: from then on rows are drawn evenly among those not explained yet. It ends when sum d <= 1e-12 trace K.
 */
#include "map/landmarks.h"

#include "base/memory.h"
#include "math/micro.h"
#include "math/product64.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256, ROUND = KL_LANDMARKS_ROUND, GROUP = KL_MICRO_GROUP, WHOLE = 16 }; /* rows of a chunk, a round, and those divided at once; WHOLE: panels of any table */

static const double negligible = 1e-12, nearly_all = 0.01;

typedef struct work {
    const kl_kernel *kernel;
    kl_side sample;
    int64_t columns, wanted, taken;
    double *f;        /* (rows / height, wanted, height) */
    int64_t height;   /* of a left operand's panel */
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
    double *right;    /* the same of those taken, as a right operand */
    double h[ROUND * ROUND], column[ROUND * ROUND], r[ROUND * ROUND]; /* column: those eliminated from h; r: R */
    unsigned char *scratch;
    int64_t scratch_bytes;
} work;

int64_t kl_landmarks_bytes(int64_t rows, int64_t wanted)
{
    int64_t bytes;
    if (kl_multiply(rows + WHOLE + 2 * ROUND, (wanted < rows ? wanted : rows) * (int64_t)sizeof(double), &bytes))
        return INT64_MAX;
    return bytes;
}

static int64_t chunk_scratch(const work *w)
{
    int64_t block = kl_block_scratch(w->kernel, CHUNK, ROUND, w->columns), product = kl_product64_scratch(ROUND, ROUND);
    return CHUNK * ROUND * (int64_t)sizeof(double) + ((block > product ? block : product) + 63) / 64 * 64;
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

/* The first number of a row of f; the next ones are `height` apart. */
static double *row_of(const work *w, int64_t row)
{
    return w->f + row / w->height * w->height * w->wanted + row % w->height;
}

/* Copies the rows of the round to where they are contiguous. */
static klift_status gather(work *w, int64_t count)
{
    kl_rows_empty(&w->rows);
    for (int64_t l = 0; l < count; l++) {
        KL_TRY(kl_rows_add(&w->rows, &w->sample.rows, w->proposal[l], 1));
        w->norm[l] = w->sample.norm[w->proposal[l]];
    }
    return KLIFT_OK;
}

static klift_status gather_factor(void *context, int64_t l, int worker)
{
    work *w = context;
    const double *from = row_of(w, w->proposal[l]);
    double *to = w->f_rows + l * w->wanted;
    (void)worker;
    for (int64_t p = 0; p < w->taken; p++)
        to[p] = from[p * w->height];
    return KLIFT_OK;
}

/* What a row is drawn by, its residual being d. */
static double weight(const work *w, double d)
{
    return w->even ? (d > w->smallest ? 1 : 0) : d;
}

/* Draws a round and its residual matrix H. */
static klift_status propose(work *w, const double *u, klift_run *run)
{
    double sum = 0;
    for (int64_t i = 0; i < w->sample.rows.rows; i++)
        w->sum[i] = sum += weight(w, w->residual[i]);
    for (int l = 0; l < ROUND; l++)
        w->proposal[l] = draw_row(w, u[2 * l]);
    KL_TRY(gather(w, ROUND));
    KL_TRY(kl_run_parallel(run, ROUND, gather_factor, w));
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
        double left = w->h[l * ROUND + l], *column = w->column + w->accepted * ROUND;
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
    for (int64_t a = 0; a < w->accepted; a++) {
        for (int64_t b = 0; b <= a; b++)
            w->r[a * ROUND + b] = w->column[b * ROUND + at[a]];
        w->proposal[a] = w->proposal[at[a]];
        if (at[a] > a)
            memcpy(w->f_rows + a * w->wanted, w->f_rows + at[a] * w->wanted, (size_t)w->taken * sizeof *w->f_rows);
    }
}

/* A group of rows of f gets its new columns, R^-1 g of g (rows, ROUND); what they leave of the residuals. */
static void divide(work *w, int64_t first, int64_t count, const double *g)
{
    double x[ROUND * GROUP], squares[GROUP] = {0};
    for (int64_t a = 0; a < w->accepted; a++)
        for (int64_t r = 0; r < GROUP; r++)
            x[a * GROUP + r] = r < count ? g[r * ROUND + a] : 0;
    kl_micro_get()->forward64(w->accepted, w->r, ROUND, x);
    for (int64_t a = 0; a < w->accepted; a++)
        for (int64_t r = 0; r < GROUP; r++)
            squares[r] += x[a * GROUP + r] * x[a * GROUP + r];
    for (int64_t r = 0; r < count; r++)
        w->residual[first + r] = fmax(0, w->residual[first + r] - squares[r]);
    for (int64_t r = 0; r < GROUP; r++) { /* of rows that are missing, zeros */
        double *to = row_of(w, first + r) + w->taken * w->height;
        for (int64_t a = 0; a < w->accepted; a++)
            to[a * w->height] = x[a * GROUP + r];
    }
}

/* The new columns of f for one chunk of rows, and what they leave of the residuals. */
static klift_status extend_chunk(void *context, int64_t index, int worker)
{
    work *w = context;
    int64_t first = index * CHUNK, left = w->sample.rows.rows - first, count = left < CHUNK ? left : CHUNK;
    kl_side rows = {kl_batch_part(&w->sample.rows, first, count), w->sample.norm + first}, new = {kl_rows_view(&w->rows), w->norm};
    double *g = (double *)(void *)(w->scratch + worker * w->scratch_bytes);
    kl_block_values(w->kernel, &rows, &new, w->columns, g, ROUND, g + CHUNK * ROUND);
    kl_product64_packed((kl_packed64){w->f + first * w->wanted, count, w->wanted}, (kl_packed64){w->right, w->accepted, w->taken}, w->taken, -1, g, ROUND);
    for (int64_t i = 0; i < count; i += GROUP)
        divide(w, first + i, count - i < GROUP ? count - i : GROUP, g + i * ROUND);
    return KLIFT_OK;
}

static klift_status extend(work *w, klift_run *run, kl_landmarks *chosen)
{
    KL_TRY(gather(w, w->accepted));
    kl_product64_pack((kl_matrix64){w->f_rows, w->accepted, w->wanted}, w->taken, w->right);
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
    *w = (work){.kernel = kernel, .columns = columns, .wanted = most, .height = kl_micro_get()->left64};
    w->scratch_bytes = chunk_scratch(w);
    KL_GO(kl_new_bare(&w->f, (rows + WHOLE - 1) / WHOLE * WHOLE * most, sizeof *w->f, "the factor of the landmarks"));
    KL_GO(kl_new(&w->f_rows, ROUND * most, sizeof *w->f_rows, "landmarks"));
    KL_GO(kl_new(&w->right, ROUND * most, sizeof *w->right, "landmarks"));
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
        KL_GO(propose(w, u, run));
        choose(w, u);
        KL_GO(extend(w, run, chosen));
        chosen->error = left_over(w);
        KL_GO(kl_run_progress(run, "landmarks", w->taken, most, NAN));
    }
done:
    if (w != NULL) {
        kl_free(w->f);
        kl_free(w->f_rows);
        kl_free(w->right);
        kl_free(w->residual);
        kl_free(w->sum);
        kl_free(w->scratch);
        kl_rows_clear(&w->rows);
    }
    kl_free(w);
    kl_free(norm);
    return status;
}
