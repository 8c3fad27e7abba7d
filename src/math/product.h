/*
 * product.h - out = x w' for float32 rows x and fixed weights w (n, k).
 * Each output is one chain of multiply-adds over ascending k, so neither the cut of the rows nor the form of x (dense,
 * or CSR with its zeros left out) changes a bit.
 */
#ifndef KL_PRODUCT_H
#define KL_PRODUCT_H

#include "base/error.h"
#include "math/micro.h"

typedef struct kl_panels {
    int64_t n, k;
    int width;     /* columns of w in a panel: what this CPU's blocks have */
    bool lower;    /* w[i][j] = 0 for j > i: a panel ends at its last column */
    float *packed; /* (ceil(n / width), k, width), zero-padded */
} kl_panels;

klift_status kl_panels_new(kl_panels *w, int64_t n, int64_t k);
int64_t kl_panels_bytes(int64_t n, int64_t k); /* what kl_panels_new takes; n k below 2^56 */
/* w (n, n) lower triangular, half of it stored and half of the products done: only kl_product_dense takes it. */
klift_status kl_panels_new_lower(kl_panels *w, int64_t n);
int64_t kl_panels_lower_bytes(int64_t n);
void kl_panels_set(kl_panels *w, int64_t row, const double *values); /* w[row] = values (k), rounded to float32 */
float *kl_panels_at(const kl_panels *w, int64_t row, int64_t column);
int64_t kl_panels_floats(const kl_panels *w); /* length of packed */
void kl_panels_clear(kl_panels *w);

enum { KL_PRODUCT_COLUMNS = 1024 }; /* of a row that a dense product finishes at a time, at most */

/* Where the sums go: out (rows, n), or to a function that takes them while they are in a cache. */
typedef struct kl_product_out {
    float *out;
    int64_t stride;
    void (*take)(const void *context, int64_t row, int64_t column, int64_t count, const float *sums); /* count columns of one row */
    const void *context;
    kl_pairs pairs; /* what take does with the rows of a dense product, past the caches; cosine NULL: something else */
} kl_product_out;

/* Bytes of scratch a dense product of k columns needs, or one of fewer. */
int64_t kl_product_scratch(int64_t k);
/* x dense (rows, k). Of a lower triangular w a row that is not finite has what is not finite in its columns from there on. */
void kl_product_dense(const kl_panels *w, int64_t rows, const float *x, int64_t stride, const kl_product_out *to, void *scratch);
/* x CSR (rows, k): entries start[i] .. start[i+1]-1 */
void kl_product_sparse(const kl_panels *w, int64_t rows, const int64_t *start, const int32_t *column, const float *value, const kl_product_out *to);

#endif
