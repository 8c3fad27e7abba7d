/* parallel.h - numbered tasks over a persistent pthread pool; results never depend on who runs a task. */
#ifndef KL_PARALLEL_H
#define KL_PARALLEL_H

#include "base/error.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct kl_pool kl_pool;

/* A thread that leaves all signals to those of the host; false: none can be had. */
bool kl_thread_start(pthread_t *thread, void *(*body)(void *), void *argument);

/* Denormal numbers count as zero inside tasks, whoever runs them (a product of denormals takes a hundred times as long);
 * the caller's own mode comes back with kl_denormals_restore. */
unsigned kl_denormals_flush(void);
void kl_denormals_restore(unsigned mode);

/* worker is below the pool's thread count: an index for scratch, never for results. */
typedef klift_status (*kl_task)(void *context, int64_t index, int worker);
/* Asked between tasks; not 0 stops the rest. */
typedef int (*kl_stop)(const void *stop_context);

klift_status kl_pool_new(kl_pool **pool, int threads);
int kl_pool_threads(const kl_pool *pool);
/* Runs task 0 .. count-1, the caller included. On failure: the status and message of the lowest failed index. */
klift_status kl_pool_run(kl_pool *pool, int64_t count, kl_task task, void *context, kl_stop stop, const void *stop_context);
void kl_pool_free(kl_pool *pool);

#endif
