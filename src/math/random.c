/*
 * random.c - Philox4x32-10 (Salmon et al. 2011, Random123): the key is the seed, the counter is
 * (place, row, purpose, stream). One block of 128 bits gives two uniforms u = ((r64 >> 12) + 1/2) 2^-52, which are
 * exact and never 0 or 1, or one Box-Muller pair of normals.
 */
#include "math/random.h"

#include <math.h>

#include <Random123/philox.h>

void kl_random_block(const kl_random *from, uint32_t row, uint32_t place, uint32_t out[4])
{
    philox4x32_ctr_t counter = {{place, row, from->purpose, from->stream}};
    philox4x32_key_t key = {{(uint32_t)from->seed, (uint32_t)(from->seed >> 32)}};
    philox4x32_ctr_t bits = philox4x32(counter, key);
    for (int i = 0; i < 4; i++)
        out[i] = bits.v[i];
}

uint64_t kl_random_key(const kl_random *from, uint64_t index)
{
    uint32_t bits[4];
    kl_random_block(from, (uint32_t)(index >> 32), (uint32_t)index, bits);
    return (uint64_t)bits[1] << 32 | bits[0];
}

static void two_uniforms(const kl_random *from, uint32_t row, uint32_t place, double u[2])
{
    uint32_t bits[4];
    kl_random_block(from, row, place, bits);
    for (int i = 0; i < 2; i++) {
        uint64_t r = (uint64_t)bits[2 * i + 1] << 32 | bits[2 * i];
        u[i] = ((double)(r >> 12) + 0.5) * 0x1p-52;
    }
}

void kl_random_uniforms(const kl_random *from, uint32_t row, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i += 2) {
        double u[2];
        two_uniforms(from, row, (uint32_t)(i / 2), u);
        out[i] = u[0];
        if (i + 1 < count)
            out[i + 1] = u[1];
    }
}

void kl_random_normals(const kl_random *from, uint32_t row, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i += 2) {
        double u[2];
        two_uniforms(from, row, (uint32_t)(i / 2), u);
        double radius = sqrt(-2.0 * log(u[0])), angle = 6.283185307179586476925 * u[1];
        out[i] = radius * cos(angle);
        if (i + 1 < count)
            out[i + 1] = radius * sin(angle);
    }
}

/* Marsaglia and Tsang (2000): attempt a uses places 2a (a normal) and 2a + 1 (a uniform), so that it can be redrawn. */
double kl_random_gamma(const kl_random *from, uint32_t row, double shape)
{
    double u[2], boost = 1;
    if (shape < 1) {
        two_uniforms(from, row, UINT32_MAX, u);
        boost = pow(u[0], 1 / shape);
        shape += 1;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (uint32_t attempt = 0;; attempt++) {
        two_uniforms(from, row, 2 * attempt, u);
        double g = sqrt(-2.0 * log(u[0])) * cos(6.283185307179586476925 * u[1]), v = 1 + c * g;
        two_uniforms(from, row, 2 * attempt + 1, u);
        v = v * v * v;
        if (v > 0 && log(u[0]) < 0.5 * g * g + d - d * v + d * log(v))
            return boost * d * v;
    }
}

double kl_random_chi(const kl_random *from, uint32_t row, double freedom)
{
    return sqrt(2 * kl_random_gamma(from, row, freedom / 2));
}

void kl_random_signs(const kl_random *from, uint32_t row, int64_t count, float *out)
{
    for (int64_t i = 0; i < count; i += 128) {
        uint32_t bits[4];
        kl_random_block(from, row, (uint32_t)(i / 128), bits);
        for (int64_t j = i; j < count && j < i + 128; j++)
            out[j] = (bits[(j - i) / 32] >> (j - i) % 32) & 1 ? -1.0f : 1.0f;
    }
}

/* two bits each: the lower one says which part, the upper one its sign */
void kl_random_roots(const kl_random *from, uint32_t row, int64_t count, float *re, float *im)
{
    for (int64_t i = 0; i < count; i += 64) {
        uint32_t bits[4];
        kl_random_block(from, row, (uint32_t)(i / 64), bits);
        for (int64_t j = i; j < count && j < i + 64; j++) {
            uint32_t code = bits[(j - i) / 16] >> 2 * ((j - i) % 16);
            float one = code & 2 ? -1.0f : 1.0f;
            re[j] = code & 1 ? 0.0f : one;
            im[j] = code & 1 ? one : 0.0f;
        }
    }
}

/* Fisher and Yates; a uniform of 52 bits over at most 2^31 places is biased by less than 2^-20 */
void kl_random_permutation(const kl_random *from, uint32_t row, int64_t count, int32_t *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = (int32_t)i;
    for (int64_t i = count - 1; i > 0; i--) {
        double u[2];
        two_uniforms(from, row, (uint32_t)i, u);
        int64_t j = (int64_t)(u[0] * (double)(i + 1));
        int32_t kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
}

void kl_random_order(const kl_random *from, uint32_t row, int64_t count, int32_t *out)
{
    uint32_t bits[4];
    for (int64_t i = 0; i < count; i++)
        out[i] = (int32_t)i;
    for (int64_t i = count - 1, drawn = 0; i > 0; i--, drawn++) {
        if (drawn % 4 == 0)
            kl_random_block(from, row, (uint32_t)(drawn / 4), bits);
        int64_t j = (int64_t)((uint64_t)bits[drawn % 4] * (uint64_t)(i + 1) >> 32);
        int32_t kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
}

/* ---- some of many in one order ---- */

/* A one-to-one function of 32 bits, by odd factors and shifts, and its inverse. */
typedef struct mixing {
    uint32_t odd[3], back[3], plus;
} mixing;

static mixing mixing_of(const kl_random *from, uint32_t row)
{
    uint32_t bits[4];
    mixing m;
    kl_random_block(from, row, 0, bits);
    for (int i = 0; i < 3; i++) {
        m.odd[i] = m.back[i] = bits[i] | 1;
        for (int twice = 0; twice < 4; twice++) /* Newton: of 3 right bits 6, 12, 24, 48 */
            m.back[i] *= 2 - m.odd[i] * m.back[i];
    }
    m.plus = bits[3];
    return m;
}

static uint32_t mix(const mixing *m, uint32_t x)
{
    x = x * m->odd[0] + m->plus;
    x = (x ^ x >> 16) * m->odd[1];
    x = (x ^ x >> 15) * m->odd[2];
    return x ^ x >> 16;
}

static uint32_t mix_back(const mixing *m, uint32_t x)
{
    x = (x ^ x >> 16) * m->back[2];
    x = (x ^ x >> 15 ^ x >> 30) * m->back[1];
    x ^= x >> 16;
    return (x - m->plus) * m->back[0];
}

enum { BITS = 11, PARTS = 3, DIGITS = 1 << BITS }; /* three digits are 32 bits */

/* Ascending, digit by digit from the lowest on, each keeping the order of those before: from key to other and back, and to other at last.
 * Keys that were mixed are nowhere in order: a sort that compares them would guess wrong at every other step. */
static void sort_keys(int64_t count, uint32_t *key, uint32_t *other)
{
    uint32_t next[PARTS][DIGITS] = {{0}}; /* of numbers that int32_t holds there are fewer */
    for (int64_t i = 0; i < count; i++)
        for (int p = 0; p < PARTS; p++)
            next[p][key[i] >> p * BITS & (DIGITS - 1)]++;
    for (int p = 0; p < PARTS; p++) {
        uint32_t before = 0;
        for (int c = 0; c < DIGITS; c++) {
            uint32_t here = next[p][c];
            next[p][c] = before;
            before += here;
        }
        const uint32_t *from = p % 2 == 0 ? key : other;
        uint32_t *to = p % 2 == 0 ? other : key;
        for (int64_t i = 0; i < count; i++)
            to[next[p][from[i] >> p * BITS & (DIGITS - 1)]++] = from[i];
    }
}

void kl_random_among(const kl_random *from, uint32_t row, int64_t count, int32_t *some, uint32_t *work)
{
    mixing m = mixing_of(from, row);
    uint32_t *key = (uint32_t *)some; /* the same places: signed and unsigned may share them */
    for (int64_t i = 0; i < count; i++)
        key[i] = mix(&m, (uint32_t)some[i]);
    sort_keys(count, key, work);
    for (int64_t i = 0; i < count; i++)
        some[i] = (int32_t)mix_back(&m, work[i]);
}
