/*
 * whitening.c - z = L^-1 k, L L' = K_SS + j mean(K_ii) I. Factored and inverted in float64. Applied in float32 with
 * j = 1e-6 (rounding of k and L^-1 is multiplied by up to 1/sqrt(j)), or in float64 with j = 1e-13 where exactness is the
 * point. L^-1 is triangular: panels as deep as their last column save almost half of the product.
 */
#include "map/whitening.h"

#include "base/memory.h"
#include "math/product64.h"

#include <math.h>
#include <string.h>

enum { CARRY = 64, TILES = 8, LEAST = 128 };

/* ---- K_SS, its factor and inverse ---- */

typedef struct filling {
    const kl_kernel *kernel;
    const kl_side *landmarks;
    int64_t columns;
    kl_tiles *tiles;
    unsigned char *scratch;
    int64_t scratch_bytes;
} filling;

static kl_side part(const kl_side *side, int64_t first, int64_t most)
{
    int64_t left = side->rows.rows - first;
    return (kl_side){kl_batch_part(&side->rows, first, left < most ? left : most), side->norm + first};
}

static klift_status fill_tile(void *context, int64_t index, int worker)
{
    const filling *f = context;
    int64_t edge = f->tiles->edge, i = 0;
    while ((i + 1) * (i + 2) / 2 <= index)
        i++;
    int64_t j = index - i * (i + 1) / 2;
    kl_side x = part(f->landmarks, i * edge, edge), y = part(f->landmarks, j * edge, edge);
    kl_block_values(f->kernel, &x, &y, f->columns, kl_tiles_at(f->tiles, i, j), edge, f->scratch + worker * f->scratch_bytes);
    return KLIFT_OK;
}

static klift_status fill(filling *f, klift_run *run)
{
    int64_t edge = f->tiles->edge, count = f->tiles->count;
    f->scratch_bytes = (kl_block_scratch(f->kernel, edge, edge, f->columns) + 63) / 64 * 64;
    KL_TRY(kl_new(&f->scratch, kl_run_threads(run) * f->scratch_bytes, 1, "kernel values"));
    klift_status status = kl_run_parallel(run, count * (count + 1) / 2, fill_tile, f);
    kl_free(f->scratch);
    return status;
}

double kl_whitening_largest(const kl_kernel *kernel, int64_t n)
{
    return kernel->type->indefinite && n > 10 ? 0.1 * (double)n : 1;
}

/* Adds to the diagonal and factors; K_SS is made again when that fails, since the factor has overwritten it. */
static klift_status factor(filling *f, double *jitter, klift_run *run)
{
    double most = kl_whitening_largest(f->kernel, f->tiles->n);
    for (;; *jitter *= 10) {
        double mean = 0;
        int64_t failed, edge = f->tiles->edge, n = f->tiles->n;
        KL_TRY(fill(f, run));
        for (int64_t i = 0; i < n; i++)
            mean += kl_tiles_get(f->tiles, i, i) / (double)n;
        for (int64_t i = 0; i < n; i++)
            kl_tiles_at(f->tiles, i / edge, i / edge)[i % edge * edge + i % edge] += *jitter * mean;
        KL_TRY(kl_tiles_factor(f->tiles, run, &failed));
        if (failed < 0)
            return KLIFT_OK;
        memset(f->tiles->value, 0, (size_t)(f->tiles->count * (f->tiles->count + 1) / 2 * edge * edge) * sizeof *f->tiles->value);
        if (*jitter * 10 > most || !(mean > 0))
            return kl_fail(KLIFT_DATA, "kernel %s is not positive on the landmarks (landmark %lld): nystrom needs a positive definite kernel", f->kernel->type->name, (long long)failed);
    }
}

/* Some tiles on a side keep all threads at it; a tile much smaller than KL_TILE would be packed as long as it is multiplied. */
static int64_t edge_for(int64_t n)
{
    int64_t edge = LEAST;
    while (edge < KL_TILE && edge * TILES < n)
        edge *= 2;
    return edge;
}

/* L^-1 in float32. */
static void round_rows(const kl_tiles *inverse, kl_panels *panels)
{
    int64_t edge = inverse->edge;
    for (int64_t i = 0; i < inverse->n; i++)
        for (int64_t from = 0; from <= i; from += edge) {
            const double *row = kl_tiles_at(inverse, i / edge, from / edge) + i % edge * edge;
            float *to = kl_panels_at(panels, i, from);
            for (int64_t c = 0; c < edge && from + c <= i; c++)
                to[c * panels->width] = (float)row[c];
        }
}

klift_status kl_whitening_make(kl_whitening *w, const kl_kernel *kernel, const kl_side *landmarks, int64_t columns, double jitter, bool exact, klift_run *run)
{
    kl_tiles l = {0}, inverse = {0};
    filling f = {.kernel = kernel, .landmarks = landmarks, .columns = columns, .tiles = &l};
    klift_status status;
    *w = (kl_whitening){.n = landmarks->rows.rows, .exact = exact, .jitter = jitter};
    KL_GO(kl_tiles_new_of(&l, w->n, exact ? KL_TILE : edge_for(w->n), run));
    KL_GO(factor(&f, &w->jitter, run));
    KL_GO(kl_tiles_invert(&l, run, &inverse));
    if (exact) {
        w->tiles = inverse;
        inverse = (kl_tiles){0};
        goto done;
    }
    KL_GO(kl_panels_new_lower(&w->panels, w->n));
    round_rows(&inverse, &w->panels);
done:
    kl_run_scratch_drop(run, KL_SCRATCH_FACTOR);
    kl_tiles_clear(&l);
    kl_tiles_clear(&inverse);
    return status;
}

int64_t kl_whitening_bytes(int64_t n, bool exact)
{
    return exact ? kl_tiles_bytes(n) : kl_panels_lower_bytes(n);
}

int64_t kl_whitening_scratch(const kl_whitening *w, int64_t rows)
{
    if (!w->exact)
        return kl_product_scratch(w->n);
    return rows * w->tiles.edge * (int64_t)sizeof(double) + kl_product64_scratch(rows, w->tiles.edge);
}

void kl_whitening_apply(const kl_whitening *w, int64_t rows, const float *k, float *z, int64_t stride, void *scratch)
{
    const kl_product_out to = {.out = z, .stride = stride};
    kl_product_dense(&w->panels, rows, k, w->n, &to, scratch);
}

void kl_whitening_apply_exact(const kl_whitening *w, int64_t rows, const double *k, float *z, int64_t stride, void *scratch)
{
    int64_t edge = w->tiles.edge;
    double *sum = scratch, *behind = sum + rows * edge;
    for (int64_t i = 0; i < w->tiles.count; i++) {
        int64_t here = w->n - i * edge < edge ? w->n - i * edge : edge;
        memset(sum, 0, (size_t)(rows * edge) * sizeof *sum);
        for (int64_t j = 0; j <= i; j++) {
            int64_t deep = w->n - j * edge < edge ? w->n - j * edge : edge;
            kl_product64((kl_matrix64){k + j * edge, rows, w->n}, (kl_matrix64){kl_tiles_at(&w->tiles, i, j), here, edge}, deep, 1, sum, edge, behind);
        }
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < here; c++)
                z[r * stride + i * edge + c] = (float)sum[r * edge + c];
    }
}

/* Row i of L^-1, i + 1 numbers: as they are, and of either kind in float64. */
static void copy_floats(const kl_whitening *w, int64_t i, float *row)
{
    const float *from = kl_panels_at(&w->panels, i, 0);
    for (int64_t j = 0; j <= i; j++)
        row[j] = from[j * w->panels.width];
}

static void copy_row(const kl_whitening *w, int64_t i, double *row)
{
    const float *from = w->exact ? NULL : kl_panels_at(&w->panels, i, 0);
    for (int64_t j = 0; j <= i; j++)
        row[j] = w->exact ? kl_tiles_get(&w->tiles, i, j) : (double)from[j * w->panels.width];
}

int64_t kl_whitening_carry_steps(const kl_whitening *w)
{
    return CARRY + (w->n + CARRY - 1) / CARRY;
}

/* In parts of some rows, so that no sum has many steps. */
klift_status kl_whitening_carry(const kl_whitening *w, int64_t outputs, const double *weights, const double *most, double *out, double *sum)
{
    double *row = NULL, *part = NULL;
    klift_status status;
    KL_GO(kl_new(&row, w->n, sizeof *row, "the whitening"));
    KL_GO(kl_new(&part, outputs * w->n, sizeof *part, "the whitening"));
    memset(out, 0, (size_t)(outputs * w->n) * sizeof *out);
    memset(sum, 0, (size_t)outputs * sizeof *sum);
    for (int64_t i = 0; i < w->n; i++) {
        bool last = (i + 1) % CARRY == 0 || i + 1 == w->n;
        double whole = 0;
        copy_row(w, i, row);
        for (int64_t j = 0; j <= i; j++)
            whole += fabs(row[j]) * most[j];
        for (int64_t o = 0; o < outputs; o++) {
            double factor = weights[o * w->n + i], *here = part + o * w->n, *to = out + o * w->n;
            sum[o] += fabs(factor) * whole;
            for (int64_t j = 0; j <= i; j++)
                here[j] += factor * row[j];
            for (int64_t j = 0; last && j <= i; j++) {
                to[j] += here[j];
                here[j] = 0;
            }
        }
    }
done:
    kl_free(row);
    kl_free(part);
    return status;
}

/* Row by row below the diagonal: half the room, and independent of how panels and tiles are cut. */
void kl_whitening_save(const kl_whitening *w, kl_record_writer *to)
{
    void *row = NULL;
    to->failed = to->failed || kl_new(&row, w->n, sizeof(double), "the whitening") != KLIFT_OK;
    kl_record_put_f64(to, w->jitter);
    for (int64_t i = 0; i < w->n && !to->failed; i++) {
        if (w->exact) {
            copy_row(w, i, row);
            kl_record_put_doubles(to, row, i + 1);
        } else {
            copy_floats(w, i, row);
            kl_record_put_floats(to, row, i + 1);
        }
    }
    kl_free(row);
}

static klift_status load_row(kl_whitening *w, int64_t i, kl_record_reader *from)
{
    float *single = NULL;
    double *wide = NULL;
    klift_status status = w->exact ? kl_record_get_doubles(from, &wide, i + 1) : kl_record_get_floats(from, &single, i + 1);
    int64_t edge = w->tiles.edge;
    for (int64_t j = 0; j <= i && status == KLIFT_OK; j++)
        if (w->exact)
            kl_tiles_at(&w->tiles, i / edge, j / edge)[i % edge * edge + j % edge] = wide[j];
        else
            *kl_panels_at(&w->panels, i, j) = single[j];
    kl_free(single);
    kl_free(wide);
    return status;
}

klift_status kl_whitening_load(kl_whitening *w, int64_t n, bool exact, kl_record_reader *from)
{
    int64_t bytes = n * (n + 1) / 2 * (int64_t)(exact ? sizeof(double) : sizeof(float));
    *w = (kl_whitening){.n = n, .exact = exact};
    if (bytes > from->end - from->at) /* before anything of that size is taken */
        return kl_record_damaged("the whitening of the landmarks is cut off");
    KL_TRY(kl_record_get_f64(from, &w->jitter));
    KL_TRY(exact ? kl_tiles_new(&w->tiles, n, NULL) : kl_panels_new_lower(&w->panels, n));
    for (int64_t i = 0; i < n; i++)
        KL_TRY(load_row(w, i, from));
    return KLIFT_OK;
}

void kl_whitening_clear(kl_whitening *w)
{
    kl_panels_clear(&w->panels);
    kl_tiles_clear(&w->tiles);
    *w = (kl_whitening){0};
}
