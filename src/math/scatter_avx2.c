/* scatter_avx2.c - groups of eight for AVX2, one vector each; the table of AVX-512 has them too: they are bound by loads. */
#include "math/micro.h"

#if defined(__x86_64__)

#include "math/simd.h"

enum { GROUP = KL_SCATTER_GROUP };

/* value times +-1 is exact: fused or not, the bits are those of the reference. */
AVX2 INLINE __m256 add_to(__m256 sum, const float *value, const float *row)
{
    return _mm256_fmadd_ps(_mm256_broadcast_ss(value), _mm256_loadu_ps(row), sum);
}

AVX2 void kl_avx2_scatter(int64_t count, const int32_t *column, const float *value, const uint32_t *code, float *x)
{
    for (int64_t q = 0; q < count; q++) {
        uint32_t c = code[column[q]];
        float *group = x + (int64_t)(c >> 4) * GROUP;
        _mm256_storeu_ps(group, add_to(_mm256_loadu_ps(group), value + q, kl_scatter_row[c & 15]));
    }
}

/* `many` is a constant where it is called, except for groups of more than four entries. */
AVX2 INLINE void collect_run(int64_t many, int64_t count, const uint32_t *entry, const int32_t *group, const float *row, float *x)
{
    for (int64_t i = 0; i < count; i++) {
        __m256 sum = _mm256_setzero_ps();
        for (int64_t q = 0; q < many; q++) {
            uint32_t e = entry[i * many + q];
            sum = add_to(sum, row + (e >> 8), kl_scatter_row[0] + (uint8_t)e);
        }
        _mm256_storeu_ps(x + group[i], sum);
    }
}

AVX2 void kl_avx2_collect(const kl_scatter *s, const float *row, float *x)
{
    const uint32_t *entry = s->entry;
    const int32_t *group = s->group;
    for (int64_t many = 0; many <= s->most; many++) {
        int64_t count = s->run[many];
        switch (many) {
        case 0: collect_run(0, count, entry, group, row, x); break;
        case 1: collect_run(1, count, entry, group, row, x); break;
        case 2: collect_run(2, count, entry, group, row, x); break;
        case 3: collect_run(3, count, entry, group, row, x); break;
        case 4: collect_run(4, count, entry, group, row, x); break;
        default: collect_run(many, count, entry, group, row, x); break;
        }
        entry += many * count;
        group += count;
    }
}

#else

typedef int scatter_avx2_is_for_x86;

#endif
