/*
 * bench_engine.c - klift's inner work against OpenBLAS at the right core, interleaved in one process, medians.
 * usage: bench_engine [ROUNDS [product|tile|factor|map|transform]]
 *            one JSON object per line: {name, ratio, goal, reached, klift, peer}
 *        bench_engine training ROWS COLUMNS FEATURES     seconds of the bare products that a training needs
 * ratio = peer's time / klift's, or klift's share of a limit; two threads where not said otherwise. KLIFT_FFHT=libffht.so adds
 * the transforms against FFHT (peers.h has how it is built).
 */
#define _GNU_SOURCE
#include "peers.h"

#include "base/memory.h"
#include "base/run.h"
#include "math/hadamard.h"
#include "math/product.h"
#include "math/tiles.h"

#include <klift.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static int rounds = 7;
static peers peer;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* As numpy allocates: large arrays on huge pages. */
static float *numbers(int64_t count)
{
    enum { HUGE_PAGE = 1 << 21 };
    size_t bytes = (size_t)((count * 4 + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    float *x = aligned_alloc(HUGE_PAGE, bytes);
    madvise(x, bytes, MADV_HUGEPAGE);
    uint32_t s = 12345;
    for (int64_t i = 0; i < count; i++) {
        s = s * 1664525u + 1013904223u;
        x[i] = (float)(s >> 8) * 0x1p-24f - 0.5f;
    }
    return x;
}

typedef struct job {
    int64_t m, n, k;
    float *a, *b, *c;
    kl_panels panels;
    void *scratch;
    kl_tiles tiles, copy;
    kl_tile_rows rows;
    double *square, *kept;
    klift_run *run;
    klift_map *map;
    float *z, *kernel;
} job;

enum { MOST_ROUNDS = 1000 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int count, double *x)
{
    qsort(x, (size_t)count, sizeof *x, ascending);
    return x[count / 2];
}

/* Two pieces of work in turns: median seconds of each, and the median ratio of neighbours, which a busy machine disturbs least. */
static double race(void (*ours)(job *), void (*theirs)(job *), void (*again)(job *), job *j, double *a, double *b)
{
    static double took[2][MOST_ROUNDS], ratio[MOST_ROUNDS];
    int count = rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS;
    for (int r = 0; r < count; r++) {
        void (*work[2])(job *) = {ours, theirs};
        for (int i = 0; i < 2; i++) {
            if (work[i] == NULL)
                continue;
            if (again != NULL)
                again(j);
            double start = now();
            work[i](j);
            took[i][r] = now() - start;
        }
        ratio[r] = took[1][r] / took[0][r];
    }
    *a = median(count, took[0]);
    *b = median(count, took[1]);
    return median(count, ratio);
}

static void print(const char *name, double ratio, double goal, const char *klift, double ours, const char *other, double theirs)
{
    printf("{\"name\": \"%s\", \"ratio\": %.3f, \"goal\": %g, \"reached\": %s, \"klift\": \"%.4g %s\", \"peer\": \"%.4g %s\"}\n", name, ratio, goal,
           ratio >= goal ? "true" : "false", ours, klift, theirs, other);
    fflush(stdout);
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

static void products(void)
{
    static const int64_t lengths[] = {54, 123, 256, 784};
    peer.set_threads(1);
    for (int i = 0; i < 4; i++) {
        job j = {.m = 250, .n = 2048, .k = lengths[i]};
        double ratio, ours, theirs, work = 2.0 * (double)(j.m * j.n * j.k) * 1e-9;
        char name[64];
        j.a = numbers(j.m * j.k);
        j.b = numbers(j.n * j.k);
        j.c = numbers(j.m * j.n);
        j.scratch = numbers(kl_product_scratch(j.k) / 4);
        if (kl_panels_new(&j.panels, j.n, j.k) != KLIFT_OK)
            exit(1);
        for (int64_t r = 0; r < j.n; r++)
            for (int64_t p = 0; p < j.k; p++)
                *kl_panels_at(&j.panels, r, p) = j.b[r * j.k + p];
        rounds *= 8;
        ratio = race(our_product, their_product, NULL, &j, &ours, &theirs);
        rounds /= 8;
        snprintf(name, sizeof name, "product 250 x %lld x 2048, 1 thread", (long long)j.k);
        print(name, ratio, 0.9, "GFLOP/s", work / ours, "GFLOP/s", work / theirs);
        kl_panels_clear(&j.panels);
        free(j.a);
        free(j.b);
        free(j.c);
        free(j.scratch);
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
    job j = {.m = 4096, .n = 4096};
    double ratio, ours, theirs, work = 28 * 2.0 * 512 * 512 * (double)j.m * 1e-9;
    int32_t *index = malloc((size_t)j.m * sizeof *index);
    float *shift = calloc((size_t)j.n, sizeof *shift);
    for (int64_t i = 0; i < j.m; i++)
        index[i] = (int32_t)i;
    j.a = numbers(j.m * j.n);
    j.c = numbers(512 * 512);
    if (kl_tiles_new(&j.tiles, j.n) != KLIFT_OK)
        exit(1);
    j.scratch = numbers(kl_tiles_packed(&j.tiles, KL_TILES_ROWS) / 4);
    j.rows = (kl_tile_rows){j.a, j.n, j.m, index, shift, NULL};
    peer.set_threads(1);
    ratio = race(our_tiles, their_tiles, NULL, &j, &ours, &theirs);
    print("28 tiles of 512 x 512 x 4096, 1 thread", ratio, 0.9, "GFLOP/s", work / ours, "GFLOP/s", work / theirs);
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
    if (kl_tiles_factor(&j->tiles, j->run, &failed) != KLIFT_OK || failed >= 0)
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

static void factors(klift_run *run)
{
    static const int64_t sizes[] = {4096, 8192};
    peer.set_threads(2);
    for (int i = 0; i < 2; i++) {
        job j = {.n = sizes[i], .run = run};
        double ratio, ours, theirs, n = (double)j.n, work = n * n * n / 3 * 1e-9;
        char name[64];
        j.square = malloc((size_t)(j.n * j.n) * sizeof(double));
        j.kept = malloc((size_t)(j.n * j.n) * sizeof(double));
        if (kl_tiles_new(&j.tiles, j.n) != KLIFT_OK || kl_tiles_new(&j.copy, j.n) != KLIFT_OK)
            exit(1);
        for (int64_t r = 0; r < j.n; r++)
            for (int64_t c = 0; c <= r; c++) {
                double v = r == c ? 2 + n * 1e-4 : exp(-(double)(r - c) * 0.01);
                j.kept[r * j.n + c] = j.kept[c * j.n + r] = v;
                kl_tiles_at(&j.copy, r / j.copy.edge, c / j.copy.edge)[r % j.copy.edge * j.copy.edge + c % j.copy.edge] = v;
            }
        int all = rounds;
        rounds = i == 0 ? rounds : (rounds + 1) / 2;
        ratio = race(our_factor, their_factor, restore, &j, &ours, &theirs);
        rounds = all;
        snprintf(name, sizeof name, "Cholesky %lld, 2 threads", (long long)j.n);
        print(name, ratio, 1 / 1.3, "GFLOP/s", work / ours, "GFLOP/s (dpotrf)", work / theirs);
        kl_tiles_clear(&j.tiles);
        kl_tiles_clear(&j.copy);
        free(j.square);
        free(j.kept);
    }
}

/* ---- maps ---- */

static void our_map(job *j)
{
    klift_batch x = {.size = sizeof x, .rows = j->m, .columns = j->k, .dense = j->a, .stride = j->k};
    if (klift_map_apply(j->map, &x, j->z, 2 * j->n, j->run) != KLIFT_OK)
        exit(1);
}

static void one_thread_map(job *j)
{
    klift_run *run = j->run;
    j->run = NULL;
    our_map(j);
    j->run = run;
}

static klift_map *map_of(const char *name, int64_t dim, int64_t features, klift_data *data, klift_run *run)
{
    klift_spec *spec;
    klift_map *map;
    char text[32];
    if (klift_spec_new(&spec) != KLIFT_OK || klift_spec_set(spec, "map", name) != KLIFT_OK || klift_spec_set(spec, "kernel", "gaussian:gamma=0.01") != KLIFT_OK)
        exit(1);
    snprintf(text, sizeof text, "%lld", (long long)dim);
    klift_spec_set(spec, "dim", text);
    snprintf(text, sizeof text, "%lld", (long long)features);
    klift_spec_set(spec, "features", text);
    if (klift_map_fit(spec, data, run, &map) != KLIFT_OK) {
        fprintf(stderr, "%s\n", klift_error());
        exit(1);
    }
    klift_spec_free(spec);
    return map;
}

/* The products nystrom cannot do without: rows with landmarks, and what comes of them with L^-1. */
static void two_products(job *j)
{
    their_product(j);
    peer.sgemm(PEER_ROW_MAJOR, PEER_NO_TRANS, PEER_TRANS, (int)j->m, (int)j->n, (int)j->n, 1, j->c, (int)j->n, j->kernel, (int)j->n, 0, j->z, (int)j->n);
}

static void landmarks(job *j)
{
    klift_batch rows = {.size = sizeof rows, .rows = j->m, .columns = j->k, .dense = j->a, .stride = j->k};
    klift_data *data;
    double ratio, ours, theirs;
    if (klift_data_view(&rows, &data) != KLIFT_OK)
        exit(1);
    double start = now();
    j->map = map_of("nystrom", j->k, j->n, data, j->run);
    fprintf(stderr, "nystrom: 2048 landmarks of 10,000 rows chosen and whitened in %.2f s\n", now() - start);
    j->kernel = numbers(j->n * j->n);
    ratio = race(our_map, two_products, NULL, j, &ours, &theirs);
    print("nystrom 10,000 x 784 -> 2048 against its two bare products", ratio, 1 / 1.5, "ms", ours * 1e3, "ms", theirs * 1e3);
    free(j->kernel);
    klift_data_free(data);
    klift_map_free(j->map);
}

static void maps(klift_run *run)
{
    job j = {.m = 10000, .n = 2048, .k = 784, .run = run};
    double ratio, ours, theirs, work = 2.0 * (double)(j.m * j.n * j.k) * 1e-9;
    j.a = numbers(j.m * j.k);
    j.b = numbers(j.n * j.k);
    j.c = numbers(j.m * j.n);
    j.z = numbers(j.m * j.n * 2);
    j.map = map_of("fourier", j.k, 2 * j.n, NULL, NULL);
    peer.set_threads(2);
    ratio = race(our_map, their_product, NULL, &j, &ours, &theirs);
    print("fourier 10,000 x 784 -> 4096 against bare sgemm", ratio, 1 / 1.05, "GFLOP/s", work / ours, "GFLOP/s", work / theirs);
    ratio = race(our_map, one_thread_map, NULL, &j, &ours, &theirs);
    print("fourier, two threads against one", ratio, 1.85, "ms", ours * 1e3, "ms", theirs * 1e3);
    klift_map_free(j.map);
    j.map = map_of("orthogonal", j.k, 2 * j.n, NULL, NULL);
    ratio = race(our_map, one_thread_map, NULL, &j, &ours, &theirs);
    print("orthogonal 10,000 x 784 -> 4096, two threads against one", ratio, 1.85, "ms", ours * 1e3, "ms", theirs * 1e3);
    klift_map_free(j.map);
    landmarks(&j);
    free(j.a);
    free(j.b);
    free(j.c);
    free(j.z);
}

/* ---- Walsh-Hadamard ---- */

#if defined(__x86_64__)
typedef float lanes __attribute__((vector_size(32)));
__attribute__((target("avx2"), noinline)) static void add(int64_t count, lanes *sum)
{
    lanes a = sum[0], b = sum[1], c = sum[2], d = sum[3], e = sum[4], f = sum[5], g = sum[6], h = sum[7], one = sum[8];
    for (int64_t i = 0; i < count; i++) {
        a += one, b += one, c += one, d += one, e += one, f += one, g += one, h += one;
        __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h));
    }
    sum[0] = a + b + c + d + e + f + g + h;
}

/* Additions per second that the registers allow, in units of 10^9. */
static double add_peak(void)
{
    lanes sum[9] = {0};
    double best = 0;
    for (int r = 0; r < 20; r++) {
        double start = now();
        add(200000, sum);
        best = fmax(best, 200000 * 64 / (now() - start) * 1e-9);
    }
    return best;
}
#else
static double add_peak(void)
{
    return NAN;
}
#endif

enum { TRANSFORMED = 1 << 22 }; /* values in one measurement */

/* After transform i: values grow by 2^log each time. Only speed matters, but no infinities. */
static void tame(job *j, int64_t i)
{
    j->a[0] = j->a[0] < 1e30f ? j->a[0] : 1e-30f;
    if (i % 8 == 7)
        memset(j->a, 0, (size_t)j->n * sizeof *j->a);
}

static void our_transforms(job *j)
{
    for (int64_t i = 0; i < j->m; i++) {
        kl_hadamard(j->n, NULL, j->a);
        tame(j, i);
    }
}

static void transforms(void)
{
    for (int log = 6; log <= 16; log += log == 14 ? 2 : 1) {
        job j = {.m = TRANSFORMED >> log, .n = INT64_C(1) << log};
        double best = 1e300, peak = 0;
        char name[64];
        j.a = numbers(j.n);
        for (int r = 0; r < 3 * rounds; r++) {
            peak = fmax(peak, add_peak());
            double start = now();
            our_transforms(&j);
            best = fmin(best, (now() - start) / (double)j.m);
        }
        snprintf(name, sizeof name, "Walsh-Hadamard 2^%d, share of the add peak", log);
        double rate = (double)j.n * log / best * 1e-9;
        print(name, rate / peak, log >= 8 && log <= 14 ? 0.4 : 0.0, "Gadd/s", rate, "Gadd/s peak", peak);
        free(j.a);
    }
}

static void their_transforms(job *j)
{
    for (int64_t i = 0; i < j->m; i++) {
        peer.fht(j->a, (int)j->k);
        tame(j, i);
    }
}

static void transforms_of_peer(void)
{
    for (int log = 6; peer.fht != NULL && log <= 16; log++) {
        job j = {.m = TRANSFORMED >> log, .n = INT64_C(1) << log, .k = log};
        double ratio, ours, theirs;
        char name[64];
        j.a = numbers(j.n);
        rounds *= 8;
        ratio = race(our_transforms, their_transforms, NULL, &j, &ours, &theirs);
        rounds /= 8;
        snprintf(name, sizeof name, "Walsh-Hadamard 2^%d against FFHT, 1 thread", log);
        print(name, ratio, log >= 8 && log <= 14 ? 1.5 : 1, "ns", ours / (double)j.m * 1e9, "ns", theirs / (double)j.m * 1e9);
        free(j.a);
    }
}

/* ---- training ---- */

static void syrk(job *j)
{
    peer.ssyrk(PEER_ROW_MAJOR, PEER_LOWER, PEER_TRANS, (int)(2 * j->n), (int)j->m, 1, j->z, (int)(2 * j->n), 0, j->c, (int)(2 * j->n));
}

static int training(int64_t rows, int64_t columns, int64_t features)
{
    job j = {.m = rows, .n = features / 2, .k = columns};
    double a, b, none;
    j.a = numbers(rows * columns);
    j.b = numbers(j.n * columns);
    j.z = numbers(rows * features);
    j.c = numbers(rows * j.n > features * features ? rows * j.n : features * features);
    peer.set_threads(2);
    rounds = 2;
    race(their_product, NULL, NULL, &j, &a, &none);
    race(syrk, NULL, NULL, &j, &b, &none);
    printf("%.4f %.4f %s\n", a, b, peer.core);
    return 0;
}

static bool wanted(int argc, char **argv, const char *part)
{
    return argc < 3 || strcmp(argv[2], part) == 0;
}

int main(int argc, char **argv)
{
    klift_run *run;
    const char *missing = peers_load(&peer);
    if (missing != NULL) {
        fprintf(stderr, "bench_engine: %s\n", missing);
        return 1;
    }
    if (argc == 5)
        return training(atoll(argv[2]), atoll(argv[3]), atoll(argv[4]));
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    if (klift_run_new(&run) != KLIFT_OK || klift_run_set(run, "threads", "2") != KLIFT_OK)
        return 1;
    fprintf(stderr, "OpenBLAS core %s\n", peer.core);
    if (wanted(argc, argv, "product"))
        products();
    if (wanted(argc, argv, "tile"))
        tile();
    if (wanted(argc, argv, "factor"))
        factors(run);
    if (wanted(argc, argv, "map"))
        maps(run);
    if (wanted(argc, argv, "transform")) {
        transforms();
        transforms_of_peer();
    }
    klift_run_free(run);
    return 0;
}
