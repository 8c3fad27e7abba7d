/* whole.c - the reference of whole.h. */
#include "math/whole.h"

void kl_whole_add(int left, int width, int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride)
{
    for (int i = 0; i < left; i++)
        for (int j = 0; j < width; j++) {
            int32_t sum = 0;
            for (int64_t p = 0; p < pairs; p++) {
                const int16_t *x = a + 2 * (p * left + i), *y = b + 2 * (p * width + j);
                sum += x[0] * y[0] + x[1] * y[1];
            }
            c[i * stride + j] += unit * (double)sum;
        }
}
