/* hadamard.h - the Walsh-Hadamard transform, natural order, unnormalised: H[k][i] = (-1)^popcount(k & i), H H = n I. */
#ifndef KL_HADAMARD_H
#define KL_HADAMARD_H

#include <stdint.h>

/* x (n) := H x in place; n a power of two, 1 <= n <= 2^30. x := H (sign o x) when sign (n) is not NULL; any factors will do. */
void kl_hadamard(int64_t n, const float *sign, float *x);
void kl_hadamard_of(int64_t n, const float *sign, const float *from, float *x); /* x := H (sign o from), another array */
int64_t kl_hadamard_size(int64_t n); /* the smallest power of two that is at least n */

#endif
