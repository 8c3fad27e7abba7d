/* test_parallel.c - every task runs once, failures are the lowest one's, pools survive failures, each other and fork. */
#define _GNU_SOURCE /* sched_getcpu, CPU_COUNT */
#include "base/run.h"
#include "support.h"

#include <float.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 1000, THREADS = 8 };

typedef struct tally {
    atomic_int count[MOST];
    atomic_int strange; /* workers out of range */
    int threads;
} tally;

static void nap(long microseconds)
{
    struct timespec t = {0, microseconds * 1000};
    nanosleep(&t, NULL);
}

static klift_status tick(void *context, int64_t index, int worker)
{
    tally *t = context;
    atomic_fetch_add(&t->count[index], 1);
    if (worker < 0 || worker >= t->threads)
        atomic_fetch_add(&t->strange, 1);
    return KLIFT_OK;
}

static bool once_each(tally *t, int64_t count)
{
    bool right = atomic_load(&t->strange) == 0;
    for (int64_t i = 0; i < MOST; i++)
        right = right && atomic_load(&t->count[i]) == (i < count);
    return right;
}

static bool runs_all(kl_pool *pool, int64_t count)
{
    tally t = {.threads = kl_pool_threads(pool)};
    return kl_pool_run(pool, count, tick, &t, NULL, NULL) == KLIFT_OK && once_each(&t, count);
}

static void every_index_runs_once_for_all_counts_and_threads(void **unused)
{
    (void)unused;
    for (int threads = 1; threads <= THREADS; threads++) {
        kl_pool *pool;
        assert_int_equal(kl_pool_new(&pool, threads), KLIFT_OK);
        assert_int_equal(kl_pool_threads(pool), threads);
        for (int64_t count = 0; count <= MOST; count += quick() && count >= 40 ? 64 : 1)
            assert_true(runs_all(pool, count));
        kl_pool_free(pool);
    }
}

static void pools_that_never_ran_can_be_freed(void **unused)
{
    (void)unused;
    kl_pool *pool;
    assert_int_equal(kl_pool_new(&pool, 4), KLIFT_OK);
    kl_pool_free(pool);
    kl_pool_free(NULL);
}

static klift_status fail_from(void *context, int64_t index, int worker)
{
    (void)worker;
    if (index % 3 == 0)
        nap(20);
    return index >= *(int64_t *)context ? kl_fail(index % 2 ? KLIFT_DATA : KLIFT_MODEL, "task %lld failed", (long long)index) : KLIFT_OK;
}

static void the_lowest_failing_index_is_reported(void **unused)
{
    (void)unused;
    static const int64_t lowest[] = {0, 1, 2, 7, 50, 98, 99};
    for (int threads = 1; threads <= THREADS; threads++) {
        kl_pool *pool;
        assert_int_equal(kl_pool_new(&pool, threads), KLIFT_OK);
        for (int round = 0; round < 10; round++)
            for (size_t i = 0; i < sizeof lowest / sizeof lowest[0]; i++) {
                int64_t first = lowest[i];
                char message[40];
                snprintf(message, sizeof message, "task %lld failed", (long long)first);
                assert_int_equal(kl_pool_run(pool, 100, fail_from, &first, NULL, NULL), first % 2 ? KLIFT_DATA : KLIFT_MODEL);
                assert_string_equal(kl_error_text(), message);
            }
        assert_true(runs_all(pool, 100)); /* and the pool goes on */
        kl_pool_free(pool);
    }
}

static int stop_at_limit(const void *context)
{
    const tally *t = context;
    int done = 0;
    for (int i = 0; i < MOST; i++)
        done += atomic_load(&t->count[i]);
    return done >= 20;
}

static int stop_at_once(const void *context)
{
    (void)context;
    return 1;
}

static void stop_ends_the_rest(void **unused)
{
    (void)unused;
    for (int threads = 1; threads <= THREADS; threads += 3) {
        kl_pool *pool;
        tally t = {.threads = threads};
        assert_int_equal(kl_pool_new(&pool, threads), KLIFT_OK);
        assert_int_equal(kl_pool_run(pool, MOST, tick, &t, stop_at_limit, &t), KLIFT_CANCELLED);
        int done = 0;
        for (int i = 0; i < MOST; i++)
            done += atomic_load(&t.count[i]);
        assert_in_range(done, 20, 20 + threads);
        tally none = {.threads = threads};
        assert_int_equal(kl_pool_run(pool, MOST, tick, &none, stop_at_once, NULL), KLIFT_CANCELLED);
        assert_true(once_each(&none, 0));
        assert_int_equal(kl_pool_run(pool, 0, tick, &none, stop_at_once, NULL), KLIFT_OK);
        assert_true(runs_all(pool, 100));
        kl_pool_free(pool);
    }
}

static void *run_often(void *result)
{
    kl_pool *pool = NULL;
    bool right = kl_pool_new(&pool, 3) == KLIFT_OK;
    for (int64_t round = 0; right && round < 200; round++)
        right = runs_all(pool, round);
    kl_pool_free(pool);
    *(bool *)result = right;
    return NULL;
}

static void two_pools_work_at_once(void **unused)
{
    (void)unused;
    pthread_t thread[2];
    bool right[2] = {false, false};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_often, &right[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert_true(right[0] && right[1]);
}

static klift_status run_inner(void *context, int64_t index, int worker)
{
    (void)worker;
    kl_pool *pool;
    KL_TRY(kl_pool_new(&pool, 2));
    bool right = runs_all(pool, 10 + index);
    kl_pool_free(pool);
    return right ? tick(context, index, 0) : kl_fail(KLIFT_FAILED, "the inner pool");
}

static void a_task_may_have_a_pool_of_its_own(void **unused)
{
    (void)unused;
    kl_pool *pool;
    tally t = {.threads = 1};
    assert_int_equal(kl_pool_new(&pool, 4), KLIFT_OK);
    assert_int_equal(kl_pool_run(pool, 20, run_inner, &t, NULL, NULL), KLIFT_OK);
    assert_true(once_each(&t, 20));
    kl_pool_free(pool);
}

static klift_status look_at_mask(void *context, int64_t index, int worker)
{
    (void)index;
    sigset_t mask;
    nap(100); /* so that the workers get some */
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (worker > 0 && !sigismember(&mask, SIGINT))
        atomic_store((atomic_bool *)context, true);
    return KLIFT_OK;
}

static void workers_leave_signals_to_the_host(void **unused)
{
    (void)unused;
    kl_pool *pool;
    atomic_bool open = false;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(kl_pool_new(&pool, 4), KLIFT_OK);
    assert_int_equal(kl_pool_run(pool, 50, look_at_mask, &open, NULL, NULL), KLIFT_OK);
    kl_pool_free(pool);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_false(atomic_load(&open));
    assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

typedef struct places {
    cpu_set_t worker; /* where worker 1 may run */
    atomic_bool seen;
} places;

static klift_status note_places(void *context, int64_t index, int worker)
{
    places *p = context;
    (void)index;
    nap(100); /* so that the worker gets some */
    if (worker != 1 || atomic_load(&p->seen))
        return KLIFT_OK;
    if (sched_getaffinity(0, sizeof p->worker, &p->worker) != 0)
        return kl_fail(KLIFT_FAILED, "sched_getaffinity");
    atomic_store(&p->seen, true);
    return KLIFT_OK;
}

/* Where worker 1 of a pool may run during a job that the caller gave from CPU *here; only jobs count that the caller did not move in. */
static void places_of_worker(int threads, cpu_set_t *worker, int *here)
{
    kl_pool *pool;
    places p = {.seen = false};
    assert_int_equal(kl_pool_new(&pool, threads), KLIFT_OK);
    for (bool settled = false; !settled;) {
        atomic_store(&p.seen, false);
        *here = sched_getcpu();
        assert_int_equal(kl_pool_run(pool, 20, note_places, &p, NULL, NULL), KLIFT_OK);
        settled = atomic_load(&p.seen) && sched_getcpu() == *here;
    }
    *worker = p.worker;
    kl_pool_free(pool);
}

static void workers_keep_off_the_cpu_of_the_caller(void **unused)
{
    (void)unused;
    cpu_set_t all, one, worker;
    int here;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2 || getenv("KLIFT_TEST_EMULATED") != NULL) {
        print_message("skipped: one CPU, or an emulated one\n");
        skip();
    }
    places_of_worker(2, &worker, &here);
    assert_int_equal(CPU_COUNT(&worker), CPU_COUNT(&all) - 1);
    assert_false(CPU_ISSET((size_t)here, &worker));
    places_of_worker(CPU_COUNT(&all) + 1, &worker, &here); /* more threads than CPUs: left to the kernel */
    assert_true(CPU_EQUAL(&worker, &all));

    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0); /* as taskset does */
    places_of_worker(2, &worker, &here);
    assert_true(CPU_EQUAL(&worker, &one));
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

/* The exit code of a child, or -1 after ten seconds. */
static int result_of(pid_t child)
{
    int state;
    for (int i = 0; i < 1000; i++) {
        if (waitpid(child, &state, WNOHANG) == child)
            return WIFEXITED(state) ? WEXITSTATUS(state) : -2;
        nap(10000);
    }
    kill(child, SIGKILL);
    waitpid(child, &state, 0);
    return -1;
}

static klift_status halve(void *context, int64_t index, int worker)
{
    volatile float *value = context;
    (void)worker;
    value[index] = value[index] * 0.5f;
    return index == 7 ? kl_fail(KLIFT_DATA, "on purpose") : KLIFT_OK;
}

/* In a task the smallest normal number halves to zero on x86-64; in its caller it does not, before, after and on failure. */
static void denormals_are_zero_in_tasks_only(void **unused)
{
    (void)unused;
    for (int threads = 1; threads <= 3; threads++) {
        kl_pool *pool;
        float value[8];
        volatile float smallest = FLT_MIN;
        for (int i = 0; i < 8; i++)
            value[i] = FLT_MIN;
        assert_int_equal(kl_pool_new(&pool, threads), KLIFT_OK);
        assert_int_equal(kl_pool_run(pool, 8, halve, value, NULL, NULL), KLIFT_DATA);
        assert_true(smallest * 0.5f > 0);
        for (int i = 0; i < 7; i++)
#if defined(__x86_64__)
            assert_true(value[i] == 0);
#else
            assert_true(value[i] < FLT_MIN);
#endif
        kl_pool_free(pool);
        value[0] = FLT_MIN;
        assert_int_equal(kl_run_parallel(NULL, 1, halve, value), KLIFT_OK);
        assert_true(value[0] < FLT_MIN && smallest * 0.5f > 0);
    }
}

static void a_forked_child_runs_with_workers_of_its_own(void **unused)
{
    (void)unused;
#ifdef __SANITIZE_THREAD__
    skip(); /* that sanitizer allows no threads after fork */
#endif
    if (getenv("KLIFT_TEST_EMULATED") != NULL) {
        print_message("skipped: threads after fork, which end in an assertion of qemu-user\n");
        skip();
    }
    kl_pool *pool;
    assert_int_equal(kl_pool_new(&pool, 4), KLIFT_OK);
    assert_true(runs_all(pool, 100)); /* now it has workers, which fork leaves behind */
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool right = true;
        for (int64_t count = 0; count < 100; count++)
            right = right && runs_all(pool, count);
        kl_pool_free(pool);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(result_of(child), 0);
    assert_true(runs_all(pool, 100));
    child = fork();
    if (child == 0) {
        kl_pool_free(pool); /* without a run: nobody to wait for */
        _exit(0);
    }
    assert_int_equal(result_of(child), 0);
    kl_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_runs_once_for_all_counts_and_threads),
        cmocka_unit_test(pools_that_never_ran_can_be_freed),
        cmocka_unit_test(the_lowest_failing_index_is_reported),
        cmocka_unit_test(stop_ends_the_rest),
        cmocka_unit_test(two_pools_work_at_once),
        cmocka_unit_test(a_task_may_have_a_pool_of_its_own),
        cmocka_unit_test(workers_leave_signals_to_the_host),
        cmocka_unit_test(workers_keep_off_the_cpu_of_the_caller),
        cmocka_unit_test(denormals_are_zero_in_tasks_only),
        cmocka_unit_test(a_forked_child_runs_with_workers_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
