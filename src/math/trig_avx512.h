/*
 * trig_avx512.h - cosine and sine of sixteen angles in turns, for the AVX-512 files; the method is in micro_portable.c, the bits are those of
 * micro_avx2.c. Not VREDUCEPS for the range reduction: it makes 0, an angle, of an infinity, which is none.
 */
#ifndef KL_TRIG_AVX512_H
#define KL_TRIG_AVX512_H

#include "math/simd.h"

/* The numbers of the method: a caller whose registers are full of sums takes them from memory, one whose are not keeps them. */
typedef struct numbers {
    float quarter, half, term[5];
    int32_t sign, size; /* bits of a float */
} numbers;

static const numbers turn = {0.25f, 0.5f, {6.283185160f, -41.34165503f, 81.60100407f, -76.54978229f, 39.53670606f}, INT32_MIN, INT32_MAX};

AVX512 INLINE __m512 sine_of(const numbers *k, __m512 p)
{
    __m512 q = _mm512_mul_ps(p, p), s = _mm512_set1_ps(k->term[4]);
    s = _mm512_fmadd_ps(s, q, _mm512_set1_ps(k->term[3]));
    s = _mm512_fmadd_ps(s, q, _mm512_set1_ps(k->term[2]));
    s = _mm512_fmadd_ps(s, q, _mm512_set1_ps(k->term[1]));
    s = _mm512_fmadd_ps(s, q, _mm512_set1_ps(k->term[0]));
    return _mm512_mul_ps(s, p);
}

AVX512 INLINE __m512 fraction(__m512 t)
{
    return _mm512_sub_ps(t, _mm512_roundscale_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

AVX512 INLINE __m512 size_of(const numbers *k, __m512 a)
{
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(k->size)));
}

/* s with the sign of a; s is not negative. */
AVX512 INLINE __m512 with_sign(const numbers *k, __m512 s, __m512 a)
{
    enum { FIRST_OR_SECOND_AND_THIRD = 0xF8 };
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(s), _mm512_castps_si512(a), _mm512_set1_epi32(k->sign), FIRST_OR_SECOND_AND_THIRD));
}

typedef struct pair {
    __m512 cosine, sine;
} pair;

AVX512 INLINE pair pair_of(const numbers *k, __m512 turns, __m512 scale)
{
    __m512 a = fraction(turns), size = size_of(k, a);
    __m512 c = sine_of(k, _mm512_sub_ps(_mm512_set1_ps(k->quarter), size));
    __m512 s = sine_of(k, _mm512_min_ps(size, _mm512_sub_ps(_mm512_set1_ps(k->half), size)));
    return (pair){_mm512_mul_ps(scale, c), _mm512_mul_ps(scale, with_sign(k, s, a))};
}

AVX512 INLINE __m512 cosine_of(const numbers *k, __m512 turns, __m512 scale)
{
    return _mm512_mul_ps(scale, sine_of(k, _mm512_sub_ps(_mm512_set1_ps(k->quarter), size_of(k, fraction(turns)))));
}

#endif
