/* random.h - random numbers as a pure function of (seed, stream, purpose, row, place): any thread or rank draws its part. */
#ifndef KL_RANDOM_H
#define KL_RANDOM_H

#include <stdint.h>

/* A source of numbers. stream: independent copies of a map; purpose: what is drawn, so that uses never share numbers. */
typedef struct kl_random {
    uint64_t seed;
    uint32_t stream, purpose;
} kl_random;

/* Frozen numbers: a change of any value changes every stored model's map. */
enum { KL_DRAW_FREQUENCY = 1, KL_DRAW_PHASE = 2, KL_DRAW_SAMPLE = 3, KL_DRAW_PAIRS = 4, KL_DRAW_KEEP = 5, KL_DRAW_LENGTH = 6, KL_DRAW_SIGN = 7,
       KL_DRAW_MIXTURE = 8, KL_DRAW_MATRIX = 9, KL_DRAW_ORDER = 10, KL_DRAW_LANDMARK = 11, KL_DRAW_DEGREE = 20, KL_DRAW_BUCKET = 21, KL_DRAW_FOLD = 22, KL_DRAW_SUMMAND = 30, KL_DRAW_SWEEP = 40, KL_DRAW_HELD = 41, KL_DRAW_CODE = 50, KL_DRAW_SYNTHETIC = 100 };
/* Raised when the meaning of a draw changes; stored in models, which refuse another one. */
enum { KL_STREAM_VERSION = 1 };

void kl_random_block(const kl_random *from, uint32_t row, uint32_t place, uint32_t out[4]); /* Philox4x32-10 */
uint64_t kl_random_key(const kl_random *from, uint64_t index);                              /* 64 bits for one index */
void kl_random_uniforms(const kl_random *from, uint32_t row, int64_t count, double *out);   /* open interval (0, 1) */
void kl_random_normals(const kl_random *from, uint32_t row, int64_t count, double *out);    /* Box-Muller, in double */
double kl_random_gamma(const kl_random *from, uint32_t row, double shape);                   /* Gamma(shape, 1) */
double kl_random_chi(const kl_random *from, uint32_t row, double freedom);                   /* length of a normal vector */
void kl_random_signs(const kl_random *from, uint32_t row, int64_t count, float *out);        /* +-1 */
void kl_random_roots(const kl_random *from, uint32_t row, int64_t count, float *re, float *im); /* 1, i, -1 or -i */
void kl_random_permutation(const kl_random *from, uint32_t row, int64_t count, int32_t *out);
void kl_random_order(const kl_random *from, uint32_t row, int64_t count, int32_t *out); /* the same with a quarter of the draws: biased by 2^-32 count */
/* Some numbers (count), each once, in an order of their own: two of them stand in the same order whichever others are there. work: (count) */
void kl_random_among(const kl_random *from, uint32_t row, int64_t count, int32_t *some, uint32_t *work);

#endif
