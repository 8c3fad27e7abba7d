/* micro.h - the innermost float64 block product, shared by the exact statistics and the factorisation. */
#ifndef KL_MICRO_H
#define KL_MICRO_H

#include <stdint.h>

enum { KL_MICRO = 4 };

/* sum[i][j] = sum_p a[p][i] b[p][j] for packed panels of KL_MICRO: (k, KL_MICRO) each; p ascending */
static inline void kl_micro_product(int64_t k, const double *restrict a, const double *restrict b, double sum[KL_MICRO][KL_MICRO])
{
    for (int i = 0; i < KL_MICRO; i++)
        for (int j = 0; j < KL_MICRO; j++)
            sum[i][j] = 0;
    for (int64_t p = 0; p < k; p++)
        for (int i = 0; i < KL_MICRO; i++)
            for (int j = 0; j < KL_MICRO; j++)
                sum[i][j] += a[p * KL_MICRO + i] * b[p * KL_MICRO + j];
}

#endif
