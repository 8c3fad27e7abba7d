/* test_record.c - records read back, and nothing that is damaged, foreign or too new is taken for one. */
#include "base/record.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HEADER = 32, VERSION_AT = 8, OLDEST_AT = 12 };
static const uint32_t first_tag = KL_TAG('F', 'I', 'R', 'S'), second_tag = KL_TAG('N', 'E', 'X', 'T');

static const float floats[3] = {-0.0f, FLT_MAX, 1e-45f};
static const double doubles[2] = {DBL_MIN, -1.0 / 3};

static void fill_record(kl_record_writer *to)
{
    kl_record_open(to, first_tag, true);
    kl_record_put_u32(to, 0xfedcba98);
    kl_record_put_i64(to, INT64_MIN);
    kl_record_put_f64(to, 0.1);
    kl_record_put_text(to, "t\xc3\xa4xt");
    kl_record_put_text(to, "");
    kl_record_close(to);
    kl_record_open(to, second_tag, false);
    kl_record_put_floats(to, floats, 3);
    kl_record_put_doubles(to, doubles, 2);
    kl_record_put_doubles(to, NULL, 0);
    kl_record_close(to);
    assert_int_equal(kl_record_finish(to), KLIFT_OK);
}

static kl_record_writer make_record(void)
{
    kl_record_writer to;
    kl_record_begin(&to, KL_RECORD_MODEL);
    fill_record(&to);
    return to;
}

/* Makes the last checksum right again after a change. */
static void seal(kl_record_writer *to)
{
    uint64_t sum = kl_record_hash(to->bytes, (size_t)to->length - 8, 0);
    for (int i = 0; i < 8; i++)
        to->bytes[to->length - 8 + i] = (unsigned char)(sum >> (8 * i));
}

static klift_status check(kl_record_reader *from, const kl_record_writer *record)
{
    return kl_record_check(from, record->bytes, record->length, KL_RECORD_MODEL);
}

static void damaged(klift_status status, const char *why)
{
    if (status != KLIFT_MODEL || strstr(kl_error_text(), why) == NULL)
        fail_msg("status %d, '%s' does not say '%s'", (int)status, kl_error_text(), why);
}

static void everything_reads_back_bit_for_bit(void **unused)
{
    (void)unused;
    kl_record_writer record = make_record();
    kl_record_reader from;
    uint32_t tag, u;
    int64_t i;
    double d, *ds;
    float *fs;
    char *text;
    assert_int_equal(check(&from, &record), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    assert_int_equal(tag, first_tag);
    assert_true(from.required);
    assert_int_equal(kl_record_get_u32(&from, &u), KLIFT_OK);
    assert_int_equal(u, 0xfedcba98);
    assert_int_equal(kl_record_get_i64(&from, INT64_MIN, INT64_MAX, &i), KLIFT_OK);
    assert_true(i == INT64_MIN);
    assert_int_equal(kl_record_get_f64(&from, &d), KLIFT_OK);
    assert_true(d == 0.1);
    assert_int_equal(kl_record_get_text(&from, &text), KLIFT_OK);
    assert_string_equal(text, "t\xc3\xa4xt");
    kl_free(text);
    assert_int_equal(kl_record_get_text(&from, &text), KLIFT_OK);
    assert_string_equal(text, "");
    kl_free(text);
    assert_int_equal(kl_record_done(&from), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    assert_int_equal(tag, second_tag);
    assert_false(from.required);
    assert_int_equal(kl_record_get_floats(&from, &fs, 3), KLIFT_OK);
    assert_memory_equal(fs, floats, sizeof floats);
    kl_free(fs);
    assert_int_equal(kl_record_get_doubles(&from, &ds, 2), KLIFT_OK);
    assert_memory_equal(ds, doubles, sizeof doubles);
    kl_free(ds);
    assert_int_equal(kl_record_get_doubles(&from, &ds, 0), KLIFT_OK);
    assert_null(ds);
    assert_int_equal(kl_record_done(&from), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    assert_int_equal(tag, 0);
    kl_record_clear(&record);
}

static void a_writer_that_counts_tells_the_length(void **unused)
{
    kl_record_writer record = make_record(), count, exact;
    (void)unused;
    kl_record_begin_count(&count);
    fill_record(&count);
    assert_null(count.bytes);
    assert_int_equal(count.length, record.length);
    kl_record_begin(&exact, KL_RECORD_MODEL);
    kl_record_reserve(&exact, count.length);
    const unsigned char *place = exact.bytes;
    fill_record(&exact);
    assert_ptr_equal(exact.bytes, place); /* nothing was copied to a larger one */
    assert_int_equal(exact.length, record.length);
    assert_memory_equal(exact.bytes, record.bytes, (size_t)record.length);
    kl_record_clear(&exact);
    kl_record_clear(&record);
}

static void every_truncation_and_any_byte_more_is_refused(void **unused)
{
    (void)unused;
    kl_record_writer record = make_record();
    kl_record_reader from;
    for (int64_t length = 0; length <= record.length + 1; length++) {
        unsigned char *part = calloc(1, (size_t)length + (length == 0)); /* the sanitizer guards its end */
        memcpy(part, record.bytes, (size_t)(length < record.length ? length : record.length));
        assert_int_equal(kl_record_check(&from, part, length, KL_RECORD_MODEL), length == record.length ? KLIFT_OK : KLIFT_MODEL);
        free(part);
    }
    assert_int_equal(kl_record_check(&from, NULL, 0, KL_RECORD_MODEL), KLIFT_MODEL);
    kl_record_clear(&record);
}

static void every_flipped_bit_is_refused(void **unused)
{
    (void)unused;
    kl_record_writer record = make_record();
    kl_record_reader from;
    for (int64_t bit = 0; bit < 8 * record.length; bit++) {
        record.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (check(&from, &record) != KLIFT_MODEL)
            fail_msg("bit %d flipped and not refused", (int)bit);
        record.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_int_equal(check(&from, &record), KLIFT_OK);
    kl_record_clear(&record);
}

static void newer_files_are_read_when_they_allow_it(void **unused)
{
    (void)unused;
    kl_record_writer record = make_record();
    kl_record_reader from;
    record.bytes[VERSION_AT] = KL_RECORD_VERSION + 7;
    seal(&record);
    assert_int_equal(check(&from, &record), KLIFT_OK);
    record.bytes[OLDEST_AT] = KL_RECORD_VERSION + 1;
    seal(&record);
    damaged(check(&from, &record), "written by format 8, this klift reads formats up to 1: use a newer klift");
    kl_record_clear(&record);
}

static void unknown_sections_are_skipped_unless_required(void **unused)
{
    (void)unused;
    kl_record_writer record = make_record();
    kl_record_reader from;
    uint32_t tag;
    assert_int_equal(check(&from, &record), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    damaged(kl_record_skip(&from, tag), "'FIRS' that this klift does not know: use a newer klift");
    damaged(kl_record_skip(&from, KL_TAG('a', 1, 200, 'b')), "'a??b'");
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK); /* without reading the first one */
    assert_int_equal(tag, second_tag);
    assert_int_equal(kl_record_skip(&from, tag), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    assert_int_equal(tag, 0);
    kl_record_clear(&record);
}

static void what_is_not_a_model_is_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *bytes;
        int64_t count;
        const char *name;
    } cases[] = {{"", 0, "an empty file"}, {"\x80\x04 pickle data", 12, "a Python pickle"}, {"svm_type c_svc\n", 15, "a LIBSVM model"}, {"solver_type L2R", 15, "a LIBLINEAR model"},
                 {"\x93NUMPY\x01\x00 ...", 12, "a NumPy array"}, {"<html>......", 12, "an HTML"}, {"1 1:0.5\n-1 2:1\n", 15, "something else"}, {"{", 1, "JSON"}, {"\x89KLIFT", 6, "something else"}};
    kl_record_reader from;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        damaged(kl_record_check(&from, cases[i].bytes, cases[i].count, KL_RECORD_MODEL), cases[i].name);
    kl_record_writer record = make_record();
    damaged(kl_record_check(&from, record.bytes, record.length, KL_RECORD_STATS), "holds a model, not statistics");
    kl_record_clear(&record);
}

/* Damage that the outer checksum does not show: a section by itself must hold. */
static void sections_are_checked_by_themselves(void **unused)
{
    (void)unused;
    static const struct {
        int at;
        unsigned char value;
        const char *why;
    } cases[] = {{HEADER + 24, 0x55, "a section's checksum"}, {HEADER + 15, 0x80, "longer than the file"}, {HEADER + 9, 1, "longer than the file"}, {HEADER + 8, 3, "a section's checksum"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_record_writer record = make_record();
        kl_record_reader from;
        uint32_t tag;
        record.bytes[cases[i].at] = cases[i].value;
        seal(&record);
        assert_int_equal(check(&from, &record), KLIFT_OK);
        damaged(kl_record_next(&from, &tag), cases[i].why);
        assert_int_equal(tag, 0);
        kl_record_clear(&record);
    }
    kl_record_writer record;
    kl_record_reader from;
    uint32_t tag;
    kl_record_begin(&record, KL_RECORD_MODEL);
    kl_record_open(&record, 0, true);
    kl_record_close(&record);
    kl_record_put_u32(&record, 1); /* and a header that is cut short */
    assert_int_equal(kl_record_finish(&record), KLIFT_OK);
    assert_int_equal(check(&from, &record), KLIFT_OK);
    damaged(kl_record_next(&from, &tag), "no name");
    from.next = from.length - 4;
    damaged(kl_record_next(&from, &tag), "cut short");
    kl_record_clear(&record);
}

/* A record with one section of the given 64-bit words; the reader is inside it. */
static kl_record_writer words(kl_record_reader *from, const uint64_t *word, int count)
{
    kl_record_writer to;
    uint32_t tag;
    kl_record_begin(&to, KL_RECORD_MODEL);
    kl_record_open(&to, first_tag, true);
    for (int i = 0; i < count; i++)
        kl_record_put_i64(&to, (int64_t)word[i]);
    kl_record_close(&to);
    assert_int_equal(kl_record_finish(&to), KLIFT_OK);
    assert_int_equal(check(from, &to), KLIFT_OK);
    assert_int_equal(kl_record_next(from, &tag), KLIFT_OK);
    return to;
}

static void counts_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    static const uint64_t counts[] = {2, 3, UINT64_C(1) << 31, UINT64_C(1) << 61, UINT64_C(1) << 63, UINT64_MAX, 0x2000000000000001};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        kl_record_reader from;
        kl_record_writer record = words(&from, (uint64_t[]){counts[i] == 2 ? 9 : counts[i] == 3 ? 17 : counts[i], 1}, 2);
        int64_t at = from.at, count = (int64_t)counts[i];
        char *text;
        float *fs;
        double *ds;
        assert_int_equal(kl_record_get_text(&from, &text), KLIFT_MODEL);
        assert_null(text);
        from.at = at;
        assert_int_equal(kl_record_get_floats(&from, &fs, count), KLIFT_MODEL);
        assert_null(fs);
        from.at = at;
        assert_int_equal(kl_record_get_doubles(&from, &ds, count), KLIFT_MODEL);
        assert_null(ds);
        kl_record_clear(&record);
    }
}

static void wrong_counts_and_leftovers_are_refused(void **unused)
{
    (void)unused;
    kl_record_reader from;
    kl_record_writer record = words(&from, (uint64_t[]){1, 0}, 2);
    double *ds;
    int64_t value;
    uint32_t u;
    damaged(kl_record_get_doubles(&from, &ds, 2), "wrong length");
    damaged(kl_record_done(&from), "bytes too many");
    from.at -= 8;
    damaged(kl_record_get_i64(&from, 2, 9, &value), "out of range");
    from.at -= 8;
    damaged(kl_record_get_i64(&from, -9, 0, &value), "out of range");
    assert_int_equal(kl_record_get_u32(&from, &u), KLIFT_OK);
    damaged(kl_record_get_i64(&from, 0, 9, &value), "too short");
    assert_int_equal(kl_record_get_u32(&from, &u), KLIFT_OK);
    damaged(kl_record_get_u32(&from, &u), "too short");
    damaged(kl_record_get_f64(&from, &(double){0}), "too short");
    kl_record_clear(&record);
}

static void numbers_that_are_not_finite_are_refused(void **unused)
{
    (void)unused;
    static const uint64_t bad[] = {0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001};
    static const uint32_t bad_floats[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x7f800001};
    for (int i = 0; i < 4; i++) {
        kl_record_reader from;
        kl_record_writer record = words(&from, (uint64_t[]){bad[i], 1, bad[i], 2, 1 | (uint64_t)bad_floats[i] << 32}, 5);
        double d, *ds;
        float *fs;
        damaged(kl_record_get_f64(&from, &d), "not finite");
        damaged(kl_record_get_doubles(&from, &ds, 1), "not finite");
        kl_free(ds);
        damaged(kl_record_get_floats(&from, &fs, 2), "not finite");
        kl_free(fs);
        kl_record_clear(&record);
    }
}

static void texts_with_a_nul_are_refused(void **unused)
{
    (void)unused;
    kl_record_reader from;
    kl_record_writer record = words(&from, (uint64_t[]){3, 0x630061}, 2);
    char *text;
    damaged(kl_record_get_text(&from, &text), "NUL");
    assert_null(text);
    kl_record_clear(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_reads_back_bit_for_bit),
        cmocka_unit_test(a_writer_that_counts_tells_the_length),
        cmocka_unit_test(every_truncation_and_any_byte_more_is_refused),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(newer_files_are_read_when_they_allow_it),
        cmocka_unit_test(unknown_sections_are_skipped_unless_required),
        cmocka_unit_test(what_is_not_a_model_is_named),
        cmocka_unit_test(sections_are_checked_by_themselves),
        cmocka_unit_test(counts_that_do_not_fit_are_refused),
        cmocka_unit_test(wrong_counts_and_leftovers_are_refused),
        cmocka_unit_test(numbers_that_are_not_finite_are_refused),
        cmocka_unit_test(texts_with_a_nul_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
