/* glance.c - the reference; glance_avx2.c and glance_avx512.c have it by vectors. */
#include "math/glance.h"

#include "math/micro.h"

enum { LANES = KL_GLANCE_LANES };

static float dot(int64_t n, const float *z, const float *w, int64_t stride)
{
    float lane[LANES] = {0};
    for (int64_t p = 0; p < n; p += LANES, w += stride)
        for (int k = 0; k < LANES; k++)
            lane[k] += z[p + k] * w[k];
    return kl_glance_total(lane);
}

void kl_portable_glance(int64_t n, const float *z, int64_t count, const float *w, float *out)
{
    for (int64_t o = 0; o < count; o++)
        out[o] = dot(n, z, w + o * LANES, count * LANES);
    out[count] = dot(n, z, z, LANES);
}

void kl_glance(int64_t n, const float *z, int64_t count, const float *w, float *out)
{
    kl_micro_get()->glance(n, z, count, w, out);
}
