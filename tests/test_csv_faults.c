/* test_csv_faults.c - what a table can get wrong: for each fault its status, its place and a word of the message. */
#include "base/memory.h"
#include "csv_file.h"
#include "data/survey.h"
#include "pack.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Reads the file as training does. */
static klift_status survey(const char *options)
{
    kl_reader *reader;
    kl_survey s = {0};
    klift_status status = kl_reader_open(csv_path, options, &reader);
    if (status == KLIFT_OK)
        status = kl_survey_take(reader, 1, 0, NULL, &s);
    kl_survey_clear(&s);
    kl_reader_free(reader);
    return status;
}

/* place "LINE:COLUMN", or "" when the fault is of the whole table. */
static void expect_fault(const char *options, klift_status wanted, const char *place, const char *word, const char *shown)
{
    char prefix[256];
    klift_status status = survey(options);
    const char *message = status == KLIFT_OK ? "accepted" : kl_error_text();
    snprintf(prefix, sizeof prefix, "%s%s%s: ", csv_path, *place != '\0' ? ":" : "", place);
    if (status != wanted || strncmp(message, prefix, strlen(prefix)) != 0 || strstr(message, word) == NULL)
        fail_msg("'%.60s' with %s: expected status %d, %s ... %s, got %d, %s", shown, options != NULL ? options : "no options", (int)wanted, prefix, word, (int)status,
                 message);
}

#define TEXT(literal) literal, sizeof literal - 1

static void every_fault_has_its_place_and_its_advice(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        size_t count;
        const char *options;
        klift_status status;
        const char *place, *word;
    } bad[] = {
        /* ragged rows */
        {TEXT("a,b,c\n1,2,3\n4,5\n6,7,8\n"), NULL, KLIFT_DATA, "3:4", "the row has 2 cells, the first row has 3"},
        {TEXT("a,b,c\n1,2,3\n4,5,6,7\n6,7,8\n"), NULL, KLIFT_DATA, "3:7", "the row has 4 cells"},
        {TEXT("1,2,3\n4,5,6\n7,8,9,,\n"), NULL, KLIFT_DATA, "3:7", "the row has 5 cells"},
        {TEXT("a,b,c,\n1,2,3\n4,5,6\n"), NULL, KLIFT_DATA, "2:6", "the row has 3 cells, the first row has 4"},
        /* quotes */
        {TEXT("a,b\n1,2\n\"3,4\n5,6\n"), NULL, KLIFT_DATA, "3:1", "the quote is not closed"},
        {TEXT("a,b\n1,2\n\"3\"x,4\n"), NULL, KLIFT_DATA, "3:4", "text behind a closing quote"},
        /* header */
        {TEXT("a,b,a,y\n1,2,3,4\n"), NULL, KLIFT_DATA, "", "column 'a' is there twice, as column 1 and 3"},
        {TEXT("a,,column 2,y\n1,2,3,4\n"), NULL, KLIFT_DATA, "", "column 'column 2' is there twice"},
        {TEXT("a,b,y\n"), "header=true", KLIFT_DATA, "", "no rows"},
        {TEXT(""), "format=csv", KLIFT_DATA, "", "no rows"},
        /* the label */
        {TEXT("a,b,c\n1,2,3\n"), "label=price", KLIFT_USAGE, "", "unknown column 'price'. Known: a, b, c"},
        {TEXT("1,2,3\n"), "label=price", KLIFT_USAGE, "", "no header; give a position from 1 to 3"},
        {TEXT("1,2,3\n"), "label=7", KLIFT_USAGE, "", "position from 1 to 3"},
        {TEXT("a,y\n1,2\n2,\n"), NULL, KLIFT_DATA, "3:3", "the label is missing (column 'y')"},
        {TEXT("a,y\n1,2\n2,?\n"), "missing=zero", KLIFT_DATA, "3:3", "the label is missing"},
        {TEXT("a,y\n1,inf\n"), NULL, KLIFT_DATA, "2:3", "'inf' is not finite (column 'y')"},
        {TEXT("a,y\n1,1e400\n"), NULL, KLIFT_DATA, "2:3", "out of range"},
        {TEXT("a,y\n1,12345678901234567890\n"), NULL, KLIFT_DATA, "2:3", "label-type=text"},
        {TEXT("1,2,3\n"), "label=0", KLIFT_USAGE, "", "position from 1 to 3"},
        {TEXT("1,2,3\n"), "label=1.5", KLIFT_USAGE, "", "position from 1 to 3"},
        {TEXT("1,2,3\n"), "label=-4", KLIFT_USAGE, "", "position from 1 to 3"},
        {TEXT("a,b,y\n1,2,3\n"), "label=b,ignore=b", KLIFT_USAGE, "", "column 'b' is both the label and ignored"},
        {TEXT("a,y\n1,2\n2,x\n"), "label-type=number", KLIFT_DATA, "3:3", "say label-type=text"},
        /* long cells are shown in part, never half a character */
        {TEXT("a,y\n1,2\n2,0123456789012345678901234567890x\n"), "label-type=number", KLIFT_DATA, "3:3", "'0123456789012345678901234567890x'"},
        {TEXT("a,y\n1,2\n2,01234567890123456789012345678901x\n"), "label-type=number", KLIFT_DATA, "3:3", "'01234567890123456789012345678901...'"},
        {TEXT("a,y\n1,2\n2,0123456789012345678901234567890\xc3\xa4\n"), "label-type=number", KLIFT_DATA, "3:3", "'0123456789012345678901234567890...'"},
        {TEXT("a,y\n1,2\n2,012345678901234567890123456789\xe2\x82\xac\n"), "label-type=number", KLIFT_DATA, "3:3", "'012345678901234567890123456789...'"},
        /* missing values */
        {TEXT("a,b,y\n1,,3\n"), NULL, KLIFT_DATA, "2:3", "empty cell: the value is missing (column 'b'); fill it in, or say missing=zero, missing=mean or missing=skip"},
        {TEXT("a,b,y\n1,NA,3\n"), NULL, KLIFT_DATA, "2:3", "'NA': the value is missing"},
        {TEXT("a,b,y\n1,NaN,3\n"), NULL, KLIFT_DATA, "2:3", "'NaN': the value is missing"},
        {TEXT("a,b,y\n1,?,3\n"), NULL, KLIFT_DATA, "2:3", "'?': the value is missing"},
        {TEXT("a,b,y\n1,x,3\n1,?,3\n"), NULL, KLIFT_DATA, "3:3", "'?': the value is missing"},
        {TEXT("a,b,y\n,,3\n1,NA,4\n"), "missing=skip", KLIFT_DATA, "", "no rows"},
        /* numbers that are written otherwise */
        {TEXT("a,b,y\n1,\"1,234\",3\n"), NULL, KLIFT_DATA, "2:3", "remove separators of thousands"},
        {TEXT("a;b;y\n1;1,234,567.8;3\n"), NULL, KLIFT_DATA, "2:3", "separator of thousands"},
        {TEXT("a;b;y\n1;3,14;3\n2;2,71;4\n"), NULL, KLIFT_DATA, "2:3", "say decimal=comma"},
        {TEXT("1,5;2,5;1\n3,5;4,5;0\n"), NULL, KLIFT_DATA, "1:1", "'1,5' is not a decimal number (column 1); decimal comma? say decimal=comma"},
        {TEXT("a;b;y\n1;1.234,5;3\n"), "decimal=comma", KLIFT_DATA, "2:3", "remove separators of thousands"},
        {TEXT("a,b,y\n1,inf,3\n"), NULL, KLIFT_DATA, "2:3", "'inf' is not finite"},
        {TEXT("a,b,y\n1,1e39,3\n"), NULL, KLIFT_DATA, "2:3", "out of range of float32"},
        {TEXT("a,b,y\n1,1e999,3\n"), NULL, KLIFT_DATA, "2:3", "out of range of float32"},
        /* one column */
        {TEXT("a\n1\n2\n"), "format=csv", KLIFT_DATA, "", "one column, the label"},
        {TEXT("a b c\n1 2 3\n2 3 4\n"), "format=csv", KLIFT_DATA, "", "delimiter=space"},
        {TEXT("a,b\n1,2\n"), "ignore=a", KLIFT_DATA, "", "no column is left"},
        /* wrong delimiter */
        {TEXT("a,b,y\n1,2,3\n2,3,4\n"), "delimiter=semicolon", KLIFT_DATA, "", "one column, the label"},
        /* other bytes */
        {TEXT("a,b\r1,2\r3,4\r"), "format=csv", KLIFT_DATA, "1:4", "carriage return inside a line"},
        {TEXT("a,b\n1,2\n3\r,4\n"), NULL, KLIFT_DATA, "3:2", "carriage return inside a line"},
        {TEXT("a,b\n1,2\n3\0,4\n"), "format=csv,header=true", KLIFT_DATA, "3:2", "NUL byte"},
        {TEXT("\xff\xfe" "a\0,\0b\0\n\0"), "format=csv", KLIFT_DATA, "1:1", "UTF-16"},
        {TEXT("\xfe\xff" "\0a\0,\0b\0\n"), "format=csv", KLIFT_DATA, "1:1", "UTF-16"},
        {TEXT("a,b,y\n1,2,3\n"), "dim=5", KLIFT_DATA, "", "the table gives 2 columns, but dim=5 was given"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        csv_write(bad[i].text, bad[i].count);
        expect_fault(bad[i].options, bad[i].status, bad[i].place, bad[i].word, bad[i].text);
    }
}

/* Rows of numbers, one of them replaced. */
static void write_rows(int rows, int odd, const char *line)
{
    FILE *file = fopen(csv_path, "w");
    assert_non_null(file);
    fputs("id,x,y\n", file);
    for (int i = 0; i < rows; i++)
        if (i == odd)
            fprintf(file, "%s\n", line);
        else
            fprintf(file, "%d,%d.5,%d\n", i, i % 100, i % 2);
    fclose(file);
}

static void text_below_ten_thousand_numbers_is_refused_where_it_is(void **unused)
{
    (void)unused;
    write_rows(12000, 10000, "7,many,1");
    expect_fault(NULL, KLIFT_DATA, "10002:3", "'many' is not a number, as those before it are (column 'x'); correct it, or say categorical=x", "a late word");
    assert_int_equal(survey("categorical=x,ignore=id"), KLIFT_OK);
    write_rows(12000, 10000, "7,1,many");
    expect_fault(NULL, KLIFT_DATA, "10002:5", "label-type=text", "a late word as label");
    assert_int_equal(survey("label-type=text"), KLIFT_OK);
    write_rows(12000, 10000, "7,1");
    expect_fault(NULL, KLIFT_DATA, "10002:4", "the row has 2 cells, the header has 3", "a late ragged row");
    write_rows(12000, 10000, "7,,1");
    expect_fault(NULL, KLIFT_DATA, "10002:3", "the value is missing", "a late gap");
    write_rows(12000, 10000, "7,1@2,1");
    size_t count;
    char *bytes = (char *)pack_read(csv_path, &count);
    *(char *)memchr(bytes, '@', count) = '\0';
    csv_write(bytes, count);
    free(bytes);
    expect_fault(NULL, KLIFT_DATA, "10002:4", "NUL byte", "a late NUL");
}

static void more_than_a_thousand_categories_are_refused_with_the_column(void **unused)
{
    (void)unused;
    write_rows(1500, -1, NULL);
    expect_fault("categorical=id", KLIFT_DATA, "1002:1", "column 'id' has more than 1000 categories; leave it out: ignore=id", "numbers as categories");
    write_rows(1500, 700, "n/k,1,1"); /* one word among numbers makes the column text, and the message says which */
    expect_fault(NULL, KLIFT_DATA, "1002:1", "because of 'n/k' in line 702", "one word");
    FILE *file = fopen(csv_path, "w");
    assert_non_null(file);
    fputs("when,y\n", file);
    for (int i = 0; i < 1100; i++)
        fprintf(file, "%04d-%02d-%02d,%d\n", 1900 + i / 28, 1 + i % 12, 1 + i % 28, i % 2);
    fclose(file);
    expect_fault(NULL, KLIFT_DATA, "1002:1", "column 'when' has more than 1000 categories (it is text because of '1900-01-01' in line 2); leave it out: ignore=when", "dates");
}

static void categories_of_a_table_without_names_are_refused_by_position(void **unused)
{
    (void)unused;
    for (int listed = 0; listed < 2; listed++) {
        FILE *file = fopen(csv_path, "w");
        assert_non_null(file);
        for (int i = 0; i < 1100; i++)
            fprintf(file, listed ? "%d,%d,%d\n" : "%d,day %d,%d\n", i, i, i % 2);
        fclose(file);
        expect_fault(listed ? "categorical=2" : NULL, KLIFT_DATA, "1001:6", "leave it out: ignore=POSITION", "days");
    }
}

static void exactly_a_thousand_categories_are_learnt(void **unused)
{
    (void)unused;
    write_rows(1000, -1, NULL);
    assert_int_equal(survey("categorical=id"), KLIFT_OK);
}

/* Lines are those of an editor, also behind newlines inside quotes and over blocks of text. */
static void lines_are_counted_as_they_are_seen(void **unused)
{
    (void)unused;
    FILE *file = fopen(csv_path, "w");
    char place[32];
    long line = 2;
    assert_non_null(file);
    fputs("x,note,y\n", file);
    for (int i = 0; i < 5000; i++) {
        int more = i % 4;
        fprintf(file, "%d,\"%.*s\",1\n%s", i, more, "\n\n\n", i % 10 == 0 ? "\n" : "");
        line += 1 + more + (i % 10 == 0);
    }
    fputs("5,\"a\nb\",oops\n", file);
    fclose(file);
    snprintf(place, sizeof place, "%ld:4", line + 1);
    expect_fault("ignore=note", KLIFT_DATA, place, "the label 'oops' is not a number", "a late label");
    csv_write(TEXT("a,b,y\n1,\"x\n\n\",2\n2,\"x\n\n\",3\n3,\"y\n\",inf\n"));
    expect_fault(NULL, KLIFT_DATA, "9:3", "'inf' is not finite", "a quoted newline");
}

/* A reader that failed fails again: rows are never left out by asking once more. */
static void a_fault_stays_one(void **unused)
{
    (void)unused;
    static const char *const options[] = {"categorical=id", "label=nothing", "missing=mean"};
    write_rows(2500, 2000, "1,2");
    for (int i = 0; i < 3; i++) {
        kl_reader *reader;
        kl_batch batch;
        char first[1024];
        assert_int_equal(kl_reader_open(csv_path, options[i], &reader), KLIFT_OK);
        assert_int_not_equal(kl_reader_next(reader, 10, &batch), KLIFT_OK);
        snprintf(first, sizeof first, "%s", kl_error_text());
        for (int again = 0; again < 3; again++) {
            assert_int_not_equal(kl_reader_next(reader, 10, &batch), KLIFT_OK);
            assert_string_equal(kl_error_text(), first);
        }
        kl_reader_free(reader);
    }
}

/* The quote that is never closed must not take the file into memory. */
static void a_quote_that_is_not_closed_is_given_up(void **unused)
{
    (void)unused;
    FILE *file = fopen(csv_path, "w");
    assert_non_null(file);
    fputs("x,y\n1,2\n\"3,4\n", file);
    for (int i = 0; i < 3000000; i++)
        fputs("5,6,7,8\n", file);
    fclose(file);
    expect_fault(NULL, KLIFT_DATA, "3:1", "not closed within 16 MiB", "an open quote");
}

/* Columns cost memory before a row is there: too many are told by the first row. */
static void too_many_columns_are_refused_with_the_number(void **unused)
{
    (void)unused;
    FILE *file = fopen(csv_path, "w");
    assert_non_null(file);
    for (int i = 0; i < 2097153; i++)
        fputs(i == 0 ? "1" : ",1", file);
    fputs("\n", file);
    fclose(file);
    expect_fault("header=false", KLIFT_DATA, "1:4194305", "more than 2097152 cells", "a wide row");
}

/* A row that is longer than the buffer is looked at before it is believed. */
static void a_long_row_must_be_text(void **unused)
{
    (void)unused;
    enum { LENGTH = 300000 };
    char *bytes = malloc(LENGTH);
    assert_non_null(bytes);
    for (int i = 0; i < LENGTH; i++)
        bytes[i] = i % 2 ? ',' : '1';
    bytes[100000] = '\0';
    csv_write(bytes, LENGTH);
    expect_fault("format=csv", KLIFT_DATA, "1:100001", "NUL byte", "a NUL in a long row");
    bytes[100000] = '\r';
    csv_write(bytes, LENGTH);
    expect_fault("format=csv", KLIFT_DATA, "1:100001", "carriage return inside a line", "a CR in a long row");
    free(bytes);
}

/* A compressed table that breaks off: while the head is looked at, while columns are learnt, and while rows are read. */
static void a_truncated_table_is_refused_wherever_it_ends(void **unused)
{
    (void)unused;
    enum { TABLE_ROWS = 60000 };
    static const char *const options[] = {NULL, "missing=mean", "ignore=c", "label-type=text"};
    char *text = malloc(TABLE_ROWS * 32);
    assert_non_null(text);
    size_t count = (size_t)sprintf(text, "x,c,y\n"), packed;
    for (int i = 0; i < TABLE_ROWS; i++)
        count += (size_t)sprintf(text + count, "%llu,%s,%d\n", (unsigned long long)syn_mix((uint64_t)i), i % 3 ? "red" : "blue", i % 2);
    unsigned char *bytes = pack("gzip", text, count, &packed);
    for (size_t cut = 1; bytes != NULL && cut < 6; cut++)
        for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
            pack_write(csv_path, bytes, cut == 1 ? 20000 : cut == 2 ? 60000 : packed * cut / 6);
            expect_fault(options[i], KLIFT_DATA, "", "the file is truncated: its gzip data break off", "a truncated table");
        }
    free(bytes);
    free(text);
}

/* What the callback does when columns are being learnt. */
static int stop_or_change(const klift_event *event, void *user)
{
    bool change = *(bool *)user;
    if (event->kind != KLIFT_EVENT_PROGRESS || strcmp(event->stage, "columns") != 0)
        return 0;
    if (change)
        csv_write(TEXT("x,c,y\n1,red,0\n"));
    return !change;
}

static void learning_is_stopped_and_notices_that_the_table_changed(void **unused)
{
    (void)unused;
    for (int change = 0; change < 2; change++) {
        bool changes = change == 1;
        kl_reader *reader;
        klift_run *run;
        write_rows(20000, 5, "7,many,1");
        assert_int_equal(klift_run_new(&run), KLIFT_OK);
        klift_run_on_event(run, stop_or_change, &changes);
        assert_int_equal(kl_reader_open(csv_path, "ignore=id,categorical=x", &reader), KLIFT_OK);
        assert_int_equal(reader->type->learn(reader, run), changes ? KLIFT_DATA : KLIFT_CANCELLED);
        if (changes)
            assert_non_null(strstr(kl_error_text(), "changed while it was read"));
        else { /* stopped: it may begin again, and once learnt there is nothing left to do */
            assert_int_equal(reader->type->learn(reader, NULL), KLIFT_OK);
            assert_int_equal(reader->schema.width, 101);
            assert_int_equal(reader->type->learn(reader, run), KLIFT_OK);
        }
        kl_reader_free(reader);
        klift_run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_has_its_place_and_its_advice),
        cmocka_unit_test(text_below_ten_thousand_numbers_is_refused_where_it_is),
        cmocka_unit_test(more_than_a_thousand_categories_are_refused_with_the_column),
        cmocka_unit_test(categories_of_a_table_without_names_are_refused_by_position),
        cmocka_unit_test(exactly_a_thousand_categories_are_learnt),
        cmocka_unit_test(lines_are_counted_as_they_are_seen),
        cmocka_unit_test(a_fault_stays_one),
        cmocka_unit_test(too_many_columns_are_refused_with_the_number),
        cmocka_unit_test(a_quote_that_is_not_closed_is_given_up),
        cmocka_unit_test(a_long_row_must_be_text),
        cmocka_unit_test(a_truncated_table_is_refused_wherever_it_ends),
        cmocka_unit_test(learning_is_stopped_and_notices_that_the_table_changed),
    };
    return cmocka_run_group_tests(tests, csv_make_path, NULL);
}
