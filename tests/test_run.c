/* test_run.c - settings of a run, what they refuse, events and cancelling, scratch, and no run at all. */
#include "base/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include <cmocka.h>

static klift_run *new_run(void)
{
    klift_run *run;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    return run;
}

static void a_new_run_has_sensible_defaults(void **unused)
{
    (void)unused;
    klift_run *run = new_run();
    assert_in_range(kl_run_threads(run), 1, 1024);
    assert_int_equal(kl_run_batch(run), 4096);
    assert_true(kl_run_memory(run) > 1 << 20);
    assert_in_range(kl_run_seconds(run) >= 0 && kl_run_seconds(run) < 10, 1, 1);
    assert_int_equal(kl_run_check(run), KLIFT_OK);
    klift_run_free(run);
    klift_run_free(NULL);
    assert_int_equal(klift_run_new(NULL), KLIFT_USAGE);
}

static void settings_are_taken(void **unused)
{
    (void)unused;
    klift_run *run = new_run();
    int own = kl_run_threads(run);
    assert_int_equal(klift_run_set(run, "threads", "3"), KLIFT_OK);
    assert_int_equal(kl_run_threads(run), 3);
    assert_int_equal(klift_run_set(run, "threads", "1024"), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "threads", "auto"), KLIFT_OK);
    assert_int_equal(kl_run_threads(run), own);
    assert_int_equal(klift_run_set(run, "batch", "1"), KLIFT_OK);
    assert_int_equal(kl_run_batch(run), 1);
    assert_int_equal(klift_run_set(run, "batch", "16777216"), KLIFT_OK);
    assert_int_equal(kl_run_batch(run), 1 << 24);
    klift_run_free(run);
}

static void sizes_read_as_people_write_them(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {{"500M", INT64_C(500) << 20}, {"16G", INT64_C(16) << 30}, {"1.5g", INT64_C(3) << 29}, {"2048k", 1 << 21}, {"1T", INT64_C(1) << 40},
                 {"64MB", 64 << 20}, {"64MiB", 64 << 20}, {"64Mi", 64 << 20}, {"1048576", 1 << 20}, {"1e9", 1000000000}, {"1e3K", 1024000}, {"+2M", 2 << 20}};
    klift_run *run = new_run();
    int64_t own = kl_run_memory(run);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        klift_status status = klift_run_set(run, "max-memory", cases[i].text);
        assert_int_equal(status, cases[i].bytes < 1 << 20 ? KLIFT_USAGE : KLIFT_OK);
        if (status == KLIFT_OK && kl_run_memory(run) != cases[i].bytes)
            fail_msg("%s is %lld bytes", cases[i].text, (long long)kl_run_memory(run));
    }
    assert_int_equal(klift_run_set(run, "max-memory", "auto"), KLIFT_OK);
    assert_true(kl_run_memory(run) == own);
    klift_run_free(run);
}

static void how_a_training_is_kept_is_taken(void **unused)
{
    static const struct {
        const char *text;
        double seconds;
        int64_t rows;
    } cases[] = {{"auto", 0, 0}, {"30s", 30, 0}, {"0.5s", 0.5, 0}, {"5m", 300, 0}, {"2h", 7200, 0}, {"100000", NAN, 100000}, {"1e6", NAN, 1000000}};
    klift_run *run = new_run();
    (void)unused;
    assert_null(kl_run_upkeep(run).path);
    assert_null(kl_run_upkeep(NULL).path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(klift_run_set(run, "checkpoint-every", cases[i].text), KLIFT_OK);
        kl_upkeep how = kl_run_upkeep(run);
        assert_true(how.rows == cases[i].rows && (isnan(cases[i].seconds) ? isnan(how.seconds) : how.seconds == cases[i].seconds));
    }
    assert_int_equal(klift_run_set(run, "checkpoint", "here"), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "resume", "true"), KLIFT_OK);
    assert_string_equal(kl_run_upkeep(run).path, "here");
    assert_true(kl_run_upkeep(run).resume);
    assert_int_equal(klift_run_set(run, "checkpoint", "none"), KLIFT_OK);
    assert_null(kl_run_upkeep(run).path);
    klift_run_free(run);
}

static void a_request_to_stop_can_be_held_back(void **unused)
{
    klift_run *run = new_run();
    (void)unused;
    kl_run_hold(run, true);
    klift_run_cancel(run);
    assert_int_equal(kl_run_check(run), KLIFT_OK);
    assert_true(kl_run_cancelled(run));
    kl_run_hold(run, false);
    assert_int_equal(kl_run_check(run), KLIFT_CANCELLED);
    assert_false(kl_run_cancelled(NULL));
    klift_run_free(run);
}

static void wrong_settings_are_refused_and_change_nothing(void **unused)
{
    (void)unused;
    static const char *const cases[][3] = {
        {"threads", "0", "at least 1"}, {"threads", "1025", "at most 1024"}, {"threads", "two", "threads is 'two'"}, {"threads", "1.5", "whole"}, {"threads", "", "threads is ''"},
        {"threads", "-1", "at least 1"}, {"batch", "0", "at least 1"}, {"batch", "16777217", "at most 16777216"}, {"batch", "auto", "batch is 'auto'"},
        {"max-memory", "0", "500M"}, {"max-memory", "-5G", "500M"}, {"max-memory", "12", "500M"}, {"max-memory", "5X", "500M"}, {"max-memory", "64 ", "500M"},
        {"max-memory", "64 M", "500M"}, {"max-memory", "64M ", "500M"}, {"max-memory", "64MBs", "500M"}, {"max-memory", "64B", "500M"}, {"max-memory", "", "500M"},
        {"max-memory", "nan", "500M"}, {"max-memory", "infT", "500M"}, {"max-memory", "1e30", "500M"}, {"max-memory", "1e400", "500M"}, {"max-memory", "M", "500M"},
        {"checkpoint", "-", "the name of a file"}, {"checkpoint", "", "the name of a file"}, {"checkpoint-every", "0", "100000"}, {"checkpoint-every", "5x", "1h"},
        {"checkpoint-every", "-5s", "1h"}, {"checkpoint-every", "s", "1h"}, {"checkpoint-every", "5ms", "1h"}, {"checkpoint-every", "0.5", "100000"}, {"resume", "yes", "resume is 'yes'"},
        {"thread", "1", "did you mean 'threads'?"}, {"seed", "1", "unknown run setting 'seed'"}};
    klift_run *run = new_run();
    int threads = kl_run_threads(run);
    int64_t memory = kl_run_memory(run);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (klift_run_set(run, cases[i][0], cases[i][1]) != KLIFT_USAGE || strstr(klift_error(), cases[i][2]) == NULL)
            fail_msg("%s=%s: %s", cases[i][0], cases[i][1], klift_error());
        assert_true(kl_run_threads(run) == threads && kl_run_batch(run) == 4096 && kl_run_memory(run) == memory);
    }
    assert_int_equal(klift_run_set(NULL, "threads", "1"), KLIFT_USAGE);
    assert_int_equal(klift_run_set(run, NULL, "1"), KLIFT_USAGE);
    assert_int_equal(klift_run_set(run, "threads", NULL), KLIFT_USAGE);
    klift_run_free(run);
}

static void scratch_is_kept_between_calls(void **unused)
{
    (void)unused;
    klift_run *run = new_run();
    char *first, *again, *other;
    assert_int_equal(kl_run_scratch(run, KL_SCRATCH_FEATURES, 1000, &first), KLIFT_OK);
    assert_int_equal((uintptr_t)first % 64, 0);
    memset(first, 1, 1000);
    assert_int_equal(kl_run_scratch(run, KL_SCRATCH_MAP, 1000, &other), KLIFT_OK);
    assert_ptr_not_equal(first, other);
    for (int64_t bytes = 0; bytes <= 1000; bytes += 100) {
        assert_int_equal(kl_run_scratch(run, KL_SCRATCH_FEATURES, bytes, &again), KLIFT_OK);
        assert_ptr_equal(again, first);
    }
    assert_int_equal(kl_run_scratch(run, KL_SCRATCH_FEATURES, 100000, &again), KLIFT_OK);
    memset(again, 2, 100000);
    memset(other, 3, 1000);
    assert_int_equal(kl_run_scratch(run, KL_SCRATCH_FEATURES, INT64_MAX, &again), KLIFT_MEMORY);
    assert_null(again);
    assert_int_equal(kl_run_scratch(run, KL_SCRATCH_FEATURES, 10, &again), KLIFT_OK); /* usable after the refusal */
    assert_non_null(again);
    klift_run_free(run);
}

typedef struct listener {
    int calls, stop_at;
    klift_event last;
    char message[200];
} listener;

static int listen(const klift_event *event, void *user)
{
    listener *l = user;
    l->last = *event;
    strncpy(l->message, event->message != NULL ? event->message : "", sizeof l->message - 1);
    return ++l->calls == l->stop_at;
}

static void events_reach_the_callback(void **unused)
{
    (void)unused;
    klift_run *run = new_run();
    listener l = {0};
    klift_run_on_event(run, listen, &l);
    assert_int_equal(kl_run_progress(run, "survey", 5, 10, 0.25), KLIFT_OK);
    assert_int_equal(l.last.size, sizeof(klift_event));
    assert_int_equal(l.last.kind, KLIFT_EVENT_PROGRESS);
    assert_string_equal(l.last.stage, "survey");
    assert_null(l.last.message);
    assert_true(l.last.rows == 5 && l.last.rows_total == 10 && l.last.loss == 0.25 && isnan(l.last.holdout) && l.last.seconds >= 0);
    kl_run_say(run, KLIFT_EVENT_WARNING, "solve", "%d of %s", 3, "four");
    assert_int_equal(l.last.kind, KLIFT_EVENT_WARNING);
    assert_string_equal(l.message, "3 of four");
    assert_int_equal(l.calls, 2);
    klift_run_on_event(run, NULL, NULL);
    assert_int_equal(kl_run_progress(run, "survey", 5, 10, 0.25), KLIFT_OK);
    assert_int_equal(l.calls, 2);
    klift_run_free(run);
}

static klift_status count_up(void *context, int64_t index, int worker)
{
    (void)index;
    (void)worker;
    atomic_fetch_add((atomic_int *)context, 1);
    return KLIFT_OK;
}

static void the_callback_can_stop_the_run(void **unused)
{
    (void)unused;
    for (int said = 0; said < 2; said++) {
        klift_run *run = new_run();
        listener l = {.stop_at = 3};
        atomic_int done = 0;
        klift_run_on_event(run, listen, &l);
        assert_int_equal(kl_run_progress(run, "statistics", 1, 0, NAN), KLIFT_OK);
        assert_int_equal(kl_run_progress(run, "statistics", 2, 0, NAN), KLIFT_OK);
        if (said)
            kl_run_say(run, KLIFT_EVENT_NOTE, "statistics", "a note");
        else
            assert_int_equal(kl_run_progress(run, "statistics", 3, 0, NAN), KLIFT_CANCELLED);
        assert_int_equal(kl_run_check(run), KLIFT_CANCELLED);
        assert_int_equal(kl_run_progress(run, "statistics", 4, 0, NAN), KLIFT_CANCELLED);
        assert_int_equal(kl_run_parallel(run, 10, count_up, &done), KLIFT_CANCELLED);
        assert_int_equal(atomic_load(&done), 0);
        klift_run_free(run);
    }
}

static void cancel_stops_from_outside(void **unused)
{
    (void)unused;
    klift_run *run = new_run();
    klift_run_cancel(run);
    assert_int_equal(kl_run_check(run), KLIFT_CANCELLED);
    assert_string_equal(klift_error(), "stopped on request");
    klift_run_cancel(NULL);
    klift_run_free(run);
}

static void tasks_run_after_every_change_of_threads(void **unused)
{
    (void)unused;
    klift_run *run = new_run();
    static const char *const threads[] = {"1", "4", "2", "auto"};
    for (int i = 0; i < 4; i++) {
        atomic_int done = 0;
        assert_int_equal(klift_run_set(run, "threads", threads[i]), KLIFT_OK);
        assert_int_equal(kl_run_parallel(run, 100, count_up, &done), KLIFT_OK);
        assert_int_equal(atomic_load(&done), 100);
    }
    klift_run_free(run);
}

typedef struct stopping {
    klift_run *run;
    atomic_int done;
} stopping;

static klift_status stop_and_count(void *context, int64_t index, int worker)
{
    stopping *s = context;
    (void)index;
    (void)worker;
    klift_run_cancel(s->run);
    atomic_fetch_add(&s->done, 1);
    return KLIFT_OK;
}

static void tasks_that_are_one_whole_are_all_done_or_none(void **unused)
{
    (void)unused;
    static const char *const threads[] = {"1", "3"};
    for (int i = 0; i < 2; i++) {
        stopping s = {.run = new_run()};
        assert_int_equal(klift_run_set(s.run, "threads", threads[i]), KLIFT_OK);
        assert_int_equal(kl_run_whole(s.run, 100, stop_and_count, &s), KLIFT_OK);
        assert_int_equal(atomic_load(&s.done), 100);
        assert_int_equal(kl_run_whole(s.run, 100, stop_and_count, &s), KLIFT_CANCELLED);
        assert_int_equal(atomic_load(&s.done), 100);
        klift_run_free(s.run);
    }
}

static klift_status fail_at_three(void *context, int64_t index, int worker)
{
    (void)context;
    (void)worker;
    return index == 3 ? kl_fail(KLIFT_DATA, "three") : KLIFT_OK;
}

static void no_run_is_one_thread_and_silence(void **unused)
{
    (void)unused;
    atomic_int done = 0;
    void *memory = &done;
    assert_int_equal(kl_run_threads(NULL), 1);
    assert_int_equal(kl_run_batch(NULL), 4096);
    assert_true(kl_run_memory(NULL) > 1 << 20);
    assert_true(kl_run_seconds(NULL) == 0);
    assert_int_equal(kl_run_check(NULL), KLIFT_OK);
    assert_int_equal(kl_run_progress(NULL, "survey", 1, 2, 3), KLIFT_OK);
    kl_run_say(NULL, KLIFT_EVENT_NOTE, "survey", "nobody hears %d", 1);
    klift_run_on_event(NULL, listen, NULL);
    assert_int_equal(kl_run_parallel(NULL, 50, count_up, &done), KLIFT_OK);
    assert_int_equal(atomic_load(&done), 50);
    assert_int_equal(kl_run_parallel(NULL, 5, fail_at_three, NULL), KLIFT_DATA);
    assert_string_equal(klift_error(), "three");
    assert_int_equal(kl_run_scratch(NULL, KL_SCRATCH_ROWS, 10, &memory), KLIFT_FAILED);
    assert_null(memory);
}

static void a_local_run_stands_in_for_none(void **unused)
{
    (void)unused;
    klift_run *run = new_run(), *own, *use;
    assert_int_equal(kl_run_local(run, &own, &use), KLIFT_OK);
    assert_null(own);
    assert_ptr_equal(use, run);
    klift_run_free(run);
    assert_int_equal(kl_run_local(NULL, &own, &use), KLIFT_OK);
    assert_ptr_equal(use, own);
    assert_int_equal(kl_run_threads(use), 1);
    klift_run_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_run_has_sensible_defaults),
        cmocka_unit_test(settings_are_taken),
        cmocka_unit_test(sizes_read_as_people_write_them),
        cmocka_unit_test(how_a_training_is_kept_is_taken),
        cmocka_unit_test(a_request_to_stop_can_be_held_back),
        cmocka_unit_test(wrong_settings_are_refused_and_change_nothing),
        cmocka_unit_test(scratch_is_kept_between_calls),
        cmocka_unit_test(events_reach_the_callback),
        cmocka_unit_test(the_callback_can_stop_the_run),
        cmocka_unit_test(cancel_stops_from_outside),
        cmocka_unit_test(tasks_run_after_every_change_of_threads),
        cmocka_unit_test(tasks_that_are_one_whole_are_all_done_or_none),
        cmocka_unit_test(no_run_is_one_thread_and_silence),
        cmocka_unit_test(a_local_run_stands_in_for_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
