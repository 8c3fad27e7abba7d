/* whole_avx512.c - whole.h by AVX-512, blocks of two vectors by 14 rows as in micro_avx512.c; a pair is multiplied and added in one instruction or in two. */
#include "math/whole.h"

#if defined(__x86_64__)

#include "math/simd.h"

#include <string.h>

enum { LEFT = 14, WIDTH = 32 };

typedef struct block {
    __m512i c[LEFT][2];
} block;

AVX512 INLINE block zeros(void)
{
    block sum;
    UNROLL
    for (int i = 0; i < LEFT; i++)
        sum.c[i][0] = sum.c[i][1] = _mm512_setzero_si512();
    return sum;
}

AVX512 INLINE __m512i both_of(const int16_t *a)
{
    int32_t pair;
    memcpy(&pair, a, sizeof pair);
    return _mm512_set1_epi32(pair);
}

AVX512 INLINE void add_half(__m256i sum, double unit, double *c)
{
    __m512d scaled = _mm512_mul_pd(_mm512_set1_pd(unit), _mm512_cvtepi32_pd(sum));
    _mm512_storeu_pd(c, _mm512_add_pd(_mm512_loadu_pd(c), scaled));
}

/* To the second cache, as add32 has it. */
AVX512 INLINE void fetch(const double *c, int64_t stride)
{
    for (int i = 0; i < LEFT; i++)
        for (int j = 0; j < WIDTH; j += 8)
            _mm_prefetch((const char *)(c + i * stride + j), _MM_HINT_T1);
}

AVX512 INLINE void keep(block sum, double unit, double *c, int64_t stride)
{
    UNROLL
    for (int i = 0; i < LEFT; i++)
        for (int j = 0; j < 2; j++) {
            add_half(_mm512_castsi512_si256(sum.c[i][j]), unit, c + i * stride + 16 * j);
            add_half(_mm512_extracti64x4_epi64(sum.c[i][j], 1), unit, c + i * stride + 16 * j + 8);
        }
}

AVX512 static void add_in_two(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride)
{
    block s = zeros();
    fetch(c, stride);
    for (int64_t p = 0; p < pairs; p++, a += 2 * LEFT, b += 2 * WIDTH) {
        __m512i b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + WIDTH);
        UNROLL
        for (int i = 0; i < LEFT; i++) {
            __m512i x = both_of(a + 2 * i);
            s.c[i][0] = _mm512_add_epi32(s.c[i][0], _mm512_madd_epi16(x, b0));
            s.c[i][1] = _mm512_add_epi32(s.c[i][1], _mm512_madd_epi16(x, b1));
        }
    }
    keep(s, unit, c, stride);
}

#if defined(KLIFT_TEST_AVX512)

void kl_avx512_add16(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride)
{
    add_in_two(pairs, a, b, unit, c, stride);
}

#else

/* By name: gcc 12 copies every sum to and fro around the intrinsic, which takes twice the time. */
AVX512 INLINE __m512i plus(__m512i sum, __m512i x, __m512i b)
{
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(b));
    return sum;
}

AVX512 static void add_in_one(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride)
{
    block s = zeros();
    fetch(c, stride);
    for (int64_t p = 0; p < pairs; p++, a += 2 * LEFT, b += 2 * WIDTH) {
        __m512i b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + WIDTH);
        UNROLL
        for (int i = 0; i < LEFT; i++) {
            __m512i x = both_of(a + 2 * i);
            s.c[i][0] = plus(s.c[i][0], x, b0);
            s.c[i][1] = plus(s.c[i][1], x, b1);
        }
    }
    keep(s, unit, c, stride);
}

void kl_avx512_add16(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride)
{
    if (__builtin_cpu_supports("avx512vnni"))
        add_in_one(pairs, a, b, unit, c, stride);
    else
        add_in_two(pairs, a, b, unit, c, stride);
}

#endif

#endif
