/*
 * lower.h - what triangular solves take away with a rectangle of the factor, for KL_MICRO_GROUP right sides at once:
 *   below  y (rows, GROUP) -= l x, l (rows, columns) with its rows `stride` apart, x (columns, GROUP)
 *   above  y (columns, GROUP) -= l' x, x (rows, GROUP)
 * Every number is one chain over ascending columns or rows. rows and columns are multiples of 8.
 */
#ifndef KL_LOWER_H
#define KL_LOWER_H

#include <stdint.h>

void kl_portable_below64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y);
void kl_portable_above64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y);
void kl_portable_below32(int64_t rows, int64_t columns, const float *l, int64_t stride, const float *x, float *y);
void kl_portable_above32(int64_t rows, int64_t columns, const float *l, int64_t stride, const float *x, float *y);

#endif
