/* test_save.c - rows that come back as they were written, as LIBSVM text and NPY, or leave nothing. */
#define _XOPEN_SOURCE 700 /* setreuid */
#include "base/memory.h"
#include "data/writer.h"
#include "folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static klift_status save(const char *from, const char *read_options, const char *to, const char *options)
{
    kl_reader *reader;
    assert_int_equal(kl_reader_open(from, read_options, &reader), KLIFT_OK);
    klift_status status = kl_writer_save(reader, to, options, NULL);
    kl_reader_free(reader);
    return status;
}

/* ---- svmlight ---- */

static void svmlight_rows_come_back(void **unused)
{
    (void)unused;
    static const char text[] = "1 1:0.5 3:-2 10:1e-7\n-1.5\n0 2:255 4:3.4028235e38 5:16777216 6:0.1 7:-999999 8:1000000\n";
    folder_write(folder_at("a.svm"), text);
    assert_int_equal(save(folder_at("a.svm"), NULL, folder_at("b.svm"), NULL), KLIFT_OK);
    assert_string_equal(folder_text(folder_at("b.svm")), text);
    assert_int_equal(save(folder_at("b.svm"), "no-label=true", folder_at("c.svm"), "format=svmlight"), KLIFT_OK);
    assert_string_equal(folder_text(folder_at("c.svm")), "0 1:0.5 3:-2 10:1e-7\n0\n0 2:255 4:3.4028235e38 5:16777216 6:0.1 7:-999999 8:1000000\n");
    folder_write(folder_at("t.svm"), "cat 1:1\ndog 2:1\n");
    assert_int_equal(save(folder_at("t.svm"), "label-type=text", folder_at("u.svm"), NULL), KLIFT_OK);
    assert_string_equal(folder_text(folder_at("u.svm")), "cat 1:1\ndog 2:1\n");
}

static void svmlight_writes_dense_rows_without_zeros(void **unused)
{
    (void)unused;
    kl_reader *reader;
    const float dense[] = {0, 1.5f, 9, 2, 0, 9};
    kl_batch rows = {.size = sizeof rows, .rows = 2, .columns = 2, .dense = dense, .stride = 3};
    assert_int_equal(kl_reader_view(&rows, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, folder_at("d"), NULL, NULL), KLIFT_OK);
    assert_string_equal(folder_text(folder_at("d")), "0 2:1.5\n0 1:2\n");
    kl_reader_free(reader);
}

static void svmlight_refuses_labels_it_cannot_hold(void **unused)
{
    (void)unused;
    static const char *const names[] = {"New York", "", "a#b", "1:2", "tab\t"};
    const float dense[] = {1, 1};
    const double target[] = {1, 2};
    kl_reader *reader;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *label[] = {"fine", names[i]};
        kl_batch rows = {.size = sizeof rows, .rows = 2, .columns = 1, .dense = dense, .stride = 1, .label = label};
        assert_int_equal(kl_reader_view(&rows, &reader), KLIFT_OK);
        assert_int_equal(kl_writer_save(reader, folder_at("x"), NULL, NULL), KLIFT_DATA);
        assert_non_null(strstr(kl_error_text(), "row 2"));
        kl_reader_free(reader);
    }
    kl_batch rows = {.size = sizeof rows, .rows = 1, .columns = 2, .dense = dense, .stride = 2, .target = target, .targets = 2};
    assert_int_equal(kl_reader_view(&rows, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, folder_at("x"), NULL, NULL), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "format=npy"));
    kl_reader_free(reader);
    assert_int_equal(folder_count(false), 0);
}

static void a_bad_row_leaves_the_old_file(void **unused)
{
    (void)unused;
    folder_write(folder_at("bad.svm"), "1 1:1\n1 1:x\n");
    folder_write(folder_at("out.svm"), "old");
    assert_int_equal(save(folder_at("bad.svm"), NULL, folder_at("out.svm"), NULL), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "bad.svm:2:5"));
    assert_string_equal(folder_text(folder_at("out.svm")), "old");
    assert_int_equal(folder_count(false), 2);
}

static void a_file_may_be_written_over_itself(void **unused)
{
    (void)unused;
    folder_write(folder_at("same.svm"), "1 1:1.0 2:0\n");
    assert_int_equal(save(folder_at("same.svm"), NULL, folder_at("same.svm"), NULL), KLIFT_OK);
    assert_string_equal(folder_text(folder_at("same.svm")), "1 1:1\n");
}

static void standard_output_takes_svmlight_only(void **unused)
{
    (void)unused;
    folder_write(folder_at("a.svm"), "1 1:1\n");
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), fd = open(folder_at("out"), O_WRONLY | O_CREAT, 0600);
    dup2(fd, STDOUT_FILENO);
    klift_status text = save(folder_at("a.svm"), NULL, "-", NULL), npy = save(folder_at("a.svm"), NULL, "-", "format=npy");
    kl_file *file;
    klift_status patch = kl_file_create("-", &file);
    if (patch == KLIFT_OK)
        patch = kl_file_patch(file, 0, "x", 1);
    kl_file_abandon(file);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(fd);
    assert_int_equal(text, KLIFT_OK);
    assert_int_equal(npy, KLIFT_USAGE);
    assert_int_equal(patch, KLIFT_USAGE);
    assert_string_equal(folder_text(folder_at("out")), "1 1:1\n");
}

/* ---- NPY ---- */

static void expect_array(const char *options, int64_t rows, int64_t columns, const float *dense, const double *target, int64_t targets)
{
    kl_reader *reader;
    kl_batch batch;
    if (kl_reader_open(folder_at("x.npy"), options, &reader) != KLIFT_OK)
        fail_msg("%s", kl_error_text());
    assert_string_equal(reader->type->name, "npy");
    assert_int_equal(kl_reader_next(reader, 1000, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, rows);
    assert_int_equal(batch.columns, columns);
    if (rows > 0)
        assert_memory_equal(batch.dense, dense, (size_t)(rows * columns) * sizeof *dense);
    if (targets > 0 && rows > 0) {
        assert_int_equal(batch.targets, targets);
        assert_memory_equal(batch.target, target, (size_t)(rows * targets) * sizeof *target);
    }
    kl_reader_free(reader);
}

static void npy_rows_and_labels_come_back(void **unused)
{
    (void)unused;
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", folder_at("y.npy"));
    folder_write(folder_at("a.svm"), "1 1:0.5\n-2 3:4\n3.25\n");
    const float dense[] = {0.5f, 0, 0, 0, 0, 4, 0, 0, 0};
    const double target[] = {1, -2, 3.25};
    assert_int_equal(save(folder_at("a.svm"), NULL, folder_at("x.npy"), labels), KLIFT_OK);
    expect_array(labels, 3, 3, dense, target, 1);
    struct stat info;
    assert_int_equal(stat(folder_at("x.npy"), &info), 0);
    assert_int_equal(info.st_size, 128 + 36);
    /* and back to text */
    assert_int_equal(save(folder_at("x.npy"), labels, folder_at("b.svm"), NULL), KLIFT_OK);
    assert_string_equal(folder_text(folder_at("b.svm")), "1 1:0.5\n-2 3:4\n3.25\n");
}

static void npy_keeps_many_targets_and_text_labels(void **unused)
{
    (void)unused;
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", folder_at("y.npy"));
    kl_reader *reader;
    const float dense[] = {1, 2, 3, 4};
    const double target[] = {1, 2, 3, 4, 5, 6};
    kl_batch rows = {.size = sizeof rows, .rows = 2, .columns = 2, .dense = dense, .stride = 2, .target = target, .targets = 3};
    assert_int_equal(kl_reader_view(&rows, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, folder_at("x.npy"), labels, NULL), KLIFT_OK);
    kl_reader_free(reader);
    expect_array(labels, 2, 2, dense, target, 3);

    const char *names[] = {"New York", "\xc3\xa4"};
    kl_batch text = {.size = sizeof text, .rows = 2, .columns = 2, .dense = dense, .stride = 2, .label = names}, batch;
    assert_int_equal(kl_reader_view(&text, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, folder_at("x.npy"), labels, NULL), KLIFT_OK);
    kl_reader_free(reader);
    assert_int_equal(kl_reader_open(folder_at("x.npy"), labels, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 9, &batch), KLIFT_OK);
    assert_string_equal(batch.label[0], "New York");
    assert_string_equal(batch.label[1], "\xc3\xa4");
    kl_reader_free(reader);
}

static void npy_finds_the_width_of_sparse_rows_first(void **unused)
{
    (void)unused;
    /* the widest row and the longest label come long after the first batch */
    kl_text text = {0};
    for (int i = 0; i < 9999; i++)
        kl_text_add(&text, "a 1:1\n");
    kl_text_add(&text, "longer 7:2\n");
    folder_write(folder_at("a.svm"), text.text);
    kl_text_clear(&text);
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", folder_at("y.npy"));
    assert_int_equal(save(folder_at("a.svm"), "label-type=text", folder_at("x.npy"), labels), KLIFT_OK);
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(folder_at("x.npy"), labels, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 20000, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, 10000);
    assert_int_equal(batch.columns, 7);
    assert_true(batch.dense[9999 * 7 + 6] == 2);
    assert_string_equal(batch.label[9999], "longer");
    kl_reader_free(reader);
}

static void no_rows_make_a_valid_file(void **unused)
{
    (void)unused;
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", folder_at("y.npy"));
    folder_write(folder_at("none.svm"), "# nothing\n");
    assert_int_equal(save(folder_at("none.svm"), NULL, folder_at("b.svm"), NULL), KLIFT_OK);
    assert_string_equal(folder_text(folder_at("b.svm")), "");
    assert_int_equal(save(folder_at("none.svm"), NULL, folder_at("x.npy"), labels), KLIFT_OK);
    expect_array(labels, 0, 1, NULL, NULL, 1);
    assert_int_equal(save(folder_at("none.svm"), "dim=4", folder_at("x.npy"), NULL), KLIFT_OK);
    expect_array(NULL, 0, 4, NULL, NULL, 0);
    folder_write(folder_at("labels-only.svm"), "1\n2\n");
    assert_int_equal(save(folder_at("labels-only.svm"), NULL, folder_at("x.npy"), NULL), KLIFT_OK);
    const float zeros[] = {0, 0};
    expect_array(NULL, 2, 1, zeros, NULL, 0);
}

static void npy_needs_a_file_and_labels_to_write(void **unused)
{
    (void)unused;
    char same[600], other[600];
    snprintf(same, sizeof same, "labels=\"%s\"", folder_at("x.npy"));
    snprintf(other, sizeof other, "labels=\"%s\"", folder_at("y.npy"));
    folder_write(folder_at("a.svm"), "1 1:1\n");
    assert_int_equal(save(folder_at("a.svm"), NULL, folder_at("x.npy"), same), KLIFT_USAGE);
    assert_int_equal(save(folder_at("a.svm"), NULL, folder_at("x.npy"), "labels=\"-\""), KLIFT_USAGE);
    assert_int_equal(save(folder_at("a.svm"), "no-label=true", folder_at("x.npy"), other), KLIFT_USAGE);
    assert_int_equal(save(folder_at("a.svm"), NULL, folder_at("x.svm"), other), KLIFT_USAGE);
    assert_int_equal(save(folder_at("a.svm"), NULL, folder_at("x.svm"), "format=csv"), KLIFT_USAGE);
    assert_int_equal(save(folder_at("a.svm"), NULL, folder_at("x.svm"), "dim=3"), KLIFT_USAGE);
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(save(folder_at("a.svm"), NULL, "/dev/full", "format=npy"), KLIFT_IO);
    assert_int_equal(folder_count(false), 1);
}

static int stop_at_once(const klift_event *event, void *user)
{
    (void)event;
    (void)user;
    return 1;
}

static void a_cancelled_save_leaves_nothing(void **unused)
{
    (void)unused;
    kl_reader *reader;
    klift_run *run;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    klift_run_on_event(run, stop_at_once, NULL);
    folder_write(folder_at("a.svm"), "1 1:1\n");
    assert_int_equal(kl_reader_open(folder_at("a.svm"), NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, folder_at("b.svm"), NULL, run), KLIFT_CANCELLED);
    assert_int_equal(kl_writer_save(reader, folder_at("b.npy"), NULL, run), KLIFT_CANCELLED);
    assert_int_equal(folder_count(false), 1);
    kl_reader_free(reader);
    klift_run_free(run);
}

/* ---- faults in the middle ---- */

/* Every write of a row is the one that fills the buffer, as the first label moves them all. */
static void a_device_that_is_full_stops_the_rows_wherever_they_are(void **unused)
{
    (void)unused;
    if (access("/dev/full", W_OK) != 0)
        skip();
    for (int shift = 0; shift < 8; shift++) {
        FILE *file = fopen(folder_at("a.svm"), "w");
        assert_non_null(file);
        fprintf(file, "%.*s 1:1\n", shift + 1, "abcdefgh");
        for (int i = 0; i < 12000; i++)
            fputs("ab 1:1\n", file);
        fclose(file);
        assert_int_equal(save(folder_at("a.svm"), "label-type=text", "/dev/full", NULL), KLIFT_IO);
        assert_non_null(strstr(kl_error_text(), "/dev/full: cannot write: No space"));
    }
    assert_int_equal(save(folder_at("a.svm"), "label-type=text", folder_at("no/folder"), NULL), KLIFT_IO);
    assert_int_equal(save(folder_at("a.svm"), "label-type=text", folder_at("no/folder.npy"), NULL), KLIFT_IO);
}

/* The file of rows or of labels reaches the limit while rows come, or with what is left in the buffer at the end. */
static void a_file_size_limit_leaves_neither_rows_nor_labels(void **unused)
{
    (void)unused;
    static const struct {
        const char *entry; /* of each row: its width */
        int rows;
    } cases[] = {{"1:1", 30000}, {"9:1", 6000}, {"1:1", 9000}, {"30:1", 560}};
    char labels[600];
    struct rlimit old, low;
    snprintf(labels, sizeof labels, "labels=\"%s\"", folder_at("y.npy"));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){66000, old.rlim_max};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *file = fopen(folder_at("a.svm"), "w");
        assert_non_null(file);
        for (int row = 0; row < cases[i].rows; row++)
            fprintf(file, "1 %s\n", cases[i].entry);
        fclose(file);
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
        klift_status status = save(folder_at("a.svm"), NULL, folder_at("x.npy"), labels);
        setrlimit(RLIMIT_FSIZE, &old);
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(status, KLIFT_IO);
        assert_non_null(strstr(kl_error_text(), "File too large"));
        assert_int_equal(folder_count(false), 1);
    }
}

/* What a callback does at its n-th call. */
typedef struct trick {
    int calls, at;
    enum { STOP, GROW_INPUT, BLOCK_OUTPUT } kind;
} trick;

static int play(const klift_event *event, void *user)
{
    trick *t = user;
    (void)event;
    if (++t->calls != t->at)
        return 0;
    if (t->kind == GROW_INPUT)
        folder_write(folder_at("a.svm"), "1 1:1\n2 1:1\n3 1:1\n");
    else if (t->kind == BLOCK_OUTPUT)
        assert_int_equal(mkdir(folder_at("x.npy"), 0700), 0);
    return t->kind == STOP;
}

static klift_status save_with(trick *t)
{
    kl_reader *reader;
    klift_run *run;
    t->calls = 0;
    folder_write(folder_at("a.svm"), "1 1:1\n2 2:1\n");
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "batch", "1"), KLIFT_OK);
    klift_run_on_event(run, play, t);
    assert_int_equal(kl_reader_open(folder_at("a.svm"), NULL, &reader), KLIFT_OK);
    klift_status status = kl_writer_save(reader, folder_at("x.npy"), NULL, run);
    kl_reader_free(reader);
    klift_run_free(run);
    return status;
}

static void what_happens_between_batches_leaves_nothing(void **unused)
{
    (void)unused;
    trick stop = {.kind = STOP, .at = -1}, grow = {.kind = GROW_INPUT}, block = {.kind = BLOCK_OUTPUT};
    assert_int_equal(save_with(&stop), KLIFT_OK);
    int calls = stop.calls;
    assert_true(calls > 3);
    assert_int_equal(unlink(folder_at("x.npy")), 0);
    for (stop.at = 1; stop.at <= calls; stop.at++) {
        assert_int_equal(save_with(&stop), KLIFT_CANCELLED);
        assert_int_equal(folder_count(false), 1);
    }
    grow.at = 2; /* while the widths are looked for */
    assert_int_equal(save_with(&grow), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "changed while it was read"));
    assert_int_equal(folder_count(false), 1);
    block.at = calls;
    assert_int_equal(save_with(&block), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "x.npy: cannot replace"));
    assert_int_equal(rmdir(folder_at("x.npy")), 0);
    assert_int_equal(folder_count(false), 1);
}

/* Batches that do not know of one another. */
typedef struct sequence {
    const kl_batch *batch;
    int64_t count, at;
} sequence;

static klift_status next_of(void *user, klift_batch *batch)
{
    sequence *s = user;
    if (s->at < s->count)
        *batch = s->batch[s->at++];
    return KLIFT_OK;
}

static klift_status save_batches(const kl_batch *first, const kl_batch *second, const char *options)
{
    const kl_batch both[] = {*first, *second};
    sequence s = {both, 2, 0};
    klift_source source = {.size = sizeof source, .user = &s, .next = next_of};
    kl_reader *reader;
    assert_int_equal(kl_reader_from(&source, &reader), KLIFT_OK);
    klift_status status = kl_writer_save(reader, folder_at("x.npy"), options, NULL);
    kl_reader_free(reader);
    return status;
}

static void npy_refuses_rows_that_are_otherwise_than_the_first(void **unused)
{
    (void)unused;
    static const float dense[] = {1, 2};
    static const double target[] = {1, 2};
    static const char *const cat[] = {"cat"};
    static const char seventy[] = "x0123456789012345678901234567890123456789012345678901234567890123456789";
    const char *long_name[] = {seventy + 1}, *longer[] = {seventy};
    const kl_batch plain = {.size = sizeof plain, .rows = 1, .columns = 1, .dense = dense, .stride = 1, .target = target, .targets = 1};
    kl_batch wide = plain, two = plain, named = plain, large = plain, larger = plain;
    wide.columns = wide.stride = 2;
    two.targets = 2;
    named.target = large.target = larger.target = NULL;
    named.targets = large.targets = larger.targets = 0;
    named.label = cat;
    large.label = long_name;
    larger.label = longer;
    const struct {
        const kl_batch *first, *second;
        const char *word;
    } bad[] = {{&plain, &wide, "have 2 columns, those before 1; open the data with dim=2"},
               {&plain, &two, "rows behind row 1 have another number of labels"},
               {&plain, &named, "rows behind row 1 are labelled otherwise"},
               {&named, &plain, "rows behind row 1 are labelled otherwise"},
               {&named, &large, "row 2: label '0123456789012345678901234567890123456789' is longer than the 64 bytes"},
               {&large, &larger, "is longer than the 70 bytes"}};
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", folder_at("y.npy"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        klift_status status = save_batches(bad[i].first, bad[i].second, labels);
        if (status != KLIFT_DATA || strstr(kl_error_text(), bad[i].word) == NULL)
            fail_msg("%zu: status %d: %s", i, status, kl_error_text());
        assert_int_equal(folder_count(false), 0);
    }
    assert_int_equal(save_batches(&plain, &plain, labels), KLIFT_OK);
    assert_int_equal(save_batches(&plain, &two, NULL), KLIFT_OK); /* labels that are not written need not agree */
}

static void npy_takes_the_rows_that_are_left_and_a_given_width(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    const float left[] = {0, 2, 3, 0}, padded[] = {1, 0, 0, 0, 2, 0, 3, 0, 0};
    folder_write(folder_at("a.svm"), "1 1:1\n2 2:2\n3 1:3\n");
    assert_int_equal(kl_reader_open(folder_at("a.svm"), NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 1, &batch), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, folder_at("x.npy"), NULL, NULL), KLIFT_OK);
    kl_reader_free(reader);
    expect_array(NULL, 2, 2, left, NULL, 0);
    assert_int_equal(save(folder_at("a.svm"), "dim=3", folder_at("x.npy"), NULL), KLIFT_OK);
    expect_array(NULL, 3, 3, padded, NULL, 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, folder_empty)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(svmlight_rows_come_back),
        TEST(svmlight_writes_dense_rows_without_zeros),
        TEST(svmlight_refuses_labels_it_cannot_hold),
        TEST(a_bad_row_leaves_the_old_file),
        TEST(a_file_may_be_written_over_itself),
        TEST(standard_output_takes_svmlight_only),
        TEST(npy_rows_and_labels_come_back),
        TEST(npy_keeps_many_targets_and_text_labels),
        TEST(npy_finds_the_width_of_sparse_rows_first),
        TEST(no_rows_make_a_valid_file),
        TEST(npy_needs_a_file_and_labels_to_write),
        TEST(a_cancelled_save_leaves_nothing),
        TEST(a_device_that_is_full_stops_the_rows_wherever_they_are),
        TEST(a_file_size_limit_leaves_neither_rows_nor_labels),
        TEST(what_happens_between_batches_leaves_nothing),
        TEST(npy_refuses_rows_that_are_otherwise_than_the_first),
        TEST(npy_takes_the_rows_that_are_left_and_a_given_width),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
