/*
 * bench_latency.c - predicts one row at a time through the public header, as a program that serves answers would, and prints the median
 * and the quartiles in microseconds.
 * usage: bench_latency MODEL COLUMNS CALLS THREADS
 * The rows are 1000 different ones, so that no answer is in a cache for being the last one. The run is made once and kept. What the clock itself takes is taken off.
 */
#include <klift.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 1000, MOST_CALLS = 1000000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(klift_status status)
{
    if (status != KLIFT_OK) {
        fprintf(stderr, "bench_latency: %s\n", klift_error());
        exit(1);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Like images: four of five values are zero. */
static float *rows_of(int64_t columns)
{
    float *x = malloc((size_t)(ROWS * columns) * sizeof *x);
    uint32_t s = 12345;
    for (int64_t i = 0; x != NULL && i < ROWS * columns; i++) {
        s = s * 1664525u + 1013904223u;
        x[i] = s >> 8 < (1u << 24) / 5 ? (float)(s >> 8) * (5 * 255 * 0x1p-24f) : 0;
    }
    return x;
}

/* Between two looks at the clock, the median. */
static double of_clock(double *took, int64_t looks)
{
    for (int64_t i = 0; i < looks; i++) {
        double start = now();
        took[i] = now() - start;
    }
    qsort(took, (size_t)looks, sizeof *took, ascending);
    return took[looks / 2];
}

int main(int argc, char **argv)
{
    klift_model *model;
    klift_run *run;
    if (argc != 5) {
        fprintf(stderr, "usage: bench_latency MODEL COLUMNS CALLS THREADS\n");
        return 2;
    }
    int64_t columns = atoll(argv[2]), calls = atoll(argv[3]);
    float *x = rows_of(columns);
    double *took = malloc(MOST_CALLS * sizeof *took), answer;
    if (x == NULL || took == NULL || calls < 1 || calls > MOST_CALLS)
        return 2;
    check(klift_model_load(argv[1], &model));
    check(klift_run_new(&run));
    check(klift_run_set(run, "threads", argv[4]));
    for (int64_t i = -calls / 10; i < calls; i++) { /* a tenth of them before the clock counts */
        klift_batch row = {.size = sizeof row, .rows = 1, .columns = columns, .dense = x + (i + calls) % ROWS * columns, .stride = columns};
        double start = now();
        check(klift_model_predict(model, &row, KLIFT_CLASS, &answer, run));
        if (i >= 0)
            took[i] = now() - start;
    }
    qsort(took, (size_t)calls, sizeof *took, ascending);
    double said[3] = {took[calls / 2], took[calls / 4], took[3 * calls / 4]}, clock = of_clock(took, calls);
    printf("%.3f %.3f %.3f\n", (said[0] - clock) * 1e6, (said[1] - clock) * 1e6, (said[2] - clock) * 1e6);
    klift_run_free(run);
    klift_model_free(model);
    free(took);
    free(x);
    return 0;
}
