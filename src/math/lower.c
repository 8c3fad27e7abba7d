/* lower.c - the reference of lower.h. */
#include "math/lower.h"

#include "math/micro.h"

enum { GROUP = KL_MICRO_GROUP };

void kl_portable_below64(int64_t rows, int64_t columns, const double *restrict l, int64_t stride, const double *restrict x, double *restrict y)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t p = 0; p < columns; p++)
            for (int g = 0; g < GROUP; g++)
                y[r * GROUP + g] -= l[r * stride + p] * x[p * GROUP + g];
}

void kl_portable_above64(int64_t rows, int64_t columns, const double *restrict l, int64_t stride, const double *restrict x, double *restrict y)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t p = 0; p < columns; p++)
            for (int g = 0; g < GROUP; g++)
                y[p * GROUP + g] -= l[r * stride + p] * x[r * GROUP + g];
}

void kl_portable_below32(int64_t rows, int64_t columns, const float *restrict l, int64_t stride, const float *restrict x, float *restrict y)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t p = 0; p < columns; p++)
            for (int g = 0; g < GROUP; g++)
                y[r * GROUP + g] -= l[r * stride + p] * x[p * GROUP + g];
}

void kl_portable_above32(int64_t rows, int64_t columns, const float *restrict l, int64_t stride, const float *restrict x, float *restrict y)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t p = 0; p < columns; p++)
            for (int g = 0; g < GROUP; g++)
                y[p * GROUP + g] -= l[r * stride + p] * x[r * GROUP + g];
}
