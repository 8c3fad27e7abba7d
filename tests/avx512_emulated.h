/*
 * avx512_emulated.h - AVX-512 for CPUs that have AVX2, for tests: SIMDe's functions under the names of the intrinsics, and
 * those that SIMDe 0.7.4 lacks, as Intel describes them. The Makefile includes it before the AVX-512 files of
 * src/math (-include, -DKLIFT_TEST_AVX512).
 */
#ifndef AVX512_EMULATED_H
#define AVX512_EMULATED_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/fma.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef union emulated_lanes {
    simde__m512 vector;
    simde__m256 half[2];
    float f[16];
} emulated_lanes;

/* Within each quarter, lane i takes lane (control >> 2 i) & 3. */
static inline simde__m512 emulated_permute(simde__m512 a, int control)
{
    emulated_lanes from = {.vector = a}, to;
    for (int i = 0; i < 16; i++)
        to.f[i] = from.f[i / 4 * 4 + (control >> (i % 4 * 2) & 3)];
    return to.vector;
}

/* Quarters 0 and 1 come from a, 2 and 3 from b, by two bits of the control each. */
static inline simde__m512 emulated_shuffle_quarters(simde__m512 a, simde__m512 b, int control)
{
    emulated_lanes first = {.vector = a}, second = {.vector = b}, to;
    for (int q = 0; q < 4; q++)
        memcpy(to.f + 4 * q, (q < 2 ? first.f : second.f) + 4 * (control >> 2 * q & 3), 4 * sizeof(float));
    return to.vector;
}

static inline simde__m256 emulated_extract(simde__m512 a, int half)
{
    return (emulated_lanes){.vector = a}.half[half];
}

static inline simde__m512d emulated_to_double(simde__m256 a)
{
    float from[8];
    double to[8];
    memcpy(from, &a, sizeof from);
    for (int i = 0; i < 8; i++)
        to[i] = (double)from[i];
    return simde_mm512_loadu_pd(to);
}

static inline simde__m256 emulated_to_single(simde__m512d a)
{
    double from[8];
    float to[8];
    memcpy(from, &a, sizeof from);
    for (int i = 0; i < 8; i++)
        to[i] = (float)from[i];
    return simde_mm256_loadu_ps(to);
}

/* Lanes that the mask leaves out are neither read nor written, as the CPU does it: sanitizers would see it. */
static inline simde__m512 emulated_load(simde__mmask16 mask, const float *at)
{
    emulated_lanes to = {.f = {0}};
    for (int i = 0; i < 16; i++)
        to.f[i] = mask >> i & 1 ? at[i] : 0;
    return to.vector;
}

static inline void emulated_store(float *at, simde__mmask16 mask, simde__m512 a)
{
    emulated_lanes from = {.vector = a};
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1)
            at[i] = from.f[i];
}

static inline simde__m128i emulated_load_bytes(simde__mmask16 mask, const uint8_t *at)
{
    uint8_t to[16] = {0};
    for (int i = 0; i < 16; i++)
        to[i] = mask >> i & 1 ? at[i] : 0;
    return simde_mm_loadu_si128((const void *)to);
}

static inline simde__m512i emulated_load_whole(simde__mmask16 mask, const int32_t *at)
{
    int32_t to[16] = {0};
    for (int i = 0; i < 16; i++)
        to[i] = mask >> i & 1 ? at[i] : 0;
    return simde_mm512_loadu_si512(to);
}

static inline void emulated_store_whole(int32_t *at, simde__mmask16 mask, simde__m512i a)
{
    int32_t from[16];
    memcpy(from, &a, sizeof from);
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1)
            at[i] = from[i];
}

/* Eight of 64 bits, of whatever kind. */
static inline simde__m512i emulated_load_wide(simde__mmask8 mask, const void *at)
{
    int64_t to[8] = {0};
    for (int i = 0; i < 8; i++)
        if (mask >> i & 1)
            memcpy(to + i, (const char *)at + 8 * i, sizeof *to);
    return simde_mm512_loadu_si512(to);
}

static inline simde__m512d emulated_load_double(simde__mmask8 mask, const double *at)
{
    simde__m512i bits = emulated_load_wide(mask, at);
    double to[8];
    memcpy(to, &bits, sizeof to);
    return simde_mm512_loadu_pd(to);
}

static inline simde__m256i emulated_gather_entries(simde__m256i other, simde__mmask8 mask, simde__m512i index, const uint32_t *at)
{
    int64_t from[8];
    uint32_t to[8];
    memcpy(from, &index, sizeof from);
    memcpy(to, &other, sizeof to);
    for (int i = 0; i < 8; i++)
        if (mask >> i & 1)
            to[i] = at[from[i]];
    return simde_mm256_loadu_si256((const void *)to);
}

static inline simde__m512i emulated_widen_whole(simde__m256i a)
{
    uint32_t from[8];
    uint64_t to[8];
    memcpy(from, &a, sizeof from);
    for (int i = 0; i < 8; i++)
        to[i] = from[i];
    return simde_mm512_loadu_si512(to);
}

static inline simde__m512i emulated_compress_bytes(uint64_t mask, simde__m512i a)
{
    uint8_t from[64], to[64] = {0};
    int count = 0;
    memcpy(from, &a, sizeof from);
    for (int i = 0; i < 64; i++)
        if (mask >> i & 1)
            to[count++] = from[i];
    return simde_mm512_loadu_si512(to);
}

/* Sixteen whole numbers of 16 bits, with or without a sign, as such of 32 bits. */
static inline simde__m512i emulated_widen(simde__m256i a, bool sign)
{
    uint16_t from[16];
    int32_t to[16];
    memcpy(from, &a, sizeof from);
    for (int i = 0; i < 16; i++)
        to[i] = sign ? (int16_t)from[i] : from[i];
    return simde_mm512_loadu_si512(to);
}

static inline simde__m512i emulated_widen_bytes(simde__m128i a)
{
    uint8_t from[16];
    int32_t to[16];
    memcpy(from, &a, sizeof from);
    for (int i = 0; i < 16; i++)
        to[i] = from[i];
    return simde_mm512_loadu_si512(to);
}

/* Within each quarter, lane i takes the lane that its own number says. */
static inline simde__m512 emulated_permute_by(simde__m512 a, simde__m512i lane)
{
    int32_t which[16];
    emulated_lanes from = {.vector = a}, to;
    memcpy(which, &lane, sizeof which);
    for (int i = 0; i < 16; i++)
        to.f[i] = from.f[i / 4 * 4 + (which[i] & 3)];
    return to.vector;
}

static inline simde__m512 emulated_to_float(simde__m512i a)
{
    int32_t from[16];
    emulated_lanes to;
    memcpy(from, &a, sizeof from);
    for (int i = 0; i < 16; i++)
        to.f[i] = (float)from[i];
    return to.vector;
}

static inline simde__m512 emulated_gather(simde__m512i index, const float *at)
{
    int32_t from[16];
    emulated_lanes to;
    memcpy(from, &index, sizeof from);
    for (int i = 0; i < 16; i++)
        to.f[i] = at[from[i]];
    return to.vector;
}

static inline simde__m512d emulated_gather_wide(simde__m256i index, const void *at)
{
    int32_t from[8];
    double to[8];
    memcpy(from, &index, sizeof from);
    for (int i = 0; i < 8; i++)
        memcpy(to + i, (const char *)at + 8 * (int64_t)from[i], sizeof *to);
    return simde_mm512_loadu_pd(to);
}

static inline simde__m512 emulated_gather_some(simde__m512 other, simde__mmask16 mask, simde__m512i index, const float *at)
{
    int32_t from[16];
    emulated_lanes to = {.vector = other};
    memcpy(from, &index, sizeof from);
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1)
            to.f[i] = at[from[i]];
    return to.vector;
}

static inline void emulated_scatter_some(float *at, simde__mmask16 mask, simde__m512i index, simde__m512 a)
{
    int32_t to[16];
    emulated_lanes from = {.vector = a};
    memcpy(to, &index, sizeof to);
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1)
            at[to[i]] = from.f[i];
}

/* The CPU faults where the place is not a whole line; so does this. */
static inline void emulated_stream(float *at, simde__m512 a)
{
    if ((uintptr_t)at % 64 != 0)
        __builtin_trap();
    memcpy(at, &a, sizeof a);
}

/* Headers of compilers define some of them as macros. */
#undef _mm512_permute_ps
#undef _mm512_shuffle_epi32
#undef _mm512_shuffle_f32x4
#undef _mm512_movehdup_ps
#undef _mm512_moveldup_ps
#undef _mm512_extractf32x8_ps
#undef _mm512_cvtps_pd
#undef _mm512_cvtpd_ps
#undef _mm512_cvtepi16_epi32
#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtepu8_epi32
#undef _mm512_permutevar_ps
#undef _mm512_cvtepi32_ps
#undef _mm512_maskz_loadu_ps
#undef _mm512_mask_storeu_ps
#undef _mm_maskz_loadu_epi8
#undef _mm512_i32gather_ps
#undef _mm512_i32gather_pd
#undef _mm512_stream_ps
#undef _mm512_maskz_loadu_epi32
#undef _mm512_mask_storeu_epi32
#undef _mm512_maskz_loadu_epi64
#undef _mm512_maskz_loadu_pd
#undef _mm512_mask_i64gather_epi32
#undef _mm512_cvtepu32_epi64
#undef _mm512_maskz_compress_epi8
#undef _mm512_mask_i32gather_ps
#undef _mm512_mask_i32scatter_ps
#define _mm512_shuffle_epi32(a, control) simde_mm512_castps_si512(emulated_permute(simde_mm512_castsi512_ps(a), control))
#define _mm512_permute_ps(a, control) emulated_permute(a, control)
#define _mm512_movehdup_ps(a) emulated_permute(a, 0xF5)
#define _mm512_moveldup_ps(a) emulated_permute(a, 0xA0)
#define _mm512_shuffle_f32x4(a, b, control) emulated_shuffle_quarters(a, b, control)
#define _mm512_extractf32x8_ps(a, half) emulated_extract(a, half)
#define _mm512_cvtpd_ps(a) emulated_to_single(a)
#define _mm512_cvtps_pd(a) emulated_to_double(a)
#define _mm512_cvtpd_ps(a) emulated_to_single(a)
#define _mm512_cvtepi16_epi32(a) emulated_widen(a, true)
#define _mm512_cvtepu16_epi32(a) emulated_widen(a, false)
#define _mm512_cvtepu8_epi32(a) emulated_widen_bytes(a)
#define _mm512_permutevar_ps(a, lane) emulated_permute_by(a, lane)
#define _mm512_cvtepi32_ps(a) emulated_to_float(a)
#define _mm512_maskz_loadu_ps(mask, at) emulated_load(mask, at)
#define _mm512_mask_storeu_ps(at, mask, a) emulated_store(at, mask, a)
#define _mm_maskz_loadu_epi8(mask, at) emulated_load_bytes(mask, at)
#define _mm512_i32gather_ps(index, at, size) emulated_gather(index, at) /* of floats: size 4 */
#define _mm512_i32gather_pd(index, at, size) emulated_gather_wide(index, at) /* size 8 */
#define _mm512_maskz_loadu_epi32(mask, at) emulated_load_whole(mask, at)
#define _mm512_mask_storeu_epi32(at, mask, a) emulated_store_whole(at, mask, a)
#define _mm512_maskz_loadu_epi64(mask, at) emulated_load_wide(mask, at)
#define _mm512_maskz_loadu_pd(mask, at) emulated_load_double(mask, at)
#define _mm512_mask_i64gather_epi32(other, mask, index, at, size) emulated_gather_entries(other, mask, index, at) /* size 4 */
#define _mm512_cvtepu32_epi64(a) emulated_widen_whole(a)
#define _mm512_maskz_compress_epi8(mask, a) emulated_compress_bytes(mask, a)
#define _mm512_mask_i32gather_ps(other, mask, index, at, size) emulated_gather_some(other, mask, index, at) /* size 4 */
#define _mm512_mask_i32scatter_ps(at, mask, index, a, size) emulated_scatter_some(at, mask, index, a) /* size 4 */
#define _mm512_stream_ps(at, a) emulated_stream(at, a)

static inline simde__m512d emulated_whole_to_double(simde__m256i a)
{
    int32_t from[8];
    double to[8];
    memcpy(from, &a, sizeof from);
    for (int i = 0; i < 8; i++)
        to[i] = (double)from[i];
    return simde_mm512_loadu_pd(to);
}
#define _mm512_cvtepi32_pd(a) emulated_whole_to_double(a)

/* By the rounding mode; what does not fit is INT32_MIN, as the CPU has it. */
static inline simde__m512i emulated_round(simde__m512 a)
{
    simde__m512i to;
    for (int half = 0; half < 2; half++) {
        __m256i part = _mm256_cvtps_epi32((emulated_lanes){.vector = a}.half[half]);
        memcpy((char *)&to + 32 * half, &part, sizeof part);
    }
    return to;
}
#undef _mm512_cvtps_epi32
#define _mm512_cvtps_epi32(a) emulated_round(a)
/* SIMDe 0.7.4 gives the name to the masked one. */
#undef _mm512_madd_epi16
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)

#endif
