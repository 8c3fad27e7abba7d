/*
 * row.h - a row of float32 features against float64 vectors, dense or sparse. A sparse row has the sums of the same row with its
 * zeros, bit for bit (each entry goes to the sum that its column has there), as long as the vectors are finite: which of both a
 * row is decides nothing. Nor does it matter whether values that bfloat16 holds (bfloat16.h) come in it, half the memory to read.
 */
#ifndef KL_ROW_H
#define KL_ROW_H

#include "math/bfloat16.h"

#include <stddef.h>
#include <stdint.h>

/* A view: owns nothing. */
typedef struct kl_row {
    int64_t count;         /* entries, or all columns */
    const int32_t *column; /* (count) ascending; NULL: the row is dense */
    const float *value;    /* (count); NULL: */
    const uint16_t *half;  /* the values of a dense row in bfloat16 */
} kl_row;

/* Row number `row` of CSR. */
static inline kl_row kl_row_of(const int64_t *start, const int32_t *column, const float *value, int64_t row)
{
    return (kl_row){start[row + 1] - start[row], column + start[row], value + start[row], NULL};
}

/* A column of a dense row. */
static inline float kl_row_at(const kl_row *z, int64_t p)
{
    return z->half != NULL ? kl_bfloat16_value(z->half[p]) : z->value[p];
}

/* out[o] = z'w_o of w (count, stride), n columns each; next: a row that will be wanted after this one */
void kl_row_dots(const kl_row *z, const kl_row *next, int64_t n, int64_t count, const double *w, int64_t stride, double *out);
void kl_row_add(const kl_row *z, int64_t n, double factor, double *w); /* w (n) += factor z */
/* The same against float32 vectors; and copy and delta (n) += factor z (group.h) */
void kl_row_dots32(const kl_row *z, const kl_row *next, int64_t n, int64_t count, const float *w, int64_t stride, double *out);
void kl_row_add32(const kl_row *z, int64_t n, float factor, float *copy, float *delta);
double kl_row_square(double sum, const kl_row *z);                     /* sum + z'z, in sixteen sums */

#endif
