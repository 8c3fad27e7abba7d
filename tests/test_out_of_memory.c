/*
 * test_out_of_memory.c - every allocation of train, save, load, predict and test, and of reading each format and writing
 * its rows, fails once, alone and with all that follow it: the status is KLIFT_MEMORY, nothing leaks (the sanitizer build
 * tells), and the file is the old one or the new one.
 */
#define KLIFT_TEST_MEMORY
#include "base/memory.h"
#include "pack.h"
#include "support.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 40, COLUMNS = 3, MOST_BYTES = 1 << 14 };

typedef struct job {
    const char *name;
    klift_status (*work)(const struct job *job);
    const char *const *settings; /* pairs, ended by NULL */
    const char *path, *second;   /* of the data, or NULL: the arrays; and of the other part of a chain */
    const char *options, *save;  /* of reading and writing */
    bool sparse, regress, probability;
    const char *threads;
} job;

static char folder[] = "/dev/shm/klift-oom-XXXXXX"; /* in memory: thousands of saves, each synced */
static char old_path[64], model_file[64], new_file[64];
static const char *model_path;
static float x[ROWS * COLUMNS];
static double y[ROWS];
static csr entries;

static klift_status open_data(const job *j, klift_data **data)
{
    klift_data *part[2];
    if (j->path != NULL && j->second == NULL)
        return klift_data_open(j->path, j->options, data);
    if (j->path != NULL) {
        *data = NULL;
        KL_TRY(klift_data_open(j->path, j->options, &part[0]));
        klift_status status = klift_data_open(j->second, j->options, &part[1]);
        if (status == KLIFT_OK)
            return klift_data_chain(part, 2, data);
        klift_data_free(part[0]);
        return status;
    }
    klift_batch rows = j->sparse ? csr_batch(ROWS, COLUMNS, &entries) : dense_batch(ROWS, COLUMNS, x);
    rows.target = y;
    rows.targets = 1;
    return klift_data_view(&rows, data);
}

/* All of it, stopping at the first failure; what was made is freed whatever happens. */
static klift_status learn(const job *j)
{
    klift_spec *spec = NULL;
    klift_run *run = NULL;
    klift_data *data = NULL;
    klift_model *model = NULL, *loaded = NULL;
    double scores[2 * ROWS];
    char json[2000];
    int64_t needed;
    klift_status status;
    KL_GO(klift_spec_new(&spec));
    for (const char *const *s = j->settings; *s != NULL; s += 2)
        KL_GO(klift_spec_set(spec, s[0], s[1]));
    KL_GO(klift_run_new(&run));
    KL_GO(klift_run_set(run, "threads", j->threads));
    KL_GO(open_data(j, &data));
    KL_GO(klift_train(spec, data, run, &model));
    KL_GO(klift_model_save(model, model_path));
    KL_GO(klift_model_load(model_path, &loaded));
    if (j->path == NULL) {
        klift_batch rows = j->sparse ? csr_batch(ROWS, COLUMNS, &entries) : dense_batch(ROWS, COLUMNS, x);
        KL_GO(klift_model_predict(loaded, &rows, j->regress ? KLIFT_SCORES : KLIFT_CLASS, scores, run));
        if (j->probability)
            KL_GO(klift_model_predict(loaded, &rows, KLIFT_PROBABILITY, scores, run));
    }
    klift_data_free(data);
    KL_GO(open_data(j, &data));
    KL_GO(klift_model_test(loaded, data, run, json, sizeof json, &needed));
    KL_GO(klift_model_describe(loaded, json, sizeof json, &needed));
    KL_GO(klift_data_rewind(data));
    KL_GO(klift_data_describe(data, run, json, sizeof json, &needed));
done:
    klift_model_free(model);
    klift_model_free(loaded);
    klift_data_free(data);
    klift_run_free(run);
    klift_spec_free(spec);
    return status;
}

static int stop_behind_rows(const klift_event *event, void *user)
{
    (void)user;
    return strcmp(event->stage, "statistics") == 0 || strcmp(event->stage, "rows") == 0 || strcmp(event->stage, "passes") == 0;
}

/* Stopped behind the rows, and gone on from there in a second run. */
static klift_status keep(const job *j)
{
    klift_spec *spec = NULL;
    klift_run *run = NULL;
    klift_data *data = NULL;
    klift_model *model = NULL;
    char path[80];
    klift_status status;
    snprintf(path, sizeof path, "%s/kept", folder);
    KL_GO(klift_spec_new(&spec));
    for (const char *const *s = j->settings; *s != NULL; s += 2)
        KL_GO(klift_spec_set(spec, s[0], s[1]));
    for (int part = 0; part < 2; part++) {
        KL_GO(klift_run_new(&run));
        KL_GO(klift_run_set(run, "threads", j->threads));
        KL_GO(klift_run_set(run, "checkpoint", path));
        KL_GO(klift_run_set(run, "resume", "true"));
        if (part == 0)
            klift_run_on_event(run, stop_behind_rows, NULL);
        KL_GO(open_data(j, &data));
        status = klift_train(spec, data, run, &model);
        if (status != (part == 0 ? KLIFT_CANCELLED : KLIFT_OK))
            goto done;
        klift_data_free(data);
        klift_run_free(run);
        data = NULL;
        run = NULL;
    }
    status = klift_model_save(model, model_path);
done:
    remove(path);
    klift_model_free(model);
    klift_data_free(data);
    klift_run_free(run);
    klift_spec_free(spec);
    return status;
}

/* All rows twice, then into the file that stands for the model. */
static klift_status copy(const job *j)
{
    klift_data *data = NULL;
    char json[2000];
    int64_t needed;
    klift_status status;
    KL_GO(open_data(j, &data));
    KL_GO(klift_data_describe(data, NULL, json, sizeof json, &needed));
    KL_GO(klift_data_rewind(data));
    KL_GO(klift_data_save(data, model_path, j->save, NULL));
done:
    klift_data_free(data);
    return status;
}

static size_t read_bytes(const char *path, char *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, MOST_BYTES, file);
    fclose(file);
    return size;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool same_file(const char *a, const char *b)
{
    static char one[MOST_BYTES], two[MOST_BYTES];
    size_t size = read_bytes(a, one);
    return size == read_bytes(b, two) && memcmp(one, two, size) == 0;
}

/* Files beside the model that are no one's. */
static void assert_no_temporary(void)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        assert_null(strstr(entry->d_name, ".tmp"));
    closedir(dir);
}

static void check_job(const job *j)
{
    model_path = new_file;
    kl_memory_fail_at(0, false);
    klift_status status = j->work(j);
    if (status != KLIFT_OK)
        print_message("%s: %s\n", j->name, klift_error());
    assert_int_equal(status, KLIFT_OK);
    int64_t count = kl_memory_count();
    model_path = model_file;
    for (int onwards = 0; onwards < 2; onwards++)
        for (int64_t n = 1; n <= count + 1; n += quick() && n > 50 && count > 200 ? 7 : 1) {
            write_text(model_path, "the old model");
            kl_memory_fail_at(n, onwards == 1);
            status = j->work(j);
            int64_t made = kl_memory_count();
            kl_memory_fail_at(0, false);
            if (made < n || (status == KLIFT_OK && j->threads != NULL && atoi(j->threads) > 1)) { /* a pool makes do with a thread less */
                assert_int_equal(status, KLIFT_OK);
                assert_true(same_file(model_path, new_file));
                continue;
            }
            if (status != KLIFT_MEMORY)
                print_message("%s: allocation %lld of %lld%s: status %d, %s\n", j->name, (long long)n, (long long)count, onwards ? " and all behind it" : "", status,
                              klift_error());
            assert_int_equal(status, KLIFT_MEMORY);
            assert_true(strstr(klift_error(), "memory") != NULL);
            assert_true(same_file(model_path, old_path) || same_file(model_path, new_file));
            assert_no_temporary();
        }
    print_message("%s: %lld allocations\n", j->name, (long long)count);
}

static int make_inputs(void **state)
{
    (void)state;
    syn_rows_float(ROWS, COLUMNS, x);
    for (int i = 0; i < ROWS; i++)
        y[i] = x[i * COLUMNS] > 0;
    entries = csr_of(ROWS, COLUMNS, x);
    if (mkdtemp(folder) == NULL) {
        snprintf(folder, sizeof folder, "/tmp/klift-oom-XXXXXX");
        assert_non_null(mkdtemp(folder));
    }
    snprintf(old_path, sizeof old_path, "%s/old.klift", folder);
    snprintf(model_file, sizeof model_file, "%s/model.klift", folder);
    snprintf(new_file, sizeof new_file, "%s/new.klift", folder);
    write_text(old_path, "the old model");
    FILE *svm = fopen(temp_path("rows.svm"), "wb"), *csv = fopen(temp_path("rows.csv"), "wb"), *gaps = fopen(temp_path("gaps.csv"), "wb");
    assert_true(svm != NULL && csv != NULL && gaps != NULL);
    fprintf(csv, "colour,size,class\n");
    fprintf(gaps, "size,class,colour\n");
    for (int i = 0; i < ROWS; i++) {
        fprintf(svm, "%s 1:%g 3:%g\n", i % 3 == 0 ? "low" : i % 3 == 1 ? "middle" : "high", (double)x[i * COLUMNS], (double)x[i * COLUMNS + 1]);
        fprintf(csv, "%s,%g,%s\n", i % 4 == 0 ? "red" : "blue", (double)x[i * COLUMNS], i % 2 == 0 ? "yes" : "no");
        fprintf(gaps, "%s,%s,%s\n", i % 3 == 0 ? "" : "0.5", i % 2 == 0 ? "yes" : "no", i % 4 == 0 ? "\"red\"" : "green");
    }
    fclose(svm);
    fclose(csv);
    fclose(gaps);
    return 0;
}

static int free_inputs(void **state)
{
    (void)state;
    csr_free(&entries);
    remove(old_path);
    remove(model_file);
    remove(new_file);
    return rmdir(folder); /* fails when something else was left in it */
}

static void dense_rows_classified_with_folds(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "8", "folds", "2", "map", "fourier", NULL};
    check_job(&(job){.name = "dense, classes, folds", .work = learn, .settings = settings, .threads = "1"});
}

static void classes_with_a_code(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "8", "lambda", "0.1", "map", "fourier", "code", "random", "bits", "5", NULL};
    check_job(&(job){.name = "dense, classes, a code", .work = learn, .settings = settings, .threads = "1"});
}

static void classes_with_probabilities(void **state)
{
    (void)state;
    static const char *const ridge[] = {"features", "8", "lambda", "0.1", "map", "fourier", "folds", "2", "probability", "true", NULL};
    static const char *const svm[] = {"features", "8", "lambda", "0.1", "map", "fourier", "folds", "2", "probability", "true", "learner", "svm", NULL};
    check_job(&(job){.name = "dense, probabilities of ridge", .work = learn, .settings = ridge, .probability = true, .threads = "1"});
    check_job(&(job){.name = "dense, probabilities of svm", .work = learn, .settings = svm, .probability = true, .threads = "1"});
}

static void learners_that_go_down(void)
{
    static const char *const learner[] = {"logistic:passes=5", "sgd", "sgd:passes=2", "doubly-stochastic", "doubly-stochastic:step=1,rows=8"};
    for (size_t k = 0; k < sizeof learner / sizeof learner[0]; k++) {
        const char *const settings[] = {"features", "8", "map", "fourier", "learner", learner[k], "class-weight", "balanced", NULL};
        check_job(&(job){.name = learner[k], .work = learn, .settings = settings, .threads = "1"});
    }
    static const char *const held[] = {"features", "8", "map", "fourier", "learner", "sgd:passes=3", "holdout", "0.3", "early-stop", "1", NULL};
    check_job(&(job){.name = "sgd, rows held out", .work = learn, .settings = held, .threads = "1"});
}

static void learners_that_go_down_and_on(void **state)
{
    klift_model *model;
    char start[300];
    (void)state;
    learners_that_go_down();
    snprintf(start, sizeof start, "%s", temp_path("start.klift"));
    assert_int_equal(klift_model_load(new_file, &model), KLIFT_OK);
    assert_int_equal(klift_model_save(model, start), KLIFT_OK);
    klift_model_free(model);
    const char *const settings[] = {"learner", "sgd", "kernel", "gaussian", "map", "fourier", "warm-start", start, NULL};
    check_job(&(job){.name = "sgd from a model", .work = learn, .settings = settings, .threads = "1"});
    remove(start);
}

static void trainings_that_are_kept(void **state)
{
    static const char *const learner[] = {"ridge", "sgd"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *const settings[] = {"features", "8", "map", "fourier", "learner", learner[k], "class-weight", "balanced", "search", k == 0 ? "holdout" : "auto", NULL};
        check_job(&(job){.name = k == 0 ? "kept, ridge" : "kept, sgd", .work = keep, .settings = settings, .sparse = k == 0, .threads = "1"});
    }
}

static void sparse_rows_regressed_by_hand(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "8", "lambda", "0.1", "task", "regress", "map", "orthogonal", "prepare", "standardise", NULL};
    check_job(&(job){.name = "sparse, numbers, lambda given", .work = learn, .settings = settings, .sparse = true, .regress = true, .threads = "1"});
}

static void sparse_rows_by_hashed_products(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "8", "lambda", "0.1", "task", "regress", "map", "taylor:degree=3", NULL};
    check_job(&(job){.name = "sparse, hashed products", .work = learn, .settings = settings, .sparse = true, .regress = true, .threads = "1"});
}

static void features_for_several_passes(void **state)
{
    (void)state;
    static const char *const plain[] = {"features", "8", "map", "fourier", "learner", "svm:passes=2", NULL};
    static const char *const half[] = {"features", "8", "map", "fourier", "learner", "svm:passes=2,cache=bf16", NULL};
    static const char *const sparse[] = {"kernel", "poly:degree=5", "map", "monomial:hash=never", "learner", "svm:passes=2", NULL};
    check_job(&(job){.name = "svm", .work = learn, .settings = plain, .threads = "1"});
    check_job(&(job){.name = "svm, bfloat16", .work = learn, .settings = half, .threads = "1"});
    check_job(&(job){.name = "svm, sparse features", .work = learn, .settings = sparse, .sparse = true, .threads = "1"});
}

static void svmlight_text_with_a_searched_kernel(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "4", "folds", "2", "lambda", "0.1", "kernel", "gaussian:gamma=search", "prepare", "unit-keep-norm", "map", "fastfood", NULL};
    check_job(&(job){
        .name = "svmlight, gamma searched", .work = learn, .settings = settings, .path = temp_path("rows.svm"), .options = "label-type=text", .threads = "1"});
}

static void kernels_in_a_kernel(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "8", "lambda", "0.1", "kernel", "compose(exp, chi2)", "prepare", "minmax", "map", "product", NULL};
    static const char *const waves[] = {"features", "8", "lambda", "0.1", "kernel", "compose(exp, laplacian)", NULL};
    static const char *const additive[] = {"features", "8", "lambda", "0.1", "kernel", "jensen-shannon", "prepare", "minmax", NULL};
    check_job(&(job){.name = "dense, products", .work = learn, .settings = settings, .threads = "1"});
    check_job(&(job){.name = "dense, sums of frequencies", .work = learn, .settings = waves, .threads = "1"});
    check_job(&(job){.name = "dense, additive", .work = learn, .settings = additive, .threads = "1"});
}

static void a_table_with_categories(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "8", "search", "holdout", NULL};
    check_job(&(job){.name = "csv, holdout", .work = learn, .settings = settings, .path = temp_path("rows.csv"), .options = "format=csv", .threads = "1"});
}

#ifndef KLIFT_WITHOUT_SPHERICAL
static void waves_on_the_sphere(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "12", "lambda", "0.1", "kernel", "poly:degree=5", "map", "spherical:weight=data,form=phase", "prepare", "unit", NULL};
    check_job(&(job){.name = "dense, spherical", .work = learn, .settings = settings, .threads = "1"});
    static const char *const published[] = {"features", "12", "lambda", "0.1", "kernel", "poly:degree=5", "map", "spherical:fit=gaussians", "prepare", "unit", NULL};
    check_job(&(job){.name = "dense, spherical as published", .work = learn, .settings = published, .threads = "1"});
}
#endif

static void landmarks_of_a_kernel_that_is_not_positive(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "4", "lambda", "0.1", "kernel", "sigmoid:gamma=0.5", "map", "nystrom", "prepare", "unit", NULL};
    check_job(&(job){.name = "dense, sigmoid", .work = learn, .settings = settings, .threads = "1"});
}

static void two_threads(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "8", "search", "gcv", "map", "fourier", NULL};
    check_job(&(job){.name = "dense, two threads", .work = learn, .settings = settings, .threads = "2"});
}

static void a_chain_of_tables(void **state)
{
    (void)state;
    static const char *const settings[] = {"features", "4", "lambda", "0.1", "map", "fourier", NULL};
    check_job(&(job){.name = "csv, two files",
                     .work = learn,
                     .settings = settings,
                     .path = temp_path("rows.csv"),
                     .second = temp_path("gaps.csv"),
                     .options = "missing=zero",
                     .threads = "1"});
}

static void a_table_with_means_for_what_is_missing(void **state)
{
    (void)state;
    check_job(&(job){.name = "csv, means", .work = copy, .path = temp_path("gaps.csv"), .options = "missing=mean,categorical=colour", .save = "format=npy"});
}

/* Enough of it that every thread has a part, in more than one block. */
static void text_read_by_two_threads(void **state)
{
    (void)state;
    FILE *svm = fopen(temp_path("many.svm"), "wb"), *csv = fopen(temp_path("many.csv"), "wb");
    assert_true(svm != NULL && csv != NULL);
    for (int i = 0; i < 6000; i++) {
        fprintf(svm, "%d 1:%g 3:%g 8:0.25\n", i % 2, (double)x[i % ROWS * COLUMNS], (double)x[i % ROWS * COLUMNS + 1]);
        fprintf(csv, "%d,0.5,1.25,%g,%g,2\n", i % 7, (double)x[i % ROWS * COLUMNS], (double)x[i % ROWS * COLUMNS + 1]);
    }
    fclose(svm);
    fclose(csv);
    check_job(&(job){.name = "svmlight, two threads", .work = copy, .path = temp_path("many.svm"), .options = "threads=2,index-base=1", .save = "format=npy", .threads = "2"});
    check_job(&(job){.name = "csv, two threads", .work = copy, .path = temp_path("many.csv"), .options = "threads=2", .save = "format=npy", .threads = "2"});
}

static void a_chain_of_files_in_every_compressed_format(void **state)
{
    (void)state;
    size_t count, packed;
    unsigned char *plain = pack_read(temp_path("rows.svm"), &count);
    assert_non_null(plain);
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        unsigned char *bytes = pack(pack_codecs[c], plain, count, &packed);
        if (bytes == NULL)
            continue;
        char *path = temp_path(pack_codecs[c]);
        pack_write(path, bytes, packed);
        free(bytes);
        check_job(&(job){.name = pack_codecs[c], .work = copy, .path = path, .second = temp_path("rows.svm"), .options = "label-type=text"});
    }
    free(plain);
}

static void arrays_with_names_as_labels(void **state)
{
    (void)state;
    klift_data *data;
    char rows[200], labels[200], options[300], save[300];
    snprintf(rows, sizeof rows, "%s", temp_path("rows.npy"));
    snprintf(labels, sizeof labels, "%s", temp_path("names.npy"));
    snprintf(options, sizeof options, "labels=\"%s\"", labels);
    snprintf(save, sizeof save, "format=npy,labels=\"%s\"", temp_path("copied.npy"));
    assert_int_equal(klift_data_open(temp_path("rows.svm"), "label-type=text", &data), KLIFT_OK);
    assert_int_equal(klift_data_save(data, rows, options, NULL), KLIFT_OK);
    klift_data_free(data);
    check_job(&(job){.name = "npy, names", .work = copy, .path = rows, .options = options, .save = save});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_rows_classified_with_folds),
        cmocka_unit_test(classes_with_a_code),
        cmocka_unit_test(classes_with_probabilities),
        cmocka_unit_test(learners_that_go_down_and_on),
        cmocka_unit_test(trainings_that_are_kept),
        cmocka_unit_test(sparse_rows_regressed_by_hand),
        cmocka_unit_test(sparse_rows_by_hashed_products),
        cmocka_unit_test(features_for_several_passes),
        cmocka_unit_test(svmlight_text_with_a_searched_kernel),
        cmocka_unit_test(kernels_in_a_kernel),
        cmocka_unit_test(a_table_with_categories),
#ifndef KLIFT_WITHOUT_SPHERICAL
        cmocka_unit_test(waves_on_the_sphere),
#endif
        cmocka_unit_test(landmarks_of_a_kernel_that_is_not_positive),
        cmocka_unit_test(two_threads),
        cmocka_unit_test(a_chain_of_tables),
        cmocka_unit_test(a_table_with_means_for_what_is_missing),
        cmocka_unit_test(text_read_by_two_threads),
        cmocka_unit_test(a_chain_of_files_in_every_compressed_format),
        cmocka_unit_test(arrays_with_names_as_labels),
    };
    return cmocka_run_group_tests(tests, make_inputs, free_inputs);
}
