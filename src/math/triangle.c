/* triangle.c - the reference, and through the table of this CPU. Whole blocks, though runs are short: how many they have would be foretold wrongly at the end of every one. */
#include "math/triangle.h"

#include "math/micro.h"

enum { BLOCK = KL_TRIANGLE_BLOCK };

static inline void put_block(double product, const double *restrict x, uint64_t next, const uint64_t *restrict column, double *restrict value, uint64_t *restrict to)
{
    for (int k = 0; k < BLOCK; k++)
        value[k] = product * x[k];
    for (int k = 0; k < BLOCK; k++)
        to[k] = next + column[k];
}

void kl_portable_triangle(const kl_triangle *t, double *value, uint64_t *to)
{
    const kl_triangle of = *t;
    for (int64_t i = 0; i < of.count; i++, value += i, to += i) {
        double product = of.by * of.x[i] * of.last;
        uint64_t next = of.place + (uint64_t)of.step[of.column[i]];
        for (int64_t u = 0; u < i; u += BLOCK)
            put_block(product, of.x + u, next, of.column + u, value + u, to + u);
        value[i] = product * of.x[i] / of.twice;
        to[i] = next + of.column[i];
    }
}

void kl_triangle_fill(const kl_triangle *t, double *value, uint64_t *to)
{
    kl_micro_get()->triangle(t, value, to);
}
