/*
 * ahead.h - bytes before they are asked for: a thread of its own keeps up to 8 MB ahead of who reads them. For what is slow to come by and takes one thread, as
 * unpacking does, while all threads are busy with what came before. Call order: new, { read }, free.
 */
#ifndef KL_AHEAD_H
#define KL_AHEAD_H

#include "data/decompress.h"

typedef struct kl_ahead kl_ahead;

/* pull is called by the thread, in whole blocks, until its end or its first failure, and by nobody else until free. *ahead is NULL where no thread can be had. */
klift_status kl_ahead_new(const char *name, kl_pull pull, void *from, kl_ahead **ahead); /* name: borrowed, of messages */
/* As pull itself would: *got < room only at the end, what came before a failure, and its message. */
klift_status kl_ahead_read(kl_ahead *ahead, void *bytes, int64_t room, int64_t *got);
bool kl_ahead_has_ended(const kl_ahead *ahead); /* all has been read: pull and what it is from are the caller's again */
void kl_ahead_free(kl_ahead *ahead); /* waits for a pull to return: not for what may block */

#endif
