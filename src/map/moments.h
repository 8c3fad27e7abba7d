/*
 * moments.h - exact second moments of products of random projections, for one pair of rows.
 * q = prod_j <w_j, x> conj<w_j, y> of a feature of degree n has E Re q = s^n for independent w_j with coordinates +-1 (real)
 * or 1, i, -1, -i (complex). Everything is multiplied by e^factor: powers alone may leave the range of doubles.
 */
#ifndef KL_MOMENTS_H
#define KL_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kl_moments {
    double s, n, a; /* <x, y>, |x|^2 |y|^2, sum of x_i^2 y_i^2 */
} kl_moments;

/* s^degree */
double kl_moments_mean(const kl_moments *m, int64_t degree, double factor);
/* E (Re q)^2 */
double kl_moments_square(const kl_moments *m, bool complex_signs, int64_t degree, double factor);
/* E Re q Re q' of two features whose factors are different rows of one Hadamard block of `block` rows, in an order of its
 * own for every factor: they are dependent. low <= high are their degrees. */
double kl_moments_shared(const kl_moments *m, bool complex_signs, int64_t block, int64_t low, int64_t high, double factor);

#endif
