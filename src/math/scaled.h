/* scaled.h - a row times a number, with what is to be known about it, in one pass; and times another row. */
#ifndef KL_SCALED_H
#define KL_SCALED_H

#include <stdint.h>

/* to (n) = factor from (n). Returns how many of from are not 0; square: |from|^2 in float32, about: the order of the sum is the CPU's. */
int64_t kl_scaled(int64_t n, float factor, const float *from, float *to, float *square);
void kl_times(int64_t n, const float *by, float *x); /* x (n) = by o x */

#endif
