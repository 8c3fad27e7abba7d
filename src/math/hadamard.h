/* hadamard.h - the Walsh-Hadamard transform, natural order, unnormalised: H[k][i] = (-1)^popcount(k & i), H H = n I. */
#ifndef KL_HADAMARD_H
#define KL_HADAMARD_H

#include "math/complex.h"
#include "math/pairs.h"

#include <stdint.h>

/* x (n) := H x in place; n a power of two, 1 <= n <= 2^30. x := H (sign o x) when sign (n) is not NULL; any factors will do. */
void kl_hadamard(int64_t n, const float *sign, float *x);
void kl_hadamard_of(int64_t n, const float *sign, const float *from, float *x); /* x := H (sign o from), another array */
/* The same, from may be x; where this CPU can, some of the turns that wait are gone behind it, their waves past the caches. */
void kl_hadamard_beside(int64_t n, const float *sign, const float *from, float *x, kl_waiting *waiting);
/* For x that has the stages 1, 2 and 4 already, scatter.h, n >= 8: out = the first `kept` values of H x, or of a o H x when a is not
 * NULL. x is spoilt; out may be a itself. */
void kl_hadamard_finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out);
/* The stages in the order in which every table makes them: n values have log2 n of them, of partners h apart. Returns how many. */
enum { KL_HADAMARD_BLOCK = 4096 /* values that are transformed before others are looked at */, KL_HADAMARD_STAGES = 62 };
int kl_hadamard_order(int64_t n, int64_t *h);
int64_t kl_hadamard_size(int64_t n); /* the smallest power of two that is at least n */

#endif
