/* lock.h - one run at a time works with a file: an advisory lock on FILE.lock beside it, gone with the process that holds it. */
#ifndef KL_LOCK_H
#define KL_LOCK_H

#include "base/error.h"

typedef struct kl_lock kl_lock;

klift_status kl_lock_take(const char *path, kl_lock **lock); /* KLIFT_IO, with the process that has it */
void kl_lock_free(kl_lock *lock);                            /* NULL is fine */

#endif
