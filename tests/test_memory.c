/* test_memory.c - blocks are zeroed, 64-byte aligned and of checked size; growing keeps what was there. */
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The address sanitizer ends the program at sizes no machine has, unless told to answer NULL like everybody else. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void blocks_are_zeroed_and_aligned_at_every_size(void **unused)
{
    (void)unused;
    for (int64_t count = 1; count < 300; count++)
        for (size_t size = 1; size <= 24; size += 7) {
            unsigned char *block;
            assert_int_equal(kl_new(&block, count, size, "a test"), KLIFT_OK);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % 64, 0);
            for (size_t i = 0; i < (size_t)count * size; i++)
                assert_int_equal(block[i], 0);
            memset(block, 0xff, (size_t)count * size); /* so that the next block of this size must be cleared */
            kl_free(block);
        }
}

static void nothing_is_null_and_not_an_error(void **unused)
{
    (void)unused;
    int here;
    void *block = &here;
    assert_int_equal(kl_new(&block, 0, 8, "a test"), KLIFT_OK);
    assert_null(block);
    block = &here;
    assert_int_equal(kl_new(&block, 5, 0, "a test"), KLIFT_OK);
    assert_null(block);
    kl_free(NULL);
}

static void sizes_that_overflow_are_refused_and_named(void **unused)
{
    (void)unused;
    static const struct {
        int64_t count;
        size_t size;
    } bad[] = {{-1, 1},          {INT64_MIN, 1},        {INT64_MAX, 1},          {INT64_MAX, 2},           {INT64_MAX / 2 + 1, 2},
               {INT64_MAX - 63, 1}, {INT64_C(1) << 61, 8}, {1, SIZE_MAX},           {1, SIZE_MAX / 2},        {2, SIZE_MAX / 4 + 1},
               {INT64_MAX - 64, 1}, {INT64_MAX / 4, 1},    {INT64_C(1) << 40, 1 << 20}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int here;
        void *block = &here;
        assert_int_equal(kl_new(&block, bad[i].count, bad[i].size, "the nineteenth matrix"), KLIFT_MEMORY);
        assert_null(block);
        assert_non_null(strstr(kl_error_text(), "the nineteenth matrix"));
    }
}

static void multiply_sees_overflow(void **unused)
{
    (void)unused;
    int64_t product;
    assert_false(kl_multiply(3037000499, 3037000499, &product));
    assert_true(product == INT64_C(3037000499) * 3037000499);
    assert_true(kl_multiply(3037000500, 3037000500, &product));
    assert_true(kl_multiply(INT64_MIN, -1, &product));
    assert_false(kl_multiply(INT64_MAX, 0, &product));
}

static void growing_keeps_the_contents_and_clears_the_rest(void **unused)
{
    (void)unused;
    int64_t *values = NULL, room = 0;
    for (int64_t count = 1; count <= 5000; count++) {
        int64_t before = room;
        assert_int_equal(kl_grow(&values, &room, count - 1, count, sizeof *values, "a test"), KLIFT_OK);
        assert_true(room >= count);
        assert_true(room == before || room >= 2 * before); /* so that n appends copy O(n) */
        assert_int_equal((uintptr_t)values % 64, 0);
        values[count - 1] = count * count;
    }
    for (int64_t i = 0; i < 5000; i++)
        assert_true(values[i] == (i + 1) * (i + 1));
    for (int64_t i = 5000; i < room; i++)
        assert_true(values[i] == 0);
    kl_free(values);
}

static void growing_within_the_room_does_nothing(void **unused)
{
    (void)unused;
    char *text = NULL;
    int64_t room = 0;
    assert_int_equal(kl_grow(&text, &room, 0, 10, 1, "a test"), KLIFT_OK);
    char *before = text;
    int64_t room_before = room;
    for (int64_t count = 0; count <= room_before; count++)
        assert_int_equal(kl_grow(&text, &room, 5, count, 1, "a test"), KLIFT_OK);
    assert_ptr_equal(text, before);
    assert_true(room == room_before);
    kl_free(text);
}

static void a_failed_growth_leaves_everything_as_it_was(void **unused)
{
    (void)unused;
    double *values = NULL;
    int64_t room = 0;
    assert_int_equal(kl_grow(&values, &room, 0, 3, sizeof *values, "a test"), KLIFT_OK);
    values[0] = 1;
    values[2] = 3;
    double *before = values;
    int64_t room_before = room;
    assert_int_equal(kl_grow(&values, &room, 3, INT64_MAX / 2, sizeof *values, "a test"), KLIFT_MEMORY);
    assert_ptr_equal(values, before);
    assert_true(room == room_before && values[0] == 1 && values[2] == 3);
    kl_free(values);
}

static void texts_are_copied(void **unused)
{
    (void)unused;
    char original[] = "text", *copy;
    assert_int_equal(kl_copy_text(&copy, original), KLIFT_OK);
    original[0] = 'n';
    assert_string_equal(copy, "text");
    kl_free(copy);
    assert_int_equal(kl_copy_text(&copy, ""), KLIFT_OK);
    assert_string_equal(copy, "");
    kl_free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_and_aligned_at_every_size),
        cmocka_unit_test(nothing_is_null_and_not_an_error),
        cmocka_unit_test(sizes_that_overflow_are_refused_and_named),
        cmocka_unit_test(multiply_sees_overflow),
        cmocka_unit_test(growing_keeps_the_contents_and_clears_the_rest),
        cmocka_unit_test(growing_within_the_room_does_nothing),
        cmocka_unit_test(a_failed_growth_leaves_everything_as_it_was),
        cmocka_unit_test(texts_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
