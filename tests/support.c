/* support.c - the reference rows SYN, temporary files, the short mode. */
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t syn_mix(uint64_t z)
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

double syn_uniform(uint64_t k)
{
    return ((double)(syn_mix(k) >> 11) + 0.5) * 0x1p-53;
}

double syn_normal(uint64_t row, uint64_t column)
{
    uint64_t k = row * 4096 + column;
    return sqrt(-2 * log(syn_uniform(2 * k))) * cos(6.283185307179586476925 * syn_uniform(2 * k + 1));
}

void syn_rows(int64_t n, int64_t d, double *x)
{
    for (int64_t i = 0; i < n; i++) {
        double *row = x + i * d, square = 0;
        for (int64_t j = 0; j < d; j++) {
            row[j] = syn_normal((uint64_t)i, (uint64_t)j) + syn_normal(1000000 + (uint64_t)i % 5, (uint64_t)j);
            square += row[j] * row[j];
        }
        for (int64_t j = 0; j < d; j++)
            row[j] /= sqrt(square);
    }
}

void syn_rows_float(int64_t n, int64_t d, float *x)
{
    double *exact = malloc((size_t)(n * d) * sizeof *exact);
    if (exact == NULL)
        abort();
    syn_rows(n, d, exact);
    for (int64_t i = 0; i < n * d; i++)
        x[i] = (float)exact[i];
    free(exact);
}

void syn_labels(int64_t n, int64_t d, const float *x, int64_t k, double noise, double *label)
{
    for (int64_t i = 0; i < n; i++) {
        double best = -INFINITY;
        for (int64_t c = 0; c < k; c++) {
            double f = noise * syn_normal((uint64_t)i, (uint64_t)(1000 + c));
            for (int64_t j = 0; j < d; j++)
                f += (double)x[i * d + j] * syn_normal((uint64_t)(5000 + c), (uint64_t)j);
            if (f > best) {
                best = f;
                label[i] = (double)c;
            }
        }
    }
}

klift_batch dense_batch(int64_t n, int64_t d, const float *x)
{
    return (klift_batch){.size = sizeof(klift_batch), .rows = n, .columns = d, .dense = x, .stride = d};
}

csr csr_of(int64_t n, int64_t d, const float *x)
{
    size_t room = (size_t)(n * d) + 1;
    csr rows = {malloc((size_t)(n + 1) * sizeof *rows.start), malloc(room * sizeof *rows.column), malloc(room * sizeof *rows.value)};
    if (rows.start == NULL || rows.column == NULL || rows.value == NULL)
        abort();
    rows.start[0] = 0;
    for (int64_t i = 0, at = 0; i < n; i++) {
        for (int64_t j = 0; j < d; j++)
            if (x[i * d + j] != 0.0f) {
                rows.column[at] = (int32_t)j;
                rows.value[at++] = x[i * d + j];
            }
        rows.start[i + 1] = at;
    }
    return rows;
}

klift_batch csr_batch(int64_t n, int64_t d, const csr *rows)
{
    return (klift_batch){.size = sizeof(klift_batch), .rows = n, .columns = d, .start = rows->start, .column = rows->column, .value = rows->value};
}

void csr_free(csr *rows)
{
    free(rows->start);
    free(rows->column);
    free(rows->value);
    *rows = (csr){0};
}

typedef struct path {
    struct path *next;
    char text[];
} path;

static char folder[] = "/tmp/klift-test-XXXXXX";
static path *paths;
static pid_t owner;

static void remove_folder(void)
{
    if (getpid() == owner) { /* not in a forked child */
        DIR *dir = opendir(folder);
        for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                unlinkat(dirfd(dir), entry->d_name, 0);
        if (dir != NULL)
            closedir(dir);
        rmdir(folder);
    }
    for (path *next; paths != NULL; paths = next) {
        next = paths->next;
        free(paths);
    }
}

char *temp_path(const char *name)
{
    if (owner == 0) {
        if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0)
            abort();
        owner = getpid();
    }
    size_t room = sizeof folder + strlen(name) + 1;
    path *made = malloc(sizeof *made + room);
    if (made == NULL)
        abort();
    snprintf(made->text, room, "%s/%s", folder, name);
    made->next = paths;
    paths = made;
    return made->text;
}

bool quick(void)
{
    return getenv("KLIFT_TEST_QUICK") != NULL;
}
