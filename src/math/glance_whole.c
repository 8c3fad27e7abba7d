/* glance_whole.c - the reference; glance_whole_avx2.c and glance_whole_avx512.c have it by vectors. */
#include "math/glance_whole.h"

#include "math/micro.h"

#include <math.h>
#include <stdlib.h>

enum { STEP = KL_GLANCE_STEP, TOO_LARGE = 32767 };

static int32_t round_step(const float *z, float scale, int32_t *q)
{
    int32_t most = 0;
    for (int k = 0; k < STEP; k++) {
        float scaled = z[k] * scale;
        q[k] = fabsf(scaled) < TOO_LARGE ? (int32_t)rintf(scaled) : TOO_LARGE; /* NaN too */
        most = abs(q[k]) > most ? abs(q[k]) : most;
    }
    return most;
}

int32_t kl_portable_glance_whole(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out)
{
    int32_t most = 0;
    for (int64_t o = 0; o < count; o++)
        out[o] = 0;
    for (int64_t p = 0; p < n; p += STEP) {
        int32_t q[STEP], here = round_step(z + p, scale, q);
        most = here > most ? here : most;
        for (int64_t o = 0; o < count; o++, w += STEP)
            for (int k = 0; k < STEP; k++)
                out[o] += (double)(q[k] * w[k]);
    }
    return most;
}

int32_t kl_glance_whole(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out)
{
    return kl_micro_get()->glance_whole(n, z, scale, count, w, out);
}
