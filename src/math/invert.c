/*
 * invert.c - W = L^-1 over tiles, one column of tiles a task:
 *   W_jj = L_jj^-1,  W_ij = -L_ii^-1 sum_(j <= k < i) L_ik W_kj
 * Tiles are kept transposed while their column is made, so that both products are rows by rows (product64.h).
 */
#include "math/tiles.h"

#include "base/memory.h"
#include "math/product64.h"

#include <string.h>

typedef struct work {
    const kl_tiles *l;
    kl_tiles *w;
    double *diagonal;       /* (count, edge, edge): inverses of the diagonal tiles */
    unsigned char *scratch; /* per worker: a column of tiles, one more, and the product's */
    int64_t scratch_bytes;
} work;

/* d (edge, edge) = l^-1, zero above the diagonal: row r = (e_r - sum_(k < r) l_rk d_k) / l_rr */
static klift_status invert_diagonal(void *context, int64_t index, int worker)
{
    const work *w = context;
    int64_t edge = w->l->edge;
    const double *l = kl_tiles_at(w->l, index, index);
    double *d = w->diagonal + index * edge * edge;
    (void)worker;
    for (int64_t r = 0; r < edge; r++) {
        double *row = d + r * edge;
        memset(row, 0, (size_t)edge * sizeof *row);
        row[r] = 1;
        for (int64_t k = 0; k < r; k++)
            for (int64_t c = 0; c <= k; c++)
                row[c] -= l[r * edge + k] * d[k * edge + c];
        for (int64_t c = 0; c <= r; c++)
            row[c] /= l[r * edge + r];
    }
    return KLIFT_OK;
}

static void transpose(int64_t edge, const double *from, double *to)
{
    for (int64_t r = 0; r < edge; r++)
        for (int64_t c = 0; c < edge; c++)
            to[c * edge + r] = from[r * edge + c];
}

static klift_status invert_column(void *context, int64_t j, int worker)
{
    const work *w = context;
    int64_t edge = w->l->edge, size = edge * edge, count = w->l->count;
    double *column = (double *)(void *)(w->scratch + worker * w->scratch_bytes), *sum = column + count * size; /* column: W_kj' for k >= j */
    void *scratch = sum + size;
    transpose(edge, w->diagonal + j * size, column);
    memcpy(kl_tiles_at(w->w, j, j), w->diagonal + j * size, (size_t)size * sizeof *sum);
    for (int64_t i = j + 1; i < count; i++) {
        double *out = column + (i - j) * size;
        memset(sum, 0, (size_t)size * sizeof *sum);
        memset(out, 0, (size_t)size * sizeof *out);
        for (int64_t k = j; k < i; k++)
            kl_product64((kl_matrix64){column + (k - j) * size, edge, edge}, (kl_matrix64){kl_tiles_at(w->l, i, k), edge, edge}, edge, 1, sum, edge, scratch);
        kl_product64((kl_matrix64){sum, edge, edge}, (kl_matrix64){w->diagonal + i * size, edge, edge}, edge, -1, out, edge, scratch);
        transpose(edge, out, kl_tiles_at(w->w, i, j));
    }
    return KLIFT_OK;
}

klift_status kl_tiles_invert(const kl_tiles *l, klift_run *run, kl_tiles *w)
{
    int64_t size = l->edge * l->edge;
    work k = {.l = l, .w = w, .scratch_bytes = (l->count + 1) * size * (int64_t)sizeof(double) + (kl_product64_scratch(l->edge, l->edge) + 63) / 64 * 64};
    klift_status status;
    KL_TRY(kl_tiles_new_of(w, l->n, l->edge, run));
    KL_GO(kl_new_bare(&k.diagonal, l->count * size, sizeof *k.diagonal, "an inverse"));
    KL_GO(kl_new_bare(&k.scratch, kl_run_threads(run) * k.scratch_bytes, 1, "an inverse"));
    KL_GO(kl_run_parallel(run, l->count, invert_diagonal, &k));
    status = kl_run_parallel(run, l->count, invert_column, &k);
done:
    kl_free(k.diagonal);
    kl_free(k.scratch);
    if (status != KLIFT_OK)
        kl_tiles_clear(w);
    return status;
}
