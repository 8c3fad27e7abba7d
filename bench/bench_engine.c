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
#include "race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- training ---- */

/* The bare sgemm and ssyrk of all rows, which a training of that shape cannot do without. */
static int training(int64_t rows, int64_t columns, int64_t features)
{
    job j = {.m = rows, .n = features / 2, .k = columns};
    j.a = bench_numbers(rows * columns);
    j.b = bench_numbers(j.n * columns);
    j.z = bench_numbers(rows * features);
    j.c = bench_numbers(rows * j.n > features * features ? rows * j.n : features * features);
    bench.peer.set_threads(2);
    double product = 1e300, square = 1e300;
    for (int r = 0; r < 2; r++) {
        j.n = features / 2;
        product = fmin(product, seconds_of(their_product, NULL, &j, 1));
        j.n = features;
        square = fmin(square, seconds_of(their_statistics, NULL, &j, 1));
    }
    printf("%.4f %.4f %s\n", product, square, bench.peer.core);
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
    const char *missing = peers_load(&bench.peer);
    if (missing != NULL) {
        fprintf(stderr, "bench_engine: %s\n", missing);
        return 1;
    }
    if (argc == 5)
        return training(atoll(argv[2]), atoll(argv[3]), atoll(argv[4]));
    bench.two = run_of("2");
    bench.one = run_of("1");
    if (argc == 2 && strcmp(argv[1], "limits") == 0)
        return limits_print(&bench.peer, bench.two);
    int least = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : bench.least;
    bench.least = least < MOST_ROUNDS ? least : MOST_ROUNDS;
    fprintf(stderr, "OpenBLAS core %s\n", bench.peer.core);
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
    klift_run_free(bench.two);
    klift_run_free(bench.one);
    return 0;
}
