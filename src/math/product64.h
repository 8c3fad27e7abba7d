/* product64.h - c (m, n) += sign a (m, k) b (n, k)' in float64, row-major operands of any size. */
#ifndef KL_PRODUCT64_H
#define KL_PRODUCT64_H

#include <stdint.h>

typedef struct kl_matrix64 {
    const double *value;
    int64_t rows, stride;
} kl_matrix64;

/* Bytes of scratch for products of at most m by n. */
int64_t kl_product64_scratch(int64_t m, int64_t n);
/* Every sum is a chain over parts of 256 of ascending k: neither m nor n, nor what is around a row, changes a bit. */
void kl_product64(kl_matrix64 a, kl_matrix64 b, int64_t k, double sign, double *c, int64_t stride, void *scratch);

/* Operands that stay packed: rows in panels of left64 (a) or width64 (b) of micro.h, (rows / width, room, width), missing ones zero. */
typedef struct kl_packed64 {
    const double *panel;
    int64_t rows, room; /* room: columns of a panel, of which the first k are meant */
} kl_packed64;

void kl_product64_pack(kl_matrix64 b, int64_t k, double *panel); /* as a right operand of room k */
void kl_product64_packed(kl_packed64 a, kl_packed64 b, int64_t k, double sign, double *c, int64_t stride); /* the bits of kl_product64 */

#endif
