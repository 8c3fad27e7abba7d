/* pairs_avx512.c - blocks of turns whose cosines and sines go past the caches, for AVX-512; bits are those of product32 and then pairs. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/block_avx512.h"
#include "math/trig_avx512.h"

enum { LANES = KL_PAIRS_LINE, COSINE = 0, SINE = LANES, FIRST_COSINE = 2 * LANES, FIRST_SINE = 3 * LANES };

AVX512 INLINE block32 multiply(int64_t k, const float *a, const float *b)
{
    block32 s = sum32(LEFT32, k, a, b, zeros());
    UNROLL
    for (int i = 0; i < LEFT32; i++) {
        IN_REGISTER(s.c[i][0]);
        IN_REGISTER(s.c[i][1]);
    }
    return s;
}

/* Every vector is a line. */
AVX512 static void whole_lines(int64_t k, const float *a, const float *b, const kl_pairs *to, int64_t column)
{
    const numbers *n = &turn;
    block32 s = multiply(k, a, b);
    FROM_HERE(n);
    __m512 scale = _mm512_set1_ps(to->scale);
    UNROLL
    for (int i = 0; i < LEFT32; i++) {
        float *row = to->cosine + i * to->stride + column;
        for (int j = 0; j < 2; j++) {
            pair p = pair_of(n, s.c[i][j], scale);
            _mm512_stream_ps(row + j * LANES, p.cosine);
            _mm512_stream_ps(row + to->count + j * LANES, p.sine);
        }
    }
}

/* What makes a line of two vectors, from lane `cut` of the first. */
AVX512 INLINE __m512i lanes_from(int64_t cut)
{
    return _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_epi32((int)cut));
}

AVX512 static void cut_lines(int64_t k, const float *a, const float *b, const kl_pairs *to, int64_t column, int64_t cut, float *ends)
{
    const numbers *n = &turn;
    block32 s = multiply(k, a, b);
    FROM_HERE(n);
    __m512 scale = _mm512_set1_ps(to->scale);
    const __m512i from = lanes_from(cut);
    UNROLL
    for (int i = 0; i < LEFT32; i++) {
        float *row = to->cosine + i * to->stride + column + cut, *end = ends + i * KL_PAIRS_ENDS;
        pair p = pair_of(n, s.c[i][0], scale), q = pair_of(n, s.c[i][1], scale);
        if (column == 0) {
            _mm512_storeu_ps(end + FIRST_COSINE, p.cosine);
            _mm512_storeu_ps(end + FIRST_SINE, p.sine);
        } else {
            _mm512_stream_ps(row - LANES, _mm512_permutex2var_ps(_mm512_loadu_ps(end + COSINE), from, p.cosine));
            _mm512_stream_ps(row - LANES + to->count, _mm512_permutex2var_ps(_mm512_loadu_ps(end + SINE), from, p.sine));
        }
        _mm512_stream_ps(row, _mm512_permutex2var_ps(p.cosine, from, q.cosine));
        _mm512_stream_ps(row + to->count, _mm512_permutex2var_ps(p.sine, from, q.sine));
        _mm512_storeu_ps(end + COSINE, q.cosine);
        _mm512_storeu_ps(end + SINE, q.sine);
    }
}

AVX512 void kl_avx512_product_pairs(int64_t k, const float *a, const float *b, const kl_pairs *to, int64_t column, int64_t cut, float *ends)
{
    if (cut == 0)
        whole_lines(k, a, b, to, column);
    else
        cut_lines(k, a, b, to, column, cut, ends);
}

/* A row's cosines end in the line in which its sines begin, and these in the line of the next row's cosines, if that is right behind. */
AVX512 void kl_avx512_pairs_ends(int64_t rows, const kl_pairs *to, int64_t cut, const float *ends)
{
    const __m512i from = lanes_from(cut);
    const __mmask16 before = (__mmask16)((1u << cut) - 1), behind = (__mmask16)((1u << (LANES - cut)) - 1);
    bool close = to->stride == 2 * to->count;
    for (int64_t r = 0; cut > 0 && r < rows; r++, ends += KL_PAIRS_ENDS) {
        float *row = to->cosine + r * to->stride, *sine_end = row + 2 * to->count + cut - LANES;
        __m512 last_sine = _mm512_loadu_ps(ends + SINE);
        if (r == 0 || !close)
            _mm512_mask_storeu_ps(row, before, _mm512_loadu_ps(ends + FIRST_COSINE));
        _mm512_stream_ps(row + to->count + cut - LANES, _mm512_permutex2var_ps(_mm512_loadu_ps(ends + COSINE), from, _mm512_loadu_ps(ends + FIRST_SINE)));
        if (close && r + 1 < rows)
            _mm512_stream_ps(sine_end, _mm512_permutex2var_ps(last_sine, from, _mm512_loadu_ps(ends + KL_PAIRS_ENDS + FIRST_COSINE)));
        else
            _mm512_mask_storeu_ps(sine_end, behind, _mm512_permutex2var_ps(last_sine, from, last_sine));
    }
}

#else

typedef int pairs_avx512_is_for_x86;

#endif
