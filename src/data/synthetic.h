/* synthetic.h - names of the data that `klift generate` and format=synthetic make. */
#ifndef KL_SYNTHETIC_H
#define KL_SYNTHETIC_H

#include <stdint.h>

/* NULL at the end; context is not used (the shape of kl_name_at). */
const char *kl_synthetic_name_at(int64_t index, const void *context);
const char *kl_synthetic_summary(int64_t index); /* one line; NULL at the end */

#endif
