/*
 * triangle.h - products of all pairs of some numbers, and where each is to go: for t = 0 .. count-1 a run of t + 1,
 *   value = f x_u, u < t, then f x_t / twice,  f = by x_t last;  to = place + step[column_t] + column_u, u <= t
 * Every product is rounded by itself: every instruction set gives the same bits.
 */
#ifndef KL_TRIANGLE_H
#define KL_TRIANGLE_H

#include <stdint.h>

enum { KL_TRIANGLE_BLOCK = 8 }; /* runs are made in such blocks: x, column, value and to have room for so many more, that mean nothing */

typedef struct kl_triangle {
    int64_t count;
    const double *x;        /* (count) */
    const uint64_t *column; /* (count) */
    const int64_t *step;    /* by column */
    double by, last, twice;
    uint64_t place;
} kl_triangle;

/* value and to: (count (count + 1) / 2) */
void kl_triangle_fill(const kl_triangle *t, double *value, uint64_t *to);
void kl_portable_triangle(const kl_triangle *t, double *value, uint64_t *to); /* the reference, for the tables */

#endif
