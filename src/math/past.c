/*
 * past.c - a line that is stored the usual way is read first, and puts another one out of the caches. Whole lines go past them, by stores that every x86-64 has; what is
 * before the first and behind the last whole line goes the usual way.
 */
#include "math/past.h"

#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>

static void stream_line(unsigned char *to, const unsigned char *from)
{
    for (int k = 0; k < 64; k += 16)
        _mm_stream_si128((__m128i *)(void *)(to + k), _mm_loadu_si128((const __m128i *)(const void *)(from + k)));
}

void kl_past_copy(void *to, const void *from, int64_t bytes)
{
    enum { LINE = 64 };
    unsigned char *t = to;
    const unsigned char *f = from;
    int64_t at = (int64_t)(-(uintptr_t)t % LINE);
    at = at < bytes ? at : bytes;
    memcpy(t, f, (size_t)at);
    for (; bytes - at >= LINE; at += LINE)
        stream_line(t + at, f + at);
    memcpy(t + at, f + at, (size_t)(bytes - at));
    _mm_sfence();
}
#else
void kl_past_copy(void *to, const void *from, int64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
}
#endif
