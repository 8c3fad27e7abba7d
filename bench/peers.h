/* peers.h - OpenBLAS in this process at the right core: named before it is loaded, so that it does not guess. */
#ifndef KL_BENCH_PEERS_H
#define KL_BENCH_PEERS_H

#include <stdbool.h>

enum { PEER_ROW_MAJOR = 101, PEER_NO_TRANS = 111, PEER_TRANS = 112, PEER_LOWER = 122 };

typedef struct peers {
    void *library;
    const char *core;
    void (*set_threads)(int threads);
    void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*ssyrk)(int order, int part, int trans, int n, int k, float alpha, const float *a, int lda, float beta, float *c, int ldc);
    void (*dpotrf)(const char *part, const int *n, double *a, const int *lda, int *info);
} peers;

bool peers_load(peers *p); /* false: Debian's libopenblas0-pthread is not there */

#endif
