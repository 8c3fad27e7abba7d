/* test_svmlight.c - svmlight text: what is read, and where and how the rest is refused. */
#include "base/memory.h"
#include "base/number.h"
#include "data/reader.h"

#include <pthread.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[128];

static int make_folder(void **unused)
{
    (void)unused;
    strcpy(folder, "/tmp/klift-svmlight-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/data.svm", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(folder);
}

static void write_bytes(const char *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

/* Every row as "label column:value ...;", in batches of at_most. */
static klift_status read_all(kl_reader *reader, int64_t at_most, kl_text *out)
{
    for (;;) {
        kl_batch batch;
        KL_TRY(kl_reader_next(reader, at_most, &batch));
        assert_true(batch.rows <= at_most);
        if (batch.rows == 0)
            return KLIFT_OK;
        assert_int_equal(kl_batch_check(&batch, "the batch"), KLIFT_OK);
        for (int64_t i = 0; i < batch.rows; i++) {
            if (batch.label != NULL)
                kl_text_add(out, "%s", batch.label[i]);
            else if (batch.target != NULL)
                kl_text_add_number(out, batch.target[i]);
            else
                kl_text_add(out, "?");
            for (int64_t p = batch.start[i]; p < batch.start[i + 1]; p++) {
                char value[KL_NUMBER_ROOM];
                kl_text_add(out, " %d:", (int)batch.column[p]);
                kl_text_add_bytes(out, value, kl_number_print_float(batch.value[p], value));
            }
            kl_text_add(out, ";");
        }
    }
}

static void expect_rows(const char *text, size_t count, const char *options, const char *rows)
{
    kl_reader *reader;
    kl_text out = {0};
    write_bytes(text, count);
    klift_status status = kl_reader_open(path, options, &reader);
    if (status == KLIFT_OK)
        status = read_all(reader, 3, &out);
    if (status != KLIFT_OK)
        print_error("%.60s: %s\n", text, kl_error_text());
    assert_int_equal(status, KLIFT_OK);
    assert_string_equal(out.text == NULL ? "" : out.text, rows);
    kl_text_clear(&out);
    kl_reader_free(reader);
}

static void expect_refusal(const char *text, size_t count, const char *options, const char *place, const char *word)
{
    kl_reader *reader;
    kl_text out = {0};
    char prefix[200];
    write_bytes(text, count);
    klift_status status = kl_reader_open(path, options, &reader);
    if (status == KLIFT_OK)
        status = read_all(reader, 100, &out);
    snprintf(prefix, sizeof prefix, "%s:%s: ", path, place);
    const char *message = status == KLIFT_OK ? "accepted" : kl_error_text();
    if (status != KLIFT_DATA || strncmp(message, prefix, strlen(prefix)) != 0 || strstr(message, word) == NULL)
        fail_msg("'%.60s': expected %s ... %s, got %s", text, prefix, word, message);
    kl_text_clear(&out);
    kl_reader_free(reader);
}

#define TEXT(literal) literal, sizeof literal - 1

static void reads_every_form_of_a_row(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        size_t count;
        const char *options, *rows;
    } good[] = {
        {TEXT("1 1:0.5 3:2\n-1 2:1\n"), NULL, "1 0:0.5 2:2;-1 1:1;"},
        {TEXT(""), NULL, ""},
        {TEXT("\n\n# nothing\n"), NULL, ""},
        {TEXT("+1 1:+0.5 2:-.5 3:5. 4:1e2 5:1E-2 6:00012.50\n"), NULL, "1 0:0.5 1:-0.5 2:5 3:100 4:0.01 5:12.5;"},
        {TEXT("1.5e3 1:1"), NULL, "1500 0:1;"},
        {TEXT("1\n2 \n3"), NULL, "1;2;3;"},
        {TEXT("1 1:1\r\n2 2:1\r\n\r\n3\r\n"), NULL, "1 0:1;2 1:1;3;"},
        {TEXT("1 1:1\r\n2 2:1\r"), NULL, "1 0:1;2 1:1;"},
        {TEXT("\t1\t1:1\t\t2:2 \t\n  2   7:1   \n"), NULL, "1 0:1 1:2;2 6:1;"},
        {TEXT("# head\n1 1:1 # tail 5:5\n2#x\n3 1:2#y\n   # only\n4\n"), NULL, "1 0:1;2;3 0:2;4;"},
        {TEXT("\xef\xbb\xbf" "1 1:1\n"), NULL, "1 0:1;"},
        {TEXT("3 qid:12 1:1\n2 qid:1\n"), NULL, "3 0:1;2;"},
        {TEXT("1 1:0 2:0.0 3:-0 4:1 5:1e-400 6:1e-60\n"), NULL, "1 3:1;"},
        {TEXT("1 1:3.4028235e38 2:-3.4028235e38\n"), NULL, "1 0:3.4028235e38 1:-3.4028235e38;"},
        {TEXT("99999999999 1:1\n9007199254740992 1:1\n-9007199254740992\n1e300\n"), NULL, "99999999999 0:1;9007199254740992 0:1;-9007199254740992;1e300;"},
        {TEXT("1 2147483646:1\n"), NULL, "1 2147483645:1;"},
        {TEXT("1 0000000000001:1\n"), NULL, "1 0:1;"},
        {TEXT("1 1:0.3333333333333333 2:12345678 3:123456789.25 4:0.123456789012345678\n"), NULL, "1 0:0.33333334 1:12345678 2:123456790 3:0.12345679;"},
        /* index base */
        {TEXT("1 0:1 4:2\n2 3:1\n"), NULL, "1 0:1 4:2;2 3:1;"},
        {TEXT("1 3:1\n2 0:1\n"), NULL, "1 3:1;2 0:1;"},
        {TEXT("1 3:1\n2 00:1\n"), NULL, "1 3:1;2 0:1;"},
        {TEXT("1 3:1\n2\t0:1\n"), NULL, "1 3:1;2 0:1;"},
        {TEXT("1 10:1 100:1 # 0:7\n"), NULL, "1 9:1 99:1;"},
        {TEXT("1 qid:0 1:1\n"), NULL, "1 0:1;"},
        {TEXT("1 3:1\n"), "index-base=0", "1 3:1;"},
        {TEXT("1 3:1\n"), "index-base=1", "1 2:1;"},
        {TEXT("0:1 3:1\n"), "no-label=true", "? 0:1 3:1;"},
        {TEXT("00:1 3:1\n"), "no-label=true", "? 0:1 3:1;"},
        /* labels */
        {TEXT("1:1 3:1\n5 2:1\nword 2:1\n1,2 2:1\n?\n-1 qid:3 1:1\nqid:4 1:1\n"), "no-label=true", "? 0:1 2:1;? 1:1;? 1:1;? 1:1;?;? 0:1;? 0:1;"},
        {TEXT("cat 1:1\ndog\n1 2:1\nnan 1:1\ncat 3:1\n"), "label-type=text", "cat 0:1;dog;1 1:1;nan 0:1;cat 2:1;"},
        {TEXT("12345678901234567890 1:1\n12345678901234567891 1:1\n"), "label-type=text", "12345678901234567890 0:1;12345678901234567891 0:1;"},
        {TEXT("a:b 1:1\nx,y 1:1#z\n"), "label-type=text", "a:b 0:1;x,y 0:1;"},
        {TEXT("1 5:1\n"), "dim=5", "1 4:1;"},
        /* repairs that were asked for */
        {TEXT("1 1:nan 2:1\n2 1:NaN\n3 2:-nan 4:1\n"), "missing=zero", "1 1:1;2;3 3:1;"},
        {TEXT("1 1:nan 9:1\n2 1:3\n3 2:1 3:NAN\n4\n"), "missing=skip", "2 0:3;4;"},
        {TEXT("1 3:3 1:1 2:0\n2 1:1 2:2\n3 5:5 4:4 3:3\n"), "sort-indices=true", "1 0:1 2:3;2 0:1 1:2;3 2:3 3:4 4:5;"},
        {TEXT("1 1:1 6:1 7:2\n2 6:1\n3 5:1\n"), "dim=5,ignore-extra=true", "1 0:1;2;3 4:1;"},
        {TEXT("1 6:1 7:2 2:1 1:3\n"), "dim=5,ignore-extra=true,sort-indices=true", "1 0:3 1:1;"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        expect_rows(good[i].text, good[i].count, good[i].options, good[i].rows);
}

static void refuses_bad_rows_with_line_and_column(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        size_t count;
        const char *options, *place, *word;
    } bad[] = {
        /* values */
        {TEXT("1 1:1\n1 1:1 2:nan\n"), NULL, "2:9", "not finite"},
        {TEXT("1 1:inf\n"), NULL, "1:5", "not finite"},
        {TEXT("1 1:-Infinity\n"), NULL, "1:5", "not finite"},
        {TEXT("1 1:NaN 2:1\n"), NULL, "1:5", "not finite"},
        {TEXT("1 1:1e400\n"), NULL, "1:5", "out of range"},
        {TEXT("1 1:-1e39\n"), NULL, "1:5", "out of range"},
        {TEXT("1 1:3.4028236e38\n"), NULL, "1:5", "out of range"},
        {TEXT("1 1:0x1p3\n"), NULL, "1:5", "not a decimal number"},
        {TEXT("1 1:0.5abc\n"), NULL, "1:5", "not a decimal number"},
        {TEXT("1 1:1.2.3\n"), NULL, "1:5", "not a decimal number"},
        {TEXT("1 1:1e\n"), NULL, "1:5", "not a decimal number"},
        {TEXT("1 1:--1\n"), NULL, "1:5", "not a decimal number"},
        {TEXT("1 1:-\n"), NULL, "1:5", "not a decimal number"},
        {TEXT("1 1:.\n"), NULL, "1:5", "not a decimal number"},
        {TEXT("1 1:1:1\n"), NULL, "1:5", "not a decimal number"},
        {TEXT("1 1:word\n"), NULL, "1:5", "not a decimal number"},
        {TEXT("1 1:0,5 2:1\n"), NULL, "1:5", "decimal comma"},
        {TEXT("1 1:\n"), NULL, "1:5", "missing"},
        {TEXT("1 1:\r\n"), NULL, "1:5", "missing"},
        {TEXT("1 1: 0.5\n"), NULL, "1:5", "missing"},
        {TEXT("1 1:#\n"), NULL, "1:5", "missing"},
        {TEXT("1 1 : 0.5\n"), NULL, "1:3", "blank before"},
        /* labels */
        {TEXT("nan 1:1\n"), NULL, "1:1", "not finite"},
        {TEXT("-inf 1:1\n"), NULL, "1:1", "not finite"},
        {TEXT("1e999 1:1\n"), NULL, "1:1", "out of range"},
        {TEXT("word 1:1\n"), NULL, "1:1", "label-type=text"},
        {TEXT("0x10 1:1\n"), NULL, "1:1", "not a decimal number"},
        {TEXT("1a 1:1\n"), NULL, "1:1", "not a decimal number"},
        {TEXT("\n  1:1 2:1\n"), NULL, "2:3", "no-label=true"},
        {TEXT("qid:3 1:1\n"), NULL, "1:1", "no-label=true"},
        {TEXT("1:1 2:1\n"), "label-type=text", "1:1", "no-label=true"},
        {TEXT("1,2 1:1\n"), NULL, "1:1", "multi-label"},
        {TEXT("9007199254740993 1:1\n"), NULL, "1:1", "label-type=text"},
        {TEXT("-12345678901234567890123 1:1\n"), NULL, "1:1", "label-type=text"},
        /* indices */
        {TEXT("1 1:1 1:2\n"), NULL, "1:7", "twice"},
        {TEXT("1 1:0 1:2\n"), NULL, "1:7", "twice"},
        {TEXT("1 3:1 2:2\n"), NULL, "1:7", "sort"},
        {TEXT("1 -1:1\n"), NULL, "1:3", "negative"},
        {TEXT("1 1:1\n1 2147483647:1\n"), NULL, "2:3", "above the highest"},
        {TEXT("1 4294967297:1\n"), NULL, "1:3", "above the highest"},
        {TEXT("1 9223372036854775808:1\n"), NULL, "1:3", "above the highest"},
        {TEXT("1 18446744073709551617:1\n"), NULL, "1:3", "above the highest"},
        {TEXT("1 100000000000000000000000000000000000000000001:1\n"), NULL, "1:3", "above the highest"},
        {TEXT("1 0:1\n"), "index-base=1", "1:3", "index-base=0"},
        {TEXT("1 6:1\n"), "dim=5", "1:3", "beyond dim=5"},
        {TEXT("1 0:1 5:1\n"), "dim=5", "1:7", "beyond dim=5"},
        {TEXT("1 1000000000:1\n"), "dim=5", "1:3", "beyond dim=5"},
        {TEXT("1 1:1\n1 3:1 2:2 3:0\n"), "sort-indices=true", "2:11", "twice"},
        {TEXT("1 1:1\n1 3:1 2:2 2:5\n"), "sort-indices=true", "2:1", "twice"},
        {TEXT("1 1:1\n1 3:0 5:1 3:2\n"), "sort-indices=true", "2:1", "twice"},
        {TEXT("1 3:1 0:2\n"), "sort-indices=true,index-base=1", "1:7", "index-base=0"},
        {TEXT("1 2147483647:1\n"), "dim=5,ignore-extra=true", "1:3", "above the highest"},
        {TEXT("1 1:inf\n"), "missing=zero", "1:5", "not finite"},
        {TEXT("1 1:-inf\n"), "missing=skip", "1:5", "not finite"},
        {TEXT("nan 1:1\n"), "missing=skip", "1:1", "not finite"},
        {TEXT("1 1:nano\n"), "missing=zero", "1:5", "not a decimal number"},
        /* not index:value */
        {TEXT("1 1 2\n"), NULL, "1:3", "not index:value"},
        {TEXT("1 1:1 2\n"), NULL, "1:7", "not index:value"},
        {TEXT("1 :1\n"), NULL, "1:3", "not index:value"},
        {TEXT("1 a:1\n"), NULL, "1:3", "not index:value"},
        {TEXT("1 1a:1\n"), NULL, "1:3", "not index:value"},
        {TEXT("1 +1:1\n"), NULL, "1:3", "not index:value"},
        {TEXT("1 1:1 qid:3\n"), NULL, "1:7", "directly behind the label"},
        {TEXT("1 qid:x 1:1\n"), NULL, "1:3", "whole number"},
        {TEXT("hello world\n"), "no-label=true", "1:7", "not index:value"},
        /* other files */
        {TEXT("5.1,3.5,1.4,0.2,1\n4.9,3.0,1.4,0.2,1\n"), "format=svmlight", "1:1", "looks like CSV"},
        {TEXT("sepal,petal\n5.1,3.5\n"), "format=svmlight", "1:1", "looks like CSV"},
        {TEXT("5;3\n"), "format=svmlight", "1:1", "looks like CSV"},
        {TEXT("1, 2, 3\n"), "format=svmlight", "1:1", "looks like CSV"},
        {TEXT("1 2,5 3,5\n"), "format=svmlight", "1:3", "looks like CSV"},
        {TEXT("1,2,3\n"), "format=svmlight,no-label=true", "1:1", "looks like CSV"},
        {TEXT("a,2,3\n"), "format=svmlight,label-type=text", "1:1", "looks like CSV"},
        {TEXT("1 1:1\0 2:2\n"), NULL, "1:6", "NUL"},
        {TEXT("1 1:1 \0\n"), NULL, "1:7", "NUL"},
        {TEXT("1 1\0:1\n"), NULL, "1:4", "NUL"},
        {TEXT("\0 1:1\n"), NULL, "1:1", "NUL"},
        {TEXT("1\0 1:1\n"), NULL, "1:2", "NUL"},
        {TEXT("1 # \0\n"), NULL, "1:5", "NUL"},
        {TEXT("a\0b 1:1\n"), "label-type=text", "1:2", "NUL"},
        {TEXT("a\0 1:1\n"), "no-label=true", "1:2", "NUL"},
        {TEXT("1 1:1\r2 2:1\r3 3:1\r"), NULL, "1:6", "CR only"},
        {TEXT("1\r2\r3\r"), NULL, "1:2", "CR only"},
        {TEXT("\r1 1:1\r"), NULL, "1:1", "CR only"},
        {TEXT("\xff\xfe" "1\0 \0" "1\0:\0" "1\0\n\0"), NULL, "1:1", "UTF-16"},
        {TEXT("\xfe\xff" "\0" "1\0\n"), NULL, "1:1", "UTF-16"},
        {TEXT("1\0 \0" "1\0:\0" "1\0\n\0"), NULL, "1:2", "UTF-16"},
        {TEXT("\x7f" "ELF\x02\x01\x01\0\0\0\0\0"), NULL, "1:8", "NUL"},
        {TEXT("\xc3\xa4 1:1\n"), NULL, "1:1", "label '?" "?'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_refusal(bad[i].text, bad[i].count, bad[i].options, bad[i].place, bad[i].word);
}

static int hear(const klift_event *event, void *user)
{
    if (event->message != NULL)
        kl_text_add(user, "%s;", strrchr(event->message, ':') + 2);
    return 0;
}

static void what_is_left_out_is_said_once(void **unused)
{
    (void)unused;
    const char *text = "\n1 qid:3 1:1\n# a comment\n  \n2 qid:4 7:1 8:1\n3 1:nan\n\r\n";
    kl_reader *reader;
    klift_run *run;
    kl_text rows = {0};
    kl_text heard = {0};
    write_bytes(text, strlen(text));
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    klift_run_on_event(run, hear, &heard);
    assert_int_equal(kl_reader_open(path, "dim=5,ignore-extra=true,missing=skip", &reader), KLIFT_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(read_all(reader, 2, &rows), KLIFT_OK);
        kl_reader_say(reader, run);
        assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
    }
    assert_string_equal(rows.text, "1 0:1;2;1 0:1;2;");
    assert_string_equal(heard.text, "1 rows with missing values are skipped;3 blank lines are skipped;qid is ignored (2 rows have it);2 entries beyond column 5 are left out;");
    kl_text_clear(&rows);
    kl_text_clear(&heard);
    kl_reader_free(reader);
    klift_run_free(run);
}

static void numbers_below_the_normal_range_are_kept(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    write_bytes(TEXT("1 1:1e-40 2:1e-46\n"));
    assert_int_equal(kl_reader_open(path, NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 1, &batch), KLIFT_OK);
    assert_int_equal(batch.start[1], 1);
    assert_true(batch.value[0] == 1e-40f);
    kl_reader_free(reader);
}

static void a_line_number_counts_every_line_over_blocks(void **unused)
{
    (void)unused;
    enum { LINES = 60000 };
    char *text = malloc(LINES * 16), *p = text;
    for (int i = 0; i < LINES - 1; i++)
        p += sprintf(p, i % 5 == 4 ? "# comment\n" : i % 7 == 3 ? "\r\n" : "%d 1:1 3:4\n", i % 10);
    p += sprintf(p, "1 1:1 2:x\n");
    expect_refusal(text, (size_t)(p - text), NULL, "60000:9", "not a decimal number");
    expect_refusal(text, (size_t)(p - text), "index-base=1", "60000:9", "not a decimal number");
    free(text);
}

static void a_late_index_zero_is_refused_with_advice(void **unused)
{
    (void)unused;
    enum { LINES = 120000 };
    char *text = malloc(LINES * 16), *p = text;
    for (int i = 0; i < LINES; i++)
        p += sprintf(p, "1 10:1 20:1\n");
    p += sprintf(p, "1 0:1\n");
    assert_true(p - text > 1 << 20);
    expect_refusal(text, (size_t)(p - text), NULL, "120001:3", "index-base=0");
    kl_reader *reader;
    assert_int_equal(kl_reader_open(path, "index-base=0", &reader), KLIFT_OK);
    assert_int_equal(reader->index_base, 0);
    kl_reader_free(reader);
    assert_int_equal(kl_reader_open(path, NULL, &reader), KLIFT_OK);
    assert_int_equal(reader->index_base, 1);
    kl_reader_free(reader);
    free(text);
}

/* A deterministic file of many rows; *rows_out is what read_all must make of it. */
static char *make_rows(int rows, kl_text *rows_out, size_t *count)
{
    char *text = malloc((size_t)rows * 200), *p = text;
    uint64_t key = 7;
    for (int i = 0; i < rows; i++) {
        int column = 0;
        p += sprintf(p, "%d", i % 11 - 5);
        kl_text_add(rows_out, "%d", i % 11 - 5);
        for (int entries = (int)((key = kl_mix(key, 1)) % 9); entries > 0; entries--) {
            key = kl_mix(key, 1);
            column += 1 + (int)(key % 50);
            int tenths = (int)(key >> 20 & 1023) + 1;
            p += sprintf(p, " %d:%d.%d", column, tenths / 10, tenths % 10);
            kl_text_add(rows_out, " %d:", column - 1);
            kl_text_add_number(rows_out, tenths / 10.0);
        }
        p += sprintf(p, "\n");
        kl_text_add(rows_out, ";");
    }
    *count = (size_t)(p - text);
    return text;
}

static void any_batch_size_and_any_pass_gives_the_same_rows(void **unused)
{
    (void)unused;
    enum { ROWS = 9000 };
    size_t count;
    kl_text expected = {0};
    char *text = make_rows(ROWS, &expected, &count);
    assert_true(count > 3 * 65536);
    write_bytes(text, count);
    static const char *const options[] = {"index-base=1", "index-base=auto"};
    static const int64_t sizes[] = {1, 7, 4096, ROWS - 1, ROWS, INT64_MAX};
    for (int o = 0; o < 2; o++) {
        kl_reader *reader;
        assert_int_equal(kl_reader_open(path, options[o], &reader), KLIFT_OK);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            kl_text rows = {0};
            assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
            assert_int_equal(read_all(reader, sizes[i], &rows), KLIFT_OK);
            assert_string_equal(rows.text, expected.text);
            kl_text_clear(&rows);
        }
        kl_reader_free(reader);
    }
    kl_text_clear(&expected);
    free(text);
}

static void a_batch_has_exactly_the_rows_asked_for(void **unused)
{
    (void)unused;
    size_t count;
    kl_text expected = {0};
    char *text = make_rows(5000, &expected, &count);
    kl_reader *reader;
    kl_batch batch;
    write_bytes(text, count);
    assert_int_equal(kl_reader_open(path, NULL, &reader), KLIFT_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(kl_reader_next(reader, 1500, &batch), KLIFT_OK);
        assert_int_equal(batch.rows, i < 3 ? 1500 : 500);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kl_reader_next(reader, 1500, &batch), KLIFT_OK);
        assert_int_equal(batch.rows, 0);
    }
    kl_reader_free(reader);
    kl_text_clear(&expected);
    free(text);
}

static void the_width_is_dim_or_the_largest_seen_in_this_pass(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    write_bytes(TEXT("1 2:1\n1 9:0\n1 1:1\n"));
    assert_int_equal(kl_reader_open(path, NULL, &reader), KLIFT_OK);
    static const int64_t widths[] = {2, 9, 9};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 3; i++) {
            assert_int_equal(kl_reader_next(reader, 1, &batch), KLIFT_OK);
            assert_int_equal(batch.columns, widths[i]);
        }
        assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
    }
    kl_reader_free(reader);
    assert_int_equal(kl_reader_open(path, "dim=20", &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 1, &batch), KLIFT_OK);
    assert_int_equal(batch.columns, 20);
    kl_reader_free(reader);
}

static void plain_numbers_have_the_bits_of_the_general_ones(void **unused)
{
    (void)unused;
    enum { COUNT = 20000 };
    char *text = malloc(COUNT * 64), *p = text;
    float *expected = malloc(COUNT * sizeof *expected);
    uint64_t key = 1;
    p += sprintf(p, "1");
    for (int i = 0; i < COUNT; i++) {
        key = kl_mix(key, 1);
        int whole = (int)(key % 10), places = (int)(key >> 8 & 63) % 20;
        char number[64], *q = number;
        const char *after;
        double value;
        if (key >> 40 & 1)
            *q++ = '-';
        *q++ = (char)('1' + (key >> 50) % 9);
        for (int d = 0; d < whole; d++)
            *q++ = (char)('0' + (key = kl_mix(key, 2)) % 10);
        if (places > 0)
            *q++ = '.';
        for (int d = 0; d < places; d++)
            *q++ = (char)('0' + (key = kl_mix(key, 3)) % 10);
        *q = '\0';
        assert_int_equal(kl_number_read(number, q, &value, &after), KL_NUMBER_OK);
        expected[i] = (float)value;
        p += sprintf(p, " %d:%s", i + 1, number);
    }
    write_bytes(text, (size_t)(p - text));
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(path, NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 2, &batch), KLIFT_OK);
    assert_int_equal(batch.start[1], COUNT);
    assert_memory_equal(batch.value, expected, COUNT * sizeof *expected);
    kl_reader_free(reader);
    free(expected);
    free(text);
}

static void a_line_may_be_longer_than_the_buffer(void **unused)
{
    (void)unused;
    enum { ENTRIES = 300000 };
    char *text = malloc(ENTRIES * 16), *p = text;
    p += sprintf(p, "1");
    for (int i = 1; i <= ENTRIES; i++)
        p += sprintf(p, " %d:2", i);
    p += sprintf(p, "\n2 5:1\n");
    write_bytes(text, (size_t)(p - text));
    for (int base = 0; base < 2; base++) {
        kl_reader *reader;
        kl_batch batch;
        assert_int_equal(kl_reader_open(path, base ? "index-base=1" : NULL, &reader), KLIFT_OK);
        assert_int_equal(kl_reader_next(reader, 10, &batch), KLIFT_OK);
        assert_int_equal(batch.rows, 2);
        assert_int_equal(batch.start[1], ENTRIES);
        assert_int_equal(batch.columns, ENTRIES);
        assert_int_equal(batch.column[batch.start[1]], 4);
        kl_reader_free(reader);
    }
    free(text);
}

static void a_long_line_that_is_no_text_is_refused_early(void **unused)
{
    (void)unused;
    enum { SIZE = 3 << 20 };
    char *text = malloc(SIZE);
    for (int i = 0; i < SIZE; i += 6)
        memcpy(text + i, "1 1:1\r", SIZE - i < 6 ? (size_t)(SIZE - i) : 6);
    expect_refusal(text, SIZE, NULL, "1:6", "CR only");
    memset(text, 'x', SIZE);
    text[100] = '\0';
    expect_refusal(text, SIZE, NULL, "1:101", "NUL");
    free(text);
}

static void *feed(void *fifo)
{
    FILE *file = fopen(fifo, "w");
    for (int i = 0; i < 100000; i++)
        fprintf(file, "%d 1:1 %d:0.5\n", i % 3, 2 + i % 9);
    fclose(file);
    return NULL;
}

static void a_pipe_is_read_once(void **unused)
{
    (void)unused;
    char fifo[160];
    pthread_t writer;
    kl_reader *reader;
    kl_batch batch;
    int64_t rows = 0;
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, feed, fifo), 0);
    assert_int_equal(kl_reader_open(fifo, NULL, &reader), KLIFT_OK);
    do {
        assert_int_equal(kl_reader_next(reader, 999, &batch), KLIFT_OK);
        rows += batch.rows;
    } while (batch.rows > 0);
    assert_int_equal(rows, 100000);
    assert_int_equal(batch.columns, 10);
    assert_false(kl_reader_can_rewind(reader));
    assert_int_equal(kl_reader_rewind(reader), KLIFT_IO);
    kl_reader_free(reader);
    pthread_join(writer, NULL);
    unlink(fifo);
}

static void options_are_checked(void **unused)
{
    (void)unused;
    kl_reader *reader;
    write_bytes(TEXT("1 1:1\n"));
    assert_int_equal(kl_reader_open(path, "index-base=2", &reader), KLIFT_USAGE);
    assert_null(reader);
    assert_int_equal(kl_reader_open(path, "label-type=word", &reader), KLIFT_USAGE);
    assert_int_equal(kl_reader_open(path, "index-bass=0", &reader), KLIFT_USAGE);
    assert_non_null(strstr(kl_error_text(), "index-base"));
    assert_int_equal(kl_reader_open(path, "labels=\"y.npy\"", &reader), KLIFT_USAGE);
    assert_int_equal(kl_reader_open(path, "format=svmlight,index-base=0", &reader), KLIFT_OK);
    kl_reader_free(reader);
}

/* Good text with a few bytes changed, then read: any answer will do, a crash or a row that fails kl_batch_check not. */
static void damaged_text_never_crashes(void **unused)
{
    (void)unused;
    static const char good[] = "1 1:0.5 3:2 10:1e-3 # c\r\n-1 qid:2 2:12345678.5 7:.5\n\n+3 4294967:1 5000000:-1\n0\n";
    static const char bytes[] = " \t\n\r#:,.-+e0123456789naif\0\xff";
    static const char *const options[] = {NULL, "no-label=true", "label-type=text", "dim=9,index-base=0"};
    uint64_t key = 42;
    for (int round = 0; round < 4000; round++) {
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
        write_bytes(text, count);
        klift_status status = kl_reader_open(path, options[round % 4], &reader);
        if (status == KLIFT_OK)
            status = read_all(reader, 2, &out);
        assert_true(status == KLIFT_OK || status == KLIFT_DATA);
        kl_text_clear(&out);
        kl_reader_free(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_form_of_a_row),
        cmocka_unit_test(refuses_bad_rows_with_line_and_column),
        cmocka_unit_test(what_is_left_out_is_said_once),
        cmocka_unit_test(numbers_below_the_normal_range_are_kept),
        cmocka_unit_test(a_line_number_counts_every_line_over_blocks),
        cmocka_unit_test(a_late_index_zero_is_refused_with_advice),
        cmocka_unit_test(any_batch_size_and_any_pass_gives_the_same_rows),
        cmocka_unit_test(a_batch_has_exactly_the_rows_asked_for),
        cmocka_unit_test(the_width_is_dim_or_the_largest_seen_in_this_pass),
        cmocka_unit_test(plain_numbers_have_the_bits_of_the_general_ones),
        cmocka_unit_test(a_line_may_be_longer_than_the_buffer),
        cmocka_unit_test(a_long_line_that_is_no_text_is_refused_early),
        cmocka_unit_test(a_pipe_is_read_once),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(damaged_text_never_crashes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
