/*
 * late_avx512.c - a block of float32 products for AVX-512, beside which the sums of the block before are added, sixteen for every some steps; bits are those of add32.
 * A tile ends with fewer rows than a block has: of eight there is a block of their own, which takes eight fourteenths of the time.
 */
#include "math/late.h"

#include "math/micro.h"

#if defined(__x86_64__)

#include "math/block_avx512.h"

enum { LANES = 16, STEPS = 16, NUMBERS = 8 /* of a line */, FEW = 8 };

_Static_assert((int)KL_LATE_ROWS == (int)LEFT32 && (int)KL_LATE_WIDTH == (int)WIDTH32, "what waits is a block");

/* Vector v of those that wait, which are two to a row. */
AVX512 INLINE void add_vector(const kl_late *late, int64_t v)
{
    double *c = late->c + v / 2 * late->stride + v % 2 * LANES;
    const float *sum = late->sum + v * LANES;
    _mm512_storeu_pd(c, _mm512_add_pd(_mm512_loadu_pd(c), _mm512_cvtps_pd(_mm256_loadu_ps(sum))));
    _mm512_storeu_pd(c + NUMBERS, _mm512_add_pd(_mm512_loadu_pd(c + NUMBERS), _mm512_cvtps_pd(_mm256_loadu_ps(sum + NUMBERS))));
}

/* most: the rows that are multiplied, a constant where it is called: the sums stay in registers. */
AVX512 INLINE void block(int most, int64_t k, const float *a, const float *b, kl_late *late)
{
    block32 s = zeros();
    int64_t v = 0, waiting = 2 * late->rows;
    for (; v < waiting && k >= STEPS; v++, k -= STEPS, a += STEPS * LEFT32, b += STEPS * WIDTH32) {
        s = sum32(most, STEPS, a, b, s);
        add_vector(late, v);
    }
    s = sum32(most, k, a, b, s);
    for (; v < waiting; v++)
        add_vector(late, v);
    UNROLL
    for (int i = 0; i < most; i++)
        for (int j = 0; j < 2; j++)
            _mm512_storeu_ps(late->sum + i * WIDTH32 + j * LANES, s.c[i][j]);
}

AVX512 void kl_avx512_add_late(int64_t rows, int64_t k, const float *a, const float *b, double *c, int64_t stride, kl_late *late)
{
    fetch_block(rows, c, stride);
    if (rows > FEW)
        block(LEFT32, k, a, b, late);
    else
        block(FEW, k, a, b, late);
    late->c = c;
    late->stride = stride;
    late->rows = rows;
}

AVX512 void kl_avx512_late(kl_late *late)
{
    for (int64_t v = 0; v < 2 * late->rows; v++)
        add_vector(late, v);
    late->rows = 0;
}

#else

typedef int late_avx512_is_for_x86;

#endif
