/* hadamard_avx512.c - the Walsh-Hadamard transform for AVX-512: the stages inside a vector of 16, v times +-1 being exact. */
#include "math/hadamard.h"
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/trig_avx512.h"

#include <stddef.h>

enum { LANES = 16 };

/* h = 4: each lane becomes its partner plus or minus itself. */
AVX512 INLINE __m512 load_four(const float *sign, const float *from)
{
    const __m512 third = _mm512_setr_ps(1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1);
    __m512 v = _mm512_loadu_ps(from);
    if (sign != NULL)
        v = _mm512_mul_ps(v, _mm512_loadu_ps(sign));
    return _mm512_fmadd_ps(v, third, _mm512_shuffle_f32x4(v, v, 0xB1));
}

/* h = 1 */
AVX512 INLINE __m512 one(__m512 v)
{
    const __m512 odd = _mm512_setr_ps(1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1);
    return _mm512_fmadd_ps(v, odd, _mm512_permute_ps(v, 0xB1));
}

/* The same of what is loaded twice, its even lanes and its odd ones: by the units of loads. */
AVX512 INLINE __m512 load_one(const float *from)
{
    const __m512 odd = _mm512_setr_ps(1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1);
    __m512 v = _mm512_loadu_ps(from);
    return _mm512_fmadd_ps(_mm512_movehdup_ps(v), odd, _mm512_moveldup_ps(v));
}

/* h = 2 */
AVX512 INLINE __m512 two(__m512 v)
{
    const __m512 second = _mm512_setr_ps(1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1);
    return _mm512_fmadd_ps(v, second, _mm512_permute_ps(v, 0x4E));
}

/* h = 8 */
AVX512 INLINE __m512 eight(__m512 v)
{
    const __m512 upper = _mm512_setr_ps(1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1);
    return _mm512_fmadd_ps(v, upper, _mm512_shuffle_f32x4(v, v, 0x4E));
}

/* The same with the load: each half to both places. */
AVX512 INLINE __m512 load_eight(const float *from)
{
    const __m512 upper = _mm512_setr_ps(1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1);
    __m512 low = _mm512_broadcast_f32x8(_mm256_loadu_ps(from)), high = _mm512_broadcast_f32x8(_mm256_loadu_ps(from + 8));
    return _mm512_fmadd_ps(high, upper, low);
}

/* A line of the turns that wait, for every so many vectors stored: three transforms of a block's size store as many as take another block along. */
AVX512 INLINE void beside(kl_waiting *w, int stored)
{
    enum { EVERY = 8 };
    w->stored += stored;
    if (w->stored < EVERY || w->count < LANES)
        return;
    pair p = pair_of(&turn, _mm512_loadu_ps(w->turns), _mm512_set1_ps(w->scale));
    _mm512_stream_ps(w->cosine, p.cosine);
    _mm512_stream_ps(w->cosine + w->apart, p.sine);
    w->stored -= EVERY;
    w->turns += LANES;
    w->cosine += LANES;
    w->count -= LANES;
}

#define TARGET AVX512
#define VECTOR __m512
#define LOAD _mm512_loadu_ps
#define STORE _mm512_storeu_ps
#define ADD _mm512_add_ps
#define SUBTRACT _mm512_sub_ps
#define MINUS _mm512_sub_ps
#define MULTIPLY _mm512_mul_ps
#define BESIDE beside

#include "math/hadamard_body.h"

/* One pass, which takes no longer than finding out that it is one. */
enum { SHORT = 64 };
AVX512 static void transform_short(const float *sign, const float *from, float *x)
{
    if (sign != NULL)
        one_pass(false, 3, sign, from, x, NULL);
    else
        one_pass(false, 3, NULL, from, x, NULL);
}

AVX512 void kl_avx512_hadamard(int64_t n, const float *sign, const float *from, float *x)
{
    if (n == SHORT)
        transform_short(sign, from, x);
    else
        hadamard(n, sign, from, x, NULL);
}

AVX512 void kl_avx512_hadamard_beside(int64_t n, const float *sign, const float *from, float *x, kl_waiting *waiting)
{
    hadamard(n, sign, from, x, waiting);
}

AVX512 void kl_avx512_finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out)
{
    finish(n, kept, x, a, out);
}

#else

typedef int hadamard_avx512_is_for_x86;

#endif
