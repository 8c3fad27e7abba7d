/* limits.h - what the machine can do, measured now: additions in registers, bare sgemm, memory. */
#ifndef KL_BENCH_LIMITS_H
#define KL_BENCH_LIMITS_H

#include "peers.h"

#include <klift.h>

#include <stdbool.h>

/* Shared by the benchmarks in C. */
double bench_now(void);     /* seconds */
void bench_rest(void);      /* until OpenBLAS's threads sleep: behind a product they look for work for some 30 ms, on the cores of whoever is next */
bool bench_quick(void);     /* KLIFT_BENCH_QUICK is set: small sizes */
/* Not touched yet, on huge pages: as numpy allocates large arrays. */
float *bench_memory(int64_t count);
/* The same with numbers between -0.5 and 0.5 in it. */
float *bench_numbers(int64_t count);

/* At least so many float32 additions on one thread, in the widest vectors that the CPU has, independent of each other and of memory. */
void limits_add(int64_t count);
/* One JSON object: GFLOP/s sgemm (two threads) and sgemm1, and fused of two that multiply and add in registers, GB/s memory (read) and write of two threads past the caches, 10^9/s additions
 * of one thread, 10^9/s waves (cosines and sines of klift's own loop, in a cache) of two, OpenBLAS's core. */
int limits_print(const peers *peer, klift_run *two);

#endif
