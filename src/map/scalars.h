/*
 * scalars.h - independent scalar features W of a kernel k with a spectrum or a signature: E W(x) W(y) = k(x, y).
 *   spectrum   sqrt(2) cos(w.x + b), b uniform
 *   signature  sqrt(2 x_i / p_i) cos(l ln x_i + b), column i drawn with probability p_i (Kar and Karnick 2012, section 5)
 */
#ifndef KL_SCALARS_H
#define KL_SCALARS_H

#include "base/run.h"
#include "kernel/kernel.h"
#include "math/product.h"

typedef struct kl_scalars {
    const kl_kernel *kernel; /* borrowed */
    int64_t n_in, count;
    float *share;        /* signature: (n_in), set before draw; owned */
    double *edge;        /* signature: (n_in + 1), see shares.h */
    int32_t *column;     /* signature: (count) */
    float *turn, *phase; /* (count) l / 2 pi; b / 2 pi. A spectrum has no turn */
    kl_panels frequency; /* spectrum: (count, n_in) in turns */
} kl_scalars;

/* Takes features first .. first+count-1 of a row. */
typedef void (*kl_scalars_take)(const void *context, int64_t row, int64_t first, int64_t count, const float *values);

bool kl_scalars_by_columns(const kl_kernel *kernel); /* it has a signature: shares are asked for */
klift_status kl_scalars_draw(kl_scalars *s, uint64_t seed, uint32_t stream, klift_run *run);
int64_t kl_scalars_bytes(const kl_scalars *s);       /* that draw takes; kernel, n_in and count are set */
int64_t kl_scalars_scratch(const kl_scalars *s);
void kl_scalars_rows(const kl_scalars *s, const kl_batch *x, kl_scalars_take take, const void *context, void *scratch);
double kl_scalars_square(const kl_scalars *s, const kl_pair *pair); /* E W(x)^2 W(y)^2 */
double kl_scalars_cost(const kl_scalars *s, int64_t entries);
void kl_scalars_clear(kl_scalars *s);

#endif
