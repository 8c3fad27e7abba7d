/* plain_cells_avx2.c - where cells end, 64 bytes at a time, and their numbers, four at a time (plain_cells_four.h). */
#include "data/plain_cells.h"

#if defined(__x86_64__)

#include "data/plain_cells_four.h"
#include "data/plain_cells_one.h"

enum { GROUP = 4 };

AVX2 INLINE uint64_t find(const char *text, __m256i wanted)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)text), high = _mm256_loadu_si256((const __m256i *)(text + 32));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)) << 32;
}

/* Eight are written whether they are there or not: how many there are is hard to foretell. */
AVX2 static int64_t mark(const char *text, int64_t count, char delimiter, uint32_t *end, int64_t *newlines)
{
    const __m256i delimiters = _mm256_set1_epi8(delimiter), line_ends = _mm256_set1_epi8('\n');
    int64_t marks = 0, lines = 0;
    for (int64_t at = 0; at < count; at += 64) {
        uint64_t line = find(text + at, line_ends), bits = line | find(text + at, delimiters);
        if (count - at < 64) {
            bits &= (UINT64_C(1) << (count - at)) - 1;
            line &= bits;
        }
        uint32_t *to = end + marks;
        marks += __builtin_popcountll(bits);
        lines += __builtin_popcountll(line);
        do {
            for (int k = 0; k < 8; k++, bits &= bits - 1)
                *to++ = (uint32_t)at + (uint32_t)_tzcnt_u64(bits);
        } while (bits != 0);
    }
    *newlines = lines;
    return marks;
}

/* Cells from j on by groups; the first cell of a group that has another form, or count. Calls nothing, so that what is
 * constant stays in registers. */
AVX2 static int64_t read_groups(const char *text, const uint32_t *end, int64_t j, int64_t count, char point, float *x, double *last)
{
    const __m256i points = _mm256_set1_epi8((char)(point - '0'));
    for (; j < count; j += GROUP) {
        if (j > count - GROUP) /* the last group begins before j: the same numbers again */
            j = count - GROUP;
        if (!kl_plain_four(text, end + j, points, x + j, j == count - GROUP ? last : NULL))
            return j;
    }
    return count;
}

static int64_t read_cells(const char *text, const uint32_t *end, int64_t count, char point, float *x, double *last)
{
    bool stuck = false;
    int64_t j = 0, singly = count - (last != NULL);
    while (j < singly && !stuck) {
        if (count >= GROUP)
            j = read_groups(text, end, j, count, point, x, last);
        j = kl_plain_ones(text, end, j, GROUP, singly, point, x, &stuck);
    }
    return j;
}

const kl_plain_cells kl_plain_cells_avx2 = {"avx2", mark, read_cells};

#endif
