/* engine_products.c - products, tiles, Cholesky and Walsh-Hadamard transforms against OpenBLAS, FFHT and what registers allow. */
#include "race.h"

#include "base/memory.h"
#include "math/hadamard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- products ---- */

static void our_product(job *j)
{
    kl_product_dense(&j->panels, j->m, j->a, j->k, &(kl_product_out){.out = j->c, .stride = j->n}, j->scratch);
}

void their_product(job *j)
{
    bench.peer.sgemm(PEER_ROW_MAJOR, PEER_NO_TRANS, PEER_TRANS, (int)j->m, (int)j->n, (int)j->k, 1, j->a, (int)j->k, j->b, (int)j->k, 0, j->c, (int)j->n);
}

double product_work(const job *j)
{
    return 2e-9 * (double)j->m * (double)j->n * (double)j->k;
}

/* Bytes of a thread, whole pages: no two write to one line. */
int64_t scratch_of(int64_t k)
{
    return (kl_product_scratch(k) + 4095) / 4096 * 4096;
}

/* Numbers for a product of m rows and n weights of k columns. */
job product_of(int64_t m, int64_t n, int64_t k)
{
    job j = {.m = m, .n = n, .k = k, .a = bench_numbers(m * k), .b = bench_numbers(n * k), .c = bench_numbers(m * n), .run = bench.two};
    j.scratch = bench_numbers(2 * scratch_of(k) / 4); /* of two threads */
    check(kl_panels_new(&j.panels, n, k));
    for (int64_t r = 0; r < n; r++)
        for (int64_t p = 0; p < k; p++)
            *kl_panels_at(&j.panels, r, p) = j.b[r * k + p];
    return j;
}

void clear_product(job *j)
{
    kl_panels_clear(&j->panels);
    free(j->a);
    free(j->b);
    free(j->c);
    free(j->scratch);
}

void products(void)
{
    static const int64_t lengths[] = {54, 123, 256, 784};
    bench.peer.set_threads(1);
    for (int i = 0; i < 4; i++) {
        job j = product_of(250, 2048, lengths[i]);
        char name[64];
        snprintf(name, sizeof name, "product 250 x %lld x 2048, 1 thread", (long long)j.k);
        print(name, race(our_product, their_product, NULL, &j), (goal){0.9, "sgemm", "sgemm1", product_work(&j)}, 1);
        clear_product(&j);
    }
}

/* ---- tiles ---- */

static void our_tiles(job *j)
{
    kl_tile_rows all = j->rows;
    for (int64_t from = 0; from < all.count; from += KL_TILES_ROWS) {
        j->rows.index = all.index + from;
        j->rows.count = KL_TILES_ROWS;
        for (int64_t s = 0; s < j->tiles.count; s++)
            kl_tiles_pack(&j->tiles, &j->rows, s, j->scratch);
        for (int64_t s = 0; s < j->tiles.count; s++)
            for (int64_t t = 0; t < s; t++)
                for (int half = 0; half < 2; half++)
                    kl_tiles_update(&j->tiles, s, t, half, &j->rows, j->scratch);
    }
    j->rows = all;
}

static void their_tiles(job *j)
{
    for (int64_t s = 0; s < j->tiles.count; s++)
        for (int64_t t = 0; t < s; t++)
            bench.peer.sgemm(PEER_ROW_MAJOR, PEER_TRANS, PEER_NO_TRANS, 512, 512, (int)j->m, 1, j->a + 512 * s, (int)j->n, j->a + 512 * t, (int)j->n, 0, j->c, 512);
}

void tile(void)
{
    job j = {.m = bench_quick() ? KL_TILES_ROWS : 4096, .n = 4096};
    int32_t *index = malloc((size_t)j.m * sizeof *index);
    float *shift = calloc((size_t)j.n, sizeof *shift);
    char name[64];
    if (index == NULL || shift == NULL)
        exit(6);
    for (int64_t i = 0; i < j.m; i++)
        index[i] = (int32_t)i;
    j.a = bench_numbers(j.m * j.n);
    j.c = bench_numbers(512 * 512);
    check(kl_tiles_new(&j.tiles, j.n, j.run));
    j.scratch = bench_numbers(kl_tiles_packed(&j.tiles, KL_TILES_ROWS) / 4);
    j.rows = (kl_tile_rows){j.a, j.n, j.m, index, shift, NULL};
    bench.peer.set_threads(1);
    snprintf(name, sizeof name, "28 tiles of 512 x 512 x %lld, 1 thread", (long long)j.m);
    print(name, race(our_tiles, their_tiles, NULL, &j), (goal){0.9, "sgemm", "sgemm1", 28 * 2e-9 * 512 * 512 * (double)j.m}, 1);
    kl_tiles_clear(&j.tiles);
    free(j.a);
    free(j.c);
    free(j.scratch);
    free(index);
    free(shift);
}

/* ---- Cholesky ---- */

static void our_factor(job *j)
{
    int64_t failed;
    check(kl_tiles_factor(&j->tiles, bench.two, &failed));
    if (failed >= 0)
        exit(1);
}

static void their_factor(job *j)
{
    int n = (int)j->n, info;
    bench.peer.dpotrf("U", &n, j->square, &n, &info); /* of the row-major lower triangle */
    if (info != 0)
        exit(1);
}

static void restore(job *j)
{
    memcpy(j->tiles.value, j->copy.value, (size_t)kl_tiles_bytes(j->n));
    memcpy(j->square, j->kept, (size_t)(j->n * j->n) * sizeof *j->kept);
}

void factor(int64_t size)
{
    job j = {.n = size};
    double n = (double)size;
    char name[64];
    j.square = malloc((size_t)(size * size) * sizeof(double));
    j.kept = malloc((size_t)(size * size) * sizeof(double));
    if (j.square == NULL || j.kept == NULL)
        exit(6);
    check(kl_tiles_new(&j.tiles, size, j.run));
    check(kl_tiles_new(&j.copy, size, j.run));
    for (int64_t r = 0; r < size; r++)
        for (int64_t c = 0; c <= r; c++) {
            double v = r == c ? 2 + n * 1e-4 : exp(-(double)(r - c) * 0.01);
            j.kept[r * size + c] = j.kept[c * size + r] = v;
            kl_tiles_at(&j.copy, r / j.copy.edge, c / j.copy.edge)[r % j.copy.edge * j.copy.edge + c % j.copy.edge] = v;
        }
    bench.peer.set_threads(2);
    snprintf(name, sizeof name, "Cholesky %lld, float64", (long long)size);
    /* One operation of float64 counts as two of float32. */
    print(name, race(our_factor, their_factor, restore, &j), (goal){1 / 1.3, "dpotrf", "sgemm", 2 * n * n * n / 3 * 1e-9}, 1);
    kl_tiles_clear(&j.tiles);
    kl_tiles_clear(&j.copy);
    free(j.square);
    free(j.kept);
}

/* ---- Walsh-Hadamard ---- */

enum { TRANSFORMED = 4096 }; /* values at least that transforms go over in turns, as over the rows of a map: the next one need not wait for the last */

/* Of zeros, which stay zeros: an addition takes its time whatever is added, and no number grows out of range. */
static void our_transforms(job *j)
{
    for (int64_t i = 0; i < j->m; i++)
        kl_hadamard(j->n, NULL, j->a + i * j->n % TRANSFORMED);
}

/* As many additions as the transforms have, n log2 n each: the ratio of times is the share of the peak. */
static void bare_additions(job *j)
{
    limits_add(j->m * j->n * j->k);
}

static void their_transforms(job *j)
{
    for (int64_t i = 0; i < j->m; i++)
        bench.peer.fht(j->a + i * j->n % TRANSFORMED, (int)j->k);
}

void transforms(void)
{
    for (int log = 6; log <= 16; log++) {
        job j = {.m = INT64_C(1) << ((bench_quick() ? 19 : 22) - log), .n = INT64_C(1) << log, .k = log};
        char name[64];
        bool middle = log >= 8 && log <= 14;
        j.a = bench_memory(j.n + TRANSFORMED);
        memset(j.a, 0, (size_t)(j.n + TRANSFORMED) * sizeof *j.a);
        snprintf(name, sizeof name, "Walsh-Hadamard 2^%d, share of the add peak", log);
        print(name, race(our_transforms, bare_additions, NULL, &j), (goal){middle ? 0.45 : 0.35, "at the peak", "additions", 1e-9 * (double)(j.m * j.n * j.k)},
              j.m);
        if (bench.peer.fht != NULL) {
            snprintf(name, sizeof name, "Walsh-Hadamard 2^%d against FFHT, 1 thread", log);
            print(name, race(our_transforms, their_transforms, NULL, &j), (goal){middle ? 1.5 : 1, "FFHT", "additions", 1e-9 * (double)(j.m * j.n * j.k)}, j.m);
        }
        free(j.a);
    }
}
