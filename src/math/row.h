/*
 * row.h - a row of float32 features against float64 vectors, dense or sparse. A sparse row has the sums of the same row with its
 * zeros, bit for bit (each entry goes to the sum that its column has there), as long as the vectors are finite: which of both a
 * row is decides nothing. Nor does it matter whether values that 16 bits hold come in them (narrow.h), half the memory to read.
 */
#ifndef KL_ROW_H
#define KL_ROW_H

#include "math/narrow.h"

#include <stddef.h>
#include <stdint.h>

/* A view: owns nothing. */
typedef struct kl_row {
    int64_t count;         /* entries, or all columns */
    const int32_t *column; /* (count) ascending; NULL: the row is dense */
    const float *value;    /* (count); NULL: */
    const uint16_t *half;  /* the values of a dense row in 16 bits, in the place of value */
    float scale;           /* of int16; 0: bfloat16 */
} kl_row;

/* Row number `row` of CSR. */
static inline kl_row kl_row_of(const int64_t *start, const int32_t *column, const float *value, int64_t row)
{
    return (kl_row){start[row + 1] - start[row], column + start[row], value + start[row], NULL, 0};
}

/* How a dense row is kept: its numbers are scale times what is there. */
static inline kl_narrow kl_row_kind(const kl_row *z)
{
    return z->half == NULL ? KL_FLOAT32 : z->scale > 0 ? KL_INT16 : KL_BFLOAT16;
}

static inline float kl_row_scale(const kl_row *z)
{
    return z->scale > 0 ? z->scale : 1;
}

static inline float kl_row_at(kl_narrow kind, const kl_row *z, int64_t p)
{
    return kind == KL_FLOAT32 ? z->value[p] : kind == KL_INT16 ? (float)(int16_t)z->half[p] : kl_bfloat16_value(z->half[p]);
}

void kl_row_spread(const kl_row *z, int64_t n, float *to); /* its numbers in all columns */

/* out[o] = z'w_o of w (count, stride), n columns each; next: a row that will be wanted after this one */
void kl_row_dots(const kl_row *z, const kl_row *next, int64_t n, int64_t count, const double *w, int64_t stride, double *out);
void kl_row_add(const kl_row *z, int64_t n, double factor, double *w); /* w (n) += factor z */
double kl_row_square(double sum, const kl_row *z, const kl_row *next); /* sum + z'z, in sixteen sums; next as above */

#endif
