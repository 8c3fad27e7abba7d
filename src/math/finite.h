/* finite.h - is every number of an array finite? Every byte that comes from outside is looked at once, so it should take no longer than reading it. */
#ifndef KL_FINITE_H
#define KL_FINITE_H

#include <stdbool.h>
#include <stdint.h>

bool kl_are_finite(int64_t n, const float *x);
bool kl_portable_are_finite(int64_t n, const float *x); /* the reference, for the tables */

#endif
