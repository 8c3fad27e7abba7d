/* test_names.c - texts get numbers in the order in which they come, and class names an order people expect. */
#include "data/names.h"
#include "support.h"

#include "base/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void names_are_numbered_in_the_order_of_their_coming(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"b", "a", "", "b", "c d", "a", "", "B"};
    static const int64_t numbers[] = {0, 1, 2, 0, 3, 1, 2, 4};
    kl_names names = {0};
    int64_t index;
    assert_int_equal(kl_names_find(&names, "a"), -1);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(kl_names_add(&names, texts[i], &index), KLIFT_OK);
        assert_int_equal(index, numbers[i]);
    }
    assert_int_equal(names.count, 5);
    assert_int_equal(kl_names_find(&names, "c d"), 3);
    assert_int_equal(kl_names_find(&names, "c"), -1);
    assert_string_equal(names.name[4], "B");
    kl_names_clear(&names);
    assert_int_equal(names.count, 0);
    assert_int_equal(kl_names_find(&names, "a"), -1);
    assert_int_equal(kl_names_add(&names, "again", &index), KLIFT_OK); /* usable after clear */
    assert_int_equal(index, 0);
    kl_names_clear(&names);
}

static void many_names_are_all_found_again_and_stay_in_place(void **unused)
{
    (void)unused;
    enum { COUNT = 20000 };
    kl_names names = {0};
    char text[32];
    int64_t index;
    char **place = malloc(COUNT * sizeof *place);
    for (int64_t i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "name %llx", (unsigned long long)syn_mix((uint64_t)i));
        assert_int_equal(kl_names_add(&names, text, &index), KLIFT_OK);
        assert_true(index == i);
        place[i] = names.name[i];
    }
    for (int64_t i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "name %llx", (unsigned long long)syn_mix((uint64_t)i));
        assert_true(kl_names_find(&names, text) == i);
        assert_ptr_equal(names.name[i], place[i]);
        strcat(text, "x");
        assert_true(kl_names_find(&names, text) == -1);
    }
    free(place);
    kl_names_clear(&names);
}

static void the_text_added_is_copied(void **unused)
{
    (void)unused;
    kl_names names = {0};
    char text[] = "label";
    int64_t index;
    assert_int_equal(kl_names_add(&names, text, &index), KLIFT_OK);
    text[0] = 'x';
    assert_int_equal(kl_names_find(&names, "label"), 0);
    assert_int_equal(kl_names_find(&names, text), -1);
    kl_names_clear(&names);
}

static void numbers_are_named_by_their_shortest_decimal(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        const char *name;
    } cases[] = {{1, "1"}, {-1, "-1"}, {0.1, "0.1"}, {-0.0, "0"}, {1e6, "1000000"}, {2.50, "2.5"}, {1e300, "1e300"}};
    char name[KL_NUMBER_ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_names_of_number(cases[i].value, name);
        assert_string_equal(name, cases[i].name);
    }
}

/* In the order in which they must come out. */
static const char *const ordered[] = {"-1e300", "-10", "-2.5", "-1", "+0", "0", "1e-3", "0.5", "1", "1.0", "2", "10", "1e2", "1e300", "", "-", "1e999", "A", "B", "a", "a1", "ab", "inf", "nan", "\xc3\xa4"};
enum { ORDERED = sizeof ordered / sizeof ordered[0] };

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void classes_are_ordered_by_value_then_by_word(void **unused)
{
    (void)unused;
    for (int i = 0; i < ORDERED; i++)
        for (int j = 0; j < ORDERED; j++)
            if (sign(kl_names_compare(ordered[i], ordered[j])) != sign(i - j))
                fail_msg("'%s' and '%s' compare as %d", ordered[i], ordered[j], kl_names_compare(ordered[i], ordered[j]));
}

static int compare(const void *a, const void *b)
{
    return kl_names_compare(*(const char *const *)a, *(const char *const *)b);
}

static void sorting_gives_one_order_from_any_start(void **unused)
{
    (void)unused;
    const char *mixed[ORDERED];
    for (uint64_t seed = 0; seed < 50; seed++) {
        memcpy(mixed, ordered, sizeof mixed);
        for (uint64_t i = ORDERED - 1; i > 0; i--) {
            uint64_t j = syn_mix(seed * 100 + i) % (i + 1);
            const char *keep = mixed[i];
            mixed[i] = mixed[j];
            mixed[j] = keep;
        }
        qsort(mixed, ORDERED, sizeof *mixed, compare);
        for (int i = 0; i < ORDERED; i++)
            assert_string_equal(mixed[i], ordered[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_numbered_in_the_order_of_their_coming),
        cmocka_unit_test(many_names_are_all_found_again_and_stay_in_place),
        cmocka_unit_test(the_text_added_is_copied),
        cmocka_unit_test(numbers_are_named_by_their_shortest_decimal),
        cmocka_unit_test(classes_are_ordered_by_value_then_by_word),
        cmocka_unit_test(sorting_gives_one_order_from_any_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
