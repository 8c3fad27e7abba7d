/* test_text.c - texts grow, JSON is well formed, and the room/needed convention of klift.h holds. */
#include "base/text.h"

#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_text(kl_text *text, const char *expected)
{
    assert_int_equal(kl_text_status(text), KLIFT_OK);
    assert_non_null(text->text);
    assert_string_equal(text->text, expected);
    assert_int_equal(text->length, strlen(expected));
    kl_text_clear(text);
    assert_null(text->text);
}

static void appends_follow_each_other(void **unused)
{
    (void)unused;
    kl_text text = {0};
    kl_text_add(&text, "%d and %s", 5, "more");
    kl_text_add_bytes(&text, ", bytes", 3);
    kl_text_add_number(&text, 0.1);
    kl_text_add(&text, "%s", "");
    kl_text_add_bytes(&text, "", 0);
    check_text(&text, "5 and more, b0.1");
}

static void formats_of_every_length_are_kept_whole(void **unused)
{
    (void)unused;
    char *wide = malloc(3000);
    memset(wide, 'w', 3000);
    for (int length = 0; length < 2999; length += length < 500 || length > 520 ? 37 : 1) {
        kl_text text = {0};
        kl_text_add(&text, "<%.*s>", length, wide);
        kl_text_add(&text, "<%.*s>", length, wide);
        assert_int_equal(kl_text_status(&text), KLIFT_OK);
        assert_int_equal(text.length, 2 * (length + 2));
        assert_int_equal(strlen(text.text), 2 * (length + 2));
        assert_memory_equal(text.text + length + 1, "><", 2);
        kl_text_clear(&text);
    }
    free(wide);
}

static void json_escapes_what_json_must_escape(void **unused)
{
    (void)unused;
    kl_text text = {0};
    kl_json_text(&text, NULL, "a\"b\\c/d");
    check_text(&text, "\"a\\\"b\\\\c/d\"");
    kl_json_text(&text, NULL, "\n\t\r\x01\x1f\x7f");
    check_text(&text, "\"\\u000a\\u0009\\u000d\\u0001\\u001f\\u007f\"");
    kl_json_text(&text, NULL, "Gr\xc3\xb6\xc3\x9f" "e %s %d");
    check_text(&text, "\"Gr\xc3\xb6\xc3\x9f" "e %s %d\"");
    kl_json_text(&text, "ke\"y", "");
    check_text(&text, "\"ke\\\"y\": \"\"");
}

static void json_puts_commas_where_they_belong(void **unused)
{
    (void)unused;
    kl_text text = {0};
    kl_json_open(&text, NULL, '{');
    kl_json_open(&text, "empty", '[');
    kl_json_close(&text, ']');
    kl_json_open(&text, "list", '[');
    kl_json_number(&text, NULL, 1.5);
    kl_json_open(&text, NULL, '{');
    kl_json_close(&text, '}');
    kl_json_open(&text, NULL, '{');
    kl_json_bool(&text, "yes", true);
    kl_json_bool(&text, "no", false);
    kl_json_close(&text, '}');
    kl_json_text(&text, NULL, NULL);
    kl_json_close(&text, ']');
    kl_json_count(&text, "count", INT64_MIN);
    kl_json_close(&text, '}');
    check_text(&text, "{\"empty\": [], \"list\": [1.5, {}, {\"yes\": true, \"no\": false}, null], \"count\": -9223372036854775808}");
}

static void json_numbers_that_are_not_finite_are_null(void **unused)
{
    (void)unused;
    kl_text text = {0};
    kl_json_open(&text, NULL, '[');
    kl_json_number(&text, NULL, NAN);
    kl_json_number(&text, NULL, INFINITY);
    kl_json_number(&text, NULL, -INFINITY);
    kl_json_number(&text, NULL, -1e-300);
    kl_json_close(&text, ']');
    check_text(&text, "[null, null, null, -1e-300]");
}

static void give_cuts_the_text_and_tells_the_length(void **unused)
{
    (void)unused;
    static const char whole[] = "twelve bytes";
    for (int64_t room = 0; room < 16; room++) {
        kl_text text = {0};
        char out[16];
        int64_t needed = -1, kept = room - 1 < 12 ? room - 1 : 12;
        memset(out, '#', sizeof out);
        kl_text_add(&text, "%s", whole);
        assert_int_equal(kl_text_give(&text, out, room, &needed), KLIFT_OK);
        assert_int_equal(needed, 12);
        assert_null(text.text); /* freed */
        if (room > 0) {
            assert_memory_equal(out, whole, (size_t)kept);
            assert_int_equal(out[kept], '\0');
        }
        for (int64_t i = room == 0 ? 0 : kept + 1; i < 16; i++)
            assert_int_equal(out[i], '#');
    }
}

static void give_accepts_null_and_an_empty_text(void **unused)
{
    (void)unused;
    kl_text text = {0};
    char out[4] = "###";
    int64_t needed = -1;
    assert_int_equal(kl_text_give(&text, out, 4, &needed), KLIFT_OK);
    assert_string_equal(out, "");
    assert_int_equal(needed, 0);
    kl_text_add(&text, "abc");
    assert_int_equal(kl_text_give(&text, NULL, 0, NULL), KLIFT_OK);
    kl_text_add(&text, "abc");
    assert_int_equal(kl_text_give(&text, NULL, 100, &needed), KLIFT_OK);
    assert_int_equal(needed, 3);
}

static void a_failed_append_is_reported_at_the_end(void **unused)
{
    (void)unused;
    kl_text text = {0};
    char out[8] = "#######";
    int64_t needed = -1;
    kl_text_add(&text, "abc");
    text.failed = true; /* as an append without memory leaves it */
    kl_text_add(&text, "def");
    kl_json_text(&text, "key", "value");
    assert_int_equal(kl_text_status(&text), KLIFT_MEMORY);
    assert_int_equal(kl_text_give(&text, out, sizeof out, &needed), KLIFT_MEMORY);
    assert_string_equal(out, "");
    assert_int_equal(needed, 0);
    assert_null(text.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_follow_each_other),
        cmocka_unit_test(formats_of_every_length_are_kept_whole),
        cmocka_unit_test(json_escapes_what_json_must_escape),
        cmocka_unit_test(json_puts_commas_where_they_belong),
        cmocka_unit_test(json_numbers_that_are_not_finite_are_null),
        cmocka_unit_test(give_cuts_the_text_and_tells_the_length),
        cmocka_unit_test(give_accepts_null_and_an_empty_text),
        cmocka_unit_test(a_failed_append_is_reported_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
