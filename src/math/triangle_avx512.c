/* triangle_avx512.c - products of pairs for AVX-512: a block of a run in one vector; what belongs to a whole run is made for eight of them at a time. */
#include "math/triangle.h"

#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { LANES = KL_TRIANGLE_BLOCK };

AVX512 void kl_avx512_triangle(const kl_triangle *t, double *value, uint64_t *to)
{
    const kl_triangle of = *t;
    const __m512d by = _mm512_set1_pd(of.by), last = _mm512_set1_pd(of.last), twice = _mm512_set1_pd(of.twice);
    for (int64_t first = 0; first < of.count; first += LANES) {
        double product[LANES], square[LANES];
        __m512d x = _mm512_loadu_pd(of.x + first), f = _mm512_mul_pd(_mm512_mul_pd(by, x), last);
        _mm512_storeu_pd(product, f);
        _mm512_storeu_pd(square, _mm512_div_pd(_mm512_mul_pd(f, x), twice));
        for (int64_t i = first; i < of.count && i < first + LANES; i++, value += i, to += i) {
            uint64_t next = of.place + (uint64_t)of.step[of.column[i]];
            const __m512d here = _mm512_set1_pd(product[i - first]);
            const __m512i from = _mm512_set1_epi64((int64_t)next);
            for (int64_t u = 0; u < i; u += LANES) {
                _mm512_storeu_pd(value + u, _mm512_mul_pd(here, _mm512_loadu_pd(of.x + u)));
                _mm512_storeu_si512(to + u, _mm512_add_epi64(from, _mm512_loadu_si512(of.column + u)));
            }
            value[i] = square[i - first];
            to[i] = next + of.column[i];
        }
    }
}

#else

typedef int triangle_avx512_is_for_x86;

#endif
