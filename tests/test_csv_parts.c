/* test_csv_parts.c - tables that several threads read: the same rows, messages and notes as one thread gives, wherever the text was cut. */
#include "base/parallel.h"
#include "csv_file.h"
#include "data/csv.h"
#include "reading.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 12, ROWS = 6000 }; /* some 500 KB: the block in which a file is opened, one of two threads' parts, and a rest */

/* What stands in place of a row's cell `column`, or of the whole row; all of them are read. */
typedef struct oddity {
    const char *cell, *line; /* one of them */
} oddity;

typedef struct table {
    const oddity *odd;
    int64_t odds, every;  /* some row of so many is odd */
    const char *end;      /* of lines */
    char delimiter, point;
    bool header, open_end; /* open_end: no newline behind the last row */
    uint64_t seed;
} table;

static uint64_t draw(const table *t, int64_t row, int64_t column)
{
    return syn_mix(t->seed * 1000003 + (uint64_t)(row * 64 + column));
}

static void add_cell(kl_text *out, const table *t, int64_t row, int64_t column)
{
    static const char *const forms[] = {"%.0f", "%.3f", "%.6f", "%.9f", "%.14f"};
    char cell[64];
    uint64_t bits = draw(t, row, column);
    snprintf(cell, sizeof cell, forms[bits % 5], ((double)(bits >> 11) * 0x1p-53 - 0.5) * (bits % 7 == 0 ? 1e4 : 8));
    for (char *p = cell; *p != '\0'; p++)
        *p = *p == '.' ? t->point : *p;
    kl_text_add(out, "%s", cell);
}

static void add_row(kl_text *out, const table *t, int64_t row)
{
    uint64_t bits = draw(t, row, COLUMNS);
    const oddity *odd = t->odds > 0 && bits % (uint64_t)t->every == 0 ? &t->odd[(bits >> 20) % (uint64_t)t->odds] : NULL;
    int64_t at = (int64_t)((bits >> 40) % COLUMNS);
    if (odd != NULL && odd->line != NULL) {
        kl_text_add(out, "%s%s", odd->line, t->end);
        return;
    }
    for (int64_t j = 0; j < COLUMNS; j++) {
        if (j > 0)
            kl_text_add_bytes(out, &t->delimiter, 1);
        if (odd != NULL && j == at)
            kl_text_add(out, "%s", odd->cell);
        else
            add_cell(out, t, row, j);
    }
    kl_text_add(out, "%s", t->end);
}

static kl_text make(const table *t, int64_t rows)
{
    kl_text out = {0};
    for (int64_t j = 0; t->header && j < COLUMNS; j++)
        kl_text_add(&out, "c%d%c", (int)j, j + 1 < COLUMNS ? t->delimiter : '\n');
    for (int64_t i = 0; i < rows; i++)
        add_row(&out, t, i);
    if (t->open_end)
        out.length -= (int64_t)strlen(t->end);
    assert_int_equal(kl_text_status(&out), KLIFT_OK);
    return out;
}

static void write_table(const table *t)
{
    kl_text text = make(t, quick() ? ROWS / 3 : ROWS);
    csv_write(text.text, (size_t)text.length);
    kl_text_clear(&text);
}

static const oddity harmless[] = {
    {.cell = "1e-3"}, {.cell = "-0"}, {.cell = "\"1.5\""}, {.cell = " 2.5"}, {.cell = "2 "}, {.cell = "+3"}, {.cell = "7."}, {.cell = ".5"}, {.cell = "1e-40"},
    {.cell = "0.12345678901234567890123"}, {.cell = "-123456789.98765432"}, {.line = ""}, {.line = "  "}, {.line = "1,2,3,4,5,6,7,8,9,10,11,12,"},
    {.line = "1,2,3,4,5,6,7,8,9,10,11,12\r"}};
static const oddity gaps[] = {{.cell = ""}, {.cell = "NA"}, {.cell = "?"}, {.cell = "\"\""}, {.cell = "NaN"}};
static const oddity with_comma[] = {{.cell = "1e-3"}, {.cell = "3,5e2"}, {.cell = "\"1,25\""}, {.cell = " 0,5"}, {.cell = "123456789,123456789123"}};
static const oddity quoted[] = {{.line = "1,2,3,4,5,6,7,8,9,10,\"a,b\",12"}, {.line = "1,2,3,4,5,6,7,8,9,10,\"a\nb\",12"}, {.line = "1,2,3,4,5,6,7,8,9,10,\"\n\n\n\",12"},
                                {.line = "1,2,3,4,5,6,7,8,9,10,,12"}, {.line = "1,2,3,4,5,6,7,8,9,10,a \"b\" c,12"},
                                {.line = "1,2,3,4,5,6,7,8,9,10,\"\n1,2,3,4,5,6,7,8,9,10,11,12\n1,2,3,4,5,6,7,8,9,10,11,12\n\",12"}};
/* Marks of these lines are as of rows, each of which is one of two or three lines. */
static const oddity hidden[] = {{.line = "1,2,3,4,5,6,7,8,9,10,11,\"x\n1,2,3,4,5,6,7,8,9,10,11,y\""}, {.line = "1,2,3,4,5,6,7,8,9,10,11,\"\n1,2,3,4,5,6,7,8,9,10,11,12\n1,2,3,4,5,6,7,8,9,10,11,\""}};
enum { HIDDEN = sizeof hidden / sizeof hidden[0] };
enum { HARMLESS = sizeof harmless / sizeof harmless[0], GAPS = sizeof gaps / sizeof gaps[0], WITH_COMMA = sizeof with_comma / sizeof with_comma[0], QUOTED = sizeof quoted / sizeof quoted[0] };

static void rows_are_the_same_for_any_number_of_threads(void **unused)
{
    (void)unused;
    static const struct {
        table made;
        const char *options;
    } cases[] = {
        {{.end = "\n", .delimiter = ',', .point = '.'}, ""},
        {{.end = "\r\n", .delimiter = '\t', .point = '.', .header = true}, "label=c0"},
        {{.end = "\n", .delimiter = ';', .point = ',', .open_end = true, .odd = with_comma, .odds = WITH_COMMA, .every = 600}, "decimal=comma"},
        {{.end = "\n", .delimiter = ',', .point = '.', .odd = harmless, .odds = HARMLESS, .every = 700}, ""},
        {{.end = "\n", .delimiter = ',', .point = '.', .odd = harmless, .odds = HARMLESS, .every = 2500, .header = true}, "label=3"},
        {{.end = "\n", .delimiter = ',', .point = '.', .odd = harmless, .odds = HARMLESS, .every = 10, .open_end = true}, "no-label=true"},
        {{.end = "\r\n", .delimiter = ',', .point = '.', .odd = gaps, .odds = GAPS, .every = 900, .header = true, .open_end = true}, "missing=skip"},
        {{.end = "\n", .delimiter = ',', .point = '.', .odd = gaps, .odds = GAPS, .every = 900}, "no-label=true,missing=zero"},
        {{.end = "\n", .delimiter = ',', .point = '.', .odd = gaps, .odds = GAPS, .every = 900}, "no-label=true,missing=mean"},
        {{.end = "\n", .delimiter = ',', .point = '.', .odd = quoted, .odds = QUOTED, .every = 900}, "ignore=11"},
        {{.end = "\n", .delimiter = ',', .point = '.', .header = true, .odd = quoted, .odds = QUOTED, .every = 50}, "ignore=c10+c2"},
        {{.end = "\n", .delimiter = ',', .point = '.', .odd = hidden, .odds = HIDDEN, .every = 900}, "ignore=12"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (uint64_t seed = 1; seed <= (quick() ? 1 : 2); seed++) {
            table t = cases[i].made;
            t.seed = 100 * i + seed;
            write_table(&t);
            if (reading_is_one(csv_path, cases[i].options) != KLIFT_OK)
                fail_msg("'%s': %s", cases[i].options, kl_error_text());
        }
}

/* A caller for whom denormal numbers are zero gets zeros, whoever reads them. */
static void denormal_numbers_are_as_the_caller_has_them(void **unused)
{
    (void)unused;
    static const oddity small[] = {{.cell = "1e-40"}};
    table t = {.end = "\n", .delimiter = ',', .point = '.', .odd = small, .odds = 1, .every = 40, .seed = 3};
    write_table(&t);
    assert_int_equal(reading_is_one(csv_path, "no-label=true"), KLIFT_OK);
    unsigned mode = kl_denormals_flush();
    klift_status status = reading_is_one(csv_path, "no-label=true");
    kl_denormals_restore(mode);
    assert_int_equal(status, KLIFT_OK);
}

static void faults_are_told_at_the_same_place(void **unused)
{
    (void)unused;
    static const char *const faults[] = {
        "1,2,3,4,5,6,7,8,9,10,11", "1,2,3,4,5,6,7,8,9,10,11,12,13", "1,2,x,4,5,6,7,8,9,10,11,12", "1,2,3,4,5,6,7,8,9,10,11,y", "1,2,3,,5,6,7,8,9,10,11,12",
        "1,2,3,4,5,6,7,8,9,10,1e39,12", "1,2,3,4,5,6,7,8,inf,10,11,12", "1,2,3,4,5,6,7,8,9,10,11,9007199254740993", "1,2,3,4,5,6,7,8,9,10,11,1e400",
        "1,2,3,4\r,5,6,7,8,9,10,11,12", "1,2,3,4,\"5,6,7,8,9,10,11,12", "1,2,3,4,\"5\"6,6,7,8,9,10,11,12", "1,2,3,4,\"5\n\",6,7,8,9,10,11,z",
    };
    kl_text text = {0};
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            table t = {.end = "\n", .delimiter = ',', .point = '.', .odd = harmless, .odds = HARMLESS, .every = 3000, .seed = 50 * f + seed};
            text = make(&t, 1100 + (int64_t)(syn_mix(t.seed) % (quick() ? 900 : 5000)));
            kl_text_add(&text, "%s\n", faults[f]);
            for (int64_t row = 0; row < 900; row++)
                add_row(&text, &t, row);
            csv_write(text.text, (size_t)text.length);
            kl_text_clear(&text);
            if (reading_is_one(csv_path, "") == KLIFT_OK)
                fail_msg("'%s' was taken for a row", faults[f]);
        }
    table t = {.end = "\n", .delimiter = ',', .point = '.', .seed = 9};
    text = make(&t, ROWS);
    text.text[text.length * 2 / 3] = '\0';
    csv_write(text.text, (size_t)text.length);
    kl_text_clear(&text);
    assert_int_equal(reading_is_one(csv_path, ""), KLIFT_DATA);
}

static void rows_may_be_longer_than_a_part(void **unused)
{
    (void)unused;
    enum { WIDE = 60000, MANY = 11 };
    kl_text text = {0};
    for (int i = 0; i < MANY; i++)
        for (int j = 0; j < WIDE; j++)
            kl_text_add(&text, "%d%s", (i * 31 + j) % 9973 * 10 + (i == 8 && j == 77), j + 1 < WIDE ? "," : "\n");
    kl_text_add(&text, "1,2\n"); /* a fault behind them */
    csv_write(text.text, (size_t)text.length);
    assert_int_equal(reading_is_one(csv_path, "no-label=true"), KLIFT_DATA);
    csv_write(text.text, (size_t)text.length - 4);
    assert_int_equal(reading_is_one(csv_path, ""), KLIFT_OK);
    kl_text_clear(&text);
}

/* The parts of a file by other hands than the usual: from its start again, and with its first rows kept. */
static void rewinding_and_kept_rows_change_nothing(void **unused)
{
    (void)unused;
    table t = {.end = "\n", .delimiter = ',', .point = '.', .header = true, .odd = harmless, .odds = HARMLESS, .every = 2000, .seed = 77};
    write_table(&t);
    for (int steps = 0; steps < 6; steps++) {
        kl_text out[2] = {{0}, {0}};
        for (int many = 0; many < 2; many++) {
            kl_reader *reader;
            bool all;
            assert_int_equal(kl_reader_open(csv_path, many ? "threads=3" : "threads=1", &reader), KLIFT_OK);
            if (steps == 5)
                assert_int_equal(kl_reader_keep_head(reader, 1500, &all), KLIFT_OK);
            for (int i = 0; i < steps; i++)
                reading_step(reader, 333 * (i + 1), &out[many]);
            if (steps < 5)
                assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
            reading_to_end(reader, 777, &out[many]);
            kl_reader_free(reader);
        }
        reading_same(&out[0], &out[1], "a table read from its start again");
        kl_text_clear(&out[0]);
        kl_text_clear(&out[1]);
    }
}

/* Otherwise the tests above compare one thread with one thread. */
static void plain_tables_are_read_by_all_threads(void **unused)
{
    (void)unused;
    static const oddity numbers[] = {{.cell = "1e-3"}, {.cell = "0.1234567890123456789012"}, {.cell = "+4"}};
    static const struct {
        table made;
        const char *options;
    } cases[] = {{{.end = "\n", .delimiter = ',', .point = '.', .seed = 5}, "threads=3"},
                 {{.end = "\r\n", .delimiter = ',', .point = '.', .odd = numbers, .odds = 3, .every = 9, .seed = 6}, "threads=3"},
                 {{.end = "\r\n", .delimiter = ';', .point = ',', .seed = 7}, "threads=3,decimal=comma,label=1"},
                 {{.end = "\r\n", .delimiter = ',', .point = '.', .seed = 8}, "threads=3,ignore=2+12"}};
    for (size_t i = 0; kl_plain_cells_get() != NULL && i < sizeof cases / sizeof cases[0]; i++) {
        kl_reader *reader;
        kl_batch batch;
        write_table(&cases[i].made);
        assert_int_equal(kl_reader_open(csv_path, cases[i].options, &reader), KLIFT_OK);
        assert_int_equal(kl_reader_next(reader, 1500, &batch), KLIFT_OK);
        const kl_csv *s = reader->state;
        assert_non_null(reader->pool);
        assert_int_equal(s->parts, 3);
        for (; batch.rows > 0; assert_int_equal(kl_reader_next(reader, 1500, &batch), KLIFT_OK))
            assert_int_equal(s->odd, 0);
        assert_true(quick() || s->text.room > 3 << 18);
        assert_null(reader->pool);
        kl_reader_free(reader);
    }
}

static void threads_of_an_option_go_before_those_of_a_run(void **unused)
{
    (void)unused;
    const struct {
        const char *options;
        int run, threads;
    } cases[] = {{NULL, 4, 4}, {"threads=run", 4, 4}, {"threads=3", 4, 3}, {"threads=1", 4, 1}, {NULL, 1000, 16}, {"threads=1000", 4, 16}, {"threads=auto", 1000, kl_run_cpus() < 16 ? kl_run_cpus() : 16}};
    kl_reader *none;
    csv_write_text("a,b\n1,2\n");
    assert_int_equal(kl_reader_open(csv_path, "threads=0", &none), KLIFT_USAGE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_reader *reader;
        assert_int_equal(kl_reader_open(csv_path, cases[i].options, &reader), KLIFT_OK);
        kl_reader_use_threads(reader, cases[i].run);
        assert_int_equal(reader->threads, cases[i].threads);
        kl_reader_free(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(denormal_numbers_are_as_the_caller_has_them),
        cmocka_unit_test(faults_are_told_at_the_same_place),
        cmocka_unit_test(rows_may_be_longer_than_a_part),
        cmocka_unit_test(rewinding_and_kept_rows_change_nothing),
        cmocka_unit_test(plain_tables_are_read_by_all_threads),
        cmocka_unit_test(threads_of_an_option_go_before_those_of_a_run),
    };
    return cmocka_run_group_tests(tests, csv_make_path, NULL);
}
