/* exponential.h - e^x of many numbers. */
#ifndef KL_EXPONENTIAL_H
#define KL_EXPONENTIAL_H

#include <stdint.h>

/* out[i] = exp(x[i]) within 4e-16 of it for x <= 709, 0 below -708; out may be x. */
void kl_exponentials(int64_t count, const double *x, double *out);

#endif
