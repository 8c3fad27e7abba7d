/* test_schema.c - the columns of a table: order of categories, numbering, what is kept, stored and refused. */
#include "base/memory.h"
#include "data/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void add_categories(kl_schema_column *column, const char *const *names, int count)
{
    int64_t index;
    column->categorical = true;
    for (int i = 0; i < count; i++)
        assert_int_equal(kl_names_add(&column->categories, names[i], &index), KLIFT_OK);
    assert_int_equal(kl_schema_sort(column), KLIFT_OK);
}

/* price (number), size (3 categories), colour (2), weight (number) */
static void fill(kl_schema *schema)
{
    static const char *const sizes[] = {"10", "9", "small"}, *const colours[] = {"red", "blue"};
    kl_schema_column *column;
    *schema = (kl_schema){.named = true, .filled = true, .label_at = 2};
    assert_int_equal(kl_schema_add(schema, "price", &column), KLIFT_OK);
    column->fill = 2.5;
    assert_int_equal(kl_schema_add(schema, "size", &column), KLIFT_OK);
    add_categories(column, sizes, 3);
    assert_int_equal(kl_schema_add(schema, "colour", &column), KLIFT_OK);
    add_categories(column, colours, 2);
    assert_int_equal(kl_schema_add(schema, "weight", &column), KLIFT_OK);
    column->fill = -1e-3;
    assert_int_equal(kl_copy_text(&schema->label, "y"), KLIFT_OK);
    assert_int_equal(kl_schema_number(schema), KLIFT_OK);
}

static void expect_same(const kl_schema *a, const kl_schema *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->named, b->named);
    assert_int_equal(a->filled, b->filled);
    assert_int_equal(a->label_at, b->label_at);
    assert_string_equal(a->label, b->label);
    for (int64_t i = 0; i < a->count; i++) {
        const kl_schema_column *x = &a->column[i], *y = &b->column[i];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->categorical, y->categorical);
        assert_int_equal(x->first, y->first);
        assert_true(x->fill == y->fill);
        assert_int_equal(x->categories.count, y->categories.count);
        for (int64_t k = 0; k < x->categories.count; k++) {
            assert_string_equal(x->categories.name[k], y->categories.name[k]);
            assert_int_equal(kl_names_find(&y->categories, x->categories.name[k]), k);
        }
    }
}

static void categories_are_sorted_and_found_by_their_place(void **unused)
{
    (void)unused;
    kl_schema schema;
    fill(&schema);
    const kl_names *sizes = &schema.column[1].categories;
    assert_string_equal(sizes->name[0], "9"); /* numbers by value, before words */
    assert_string_equal(sizes->name[1], "10");
    assert_string_equal(sizes->name[2], "small");
    assert_int_equal(kl_names_find(sizes, "10"), 1);
    assert_string_equal(schema.column[2].categories.name[0], "blue");
    assert_int_equal(kl_names_find(sizes, "large"), -1);
    kl_schema_clear(&schema);
}

static void columns_are_numbered_by_what_they_become(void **unused)
{
    (void)unused;
    static const int64_t first[] = {0, 1, 4, 6};
    kl_schema schema;
    fill(&schema);
    for (int i = 0; i < 4; i++)
        assert_int_equal(schema.column[i].first, first[i]);
    assert_int_equal(schema.width, 7);
    assert_true(kl_schema_is_sparse(&schema));
    kl_schema_clear(&schema);
}

static void copies_and_files_hold_the_same(void **unused)
{
    (void)unused;
    kl_schema schema, copy, loaded;
    kl_record_writer to;
    kl_record_reader from;
    uint32_t tag;
    fill(&schema);
    assert_int_equal(kl_schema_copy(&schema, &copy), KLIFT_OK);
    expect_same(&schema, &copy);
    kl_record_begin(&to, KL_RECORD_MODEL);
    kl_record_open(&to, KL_TAG('C', 'O', 'L', 'S'), true);
    kl_schema_save(&schema, &to);
    kl_record_close(&to);
    assert_int_equal(kl_record_finish(&to), KLIFT_OK);
    assert_int_equal(kl_record_check(&from, to.bytes, to.length, KL_RECORD_MODEL), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    assert_int_equal(kl_schema_load(&loaded, &from), KLIFT_OK);
    assert_int_equal(kl_record_done(&from), KLIFT_OK);
    expect_same(&schema, &loaded);
    kl_record_clear(&to);
    kl_schema_clear(&schema);
    kl_schema_clear(&copy);
    kl_schema_clear(&loaded);
}

static void plain_columns_leave_nothing_but_the_labels_place(void **unused)
{
    (void)unused;
    kl_schema plain = {.label_at = 1}, kept;
    kl_schema_column *column;
    assert_int_equal(kl_schema_add(&plain, "", NULL), KLIFT_OK);
    assert_int_equal(kl_schema_add(&plain, "", &column), KLIFT_OK);
    assert_int_equal(kl_schema_number(&plain), KLIFT_OK);
    assert_true(kl_schema_is_plain(&plain));
    assert_int_equal(kl_schema_keep(&plain, &kept), KLIFT_OK);
    assert_int_equal(kept.count, 0);
    assert_int_equal(kept.label_at, 1);
    plain.filled = true; /* what missing cells become must be known later */
    assert_int_equal(kl_schema_keep(&plain, &kept), KLIFT_OK);
    assert_int_equal(kept.count, 2);
    kl_schema_clear(&kept);
    plain.filled = false;
    column->categorical = true;
    assert_false(kl_schema_is_plain(&plain));
    kl_schema_clear(&plain);
}

/* A damaged section is refused, whatever byte is wrong, and never taken for another schema of the same bytes. */
static void damaged_bytes_are_refused_or_still_a_schema(void **unused)
{
    (void)unused;
    kl_schema schema, loaded;
    kl_record_writer to;
    fill(&schema);
    kl_record_begin(&to, KL_RECORD_MODEL);
    kl_record_open(&to, KL_TAG('C', 'O', 'L', 'S'), true);
    int64_t start = to.length;
    kl_schema_save(&schema, &to);
    int64_t end = to.length;
    for (int64_t at = start; at < end; at++)
        for (int bit = 0; bit < 8; bit++) {
            to.bytes[at] ^= (unsigned char)(1 << bit);
            kl_record_reader from = {.bytes = to.bytes, .length = end, .at = start, .end = end, .next = end};
            klift_status status = kl_schema_load(&loaded, &from);
            assert_true(status == KLIFT_OK || status == KLIFT_MODEL || status == KLIFT_DATA);
            kl_schema_clear(&loaded);
            to.bytes[at] ^= (unsigned char)(1 << bit);
        }
    for (int64_t cut = start; cut < end; cut++) {
        kl_record_reader from = {.bytes = to.bytes, .length = cut, .at = start, .end = cut, .next = cut};
        assert_int_equal(kl_schema_load(&loaded, &from), KLIFT_MODEL);
    }
    kl_record_clear(&to);
    kl_schema_clear(&schema);
}

static void a_category_that_is_there_twice_is_refused(void **unused)
{
    (void)unused;
    kl_schema schema, loaded;
    kl_record_writer to;
    fill(&schema);
    kl_free(schema.column[1].categories.name[1]);
    schema.column[1].categories.name[1] = NULL;
    assert_int_equal(kl_copy_text(&schema.column[1].categories.name[1], "9"), KLIFT_OK);
    kl_record_begin(&to, KL_RECORD_MODEL);
    kl_record_open(&to, KL_TAG('C', 'O', 'L', 'S'), true);
    int64_t start = to.length;
    kl_schema_save(&schema, &to);
    kl_record_reader from = {.bytes = to.bytes, .length = to.length, .at = start, .end = to.length, .next = to.length};
    assert_int_equal(kl_schema_load(&loaded, &from), KLIFT_MODEL);
    assert_non_null(strstr(kl_error_text(), "named twice"));
    kl_record_clear(&to);
    kl_schema_clear(&schema);
}

static void a_description_has_names_and_categories(void **unused)
{
    (void)unused;
    kl_schema schema, none = {0};
    kl_text json = {0};
    fill(&schema);
    kl_json_open(&json, NULL, '{');
    kl_schema_describe(&schema, &json);
    kl_json_close(&json, '}');
    assert_non_null(strstr(json.text, "\"label\": \"y\""));
    assert_non_null(strstr(json.text, "\"name\": \"size\", \"kind\": \"categories\", \"categories\": [\"9\", \"10\", \"small\"]"));
    assert_non_null(strstr(json.text, "\"name\": \"price\", \"kind\": \"number\", \"missing\": 2.5"));
    kl_text_clear(&json);
    kl_json_open(&json, NULL, '{');
    kl_schema_describe(&none, &json);
    kl_json_close(&json, '}');
    assert_string_equal(json.text, "{}");
    kl_text_clear(&json);
    kl_schema_clear(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories_are_sorted_and_found_by_their_place),
        cmocka_unit_test(columns_are_numbered_by_what_they_become),
        cmocka_unit_test(copies_and_files_hold_the_same),
        cmocka_unit_test(plain_columns_leave_nothing_but_the_labels_place),
        cmocka_unit_test(damaged_bytes_are_refused_or_still_a_schema),
        cmocka_unit_test(a_category_that_is_there_twice_is_refused),
        cmocka_unit_test(a_description_has_names_and_categories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
