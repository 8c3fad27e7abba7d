/* test_plain_cells.c - the loops for many cells at once against one cell at a time, and tables read with and without them. */
#include "base/number.h"
#include "csv_file.h"
#include "data/csv.h"
#include "data/plain_number.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 40, ROOM = 1 << 13 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    return syn_mix(++state) % below;
}

/* Cells that are numbers of every length and form, and some that look like ones. */
static int write_cell(char *out, char point)
{
    static const char *const odd[] = {"",     "-",    ".",     "-.",    "+",    "1.",    "-1.",  ".5",   "-.5",   "+1.5", "--1",  "1-2",  "1.2.3", "..",   "1..2", "-1.5.", "12a",
                                      "1/2",  "1:2",  "\xb0\x35", "5\xb0", "1e5",  "1E-3",  "3e39", "1e-50", "nan",  "inf",  "0x1f", " 1",   "1 ",    "\"1\"", "-0",   "-0.0",
                                      "9007199254740991", "9007199254740992", "9007199254740993",
                                      "16777217", "-1677721.75", "8388608.5", "0.000000000000001", "99999999.9999999", "-123456789.12345",
                                      "1234567890.1234567890",
                                      "0.595066279172897339", "927.5239562988281251", "31.6092901229858397", "8060.0290527343751", "18446744073709551616", "9999999999999999999", "0.99999999999999999999", "1234567890123456789012345678901234567890"};
    int count = 0, whole = (int)draw(4) == 0 ? (int)draw(20) : (int)draw(4), places = (int)draw(3) == 0 ? (int)draw(20) : (int)draw(9);
    if (draw(16) == 0)
        count = sprintf(out, "%s", odd[draw(sizeof odd / sizeof odd[0])]);
    else {
        if (draw(2) == 0)
            out[count++] = '-';
        for (int i = 0; i < whole; i++)
            out[count++] = (char)('0' + draw(10));
        if (places > 0 || whole == 0)
            out[count++] = '.';
        for (int i = 0; i < places; i++)
            out[count++] = (char)('0' + draw(10));
        if (draw(100) == 0)
            count += sprintf(out + count, "e%d", (int)draw(60) - 30);
    }
    for (int i = 0; i < count; i++)
        if (out[i] == '.')
            out[i] = point;
    return count;
}

/* What the cell is by number.h alone. */
static bool is_number(const char *begin, const char *end, char point, float *x)
{
    char copy[64];
    double value;
    const char *after;
    int64_t count = end - begin;
    if (count >= (int64_t)sizeof copy)
        return false;
    for (int64_t i = 0; i < count; i++)
        copy[i] = begin[i] == point ? '.' : begin[i] == '.' ? '!' : begin[i];
    if (kl_number_read(copy, copy + count, &value, &after) != KL_NUMBER_OK || after != copy + count || fabs(value) >= KL_FLOAT_LIMIT)
        return false;
    *x = (float)value;
    return true;
}

/* Runs of 1 .. MOST cells: the numbers have the same bits, the run ends at the first cell that is none, or, with a comma, at one that is not plain. */
static void numbers_have_the_bits_of_those_read_one_by_one(void **unused)
{
    (void)unused;
    for (int64_t which = 0; kl_plain_cells_at(which) != NULL; which++) {
        const kl_plain_cells *loops = kl_plain_cells_at(which);
        for (int round = 0; round < (quick() ? 10000 : 50000); round++) {
            char text[ROOM], point = round % 8 == 0 ? ',' : '.', *base = text + KL_CELLS_LEAD;
            uint32_t mark[MOST + 1] = {UINT32_MAX}, *end = mark + 1;
            int64_t count = 1 + (int64_t)draw(MOST), at = 0;
            float x[MOST + 8], wanted = 0;
            memset(text, draw(2) == 0 ? '7' : '-', sizeof text);
            for (int64_t j = 0; j < count; j++) {
                at += write_cell(base + at, point);
                base[at] = j + 1 < count ? ';' : '\n';
                end[j] = (uint32_t)at++;
            }
            for (int j = 0; j < MOST + 8; j++)
                x[j] = 12345;
            int64_t got = loops->read(base, end, count, point, x, NULL);
            assert_in_range(got, 0, count);
            for (int64_t j = 0; j < got; j++) {
                const char *begin = base + (uint32_t)(end[j - 1] + 1);
                if (!is_number(begin, base + end[j], point, &wanted) || memcmp(&wanted, &x[j], sizeof wanted) != 0)
                    fail_msg("%s: '%.*s' is %.9g, not %.9g", loops->name, (int)(base + end[j] - begin), begin, (double)x[j], (double)wanted);
            }
            if (got < count && point == '.')
                assert_false(is_number(base + (uint32_t)(end[got - 1] + 1), base + end[got], point, &wanted));
            for (int64_t j = count; j < MOST + 8; j++)
                assert_true(x[j] == 12345);
        }
    }
}

/* The last cell as a double, and not among the floats. */
static void a_label_behind_the_numbers_is_the_nearest_double(void **unused)
{
    (void)unused;
    int64_t taken = 0;
    for (int64_t which = 0; kl_plain_cells_at(which) != NULL; which++) {
        const kl_plain_cells *loops = kl_plain_cells_at(which);
        for (int round = 0; round < (quick() ? 10000 : 50000); round++) {
            char text[ROOM], *base = text + KL_CELLS_LEAD;
            uint32_t mark[MOST + 1] = {UINT32_MAX}, *end = mark + 1;
            int64_t count = 2 + (int64_t)draw(MOST - 1), at = 0;
            float x[MOST + 8], wanted = 0;
            double last = 12345, label;
            const char *after;
            memset(text, '7', sizeof text);
            for (int64_t j = 0; j < count; j++) {
                int64_t length = write_cell(base + at, '.');
                at += j + 1 == count && length > KL_CELLS_EXACT ? KL_CELLS_EXACT : length;
                base[at] = j + 1 < count ? ';' : '\n';
                end[j] = (uint32_t)at++;
            }
            for (int j = 0; j < MOST + 8; j++)
                x[j] = 12345;
            int64_t got = loops->read(base, end, count, '.', x, &last);
            const char *begin = base + (uint32_t)(end[count - 2] + 1);
            assert_in_range(got, 0, count);
            for (int64_t j = 0; j < got && j < count - 1; j++)
                assert_true(is_number(base + (uint32_t)(end[j - 1] + 1), base + end[j], '.', &wanted) && memcmp(&wanted, &x[j], sizeof wanted) == 0);
            for (int64_t j = count - 1; j < MOST + 8; j++)
                assert_true(x[j] == 12345);
            if (got < count)
                continue;
            base[end[count - 1]] = '\0';
            if (kl_number_read(begin, base + end[count - 1], &label, &after) != KL_NUMBER_OK || after != base + end[count - 1] || memcmp(&label, &last, sizeof label) != 0)
                fail_msg("%s: '%s' is %.17g", loops->name, begin, last);
            taken++;
        }
    }
    if (kl_plain_cells_at(0) != NULL)
        assert_true(taken > 1000);
}

static void marks_are_all_delimiters_and_newlines(void **unused)
{
    (void)unused;
    static const char delimiters[] = ",;\t|";
    static char text[ROOM + 64];
    static uint32_t end[ROOM + KL_CELLS_SPARE];
    for (int64_t which = 0; kl_plain_cells_at(which) != NULL; which++)
        for (int round = 0; round < 3000; round++) {
            int64_t count = (int64_t)draw(round % 100 == 0 ? ROOM : 300), lines = 0, marks = 0, newlines;
            char delimiter = delimiters[round % 4];
            uint64_t every = 1 + draw(12);
            for (int64_t i = 0; i < ROOM + 64; i++)
                text[i] = draw(every) > 0 ? (char)draw(256) : draw(3) > 0 ? delimiter : '\n';
            int64_t got = kl_plain_cells_at(which)->mark(text, count, delimiter, end, &newlines);
            for (int64_t i = 0; i < count; i++) {
                lines += text[i] == '\n';
                if (text[i] == '\n' || text[i] == delimiter)
                    assert_int_equal(end[marks++], i);
            }
            assert_int_equal(got, marks);
            assert_int_equal(newlines, lines);
        }
}

/* Numbers, and now and then what a row must be looked at again for. */
static size_t write_table(char *out, int columns, int rows, uint64_t rare, const char *line_end)
{
    static const char *const odd[] = {"?", "\"1\"", "\"2,\n3\"", " 4", "5 ", "+6", "1e3", "", "\"a\"\"b\"", "x", "1e99", "-", "7\r"};
    size_t at = 0;
    for (int i = 0; i < rows; i++) {
        int cells = columns - (draw(rare * 200) == 0) + (draw(rare * 200) == 0);
        for (int j = 0; j < cells; j++) {
            uint64_t kind = draw(rare);
            at += (size_t)(kind == 0 ? sprintf(out + at, "%s", odd[draw(draw(20) == 0 ? 13 : 7)]) : sprintf(out + at, "%.*g", 3 + (int)draw(4) * 5, syn_normal((uint64_t)i, draw(1000))));
            if (j + 1 < cells)
                out[at++] = ',';
        }
        at += (size_t)sprintf(out + at, "%s%s", line_end, draw(rare * 20) == 0 ? line_end : "");
    }
    return at;
}

/* The rows, or the message instead of them: of the batch that has the fault none is handed out. */
static klift_status read_table(bool marks, int64_t at_most, const char *options, kl_text *out)
{
    kl_reader *reader;
    klift_status status = kl_reader_open(csv_path, options, &reader);
    if (status == KLIFT_OK)
        status = kl_csv_learn(reader, NULL);
    if (status == KLIFT_OK && !marks)
        ((kl_csv *)reader->state)->marks.loops = NULL;
    if (status == KLIFT_OK)
        status = csv_read_all(reader, at_most, out);
    if (status == KLIFT_OK)
        kl_text_add(out, "%lld skipped", (long long)reader->skipped);
    else {
        kl_text_clear(out);
        kl_text_add(out, "%s", kl_error_text());
    }
    kl_reader_free(reader);
    return status;
}

/* Rows and messages, also behind the buffer's first block, which has 64 KiB. */
static void tables_are_the_same_with_and_without_marks(void **unused)
{
    (void)unused;
    static const char *const options[] = {"format=csv", "format=csv,missing=skip,label=1", "format=csv,missing=zero,ignore=3", "format=csv,no-label=true,missing=zero,categorical=2"};
    static const int columns[] = {2, 5, 6, 9, 20, 40, 200};
    char *text = malloc(1 << 22);
    int good = 0, bad = 0;
    assert_non_null(text);
    for (int round = 0; round < (quick() ? 40 : 100); round++) {
        kl_text with = {0}, without = {0};
        int width = columns[draw(7)];
        uint64_t rare = round % 3 == 0 ? 40 : round % 3 == 1 ? 2000 : 1000000;
        csv_write(text, write_table(text, width, 20000 / width, rare, round % 5 == 0 ? "\r\n" : "\n"));
        klift_status status = read_table(true, 1 + (int64_t)draw(300), options[round % 4], &with);
        assert_int_equal(read_table(false, 100, options[round % 4], &without), status);
        assert_string_equal(with.text, without.text);
        good += status == KLIFT_OK;
        bad += status != KLIFT_OK;
        kl_text_clear(&with);
        kl_text_clear(&without);
    }
    free(text);
    assert_true(good > 10 && bad > 2);
}

/* Lines in the middle of a table of six columns whose delimiters and newlines add up, though not row by row. */
static void marks_that_add_up_by_chance_are_seen_through(void **unused)
{
    (void)unused;
    static const struct {
        const char *lines, *options, *message;
    } table[] = {
        {"1,2\n3,4,5,6\n", "format=csv", ":10001:4: the row has 2 cells, the first row has 6"},
        {"1,2,3,4,5\n6,7,8,9,10,11,12\n", "format=csv", ":10001:10: the row has 5 cells"},
        {"1,2,3,4,5\n6,7,8,9,10,11,12\n", "format=csv,no-label=true", ":10001:10: the row has 5 cells"},
        {"\"a,b\",2,3,4,5\n", "format=csv,no-label=true,ignore=1", ":10001:14: the row has 5 cells"},
        {"1,2,3,4,5,6,7\n8,9,10,11,12\n", "format=csv", ":10001:13: the row has 7 cells"},
        {"1,2,\"a,b\",4,5\n", "format=csv,ignore=3", ":10001:14: the row has 5 cells"},
        {"1,2,\"a,4,5,6\n7\",4,5,6\n1,2,3,4,5,x\n", "format=csv,ignore=3", ":10003:11: the label 'x' is not a number"},
        {"1,2,\"a\n7\",4,5,6\n1,2,3,4,y,6\n", "format=csv,ignore=3", ":10003:9: 'y' is not a number"},
        {"1,2,3,4,5,6\r7\n", "format=csv", ":10001:12: carriage return inside a line"},
        {"1,2,3,.,5,6\n", "format=csv", ":10001:7: '.' is not a number"},
    };
    char *text = malloc(1 << 20);
    assert_non_null(text);
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        kl_text out = {0};
        size_t at = 0;
        for (int i = 0; i < 10200; i++)
            at += (size_t)sprintf(text + at, "%s", i == 10000 ? table[k].lines : "0.5,-1.25,7,8.125,9,10\n");
        csv_write(text, at);
        assert_int_equal(read_table(true, 512, table[k].options, &out), KLIFT_DATA);
        if (strstr(out.text, table[k].message) == NULL)
            fail_msg("%zu: '%s' in '%s'", k, table[k].message, out.text);
        kl_text_clear(&out);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_the_bits_of_those_read_one_by_one),
        cmocka_unit_test(a_label_behind_the_numbers_is_the_nearest_double),
        cmocka_unit_test(marks_are_all_delimiters_and_newlines),
        cmocka_unit_test(tables_are_the_same_with_and_without_marks),
        cmocka_unit_test(marks_that_add_up_by_chance_are_seen_through),
    };
    return cmocka_run_group_tests(tests, csv_make_path, NULL);
}
