/* decay.h - e^(-rate s) of squared distances s that come as products. */
#ifndef KL_DECAY_H
#define KL_DECAY_H

#include <stdbool.h>
#include <stdint.h>

/* out[j] = e^(-rate s), s = xx + norm[j] - 2 product[j], within 1e-7 of it. True when one s is below near (xx + norm[j]): whose
 * product may have lost too much. */
bool kl_decay(int64_t count, const float *product, double xx, const double *norm, double rate, double near, float *out);

/* 2^r for |r| <= 1/2, and the powers of two beyond which a float is 0 or infinite. */
#define KL_DECAY_1 0.693147182f
#define KL_DECAY_2 0.240226477f
#define KL_DECAY_3 0.0555033237f
#define KL_DECAY_4 0.00961843692f
#define KL_DECAY_5 0.00133988739f
#define KL_DECAY_6 0.00015353362f
#define KL_DECAY_LOWEST -160.0
#define KL_DECAY_HIGHEST 129.0

#endif
