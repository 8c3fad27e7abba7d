/* test_chain.c - several readers as one: rows in order, the same model as from one file, parts that do not fit. */
#include "data/reader.h"
#include "pack.h"
#include "training.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char *write_text(const char *name, const char *text)
{
    char *path = temp_path(name);
    pack_write(path, text, strlen(text));
    return path;
}

static klift_status open_chain(int count, const char *const *path, const char *options, klift_data **data)
{
    klift_data *part[10] = {0};
    for (int i = 0; i < count; i++)
        if (klift_data_open(path[i], options, &part[i]) != KLIFT_OK)
            fail_msg("%s", klift_error());
    return klift_data_chain(part, count, data);
}

#define PATHS(...) (const char *const[]){__VA_ARGS__}

static void rows_come_in_order_in_every_pass(void **unused)
{
    (void)unused;
    klift_data *data;
    klift_batch batch = {.size = sizeof batch};
    const char *a = write_text("a", "1 1:1\n2 1:2\n3 1:3\n"), *b = write_text("b", ""), *c = write_text("c", "4 1:4 3:9\n5 1:5\n");
    assert_int_equal(open_chain(3, PATHS(a, b, c), NULL, &data), KLIFT_OK);
    for (int pass = 0; pass < 3; pass++) {
        double next = 1;
        for (;;) {
            assert_int_equal(klift_data_next(data, 2, &batch), KLIFT_OK);
            if (batch.rows == 0)
                break;
            assert_true(batch.rows <= 2);
            assert_int_equal(batch.columns, next + (double)batch.rows > 4 ? 3 : 1); /* as wide as the widest so far */
            for (int64_t i = 0; i < batch.rows; i++, next++)
                assert_true(batch.target[i] == next && batch.value[batch.start[i]] == (float)next);
        }
        assert_true(next == 6);
        assert_int_equal(klift_data_count(data), 5 * (pass + 1));
        assert_int_equal(klift_data_rewind(data), KLIFT_OK);
    }
    klift_data_free(data);
}

static void a_chain_of_one_is_that_one(void **unused)
{
    (void)unused;
    klift_data *part, *data;
    assert_int_equal(klift_data_open(write_text("one", "1 1:1\n"), NULL, &part), KLIFT_OK);
    assert_int_equal(klift_data_chain(&part, 1, &data), KLIFT_OK);
    assert_ptr_equal(part, data);
    klift_data_free(data);
}

/* The model's bytes; *count of them, to be freed. */
static void *train(klift_data *data, int64_t *count)
{
    klift_spec *spec = spec_of(PAIRS("features", "64"));
    klift_model *model = train_data(spec, data, NULL);
    void *bytes = bytes_of(model, count);
    klift_model_free(model);
    klift_spec_free(spec);
    return bytes;
}

/* 900 rows in one file, and cut at 200 and 610, the parts compressed each in its own way. first: index of column 1. */
static void compare_cuts(int first)
{
    static const int cuts[] = {0, 200, 610, 900};
    enum { LINE = 100 };
    char *text = malloc(900 * LINE), *at[901];
    at[0] = text;
    for (int i = 0; i < 900; i++) {
        double x = syn_normal((uint64_t)i, 1), y = syn_normal((uint64_t)i, 2);
        int zero = i == 700 && first == 0; /* index 0 in the last part only: the first ones must learn of it */
        at[i + 1] = at[i] + sprintf(at[i], "%d %s%d:%.6f %d:%.6f%s\n", x * y > 0, zero ? "0:0.5 " : "", first + 1, x, first + 2, y, i == 899 ? " 9:0.25" : "");
    }
    char *whole = temp_path("whole");
    const char *part[3];
    pack_write(whole, text, (size_t)(at[900] - text));
    for (int p = 0; p < 3; p++) {
        char name[20];
        size_t count = (size_t)(at[cuts[p + 1]] - at[cuts[p]]), packed;
        snprintf(name, sizeof name, "part%d", p);
        part[p] = temp_path(name);
        unsigned char *bytes = p == 0 ? NULL : pack(pack_codecs[p], at[cuts[p]], count, &packed);
        if (bytes != NULL)
            pack_write(part[p], bytes, packed);
        else
            pack_write(part[p], at[cuts[p]], count);
        free(bytes);
    }
    klift_data *one, *three;
    int64_t count, other;
    assert_int_equal(klift_data_open(whole, NULL, &one), KLIFT_OK);
    assert_int_equal(open_chain(3, part, NULL, &three), KLIFT_OK);
    assert_int_equal(three->index_base, first);
    void *expected = train(one, &count), *bytes = train(three, &other);
    assert_int_equal(other, count);
    assert_memory_equal(bytes, expected, (size_t)count);
    free(expected);
    free(bytes);
    free(text);
}

static void one_file_or_three_give_the_same_model(void **unused)
{
    (void)unused;
    compare_cuts(1);
    compare_cuts(0);
}

/* Categories that only one part has, columns in another order: the table is the same. */
static void tables_share_their_categories(void **unused)
{
    (void)unused;
    enum { LINE = 60, ROWS = 300 };
    static const char *const colour[] = {"red", "green", "blue"};
    char *text = malloc(ROWS * LINE + 100), *part[2] = {malloc(ROWS * LINE), malloc(ROWS * LINE)}, *at = text, *half[2] = {part[0], part[1]};
    at += sprintf(at, "x,colour,y,label\n");
    half[0] += sprintf(half[0], "x,colour,y,label\n");
    half[1] += sprintf(half[1], "label,y,colour,x\n");
    for (int i = 0; i < ROWS; i++) {
        double x = syn_normal((uint64_t)i, 1), y = syn_normal((uint64_t)i, 2);
        const char *name = i < 200 ? colour[i % 2] : colour[1 + i % 2], *label = x * y > 0 ? "yes" : "no";
        at += sprintf(at, "%.5f,%s,%.5f,%s\n", x, name, y, label);
        if (i < 200)
            half[0] += sprintf(half[0], "%.5f,%s,%.5f,%s\n", x, name, y, label);
        else
            half[1] += sprintf(half[1], "%s,%.5f,%s,%.5f\n", label, y, name, x);
    }
    klift_data *one, *two;
    int64_t count, other;
    const char *whole = write_text("whole.csv", text), *first = write_text("first.csv", part[0]), *second = write_text("second.csv", part[1]);
    assert_int_equal(klift_data_open(whole, NULL, &one), KLIFT_OK);
    assert_int_equal(open_chain(2, PATHS(first, second), NULL, &two), KLIFT_OK);
    void *expected = train(one, &count), *bytes = train(two, &other);
    assert_int_equal(other, count);
    assert_memory_equal(bytes, expected, (size_t)count);
    free(expected);
    free(bytes);
    free(text);
    free(part[0]);
    free(part[1]);
}

static void tables_that_differ_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *options, *word;
        klift_status status;
    } bad[] = {{"x,colour\n1,5\n2,6\n", NULL, "columns beside the label", KLIFT_DATA},
               {"x,colour,label\n1,5,1\n2,6,2\n", NULL, "column 2 holds numbers", KLIFT_DATA},
               {"x,smell,label\n1,a,1\n2,b,2\n", NULL, "column 'colour'", KLIFT_DATA},
               {"x,colour,label\na,red,1\nb,red,2\n", NULL, "column 1 holds text, in the files before it numbers", KLIFT_DATA},
               {"x,colour,label\n1,red,1\n2,red,2\n", "label=price", "unknown column 'price'", KLIFT_USAGE},
               {"x,colour,label\n1,red,1\n2,red,2\n", "missing=mean", "means over several files", KLIFT_USAGE}};
    const char *good = write_text("good.csv", "x,colour,label\n1,red,1\n2,green,2\n");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        klift_data *data;
        assert_int_equal(open_chain(2, PATHS(good, write_text("bad.csv", bad[i].text)), bad[i].options, &data), KLIFT_OK);
        klift_status status = klift_data_describe(data, NULL, NULL, 0, NULL);
        if (status != bad[i].status || strstr(klift_error(), bad[i].word) == NULL)
            fail_msg("%zu: status %d: %s", i, status, klift_error());
        klift_data_free(data);
    }
}

static void dense_files_and_their_labels_are_chained(void **unused)
{
    (void)unused;
    static const char x[] = "\0\0\x08\2\0\0\0\2\0\0\0\2\1\2\3\4", y[] = "\0\0\x08\1\0\0\0\2\7\x08";
    char *x_path = temp_path("x"), *y_path = temp_path("y"), options[300];
    pack_write(x_path, x, sizeof x - 1);
    pack_write(y_path, y, sizeof y - 1);
    snprintf(options, sizeof options, "labels=\"%s\"", y_path);
    klift_data *data;
    klift_batch batch = {.size = sizeof batch};
    assert_int_equal(open_chain(2, PATHS(x_path, x_path), options, &data), KLIFT_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(klift_data_next(data, 5, &batch), KLIFT_OK);
        assert_true(batch.rows == 2 && batch.dense[3] == 4 && batch.target[1] == 8);
    }
    assert_int_equal(klift_data_next(data, 5, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, 0);
    klift_data_free(data);
}

static void expect_refusal(klift_data *data, klift_status expected, const char *word, const char *file)
{
    klift_batch batch = {.size = sizeof batch};
    klift_status status;
    do
        status = klift_data_next(data, 1, &batch);
    while (status == KLIFT_OK && batch.rows > 0);
    if (status != expected || strstr(klift_error(), word) == NULL || strstr(klift_error(), file) == NULL)
        fail_msg("expected '%s', got status %d: %s", word, status, klift_error());
    klift_data_free(data);
}

static void messages_name_the_file(void **unused)
{
    (void)unused;
    klift_data *data;
    const char *good = write_text("good", "1 1:1\n"), *bad = write_text("bad", "1 1:1\n1 1:x\n");
    assert_int_equal(open_chain(2, PATHS(good, bad), NULL, &data), KLIFT_OK);
    expect_refusal(data, KLIFT_DATA, ":2:5: value 'x' is not a decimal number", bad);
    const char *narrow = write_text("narrow", ""), *wide = write_text("wide", "");
    pack_write(narrow, "\0\0\x08\2\0\0\0\1\0\0\0\1a", 13);
    pack_write(wide, "\0\0\x08\2\0\0\0\1\0\0\0\2ab", 14);
    assert_int_equal(open_chain(2, PATHS(narrow, wide), NULL, &data), KLIFT_OK);
    expect_refusal(data, KLIFT_DATA, "its rows have 2 columns", wide);
    const char *empty = write_text("empty", "\n");
    assert_int_equal(open_chain(2, PATHS(empty, empty), NULL, &data), KLIFT_OK);
    assert_int_equal(klift_data_describe(data, NULL, NULL, 0, NULL), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "and 1 more: no rows"));
    klift_data_free(data);
}

static void labels_must_agree(void **unused)
{
    (void)unused;
    klift_data *part[2], *data;
    const char *a = write_text("labelled", "1 1:1\n"), *b = write_text("other", "2 1:1\n");
    static const char *const options[][2] = {{NULL, "no-label=true"}, {NULL, "label-type=text"}, {"no-label=true", NULL}, {"label-type=text", "no-label=true"}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(klift_data_open(a, options[i][0], &part[0]), KLIFT_OK);
        assert_int_equal(klift_data_open(b, options[i][1], &part[1]), KLIFT_OK);
        assert_int_equal(klift_data_chain(part, 2, &data), KLIFT_OK);
        expect_refusal(data, KLIFT_DATA, "labelled otherwise", b);
    }
}

static void parts_that_do_not_fit_are_refused_and_freed(void **unused)
{
    (void)unused;
    klift_data *part[3], *data = NULL;
    const char *text = write_text("text", "1 1:1\n"), *idx = write_text("idx", "");
    pack_write(idx, "\0\0\x08\2\0\0\0\1\0\0\0\1a", 13);
    assert_int_equal(open_chain(2, PATHS(text, idx), NULL, &data), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "must have one format"));
    assert_null(data);
    assert_int_equal(klift_data_open(text, "index-base=0", &part[0]), KLIFT_OK);
    assert_int_equal(klift_data_open(text, "index-base=1", &part[1]), KLIFT_OK);
    assert_int_equal(klift_data_chain(part, 2, &data), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "index-base"));
    int fd[2], kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], "1 1:1\n", 6), 6);
    close(fd[1]);
    dup2(fd[0], STDIN_FILENO);
    close(fd[0]);
    assert_int_equal(open_chain(2, PATHS(text, "-"), NULL, &data), KLIFT_IO);
    assert_non_null(strstr(klift_error(), "standard input can be read once only"));
    dup2(kept, STDIN_FILENO);
    close(kept);
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(klift_data_open(text, NULL, &part[0]), KLIFT_OK);
        part[1] = twice ? part[0] : NULL;
        assert_int_equal(klift_data_chain(part, 2, &data), KLIFT_USAGE);
        assert_non_null(strstr(klift_error(), "NULL or there twice"));
    }
    part[0] = NULL;
    assert_int_equal(klift_data_chain(part, 1, &data), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "NULL or there twice"));
    assert_int_equal(klift_data_chain(part, 0, &data), KLIFT_USAGE);
    assert_int_equal(klift_data_chain(NULL, 1, &data), KLIFT_USAGE);
    assert_int_equal(klift_data_chain(part, 1, NULL), KLIFT_USAGE);
}

static void a_part_that_was_begun_starts_again(void **unused)
{
    (void)unused;
    klift_data *part[2], *data;
    klift_batch batch = {.size = sizeof batch};
    const char *a = write_text("begun", "1 1:1\n2 1:2\n");
    for (int i = 0; i < 2; i++)
        assert_int_equal(klift_data_open(a, NULL, &part[i]), KLIFT_OK);
    assert_int_equal(klift_data_next(part[0], 1, &batch), KLIFT_OK);
    assert_int_equal(klift_data_chain(part, 2, &data), KLIFT_OK);
    assert_int_equal(klift_data_next(data, 5, &batch), KLIFT_OK);
    assert_true(batch.rows == 2 && batch.target[0] == 1);
    klift_data_free(data);
}

static klift_status describe(klift_data *data, char *json, int64_t room)
{
    klift_status status = klift_data_describe(data, NULL, json, room, NULL);
    klift_data_free(data);
    return status;
}

/* Each pair of files is the table of two numbers, or of a number and three colours. */
static void tables_without_names_or_rows_are_chained(void **unused)
{
    (void)unused;
    static const char named[] = "x,colour,y\n1,red,1\n2,green,2\n", bare[] = "3,blue,1\n4,red,2\n", empty[] = "";
    static const struct {
        const char *first, *second, *columns, *rows;
    } good[] = {{bare, "3,green,1\n4,yellow,2\n", "\"columns\": 5", "\"rows\": 4"},
                {named, bare, "\"columns\": 4", "\"rows\": 4"},
                {bare, named, "\"columns\": 4", "\"rows\": 4"},
                {empty, named, "\"columns\": 3", "\"rows\": 2"},
                {named, empty, "\"columns\": 3", "\"rows\": 2"},
                {"1,2,3\n4,5,6\n", "7,8,9\n", "\"columns\": 2", "\"rows\": 3"}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        klift_data *data;
        char json[4000] = "";
        const char *first = write_text("first.csv", good[i].first), *second = write_text("second.csv", good[i].second);
        assert_int_equal(open_chain(2, PATHS(first, second), "format=csv", &data), KLIFT_OK);
        klift_status status = describe(data, json, sizeof json);
        if (status != KLIFT_OK || strstr(json, good[i].columns) == NULL || strstr(json, good[i].rows) == NULL)
            fail_msg("%zu: status %d: %s %s", i, status, status != KLIFT_OK ? klift_error() : "", json);
    }
}

static void more_than_a_thousand_categories_over_all_files_are_refused(void **unused)
{
    (void)unused;
    enum { EACH = 600 };
    char *text = malloc(EACH * 20);
    const char *path[2];
    klift_data *data;
    for (int part = 0; part < 2; part++) {
        char *at = text + sprintf(text, "x,when,y\n");
        for (int i = 0; i < EACH; i++)
            at += sprintf(at, "1,day %d,%d\n", EACH * part + i, i % 2);
        path[part] = write_text(part == 0 ? "many.csv" : "more.csv", text);
    }
    free(text);
    assert_int_equal(open_chain(2, path, NULL, &data), KLIFT_OK);
    assert_int_equal(describe(data, NULL, 0), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "more.csv: column 2 has more than 1000 categories over all files; leave it out: ignore="));
    assert_int_equal(open_chain(2, path, "ignore=when", &data), KLIFT_OK);
    assert_int_equal(describe(data, NULL, 0), KLIFT_OK);
}

static void a_part_that_changes_is_noticed(void **unused)
{
    (void)unused;
    klift_data *part[2], *data;
    klift_batch batch = {.size = sizeof batch};
    const char *a = write_text("steady", "1 1:1\n"), *b = write_text("changing", "1 1:1\n");
    assert_int_equal(open_chain(2, PATHS(a, b), NULL, &data), KLIFT_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(klift_data_next(data, 5, &batch), KLIFT_OK);
    write_text("changing", "1 1:1\n2 1:1\n");
    assert_int_equal(klift_data_rewind(data), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "changing: the file changed while it was read"));
    klift_data_free(data);
    /* before it became a part */
    assert_int_equal(klift_data_open(a, NULL, &part[0]), KLIFT_OK);
    assert_int_equal(klift_data_open(b, NULL, &part[1]), KLIFT_OK);
    assert_int_equal(klift_data_next(part[1], 1, &batch), KLIFT_OK);
    write_text("changing", "1 1:1\n");
    assert_int_equal(klift_data_chain(part, 2, &data), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "changing: the file changed while it was read"));
    assert_null(data);
}

static void the_largest_width_that_was_given_counts(void **unused)
{
    (void)unused;
    klift_data *part[2], *data;
    const char *a = write_text("narrow.svm", "1 1:1\n2 1:2\n");
    for (int order = 0; order < 2; order++) {
        assert_int_equal(klift_data_open(a, order == 0 ? "dim=5" : "dim=3", &part[0]), KLIFT_OK);
        assert_int_equal(klift_data_open(a, order == 0 ? "dim=3" : "dim=5", &part[1]), KLIFT_OK);
        assert_int_equal(klift_data_chain(part, 2, &data), KLIFT_OK);
        assert_int_equal(data->dim, 5);
        klift_data_free(data);
    }
}

/* What a model of one file says of two is what it says of their rows in one. */
static void a_model_is_tested_on_a_chain_as_on_one_file(void **unused)
{
    (void)unused;
    static const char head[] = "x,colour,y\n", one[] = "1,red,0\n2,green,1\n3,red,1\n", two[] = "4,green,0\n5,blue,1\n";
    char text[200], json[2][4000];
    klift_data *data;
    klift_model *model;
    int64_t count;
    snprintf(text, sizeof text, "%s%s%s", head, one, two);
    const char *whole = write_text("both.csv", text), *first, *second;
    snprintf(text, sizeof text, "%s%s", head, one);
    first = write_text("one.csv", text);
    snprintf(text, sizeof text, "%s%s", head, two);
    second = write_text("two.csv", text);
    assert_int_equal(klift_data_open(first, NULL, &data), KLIFT_OK);
    void *bytes = train(data, &count);
    assert_int_equal(klift_model_parse(bytes, count, &model), KLIFT_OK);
    free(bytes);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i == 0 ? klift_data_open(whole, NULL, &data) : open_chain(2, PATHS(first, second), NULL, &data), KLIFT_OK);
        if (klift_model_test(model, data, NULL, json[i], sizeof json[i], NULL) != KLIFT_OK)
            fail_msg("%s", klift_error());
        assert_non_null(strstr(json[i], "\"seconds\""));
        *strstr(json[i], "\"seconds\"") = '\0'; /* all but the time it took */
        klift_data_free(data);
    }
    assert_string_equal(json[0], json[1]);
    /* a part that the model cannot use */
    assert_int_equal(open_chain(2, PATHS(first, write_text("odd.csv", "x,smell,y\n1,a,0\n2,b,1\n")), NULL, &data), KLIFT_OK);
    assert_int_equal(klift_model_test(model, data, NULL, json[0], sizeof json[0], NULL), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "odd.csv: column 'colour', which the model needs, is not in the header"));
    klift_data_free(data);
    klift_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_order_in_every_pass),
        cmocka_unit_test(a_chain_of_one_is_that_one),
        cmocka_unit_test(one_file_or_three_give_the_same_model),
        cmocka_unit_test(tables_share_their_categories),
        cmocka_unit_test(tables_that_differ_are_refused),
        cmocka_unit_test(dense_files_and_their_labels_are_chained),
        cmocka_unit_test(messages_name_the_file),
        cmocka_unit_test(labels_must_agree),
        cmocka_unit_test(parts_that_do_not_fit_are_refused_and_freed),
        cmocka_unit_test(a_part_that_was_begun_starts_again),
        cmocka_unit_test(tables_without_names_or_rows_are_chained),
        cmocka_unit_test(more_than_a_thousand_categories_over_all_files_are_refused),
        cmocka_unit_test(a_part_that_changes_is_noticed),
        cmocka_unit_test(the_largest_width_that_was_given_counts),
        cmocka_unit_test(a_model_is_tested_on_a_chain_as_on_one_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
