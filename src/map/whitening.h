/* whitening.h - z = L^-1 k with L L' = K_SS + jitter I: what makes the values at landmarks a feature map. */
#ifndef KL_WHITENING_H
#define KL_WHITENING_H

#include "base/record.h"
#include "kernel/block.h"
#include "math/product.h"
#include "math/tiles.h"

/* L^-1 as float32 panels, or as float64 tiles. */
typedef struct kl_whitening {
    int64_t n;
    bool exact;       /* float64 */
    double jitter;    /* that was added, relative to the mean of the diagonal */
    kl_panels panels;
    kl_tiles tiles;
} kl_whitening;

/* The largest jitter, in means of the diagonal: 1, or a tenth of the trace for a kernel that has negative eigenvalues, which grow with n. */
double kl_whitening_largest(const kl_kernel *kernel, int64_t n);
/* From the landmarks: factors in float64; the jitter grows tenfold until that succeeds. */
klift_status kl_whitening_make(kl_whitening *w, const kl_kernel *kernel, const kl_side *landmarks, int64_t columns, double jitter, bool exact, klift_run *run);
int64_t kl_whitening_bytes(int64_t n, bool exact);
/* z (rows, stride) from k (rows, n): float32, or float64 when exact. */
int64_t kl_whitening_scratch(const kl_whitening *w, int64_t rows);
void kl_whitening_apply(const kl_whitening *w, int64_t rows, const float *k, float *z, int64_t stride, void *scratch);
void kl_whitening_apply_exact(const kl_whitening *w, int64_t rows, const double *k, float *z, int64_t stride, void *scratch);
/* out (outputs, n) = weights L^-1: weights (outputs, n) on z as weights on k. sum (outputs): what the absolute values of all terms of
 * weights L^-1 k are at most, |k_j| being at most most[j]. */
klift_status kl_whitening_carry(const kl_whitening *w, int64_t outputs, const double *weights, const double *most, double *out, double *sum);
int64_t kl_whitening_carry_steps(const kl_whitening *w); /* roundings of such a sum, at most */
void kl_whitening_save(const kl_whitening *w, kl_record_writer *to);
klift_status kl_whitening_load(kl_whitening *w, int64_t n, bool exact, kl_record_reader *from);
void kl_whitening_clear(kl_whitening *w);

#endif
