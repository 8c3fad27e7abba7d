/*
 * rademacher.h - products of random projections: unit k of degree n is prod_j g_k <w_kj, x>, j = 1..n, the coordinates of w
 * independent +-1, or 1, i, -1, -i with complex signs.
 *   dense     every w by itself: one product with a matrix of all factors
 *   hadamard  the j-th factors of `block` units are the rows of H diag(signs), in an order of their own: block log2(block)
 *             additions for all of them. Factors of one unit are of different stages, hence independent: no bias.
 * Units of a block stand by descending degree, so that stage j serves its first ones.
 */
#ifndef KL_RADEMACHER_H
#define KL_RADEMACHER_H

#include "base/run.h"
#include "data/batch.h"
#include "math/product.h"

typedef struct kl_rademacher {
    int64_t n_in, units;
    bool complex_signs;
    int64_t block;       /* units that share a transform, a power of two from n_in on; 0: dense */
    int32_t *degree;     /* (units), descending inside a block; dense: descending */
    float *sign;         /* hadamard: (stages, 1 or 2, block), real and imaginary parts */
    int32_t *order;      /* hadamard: (stages, block) */
    kl_panels weight;    /* dense: (factors, 1 or 2 rows each; n_in), first factors first */
    int32_t *unit;       /* dense: (factors) */
} kl_rademacher;

/* n_in, units, complex_signs and degree are set. Operations per row of so many nonzeros, by blocks or (block 0) dense. */
double kl_rademacher_cost(const kl_rademacher *r, int64_t block, double nonzeros);
int64_t kl_rademacher_bytes(const kl_rademacher *r); /* that draw takes */
klift_status kl_rademacher_draw(kl_rademacher *r, uint64_t seed, uint32_t stream, klift_run *run);
/* hadamard: z (units real parts, then units imaginary parts) *= the products of x (block), filled with zeros; work (2 block) */
void kl_rademacher_row(const kl_rademacher *r, const float *x, const float *g, float *z, float *work);
/* dense: the same for all rows of x; z (rows, stride) */
void kl_rademacher_rows(const kl_rademacher *r, const kl_batch *x, const float *g, float *z, int64_t stride, void *scratch);
void kl_rademacher_clear(kl_rademacher *r);

#endif
