/*
 * test_code_models.c - models with a code: what decoding gives beside one class against the rest, which is known from the class
 * scores (F = S M), and what is refused. KLIFT_DATA, a folder with mnist/, adds the figure of 200 random bits.
 */
#include "coded.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int64_t different(const double *a, const double *b)
{
    int64_t count = 0;
    for (int64_t i = 0; i < CODED_ROWS; i++)
        count += a[i] != b[i];
    return count;
}

static void equidistant_codes_predict_as_one_class_against_the_rest(void **state)
{
    (void)state;
    static double rest[CODED_ROWS], coded[CODED_ROWS];
    for (int64_t k = 2; k <= CODED_MOST; k++)
        for (int kind = KL_CODE_IDENTITY; kind <= KL_CODE_EXHAUSTIVE; kind++) {
            if (kind == KL_CODE_RANDOM || kind == KL_CODE_BALANCED)
                continue;
            klift_model *plain = coded_model(k, "none", NULL, NULL), *model = coded_model(k, coded_names[kind], NULL, "soft");
            coded_predict(plain, KLIFT_CLASS, "2", rest);
            coded_predict(model, KLIFT_CLASS, "2", coded);
            assert_int_equal(different(rest, coded), 0);
            klift_model_free(plain);
            klift_model_free(model);
        }
}

/* F = S M from the scores of one class against the rest, decoded as written. */
static int64_t decoded(const kl_code *code, const double *plain, bool hamming, double *score)
{
    int64_t best = 0;
    double least = INFINITY, f[600];
    for (int64_t j = 0; j < code->bits; j++) {
        f[j] = 0;
        for (int64_t k = 0; k < code->classes; k++)
            f[j] += code->sign[k * code->bits + j] * (plain[k] + 1) / 2;
    }
    for (int64_t k = 0; k < code->classes; k++) {
        double distance = 0;
        score[k] = 0;
        for (int64_t j = 0; j < code->bits; j++) {
            double sign = code->sign[k * code->bits + j], value = hamming ? (f[j] > 0 ? 1 : -1) : f[j];
            distance += hamming ? (value != sign) : (value - sign) * (value - sign);
            score[k] += value * sign / (double)code->bits;
        }
        if (distance < least) { /* ties to the first class */
            least = distance;
            best = k;
        }
    }
    return best;
}

static void every_code_is_decoded_as_defined(void **state)
{
    (void)state;
    static double plain[CODED_ROWS * CODED_MOST], got[CODED_ROWS * CODED_MOST], class[CODED_ROWS], one[CODED_ROWS], both[CODED_MOST], wanted[CODED_MOST];
    for (int64_t k = 2; k <= CODED_MOST; k += 4)
        for (int kind = KL_CODE_IDENTITY; kind <= KL_CODE_EXHAUSTIVE; kind++)
            for (int hamming = 0; hamming < 2; hamming++) {
                klift_model *rest = coded_model(k, "none", NULL, NULL), *model = coded_model(k, coded_names[kind], NULL, hamming ? "hamming" : "soft");
                kl_code code = coded_matrix((kl_code_kind)kind, k, 0, 1);
                int64_t outputs = klift_model_outputs(model);
                coded_predict(rest, KLIFT_SCORES, "1", plain);
                coded_predict(model, KLIFT_SCORES, "2", got);
                coded_predict(model, KLIFT_CLASS, "2", class);
                coded_predict(model, KLIFT_CLASS, "1", one);
                assert_int_equal(different(class, one), 0);
                for (int64_t i = 0; i < CODED_ROWS; i++) {
                    if (k == 2) {
                        both[0] = -plain[i];
                        both[1] = plain[i];
                    } else
                        memcpy(both, plain + i * k, (size_t)k * sizeof *both);
                    assert_int_equal((int64_t)class[i], decoded(&code, both, hamming, wanted));
                    if (k == 2)
                        assert_true(fabs(got[i] - (wanted[1] - wanted[0]) / 2) < 1e-9);
                    for (int64_t c = 0; c < outputs && k > 2; c++)
                        assert_true(fabs(got[i * k + c] - wanted[c]) < 1e-9);
                }
                kl_code_clear(&code);
                klift_model_free(rest);
                klift_model_free(model);
            }
}

static void random_bits_come_close_and_signs_alone_lose(void **state)
{
    (void)state;
    static double rest[CODED_ROWS], coded[CODED_ROWS], signs[CODED_ROWS];
    klift_model *plain = coded_model(8, "none", NULL, NULL);
    coded_predict(plain, KLIFT_CLASS, "1", rest);
    for (int kind = KL_CODE_IDENTITY; kind <= KL_CODE_BALANCED; kind++) {
        klift_model *model = coded_model(8, coded_names[kind], kind == KL_CODE_IDENTITY ? NULL : "200", "soft"), *hard = coded_model(8, coded_names[kind], kind == KL_CODE_IDENTITY ? NULL : "200", "hamming");
        coded_predict(model, KLIFT_CLASS, "1", coded);
        coded_predict(hard, KLIFT_CLASS, "1", signs);
        print_message("%s: %lld of %d rows differ by soft decoding, %lld by hamming\n", coded_names[kind], (long long)different(rest, coded), CODED_ROWS, (long long)different(rest, signs));
        assert_true(different(rest, coded) <= CODED_ROWS / 10);
        assert_true(different(rest, signs) > different(rest, coded));
        if (kind == KL_CODE_IDENTITY) /* no class with a positive score, or two: the first one is taken */
            assert_true(different(rest, signs) > CODED_ROWS / 10);
        klift_model_free(model);
        klift_model_free(hard);
    }
    klift_model_free(plain);
}

static void settings_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        coded_settings settings;
        int64_t classes;
        klift_status status;
        const char *says;
    } cases[] = {
        {{"random", NULL, NULL, "svm", NULL}, 4, KLIFT_USAGE, "learner svm learns no codes"},
        {{"random", NULL, NULL, NULL, "regress"}, 4, KLIFT_USAGE, "is for classes"},
        {{"none", "200", NULL, NULL, NULL}, 4, KLIFT_USAGE, "bits=200 without a code"},
        {{"none", NULL, "hamming", NULL, NULL}, 4, KLIFT_USAGE, "decode=hamming without a code"},
        {{"random", "2", NULL, NULL, NULL}, 5, KLIFT_USAGE, "at least 3"},
        {{"exhaustive", NULL, NULL, NULL, NULL}, 11, KLIFT_USAGE, "at most 10 classes"},
        {{"hadamard", NULL, NULL, NULL, NULL}, 1, KLIFT_DATA, "at least two classes"},
    };
    static double label[CODED_ROWS];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        klift_model *model;
        syn_rows_float(CODED_ROWS, CODED_COLUMNS, coded_x);
        for (int64_t r = 0; r < CODED_ROWS; r++)
            label[r] = (double)(r % cases[i].classes);
        klift_batch rows = dense_batch(CODED_ROWS, CODED_COLUMNS, coded_x);
        rows.target = label;
        rows.targets = 1;
        assert_int_equal(coded_train(&cases[i].settings, &rows, &model), cases[i].status);
        assert_null(model);
        assert_non_null(strstr(klift_error(), cases[i].says));
    }
    klift_spec *spec;
    OK(klift_spec_new(&spec));
    assert_int_equal(klift_spec_set(spec, "code", "hamming"), KLIFT_USAGE);
    assert_int_equal(klift_spec_set(spec, "bits", "0"), KLIFT_USAGE);
    assert_int_equal(klift_spec_set(spec, "decode", "hard"), KLIFT_USAGE);
    klift_spec_free(spec);
}

/* ---- MNIST ---- */

static double mnist_error(const char *folder, const klift_batch *rows, const char *code, const char *decode)
{
    char path[4096], options[4200], *json;
    klift_spec *spec = spec_of(PAIRS("prepare", "maxnorm", "features", "2048", "lambda", "1e-6", "code", code, "bits", strcmp(code, "random") == 0 ? "200" : "auto", "decode", decode));
    klift_data *held;
    klift_model *model;
    int64_t needed, room = 1 << 16;
    OK(train_rows(spec, rows, NULL, &model));
    snprintf(path, sizeof path, "%s/mnist/t10k-images-idx3-ubyte", folder);
    snprintf(options, sizeof options, "labels=\"%s/mnist/t10k-labels-idx1-ubyte\"", folder);
    OK(klift_data_open(path, options, &held));
    json = malloc((size_t)room);
    assert_non_null(json);
    OK(klift_model_test(model, held, NULL, json, room, &needed));
    const char *at = strstr(json, "\"error\":");
    assert_non_null(at);
    double error = 100 * strtod(at + 8, NULL);
    print_message("MNIST, %lld rows, 2048 features, code %s, %s: %.2f %%\n", (long long)rows->rows, code, decode, error);
    free(json);
    klift_model_free(model);
    klift_data_free(held);
    klift_spec_free(spec);
    return error;
}

static void random_bits_are_within_two_tenths_of_a_point_on_mnist(void **state)
{
    (void)state;
    const char *folder = getenv("KLIFT_DATA");
    char path[4096], options[4200];
    klift_data *data;
    klift_batch rows;
    if (folder == NULL || folder[0] == '\0') {
        print_message("skipped: MNIST (set KLIFT_DATA to a folder with mnist/)\n");
        return;
    }
    snprintf(path, sizeof path, "%s/mnist/train-images-idx3-ubyte", folder);
    snprintf(options, sizeof options, "labels=\"%s/mnist/train-labels-idx1-ubyte\"", folder);
    OK(klift_data_open(path, options, &data));
    OK(klift_data_next(data, quick() ? 10000 : 60000, &rows));
    double rest = mnist_error(folder, &rows, "none", "soft"), soft = mnist_error(folder, &rows, "random", "soft");
    assert_true(fabs(soft - rest) <= 0.2);
    if (!quick()) {
        assert_true(mnist_error(folder, &rows, "hadamard", "soft") == rest);
        assert_true(mnist_error(folder, &rows, "hadamard", "hamming") > rest + 0.2); /* published: margins are thrown away */
    }
    klift_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equidistant_codes_predict_as_one_class_against_the_rest),
        cmocka_unit_test(every_code_is_decoded_as_defined),
        cmocka_unit_test(random_bits_come_close_and_signs_alone_lose),
        cmocka_unit_test(settings_that_do_not_fit_are_refused),
        cmocka_unit_test(random_bits_are_within_two_tenths_of_a_point_on_mnist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
