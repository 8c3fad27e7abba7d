/*
 * peers.h - OpenBLAS in this process at the right core: named before it is loaded, so that it does not guess. And FFHT, which no
 * distribution has, where KLIFT_FFHT names it as a shared library: from its sources (github.com/FALCONN-LIB/FFHT)
 *     cc -O3 -march=native -shared -fPIC fht.c fast_copy.c -o libffht.so
 */
#ifndef KL_BENCH_PEERS_H
#define KL_BENCH_PEERS_H

enum { PEER_ROW_MAJOR = 101, PEER_NO_TRANS = 111, PEER_TRANS = 112, PEER_LOWER = 122 };

typedef struct peers {
    void *library;
    const char *core;
    void (*set_threads)(int threads);
    void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*ssyrk)(int order, int part, int trans, int n, int k, float alpha, const float *a, int lda, float beta, float *c, int ldc);
    void (*dpotrf)(const char *part, const int *n, double *a, const int *lda, int *info);
    int (*fht)(float *x, int log_n); /* in place; NULL: KLIFT_FFHT is not set */
} peers;

const char *peers_load(peers *p); /* NULL, or what is not there and what to do */

#endif
