/*
 * product.h - out = x w' for float32 rows x and fixed weights w (n, k).
 * Each output is one chain of multiply-adds over ascending k, so neither the cut of the rows nor the form of x (dense,
 * or CSR with its zeros left out) changes a bit.
 */
#ifndef KL_PRODUCT_H
#define KL_PRODUCT_H

#include "base/error.h"

enum { KL_PANEL = 8 };

typedef struct kl_panels {
    int64_t n, k;
    float *packed; /* (ceil(n / KL_PANEL), k, KL_PANEL): columns of w side by side, zero-padded */
} kl_panels;

klift_status kl_panels_new(kl_panels *w, int64_t n, int64_t k);
void kl_panels_set(kl_panels *w, int64_t row, const double *values); /* w[row] = values (k), rounded to float32 */
float kl_panels_get(const kl_panels *w, int64_t row, int64_t column);
float *kl_panels_at(kl_panels *w, int64_t row, int64_t column);
void kl_panels_clear(kl_panels *w);

/* out (rows, n) with row stride out_stride; x dense (rows, k) */
void kl_product_dense(const kl_panels *w, int64_t rows, const float *x, int64_t stride, float *out, int64_t out_stride);
/* x CSR (rows, k): entries start[i] .. start[i+1]-1 */
void kl_product_sparse(const kl_panels *w, int64_t rows, const int64_t *start, const int32_t *column, const float *value, float *out, int64_t out_stride);

#endif
