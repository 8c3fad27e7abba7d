/* code.h - error-correcting output codes: a matrix of signs, one row per class, one column per bit (a task of two classes). */
#ifndef KL_CODE_H
#define KL_CODE_H

#include "base/record.h"

typedef enum { KL_CODE_NONE, KL_CODE_IDENTITY, KL_CODE_RANDOM, KL_CODE_BALANCED, KL_CODE_HADAMARD, KL_CODE_EXHAUSTIVE } kl_code_kind;
#define KL_CODE_WORDS "none|identity|random|balanced|hadamard|exhaustive"
typedef enum { KL_DECODE_SOFT, KL_DECODE_HAMMING } kl_decode;
#define KL_DECODE_WORDS "soft|hamming"

enum { KL_CODE_MOST_BITS = 1 << 20, KL_CODE_MOST_EXHAUSTIVE = 10 };

typedef struct kl_code {
    kl_code_kind kind;
    kl_decode decode;
    int64_t classes, bits; /* bits 0: no code */
    int8_t *sign;          /* (classes, bits), -1 or 1 */
} kl_code;

const char *kl_code_name(kl_code_kind kind);
const char *kl_decode_name(kl_decode decode);
/* A function of its arguments only; bits 0: as many as the code has, or for random and balanced 50 ceil(log2 classes). */
klift_status kl_code_new(kl_code_kind kind, int64_t classes, int64_t bits, uint64_t seed, kl_code *code);
int64_t kl_code_distance(const kl_code *code); /* the least number of bits in which two classes differ */
/* The values of the bits (bits) that scores (classes) of one class against the rest make; of two classes the one of class 1. */
void kl_code_values(const kl_code *code, const double *score, double *value);
/* Weights w (classes, features) and b (classes) of one class against the rest on the -1/+1 scale, for two classes those of class 1
 * alone, become those of the bits: w (bits, features), b (bits). */
klift_status kl_code_apply(const kl_code *code, int64_t features, double **w, double **b);
/* Decodes the values of the bits: score (classes), for two classes one score, positive for class 1. The largest is the class. */
void kl_code_scores(const kl_code *code, const double *value, double *score);
void kl_code_save(const kl_code *code, kl_record_writer *to);
klift_status kl_code_load(kl_code *code, int64_t classes, kl_record_reader *from);
void kl_code_clear(kl_code *code);

#endif
