/* test_svmlight_parts.c - LIBSVM text that several threads read: the same rows, messages and notes as one thread gives, wherever the text was cut. */
#include "base/parallel.h"
#include "data/svmlight.h"
#include "reading.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 9000 }; /* some 700 KB */

typedef struct made {
    const char *const *odd; /* lines that stand in place of a row here and there; all of them are read */
    int64_t odds, every;    /* some row of so many is odd */
    const char *end;        /* of lines */
    int base;
    bool bare;              /* rows without labels */
    bool open_end;          /* no newline behind the last row */
    uint64_t seed;
} made;

static char *path, *second;

static int make_paths(void **unused)
{
    (void)unused;
    path = temp_path("rows.svm");
    second = temp_path("more.svm");
    return 0;
}

static void write_text(const char *to, const kl_text *text)
{
    assert_int_equal(kl_text_status(text), KLIFT_OK);
    FILE *file = fopen(to, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text->text, 1, (size_t)text->length, file), text->length);
    fclose(file);
}

/* Columns reach further the later the row, so that the width tells which rows were handed out. */
static void add_row(kl_text *out, const made *m, int64_t row)
{
    static const char *const forms[] = {"%.0f", "%.3f", "%.6f", "%.9g", "%.17g", "%.3e"};
    uint64_t bits = syn_mix(m->seed * 1000003 + (uint64_t)row);
    if (m->odds > 0 && bits % (uint64_t)m->every == 0) {
        kl_text_add(out, "%s%s", m->odd[(bits >> 20) % (uint64_t)m->odds], m->end);
        return;
    }
    if (!m->bare)
        kl_text_add(out, row % 3 == 0 ? "%+d" : "%d", (int)(bits % 5) - 2);
    const char *blank = m->bare ? "" : " ";
    for (int64_t column = m->base, entries = (int64_t)(bits >> 8 & 7) + (m->bare); entries > 0; entries--) {
        uint64_t next = syn_mix(bits + (uint64_t)entries);
        column += (int64_t)(next % 9) + (entries == 1 ? row / 16 : 0);
        kl_text_add(out, "%s%lld:", blank, (long long)column++);
        kl_text_add(out, forms[next >> 32 & 3 ? (next >> 32) % 3 : (next >> 40) % 6], ((double)(next >> 11) * 0x1p-53 - 0.5) * 20);
        blank = next % 50 == 0 ? " \t" : " ";
    }
    kl_text_add(out, "%s", m->end);
}

static kl_text make(const made *m, int64_t rows)
{
    kl_text out = {0};
    for (int64_t i = 0; i < rows; i++)
        add_row(&out, m, i);
    if (m->open_end)
        out.length -= (int64_t)strlen(m->end);
    return out;
}

static void write_rows(const char *to, const made *m)
{
    kl_text text = make(m, quick() ? ROWS / 3 : ROWS);
    write_text(to, &text);
    kl_text_clear(&text);
}

static const char *const harmless[] = {"1 3:5 # a comment", "# nothing else", "", "   ", "2 qid:7 1:1", "1e1 2:1e-40 4:1e-60", "1\t2:3\t\t4:5  ", "  1 2:3",
                                       "3#", "0.12345678901234567 1:1", "-1", "1 1:0 2:0 900:0", "1 0000000001:2 2:3", "1 2:0.1234567890123456789012", "1 2:.5 3:7. 4:+8"};
static const char *const gaps[] = {"1 2:nan 9000:1", "1 2:NaN", "1 2:1 3:-nan"};
static const char *const unsorted[] = {"1 9:1 3:2", "1 4:0 2:3 1:0 # zeros", "1 3:0 4:1"};
static const char *const extra[] = {"1 2:1 5000:1", "1 5000:3", "1 4000:1 5000:0"};
static const char *const unlabelled[] = {"1:2 3:4", "7 1:2", "text 1:2", "# a comment", "", "12345678901234567890 1:1", "7", "nan 3:1"};
#define LINES(name) .odd = name, .odds = sizeof name / sizeof name[0]

static void rows_are_the_same_for_any_number_of_threads(void **unused)
{
    (void)unused;
    static const struct {
        made rows;
        const char *options;
    } cases[] = {
        {{.end = "\n", .base = 1}, ""},
        {{.end = "\r\n", .base = 0, .open_end = true}, "index-base=0"},
        {{.end = "\n", .base = 1, LINES(harmless), .every = 700}, ""},
        {{.end = "\n", .base = 1, LINES(harmless), .every = 4000}, "index-base=1"},
        {{.end = "\r\n", .base = 1, LINES(harmless), .every = 10, .open_end = true}, ""},
        {{.end = "\n", .base = 1, LINES(gaps), .every = 1500}, "missing=skip"},
        {{.end = "\n", .base = 1, LINES(gaps), .every = 1500}, "missing=zero"},
        {{.end = "\n", .base = 1, LINES(extra), .every = 1500}, "dim=1200,ignore-extra=true"},
        {{.end = "\n", .base = 1, .bare = true, .open_end = true}, "no-label=true"},
        {{.end = "\n", .base = 0, .bare = true, LINES(unlabelled), .every = 900}, "no-label=true"},
        {{.end = "\n", .base = 1, LINES(unlabelled), .every = 900}, "no-label=true,label-type=text"},
        {{.end = "\n", .base = 1, LINES(harmless), .every = 900}, "label-type=text"},
        {{.end = "\n", .base = 1, LINES(unsorted), .every = 900}, "sort-indices=true"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (uint64_t seed = 1; seed <= (quick() ? 1 : 2); seed++) {
            made m = cases[i].rows;
            m.seed = 100 * i + seed;
            write_rows(path, &m);
            if (reading_is_one(path, cases[i].options) != KLIFT_OK)
                fail_msg("'%s': %s", cases[i].options, kl_error_text());
        }
}

/* A caller for whom denormal numbers are zero gets zeros, whoever reads them. */
static void denormal_numbers_are_as_the_caller_has_them(void **unused)
{
    (void)unused;
    static const char *const small[] = {"1 1:1e-40 2:3"};
    made m = {.end = "\n", .base = 1, LINES(small), .every = 30, .seed = 3};
    write_rows(path, &m);
    assert_int_equal(reading_is_one(path, ""), KLIFT_OK);
    unsigned mode = kl_denormals_flush();
    klift_status status = reading_is_one(path, "");
    kl_denormals_restore(mode);
    assert_int_equal(status, KLIFT_OK);
}

static void faults_are_told_at_the_same_place(void **unused)
{
    (void)unused;
    static const char *const faults[] = {"x 1:1", "1:1 2:2", "1 2:1 1:1", "1 2:1 2:1", "1 3:0 3:0", "1 0:1", "1 2:x", "1 2:", "1 :3", "1 2", "1 2 :3", "1 2:1e39", "1 2:inf", "1 2:nan", "nan 1:1",
                                         "9007199254740993 1:1", "1e400 1:1", "1,2 1:1", "1 2:3,4", "1 -1:3", "1 2147483647:1", "1 99999999999999999999:1", "1 2:3\r4:5", "1 qid:x 1:1",
                                         "1;2;3", "1 1:2 # fine\r no"};
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
        made m = {.end = "\n", .base = 1, LINES(harmless), .every = 5000, .seed = 50 * f};
        kl_text text = make(&m, (int64_t)(syn_mix(m.seed) % (quick() ? 3000 : 8000)));
        kl_text_add(&text, "%s\n", faults[f]);
        for (int64_t row = 0; row < 900; row++)
            add_row(&text, &m, row);
        write_text(path, &text);
        kl_text_clear(&text);
        klift_status status = reading_is_one(path, "index-base=1");
        if (status == KLIFT_OK && f + 1 < sizeof faults / sizeof faults[0]) /* a return inside a comment is nobody's loss */
            fail_msg("'%s' was taken for a row", faults[f]);
    }
    made m = {.end = "\n", .base = 1, .seed = 9};
    kl_text text = make(&m, ROWS);
    text.text[text.length * 2 / 3] = '\0';
    write_text(path, &text);
    kl_text_clear(&text);
    assert_int_equal(reading_is_one(path, ""), KLIFT_DATA);
}

static void lines_may_be_longer_than_a_part(void **unused)
{
    (void)unused;
    kl_text text = {0};
    for (int i = 0; i < 11; i++) {
        kl_text_add(&text, "%d", i);
        for (int j = 1; j < (i % 3 == 2 ? 5 : 60000); j++)
            kl_text_add(&text, " %d:%d", j, (i * 31 + j) % 97);
        kl_text_add(&text, "\n");
    }
    write_text(path, &text);
    assert_int_equal(reading_is_one(path, ""), KLIFT_OK);
    assert_int_equal(reading_is_one(path, "index-base=1"), KLIFT_OK);
    kl_text_add(&text, "1 x\n");
    write_text(path, &text);
    assert_int_equal(reading_is_one(path, "index-base=1"), KLIFT_DATA);
    kl_text_clear(&text);
}

/* Rows that wait were read under settings that no longer hold: as many columns as before, fewer, more. */
static void settings_between_two_batches_count(void **unused)
{
    (void)unused;
    made m = {.end = "\n", .base = 1, LINES(harmless), .every = 4000, .seed = 12};
    write_rows(path, &m);
    for (int what = 0; what < 3; what++) {
        kl_text out[2] = {{0}, {0}};
        for (int many = 0; many < 2; many++) {
            kl_reader *reader;
            assert_int_equal(kl_reader_open(path, many ? "threads=3,index-base=1" : "threads=1,index-base=1", &reader), KLIFT_OK);
            for (int i = 0; i < 3; i++)
                reading_step(reader, 100, &out[many]);
            reader->dim = what == 0 ? 5000 : what == 1 ? 60 : 0; /* with 60 a row soon is too wide */
            reader->index_base = what == 2 ? 0 : 1;
            reading_to_end(reader, 500, &out[many]);
            kl_reader_free(reader);
        }
        reading_same(&out[0], &out[1], "other settings behind the first rows");
        kl_text_clear(&out[0]);
        kl_text_clear(&out[1]);
    }
}

static void rewinding_matching_and_kept_rows_change_nothing(void **unused)
{
    (void)unused;
    enum { AGAIN = 5, KEPT, MATCHED, WAYS };
    made m = {.end = "\n", .base = 1, LINES(harmless), .every = 9000, .seed = 78};
    write_rows(path, &m);
    for (int way = 0; way < WAYS; way++) {
        kl_text out[2] = {{0}, {0}};
        for (int many = 0; many < 2; many++) {
            kl_reader *reader;
            bool all;
            kl_schema none = {0};
            kl_expect expect = {.schema = &none, .width = 3000, .index_base = 0, .words = true};
            assert_int_equal(kl_reader_open(path, many ? "threads=3" : "threads=1", &reader), KLIFT_OK);
            if (way == KEPT)
                assert_int_equal(kl_reader_keep_head(reader, 1500, &all), KLIFT_OK);
            for (int i = 0; i < way; i++)
                reading_step(reader, 333 * (i + 1), &out[many]);
            if (way != KEPT)
                assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
            if (way == MATCHED)
                assert_int_equal(kl_reader_match(reader, &expect), KLIFT_OK);
            reading_to_end(reader, 777, &out[many]);
            kl_reader_free(reader);
        }
        reading_same(&out[0], &out[1], "a file read from its start again");
        kl_text_clear(&out[0]);
        kl_text_clear(&out[1]);
    }
}

static void files_of_a_chain_are_read_as_one_thread_does(void **unused)
{
    (void)unused;
    made m = {.end = "\n", .base = 1, LINES(harmless), .every = 3000, .seed = 31};
    made more = {.end = "\n", .base = 0, .seed = 32};
    write_rows(path, &m);
    write_rows(second, &more);
    for (int64_t at_most = 100; at_most <= 100000; at_most *= 10) {
        kl_text out[2] = {{0}, {0}};
        for (int many = 0; many < 2; many++) {
            kl_reader *part[2], *chain;
            assert_int_equal(kl_reader_open(path, NULL, &part[0]), KLIFT_OK);
            assert_int_equal(kl_reader_open(second, NULL, &part[1]), KLIFT_OK);
            assert_int_equal(kl_reader_chain(part, 2, &chain), KLIFT_OK);
            kl_reader_use_threads(chain, many ? 4 : 1);
            reading_step(chain, at_most, &out[many]);
            assert_int_equal(part[0]->pool != NULL, many);
            reading_to_end(chain, at_most, &out[many]);
            assert_null(part[0]->pool);
            kl_reader_free(chain);
        }
        reading_same(&out[0], &out[1], "two files");
        kl_text_clear(&out[0]);
        kl_text_clear(&out[1]);
    }
}

/* Otherwise the tests above compare one thread with one thread. */
static void plain_rows_are_read_by_all_threads(void **unused)
{
    (void)unused;
    static const struct {
        made rows;
        const char *options;
    } cases[] = {{{.end = "\n", .base = 1, .seed = 1}, "threads=3"},
                 {{.end = "\r\n", .base = 1, .seed = 2}, "threads=3,index-base=1"},
                 {{.end = "\n", .base = 1, .seed = 3, .bare = true}, "threads=3,no-label=true"},
                 {{.end = "\n", .base = 1, .seed = 4}, "threads=3,no-label=true"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_reader *reader;
        kl_batch batch;
        write_rows(path, &cases[i].rows);
        assert_int_equal(kl_reader_open(path, cases[i].options, &reader), KLIFT_OK);
        const kl_svmlight *s = reader->state;
        do {
            assert_int_equal(kl_reader_next(reader, 200, &batch), KLIFT_OK);
            assert_true(reader->at > ROWS / 5 || (reader->pool != NULL && s->parts != NULL));
            assert_true(reader->at > ROWS / 5 || s->column_room < 1 << 14); /* one thread would make room for all of the text */
        } while (batch.rows > 0);
        assert_true(quick() || s->text_room > 3 << 16);
        assert_null(reader->pool);
        kl_reader_free(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(denormal_numbers_are_as_the_caller_has_them),
        cmocka_unit_test(faults_are_told_at_the_same_place),
        cmocka_unit_test(lines_may_be_longer_than_a_part),
        cmocka_unit_test(settings_between_two_batches_count),
        cmocka_unit_test(rewinding_matching_and_kept_rows_change_nothing),
        cmocka_unit_test(files_of_a_chain_are_read_as_one_thread_does),
        cmocka_unit_test(plain_rows_are_read_by_all_threads),
    };
    return cmocka_run_group_tests(tests, make_paths, NULL);
}
