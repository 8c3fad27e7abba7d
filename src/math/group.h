/*
 * group.h - four rows of features against a float32 vector and each other, and all four to it at once: a coordinate ascent over them then reads and
 * writes the vector once instead of four times, and the float64 one of which it is a copy once in many rows. Sums are float32 in sixteen lanes, by
 * the column, so that dense, sparse and narrow rows (row.h) of the same values have the same bits.
 */
#ifndef KL_GROUP_H
#define KL_GROUP_H

#include "math/row.h"

enum { KL_GROUP = 4, KL_GROUP_PAIRS = 6 };

/* f[g] = z_g'w; inner: z_0'z_1, z_0'z_2, z_1'z_2, z_0'z_3, z_1'z_3, z_2'z_3, of dense rows only. All rows of one kind, n columns; a row may be there
 * twice. next: rows that will be wanted after these. */
void kl_group_dots(const kl_row *const z[KL_GROUP], const kl_row *const next[KL_GROUP], int64_t n, const float *w, double f[KL_GROUP], double inner[KL_GROUP_PAIRS]);
/* The same z_h'z_g, h < g, of rows of any form: those of sparse ones cost more than their scores, and are made when they are asked for. */
double kl_group_inner(const kl_row *const z[KL_GROUP], const double inner[KL_GROUP_PAIRS], int h, int g);
/* copy and delta (n) += sum of factor_g z_g */
void kl_group_add(const kl_row *const z[KL_GROUP], int64_t n, const float factor[KL_GROUP], float *copy, float *delta);
/* w (n) += delta, which becomes 0; copy = w: after rows (count) that were added, or some of them. Float32 sums of a few rows go into those of float64. */
void kl_group_settle(const kl_row *z, int64_t count, int64_t n, double *w, float *copy, float *delta);

#endif
