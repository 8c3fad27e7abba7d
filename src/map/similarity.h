/* similarity.h - k(x, S): the kernel between rows and fixed landmarks, fast, in float32. */
#ifndef KL_SIMILARITY_H
#define KL_SIMILARITY_H

#include "kernel/block.h"
#include "math/product.h"

typedef struct kl_similarity {
    const kl_kernel *kernel; /* borrowed */
    int64_t columns;
    kl_side landmarks;       /* rows borrowed, norms owned */
    double *norm;
    float *centre;           /* (columns) that distances are taken about, or NULL */
    kl_panels products;      /* kernels of products: landmarks - centre */
    double *centred;         /* (count) |s - c|^2 */
    double rate;             /* the kernel is e^(-rate s) of squared distances s, or 0 */
    double near;             /* share of the norms below which a distance is taken from the differences */
    float *panel;            /* other kernels: (count / 16, columns, 16) */
} kl_similarity;

/* landmarks must outlive it */
klift_status kl_similarity_make(kl_similarity *s, const kl_kernel *kernel, const kl_batch *landmarks, int64_t columns);
int64_t kl_similarity_bytes(const kl_kernel *kernel, int64_t count, int64_t columns);
int64_t kl_similarity_scratch(const kl_similarity *s, int64_t rows);
/* k (rows, count) */
void kl_similarity_apply(const kl_similarity *s, const kl_batch *x, float *k, void *scratch);
/* The same in float64 from exact blocks; scratch: kl_similarity_exact_scratch */
int64_t kl_similarity_exact_scratch(const kl_similarity *s, int64_t rows);
void kl_similarity_exact(const kl_similarity *s, const kl_batch *x, double *k, void *scratch);
void kl_similarity_clear(kl_similarity *s);

#endif
