/*
 * parallel.c - one pool per run: threads - 1 workers started at the first job, plus the caller. A job is a range of
 * task numbers taken by atomic increments. Workers block all signals, so the host program's handlers run elsewhere.
 * Who waits looks again for a while before it sleeps: to be woken takes longer than many a job, and jobs come in rows.
 * Who was asleep wakes on another CPU than the caller's, where every thread can have one (keep_apart).
 * After fork() a child has no workers; the pool sees the other process number and starts its own.
 */
#define _GNU_SOURCE /* sched_getcpu, pthread_setaffinity_np */
#include "base/parallel.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

typedef struct jobs {
    kl_task task;
    void *context;
    kl_stop stop;
    const void *stop_context;
    int64_t count;
    atomic_bool halted;
    _Alignas(64) atomic_llong next; /* a line of its own: all threads write to it */
} jobs;

struct kl_pool {
    int threads, started;
    pid_t owner;
    pthread_t *thread;
    pthread_mutex_t mutex; /* of who sleeps and of failures: a job that finds its workers awake takes none */
    pthread_cond_t wake, finished;
    bool lingers;             /* there is a CPU for every thread */
    int apart;                /* the CPU that workers keep off; -1: none yet */
    atomic_ullong generation; /* of jobs; a worker runs each one once */
    atomic_int busy, asleep;  /* workers */
    atomic_bool caller_sleeps, closing;
    jobs job;
    int64_t failed_index;
    klift_status failed_status;
    char failed_message[1024];
};

typedef struct seat {
    kl_pool *pool;
    int worker;
    uint64_t generation; /* of the last job before it started: not its to run */
} seat;

/* Another CPU than x86-64 keeps its mode: its denormals are slow or not, but right. */
unsigned kl_denormals_flush(void)
{
#if defined(__x86_64__)
    enum { FLUSH_TO_ZERO = 1 << 15, DENORMALS_ARE_ZERO = 1 << 6 };
    unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
    return mode;
#else
    return 0;
#endif
}

void kl_denormals_restore(unsigned mode)
{
#if defined(__x86_64__)
    _mm_setcsr(mode);
#else
    (void)mode;
#endif
}

enum { LOOKS = 4000 }; /* some 100 microseconds */

static void breathe(void)
{
#if defined(__x86_64__)
    _mm_pause();
#endif
}

/* Who goes to sleep says so before the last look at what it waits for, and who changes that looks for sleepers behind it: one of the two sees the other. */
static void await_job(kl_pool *pool, uint64_t seen)
{
    for (int i = 0; pool->lingers && i < LOOKS && atomic_load(&pool->generation) == seen; i++)
        breathe();
    if (atomic_load(&pool->generation) != seen)
        return;
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->asleep, 1);
    while (atomic_load(&pool->generation) == seen)
        pthread_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void call_workers(kl_pool *pool)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->asleep) == 0)
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void await_workers(kl_pool *pool)
{
    for (int i = 0; pool->lingers && i < LOOKS && atomic_load(&pool->busy) > 0; i++)
        breathe();
    if (atomic_load(&pool->busy) == 0)
        return;
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->busy) > 0)
        pthread_cond_wait(&pool->finished, &pool->mutex);
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->mutex);
}

static void be_done(kl_pool *pool)
{
    if (atomic_fetch_sub(&pool->busy, 1) > 1 || !atomic_load(&pool->caller_sleeps))
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->finished);
    pthread_mutex_unlock(&pool->mutex);
}

static void note_failure(kl_pool *pool, int64_t index, klift_status status)
{
    pthread_mutex_lock(&pool->mutex);
    if (pool->failed_index < 0 || index < pool->failed_index) {
        pool->failed_index = index;
        pool->failed_status = status;
        snprintf(pool->failed_message, sizeof pool->failed_message, "%s", kl_error_text());
    }
    pthread_mutex_unlock(&pool->mutex);
    atomic_store(&pool->job.halted, true);
}

static klift_status do_task(kl_task task, void *context, int64_t index, int worker, kl_stop stop, const void *stop_context)
{
    return stop != NULL && stop(stop_context) ? kl_fail(KLIFT_CANCELLED, "stopped on request") : task(context, index, worker);
}

/* One task needs no pool, nor a look at whose it is. */
static klift_status do_alone(kl_task task, void *context, kl_stop stop, const void *stop_context)
{
    unsigned mode = kl_denormals_flush();
    klift_status status = do_task(task, context, 0, 0, stop, stop_context);
    kl_denormals_restore(mode);
    return status;
}

static void work(kl_pool *pool, int worker)
{
    jobs *job = &pool->job;
    unsigned mode = kl_denormals_flush();
    while (!atomic_load(&job->halted)) {
        int64_t index = atomic_fetch_add(&job->next, 1);
        if (index >= job->count)
            break;
        klift_status status = do_task(job->task, job->context, index, worker, job->stop, job->stop_context);
        if (status != KLIFT_OK)
            note_failure(pool, index, status);
    }
    kl_denormals_restore(mode);
}

static void *serve(void *argument)
{
    seat mine = *(seat *)argument;
    kl_free(argument);
    kl_pool *pool = mine.pool;
    uint64_t seen = mine.generation;
    for (;;) {
        await_job(pool, seen);
        if (atomic_load(&pool->closing))
            return NULL;
        seen = atomic_load(&pool->generation);
        work(pool, mine.worker);
        be_done(pool);
    }
}

bool kl_thread_start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(thread, NULL, body, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* Starts the workers that are missing; with fewer than asked for, the job only takes longer. */
static void start(kl_pool *pool)
{
    while (pool->started < pool->threads - 1) {
        seat *mine;
        if (kl_new(&mine, 1, sizeof *mine, "a thread") != KLIFT_OK)
            break;
        *mine = (seat){pool, pool->started + 1, atomic_load(&pool->generation)};
        if (!kl_thread_start(&pool->thread[pool->started], serve, mine)) {
            kl_free(mine);
            break;
        }
        pool->started++;
        pool->apart = -1; /* a new thread may run where the caller may */
    }
}

/* That the caller may run on. */
static long cpus(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : sysconf(_SC_NPROCESSORS_ONLN);
}

/* A worker that slept is often woken on the caller's CPU, where it waits for many milliseconds while another has nothing to do: the kernel of a virtual machine takes a
 * CPU that rests for one that the host has taken away. So workers keep off the CPU from which a job is given, among those that its caller may run on. */
static void keep_apart(kl_pool *pool)
{
    int here = pool->lingers ? sched_getcpu() : -1;
    cpu_set_t others;
    if (here < 0 || here == pool->apart || sched_getaffinity(0, sizeof others, &others) != 0)
        return;
    pool->apart = here;
    CPU_CLR((size_t)here, &others);
    for (int i = 0; CPU_COUNT(&others) >= pool->threads - 1 && i < pool->started; i++)
        pthread_setaffinity_np(pool->thread[i], sizeof others, &others); /* where it is refused, the kernel decides */
}

static void reset(kl_pool *pool)
{
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->finished, NULL);
    pool->owner = getpid();
    pool->started = 0;
    pool->lingers = pool->threads <= cpus();
    pool->apart = -1;
    atomic_store(&pool->generation, 0);
    atomic_store(&pool->busy, 0);
    atomic_store(&pool->asleep, 0);
    atomic_store(&pool->caller_sleeps, false);
}

klift_status kl_pool_new(kl_pool **pool, int threads)
{
    KL_TRY(kl_new(pool, 1, sizeof **pool, "the thread pool"));
    klift_status status = kl_new(&(*pool)->thread, threads, sizeof *(*pool)->thread, "the thread pool");
    if (status != KLIFT_OK) {
        kl_free(*pool);
        *pool = NULL;
        return status;
    }
    (*pool)->threads = threads;
    reset(*pool);
    return KLIFT_OK;
}

int kl_pool_threads(const kl_pool *pool)
{
    return pool->threads;
}

klift_status kl_pool_run(kl_pool *pool, int64_t count, kl_task task, void *context, kl_stop stop, const void *stop_context)
{
    jobs *job = &pool->job;
    if (count <= 1)
        return count < 1 ? KLIFT_OK : do_alone(task, context, stop, stop_context);
    if (pool->owner != getpid())
        reset(pool); /* forked: the workers stayed with the parent */
    start(pool);
    keep_apart(pool);
    job->task = task;
    job->context = context;
    job->stop = stop;
    job->stop_context = stop_context;
    job->count = count;
    atomic_store(&job->next, 0);
    atomic_store(&job->halted, false);
    pool->failed_index = -1;
    atomic_store(&pool->busy, pool->started);
    call_workers(pool);
    work(pool, 0);
    await_workers(pool);
    if (pool->failed_index < 0)
        return KLIFT_OK;
    return kl_fail(pool->failed_status, "%s", pool->failed_message);
}

void kl_pool_free(kl_pool *pool)
{
    if (pool == NULL)
        return;
    if (pool->owner == getpid()) {
        atomic_store(&pool->closing, true);
        call_workers(pool);
        for (int i = 0; i < pool->started; i++)
            pthread_join(pool->thread[i], NULL);
        pthread_cond_destroy(&pool->wake);
        pthread_cond_destroy(&pool->finished);
        pthread_mutex_destroy(&pool->mutex);
    }
    kl_free(pool->thread);
    kl_free(pool);
}
