/*
 * test_checkpoint.c - trainings that are stopped and go on: the same model in the end, files of other data, settings or versions refused by
 * what differs, damage refused, one run at a time. Through the public header, but for the bytes of the file and the lock.
 */
#include "folder.h"
#include "model_bytes.h"
#include "training.h"

#include "base/record.h"
#include "data/lock.h"
#include "model/checkpoint.h"
#include "pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- stopped and resumed ---- */

typedef struct stopper {
    int seen, at; /* events that were told; the one that asks for the end */
    bool rows;    /* only those behind a block of rows are counted */
    klift_run *run;
} stopper;

static int stop_at(const klift_event *event, void *user)
{
    stopper *s = user;
    bool rows = strcmp(event->stage, "statistics") == 0 || strcmp(event->stage, "rows") == 0;
    if ((rows || !s->rows) && s->seen++ == s->at)
        klift_run_cancel(s->run);
    return 0;
}

/* Where rows come from, anew for every attempt. */
typedef struct origin {
    const char *name, *options; /* synthetic ones, or a file */
    bool file;
    const klift_batch *rows;    /* or these */
} origin;

static klift_data *open_rows(const origin *from)
{
    klift_data *data;
    if (from->rows != NULL)
        OK(klift_data_view(from->rows, &data));
    else if (from->file)
        OK(klift_data_open(from->name, from->options, &data));
    else
        data = synthetic(from->name, from->options);
    return data;
}

enum { NEVER = -1, FIRST_BLOCK = -2 };

/* One attempt, stopped at this event. */
static klift_status attempt(const klift_spec *spec, const origin *from, const char *threads, int at, klift_model **model)
{
    klift_run *run = run_of(PAIRS("threads", threads, "batch", at % 2 == 0 ? "4096" : "333", "checkpoint", folder_at("kept"), "checkpoint-every", "1", "resume", "true"));
    klift_data *data = open_rows(from);
    stopper s = {0, at == FIRST_BLOCK ? 0 : at, at == FIRST_BLOCK, run};
    klift_run_on_event(run, stop_at, &s);
    klift_status status = klift_train(spec, data, run, model);
    klift_data_free(data);
    klift_run_free(run);
    return status;
}

/* Stopped at one event after the other, however often, then compared with a training that nobody stopped. */
static void check_stops(const char *const *settings, const origin *from)
{
    klift_spec *spec = spec_of(settings);
    klift_model *whole = train_data(spec, open_rows(from), NULL), *model = NULL;
    int stops = 0;
    klift_status status;
    for (int at = 2; (status = attempt(spec, from, at % 3 == 0 ? "2" : "1", at, &model)) == KLIFT_CANCELLED; at += quick() ? 3 : 1) {
        stops++;
        assert_null(model);
        assert_int_equal(access(folder_at("kept.lock"), F_OK), -1);
    }
    OK(status);
    assert_true(stops > 2);
    assert_same_bytes(whole, model);
    unlink(folder_at("kept")); /* whoever saved the model removes it */
    assert_int_equal(folder_count(false), 0);
    klift_model_free(whole);
    klift_model_free(model);
    klift_spec_free(spec);
}

static void ridge_goes_on_to_the_same_model(void **state)
{
    (void)state;
    check_stops(PAIRS("features", "30", "folds", "3"), &(origin){.name = "rings", .options = "rows=13000"});
    check_stops(PAIRS("features", "20", "search", "holdout", "map", "nystrom"), &(origin){.name = "spirals", .options = "rows=9000"});
    check_stops(PAIRS("features", "20", "task", "regress", "prepare", "standardise"), &(origin){.name = "friedman", .options = "rows=9000"});
    check_stops(PAIRS("features", "20", "folds", "2", "class-weight", "balanced", "probability", "true"), &(origin){.name = "sparse", .options = "rows=9000"});
}

static void sgd_goes_on_to_the_same_model(void **state)
{
    (void)state;
    check_stops(PAIRS("features", "30", "learner", "sgd"), &(origin){.name = "rings", .options = "rows=13000"});
    check_stops(PAIRS("features", "20", "learner", "sgd:average=false,step=pegasos,project=true", "lambda", "0.01", "class-weight", "balanced"), &(origin){.name = "spirals", .options = "rows=9000"});
    check_stops(PAIRS("features", "20", "learner", "sgd:loss=huber", "task", "regress"), &(origin){.name = "friedman", .options = "rows=9000"});
}

/* With their learners' help or without: at worst they begin again. */
static void learners_with_passes_go_on_to_the_same_model(void **state)
{
    (void)state;
    check_stops(PAIRS("features", "20", "learner", "svm"), &(origin){.name = "spirals", .options = "rows=3000"});
    check_stops(PAIRS("features", "20", "learner", "logistic"), &(origin){.name = "spirals", .options = "rows=3000"});
}

/* Names as labels, weights, entries that are zero, classes that come late. */
static void kept_rows_and_late_classes_are_all_there(void **state)
{
    enum { ROWS = 9000, COLUMNS = 6 };
    static float x[ROWS * COLUMNS];
    static const char *label[ROWS];
    static double weight[ROWS];
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = (float)((i * (j + 3)) % 7 == 0 ? 0 : (i * (2 * j + 5)) % 11);
        label[i] = i < 5000 ? (i % 3 == 0 ? "red" : "blue") : i % 2 == 0 ? "" : "a late one";
        weight[i] = i < 4096 ? 1 : 1 + i % 4;
    }
    csr entries = csr_of(ROWS, COLUMNS, x);
    klift_batch dense = dense_batch(ROWS, COLUMNS, x), sparse = csr_batch(ROWS, COLUMNS, &entries);
    dense.label = sparse.label = label;
    dense.weight = sparse.weight = weight;
    check_stops(PAIRS("features", "20", "folds", "2"), &(origin){.rows = &dense});
    check_stops(PAIRS("features", "20", "folds", "2", "prepare", "standardise"), &(origin){.rows = &sparse});
    check_stops(PAIRS("features", "20", "learner", "sgd"), &(origin){.rows = &sparse});
    csr_free(&entries);
}

static void a_table_is_read_again_as_it_was(void **state)
{
    char path[256];
    (void)state;
    snprintf(path, sizeof path, "%s", temp_path("table.csv"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("kind,size,answer,weight\n", file);
    for (int i = 0; i < 9000; i++)
        fprintf(file, "%s,%s%.1d,%s,%d\n", i % 3 == 0 ? "round" : i % 3 == 1 ? "flat" : "", i % 50 == 7 ? "" : "1", i % 50 == 7 ? 0 : i % 13, i % 5 < 2 ? "yes" : "no", i % 17);
    fclose(file);
    check_stops(PAIRS("features", "20", "folds", "2"), &(origin){.name = path, .options = "label=answer,missing=mean", .file = true});
}

/* ---- a stop within a block ---- */

static const kl_learner_type *asked; /* whose consume is called behind the request */

static klift_status consume_stopped(kl_learner *learner, const float *z, int64_t stride, int64_t rows, klift_run *run)
{
    klift_run_cancel(run);
    return asked->consume(learner, z, stride, rows, run);
}

static void a_stop_within_a_block_waits_for_its_end(void **state)
{
    klift_run *run = run_of(PAIRS("threads", "2", "checkpoint", folder_at("kept"), "checkpoint-every", "1h"));
    klift_spec *spec = spec_of(PAIRS("features", "16", "lambda", "0.01"));
    klift_data *data = synthetic("rings", "rows=13000");
    kl_learn_spec learn = kl_settings_learn(spec, KL_CLASSIFY, 13000);
    kl_checkpoint c;
    kl_tally tally = {0};
    kl_learner *learner;
    klift_map *lift;
    (void)state;
    OK(klift_map_fit(spec, data, run, &lift));
    OK(kl_checkpoint_open(&c, spec, klift_version(), run));
    OK(kl_checkpoint_begin(&c, lift, &tally));
    OK(kl_learner_new("ridge", &learn, lift->map->n_out, run, &learner));
    asked = learner->type;
    kl_learner_type stopped = *asked;
    stopped.consume = consume_stopped;
    learner->type = &stopped;
    assert_int_equal(kl_pipeline_feed(lift, data, learner, &c, run), KLIFT_CANCELLED);
    assert_int_equal(c.seen.rows, 4096);
    assert_int_equal(c.written, 4096);
    assert_int_equal(access(folder_at("kept"), R_OK), 0);
    learner->type = asked;
    kl_learner_free(learner);
    kl_checkpoint_close(&c);
    klift_map_free(lift);
    klift_data_free(data);
    klift_spec_free(spec);
    klift_run_free(run);
}

/* ---- what is refused ---- */

/* A training that was stopped behind some rows. */
static void leave_checkpoint(const char *const *settings, const origin *from)
{
    klift_spec *spec = spec_of(settings);
    klift_model *model;
    assert_int_equal(attempt(spec, from, "1", FIRST_BLOCK, &model), KLIFT_CANCELLED);
    assert_int_equal(access(folder_at("kept"), R_OK), 0);
    klift_spec_free(spec);
}

static void assert_refused(const char *const *settings, const origin *from, klift_status status, const char *word)
{
    klift_spec *spec = spec_of(settings);
    klift_model *model;
    klift_status got = attempt(spec, from, "1", NEVER, &model);
    if (got != status || strstr(klift_error(), word) == NULL)
        print_message("%d: %s\n", got, klift_error());
    assert_int_equal(got, status);
    assert_non_null(strstr(klift_error(), word));
    assert_non_null(strstr(klift_error(), "kept"));
    assert_null(model);
    klift_spec_free(spec);
}

static void other_settings_are_named(void **state)
{
    const origin rings = {.name = "rings", .options = "rows=13000"};
    (void)state;
    leave_checkpoint(PAIRS("features", "16", "lambda", "0.01"), &rings);
    assert_refused(PAIRS("features", "16", "lambda", "0.1"), &rings, KLIFT_USAGE, "lambda is 0.1, the checkpoint has 0.01");
    assert_refused(PAIRS("features", "18", "lambda", "0.01"), &rings, KLIFT_USAGE, "features is 18, the checkpoint has 16");
    assert_refused(PAIRS("features", "16", "lambda", "0.01", "kernel", "laplacian"), &rings, KLIFT_USAGE, "kernel is laplacian, the checkpoint has gaussian");
    assert_refused(PAIRS("features", "16", "lambda", "0.01", "seed", "2"), &rings, KLIFT_USAGE, "seed is 2, the checkpoint has 1");
}

static void other_data_are_named(void **state)
{
    const char *const *settings = PAIRS("features", "16", "lambda", "0.01");
    table t = load("rings", "rows=13000");
    t.x[12000 * t.d] += 1; /* far behind what had been learnt from */
    const klift_batch rows = rows_of(&t, 0, t.n);
    const origin changed = {.rows = &rows};
    (void)state;
    leave_checkpoint(settings, &(origin){.name = "rings", .options = "rows=13000"});
    assert_refused(settings, &(origin){.name = "rings", .options = "rows=13000,seed=2"}, KLIFT_DATA, "rows are not those");
    assert_refused(settings, &(origin){.name = "rings", .options = "rows=3000"}, KLIFT_DATA, "the data end behind 3000 rows");
    assert_refused(settings, &changed, KLIFT_DATA, "first 13000 rows are not those");
    table_free(&t);
    unlink(folder_at("kept"));
    leave_checkpoint(settings, &(origin){.name = "rings", .options = "rows=13000"});
    assert_refused(settings, &(origin){.name = "rings", .options = "rows=13001"}, KLIFT_DATA, "more than the 13000 rows");
    assert_refused(settings, &(origin){.name = "rings", .options = "rows=13000,dim=3"}, KLIFT_DATA, "3 columns");
}

static uint8_t *read_file(int64_t *size)
{
    struct stat is;
    FILE *file = fopen(folder_at("kept"), "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &is), 0);
    uint8_t *bytes = malloc((size_t)is.st_size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)is.st_size, file), is.st_size);
    fclose(file);
    *size = is.st_size;
    return bytes;
}

/* One byte of the file becomes another, behind right checksums: the first of a version, or of what the learner keeps. */
static void change_file(bool version)
{
    int64_t size, at = 32;
    uint8_t *bytes = read_file(&size);
    while (!version && memcmp(bytes + at, "STAT", 4) != 0)
        assert_true(++at < size - 24);
    bytes[at + 24 + (version ? 8 : 0)] = '7';
    model_bytes_seal(bytes, (size_t)size, false);
    FILE *file = fopen(folder_at("kept"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)size, file), size);
    fclose(file);
    free(bytes);
}

static void another_version_is_named(void **state)
{
    const origin rings = {.name = "rings", .options = "rows=13000"};
    (void)state;
    leave_checkpoint(PAIRS("features", "16"), &rings);
    change_file(true);
    assert_refused(PAIRS("features", "16"), &rings, KLIFT_USAGE, "made by klift 7");
}

static void a_state_that_no_learner_wrote_is_refused_with_the_file(void **state)
{
    static const char *const settings[] = {"features", "16", "learner", "svm", NULL};
    const origin rings = {.name = "rings", .options = "rows=3000"};
    klift_spec *spec = spec_of(settings);
    klift_model *model;
    (void)state;
    for (int at = 4; access(folder_at("kept"), F_OK) != 0; at++)
        assert_int_equal(attempt(spec, &rings, "1", at, &model), KLIFT_CANCELLED);
    change_file(false);
    assert_refused(settings, &rings, KLIFT_MODEL, "another learner's");
    klift_spec_free(spec);
}

static void what_is_there_is_not_written_over(void **state)
{
    klift_spec *spec = spec_of(PAIRS("features", "16"));
    klift_model *model;
    (void)state;
    folder_write(folder_at("kept"), "letters to a friend");
    for (int resume = 0; resume < 2; resume++) {
        klift_run *run = run_of(PAIRS("checkpoint", folder_at("kept"), "resume", resume == 1 ? "true" : "false"));
        klift_data *data = synthetic("rings", "rows=5000");
        assert_int_equal(klift_train(spec, data, run, &model), resume == 1 ? KLIFT_MODEL : KLIFT_USAGE);
        assert_non_null(strstr(klift_error(), resume == 1 ? "not a klift file" : "resume=true"));
        assert_string_equal(folder_text(folder_at("kept")), "letters to a friend");
        klift_data_free(data);
        klift_run_free(run);
    }
    klift_run *run = run_of(PAIRS("checkpoint", folder_path, "resume", "true"));
    klift_data *data = synthetic("rings", "rows=5000");
    assert_int_equal(klift_train(spec, data, run, &model), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "regular file"));
    klift_data_free(data);
    klift_run_free(run);
    klift_spec_free(spec);
}

static void two_runs_do_not_share_a_file(void **state)
{
    klift_spec *spec = spec_of(PAIRS("features", "16"));
    const origin rings = {.name = "rings", .options = "rows=5000"};
    char who[32];
    kl_lock *lock;
    klift_model *model;
    (void)state;
    OK(kl_lock_take(folder_at("kept"), &lock));
    snprintf(who, sizeof who, "process %ld", (long)getpid());
    assert_int_equal(attempt(spec, &rings, "1", NEVER, &model), KLIFT_IO);
    assert_non_null(strstr(klift_error(), who));
    kl_lock_free(lock);
    assert_int_equal(folder_count(false), 0);
    folder_write(folder_at("kept.lock"), "12345"); /* left by a process that was killed: nobody holds it */
    folder_write(folder_at("kept.tmp12345.0"), "half");
    folder_write(folder_at("kept.tmp12345.0.txt"), "somebody's own");
    OK(attempt(spec, &rings, "1", NEVER, &model));
    assert_int_equal(access(folder_at("kept.tmp12345.0"), F_OK), -1);
    assert_int_equal(access(folder_at("kept.tmp12345.0.txt"), F_OK), 0);
    klift_model_free(model);
    klift_spec_free(spec);
}

/* ---- damage ---- */

typedef struct kept_file {
    uint8_t *bytes;
    int64_t size;
    klift_spec *spec;
    const char *const *settings;
} kept_file;

/* What a run does with the bytes: all of it is read, and a model is made of what they say. */
static klift_status use(const kept_file *f, const uint8_t *bytes, int64_t size)
{
    klift_run *run = run_of(PAIRS("threads", "1", "max-memory", "64M"));
    kl_checkpoint c = {.run = run, .version = klift_version()};
    kl_weights weights = {0};
    kl_learner *learner = NULL;
    klift_status status;
    kl_settings_print(f->spec, &c.spec);
    status = kl_checkpoint_get(&c, bytes, size);
    if (status == KLIFT_OK) {
        kl_learn_spec learn = kl_settings_learn(f->spec, (kl_goal)c.found->goal, c.found->rows);
        kl_lift back = kl_lift_for_learner(c.found);
        status = kl_learner_new(f->settings[1], &learn, c.found->map->n_out, run, &learner);
        if (status == KLIFT_OK)
            status = learner->type->load(learner, c.found->prepare.n_in, &c.state);
        if (status == KLIFT_OK)
            status = learner->type->finish(learner, &back, run, &weights);
    }
    kl_weights_clear(&weights);
    kl_learner_free(learner);
    kl_checkpoint_close(&c);
    klift_run_free(run);
    return status;
}

static kept_file make_file(const char *const *settings)
{
    kept_file f = {.settings = settings, .spec = spec_of(settings)};
    leave_checkpoint(settings, &(origin){.name = "spirals", .options = "rows=5000"});
    f.bytes = read_file(&f.size);
    OK(use(&f, f.bytes, f.size));
    return f;
}

static void damage_is_refused(void **state)
{
    static const char *const ridge[] = {"learner", "ridge", "features", "4", "search", "holdout", NULL}, *const sgd[] = {"learner", "sgd", "features", "4", NULL};
    static const char *const *const settings[] = {ridge, sgd};
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        kept_file f = make_file(settings[kind]);
        int refused = 0, behind = quick() ? 1500 : 20000;
        for (int64_t cut = 0; cut < f.size; cut += quick() ? 97 : 1)
            assert_int_equal(use(&f, f.bytes, cut), KLIFT_MODEL);
        for (int64_t at = 0; at < f.size; at += quick() ? 89 : 1) {
            f.bytes[at] ^= (uint8_t)(1 << at % 8);
            assert_int_not_equal(use(&f, f.bytes, f.size), KLIFT_OK);
            f.bytes[at] ^= (uint8_t)(1 << at % 8);
        }
        for (int i = 0; i < behind; i++) { /* behind right checksums: refused, or a model, but no crash */
            uint64_t draw = syn_mix((uint64_t)i), at = 32 + draw % (uint64_t)(i % 2 == 0 && f.size > 3000 ? 2968 : f.size - 40);
            uint8_t *changed = malloc((size_t)f.size);
            assert_non_null(changed);
            memcpy(changed, f.bytes, (size_t)f.size);
            changed[at] = (uint8_t)(draw >> 32);
            model_bytes_seal(changed, (size_t)f.size, false);
            refused += use(&f, changed, f.size) != KLIFT_OK;
            free(changed);
        }
        assert_true(refused > behind / 10);
        OK(use(&f, f.bytes, f.size));
        free(f.bytes);
        klift_spec_free(f.spec);
        folder_empty(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(ridge_goes_on_to_the_same_model, folder_empty),
        cmocka_unit_test_teardown(sgd_goes_on_to_the_same_model, folder_empty),
        cmocka_unit_test_teardown(learners_with_passes_go_on_to_the_same_model, folder_empty),
        cmocka_unit_test_teardown(kept_rows_and_late_classes_are_all_there, folder_empty),
        cmocka_unit_test_teardown(a_table_is_read_again_as_it_was, folder_empty),
        cmocka_unit_test_teardown(a_stop_within_a_block_waits_for_its_end, folder_empty),
        cmocka_unit_test_teardown(other_settings_are_named, folder_empty),
        cmocka_unit_test_teardown(other_data_are_named, folder_empty),
        cmocka_unit_test_teardown(another_version_is_named, folder_empty),
        cmocka_unit_test_teardown(a_state_that_no_learner_wrote_is_refused_with_the_file, folder_empty),
        cmocka_unit_test_teardown(what_is_there_is_not_written_over, folder_empty),
        cmocka_unit_test_teardown(two_runs_do_not_share_a_file, folder_empty),
        cmocka_unit_test_teardown(damage_is_refused, folder_empty),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
