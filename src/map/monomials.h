/*
 * monomials.h - all products of n columns, scaled so that their inner product is <x, y>^n: the exact map of one degree.
 * Order: by the largest column, then by the rest in the same way (colexicographic), so that the products of degree n with
 * largest column i are the first C(i + n - 1, n - 1) ones of degree n - 1, each times x_i.
 */
#ifndef KL_MONOMIALS_H
#define KL_MONOMIALS_H

#include "base/error.h"

/* C(n_in + degree - 1, degree), as a double: it may be beyond every integer. */
double kl_monomials_count(int64_t n_in, int64_t degree);
/* factor (count) of each product of exactly `degree` columns: sqrt(degree! / prod e_i!), e_i how often column i is in it */
klift_status kl_monomials_factors(int64_t n_in, int64_t degree, double *factor);
/* all products of degrees 0 to `highest` of scale x, one degree behind the other; x (n_in) */
void kl_monomials_row(int64_t n_in, int64_t highest, const float *x, float scale, float *products);

#endif
