/*
 * factor.c - the factorisation in float64 (factor_body.h), and what only it needs: the trace of the inverse, products.
 */
#include "math/tiles.h"

#include "base/memory.h"
#include "math/micro.h"

#include <math.h>

#define REAL double
#define TILES kl_tiles
#define MATRIX_AT kl_tiles_at
#define FACTOR kl_tiles_factor
#define SOLVE kl_tiles_solve
#define LEFT left64
#define WIDTH width64
#define FORWARD forward64
#define BELOW below64
#define ABOVE above64

/* Blocks of float64 divide a tile. */
static inline void subtract_block(const kl_micro *micro, int64_t k, const double *a, const double *b, int64_t height, int64_t breadth, double *c, int64_t stride)
{
    (void)height;
    (void)breadth;
    micro->add64(k, a, b, -1, c, stride);
}

#include "math/factor_body.h"

int64_t kl_tiles_factor_bytes(int64_t n)
{
    int64_t count = (n + KL_TILE - 1) / KL_TILE;
    return count > 1 ? 2 * count * panels_of(KL_TILE) * (int64_t)sizeof(double) : 0;
}

/* GROUP columns of L^-1: they start at their own tile */
static klift_status trace_task(void *context, int64_t index, int worker)
{
    solving *s = context;
    int64_t padded = s->a->count * s->a->edge, first = index * GROUP;
    double *x = s->columns + worker * padded * GROUP, sum = 0;
    for (int64_t r = 0; r < padded * GROUP; r++)
        x[r] = 0;
    for (int g = 0; g < GROUP && first + g < s->a->n; g++)
        x[(first + g) * GROUP + g] = 1;
    forward(s->a, first / s->a->edge, x);
    for (int64_t r = first; r < s->a->n; r++)
        for (int g = 0; g < GROUP; g++)
            sum += x[r * GROUP + g] * x[r * GROUP + g];
    s->b[index] = sum;
    return KLIFT_OK;
}

klift_status kl_tiles_inverse_trace(const kl_tiles *a, klift_run *run, double *trace)
{
    int64_t tasks = (a->n + GROUP - 1) / GROUP;
    solving s = {.a = a}; /* b: the shares of the tasks */
    klift_status status = KLIFT_OK;
    *trace = 0;
    KL_TRY(kl_new(&s.b, tasks, sizeof *s.b, "a trace"));
    KL_GO(over_columns(a, tasks, trace_task, &s, run));
    for (int64_t i = 0; i < tasks; i++)
        *trace += s.b[i];
done:
    kl_free(s.b);
    return status;
}

typedef struct product {
    const kl_tiles *a;
    int64_t m;
    const double *x; /* (n, m) */
    double *y;       /* (n, m) */
} product;

/* One row of tiles of y = A x: left of the diagonal as stored, right of it transposed. */
static klift_status multiply_task(void *context, int64_t index, int worker)
{
    (void)worker;
    const product *s = context;
    int64_t edge = s->a->edge, n = s->a->n, m = s->m;
    for (int64_t r = index * edge; r < n && r < (index + 1) * edge; r++)
        for (int64_t g = 0; g < m; g++)
            s->y[r * m + g] = 0;
    for (int64_t j = 0; j < s->a->count; j++) {
        bool stored = j <= index;
        const double *tile = stored ? kl_tiles_at(s->a, index, j) : kl_tiles_at(s->a, j, index);
        for (int64_t r = 0; r < edge && index * edge + r < n; r++)
            for (int64_t c = 0; c < edge && j * edge + c < n; c++) {
                bool below = j == index ? c <= r : stored;
                double v = below ? tile[r * edge + c] : tile[c * edge + r];
                for (int64_t g = 0; g < m; g++)
                    s->y[(index * edge + r) * m + g] += v * s->x[(j * edge + c) * m + g];
            }
    }
    return KLIFT_OK;
}

klift_status kl_tiles_multiply(const kl_tiles *a, int64_t m, const double *x, double *y, klift_run *run)
{
    product s = {a, m, x, y};
    return kl_run_parallel(run, a->count, multiply_task, &s);
}
