/* engine_maps.c - whole maps and the statistics of ridge against the bare products in them, and two threads against one. */
#define _GNU_SOURCE
#include "race.h"

#include "base/memory.h"
#include "base/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- maps ---- */

static void our_map(job *j)
{
    klift_batch x = {.size = sizeof x, .rows = j->m, .columns = j->k, .dense = j->a, .stride = j->k};
    check(klift_map_apply(j->map, &x, j->z, 2 * j->n, j->run));
}

static void with_one_thread(job *j, void (*work)(job *))
{
    klift_run *run = j->run;
    j->run = bench.one;
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
    check(klift_map_fit(spec, data, bench.two, &map));
    klift_spec_free(spec);
    return map;
}

/* The products nystrom cannot do without: rows with landmarks, and what comes of them with L^-1. */
static void two_products(job *j)
{
    their_product(j);
    bench.peer.sgemm(PEER_ROW_MAJOR, PEER_NO_TRANS, PEER_TRANS, (int)j->m, (int)j->n, (int)j->n, 1, j->c, (int)j->n, j->kernel, (int)j->n, 0, j->z, (int)j->n);
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

void maps(void)
{
    char shape[32], name[96];
    job j = map_work(shape);
    goal bare = {1, "bare sgemm", "sgemm", product_work(&j)};
    j.map = map_of("fourier", j.k, 2 * j.n, NULL);
    bench.peer.set_threads(2);
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

void their_statistics(job *j)
{
    bench.peer.ssyrk(PEER_ROW_MAJOR, PEER_LOWER, PEER_TRANS, (int)j->n, (int)j->m, 1, j->z, (int)j->n, 0, j->c, (int)j->n);
}

/* The labels of the next block, where the last one is consumed. */
static void observe(job *j)
{
    if (j->statistics.targets.count == 0)
        check(kl_statistics_observe(&j->statistics, &j->labelled));
}

/* threads: two against bench.one, otherwise against ssyrk. */
void statistics_of(int folds, bool threads)
{
    static const char *const classes[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    job j = {.m = 4096, .n = bench_quick() ? 1024 : 4096, .run = bench.two};
    const char **label = malloc((size_t)j.m * sizeof *label);
    char name[96];
    if (label == NULL)
        exit(6);
    for (int64_t i = 0; i < j.m; i++)
        label[i] = classes[i * 7 % 10];
    j.z = bench_numbers(j.m * j.n);
    j.c = bench_numbers(j.n * j.n);
    j.labelled = (klift_batch){.size = sizeof j.labelled, .rows = j.m, .columns = 16, .dense = j.z, .stride = j.n, .label = label};
    check(kl_statistics_begin(&j.statistics, KL_CLASSIFY, j.n, folds, folds, 1, j.run));
    goal g = {folds == 1 ? 1 / 1.12 : 0, "bare ssyrk", "sgemm", 1e-9 * (double)(j.n * j.n) * (double)j.m};
    bench.peer.set_threads(2);
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

void threads(void)
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
