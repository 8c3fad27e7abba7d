/*
 * similarity.c - k(x, S) for rows x and landmarks S. Kernels of distances or products: one float32 product per tile and the
 * kernel while the tile is in the first cache. Distances are taken about the landmarks' mean c,
 *   |x-s|^2 = |x-c|^2 + |s-c|^2 - 2 <x-c, s-c>
 * and, for kernels so steep that rounding shows, from the differences where they are below 4 % of the norms: for any
 * width of the kernel the error of k stays near 1e-6. Sparse landmarks have no c, and sparse rows keep their zeros. Other kernels: coordinate by coordinate.
 */
#include "map/similarity.h"

#include "base/memory.h"
#include "math/decay.h"

#include <math.h>
#include <string.h>

enum { PANEL = KL_KERNEL_PANEL, WIDEST = KL_PRODUCT_COLUMNS };

static const double near = 0.04, tolerated = 2e-6;

/* Whether the rounding of squared distances shows in this kernel: what a last digit of the norms does to it at the
 * smallest distances, where a kernel is steepest. */
static bool is_steep(const kl_similarity *s)
{
    enum { STEPS = 40 };
    double norm = 0, at[2 * STEPS], k[2 * STEPS], worst = 0;
    for (int64_t i = 0; i < s->landmarks.rows.rows; i++)
        norm = norm > 2 * s->centred[i] ? norm : 2 * s->centred[i];
    for (int i = 0; i < STEPS; i++) {
        at[i] = i == 0 ? 0 : ldexp(near * norm, i - STEPS + 1);
        at[STEPS + i] = at[i] + ldexp(norm, -23);
    }
    s->kernel->type->of_distances(s->kernel, 2 * STEPS, at, k);
    for (int i = 0; i < STEPS; i++)
        worst = fmax(worst, fabs(k[i] - k[STEPS + i]));
    return !(worst <= tolerated);
}

static klift_status make_products(kl_similarity *s)
{
    const kl_batch *rows = &s->landmarks.rows;
    double *row = NULL;
    klift_status status;
    KL_GO(kl_new(&row, s->columns, sizeof *row, "landmarks"));
    if (s->kernel->type->of_distances != NULL && rows->dense != NULL) {
        KL_GO(kl_new(&s->centre, s->columns, sizeof *s->centre, "landmarks"));
        for (int64_t i = 0; i < rows->rows; i++)
            for (int64_t p = 0; p < s->columns; p++)
                row[p] += (double)rows->dense[i * rows->stride + p] / (double)rows->rows;
        for (int64_t p = 0; p < s->columns; p++)
            s->centre[p] = (float)row[p];
    }
    KL_GO(kl_new(&s->centred, rows->rows, sizeof *s->centred, "landmarks"));
    KL_GO(kl_panels_new(&s->products, rows->rows, s->columns));
    for (int64_t i = 0; i < rows->rows; i++) {
        kl_batch_row_doubles(rows, i, s->columns, row);
        for (int64_t p = 0; p < s->columns; p++) {
            row[p] = (double)((float)row[p] - (s->centre != NULL ? s->centre[p] : 0.0f)); /* as a row that equals it */
            s->centred[i] += row[p] * row[p];
        }
        kl_panels_set(&s->products, i, row);
    }
    s->rate = s->kernel->type->decay != NULL ? s->kernel->type->decay(s->kernel) : 0;
    s->near = s->kernel->type->of_distances != NULL && is_steep(s) ? near : 0;
done:
    kl_free(row);
    return status;
}

static klift_status make_panels(kl_similarity *s)
{
    int64_t count = s->landmarks.rows.rows, panels = (count + PANEL - 1) / PANEL, size;
    if (kl_multiply(panels * PANEL, s->columns, &size))
        return kl_fail(KLIFT_MEMORY, "%lld landmarks of %lld columns are too many", (long long)count, (long long)s->columns);
    KL_TRY(kl_new(&s->panel, size, sizeof *s->panel, "landmarks"));
    for (int64_t q = 0; q < panels; q++)
        kl_block_panel(&s->landmarks.rows, q * PANEL, s->columns, s->panel + q * PANEL * s->columns);
    return KLIFT_OK;
}

klift_status kl_similarity_make(kl_similarity *s, const kl_kernel *kernel, const kl_batch *landmarks, int64_t columns)
{
    *s = (kl_similarity){.kernel = kernel, .columns = columns};
    KL_TRY(kl_new(&s->norm, landmarks->rows, sizeof *s->norm, "landmarks"));
    kl_block_norms(landmarks, s->norm);
    s->landmarks = (kl_side){*landmarks, s->norm};
    return kl_block_has_products(kernel) ? make_products(s) : make_panels(s);
}

int64_t kl_similarity_bytes(const kl_kernel *kernel, int64_t count, int64_t columns)
{
    int64_t numbers = 2 * count * (int64_t)sizeof(double) + columns * (int64_t)sizeof(float), size;
    if (kl_block_has_products(kernel))
        return kl_panels_bytes(count, columns) + numbers;
    return kl_multiply((count + PANEL - 1) / PANEL * PANEL * (int64_t)sizeof(float), columns, &size) ? INT64_MAX / 2 : size + numbers;
}

static int64_t centred_floats(const kl_similarity *s, int64_t rows)
{
    return s->centre != NULL ? (rows * s->columns + 15) / 16 * 16 : 0;
}

int64_t kl_similarity_scratch(const kl_similarity *s, int64_t rows)
{
    if (s->panel != NULL)
        return 2 * s->columns * (int64_t)sizeof(double);
    return rows * (int64_t)sizeof(double) + centred_floats(s, rows) * (int64_t)sizeof(float) + kl_product_scratch(s->columns);
}

typedef struct taking {
    const kl_similarity *s;
    const kl_batch *x;
    const double *norm; /* (rows) of x - c */
    float *k;
} taking;

/* Where a distance is so small that its product lost too much, once more from the differences: those of a row, in one go. */
static void mend(const taking *t, int64_t row, int64_t column, int64_t count, const float *sums, float *out)
{
    const kl_similarity *s = t->s;
    double xx = t->norm[row], v[WIDEST];
    int place[WIDEST], close = 0;
    v[0] = 0; /* compilers do not know that one is close */
    for (int j = 0; j < (int)count; j++) {
        double all = xx + s->centred[column + j];
        place[close] = j;
        close += all - 2 * (double)sums[j] < s->near * all;
    }
    for (int c = 0; c < close; c++)
        v[c] = kl_block_distance(t->x, row, &s->landmarks.rows, column + place[c], false);
    s->kernel->type->of_distances(s->kernel, close, v, v);
    for (int c = 0; c < close; c++)
        out[place[c]] = (float)v[c];
}

/* Products of one row with some landmarks become kernel values. */
static void take(const void *context, int64_t row, int64_t column, int64_t count, const float *sums)
{
    const taking *t = context;
    const kl_similarity *s = t->s;
    const double *norm = s->centred + column;
    double v[WIDEST], xx = t->norm[row];
    bool close = false;
    v[0] = 0; /* compilers do not know that there is a column */
    float *out = t->k + row * s->landmarks.rows.rows + column;
    if (s->rate > 0) {
        if (kl_decay(count, sums, xx, norm, s->rate, s->near, out))
            mend(t, row, column, count, sums, out);
        return;
    }
    if (s->kernel->type->of_distances != NULL) {
        for (int64_t j = 0; j < count; j++) {
            v[j] = xx + norm[j] - 2 * (double)sums[j];
            close |= v[j] < s->near * (xx + norm[j]);
        }
        s->kernel->type->of_distances(s->kernel, count, v, v);
    } else {
        for (int64_t j = 0; j < count; j++)
            v[j] = (double)sums[j];
        s->kernel->type->of_products(s->kernel, count, v, xx, s->norm + column, v);
    }
    for (int64_t j = 0; j < count; j++)
        out[j] = (float)v[j];
    if (close)
        mend(t, row, column, count, sums, out);
}

/* x - c, zeros filled in, and the squared norms of that. */
static void centre_rows(const kl_similarity *s, const kl_batch *x, float *out, double *norm)
{
    for (int64_t i = 0; i < x->rows; i++, out += s->columns) {
        double sum = 0;
        memset(out, 0, (size_t)s->columns * sizeof *out);
        if (x->dense != NULL)
            memcpy(out, x->dense + i * x->stride, (size_t)s->columns * sizeof *out);
        else
            for (int64_t p = x->start[i]; p < x->start[i + 1]; p++)
                out[x->column[p]] = x->value[p];
        for (int64_t p = 0; p < s->columns; p++) {
            out[p] -= s->centre[p];
            sum += (double)out[p] * (double)out[p];
        }
        norm[i] = sum;
    }
}

static void apply_products(const kl_similarity *s, const kl_batch *x, float *k, void *scratch)
{
    double *norm = scratch;
    float *centred = (float *)(norm + x->rows), *behind = centred + centred_floats(s, x->rows);
    taking t = {.s = s, .x = x, .norm = norm, .k = k};
    const kl_product_out to = {.take = take, .context = &t};
    if (s->centre != NULL) {
        centre_rows(s, x, centred, norm);
        kl_product_dense(&s->products, x->rows, centred, s->columns, &to, behind);
        return;
    }
    kl_block_norms(x, norm);
    if (x->dense != NULL)
        kl_product_dense(&s->products, x->rows, x->dense, x->stride, &to, behind);
    else
        kl_product_sparse(&s->products, x->rows, x->start, x->column, x->value, &to);
}

static void apply_panels(const kl_similarity *s, const kl_batch *x, float *k, void *scratch)
{
    int64_t count = s->landmarks.rows.rows;
    double *row = scratch, *work = row + s->columns, v[PANEL];
    for (int64_t i = 0; i < x->rows; i++) {
        kl_batch_row_doubles(x, i, s->columns, row);
        for (int64_t first = 0; first < count; first += PANEL) {
            kl_block_of_panel(s->kernel, s->columns, row, s->panel + first * s->columns, work, v);
            for (int64_t w = 0; w < PANEL && first + w < count; w++)
                k[i * count + first + w] = (float)v[w];
        }
    }
}

void kl_similarity_apply(const kl_similarity *s, const kl_batch *x, float *k, void *scratch)
{
    if (s->panel != NULL)
        apply_panels(s, x, k, scratch);
    else
        apply_products(s, x, k, scratch);
}

int64_t kl_similarity_exact_scratch(const kl_similarity *s, int64_t rows)
{
    return rows * (int64_t)sizeof(double) + kl_block_scratch(s->kernel, rows, s->landmarks.rows.rows, s->columns);
}

void kl_similarity_exact(const kl_similarity *s, const kl_batch *x, double *k, void *scratch)
{
    double *norm = scratch;
    kl_side side = {*x, norm};
    kl_block_norms(x, norm);
    kl_block_values(s->kernel, &side, &s->landmarks, s->columns, k, s->landmarks.rows.rows, norm + x->rows);
}

void kl_similarity_clear(kl_similarity *s)
{
    kl_free(s->norm);
    kl_free(s->centre);
    kl_free(s->centred);
    kl_free(s->panel);
    kl_panels_clear(&s->products);
    *s = (kl_similarity){0};
}
