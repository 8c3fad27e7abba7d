/*
 * bench_engine.c - klift's inner work against OpenBLAS at the right core, interleaved in one process, medians.
 * usage: bench_engine [ROUNDS [product|tile|factor|map|statistics|threads|transform]]
 *            one JSON object per line: {name, ratio, goal, reached, klift, peer, spread, seconds, amount, limit}
 *        bench_engine limits                             what the machine can do (limits.h)
 *        bench_engine training ROWS COLUMNS FEATURES     seconds of the bare products that a training needs
 * ratio = peer's time / klift's, its median and quartiles over at least ROUNDS (5) rounds, more until it is known to 2 %; two threads where
 * not said otherwise. amount: what klift did in so many seconds, in units of the limit it is held against. KLIFT_FFHT=libffht.so adds the
 * transforms against FFHT (peers.h has how it is built). KLIFT_BENCH_QUICK=1: small sizes, three rounds.
 */
#define _GNU_SOURCE
#include "limits.h"
#include "peers.h"

#include "base/memory.h"
#include "base/run.h"
#include "learn/statistics.h"
#include "math/hadamard.h"
#include "math/product.h"
#include "math/tiles.h"

#include <klift.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int least = 5;
static peers peer;
static klift_run *two, *one; /* runs of two threads and of one */

typedef struct job {
    int64_t m, n, k;
    float *a, *b, *c, *fresh;
    kl_panels panels;
    void *scratch;
    kl_tiles tiles, copy;
    kl_tile_rows rows;
    kl_statistics statistics;
    klift_batch labelled;
    double *square, *kept;
    klift_run *run;
    klift_map *map;
    float *z, *kernel;
} job;

/* ---- races ---- */

enum { MOST_ROUNDS = 40 };

typedef struct result {
    double ratio, first, third; /* the peer's time over klift's: median and quartiles */
    double ours, theirs;        /* median seconds */
} result;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted values, between neighbours where need be. */
static double quantile(int count, const double *x, double share)
{
    double at = share * (count - 1);
    int i = (int)at;
    return i + 1 < count ? x[i] + (at - i) * (x[i + 1] - x[i]) : x[i];
}

static double seconds_of(void (*work)(job *), void (*again)(job *), job *j, int repeats)
{
    if (work == NULL)
        return 0;
    if (again != NULL)
        again(j);
    double start = bench_now();
    for (int i = 0; i < repeats; i++)
        work(j);
    return (bench_now() - start) / repeats;
}

/* Two pieces of work in turns after a round that does not count; again is called before each, untimed. Short ones are repeated within a
 * round. The ratio is that of neighbours, which a busy machine disturbs least; it is known to 2 % when the standard error of its median is
 * below that, taken from the quartiles. */
static result race(void (*ours)(job *), void (*theirs)(job *), void (*again)(job *), job *j)
{
    double took[2][MOST_ROUNDS], ratio[MOST_ROUNDS], start = bench_now();
    double first = seconds_of(ours, again, j, 1), other = seconds_of(theirs, again, j, 1), shorter = theirs != NULL ? fmin(first, other) : first;
    int count = 0, repeats = again != NULL || shorter > 0.01 ? 1 : (int)(0.01 / shorter) + 1, fewest = bench_quick() ? 3 : least;
    result r = {0};
    for (bool known = false; count < fewest || (!known && !bench_quick() && count < MOST_ROUNDS);) {
        bench_rest();
        took[0][count] = seconds_of(ours, again, j, repeats);
        bench_rest();
        took[1][count] = seconds_of(theirs, again, j, repeats);
        count++;
        for (int i = 0; i < count; i++)
            ratio[i] = took[1][i] / took[0][i];
        qsort(ratio, (size_t)count, sizeof *ratio, ascending);
        r = (result){quantile(count, ratio, 0.5), quantile(count, ratio, 0.25), quantile(count, ratio, 0.75), 0, 0};
        known = 0.93 * (r.third - r.first) / sqrt(count) <= 0.02 * r.ratio;
        if (bench_now() - start > 20 && count >= 3)
            break;
    }
    for (int i = 0; i < 2; i++)
        qsort(took[i], (size_t)count, sizeof **took, ascending);
    r.ours = quantile(count, took[0], 0.5);
    r.theirs = quantile(count, took[1], 0.5);
    return r;
}

static const char *in_units(double seconds, char text[32])
{
    if (seconds < 1e-6)
        snprintf(text, 32, "%.3g ns", seconds * 1e9);
    else if (seconds < 1e-3)
        snprintf(text, 32, "%.3g us", seconds * 1e6);
    else
        snprintf(text, 32, seconds < 1 ? "%.3g ms" : "%.3g s", seconds < 1 ? seconds * 1e3 : seconds);
    return text;
}

/* What a row is held against. amount: GFLOP, GB or 10^9 additions of one piece of work. */
typedef struct goal {
    double least;
    const char *against, *limit;
    double amount;
} goal;

/* pieces: of work in what was timed, as times are shown. */
static void print(const char *name, result r, goal g, int64_t pieces)
{
    char ours[32], theirs[32];
    printf("{\"name\": \"%s\", \"ratio\": %.4f, \"goal\": %.4f, \"reached\": %s, \"spread\": [%.4f, %.4f]", name, r.ratio, g.least,
           r.ratio >= g.least ? "true" : "false", r.first, r.third);
    printf(", \"klift\": \"%s\", \"peer\": \"%s %s\"", in_units(r.ours / (double)pieces, ours), in_units(r.theirs / (double)pieces, theirs), g.against);
    if (g.limit != NULL)
        printf(", \"seconds\": %.9g, \"amount\": %.9g, \"limit\": \"%s\"", r.ours, g.amount, g.limit);
    printf("}\n");
    fflush(stdout);
}

static void fail(void)
{
    fprintf(stderr, "bench_engine: %s\n", klift_error());
    exit(1);
}

static void check(klift_status status)
{
    if (status != KLIFT_OK)
        fail();
}

/* ---- products ---- */

static void our_product(job *j)
{
    kl_product_dense(&j->panels, j->m, j->a, j->k, &(kl_product_out){.out = j->c, .stride = j->n}, j->scratch);
}

static void their_product(job *j)
{
    peer.sgemm(PEER_ROW_MAJOR, PEER_NO_TRANS, PEER_TRANS, (int)j->m, (int)j->n, (int)j->k, 1, j->a, (int)j->k, j->b, (int)j->k, 0, j->c, (int)j->n);
}

static double product_work(const job *j)
{
    return 2e-9 * (double)j->m * (double)j->n * (double)j->k;
}

/* Bytes of a thread, whole pages: no two write to one line. */
static int64_t scratch_of(int64_t k)
{
    return (kl_product_scratch(k) + 4095) / 4096 * 4096;
}

/* Numbers for a product of m rows and n weights of k columns. */
static job product_of(int64_t m, int64_t n, int64_t k)
{
    job j = {.m = m, .n = n, .k = k, .a = bench_numbers(m * k), .b = bench_numbers(n * k), .c = bench_numbers(m * n), .run = two};
    j.scratch = bench_numbers(2 * scratch_of(k) / 4); /* of two threads */
    check(kl_panels_new(&j.panels, n, k));
    for (int64_t r = 0; r < n; r++)
        for (int64_t p = 0; p < k; p++)
            *kl_panels_at(&j.panels, r, p) = j.b[r * k + p];
    return j;
}

static void clear_product(job *j)
{
    kl_panels_clear(&j->panels);
    free(j->a);
    free(j->b);
    free(j->c);
    free(j->scratch);
}

static void products(void)
{
    static const int64_t lengths[] = {54, 123, 256, 784};
    peer.set_threads(1);
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
                kl_tiles_update(&j->tiles, s, t, KL_TILES_ROWS, j->scratch);
    }
    j->rows = all;
}

static void their_tiles(job *j)
{
    for (int64_t s = 0; s < j->tiles.count; s++)
        for (int64_t t = 0; t < s; t++)
            peer.sgemm(PEER_ROW_MAJOR, PEER_TRANS, PEER_NO_TRANS, 512, 512, (int)j->m, 1, j->a + 512 * s, (int)j->n, j->a + 512 * t, (int)j->n, 0, j->c, 512);
}

static void tile(void)
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
    check(kl_tiles_new(&j.tiles, j.n));
    j.scratch = bench_numbers(kl_tiles_packed(&j.tiles, KL_TILES_ROWS) / 4);
    j.rows = (kl_tile_rows){j.a, j.n, j.m, index, shift, NULL};
    peer.set_threads(1);
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
    check(kl_tiles_factor(&j->tiles, two, &failed));
    if (failed >= 0)
        exit(1);
}

static void their_factor(job *j)
{
    int n = (int)j->n, info;
    peer.dpotrf("U", &n, j->square, &n, &info); /* of the row-major lower triangle */
    if (info != 0)
        exit(1);
}

static void restore(job *j)
{
    memcpy(j->tiles.value, j->copy.value, (size_t)kl_tiles_bytes(j->n));
    memcpy(j->square, j->kept, (size_t)(j->n * j->n) * sizeof *j->kept);
}

static void factor(int64_t size)
{
    job j = {.n = size};
    double n = (double)size;
    char name[64];
    j.square = malloc((size_t)(size * size) * sizeof(double));
    j.kept = malloc((size_t)(size * size) * sizeof(double));
    if (j.square == NULL || j.kept == NULL)
        exit(6);
    check(kl_tiles_new(&j.tiles, size));
    check(kl_tiles_new(&j.copy, size));
    for (int64_t r = 0; r < size; r++)
        for (int64_t c = 0; c <= r; c++) {
            double v = r == c ? 2 + n * 1e-4 : exp(-(double)(r - c) * 0.01);
            j.kept[r * size + c] = j.kept[c * size + r] = v;
            kl_tiles_at(&j.copy, r / j.copy.edge, c / j.copy.edge)[r % j.copy.edge * j.copy.edge + c % j.copy.edge] = v;
        }
    peer.set_threads(2);
    snprintf(name, sizeof name, "Cholesky %lld, float64", (long long)size);
    /* One operation of float64 counts as two of float32. */
    print(name, race(our_factor, their_factor, restore, &j), (goal){1 / 1.3, "dpotrf", "sgemm", 2 * n * n * n / 3 * 1e-9}, 1);
    kl_tiles_clear(&j.tiles);
    kl_tiles_clear(&j.copy);
    free(j.square);
    free(j.kept);
}

/* ---- maps ---- */

static void our_map(job *j)
{
    klift_batch x = {.size = sizeof x, .rows = j->m, .columns = j->k, .dense = j->a, .stride = j->k};
    check(klift_map_apply(j->map, &x, j->z, 2 * j->n, j->run));
}

static void with_one_thread(job *j, void (*work)(job *))
{
    klift_run *run = j->run;
    j->run = one;
    work(j);
    j->run = run;
}

static void one_thread_map(job *j)
{
    with_one_thread(j, our_map);
}

/* Both outputs on huge pages, which nobody has touched: their first touch is a part of the work, their end is not. */
static void forget(job *j)
{
    free(j->fresh);
    j->fresh = NULL;
}

static void our_fresh_map(job *j)
{
    float *reused = j->z;
    j->z = j->fresh = bench_memory(j->m * j->n * 2);
    our_map(j);
    j->z = reused;
}

static void their_fresh_product(job *j)
{
    float *reused = j->c;
    j->c = j->fresh = bench_memory(j->m * j->n);
    their_product(j);
    j->c = reused;
}

static klift_map *map_of(const char *name, int64_t dim, int64_t features, klift_data *data)
{
    klift_spec *spec;
    klift_map *map;
    char text[32];
    check(klift_spec_new(&spec));
    check(klift_spec_set(spec, "map", name));
    check(klift_spec_set(spec, "kernel", "gaussian:gamma=0.01"));
    snprintf(text, sizeof text, "%lld", (long long)dim);
    check(klift_spec_set(spec, "dim", text));
    snprintf(text, sizeof text, "%lld", (long long)features);
    check(klift_spec_set(spec, "features", text));
    check(klift_map_fit(spec, data, two, &map));
    klift_spec_free(spec);
    return map;
}

/* The products nystrom cannot do without: rows with landmarks, and what comes of them with L^-1. */
static void two_products(job *j)
{
    their_product(j);
    peer.sgemm(PEER_ROW_MAJOR, PEER_NO_TRANS, PEER_TRANS, (int)j->m, (int)j->n, (int)j->n, 1, j->c, (int)j->n, j->kernel, (int)j->n, 0, j->z, (int)j->n);
}

static void landmarks(job *j, const char *shape)
{
    klift_batch rows = {.size = sizeof rows, .rows = j->m, .columns = j->k, .dense = j->a, .stride = j->k};
    klift_data *data;
    char name[96];
    check(klift_data_view(&rows, &data));
    j->n = bench_quick() ? 256 : j->n;
    double start = bench_now();
    j->map = map_of("nystrom", j->k, j->n, data);
    fprintf(stderr, "nystrom: %lld landmarks of %lld rows chosen and whitened in %.2f s\n", (long long)j->n, (long long)j->m, bench_now() - start);
    j->kernel = bench_numbers(j->n * j->n);
    snprintf(name, sizeof name, "nystrom %s -> %lld, reused buffer", shape, (long long)j->n);
    print(name, race(our_map, two_products, NULL, j), (goal){1 / 1.5, "two bare sgemm", "sgemm", product_work(j) + 2e-9 * (double)(j->m * j->n) * (double)j->n},
          1);
    free(j->kernel);
    klift_data_free(data);
    klift_map_free(j->map);
}

/* What the rows of maps and threads begin with: 10,000 x 784 -> 4096, pairs of cosine and sine. */
static job map_work(char shape[32])
{
    job j = product_of(bench_quick() ? 500 : 10000, 2048, 784);
    j.z = bench_numbers(j.m * j.n * 2);
    snprintf(shape, 32, "%s x %lld", bench_quick() ? "500" : "10,000", (long long)j.k);
    return j;
}

static void maps(void)
{
    char shape[32], name[96];
    job j = map_work(shape);
    goal bare = {1, "bare sgemm", "sgemm", product_work(&j)};
    j.map = map_of("fourier", j.k, 2 * j.n, NULL);
    peer.set_threads(2);
    snprintf(name, sizeof name, "fourier %s -> 4096, reused buffer", shape);
    print(name, race(our_map, their_product, NULL, &j), bare, 1);
    bare.least = 1 / 1.1;
    snprintf(name, sizeof name, "fourier %s -> 4096, fresh memory for both", shape);
    print(name, race(our_fresh_map, their_fresh_product, forget, &j), bare, 1);
    forget(&j);
    klift_map_free(j.map);
    landmarks(&j, shape);
    free(j.z);
    clear_product(&j);
}

/* ---- the statistics of ridge ---- */

static void our_statistics(job *j)
{
    check(kl_statistics_consume(&j->statistics, j->z, j->n, j->m, j->run));
}

static void one_thread_statistics(job *j)
{
    with_one_thread(j, our_statistics);
}

static void their_statistics(job *j)
{
    peer.ssyrk(PEER_ROW_MAJOR, PEER_LOWER, PEER_TRANS, (int)j->n, (int)j->m, 1, j->z, (int)j->n, 0, j->c, (int)j->n);
}

/* The labels of the next block, where the last one is consumed. */
static void observe(job *j)
{
    if (j->statistics.targets.count == 0)
        check(kl_statistics_observe(&j->statistics, &j->labelled));
}

/* threads: two against one, otherwise against ssyrk. */
static void statistics_of(int folds, bool threads)
{
    static const char *const classes[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    job j = {.m = 4096, .n = bench_quick() ? 1024 : 4096, .run = two};
    const char **label = malloc((size_t)j.m * sizeof *label);
    char name[96];
    if (label == NULL)
        exit(6);
    for (int64_t i = 0; i < j.m; i++)
        label[i] = classes[i * 7 % 10];
    j.z = bench_numbers(j.m * j.n);
    j.c = bench_numbers(j.n * j.n);
    j.labelled = (klift_batch){.size = sizeof j.labelled, .rows = j.m, .columns = 16, .dense = j.z, .stride = j.n, .label = label};
    check(kl_statistics_begin(&j.statistics, KL_CLASSIFY, j.n, folds, folds, 1));
    goal g = {folds == 1 ? 1 / 1.12 : 0, "bare ssyrk", "sgemm", 1e-9 * (double)(j.n * j.n) * (double)j.m};
    peer.set_threads(2);
    if (threads) {
        snprintf(name, sizeof name, "ridge statistics, %lld features, 2 threads against 1", (long long)j.n);
        g.least = 1.85;
        g.against = "1 thread";
    } else
        snprintf(name, sizeof name, "ridge statistics, %lld features, blocks of 4096 rows%s", (long long)j.n, folds > 1 ? ", 5 folds" : "");
    print(name, race(our_statistics, threads ? one_thread_statistics : their_statistics, observe, &j), g, 1);
    kl_statistics_clear(&j.statistics);
    free(j.z);
    free(j.c);
    free(label);
}

/* ---- two threads ---- */

enum { ROWS_OF_TASK = 250 };

static klift_status product_task(void *context, int64_t index, int worker)
{
    job *j = context;
    int64_t first = index * ROWS_OF_TASK, rows = j->m - first < ROWS_OF_TASK ? j->m - first : ROWS_OF_TASK;
    kl_product_dense(&j->panels, rows, j->a + first * j->k, j->k, &(kl_product_out){.out = j->c + first * j->n, .stride = j->n},
                     (char *)j->scratch + worker * scratch_of(j->k));
    return KLIFT_OK;
}

static void pool_product(job *j)
{
    check(kl_run_parallel(j->run, (j->m + ROWS_OF_TASK - 1) / ROWS_OF_TASK, product_task, j));
}

static void one_thread_product(job *j)
{
    with_one_thread(j, pool_product);
}

static void threads(void)
{
    static const char *const names[] = {"fourier", "orthogonal"};
    char shape[32], name[96];
    job j = map_work(shape);
    goal twice = {1.85, "1 thread", "sgemm", product_work(&j)};
    snprintf(name, sizeof name, "product %s x %lld, 2 threads against 1", shape, (long long)j.n);
    print(name, race(pool_product, one_thread_product, NULL, &j), twice, 1);
    for (int i = 0; i < 2; i++) {
        j.map = map_of(names[i], j.k, 2 * j.n, NULL);
        snprintf(name, sizeof name, "%s %s -> 4096, 2 threads against 1", names[i], shape);
        goal g = i == 0 ? twice : (goal){1.85, "1 thread", "write", 4e-9 * (double)(j.m * j.n * 2)};
        print(name, race(our_map, one_thread_map, NULL, &j), g, 1);
        klift_map_free(j.map);
    }
    statistics_of(1, true);
    free(j.z);
    clear_product(&j);
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
        peer.fht(j->a + i * j->n % TRANSFORMED, (int)j->k);
}

static void transforms(void)
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
        if (peer.fht != NULL) {
            snprintf(name, sizeof name, "Walsh-Hadamard 2^%d against FFHT, 1 thread", log);
            print(name, race(our_transforms, their_transforms, NULL, &j), (goal){middle ? 1.5 : 1, "FFHT", "additions", 1e-9 * (double)(j.m * j.n * j.k)}, j.m);
        }
        free(j.a);
    }
}

/* ---- training ---- */

/* The bare sgemm and ssyrk of all rows, which a training of that shape cannot do without. */
static int training(int64_t rows, int64_t columns, int64_t features)
{
    job j = {.m = rows, .n = features / 2, .k = columns};
    j.a = bench_numbers(rows * columns);
    j.b = bench_numbers(j.n * columns);
    j.z = bench_numbers(rows * features);
    j.c = bench_numbers(rows * j.n > features * features ? rows * j.n : features * features);
    peer.set_threads(2);
    double product = 1e300, square = 1e300;
    for (int r = 0; r < 2; r++) {
        j.n = features / 2;
        product = fmin(product, seconds_of(their_product, NULL, &j, 1));
        j.n = features;
        square = fmin(square, seconds_of(their_statistics, NULL, &j, 1));
    }
    printf("%.4f %.4f %s\n", product, square, peer.core);
    return 0;
}

static bool wanted(int argc, char **argv, const char *part)
{
    return argc < 3 || strcmp(argv[2], part) == 0;
}

static klift_run *run_of(const char *threads)
{
    klift_run *run;
    check(klift_run_new(&run));
    check(klift_run_set(run, "threads", threads));
    return run;
}

int main(int argc, char **argv)
{
    const char *missing = peers_load(&peer);
    if (missing != NULL) {
        fprintf(stderr, "bench_engine: %s\n", missing);
        return 1;
    }
    if (argc == 5)
        return training(atoll(argv[2]), atoll(argv[3]), atoll(argv[4]));
    two = run_of("2");
    one = run_of("1");
    if (argc == 2 && strcmp(argv[1], "limits") == 0)
        return limits_print(&peer, two);
    least = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : least;
    least = least < MOST_ROUNDS ? least : MOST_ROUNDS;
    fprintf(stderr, "OpenBLAS core %s\n", peer.core);
    if (wanted(argc, argv, "product"))
        products();
    if (wanted(argc, argv, "tile"))
        tile();
    for (int64_t size = 4096; wanted(argc, argv, "factor") && size <= 8192; size *= 2)
        factor(bench_quick() ? size / 8 : size);
    if (wanted(argc, argv, "map"))
        maps();
    for (int folds = 1; wanted(argc, argv, "statistics") && folds <= 5; folds += 4)
        statistics_of(folds, false);
    if (wanted(argc, argv, "threads"))
        threads();
    if (wanted(argc, argv, "transform"))
        transforms();
    klift_run_free(two);
    klift_run_free(one);
    return 0;
}
