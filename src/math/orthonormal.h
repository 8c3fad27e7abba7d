/* orthonormal.h - random rotations, the same bytes everywhere: no LAPACK. */
#ifndef KL_ORTHONORMAL_H
#define KL_ORTHONORMAL_H

#include "base/error.h"
#include "math/random.h"

/* q (n, n) row-major: a Haar-distributed rotation, number `block` of the source. */
klift_status kl_orthonormal_draw(const kl_random *from, uint32_t block, int64_t n, double *q);

#endif
