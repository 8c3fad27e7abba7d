/* test_csv.c - tables as text: what is read, and how columns are found. Faults are in test_csv_faults.c, matching in test_csv_match.c. */
#include "base/memory.h"
#include "base/number.h"
#include "csv_file.h"
#include "data/csv.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_rows(const char *text, const char *options, const char *rows)
{
    kl_reader *reader;
    kl_text out = {0};
    csv_write_text(text);
    klift_status status = kl_reader_open(csv_path, options, &reader);
    if (status == KLIFT_OK)
        status = csv_read_all(reader, 3, &out);
    if (status != KLIFT_OK)
        fail_msg("'%.60s' with %s: %s", text, options != NULL ? options : "no options", kl_error_text());
    if (strcmp(out.text == NULL ? "" : out.text, rows) != 0)
        fail_msg("'%.60s' with %s: expected %s, got %s", text, options != NULL ? options : "no options", rows, out.text);
    assert_string_equal(reader->type->name, "csv");
    kl_text_clear(&out);
    kl_reader_free(reader);
}

static void reads_every_form_of_a_table(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *options, *rows;
    } good[] = {
        /* header and label */
        {"a,b,c\n1,2,3\n4,5,6\n", NULL, "3 1 2;6 4 5;"},
        {"1,2,3\n4,5,6\n", NULL, "3 1 2;6 4 5;"},
        {"label,b,c\n1,2,3\n", NULL, "1 2 3;"},
        {"a,Target,c\n1,2,3\n", NULL, "2 1 3;"},
        {"y,b,Class\n1,2,3\n", NULL, "3 1 2;"},
        {"a,b,c\n1,2,3\n", "label=b", "2 1 3;"},
        {"a,b,c\n1,2,3\n", "label=1", "1 2 3;"},
        {"a,b,c\n1,2,3\n", "label=-2", "2 1 3;"},
        {"1,2,3\n4,5,6\n", "label=1", "1 2 3;4 5 6;"},
        {"1,2,3\n4,5,6\n", "label=-3", "1 2 3;4 5 6;"},
        {"3,2,1\n7,8,9\n", "header=true,label=3", "7 8 9;"},  /* numbers as names are found by name first */
        {"3,2,1\n7,8,9\n", "header=true,label=2", "8 7 9;"},
        {"2019,2020,2021\n7,8,9\n", NULL, "2021 2019 2020;9 7 8;"}, /* a header of numbers cannot be told from data */
        {"2019,2020,2021\n7,8,9\n", "header=true", "9 7 8;"},
        {"a,b,c\n1,2,3\n", "no-label=true", "- 1 2 3;"},
        {"a,b,c\nx,y,1\nz,y,2\n", NULL, "1 1 0 1;2 0 1 1;"},
        {"p,q\na,b\na,b\n", "no-label=true", "- 1 1;- 1 1;"},
        {"a,b\na,c\na,b\n", "no-label=true", "- 1 1 0;- 1 0 1;- 1 1 0;"}, /* text that occurs again is no header */
        {"1,,3\n4,5,6\n", "missing=zero", "3 1 0;6 4 5;"},    /* a missing cell over a number makes no header */
        {"NA,2,3\n4,5,6\n", "missing=zero", "3 0 2;6 4 5;"},
        {"a,b,c\n1,2,3\n", "header=false,label=3", "c 0 1 0 1;3 1 0 1 0;"},
        {",a,b\n0,1,2\n1,3,4\n", NULL, "2 0 1;4 1 3;"},
        /* quotes */
        {"a,b\n\"1\",\"2\"\n", NULL, "2 1;"},
        {"a,b\n\"x,y\",1\n\"x,y\",2\nz,3\n", NULL, "1 1 0;2 1 0;3 0 1;"},
        {"a,b\n\"x\ny\",1\n\"z\",2\n", NULL, "1 1 0;2 0 1;"},
        {"a,b\n\"x\"\"y\",1\nx\"y,2\n", NULL, "1 1;2 1;"},
        {"\"a\",\"b\nc\"\n1,2\n", "label=\"b\nc\"", "2 1;"},
        {"a,b\n\" 1 \",2\n", NULL, "2 1;"},
        /* line ends, blanks, marks */
        {"a,b\r\n1,2\r\n\r\n3,4\r\n", NULL, "2 1;4 3;"},
        {"a,b\n1,2\n3,4", NULL, "2 1;4 3;"},
        {"\xef\xbb\xbf" "a,b\n1,2\n", "label=a", "1 2;"},
        {"\n\na,b\n\n1,2\n  \n3,4\n\n", NULL, "2 1;4 3;"},
        {"a , b\n 1 ,  2\n3, 4 \n", "label=b", "2 1;4 3;"},
        /* delimiters */
        {"a;b\n1;2\n", NULL, "2 1;"},
        {"a\tb\n1\t2\n", NULL, "2 1;"},
        {"a|b\n1|2\n", NULL, "2 1;"},
        {"a b\n1   2\n 3 4 \n", "format=csv,delimiter=space", "2 1;4 3;"},
        {"a;b\n1,5;2\n-,5;4,25\n", "decimal=comma", "2 1.5;4.25 -0.5;"},
        {"a;b\n1,5e1;2\n12345678,25;4\n", "decimal=comma", "2 15;4 12345678;"},
        {"1,5;2,5\n3,5;4,5\n", "decimal=comma", "2.5 1.5;4.5 3.5;"},
        /* a delimiter at the end of lines */
        {"a,b,\n1,2,\n3,4,\n", NULL, "2 1;4 3;"},
        {"a,b\n1,2,\n3,4,\n", NULL, "2 1;4 3;"},
        {"1,2,\n3,4,\n", NULL, "2 1;4 3;"},
        {"1,2,\n3,4,\n5,6,7\n", "label=1,missing=zero", "1 2 0;3 4 0;5 6 7;"}, /* the last cells of some rows are empty */
        /* numbers */
        {"a,b\n+1.50,-.5\n1e2,1E-2\n00012,0.123456789012345678\n", NULL, "-0.5 1.5;0.01 100;0.12345678901234568 12;"},
        {"a,b\n3.4028235e38,1e300\n1e-400,9007199254740992\n", NULL, "1e300 3.4028235e38;9007199254740992 0;"},
        /* categories */
        {"c,y\nred,1\nblue,2\nred,3\n", NULL, "1 0 1;2 1 0;3 0 1;"},
        {"c,y\n10,1\n9,2\n", "categorical=c", "1 0 1;2 1 0;"},
        {"c,d,y\n10,x,1\n9,x,2\n", "categorical=1", "1 0 1 1;2 1 0 1;"},
        {"c,d,y\n7,8,1\n7,9,2\n", "categorical=c+d", "1 1 1 0;2 1 0 1;"},
        {"c,y\n2020-01-31,1\n2020-02-01,2\n", NULL, "1 1 0;2 0 1;"},
        {"c,y\ntrue,1\nfalse,2\n", NULL, "1 0 1;2 1 0;"},
        {"c,y\n31.12.2020,1\n1.1.2021,2\n", NULL, "1 0 1;2 1 0;"},
        /* ignore */
        {"id,b,y\n7,2,3\n", "ignore=id", "3 2;"},
        {"id,b,y\nx,2,3\n", "ignore=1", "3 2;"},
        {"id,b,y,z\nx,2,3,4\n", "ignore=id+z,label=y", "3 2;"},
        {"id,b,y\nx,2,3\n", "ignore=-1", "2 1;"},
        {"a,a,y\n1,2,3\n", "ignore=2", "3 1;"},
        {"a,a,y\n1,2,3\n", "ignore=1", "3 2;"},
        /* missing */
        {"a,b,y\n1,,3\nNA,2,4\n", "missing=zero", "3 1 0;4 0 2;"},
        {"a,b,y\n1,?,3\nN/A,2,4\n3,4,5\n", "missing=mean", "3 1 3;4 2 2;5 3 4;"},
        {"a,b,y\n1,null,3\nNaN,2,4\n3,4,5\n1,1,nan\n", "missing=skip", "5 3 4;"},
        {"a,b,y\n1,x,3\n2,,4\n3,\"\",5\n4,z,6\n", "missing=zero", "3 1 1 0;4 2 0 0;5 3 0 0;6 4 0 1;"},
        {"a,b,y\n1,x,3\n2,q,\n4,z,6\n", "missing=skip", "3 1 1 0;6 4 0 1;"}, /* q is in no row that counts */
        /* labels */
        {"a,y\n1,red\n2,5\n3,blue\n", NULL, "red 1;5 2;blue 3;"},
        {"a,y\n1,1.0\n2,2.50\n", NULL, "1 1;2.5 2;"},
        {"a,y\n1,1.0\n2,2.50\n", "label-type=text", "1.0 1;2.50 2;"},
        {"a,y\n1,1.0\n2,2.50\n", "categorical=y", "1.0 1;2.50 2;"},
        {"a,y\n1,12345678901234567890\n", "label-type=text", "12345678901234567890 1;"},
        {"y,a\n\"a b\",1\n\"a,b\",2\n", "label=y", "a b 1;a,b 2;"},
        /* nothing */
        {"", "format=csv", ""},
        {"a,b\n", "header=true", ""},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        expect_rows(good[i].text, good[i].options, good[i].rows);
}

static void the_format_is_found_by_content(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *format;
    } some[] = {
        {"1,2,3\n4,5,6\n", "csv"},
        {"a;b\n1;2\n", "csv"},
        {"a\tb\n1\t2\n", "csv"},
        {"1,2,3", "csv"},
        {"a,b,c\n1,2\n4,5,6\n", "csv"}, /* a ragged row does not make it another format */
        {"when,x\n2020-01-01 12:30,5\n2020-01-01 12:35,6\n", "csv"},
        {"when\tx\n2020-01-01 12:30:00\t5\n", "csv"},
        {"a,b\n\"x\ny\",1\n", "csv"},
        {"1\n2\n3\n", "svmlight"},
        {"1 1:2 2:3\n", "svmlight"},
        {"1\t1:2\t2:3\n2\t1:1\t2:2\n", "svmlight"},
        {"1,2 1:2 2:3\n2 1:1\n", "svmlight"},
        {"1 1:0,5\n", "svmlight"},
        {"one 1:2 2:3\ntwo 1:1\n", "svmlight"},
        {"1:2 2:3\n1:1\n", "svmlight"},
        {"# a, b\n1 1:2 # x, y\n", "svmlight"},
        {"1 qid:3 1:2\n", "svmlight"},
        {"1 2 3\n4 5 6\n", "svmlight"},
    };
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        bool csv = kl_csv_detect((const unsigned char *)some[i].text, (int64_t)strlen(some[i].text));
        if (csv != (strcmp(some[i].format, "csv") == 0))
            fail_msg("'%s' is not taken for %s", some[i].text, some[i].format);
    }
    assert_false(kl_csv_detect((const unsigned char *)"a,b\0,c\n", 7));
    char wide[4096];
    for (int i = 0; i < 4096; i++)
        wide[i] = i % 2 ? ',' : '1'; /* the first line is longer than what is looked at */
    assert_true(kl_csv_detect((const unsigned char *)wide, sizeof wide));
}

/* Rows over several blocks, with quotes and newlines where a block may end. */
static void any_batch_size_and_any_pass_gives_the_same_rows(void **unused)
{
    (void)unused;
    static const char *const options[] = {NULL, "missing=mean", "ignore=word"};
    FILE *file = fopen(csv_path, "w");
    assert_non_null(file);
    fputs("x,word,z,y\n", file);
    for (int i = 0; i < 3000; i++)
        fprintf(file, "%.6g,\"word\n\"\"%d\"\"%*s\",%d.25,%s\n", (double)syn_uniform((uint64_t)i), i % 7, i % 50, "", i, i % 3 == 0 ? "a" : "b\"c");
    fclose(file);
    for (int o = 0; o < 3; o++) {
        char *first = NULL;
        for (int size = 0; size < 4; size++) {
            static const int64_t sizes[] = {1, 7, 4096, 100000};
            kl_reader *reader;
            assert_int_equal(kl_reader_open(csv_path, options[o], &reader), KLIFT_OK);
            for (int again = 0; again < 2; again++) {
                kl_text out = {0};
                if (csv_read_all(reader, sizes[size], &out) != KLIFT_OK)
                    fail_msg("%s", kl_error_text());
                if (first == NULL)
                    first = strdup(out.text);
                assert_true(strcmp(out.text, first) == 0);
                kl_text_clear(&out);
                assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
            }
            assert_int_equal(reader->handed, 6000);
            kl_reader_free(reader);
        }
        free(first);
    }
}

static void a_quoted_cell_may_be_longer_than_the_buffer(void **unused)
{
    (void)unused;
    size_t length = 3 << 20;
    char *text = malloc(length + 64);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "a,b\n1,\"");
    for (size_t i = 0; i < length; i++)
        text[at++] = i % 100 == 99 ? '\n' : 'x';
    at += (size_t)sprintf(text + at, "\"\n2,y\n3,4,\n");
    csv_write(text, at);
    kl_reader *reader;
    kl_text out = {0};
    assert_int_equal(kl_reader_open(csv_path, "ignore=b,no-label=true", &reader), KLIFT_OK);
    assert_int_equal(csv_read_all(reader, 10, &out), KLIFT_OK);
    assert_string_equal(out.text, "- 1;- 2;- 3;");
    kl_text_clear(&out);
    kl_reader_free(reader);
    text[at - 11] = ' '; /* without its closing quote */
    csv_write(text, at);
    assert_int_equal(kl_reader_open(csv_path, "ignore=b,no-label=true", &reader), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "table.csv:2:3: the quote is not closed"));
    free(text);
}

/* The fast loop and kl_number_read agree to the last bit, whatever the form. */
static void plain_numbers_have_the_bits_of_the_general_ones(void **unused)
{
    (void)unused;
    static const char *const forms[] = {"%.6g", "%.17g", "%.3f", "%.12f", "%.0f", "%e", "%+.9g", " %.8g", "%.8g "};
    enum { ROWS = 3000, COLUMNS = 9 };
    FILE *file = fopen(csv_path, "w");
    char cell[ROWS * COLUMNS][48];
    assert_non_null(file);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            double x = syn_normal((uint64_t)i, (uint64_t)j) * (i % 4 == 0 ? 1e6 : i % 4 == 1 ? 1e-6 : 1);
            snprintf(cell[i * COLUMNS + j], sizeof cell[0], forms[(i + j) % 9], x);
            fprintf(file, "%s%s", cell[i * COLUMNS + j], j + 1 < COLUMNS ? "," : "\n");
        }
    fclose(file);
    kl_reader *reader;
    assert_int_equal(kl_reader_open(csv_path, NULL, &reader), KLIFT_OK);
    for (int i = 0; i < ROWS;) {
        kl_batch batch;
        assert_int_equal(kl_reader_next(reader, 100, &batch), KLIFT_OK);
        assert_true(batch.rows > 0 && batch.dense != NULL);
        for (int64_t r = 0; r < batch.rows; r++, i++) {
            for (int j = 0; j < COLUMNS - 1; j++)
                assert_true(batch.dense[r * batch.stride + j] == (float)strtod(cell[i * COLUMNS + j], NULL));
            assert_true(batch.target[r] == strtod(cell[i * COLUMNS + COLUMNS - 1], NULL));
        }
    }
    kl_reader_free(reader);
}

static void a_hundred_thousand_columns_are_read(void **unused)
{
    (void)unused;
    enum { WIDE = 100000 };
    FILE *file = fopen(csv_path, "w");
    assert_non_null(file);
    for (int j = 0; j < WIDE; j++)
        fprintf(file, "c%d%s", j, j + 1 < WIDE ? "," : "\n");
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < WIDE; j++)
            fprintf(file, "%d%s", i + j, j + 1 < WIDE ? "," : "\n");
    fclose(file);
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(csv_path, "label=c0", &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 4096, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, 5);
    assert_int_equal(batch.columns, WIDE - 1);
    assert_true(batch.target[4] == 4 && batch.dense[4 * batch.stride + WIDE - 2] == WIDE + 3);
    kl_reader_free(reader);
}

static void wide_tables_come_in_smaller_batches(void **unused)
{
    (void)unused;
    enum { WIDE = 5001 };
    FILE *file = fopen(csv_path, "w");
    assert_non_null(file);
    for (int i = 0; i < 4000; i++) {
        for (int j = 0; j < WIDE; j++)
            fputs(j + 1 < WIDE ? "1," : "2\n", file);
    }
    fclose(file);
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(csv_path, NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 4096, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, (1 << 24) / (WIDE - 1));
    kl_reader_free(reader);
}

/* ---- options, damage ---- */

static void options_are_checked(void **unused)
{
    (void)unused;
    static const struct {
        const char *options, *word;
    } bad[] = {
        {"label=prize", "did you mean 'price'"},
        {"label=4", "column '4'"},
        {"label=0", "column '0'"},
        {"ignore=a+q", "'q'"},
        {"categorical=q", "'q'"},
        {"label=a,ignore=a", "both the label and ignored"},
        {"header=maybe", "auto|true|false"},
        {"missing=median", "error|zero|mean|skip"},
        {"delimiter=comma,decimal=comma", "both the delimiter and the decimal sign"},
        {"labels=\"y.npy\"", "label=COLUMN"},
        {"lable=a", "did you mean 'label'"},
        {"header=false,label=price", "no header"},
    };
    csv_write_text("a,b,price\n1,2,3\n");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        kl_reader *reader;
        kl_batch batch;
        klift_status status = kl_reader_open(csv_path, bad[i].options, &reader);
        if (status == KLIFT_OK)
            status = kl_reader_next(reader, 1, &batch);
        if (status != KLIFT_USAGE || strstr(kl_error_text(), bad[i].word) == NULL)
            fail_msg("%s: status %d, %s", bad[i].options, (int)status, kl_error_text());
        kl_reader_free(reader);
    }
}

/* Good text with a few bytes changed: any answer will do, a crash or a row that fails kl_batch_check not. */
static void damaged_text_never_crashes(void **unused)
{
    (void)unused;
    static const char good[] = "a,b,\"c\nd\",y\r\n1,x,0.5,2\n-2,\"y \"\"z\"\"\",1e-3,1\n\n3,,12345678.5,0\n4.5,x,NA,1\n";
    static const char bytes[] = " \t\n\r\"\",,;|.-+e0123456789nax?\0\xff";
    static const char *const options[] = {"format=csv", "format=csv,missing=skip", "format=csv,missing=mean,label=1", "format=csv,delimiter=space",
                                          "format=csv,header=true,categorical=1+2,missing=zero", "format=csv,decimal=comma,no-label=true"};
    uint64_t key = 7;
    for (int round = 0; round < (quick() ? 1500 : 6000); round++) {
        char text[sizeof good];
        size_t count = sizeof good - 1;
        memcpy(text, good, sizeof good);
        for (int change = (int)((key = kl_mix(key, 1)) % 5); change >= 0; change--) {
            key = kl_mix(key, 1);
            text[key % count] = bytes[(key >> 32) % (sizeof bytes - 1)];
        }
        if (key >> 60 == 0)
            count = (key >> 16) % count;
        kl_reader *reader;
        kl_text out = {0};
        csv_write(text, count);
        klift_status status = kl_reader_open(csv_path, options[round % 6], &reader);
        if (status == KLIFT_OK)
            status = csv_read_all(reader, 2, &out);
        assert_true(status == KLIFT_OK || status == KLIFT_DATA || status == KLIFT_USAGE);
        kl_text_clear(&out);
        kl_reader_free(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_form_of_a_table),
        cmocka_unit_test(the_format_is_found_by_content),
        cmocka_unit_test(any_batch_size_and_any_pass_gives_the_same_rows),
        cmocka_unit_test(a_quoted_cell_may_be_longer_than_the_buffer),
        cmocka_unit_test(plain_numbers_have_the_bits_of_the_general_ones),
        cmocka_unit_test(a_hundred_thousand_columns_are_read),
        cmocka_unit_test(wide_tables_come_in_smaller_batches),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(damaged_text_never_crashes),
    };
    return cmocka_run_group_tests(tests, csv_make_path, NULL);
}
