/*
 * late.h - float32 sums of a block that are added to float64 later: beside the products of the next block, which leave the units of additions and of stores
 * idle. Every number gets the same addition, in the order of the blocks; whoever reads it calls for the last block before.
 */
#ifndef KL_LATE_H
#define KL_LATE_H

#include <stdint.h>

enum { KL_LATE_ROWS = 14, KL_LATE_WIDTH = 32 };

/* sum (rows, KL_LATE_WIDTH) is to be added to c, of which the rows are `stride` numbers apart; no rows: none wait. */
typedef struct kl_late {
    double *c;
    int64_t stride, rows;
    float sum[KL_LATE_ROWS * KL_LATE_WIDTH];
} kl_late;

#endif
