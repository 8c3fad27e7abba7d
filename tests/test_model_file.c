/*
 * test_model_file.c - a model file is the one that was written, or it is refused: cut, flipped, with wrong counts behind
 * right checksums, foreign or from the future. Damage that no checksum can see still predicts finite values.
 */
#include "model/model.h"
#include "model_bytes.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

enum { ROWS = 60, COLUMNS = 3, VERSION_AT = 8, OLDEST_AT = 12 };

typedef struct file {
    uint8_t *bytes;
    int64_t size;
} file;

/* A small trained model; the map by name, three classes when labels are asked for, else a regression. */
static file make_model(const char *map, const char *prepare, bool classes)
{
    static const char *const names[] = {"left", "middle", "right"};
    float x[ROWS * COLUMNS];
    double y[ROWS];
    const char *label[ROWS];
    klift_model *model;
    file f;
    syn_rows_float(ROWS, COLUMNS, x);
    for (int i = 0; i < ROWS; i++) {
        y[i] = sin((double)i);
        label[i] = names[i % 3];
    }
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    if (classes)
        rows.label = label;
    else {
        rows.target = y;
        rows.targets = 1;
    }
    klift_spec *spec = spec_of(PAIRS("map", map, "prepare", prepare, "features", "4", "lambda", "0.01", "task", classes ? "classify" : "regress"));
    OK(train_rows(spec, &rows, NULL, &model));
    f.bytes = bytes_of(model, &f.size);
    klift_model_free(model);
    klift_spec_free(spec);
    return f;
}

static file copy_of(const file *f, int64_t size)
{
    file copy = {malloc((size_t)size + (size == 0)), size}; /* its exact size: the sanitizers see one byte too far */
    assert_non_null(copy.bytes);
    memcpy(copy.bytes, f->bytes, (size_t)(size < f->size ? size : f->size));
    return copy;
}

static void assert_refused(const file *f)
{
    klift_model *model;
    assert_int_equal(klift_model_parse(f->bytes, f->size, &model), KLIFT_MODEL);
    assert_null(model);
    assert_true(klift_error()[0] != '\0');
}

static void a_model_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    file f = make_model("fourier", "standardise", true);
    for (int64_t size = 0; size < f.size; size++) {
        file cut = copy_of(&f, size);
        assert_refused(&cut);
        free(cut.bytes);
    }
    free(f.bytes);
}

static void a_model_with_one_byte_more_is_refused(void **state)
{
    (void)state;
    file f = make_model("fourier", "none", true), longer = copy_of(&f, f.size + 1);
    longer.bytes[f.size] = 0;
    assert_refused(&longer);
    free(longer.bytes);
    free(f.bytes);
}

static void a_model_with_any_bit_flipped_is_refused(void **state)
{
    (void)state;
    file f = make_model("fourier", "unit-keep-norm", false);
    for (int64_t bit = 0; bit < 8 * f.size; bit++) {
        f.bytes[bit / 8] = (uint8_t)(f.bytes[bit / 8] ^ 1 << bit % 8);
        assert_refused(&f);
        f.bytes[bit / 8] = (uint8_t)(f.bytes[bit / 8] ^ 1 << bit % 8);
    }
    klift_model *model;
    OK(klift_model_parse(f.bytes, f.size, &model));
    klift_model_free(model);
    free(f.bytes);
}

/* Parses and, when it is taken for a model, predicts: all values finite, or a refusal. Seconds of CPU that parsing took. */
static double try_model(const file *f, klift_run *run)
{
    static const float x[2 * COLUMNS] = {0.5f, -1, 2, 1e3f, 0, -1e-3f};
    double scores[64] = {0};
    struct timespec from, to;
    klift_model *model;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    klift_status status = kl_model_read(f->bytes, f->size, run, &model);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    if (status == KLIFT_OK && klift_model_outputs(model) <= 32) {
        klift_batch rows = dense_batch(2, COLUMNS, x);
        if (klift_model_predict(model, &rows, KLIFT_SCORES, scores, run) == KLIFT_OK)
            for (int64_t i = 0; i < 2 * klift_model_outputs(model); i++)
                assert_true(isfinite(scores[i]));
        klift_model_free(model);
    } else
        assert_true(status == KLIFT_OK || (status == KLIFT_MODEL && model == NULL));
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static long peak_kilobytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static const double QUICK = 0.01; /* seconds of a refusal */

/* Every 4 and 8 bytes of the file, whatever they mean, become each of the values that counts go wrong at. */
static void check_fields(const char *map, const char *prepare, bool classes)
{
    static const uint64_t values[] = {0, 1, INT32_MAX, UINT64_C(1) << 31, UINT32_MAX, UINT64_C(1) << 63, UINT64_MAX};
    file f = make_model(map, prepare, classes);
    double slowest = 0;
    long before = peak_kilobytes();
    for (int64_t at = 0; at + 8 <= f.size; at++)
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
            for (int width = 4; width <= 8; width += 4) {
                file changed = copy_of(&f, f.size);
                for (int i = 0; i < width; i++)
                    changed.bytes[at + i] = (uint8_t)(values[v] >> (8 * i));
                model_bytes_seal(changed.bytes, (size_t)changed.size, false);
                double took = try_model(&changed, NULL);
                for (int again = 0; again < 4 && took >= QUICK; again++) /* the machine may have been busy */
                    took = fmin(took, try_model(&changed, NULL));
                slowest = fmax(slowest, took);
                free(changed.bytes);
            }
    long grown = peak_kilobytes() - before;
    print_message("%s: slowest refusal %.3f ms, %ld kB more\n", map, 1e3 * slowest, grown);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(slowest < QUICK);
    assert_true(grown < 10000);
#endif
    free(f.bytes);
}

static void wrong_lengths_and_counts_are_refused_quickly_and_in_little_memory(void **state)
{
    (void)state;
    check_fields("fourier:form=phase", "standardise", true);
    check_fields("orthogonal", "none", false);
    check_fields("fastfood", "unit-keep-norm", true);
}

static void any_damage_behind_right_checksums_is_refused_or_predicts_finite_values(void **state)
{
    (void)state;
    static const char *const maps[] = {"fourier", "orthogonal:directions=hadamard", "fastfood", "fourier:form=phase"};
    static const char *const prepares[] = {"minmax", "none", "meannorm", "standardise"};
    int64_t count = quick() ? 10000 : 100000;
    klift_run *run = run_of(PAIRS("threads", "1", "max-memory", "1M")); /* a map of a gigabyte is no damage, but takes its time */
    for (int kind = 0; kind < 4; kind++) {
        file f = make_model(maps[kind], prepares[kind], kind % 2 == 0);
        for (int64_t i = 0; i < count / 4; i++) {
            file changed = copy_of(&f, f.size);
            uint64_t random = syn_mix((uint64_t)(4 * i + kind));
            for (uint64_t k = 0; k <= random % 4; k++) {
                uint64_t draw = syn_mix(random + k + 1), at = draw % (uint64_t)f.size;
                uint64_t flipped = changed.bytes[at] ^ UINT64_C(1) << (draw >> 40) % 8;
                changed.bytes[at] = (uint8_t)(draw >> 61 < 4 ? draw >> 40 : flipped);
            }
            model_bytes_seal(changed.bytes, (size_t)changed.size, i % 8 != 0);
            try_model(&changed, run);
            free(changed.bytes);
        }
        free(f.bytes);
    }
    klift_run_free(run);
}

/* A file without weights that asks for a map of these sizes, all of them agreeing. */
static file map_file(const char *map, int64_t features, int64_t columns)
{
    kl_record_writer to;
    kl_record_begin(&to, KL_RECORD_MODEL);
    kl_record_open(&to, KL_TAG('L', 'I', 'F', 'T'), true);
    kl_record_put_i64(&to, 1);
    kl_record_put_i64(&to, -1);
    kl_record_put_u32(&to, KL_NONE);
    kl_record_put_i64(&to, columns);
    kl_record_put_u32(&to, 0);
    kl_record_put_f64(&to, 1);
    kl_record_put_text(&to, "gaussian:gamma=1");
    kl_record_put_text(&to, map);
    kl_record_put_u32(&to, 1); /* the version of the random numbers */
    kl_record_put_i64(&to, 1);
    kl_record_put_u32(&to, 0);
    kl_record_put_i64(&to, features);
    kl_record_put_i64(&to, columns);
    kl_record_put_i64(&to, features);
    kl_record_close(&to);
    OK(kl_record_finish(&to));
    file f = {to.bytes, to.length};
    return f;
}

static void a_map_too_large_to_draw_again_is_refused_before_it_is_drawn(void **state)
{
    (void)state;
    static const char *const maps[] = {"fourier", "fourier:form=phase", "orthogonal", "orthogonal:directions=dense", "fastfood"};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        file f = map_file(maps[i], 1 << 24, INT32_MAX), small = map_file(maps[i], 8, 4);
        klift_model *model;
        klift_run *run = run_of(PAIRS("max-memory", "1G"));
        assert_int_equal(kl_model_read(f.bytes, f.size, run, &model), KLIFT_MODEL);
        assert_non_null(strstr(klift_error(), "MB, the limit is 1074 MB"));
        assert_null(model);
        OK(klift_model_parse(small.bytes, small.size, &model)); /* the file itself is right */
        klift_model_free(model);
        klift_run_free(run);
        free(f.bytes);
        free(small.bytes);
    }
}

static void a_map_too_large_to_fit_is_refused_before_it_is_drawn(void **state)
{
    (void)state;
    klift_spec *spec = spec_of(PAIRS("map", "fourier", "kernel", "gaussian:gamma=1", "dim", "1000000", "features", "65536"));
    klift_run *run = run_of(PAIRS("max-memory", "1G"));
    klift_map *map;
    assert_int_equal(klift_map_fit(spec, NULL, run, &map), KLIFT_MEMORY);
    assert_non_null(strstr(klift_error(), "the limit is 1074 MB"));
    klift_run_free(run);
    klift_spec_free(spec);
}

static void a_file_from_the_future_names_both_versions(void **state)
{
    (void)state;
    file f = make_model("fourier", "none", true);
    klift_model *model;
    f.bytes[VERSION_AT] = 7;
    model_bytes_seal(f.bytes, (size_t)f.size, false);
    OK(klift_model_parse(f.bytes, f.size, &model)); /* a newer writer that older readers understand */
    klift_model_free(model);
    f.bytes[OLDEST_AT] = 6;
    model_bytes_seal(f.bytes, (size_t)f.size, false);
    assert_refused(&f);
    assert_non_null(strstr(klift_error(), "format 7"));
    assert_non_null(strstr(klift_error(), "up to 1"));
    free(f.bytes);
}

static void a_file_of_another_kind_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *name;
        int64_t size;
    } others[] = {{"<!DOCTYPE html><html>", "HTML", 21}, {"\x80\x04\x95\x10\0\0\0\0\0\0\0", "pickle", 11}, {"svm_type c_svc\nkernel_type rbf\n", "LIBSVM", 31},
                  {"solver_type L2R_LR\nnr_class 2\n", "LIBLINEAR", 30}, {"\x08\x07\x12\x07pytorch", "ONNX", 11}, {"\x93NUMPY\x01\0v\0{'descr'", "NumPy", 18},
                  {"\x1f\x8b\x08\0\0\0\0\0\0\3", "gzip", 10}, {"PK\3\4\x14\0\0\0", "zip", 8}, {"\x28\xb5\x2f\xfd\4\0\0", "zstd", 7},
                  {"{\"model\": 1}", "JSON", 12}, {"", "empty", 0}, {"1 1:0.5\n", "something else", 8}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const char *path = temp_path("other");
        FILE *out = fopen(path, "wb");
        klift_model *model;
        assert_non_null(out);
        assert_int_equal(fwrite(others[i].bytes, 1, (size_t)others[i].size, out), others[i].size);
        fclose(out);
        assert_int_equal(klift_model_load(path, &model), KLIFT_MODEL);
        assert_non_null(strstr(klift_error(), others[i].name));
        assert_non_null(strstr(klift_error(), path));
    }
}

static void a_directory_is_no_model_and_neither_is_nothing(void **state)
{
    (void)state;
    klift_model *model;
    assert_int_equal(klift_model_load("/tmp", &model), KLIFT_IO);
    assert_non_null(strstr(klift_error(), "directory"));
    assert_int_equal(klift_model_load(temp_path("nothing"), &model), KLIFT_IO);
    assert_null(model);
}

/* Files of released versions are read for ever. */
static void golden_models_predict_what_they_did(void **state)
{
    (void)state;
    klift_model *model;
    klift_data *data;
    klift_batch batch;
    double score[3], wanted;
    int64_t rows = 0;
    FILE *expected = fopen("tests/golden/v1.predictions", "r");
    assert_non_null(expected);
    OK(klift_model_load("tests/golden/v1.klift", &model));
    OK(klift_data_open("tests/golden/v1.svm", "dim=3", &data));
    for (;;) {
        OK(klift_data_next(data, 1, &batch));
        if (batch.rows == 0)
            break;
        OK(klift_model_predict(model, &batch, KLIFT_SCORES, score, NULL));
        for (int64_t o = 0; o < klift_model_outputs(model); o++) {
            assert_int_equal(fscanf(expected, "%lf", &wanted), 1);
            assert_true(fabs(score[o] - wanted) < 1e-5);
        }
        rows++;
    }
    assert_int_equal(rows, 20);
    assert_int_equal(fscanf(expected, "%lf", &wanted), EOF);
    fclose(expected);
    klift_data_free(data);
    klift_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_model_with_one_byte_more_is_refused),
        cmocka_unit_test(a_model_with_any_bit_flipped_is_refused),
        cmocka_unit_test(wrong_lengths_and_counts_are_refused_quickly_and_in_little_memory),
        cmocka_unit_test(any_damage_behind_right_checksums_is_refused_or_predicts_finite_values),
        cmocka_unit_test(a_map_too_large_to_draw_again_is_refused_before_it_is_drawn),
        cmocka_unit_test(a_map_too_large_to_fit_is_refused_before_it_is_drawn),
        cmocka_unit_test(a_file_from_the_future_names_both_versions),
        cmocka_unit_test(a_file_of_another_kind_is_named),
        cmocka_unit_test(a_directory_is_no_model_and_neither_is_nothing),
        cmocka_unit_test(golden_models_predict_what_they_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
