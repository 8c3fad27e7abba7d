/* trig_avx512.c - cosine and sine of arrays of turns for AVX-512, by way of the caches or past them. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/trig_avx512.h"

/* The lanes of the last, shorter vector. */
AVX512 INLINE __mmask16 first_lanes(int64_t count)
{
    return (__mmask16)((1u << count) - 1);
}

AVX512 INLINE void some_pairs(int64_t count, const float *turns, __m512 scale, float *cosine, float *sine)
{
    __mmask16 lanes = first_lanes(count);
    pair p = pair_of(&turn, _mm512_maskz_loadu_ps(lanes, turns), scale);
    _mm512_mask_storeu_ps(cosine, lanes, p.cosine);
    _mm512_mask_storeu_ps(sine, lanes, p.sine);
}

AVX512 INLINE void store_some(int64_t count, __m512 values, float *out)
{
    _mm512_mask_storeu_ps(out, first_lanes(count), values);
}

/* The line in which the cosines of a row end, with the first `lanes` of it, and its sines begin. */
AVX512 INLINE void seam(int64_t lanes, const float *last, const float *turns, __m512 scale, float *line)
{
    __mmask16 end = first_lanes(lanes);
    __m512 both = _mm512_mask_blend_ps(end, _mm512_maskz_loadu_ps((__mmask16)~end, turns - lanes), _mm512_maskz_loadu_ps(end, last));
    pair p = pair_of(&turn, both, scale);
    _mm512_stream_ps(line, _mm512_mask_blend_ps(end, p.sine, p.cosine));
}

AVX512 void kl_avx512_pairs(int64_t count, const float *turns, float scale, bool past, float *cosine, float *sine)
{
    enum { LINE = 64 };
    __m512 s = _mm512_set1_ps(scale);
    int64_t i = 0;
    if (past && (uintptr_t)cosine % LINE == (uintptr_t)sine % LINE && (uintptr_t)cosine % sizeof(float) == 0) { /* whole lines, behind the rest of one */
        i = (int64_t)(-(uintptr_t)cosine % LINE / sizeof(float));
        i = i < count ? i : count;
        bool whole = i > 0 && sine == cosine + count && count >= 32; /* a row in one piece has one line less that must be read first */
        if (whole)
            store_some(i, pair_of(&turn, _mm512_maskz_loadu_ps(first_lanes(i), turns), s).cosine, cosine);
        else if (i > 0)
            some_pairs(i, turns, s, cosine, sine);
        for (; i + 16 <= count; i += 16) {
            pair p = pair_of(&turn, _mm512_loadu_ps(turns + i), s);
            _mm512_stream_ps(cosine + i, p.cosine);
            _mm512_stream_ps(sine + i, p.sine);
        }
        if (whole) {
            seam(count - i, turns + i, turns, s, cosine + i);
            store_some(count - i, pair_of(&turn, _mm512_maskz_loadu_ps(first_lanes(count - i), turns + i), s).sine, sine + i);
            return;
        }
    }
    for (; i + 16 <= count; i += 16) {
        pair p = pair_of(&turn, _mm512_loadu_ps(turns + i), s);
        _mm512_storeu_ps(cosine + i, p.cosine);
        _mm512_storeu_ps(sine + i, p.sine);
    }
    if (i < count)
        some_pairs(count - i, turns + i, s, cosine + i, sine + i);
}

AVX512 void kl_avx512_drain(void)
{
    _mm_sfence();
}

AVX512 void kl_avx512_cosines(int64_t count, const float *turns, const float *phase, float scale, float *out)
{
    __m512 s = _mm512_set1_ps(scale);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(out + i, cosine_of(&turn, _mm512_add_ps(_mm512_loadu_ps(turns + i), _mm512_loadu_ps(phase + i)), s));
    if (i < count) {
        __mmask16 lanes = first_lanes(count - i);
        __m512 t = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, turns + i), _mm512_maskz_loadu_ps(lanes, phase + i));
        _mm512_mask_storeu_ps(out + i, lanes, cosine_of(&turn, t, s));
    }
}

#else

typedef int trig_avx512_is_for_x86;

#endif
