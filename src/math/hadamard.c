/* hadamard.c - the transform through the table of this CPU; the reference is in micro_portable.c. */
#include "math/hadamard.h"

#include "math/micro.h"

void kl_hadamard(int64_t n, const float *sign, float *x)
{
    kl_micro_get()->hadamard(n, sign, x, x);
}

void kl_hadamard_of(int64_t n, const float *sign, const float *from, float *x)
{
    kl_micro_get()->hadamard(n, sign, from, x);
}

void kl_hadamard_beside(int64_t n, const float *sign, const float *from, float *x, kl_waiting *waiting)
{
    const kl_micro *micro = kl_micro_get();
    if (micro->hadamard_beside != NULL && waiting->count > 0)
        micro->hadamard_beside(n, sign, from, x, waiting);
    else
        micro->hadamard(n, sign, from, x);
}

void kl_hadamard_finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out)
{
    kl_micro_get()->finish(n, kept, x, a, out);
}

/* Blocks of at most 8 2^9 values go through one to three passes. Stages 4, 1 and 2, inside vectors of 8, are spread over them. */
int kl_hadamard_order(int64_t n, int64_t *h)
{
    static const int passes[10][3] = {{0}, {1}, {2}, {3}, {2, 2}, {2, 3}, {3, 3}, {2, 2, 3}, {3, 2, 3}, {3, 3, 3}};
    int64_t size = n < KL_HADAMARD_BLOCK ? n : KL_HADAMARD_BLOCK, next = 8;
    int count = 0, stages = 0, last = 0;
    while (size > (int64_t)8 << stages)
        stages++;
    while (last < 2 && passes[stages][last + 1] > 0)
        last++;
    for (int i = 0; i <= last; i++) {
        if (i == last && n > 4)
            h[count++] = 4;
        for (int s = 0; s < passes[stages][i]; s++, next *= 2)
            h[count++] = next;
        if (i == 0 && n > 1)
            h[count++] = 1;
        if (i == (last > 0) && n > 2)
            h[count++] = 2;
    }
    for (; next < n; next *= 2)
        h[count++] = next;
    return count;
}

int64_t kl_hadamard_size(int64_t n)
{
    int64_t size = 1;
    while (size < n)
        size *= 2;
    return size;
}
