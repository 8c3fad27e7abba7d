/* number_exact.h - the last word on decimal digits that lie too close to the middle of two doubles. */
#ifndef KL_NUMBER_EXACT_H
#define KL_NUMBER_EXACT_H

#include <stdint.h>

/* The bits of the double nearest to the digits first .. last (a point among them is skipped) times 10^exponent, ties to
 * even, infinity beyond the largest; exponent is that of the last digit. guess: bits of a positive double, zero or
 * infinity, right to a few units in the last place. */
uint64_t kl_number_settle(const char *first, const char *last, int64_t exponent, uint64_t guess);

#endif
