/* past.h - copies to memory that will not be read soon. */
#ifndef KL_PAST_H
#define KL_PAST_H

#include <stdint.h>

/* As memcpy, past the caches where whole lines are written; other threads may read it behind it. */
void kl_past_copy(void *to, const void *from, int64_t bytes);

#endif
