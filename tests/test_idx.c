/* test_idx.c - IDX arrays: every type, one to four dimensions, labels in IDX or NPY, and files that lie or end early. */
#include "data/array.h"
#include "data/reader.h"
#include "pack.h"
#include "support.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *x_path, *y_path, labels[300];

static int name_files(void **unused)
{
    (void)unused;
    x_path = temp_path("x-idx");
    y_path = temp_path("y-idx");
    snprintf(labels, sizeof labels, "labels=\"%s\"", y_path);
    return 0;
}

/* A whole file in memory. */
static size_t make_idx(char *out, int type, int dims, const uint32_t *shape, const void *data, size_t count)
{
    size_t at = 4;
    out[0] = out[1] = 0;
    out[2] = (char)type;
    out[3] = (char)dims;
    for (int i = 0; i < dims; i++)
        for (int shift = 24; shift >= 0; shift -= 8)
            out[at++] = (char)(shape[i] >> shift);
    memcpy(out + at, data, count);
    return at + count;
}

#define SHAPE(...) (const uint32_t[]){__VA_ARGS__}

static void write_idx(const char *path, int type, int dims, const uint32_t *shape, const void *data, size_t count)
{
    char *bytes = malloc(count + 100);
    pack_write(path, bytes, make_idx(bytes, type, dims, shape, data, count));
    free(bytes);
}

static klift_status read_all(const char *options, int64_t *rows, int64_t *columns, double *sum)
{
    kl_reader *reader;
    kl_batch batch;
    *rows = *columns = 0;
    *sum = 0;
    klift_status status = kl_reader_open(x_path, options, &reader);
    while (status == KLIFT_OK) {
        status = kl_reader_next(reader, 2, &batch);
        if (status != KLIFT_OK || batch.rows == 0)
            break;
        assert_int_equal(kl_batch_check(&batch, "batch"), KLIFT_OK);
        for (int64_t i = 0; i < batch.rows * batch.columns; i++)
            *sum += (double)batch.dense[i];
        *rows += batch.rows;
        *columns = batch.columns;
    }
    kl_reader_free(reader);
    return status;
}

static void expect_refusal(const char *options, const char *word)
{
    int64_t rows, columns;
    double sum;
    klift_status status = read_all(options, &rows, &columns, &sum);
    if (status != KLIFT_DATA || strstr(kl_error_text(), word) == NULL || strstr(kl_error_text(), "/klift-test-") == NULL)
        fail_msg("expected '%s', got status %d, %lld rows: %s", word, status, (long long)rows, kl_error_text());
}

static void reads_every_type(void **unused)
{
    (void)unused;
    static const struct {
        int type;
        const char *bytes;
        size_t count;
        float first, second;
    } arrays[] = {{0x08, "\xff\x01", 2, 255, 1},
                  {0x09, "\xff\x7f", 2, -1, 127},
                  {0x0b, "\xff\xfe\x01\0", 4, -2, 256},
                  {0x0c, "\xff\xff\xff\xff\0\1\0\0", 8, -1, 65536},
                  {0x0d, "\x3f\x80\0\0\xc0\0\0\0", 8, 1, -2},
                  {0x0e, "\x3f\xf8\0\0\0\0\0\0\x80\0\0\0\0\0\0\0", 16, 1.5f, -0.0f}};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        kl_reader *reader;
        kl_batch batch;
        write_idx(x_path, arrays[i].type, 2, SHAPE(1, 2), arrays[i].bytes, arrays[i].count);
        assert_int_equal(kl_reader_open(x_path, NULL, &reader), KLIFT_OK);
        assert_string_equal(reader->type->name, "idx");
        assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
        assert_int_equal(batch.rows, 1);
        assert_int_equal(batch.columns, 2);
        if (batch.dense[0] != arrays[i].first || batch.dense[1] != arrays[i].second)
            fail_msg("type %02x: %g %g", (unsigned)arrays[i].type, (double)batch.dense[0], (double)batch.dense[1]);
        kl_reader_free(reader);
    }
}

static void the_first_dimension_is_rows_and_the_others_columns(void **unused)
{
    (void)unused;
    static const struct {
        int dims;
        uint32_t shape[8];
        int64_t rows, columns;
    } shapes[] = {{1, {24}, 24, 1}, {2, {4, 6}, 4, 6}, {3, {2, 3, 4}, 2, 12}, {4, {3, 2, 2, 2}, 3, 8}, {8, {1, 1, 2, 1, 3, 1, 4, 1}, 1, 24}};
    char data[24];
    for (int i = 0; i < 24; i++)
        data[i] = (char)i;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        int64_t rows, columns;
        double sum;
        write_idx(x_path, 8, shapes[s].dims, shapes[s].shape, data, sizeof data);
        assert_int_equal(read_all(NULL, &rows, &columns, &sum), KLIFT_OK);
        assert_int_equal(rows, shapes[s].rows);
        assert_int_equal(columns, shapes[s].columns);
        assert_true(sum == 276);
    }
}

static void labels_come_from_idx_or_npy_in_every_pass(void **unused)
{
    (void)unused;
    static const char npy[] = "\x93NUMPY\1\0\x3a\0{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n\7\0\xff";
    write_idx(x_path, 8, 3, SHAPE(3, 1, 2), "\1\2\3\4\5\6", 6);
    for (int form = 0; form < 2; form++) {
        kl_reader *reader;
        kl_batch batch;
        if (form == 0)
            write_idx(y_path, 8, 1, SHAPE(3), "\7\0\xff", 3);
        else
            pack_write(y_path, npy, sizeof npy - 1);
        assert_int_equal(kl_reader_open(x_path, labels, &reader), KLIFT_OK);
        for (int pass = 0; pass < 3; pass++) {
            assert_int_equal(kl_reader_next(reader, 2, &batch), KLIFT_OK);
            assert_int_equal(batch.rows, 2);
            assert_int_equal(batch.targets, 1);
            assert_true(batch.target[0] == 7 && batch.target[1] == 0);
            assert_int_equal(kl_reader_next(reader, 2, &batch), KLIFT_OK);
            assert_true(batch.rows == 1 && batch.target[0] == 255 && batch.dense[1] == 6);
            assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
        }
        kl_reader_free(reader);
    }
}

static void an_npy_array_takes_idx_labels(void **unused)
{
    (void)unused;
    static const char npy[] = "\x93NUMPY\1\0\x3c\0{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n\1\2\3\4";
    kl_reader *reader;
    kl_batch batch;
    pack_write(x_path, npy, sizeof npy - 1);
    write_idx(y_path, 0x0c, 1, SHAPE(2), "\0\0\1\0\0\0\0\2", 8);
    assert_int_equal(kl_reader_open(x_path, labels, &reader), KLIFT_OK);
    assert_string_equal(reader->type->name, "npy");
    assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
    assert_true(batch.rows == 2 && batch.target[0] == 256 && batch.target[1] == 2);
    kl_reader_free(reader);
}

static void refuses_faults(void **unused)
{
    (void)unused;
    static const struct {
        const char *bytes;
        size_t count;
        const char *options, *word;
    } bad[] = {
        {"1 1:1\n", 6, "format=idx", "not an IDX file: it starts with 31 20 31 3a"},
        {"\0\0\x0a\1\0\0\0\1x", 9, "format=idx", "not an IDX file"},
        {"\0\0\x08\0\0\0\0\1x", 9, "format=idx", "not an IDX file"},
        {"\0\0\x08\x09\0\0\0\1x", 9, "format=idx", "not an IDX file"},
        {"\0\1\x08\1\0\0\0\1x", 9, "format=idx", "not an IDX file"},
        {"\0\0\x08", 3, "format=idx", "truncated"},
        {"\0\0\x08\2\0\0\0\1\0\0", 10, NULL, "truncated"},
        {"\0\0\x08\3\0\0\0\1\xff\xff\xff\xff\x7f\xff\xff\xff", 16, NULL, "columns; there must be 1 to"},
        {"\0\0\x08\4\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 20, NULL, "more than any file holds"},
        {"\0\0\x0e\3\xff\xff\xff\xff\0\0\xff\xff\0\0\x7f\xff", 16, NULL, "more than any file holds"},
        {"\0\0\x0e\2\xff\xff\xff\xff\0\0\xff\xff", 12, NULL, "truncated: its header promises"},
        {"\0\0\x08\2\0\0\0\2\0\0\0\0", 12, NULL, "0 columns"},
        {"\0\0\x0d\2\0\0\0\2\0\0\0\1\0\0\0\0\x7f\xc0\0\0", 20, NULL, "row 2, column 1: the value is not finite"},
        {"\0\0\x0e\2\0\0\0\1\0\0\0\1\x7f\xef\xff\xff\xff\xff\xff\xff", 20, NULL, "row 1, column 1: the value is out of range"},
        {"\0\0\x08\2\0\0\0\1\0\0\0\2ab", 14, "dim=3", "2 columns, but dim=3"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pack_write(x_path, bad[i].bytes, bad[i].count);
        expect_refusal(bad[i].options, bad[i].word);
    }
}

static void refuses_labels_that_do_not_fit(void **unused)
{
    (void)unused;
    write_idx(x_path, 8, 2, SHAPE(2, 1), "ab", 2);
    write_idx(y_path, 8, 1, SHAPE(3), "abc", 3);
    expect_refusal(labels, "has 2 rows, but");
    expect_refusal(labels, "has 3 labels");
    write_idx(y_path, 8, 3, SHAPE(2, 1, 1), "ab", 2);
    expect_refusal(labels, "3 dimensions and is no file of labels");
    write_idx(y_path, 0x0d, 1, SHAPE(2), "\0\0\0\0\x7f\x80\0\0", 8);
    expect_refusal(labels, "row 2, column 1: the label is not finite");
    write_idx(y_path, 8, 1, SHAPE(2), "a", 1);
    expect_refusal(labels, "truncated");
    pack_write(y_path, "1\n2\n", 4);
    expect_refusal(labels, "not an NPY file");
}

static void no_rows_are_none(void **unused)
{
    (void)unused;
    int64_t rows, columns;
    double sum;
    write_idx(x_path, 8, 3, SHAPE(0, 28, 28), "", 0);
    assert_int_equal(read_all(NULL, &rows, &columns, &sum), KLIFT_OK);
    assert_int_equal(rows, 0);
    klift_data *data;
    char json[100];
    assert_int_equal(klift_data_open(x_path, NULL, &data), KLIFT_OK);
    assert_int_equal(klift_data_describe(data, NULL, json, sizeof json, NULL), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "no rows"));
    klift_data_free(data);
}

static void bytes_behind_the_array_are_noted(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    write_idx(x_path, 8, 1, SHAPE(2), "abcd", 4);
    assert_int_equal(kl_reader_open(x_path, NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, 2);
    assert_string_equal(reader->note, "");
    assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, 0);
    assert_non_null(strstr(reader->note, "goes on behind the array"));
    kl_reader_free(reader);
}

static void every_truncation_is_refused_plain_or_compressed(void **unused)
{
    (void)unused;
    char bytes[100];
    size_t count = make_idx(bytes, 8, 3, SHAPE(3, 2, 2), "abcdefghijkl", 12), packed;
    for (size_t cut = 1; cut < count; cut++) {
        pack_write(x_path, bytes, cut);
        expect_refusal("format=idx", "truncated");
    }
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        unsigned char *all = pack(pack_codecs[c], bytes, count, &packed);
        for (size_t cut = 1; all != NULL && cut < packed; cut++) {
            pack_write(x_path, all, cut);
            expect_refusal("format=idx", cut < 8 ? "" : "truncated"); /* also when only the checksum is cut */
        }
        for (size_t cut = 0; all != NULL && cut < count; cut++) { /* whole compressed file of a short array */
            free(all);
            all = pack(pack_codecs[c], bytes, cut, &packed);
            pack_write(x_path, all, packed);
            expect_refusal("format=idx", "truncated");
        }
        free(all);
    }
}

static void a_header_that_lies_inside_a_compressed_file_costs_no_memory(void **unused)
{
    (void)unused;
    char bytes[100];
    size_t packed, count = make_idx(bytes, 0x0e, 3, SHAPE(4000000000u, 20000, 10000), "12345678", 8);
    unsigned char *all = pack("gzip", bytes, count, &packed);
    if (all == NULL)
        return;
    kl_reader *reader;
    kl_batch batch;
    pack_write(x_path, all, packed);
    free(all);
    assert_int_equal(kl_reader_open(x_path, NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 1000000, &batch), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "truncated"));
    kl_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type),
        cmocka_unit_test(the_first_dimension_is_rows_and_the_others_columns),
        cmocka_unit_test(labels_come_from_idx_or_npy_in_every_pass),
        cmocka_unit_test(an_npy_array_takes_idx_labels),
        cmocka_unit_test(refuses_faults),
        cmocka_unit_test(refuses_labels_that_do_not_fit),
        cmocka_unit_test(no_rows_are_none),
        cmocka_unit_test(bytes_behind_the_array_are_noted),
        cmocka_unit_test(every_truncation_is_refused_plain_or_compressed),
        cmocka_unit_test(a_header_that_lies_inside_a_compressed_file_costs_no_memory),
    };
    return cmocka_run_group_tests(tests, name_files, NULL);
}
