/* complex.h - arrays of complex numbers as two arrays of floats: products and gathers. Every instruction set gives the same bits. */
#ifndef KL_COMPLEX_H
#define KL_COMPLEX_H

#include <stdint.h>

typedef struct kl_complex {
    float *re, *im;
} kl_complex;

/* The numbers scale i^code[k], codes 0 to 3: signs of a complex sketch in a byte. */
typedef struct kl_roots {
    uint8_t *code;
    float scale;
} kl_roots;

/* out = a o b, or a o b o c when c is not NULL, with b[k] = from[index[k]], k < n, of from (count), whose parts are first put side by side, pairs (2 count): one load for
 * both. Without a when a.re is NULL. out is another array than from and pairs. */
void kl_complex_gather(int64_t n, kl_complex a, const int32_t *index, int64_t count, kl_complex from, float *pairs, const kl_roots *c, kl_complex out);

#endif
