/* test_csv_match.c - a table read as a model expects it: columns by name, labels that are words, shards, pipes. */
#include "base/memory.h"
#include "base/number.h"
#include "csv_file.h"
#include "training.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* ---- matching ---- */

typedef struct want {
    kl_schema schema;
    int64_t width;
    bool words;
} want;

/* What a model trained on the text would keep. */
static void learn(const char *text, const char *options, want *w)
{
    kl_reader *reader;
    csv_write_text(text);
    if (kl_reader_open(csv_path, options, &reader) != KLIFT_OK || reader->type->learn(reader, NULL) != KLIFT_OK)
        fail_msg("'%s': %s", text, kl_error_text());
    assert_int_equal(kl_schema_keep(&reader->schema, &w->schema), KLIFT_OK);
    w->width = reader->schema.width;
    kl_reader_free(reader);
}

static klift_status match(const char *text, const char *options, const want *w, kl_reader **reader, kl_text *out)
{
    kl_expect expect = {.schema = &w->schema, .width = w->width, .index_base = 1, .words = w->words};
    csv_write_text(text);
    KL_TRY(kl_reader_open(csv_path, options, reader));
    KL_TRY(kl_reader_match(*reader, &expect));
    return csv_read_all(*reader, 2, out);
}

static void a_table_is_read_as_the_model_expects(void **unused)
{
    (void)unused;
    static const char named[] = "a,c,b,y\n1,red,5,9\n2,blue,6,8\n", bare[] = "1,5,9\n2,6,8\n";
    static const struct {
        const char *learnt, *learnt_with, *text, *options, *rows;
        int64_t unseen, extra;
    } good[] = {
        {named, NULL, named, NULL, "9 1 0 1 5;8 2 1 0 6;", 0, 0},
        {named, NULL, "y,b,a,c\n9,5,1,red\n", NULL, "9 1 0 1 5;", 0, 0},              /* another order */
        {named, NULL, "b,a,c\n5,1,red\n", NULL, "- 1 0 1 5;", 0, 0},                  /* no label */
        {named, NULL, "y,z,b,a,c,w\n9,0,5,1,red,x\n", NULL, "9 1 0 1 5;", 0, 2},      /* more columns */
        {named, NULL, "a,c,b,y\n1,green,5,9\n2,red,5,9\n3,,5,9\n", "missing=zero", "9 1 0 0 5;9 2 0 1 5;9 3 0 0 5;", 1, 0},
        {named, NULL, "1,red,5,9\n2,blue,6,8\n", NULL, "9 1 0 1 5;8 2 1 0 6;", 0, 0}, /* no header: by position */
        {named, NULL, "1,red,5\n", NULL, "- 1 0 1 5;", 0, 0},
        {named, NULL, "a,c,b,y\n1,red,5,\n", NULL, "- 1 0 1 5;", 0, 0},               /* labels that are missing are none */
        {named, NULL, "a,c,b,y\n1,red,5,9\n", "no-label=true", "- 1 0 1 5;", 0, 0},
        {named, NULL, "a,c,b,y\n1,red,5,9\n", "label=y,ignore=nothing", "9 1 0 1 5;", 0, 0},
        {named, NULL, "a,c,b,y\n1,red,5,9\n", "header=true,label=auto", "9 1 0 1 5;", 0, 0},
        {named, NULL, "a,c,b,y\n1,red,5,9\n", "label=a", "- 1 0 1 5;", 0, 1},        /* an input of the model is no label */
        {named, NULL, "a,c,b,y\n1,red,5,9\n", "ignore=y", "- 1 0 1 5;", 0, 0},
        {named, NULL, "a,c,b,y\n1,red,5,9.0\n", "label-type=text", "9.0 1 0 1 5;", 0, 0},
        {named, NULL, "a,c,b,y\n1,red,5,9.0\n", "label-type=number", "9 1 0 1 5;", 0, 0},
        {named, "no-label=true", "y,b,a,c\n9,5,1,red\n", NULL, "- 1 0 1 5 9;", 0, 0},
        {named, "label=a", "9,red,5,7\n", NULL, "9 0 1 5 7;", 0, 0},                  /* the label's place is kept */
        {named, "label=a", "red,5,7\n", NULL, "- 0 1 5 7;", 0, 0},
        {named, "ignore=c", "y,a,b,c\n9,1,5,red\n", NULL, "9 1 5;", 0, 1},
        {bare, NULL, bare, NULL, "9 1 5;8 2 6;", 0, 0},
        {bare, NULL, "1,5\n", NULL, "- 1 5;", 0, 0},
        {bare, NULL, "p,q,r\n1,5,9\n", NULL, "9 1 5;", 0, 0},                         /* a header over numbers is skipped */
        {bare, "label=1", bare, NULL, "1 5 9;2 6 8;", 0, 0},
        {bare, NULL, bare, "label=1", "1 5 9;2 6 8;", 0, 0},
        {bare, NULL, bare, "label=auto", "9 1 5;8 2 6;", 0, 0},
        {bare, NULL, "7,1,5,9\n", "ignore=1", "9 1 5;", 0, 0},
        {bare, "label=1", "7,9,1,5\n", "ignore=1", "9 1 5;", 0, 0},
        {"x,p,1\nz,q,2\n", NULL, "z,p,3\n", NULL, "3 0 1 1 0;", 0, 0},
        {"x,p,1\nz,q,2\n", NULL, "z,p\n", NULL, "- 0 1 1 0;", 0, 0},                  /* text alone is no header here */
        {"3,2,y\n1,2,9\n", "header=true", "2,3\n5,7\n", NULL, "- 7 5;", 0, 0},        /* names that are numbers are still names */
        {"a,b,y\n1,,1\n3,4,2\n", "missing=mean", "a,b,y\n,,3\n", NULL, "3 2 4;", 0, 0},
        {"a,b,y\n1,,1\n3,4,2\n", "missing=mean", "a,b,y\n,,3\n", "missing=zero", "3 0 0;", 0, 0},
        {"a,b,y\n1,,1\n3,4,2\n", "missing=zero", "a,b,y\n,,3\n", NULL, "3 0 0;", 0, 0},
        {"a,b,y\n1,5,1\n3,4,2\n", NULL, "a,b,y\n,,3\n1,2,3\n", "missing=skip", "3 1 2;", 0, 0},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        want w = {0};
        kl_reader *reader = NULL;
        kl_text out = {0};
        learn(good[i].learnt, good[i].learnt_with, &w);
        if (match(good[i].text, good[i].options, &w, &reader, &out) != KLIFT_OK)
            fail_msg("%zu, '%s': %s", i, good[i].text, kl_error_text());
        if (strcmp(out.text, good[i].rows) != 0 || reader->unseen != good[i].unseen || reader->extra != good[i].extra)
            fail_msg("%zu, '%s': got %s, %d unseen, %d extra", i, good[i].text, out.text, (int)reader->unseen, (int)reader->extra);
        kl_text_clear(&out);
        kl_reader_free(reader);
        kl_schema_clear(&w.schema);
    }
}

static void words_are_expected_as_labels_when_the_model_has_some(void **unused)
{
    (void)unused;
    want w = {.words = true};
    kl_reader *reader = NULL;
    kl_text out = {0};
    learn("a,y\n1,x\n2,3\n", NULL, &w);
    assert_int_equal(match("a,y\n1,3.0\n", NULL, &w, &reader, &out), KLIFT_OK);
    assert_string_equal(out.text, "3.0 1;");
    kl_text_clear(&out);
    kl_reader_free(reader);
    kl_schema_clear(&w.schema);
}

static void what_the_model_needs_and_lacks_is_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *learnt, *text, *options;
        klift_status status;
        const char *word;
    } bad[] = {
        {"a,b,y\n1,2,3\n", "a,y\n1,3\n", NULL, KLIFT_DATA, "column 'b', which the model needs, is not in the header"},
        {"a,b,y\n1,2,3\n", "a,b,y\n1,2,3\n", "ignore=b", KLIFT_DATA, "'b', which the model needs, is ignored"},
        {"a,b,y\n1,2,3\n", "1,2,3,4\n", NULL, KLIFT_DATA, "the table has 4 columns, the model needs 2"},
        {"1,2,3\n4,5,6\n", "1\n", "format=csv", KLIFT_DATA, "the table has 1 columns, the model needs 2"},
        {"1,2,3\n4,5,6\n", "1,2,3\n", "label=price", KLIFT_DATA, "the table has 3 columns, the model needs 2"},
        {"1,2,3\n4,5,6\n", "1,2,3,4\n", "label=1,ignore=1", KLIFT_DATA, "the table has 3 columns, the model needs 2"},
        {"a,b,y\n1,2,3\n", "a,b,y\n1,x,3\n", NULL, KLIFT_DATA, ":2:3: 'x' is not a number, which the model expects here (column 'b')"},
        {"a,b,y\n1,2,3\n", "a,b,y\n1,,3\n", NULL, KLIFT_DATA, ":2:3: empty cell: the value is missing (column 'b')"},
        {"a,b,y\n1,2,3\n", "a,b,y\n1,,3\n", "missing=mean", KLIFT_USAGE, "trained without missing=mean"},
        {"a,b,y\n1,2,3\n", "a,b,a,y\n1,2,3,4\n", NULL, KLIFT_DATA, "column 'a' is there twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        want w = {0};
        kl_reader *reader = NULL;
        kl_text out = {0};
        learn(bad[i].learnt, NULL, &w);
        klift_status status = match(bad[i].text, bad[i].options, &w, &reader, &out);
        if (status != bad[i].status || strstr(kl_error_text(), bad[i].word) == NULL)
            fail_msg("%zu, '%s': status %d, %s", i, bad[i].text, (int)status, kl_error_text());
        kl_text_clear(&out);
        kl_reader_free(reader);
        kl_schema_clear(&w.schema);
    }
}

static void matching_comes_before_the_first_row(void **unused)
{
    (void)unused;
    want w = {0};
    kl_reader *reader;
    kl_batch batch;
    learn("a,b,y\n1,2,3\n", NULL, &w);
    kl_expect expect = {.schema = &w.schema, .width = w.width};
    assert_int_equal(kl_reader_open(csv_path, NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 1, &batch), KLIFT_OK);
    assert_int_equal(kl_reader_match(reader, &expect), KLIFT_USAGE);
    assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
    assert_int_equal(kl_reader_match(reader, &expect), KLIFT_OK); /* back at the start it may change its mind */
    kl_text out = {0};
    assert_int_equal(csv_read_all(reader, 5, &out), KLIFT_OK);
    assert_string_equal(out.text, "3 1 2;");
    kl_text_clear(&out);
    kl_reader_free(reader);
    kl_schema_clear(&w.schema);
}

/* ---- through klift.h ---- */

static klift_data *open_text(const char *name, const char *text)
{
    klift_data *data;
    char *file = temp_path(name);
    FILE *to = fopen(file, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
    assert_int_equal(klift_data_open(file, NULL, &data), KLIFT_OK);
    return data;
}

/* The model of a table and a shard whose columns may come in another order. */
static int64_t solve_with_shard(const char *shard, unsigned char *bytes, int64_t room)
{
    klift_spec *spec = spec_of(PAIRS("features", "16", "lambda", "0.1"));
    klift_map *map;
    klift_stats *stats;
    klift_model *model;
    klift_data *first = open_text("first.csv", "a,c,y\n1,red,0\n2,blue,1\n3,red,1\n4,blue,0\n"), *second = open_text("second.csv", shard);
    int64_t length;
    assert_int_equal(klift_map_fit(spec, first, NULL, &map), KLIFT_OK);
    assert_int_equal(klift_stats_new(map, spec, NULL, &stats), KLIFT_OK);
    assert_int_equal(klift_stats_add(stats, first, NULL), KLIFT_OK);
    if (klift_stats_add(stats, second, NULL) != KLIFT_OK)
        fail_msg("%s", klift_error());
    assert_int_equal(klift_stats_solve(stats, NULL, &model), KLIFT_OK);
    assert_int_equal(klift_model_bytes(model, bytes, room, &length), KLIFT_OK);
    klift_model_free(model);
    klift_stats_free(stats);
    klift_map_free(map);
    klift_spec_free(spec);
    klift_data_free(first);
    klift_data_free(second);
    return length;
}

static void shards_are_matched_with_the_map_they_are_added_to(void **unused)
{
    (void)unused;
    static unsigned char same[1 << 16], other[1 << 16];
    int64_t length = solve_with_shard("a,c,y\n5,red,0\n6,red,1\n", same, sizeof same);
    assert_int_equal(solve_with_shard("y,z,c,a\n0,x,red,5\n1,x,red,6\n", other, sizeof other), length);
    assert_memory_equal(same, other, (size_t)length);
    klift_model *model;
    klift_data *data = open_text("test.csv", "c,y,a\nred,0,5\ngreen,1,6\n");
    char json[4096];
    assert_int_equal(klift_model_parse(same, length, &model), KLIFT_OK);
    if (klift_model_test(model, data, NULL, json, sizeof json, NULL) != KLIFT_OK)
        fail_msg("%s", klift_error());
    assert_non_null(strstr(json, "\"rows\": 2"));
    assert_int_equal(data->unseen, 1);
    klift_data_free(data);
    klift_model_free(model);
}

/* ---- pipes ---- */

static char *pipe_path;

static void *feed(void *text)
{
    FILE *file = fopen(pipe_path, "w");
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
    return NULL;
}

static void a_pipe_is_learnt_from_its_first_rows_and_loses_none(void **unused)
{
    (void)unused;
    enum { ROWS = 20000 };
    char *text = malloc(ROWS * 32);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "c,x,y\n");
    for (int i = 0; i < ROWS; i++)
        at += (size_t)sprintf(text + at, "%s,%d,%d\n", i >= 17000 ? "late" : i % 2 ? "odd" : "even", i, i % 3);
    pipe_path = temp_path("pipe"); /* a place of its own: other tests write to theirs, also when this one fails */
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, feed, text), 0);
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(pipe_path, NULL, &reader), KLIFT_OK);
    assert_int_equal(reader->type->learn(reader, NULL), KLIFT_OK);
    assert_int_equal(reader->schema.width, 3);
    int64_t rows = 0;
    double sum = 0;
    do {
        assert_int_equal(kl_reader_next(reader, 1000, &batch), KLIFT_OK);
        for (int64_t i = 0; i < batch.rows; i++) {
            double row[3];
            kl_batch_row_doubles(&batch, i, 3, row);
            sum += row[2];
        }
        rows += batch.rows;
    } while (batch.rows > 0);
    assert_int_equal(rows, ROWS);
    assert_true(sum == ROWS * (ROWS - 1.0) / 2);
    assert_int_equal(reader->unseen, ROWS - 17000);
    pthread_join(writer, NULL);
    kl_reader_free(reader);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_read_as_the_model_expects),
        cmocka_unit_test(words_are_expected_as_labels_when_the_model_has_some),
        cmocka_unit_test(what_the_model_needs_and_lacks_is_named),
        cmocka_unit_test(matching_comes_before_the_first_row),
        cmocka_unit_test(shards_are_matched_with_the_map_they_are_added_to),
        cmocka_unit_test(a_pipe_is_learnt_from_its_first_rows_and_loses_none),
    };
    return cmocka_run_group_tests(tests, csv_make_path, NULL);
}
