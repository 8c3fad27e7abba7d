/*
 * bench_taylor.c - taylor against fourier on sparse rows, the comparison of Cotter, Keshet and Srebro (2011): mean |K - z(x).z(y)| over
 * random pairs of rows, sigma^2 = 40, against operations and against measured time; and taylor's time by nonzeros of a row.
 * usage: bench_taylor FILE [PAIRS [ROUNDS]]   FILE: adult's train.svm. One thread; times are the best of interleaved rounds.
 * Operations: 2 for a product of taylor, nnz for a feature of fourier without its cosine: rather too few for fourier.
 */
#include <klift.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 123, DEGREES = 4, SIZES = 11, SMALLEST = 32, TIMED_ROWS = 2048, CHUNK = 256 };
static const char KERNEL[] = "gaussian:gamma=0.0125"; /* 1 / (2 sigma^2) */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(klift_status status)
{
    if (status == KLIFT_OK)
        return;
    fprintf(stderr, "%s\n", klift_error());
    exit(1);
}

typedef struct rows {
    int64_t n, *start;
    int32_t *column;
    float *value;
} rows;

static rows rows_new(int64_t n, int64_t entries)
{
    rows r = {.start = calloc((size_t)n + 1, sizeof *r.start), .column = malloc((size_t)entries * sizeof *r.column), .value = malloc((size_t)entries * sizeof *r.value)};
    if (r.start == NULL || r.column == NULL || r.value == NULL)
        exit(1);
    return r;
}

static void rows_add(rows *r, int64_t count, const int32_t *column, const float *value)
{
    int64_t at = r->start[r->n];
    memcpy(r->column + at, column, (size_t)count * sizeof *column);
    memcpy(r->value + at, value, (size_t)count * sizeof *value);
    r->start[++r->n] = at + count;
}

static rows load(const char *path)
{
    klift_data *data;
    klift_batch b = {.size = sizeof b};
    rows r = rows_new(1 << 16, 1 << 21);
    must(klift_data_open(path, "dim=123", &data));
    do {
        must(klift_data_next(data, 4096, &b));
        for (int64_t i = 0; i < b.rows; i++)
            rows_add(&r, b.start[i + 1] - b.start[i], b.column + b.start[i], b.value + b.start[i]);
    } while (b.rows > 0 && r.n + 4096 < 1 << 16);
    klift_data_free(data);
    return r;
}

static klift_batch view(const rows *r, int64_t first, int64_t count)
{
    return (klift_batch){.size = sizeof(klift_batch), .rows = count, .columns = COLUMNS, .start = r->start + first, .column = r->column, .value = r->value};
}

typedef struct candidate {
    char name[32];
    klift_map *map;
    bool sparse;
    int64_t features;
    double operations, seconds, error; /* of a row; mean over pairs */
} candidate;

static candidate candidate_new(const char *map_text, int64_t features, bool sparse)
{
    klift_spec *spec;
    candidate c = {.sparse = sparse, .seconds = INFINITY};
    char count[24];
    snprintf(count, sizeof count, "%lld", (long long)features);
    must(klift_spec_new(&spec));
    must(klift_spec_set(spec, "kernel", KERNEL));
    must(klift_spec_set(spec, "map", map_text));
    must(klift_spec_set(spec, "features", count));
    must(klift_spec_set(spec, "dim", "123"));
    must(klift_map_fit(spec, NULL, NULL, &c.map));
    must(klift_map_size(c.map, NULL, &c.features));
    klift_spec_free(spec);
    return c;
}

/* Room for the features of some rows. */
typedef struct features {
    int64_t start[CHUNK + 1], room;
    int32_t *column;
    float *value; /* dense (CHUNK, features), or of the entries */
} features;

static void lift(const candidate *c, const klift_batch *x, features *z, klift_run *run)
{
    int64_t needed;
    if (!c->sparse) {
        must(klift_map_apply(c->map, x, z->value, c->features, run));
        return;
    }
    must(klift_map_apply_sparse(c->map, x, z->start, z->column, z->value, z->room, &needed, run));
}

static double product(const candidate *c, const features *z, int64_t i, int64_t j)
{
    double sum = 0;
    if (!c->sparse) {
        for (int64_t k = 0; k < c->features; k++)
            sum += (double)z->value[i * c->features + k] * (double)z->value[j * c->features + k];
        return sum;
    }
    for (int64_t p = z->start[i], q = z->start[j]; p < z->start[i + 1] && q < z->start[j + 1];) {
        if (z->column[p] == z->column[q])
            sum += (double)z->value[p] * (double)z->value[q];
        int32_t left = z->column[p], right = z->column[q];
        p += left <= right;
        q += right <= left;
    }
    return sum;
}

static double exact(const rows *r, int64_t i, int64_t j)
{
    double square = 0;
    int64_t p = r->start[i], q = r->start[j];
    while (p < r->start[i + 1] || q < r->start[j + 1]) {
        int32_t left = p < r->start[i + 1] ? r->column[p] : INT32_MAX, right = q < r->start[j + 1] ? r->column[q] : INT32_MAX;
        double d = (left <= right ? (double)r->value[p] : 0) - (right <= left ? (double)r->value[q] : 0);
        square += d * d;
        p += left <= right;
        q += right <= left;
    }
    return exp(-0.0125 * square);
}

/* The same pairs for all: rows are drawn by a 64-bit linear congruential generator. */
static void measure_error(candidate *c, const rows *r, int64_t pairs, features *z, klift_run *run)
{
    uint64_t state = 1;
    double sum = 0;
    for (int64_t done = 0; done < pairs;) {
        int64_t index[CHUNK];
        rows part = rows_new(CHUNK, 1 << 16);
        for (int k = 0; k < CHUNK; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            index[k] = (int64_t)((state >> 33) % (uint64_t)r->n);
            rows_add(&part, r->start[index[k] + 1] - r->start[index[k]], r->column + r->start[index[k]], r->value + r->start[index[k]]);
        }
        klift_batch x = view(&part, 0, CHUNK);
        lift(c, &x, z, run);
        for (int k = 0; k + 1 < CHUNK && done < pairs; k += 2, done++)
            sum += fabs(product(c, z, k, k + 1) - exact(r, index[k], index[k + 1]));
        free(part.start);
        free(part.column);
        free(part.value);
    }
    c->error = sum / (double)pairs;
}

static void measure_time(candidate *c, const rows *r, features *z, klift_run *run)
{
    int64_t count = r->n < TIMED_ROWS ? r->n : TIMED_ROWS;
    double start = now();
    for (int64_t first = 0; first + CHUNK <= count; first += CHUNK) {
        klift_batch x = view(r, first, CHUNK);
        lift(c, &x, z, run);
    }
    double seconds = (now() - start) / (double)(count / CHUNK * CHUNK);
    c->seconds = seconds < c->seconds ? seconds : c->seconds;
}

static double choose(double n, int k)
{
    double count = 1;
    for (int i = 1; i <= k; i++)
        count = count * (n - k + i) / i;
    return count;
}

static void print_candidate(const candidate *c)
{
    printf("%-18s %10lld %12.0f %12.2f %14.3e\n", c->name, (long long)c->features, c->operations, 1e6 * c->seconds, c->error);
}

/* The first of the sizes that has at least as many operations, or takes at least as long: more than equal, for fourier. */
static const candidate *rival(const candidate *fourier, double operations, double seconds)
{
    for (int i = 0; i < SIZES; i++)
        if (fourier[i].operations >= operations && fourier[i].seconds >= seconds)
            return &fourier[i];
    return &fourier[SIZES - 1];
}

static void compare(const candidate *taylor, const candidate *fourier)
{
    for (int k = 0; k < DEGREES; k++) {
        const candidate *a = rival(fourier, taylor[k].operations, 0), *b = rival(fourier, 0, taylor[k].seconds);
        printf("%s %.3e; fourier with at least its operations (%lld features) %.3e: %s; with at least its time (%lld features) %.3e: %s\n", taylor[k].name, taylor[k].error,
               (long long)a->features, a->error, taylor[k].error < a->error ? "taylor is lower" : "fourier is lower", (long long)b->features, b->error,
               taylor[k].error < b->error ? "taylor is lower" : "fourier is lower");
    }
}

/* Rows of n nonzeros each: the columns of a row, then those that the next ones add. */
static rows cut_rows(const rows *r, int64_t n)
{
    rows out = rows_new(TIMED_ROWS, TIMED_ROWS * n);
    for (int64_t i = 0; i < TIMED_ROWS; i++) {
        bool have[COLUMNS] = {false};
        int32_t column[COLUMNS];
        float value[COLUMNS];
        int64_t count = 0;
        for (int64_t p = r->start[i % r->n]; count < n && p < r->start[r->n]; p++)
            if (!have[r->column[p]]) {
                have[r->column[p]] = true;
                count++;
            }
        count = 0;
        for (int32_t j = 0; j < COLUMNS; j++)
            if (have[j]) {
                column[count] = j;
                value[count++] = 1;
            }
        rows_add(&out, count, column, value);
    }
    return out;
}

static void measure_nonzeros(const rows *r, int rounds, features *z, klift_run *run)
{
    static const int nonzeros[] = {5, 10, 14, 20};
    candidate c[4];
    rows part[4];
    for (int k = 0; k < 4; k++) {
        c[k] = candidate_new("taylor:degree=4,hash=never", 2048, true);
        part[k] = cut_rows(r, nonzeros[k]);
    }
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < 4; k++)
            measure_time(&c[k], &part[k], z, run);
    printf("\ntaylor degree 4: time of a row by its nonzeros, as ratios to 14\n%8s %10s %12s %10s %10s %12s\n", "nonzeros", "products", "us per row", "products/", "time/", "ns/product");
    for (int k = 0; k < 4; k++) {
        double count = choose(nonzeros[k] + 4, 4);
        printf("%8d %10.0f %12.2f %10.3f %10.3f %12.2f\n", nonzeros[k], count, 1e6 * c[k].seconds, count / choose(18, 4), c[k].seconds / c[2].seconds, 1e9 * c[k].seconds / count);
        klift_map_free(c[k].map);
        free(part[k].start);
        free(part[k].column);
        free(part[k].value);
    }
}

int main(int argc, char **argv)
{
    candidate taylor[DEGREES], fourier[SIZES];
    klift_run *run;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_taylor FILE [PAIRS [ROUNDS]]\n");
        return 2;
    }
    int64_t pairs = argc > 2 ? atoll(argv[2]) : 100000;
    int rounds = argc > 3 ? atoi(argv[3]) : 7;
    rows r = load(argv[1]);
    double mean = (double)r.start[r.n] / (double)r.n;
    features z = {.room = (int64_t)SMALLEST << (SIZES - 1)};
    z.room *= CHUNK;
    z.column = malloc((size_t)z.room * sizeof *z.column);
    z.value = malloc((size_t)z.room * sizeof *z.value);
    if (z.column == NULL || z.value == NULL)
        return 1;
    must(klift_run_new(&run));
    must(klift_run_set(run, "threads", "1"));
    for (int k = 0; k < DEGREES; k++) {
        char text[48];
        snprintf(text, sizeof text, "taylor:degree=%d,hash=never", k + 1);
        taylor[k] = candidate_new(text, 2048, true);
        snprintf(taylor[k].name, sizeof taylor[k].name, "taylor degree %d", k + 1);
        for (int64_t i = 0; i < r.n; i++)
            taylor[k].operations += 2 * choose((double)(r.start[i + 1] - r.start[i] + k + 1), k + 1) / (double)r.n;
    }
    for (int i = 0; i < SIZES; i++) {
        fourier[i] = candidate_new("fourier", (int64_t)SMALLEST << i, false);
        snprintf(fourier[i].name, sizeof fourier[i].name, "fourier");
        fourier[i].operations = mean * (double)fourier[i].features;
    }
    for (int k = 0; k < DEGREES; k++)
        measure_error(&taylor[k], &r, pairs, &z, run);
    for (int i = 0; i < SIZES; i++)
        measure_error(&fourier[i], &r, pairs, &z, run);
    for (int round = 0; round < rounds; round++) { /* interleaved: whatever else the machine does meets all of them */
        for (int k = 0; k < DEGREES; k++)
            measure_time(&taylor[k], &r, &z, run);
        for (int i = 0; i < SIZES; i++)
            measure_time(&fourier[i], &r, &z, run);
    }
    printf("%lld rows, %.1f nonzeros in the mean, %lld pairs, best of %d rounds\n%-18s %10s %12s %12s %14s\n", (long long)r.n, mean, (long long)pairs, rounds, "map", "columns",
           "operations", "us per row", "mean |K - K~|");
    for (int k = 0; k < DEGREES; k++)
        print_candidate(&taylor[k]);
    for (int i = 0; i < SIZES; i++)
        print_candidate(&fourier[i]);
    printf("\n");
    compare(taylor, fourier);
    measure_nonzeros(&r, rounds, &z, run);
    for (int k = 0; k < DEGREES; k++)
        klift_map_free(taylor[k].map);
    for (int i = 0; i < SIZES; i++)
        klift_map_free(fourier[i].map);
    klift_run_free(run);
    free(z.column);
    free(z.value);
    free(r.start);
    free(r.column);
    free(r.value);
    return 0;
}
