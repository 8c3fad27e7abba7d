/*
 * pairs.h - cosines and sines of a product's sums, from the registers to memory past the caches: the stores of a block wait in the CPU's queue while the
 * products of the next one, which store nothing, are made. Stores past the caches take whole lines. Where rows begin `cut` floats before a line, a line is the
 * end of one vector and the beginning of the next; what is at the ends of a row waits for its neighbours (`ends`) until the row is done.
 */
#ifndef KL_PAIRS_H
#define KL_PAIRS_H

#include <stdint.h>

/* Row i: `count` cosines at cosine + i stride, whole blocks of columns, their sines behind them; stride a multiple of a line's floats. */
typedef struct kl_pairs {
    float *cosine;
    int64_t stride, count;
    float scale;
} kl_pairs;

enum { KL_PAIRS_LINE = 16 /* floats */, KL_PAIRS_ENDS = 4 * KL_PAIRS_LINE /* of a row: last cosines and sines so far, first cosines and sines */ };

/* Floats from here to the beginning of a line, or -1: the place is none of a float. */
static inline int64_t kl_pairs_cut(const float *place)
{
    return (uintptr_t)place % sizeof *place == 0 ? (int64_t)(-(uintptr_t)place / sizeof *place % KL_PAIRS_LINE) : -1;
}

/* Turns that wait beside a transform (hadamard.h), which stores a line of their cosines and of their sines now and then between its own results. */
typedef struct kl_waiting {
    const float *turns;
    float *cosine; /* a line begins here */
    int64_t apart; /* and its sines */
    int64_t count; /* left, fewer than a line's at the end */
    float scale;
    int stored; /* results since the last line */
} kl_waiting;

#endif
