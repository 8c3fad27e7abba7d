/* test_error.c - statuses pass through, messages are this thread's own and never overrun. */
#include "base/error.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fail_gives_back_the_status_and_keeps_the_message(void **unused)
{
    (void)unused;
    for (int status = KLIFT_OK; status <= KLIFT_CANCELLED; status++)
        assert_int_equal(kl_fail((klift_status)status, "row %d: %s", 7, "bad"), status);
    assert_string_equal(kl_error_text(), "row 7: bad");
    assert_string_equal(klift_error(), "row 7: bad");
}

static void a_later_message_replaces_the_earlier_one(void **unused)
{
    (void)unused;
    kl_fail(KLIFT_DATA, "a long first message");
    kl_fail(KLIFT_DATA, "short");
    assert_string_equal(kl_error_text(), "short");
}

static void fail_in_puts_the_place_before_the_message(void **unused)
{
    (void)unused;
    kl_fail(KLIFT_DATA, "column 3 is bad");
    assert_int_equal(kl_fail_in(KLIFT_IO, "line %d", 5), KLIFT_IO);
    kl_fail_in(KLIFT_IO, "%s", "file.txt");
    assert_string_equal(kl_error_text(), "file.txt: line 5: column 3 is bad");
}

static void messages_that_are_too_long_are_cut(void **unused)
{
    (void)unused;
    char *wide = malloc(5000);
    memset(wide, 'x', 4999);
    wide[4999] = '\0';
    kl_fail(KLIFT_DATA, "%s", wide);
    size_t longest = strlen(kl_error_text());
    assert_in_range(longest, 500, 4000);
    for (int length = (int)longest - 5; length <= (int)longest + 5; length++) {
        kl_fail(KLIFT_DATA, "%s", "inner");
        kl_fail_in(KLIFT_DATA, "%.*s", length, wide);
        assert_in_range(strlen(kl_error_text()), longest - 6, longest);
        kl_fail(KLIFT_DATA, "%.*s", length, wide);
        kl_fail_in(KLIFT_DATA, "place");
        assert_in_range(strlen(kl_error_text()), longest - 6, longest);
        assert_memory_equal(kl_error_text(), "place: xxx", 10);
    }
    free(wide);
}

static void *fail_elsewhere(void *seen)
{
    *(bool *)seen = kl_error_text()[0] == '\0'; /* a new thread has no message */
    kl_fail(KLIFT_DATA, "of the other thread");
    return NULL;
}

static void every_thread_has_its_own_message(void **unused)
{
    (void)unused;
    pthread_t thread;
    bool empty = false;
    kl_fail(KLIFT_DATA, "of this thread");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &empty), 0);
    pthread_join(thread, NULL);
    assert_true(empty);
    assert_string_equal(kl_error_text(), "of this thread");
}

static klift_status forward(klift_status first, bool *reached)
{
    KL_TRY(first);
    *reached = true;
    return KLIFT_OK;
}

static klift_status clean_up(klift_status first, bool *reached, bool *cleaned)
{
    klift_status status = KLIFT_OK;
    KL_GO(first);
    *reached = true;
done:
    *cleaned = true;
    return status;
}

static void try_returns_failures_and_go_cleans_up_first(void **unused)
{
    (void)unused;
    bool reached = false, cleaned = false;
    assert_int_equal(forward(KLIFT_MODEL, &reached), KLIFT_MODEL);
    assert_false(reached);
    assert_int_equal(forward(KLIFT_OK, &reached), KLIFT_OK);
    assert_true(reached);
    reached = false;
    assert_int_equal(clean_up(KLIFT_IO, &reached, &cleaned), KLIFT_IO);
    assert_true(cleaned && !reached);
    assert_int_equal(clean_up(KLIFT_OK, &reached, &cleaned), KLIFT_OK);
    assert_true(reached);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_gives_back_the_status_and_keeps_the_message),
        cmocka_unit_test(a_later_message_replaces_the_earlier_one),
        cmocka_unit_test(fail_in_puts_the_place_before_the_message),
        cmocka_unit_test(messages_that_are_too_long_are_cut),
        cmocka_unit_test(every_thread_has_its_own_message),
        cmocka_unit_test(try_returns_failures_and_go_cleans_up_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
