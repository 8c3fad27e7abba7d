/* test_npy.c - NPY arrays: every type, labels read in step, and headers that lie. */
#include "base/memory.h"
#include "data/reader.h"
#include "pack.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], x_path[128], y_path[128], labels[160];

static int make_folder(void **unused)
{
    (void)unused;
    strcpy(folder, "/tmp/klift-npy-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(x_path, sizeof x_path, "%s/x.npy", folder);
    snprintf(y_path, sizeof y_path, "%s/y.npy", folder);
    snprintf(labels, sizeof labels, "labels=\"%s\"", y_path);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    unlink(x_path);
    unlink(y_path);
    return rmdir(folder);
}

static void write_bytes(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

/* A whole file in memory: version major.0, the dict as given, the data. */
static size_t make_npy(char *out, int major, const char *dict, const void *data, size_t count)
{
    size_t length = strlen(dict) + 1, at = 8;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)major;
    out[7] = 0;
    for (int i = 0; i < (major == 1 ? 2 : 4); i++)
        out[at++] = (char)(length >> (8 * i));
    memcpy(out + at, dict, length - 1);
    out[at + length - 1] = '\n';
    memcpy(out + at + length, data, count);
    return at + length + count;
}

static void write_npy(const char *path, const char *dict, const void *data, size_t count)
{
    char *bytes = malloc(count + 20000);
    write_bytes(path, bytes, make_npy(bytes, 1, dict, data, count));
    free(bytes);
}

#define DICT(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }"

/* Opens, reads all rows two at a time, returns the last batch's status; sum of all values. */
static klift_status read_all(const char *options, int64_t *rows, double *sum)
{
    kl_reader *reader;
    kl_batch batch;
    *rows = 0;
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
    }
    kl_reader_free(reader);
    return status;
}

static void expect_refusal(const char *options, const char *word)
{
    int64_t rows;
    double sum;
    klift_status status = read_all(options, &rows, &sum);
    if (status != KLIFT_DATA || strstr(kl_error_text(), word) == NULL || strstr(kl_error_text(), folder) == NULL)
        fail_msg("expected '%s', got status %d: %s", word, status, kl_error_text());
}

static void reads_every_type_in_either_byte_order(void **unused)
{
    (void)unused;
    static const struct {
        const char *dict, *bytes;
        size_t count;
        float first, second;
    } arrays[] = {
        {DICT("<f4", "(1, 2)"), "\0\0\x80\x3f\0\0\0\xc0", 8, 1, -2},
        {DICT(">f4", "(1, 2)"), "\x3f\x80\0\0\xc0\0\0\0", 8, 1, -2},
        {DICT("<f8", "(1, 2)"), "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\x80", 16, 1.5f, -0.0f},
        {DICT(">f8", "(1, 2)"), "\x3f\xf8\0\0\0\0\0\0\x80\0\0\0\0\0\0\0", 16, 1.5f, -0.0f},
        {DICT("<f2", "(1, 2)"), "\0\x3c\x01\0", 4, 1, 0x1p-24f},
        {DICT(">f2", "(1, 2)"), "\xfb\xff\x04\0", 4, -65504, 0x1p-14f},
        {DICT("|i1", "(1, 2)"), "\xff\x7f", 2, -1, 127},
        {DICT("<i2", "(1, 2)"), "\xfe\xff\0\x01", 4, -2, 256},
        {DICT(">i2", "(1, 2)"), "\xff\xfe\x01\0", 4, -2, 256},
        {DICT("<i4", "(1, 2)"), "\xff\xff\xff\xff\0\0\x01\0", 8, -1, 65536},
        {DICT(">i8", "(1, 2)"), "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\x01\0\0\0\0", 16, -1, 4294967296},
        {DICT("|u1", "(1, 2)"), "\xff\x01", 2, 255, 1},
        {DICT("<u2", "(1, 2)"), "\xff\xff\x01\0", 4, 65535, 1},
        {DICT("<u4", "(1, 2)"), "\0\0\0\x80\x01\0\0\0", 8, 2147483648, 1},
        {DICT("<u8", "(1, 2)"), "\0\0\0\0\0\0\0\x80\x01\0\0\0\0\0\0\0", 16, 9223372036854775808.0f, 1},
        {DICT("|b1", "(1, 2)"), "\x01\0", 2, 1, 0},
        {"{\"shape\":(1,2),\"descr\":\"=f4\",\"fortran_order\":True}  ", "\0\0\x80\x3f\0\0\0\xc0", 8, 1, -2},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        kl_reader *reader;
        kl_batch batch;
        write_npy(x_path, arrays[i].dict, arrays[i].bytes, arrays[i].count);
        klift_status status = kl_reader_open(x_path, NULL, &reader);
        if (status != KLIFT_OK)
            fail_msg("%s: %s", arrays[i].dict, kl_error_text());
        assert_string_equal(reader->type->name, "npy");
        assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
        assert_int_equal(batch.rows, 1);
        assert_int_equal(batch.columns, 2);
        if (batch.dense[0] != arrays[i].first || batch.dense[1] != arrays[i].second)
            fail_msg("%s: %g %g", arrays[i].dict, (double)batch.dense[0], (double)batch.dense[1]);
        assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
        assert_int_equal(batch.rows, 0);
        kl_reader_free(reader);
    }
}

static void reads_all_versions_and_shapes(void **unused)
{
    (void)unused;
    float data[6] = {1, 2, 3, 4, 5, 6};
    char bytes[1000];
    int64_t rows;
    double sum;
    for (int major = 1; major <= 3; major++) {
        write_bytes(x_path, bytes, make_npy(bytes, major, DICT("<f4", "(3, 2)"), data, sizeof data));
        assert_int_equal(read_all(NULL, &rows, &sum), KLIFT_OK);
        assert_int_equal(rows, 3);
        assert_true(sum == 21);
    }
    write_npy(x_path, DICT("<f4", "(6,)"), data, sizeof data);
    assert_int_equal(read_all("dim=1", &rows, &sum), KLIFT_OK);
    assert_int_equal(rows, 6);
    write_npy(x_path, DICT("<f4", "(0, 5)"), data, 0);
    assert_int_equal(read_all(NULL, &rows, &sum), KLIFT_OK);
    assert_int_equal(rows, 0);
    write_npy(x_path, DICT("<f4", "(2, 2)"), data, sizeof data); /* 8 bytes too many */
    assert_int_equal(read_all(NULL, &rows, &sum), KLIFT_OK);
    assert_true(sum == 10);
    write_npy(x_path, "{'descr': '<f4', 'fortran_order': True, 'shape': (6, 1), }", data, sizeof data);
    assert_int_equal(read_all(NULL, &rows, &sum), KLIFT_OK);
    assert_int_equal(rows, 6);
}

static void refuses_bad_headers(void **unused)
{
    (void)unused;
    static const struct {
        const char *dict, *word;
    } bad[] = {
        {DICT("|O", "(1, 2)"), "object"},
        {DICT("<c8", "(1, 2)"), "'<c8' are not supported"},
        {DICT("<f16", "(1, 2)"), "not supported"},
        {DICT("<f", "(1, 2)"), "not supported"},
        {DICT("<i3", "(1, 2)"), "not supported"},
        {DICT("<M8[ns]", "(1, 2)"), "not supported"},
        {DICT("<f4x", "(1, 2)"), "not supported"},
        {DICT("<f99999999999999999999999", "(1, 2)"), "not supported"},
        {DICT("|S4", "(1, 2)"), "text, not numbers"},
        {DICT("", "(1, 2)"), "descr"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2), }", "structured"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "truncated"},
        {"{'descr': '<f4', 'fortran_order': 1, 'shape': (2, 2), }", "fortran_order"},
        {DICT("<f4", "()"), "0 dimensions"},
        {DICT("<f4", "(1, 2, 3)"), "3 dimensions"},
        {DICT("<f4", "(1,1,1,1,1,1,1,1,1,1,1)"), "dimensions"},
        {DICT("<f4", "(-1, 2)"), "negative"},
        {DICT("<f4", "(2, 0)"), "0 columns"},
        {DICT("<f4", "(1, 4294967296)"), "columns"},
        {DICT("<f8", "(2305843009213693952, 8)"), "more than any file holds"},
        {DICT("<f8", "(99999999999999999999, 8)"), "below 2^63"},
        {DICT("<f4", "(64000000000000, 1)"), "truncated"},
        {DICT("<f4", "(1 2)"), "comma"},
        {DICT("<f4", "(1,, 2)"), "whole numbers"},
        {DICT("<f4", "(a, 2)"), "whole numbers"},
        {DICT("<f4", "((((((((1))))))))"), "whole numbers"},
        {DICT("<f4", "[1, 2]"), "tuple"},
        {DICT("<f4", "(1, 2"), "whole numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), 'extra': 1}", "a key"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}", "twice"},
        {"{'descr': '<f4', 'shape': (1, 2)}", "missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)} + 1", "behind the dict"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (1, 2)}", "does not end"},
        {"{'descr': __import__('os'), 'fortran_order': False, 'shape': (1, 2)}", "descr"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, __import__('os').system('true'))}", "whole numbers"},
        {"__import__('os').system('true') or {}", "no dict"},
        {DICT("<f4", "(-9223372036854775808, 2)"), "negative"},
        {DICT("<f4", "(1, -2)"), "negative"},
        {DICT("<f4", "(1, 0x2)"), "comma"},
        {DICT("<f4", "(9223372036854775807, 9223372036854775807)"), "columns"},
        {DICT("<f8", "(9223372036854775807, 1)"), "more than any file holds"},
        {"", "dict"},
        {"{", "a key"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_npy(x_path, bad[i].dict, "12345678", 8);
        expect_refusal(NULL, bad[i].word);
    }
}

static void refuses_other_versions_and_long_headers(void **unused)
{
    (void)unused;
    char bytes[20000];
    size_t count = make_npy(bytes, 9, DICT("<f4", "(1, 2)"), "12345678", 8);
    write_bytes(x_path, bytes, count);
    expect_refusal(NULL, "version 9.0");
    count = make_npy(bytes, 2, DICT("<f4", "(1, 2)"), "12345678", 8);
    memset(bytes + 8, 0xff, 4);
    write_bytes(x_path, bytes, count);
    expect_refusal(NULL, "4294967295 bytes long");
    memcpy(bytes, "\x93NUMPY\x01\0\x20\x4e", 10); /* 20000 */
    write_bytes(x_path, bytes, sizeof bytes);
    expect_refusal(NULL, "20000 bytes long");
    write_bytes(x_path, "1 1:1\n", 6);
    expect_refusal("format=npy", "not an NPY file");
}

/* Depth is no cost: nothing here calls itself, so brackets by the thousand are one refusal each. */
static void nested_brackets_are_refused_at_once(void **unused)
{
    (void)unused;
    static const char brackets[] = "({[";
    for (int b = 0; b < 3; b++) {
        char dict[8000] = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
        memset(dict + strlen(dict), brackets[b], 3000);
        write_npy(x_path, dict, "12345678", 8);
        expect_refusal(NULL, "malformed");
        write_npy(x_path, dict + strlen(dict) - 3000, "12345678", 8);
        expect_refusal(NULL, "malformed");
    }
}

/* Column after column: values are their row and column, so that a wrong place shows. */
static void fortran_order_is_read_from_a_plain_file_in_every_pass(void **unused)
{
    (void)unused;
    enum { ROWS = 20000, COLUMNS = 3 };
    float *x = malloc(ROWS * COLUMNS * sizeof *x);
    double *y = malloc(ROWS * 2 * sizeof *y);
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++)
            x[j * ROWS + i] = (float)(i * 10 + j);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < ROWS; i++)
            y[j * ROWS + i] = i + j * 0.5;
    write_npy(x_path, "{'descr': '<f4', 'fortran_order': True, 'shape': (20000, 3), }", x, ROWS * COLUMNS * sizeof *x);
    write_npy(y_path, "{'descr': '<f8', 'fortran_order': True, 'shape': (20000, 2), }", y, ROWS * 2 * sizeof *y);
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(x_path, labels, &reader), KLIFT_OK);
    static const int64_t sizes[] = {777, 1, 9000, INT64_MAX};
    for (int pass = 0; pass < 4; pass++) {
        int64_t row = 0;
        for (;;) {
            assert_int_equal(kl_reader_next(reader, sizes[pass], &batch), KLIFT_OK);
            if (batch.rows == 0 || (sizes[pass] == 1 && row == 50))
                break;
            assert_true(batch.rows == sizes[pass] || row + batch.rows == ROWS);
            for (int64_t i = 0; i < batch.rows; i++, row++) {
                for (int j = 0; j < COLUMNS; j++)
                    if (batch.dense[i * COLUMNS + j] != (float)(row * 10 + j))
                        fail_msg("row %lld, column %d: %g", (long long)row, j, (double)batch.dense[i * COLUMNS + j]);
                assert_true(batch.target[2 * i] == (double)row && batch.target[2 * i + 1] == (double)row + 0.5);
            }
        }
        assert_int_equal(row, sizes[pass] == 1 ? 50 : ROWS);
        assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
    }
    kl_reader_free(reader);
    x[2 * ROWS + 12345] = NAN;
    write_npy(x_path, "{'descr': '<f4', 'fortran_order': True, 'shape': (20000, 3), }", x, ROWS * COLUMNS * sizeof *x);
    expect_refusal(NULL, "row 12346, column 3: the value is not finite");
    free(x);
    free(y);
}

static void fortran_order_from_a_compressed_file_is_refused_with_advice(void **unused)
{
    (void)unused;
    char bytes[300];
    size_t packed, count = make_npy(bytes, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }", "abcd", 4);
    unsigned char *all = pack("gzip", bytes, count, &packed);
    if (all == NULL)
        return;
    write_bytes(x_path, all, packed);
    free(all);
    expect_refusal(NULL, "numpy.ascontiguousarray");
}

static void compressed_arrays_and_labels_are_read_in_every_pass(void **unused)
{
    (void)unused;
    char bytes[300];
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        size_t packed, count = make_npy(bytes, 1, DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6);
        unsigned char *all = pack(pack_codecs[c], bytes, count, &packed);
        if (all == NULL)
            continue;
        write_bytes(x_path, all, packed);
        for (size_t cut = 8; cut < packed; cut++) { /* the last bytes are the checksum: still an error */
            write_bytes(x_path, all, cut);
            expect_refusal("format=npy", "truncated");
        }
        write_bytes(x_path, all, packed);
        free(all);
        count = make_npy(bytes, 1, DICT("|u1", "(3,)"), "\7\10\11", 3);
        all = pack(pack_codecs[c], bytes, count, &packed);
        write_bytes(y_path, all, packed);
        kl_reader *reader;
        kl_batch batch;
        assert_int_equal(kl_reader_open(x_path, labels, &reader), KLIFT_OK);
        for (int pass = 0; pass < 2; pass++) {
            assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
            assert_true(batch.rows == 3 && batch.dense[5] == 6 && batch.target[2] == 9);
            assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
            assert_int_equal(batch.rows, 0);
            assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
        }
        kl_reader_free(reader);
        write_bytes(y_path, all, packed - 1);
        expect_refusal(labels, "truncated");
        free(all);
    }
}

/* The elements are all there, only the checksum behind them is cut or wrong: nobody would read it who stops at the last
 * row. Larger than what opening a file looks at. */
static void a_checksum_behind_the_last_row_is_tested(void **unused)
{
    (void)unused;
    enum { ROWS = 9000 };
    char *bytes = malloc(2 * ROWS + 200), *data = malloc(2 * ROWS);
    for (int i = 0; i < 2 * ROWS; i++)
        data[i] = (char)(kl_mix((uint64_t)i, 5) & 63);
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        size_t packed, labels_packed, count = make_npy(bytes, 1, DICT("|u1", "(9000, 2)"), data, 2 * ROWS);
        unsigned char *rows = pack(pack_codecs[c], bytes, count, &packed);
        count = make_npy(bytes, 1, DICT("|u1", "(9000,)"), data, ROWS);
        unsigned char *targets = pack(pack_codecs[c], bytes, count, &labels_packed);
        for (size_t cut = 1; rows != NULL && cut <= 8; cut++) {
            write_bytes(x_path, rows, packed - cut);
            expect_refusal(NULL, "truncated");
            write_bytes(x_path, rows, packed);
            write_bytes(y_path, targets, labels_packed - cut);
            expect_refusal(labels, "truncated");
        }
        free(rows);
        free(targets);
    }
    free(bytes);
    free(data);
}

static void bytes_behind_the_array_are_noted(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    write_npy(x_path, DICT("|u1", "(2, 2)"), "abcde", 5);
    assert_int_equal(kl_reader_open(x_path, NULL, &reader), KLIFT_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
    assert_non_null(strstr(reader->note, "the file goes on behind the array"));
    kl_reader_free(reader);
    write_npy(x_path, DICT("|u1", "(2, 2)"), "abcd", 4);
    write_npy(y_path, DICT("|u1", "(2,)"), "abc", 3);
    assert_int_equal(kl_reader_open(x_path, labels, &reader), KLIFT_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
    assert_non_null(strstr(reader->note, "the file of labels goes on"));
    kl_reader_free(reader);
}

static void every_truncation_is_refused(void **unused)
{
    (void)unused;
    char bytes[1000];
    size_t count = make_npy(bytes, 1, DICT("<f4", "(3, 2)"), "abcdefghijklmnopqrstuvwx", 24);
    for (size_t cut = 0; cut < count; cut++) {
        write_bytes(x_path, bytes, cut);
        expect_refusal("format=npy", cut < 6 ? "not an NPY file" : "truncated");
    }
    char expected[100];
    snprintf(expected, sizeof expected, "promises %zu bytes, it has %zu", count, count - 1);
    write_bytes(x_path, bytes, count - 1);
    expect_refusal(NULL, expected);
}

static void names_row_and_column_of_a_bad_value(void **unused)
{
    (void)unused;
    double data[6] = {1, 2, 3, 4, 5, 6};
    data[5] = NAN;
    write_npy(x_path, DICT("<f8", "(3, 2)"), data, sizeof data);
    expect_refusal(NULL, "row 3, column 2: the value is not finite");
    data[2] = -INFINITY;
    write_npy(x_path, DICT("<f8", "(3, 2)"), data, sizeof data);
    expect_refusal(NULL, "row 2, column 1: the value is not finite");
    data[1] = 3.5e38;
    write_npy(x_path, DICT("<f8", "(3, 2)"), data, sizeof data);
    expect_refusal(NULL, "row 1, column 2: the value is out of range");
    write_npy(x_path, DICT("<f2", "(1, 2)"), "\0\0\0\x7c", 4);
    expect_refusal(NULL, "column 2: the value is not finite");
}

enum { LONG_ROWS = 30011, LONG_COLUMNS = 5, LONG = LONG_ROWS * LONG_COLUMNS }; /* more than two blocks of the smallest elements */

/* Element i of an array of that type at `out`; answers what is to be read. */
static float put_element(const char *type, int64_t i, char *out)
{
    int size = type[2] - '0';
    int64_t whole = i * 2654435761 >> 3;
    double value = (double)(whole % 100000) * 0.37 - 5000;
    if (type[1] == 'f') {
        float single = (float)value;
        memcpy(out, size == 4 ? (const void *)&single : &value, (size_t)size);
    } else {
        whole = type[1] == 'b' ? whole & 1 : whole;
        memcpy(out, &whole, (size_t)size); /* the low bytes: klift's tests run on little-endian machines */
        if (size < 8)
            whole = (int64_t)((uint64_t)whole << (64 - 8 * size)) >> (64 - 8 * size);
        if (size < 8 && type[1] != 'i')
            whole &= (INT64_C(1) << 8 * size) - 1;
        value = (double)whole;
    }
    for (int k = 0; type[0] == '>' && k < size / 2; k++) {
        char kept = out[k];
        out[k] = out[size - 1 - k];
        out[size - 1 - k] = kept;
    }
    return (float)value;
}

static void check_long(const float *expected, int64_t ask)
{
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(x_path, NULL, &reader), KLIFT_OK);
    for (int64_t row = 0; row < LONG_ROWS; row += batch.rows) {
        assert_int_equal(kl_reader_next(reader, ask, &batch), KLIFT_OK);
        assert_true(batch.rows == (ask < LONG_ROWS - row ? ask : LONG_ROWS - row));
        assert_memory_equal(batch.dense, expected + row * LONG_COLUMNS, (size_t)(batch.rows * LONG_COLUMNS) * sizeof(float));
    }
    kl_reader_free(reader);
}

static void long_arrays_are_the_same_however_they_are_read(void **unused)
{
    (void)unused;
    static const char *const types[] = {"|u1", "|i1", "|b1", "<i2", ">i2", "<u2", ">u2", "<i4", ">u4", "<i8", ">u8", "<f4", ">f4", "<f8", ">f8"};
    char *data = malloc(LONG * 8), *file = malloc(LONG * 8 + 200), dict[100];
    float *expected = malloc(LONG * sizeof *expected);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        size_t size = (size_t)(types[t][2] - '0'), packed;
        for (int64_t i = 0; i < LONG; i++)
            expected[i] = put_element(types[t], i, data + (size_t)i * size);
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", types[t], LONG_ROWS, LONG_COLUMNS);
        size_t count = make_npy(file, 1, dict, data, LONG * size);
        write_bytes(x_path, file, count);
        for (int64_t ask = 1; ask < 100000; ask = ask * 19 + 3)
            check_long(expected, ask);
        unsigned char *all = pack("gzip", file, count, &packed);
        if (all == NULL)
            continue;
        write_bytes(x_path, all, packed);
        free(all);
        check_long(expected, 100000);
        check_long(expected, 777);
    }
    free(data);
    free(file);
    free(expected);
}

static void the_first_bad_value_of_many_is_named(void **unused)
{
    (void)unused;
    float *single = calloc(LONG, sizeof *single);
    double *value = calloc(LONG, sizeof *value);
    uint16_t *half = calloc(LONG, sizeof *half);
    char dict[100], place[40];
    for (int64_t bad = LONG - 2; bad > 0; bad /= 3) { /* behind it the others: only the first counts */
        single[bad] = bad % 2 ? NAN : -INFINITY;
        value[bad] = bad % 2 ? -1e39 : (double)NAN;
        half[bad] = 0x7c00; /* infinity */
        snprintf(place, sizeof place, "row %d, column %d:", (int)(bad / LONG_COLUMNS) + 1, (int)(bad % LONG_COLUMNS) + 1);
        for (int size = 2; size <= 8; size *= 2) {
            kl_reader *reader;
            kl_batch batch;
            snprintf(dict, sizeof dict, "{'descr': '<f%d', 'fortran_order': False, 'shape': (%d, %d), }", size, LONG_ROWS, LONG_COLUMNS);
            write_npy(x_path, dict, size == 2 ? half : size == 4 ? (const void *)single : value, (size_t)LONG * (size_t)size);
            assert_int_equal(kl_reader_open(x_path, NULL, &reader), KLIFT_OK);
            assert_int_equal(kl_reader_next(reader, 100000, &batch), KLIFT_DATA);
            assert_non_null(strstr(kl_error_text(), place));
            assert_non_null(strstr(kl_error_text(), size == 8 && bad % 2 ? "out of range" : "not finite"));
            kl_reader_free(reader);
        }
    }
    free(single);
    free(value);
    free(half);
}

static void refuses_another_width_than_dim(void **unused)
{
    (void)unused;
    write_npy(x_path, DICT("<f4", "(1, 2)"), "\0\0\0\0\0\0\0\0", 8);
    expect_refusal("dim=3", "2 columns, but dim=3");
}

static void numeric_labels_come_with_their_rows_in_every_pass(void **unused)
{
    (void)unused;
    enum { ROWS = 30000 };
    float *x = malloc(ROWS * 3 * sizeof *x);
    double *y = malloc(ROWS * 2 * sizeof *y);
    for (int i = 0; i < ROWS * 3; i++)
        x[i] = (float)i;
    for (int i = 0; i < ROWS * 2; i++)
        y[i] = -i;
    write_npy(x_path, DICT("<f4", "(30000, 3)"), x, ROWS * 3 * sizeof *x);
    write_npy(y_path, DICT("<f8", "(30000, 2)"), y, ROWS * 2 * sizeof *y);
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(x_path, labels, &reader), KLIFT_OK);
    static const int64_t sizes[] = {777, 30000, INT64_MAX};
    for (int pass = 0; pass < 3; pass++) {
        int64_t row = 0;
        for (;;) {
            assert_int_equal(kl_reader_next(reader, sizes[pass], &batch), KLIFT_OK);
            if (batch.rows == 0)
                break;
            assert_true(batch.rows == sizes[pass] || row + batch.rows == ROWS);
            assert_int_equal(batch.targets, 2);
            assert_memory_equal(batch.dense, x + row * 3, (size_t)batch.rows * 3 * sizeof *x);
            assert_memory_equal(batch.target, y + row * 2, (size_t)batch.rows * 2 * sizeof *y);
            row += batch.rows;
        }
        assert_int_equal(row, ROWS);
        assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
    }
    kl_reader_free(reader);
    free(x);
    free(y);
}

static void text_labels_become_class_names(void **unused)
{
    (void)unused;
    write_npy(x_path, DICT("|u1", "(3, 1)"), "\1\2\3", 3);
    static const struct {
        const char *dict, *bytes;
        size_t count;
        const char *name[3];
    } texts[] = {
        {DICT("|S4", "(3,)"), "cat\0mousdog\0", 12, {"cat", "mous", "dog"}},
        {DICT("<U2", "(3,)"), "a\0\0\0\0\0\0\0\xe4\0\0\0b\0\0\0\x00\xf6\x01\0\xac\x20\0\0", 24, {"a", "\xc3\xa4" "b", "\xf0\x9f\x98\x80\xe2\x82\xac"}},
        {DICT(">U1", "(3,)"), "\0\0\0a\0\0\0\xe4\0\0\0b", 12, {"a", "\xc3\xa4", "b"}},
    };
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        kl_reader *reader;
        kl_batch batch;
        write_npy(y_path, texts[t].dict, texts[t].bytes, texts[t].count);
        assert_int_equal(kl_reader_open(x_path, labels, &reader), KLIFT_OK);
        assert_int_equal(kl_reader_next(reader, 3, &batch), KLIFT_OK);
        assert_null(batch.target);
        for (int i = 0; i < 3; i++)
            assert_string_equal(batch.label[i], texts[t].name[i]);
        kl_reader_free(reader);
    }
}

static void refuses_bad_labels(void **unused)
{
    (void)unused;
    static const struct {
        const char *dict, *bytes;
        size_t count;
        const char *word;
    } bad[] = {
        {DICT("|u1", "(3,)"), "\1\2\3", 3, "2 rows, but"},
        {DICT("|u1", "(1,)"), "\1", 1, "has 1 labels"},
        {DICT("<f4", "(2,)"), "\0\0\0\0\0\0\x80\x7f", 8, "row 2, column 1: the label is not finite"},
        {DICT("<i8", "(2,)"), "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\x20\0", 16, "row 2, column 1: the label is 2^53"},
        {DICT("|S2", "(2,)"), "ab\0c", 4, "row 2, column 1: the label holds a NUL"},
        {DICT("|S2", "(2,)"), "ab\0\0", 4, "row 2, column 1: the label is empty"},
        {DICT("<U1", "(2,)"), "a\0\0\0\0\xd8\0\0", 8, "row 2, column 1: the label is not Unicode"},
        {DICT("<U1", "(2,)"), "\0\0\x11\0a\0\0\0", 8, "row 1, column 1: the label is not Unicode"},
        {DICT("|S1", "(2, 1)"), "ab", 2, "1-D"},
        {DICT("|S9999999", "(2,)"), "ab", 2, "too long"},
        {DICT("|O", "(2,)"), "ab", 2, "object"},
        {DICT("|u1", "(2, 3)"), "\1\2\3\4\5", 5, "truncated"},
    };
    write_npy(x_path, DICT("|u1", "(2, 1)"), "\1\2", 2);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_npy(y_path, bad[i].dict, bad[i].bytes, bad[i].count);
        expect_refusal(labels, bad[i].word);
    }
    int64_t rows;
    double sum;
    assert_int_equal(read_all("labels=\"/nowhere/y.npy\"", &rows, &sum), KLIFT_IO);
    char both[200];
    snprintf(both, sizeof both, "no-label=true,%s", labels); /* not even opened */
    assert_int_equal(read_all(both, &rows, &sum), KLIFT_OK);
}

static void *feed(void *fifo)
{
    char bytes[200];
    size_t count = make_npy(bytes, 1, DICT("<f4", "(1000000000, 2000000000)"), "12345678", 8);
    write_bytes(fifo, bytes, count);
    return NULL;
}

static void a_pipe_whose_header_lies_costs_no_memory(void **unused)
{
    (void)unused;
    char fifo[160];
    pthread_t writer;
    kl_reader *reader;
    kl_batch batch;
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, feed, fifo), 0);
    assert_int_equal(kl_reader_open(fifo, NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 1000000, &batch), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "truncated"));
    kl_reader_free(reader);
    pthread_join(writer, NULL);
    unlink(fifo);
}

/* Any changed byte of the header is refused or read; never a crash. */
static void damaged_headers_never_crash(void **unused)
{
    (void)unused;
    static const char bytes[] = "{}()[]'\",: 0123456789<>|=fiubSUOTrue-\n\0\xff";
    char good[300], text[300];
    size_t count = make_npy(good, 1, DICT("<f4", "(3, 2)"), "abcdefghijklmnopqrstuvwx", 24);
    uint64_t key = 3;
    for (int round = 0; round < 4000; round++) {
        int64_t rows;
        double sum;
        memcpy(text, good, count);
        for (int change = 0; change <= round % 3; change++) {
            key = kl_mix(key, 1);
            text[6 + key % (count - 30)] = bytes[(key >> 32) % (sizeof bytes - 1)];
        }
        write_bytes(x_path, text, count);
        klift_status status = read_all("format=npy", &rows, &sum);
        assert_true(status == KLIFT_OK || status == KLIFT_DATA);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type_in_either_byte_order),
        cmocka_unit_test(reads_all_versions_and_shapes),
        cmocka_unit_test(refuses_bad_headers),
        cmocka_unit_test(refuses_other_versions_and_long_headers),
        cmocka_unit_test(nested_brackets_are_refused_at_once),
        cmocka_unit_test(fortran_order_is_read_from_a_plain_file_in_every_pass),
        cmocka_unit_test(fortran_order_from_a_compressed_file_is_refused_with_advice),
        cmocka_unit_test(compressed_arrays_and_labels_are_read_in_every_pass),
        cmocka_unit_test(a_checksum_behind_the_last_row_is_tested),
        cmocka_unit_test(bytes_behind_the_array_are_noted),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(names_row_and_column_of_a_bad_value),
        cmocka_unit_test(long_arrays_are_the_same_however_they_are_read),
        cmocka_unit_test(the_first_bad_value_of_many_is_named),
        cmocka_unit_test(refuses_another_width_than_dim),
        cmocka_unit_test(numeric_labels_come_with_their_rows_in_every_pass),
        cmocka_unit_test(text_labels_become_class_names),
        cmocka_unit_test(refuses_bad_labels),
        cmocka_unit_test(a_pipe_whose_header_lies_costs_no_memory),
        cmocka_unit_test(damaged_headers_never_crash),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
