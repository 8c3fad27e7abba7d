/* block.h - exact kernel values of rows against rows, dense or CSR, in float64. */
#ifndef KL_BLOCK_H
#define KL_BLOCK_H

#include "kernel/kernel.h"

/* Rows as a side of a block: with their squared norms. */
typedef struct kl_side {
    kl_batch rows;
    const double *norm; /* (rows) */
} kl_side;

/* Squared norms of rows, in double: out (rows). */
void kl_block_norms(const kl_batch *rows, double *out);
/* |x - y|^2, or (taxicab) the sum of absolute differences, from the differences, whatever form the rows have. */
double kl_block_distance(const kl_batch *x, int64_t i, const kl_batch *y, int64_t j, bool taxicab);
/* Bytes of scratch for blocks of at most so many rows with so many columns. */
int64_t kl_block_scratch(const kl_kernel *kernel, int64_t x_rows, int64_t y_rows, int64_t columns);
/* The kernel says itself by products: of_distances or of_products. */
bool kl_block_has_products(const kl_kernel *kernel);
/* k (x rows, stride): K of all pairs; one thread, every pair by itself. */
void kl_block_values(const kl_kernel *kernel, const kl_side *x, const kl_side *y, int64_t columns, double *k, int64_t stride, void *scratch);
/* K(x, x) of every row: k (rows); scratch as for blocks of one row by one */
void kl_block_diagonal(const kl_kernel *kernel, const kl_side *x, int64_t columns, double *k, void *scratch);

/* Rows first .. first+KL_KERNEL_PANEL-1 side by side for of_panel: panel (columns, KL_KERNEL_PANEL), zeros where there is no row. */
void kl_block_panel(const kl_batch *rows, int64_t first, int64_t columns, float *panel);
/* K of x (columns) and the rows of a panel by of_panel or value; work: (columns) */
void kl_block_of_panel(const kl_kernel *kernel, int64_t columns, const double *x, const float *panel, double *work, double k[KL_KERNEL_PANEL]);

#endif
