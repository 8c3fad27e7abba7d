/* nonnegative.h - small dense systems in double: linear equations, and least squares with coefficients that are not negative. */
#ifndef KL_NONNEGATIVE_H
#define KL_NONNEGATIVE_H

#include "base/error.h"

#include <stdbool.h>

/* x (n) := A^-1 b by elimination with pivots; a (n, n) and b (n) are written over. false: A is singular */
bool kl_solve_dense(int64_t n, double *a, double *b, double *x);
/* x (n) >= 0 that minimises x'G x / 2 - c'x, G (n, n) = A'A and c (n) = A'b: least squares of A x = b */
klift_status kl_nonnegative_solve(int64_t n, const double *g, const double *c, double *x);

#endif
