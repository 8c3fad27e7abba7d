/*
 * test_code.c - error-correcting output codes: what every code matrix must have, what decoding it gives beside one class against the
 * rest, which is known from the class scores (F = S M), and the part of the model file it is in. KLIFT_DATA, a folder with mnist/,
 * adds the figure of 200 random bits.
 */
#include "learn/code.h"
#include "model_bytes.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 1200, TRAINED = 600, COLUMNS = 4, MOST = 10 };
static const char *const names[] = {"none", "identity", "random", "balanced", "hadamard", "exhaustive"};

/* ---- matrices ---- */

static kl_code make(kl_code_kind kind, int64_t classes, int64_t bits, uint64_t seed)
{
    kl_code code;
    OK(kl_code_new(kind, classes, bits, seed, &code));
    assert_int_equal(code.classes, classes);
    return code;
}

static int64_t ones_of(const kl_code *code, int64_t bit)
{
    int64_t ones = 0;
    for (int64_t k = 0; k < code->classes; k++) {
        int8_t sign = code->sign[k * code->bits + bit];
        assert_true(sign == 1 || sign == -1);
        ones += sign == 1;
    }
    return ones;
}

static int64_t apart(const kl_code *code, int64_t a, int64_t b)
{
    int64_t count = 0;
    for (int64_t j = 0; j < code->bits; j++)
        count += code->sign[a * code->bits + j] != code->sign[b * code->bits + j];
    return count;
}

static void no_code_has_a_constant_column_or_two_equal_classes(void **state)
{
    (void)state;
    for (int kind = KL_CODE_IDENTITY; kind <= KL_CODE_EXHAUSTIVE; kind++)
        for (int64_t k = 2; k <= (kind == KL_CODE_EXHAUSTIVE ? 10 : quick() ? 20 : 70); k++) {
            kl_code code = make((kl_code_kind)kind, k, 0, 1);
            int64_t least = code.bits;
            for (int64_t j = 0; j < code.bits; j++) {
                int64_t ones = ones_of(&code, j);
                assert_true(ones > 0 && ones < k);
                if (kind == KL_CODE_BALANCED)
                    assert_int_equal(ones, k / 2);
            }
            for (int64_t a = 1; a < k; a++)
                for (int64_t b = 0; b < a; b++)
                    least = apart(&code, a, b) < least ? apart(&code, a, b) : least;
            assert_true(least > 0);
            assert_int_equal(kl_code_distance(&code), least);
            kl_code_clear(&code);
        }
}

static void codes_of_fixed_distance_have_it_between_all_classes(void **state)
{
    (void)state;
    for (int64_t k = 2; k <= 40; k++) {
        int64_t order = 2;
        while (order < k + 1)
            order *= 2;
        for (int kind = KL_CODE_IDENTITY; kind <= KL_CODE_EXHAUSTIVE; kind++) {
            if (kind == KL_CODE_RANDOM || kind == KL_CODE_BALANCED || (kind == KL_CODE_EXHAUSTIVE && k > 10))
                continue;
            kl_code code = make((kl_code_kind)kind, k, 0, 1);
            int64_t distance = kind == KL_CODE_IDENTITY ? 2 : kind == KL_CODE_HADAMARD ? order / 2 : INT64_C(1) << (k - 2);
            for (int64_t a = 1; a < k; a++)
                for (int64_t b = 0; b < a; b++)
                    assert_int_equal(apart(&code, a, b), distance);
            if (kind == KL_CODE_EXHAUSTIVE)
                assert_int_equal(code.bits, (INT64_C(1) << (k - 1)) - 1);
            kl_code_clear(&code);
        }
    }
    kl_code ten = make(KL_CODE_HADAMARD, 10, 15, 1), eight = make(KL_CODE_HADAMARD, 8, 14, 1); /* of eight classes one column is constant */
    kl_code_clear(&ten);
    kl_code_clear(&eight);
}

static void drawn_codes_are_a_function_of_their_arguments_and_far_apart(void **state)
{
    (void)state;
    static const kl_code_kind kinds[] = {KL_CODE_RANDOM, KL_CODE_BALANCED};
    for (int i = 0; i < 2; i++) {
        kl_code a = make(kinds[i], 10, 200, 7), b = make(kinds[i], 10, 200, 7), other = make(kinds[i], 10, 200, 8), few = make(kinds[i], 10, 15, 7);
        int64_t sum = 0;
        assert_memory_equal(a.sign, b.sign, 2000);
        assert_memory_not_equal(a.sign, other.sign, 2000);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            kl_code one = make(kinds[i], 10, 15, seed);
            sum += kl_code_distance(&one);
            kl_code_clear(&one);
        }
        print_message("%s: least distance %lld of 200 bits, %lld of 15, %.2f in the mean\n", names[kinds[i]], (long long)kl_code_distance(&a), (long long)kl_code_distance(&few), (double)sum / 20);
        assert_true(kl_code_distance(&a) >= 90); /* random: 85 in the first draw of this seed */
        assert_true(sum >= 20 * 5);              /* random: 3.15 in the mean of the first draws */
        kl_code_clear(&a);
        kl_code_clear(&b);
        kl_code_clear(&other);
        kl_code_clear(&few);
    }
    kl_code many = make(KL_CODE_RANDOM, 3000, 0, 1), least = make(KL_CODE_RANDOM, 2, 1, 1);
    assert_int_equal(many.bits, 50 * 12);
    kl_code_clear(&many);
    kl_code_clear(&least);
}

static void codes_that_cannot_be_are_refused_with_what_to_do(void **state)
{
    (void)state;
    static const struct {
        kl_code_kind kind;
        int64_t classes, bits;
        klift_status status;
        const char *says;
    } cases[] = {
        {KL_CODE_RANDOM, 1, 0, KLIFT_DATA, "leave code out"},        {KL_CODE_IDENTITY, 0, 0, KLIFT_DATA, "at least two classes"},
        {KL_CODE_RANDOM, 10, 3, KLIFT_USAGE, "at least 4"},          {KL_CODE_BALANCED, 17, 4, KLIFT_USAGE, "bits=4"},
        {KL_CODE_EXHAUSTIVE, 11, 0, KLIFT_USAGE, "code=hadamard"},   {KL_CODE_HADAMARD, 10, 16, KLIFT_USAGE, "has 15 bits"},
        {KL_CODE_IDENTITY, 10, 9, KLIFT_USAGE, "has 10 bits"},       {KL_CODE_RANDOM, 64, 6, KLIFT_USAGE, "say more bits"},
        {KL_CODE_EXHAUSTIVE, 4, 8, KLIFT_USAGE, "leave bits out"},   {KL_CODE_BALANCED, 200, 8, KLIFT_USAGE, "the same bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_code code;
        assert_int_equal(kl_code_new(cases[i].kind, cases[i].classes, cases[i].bits, 1, &code), cases[i].status);
        assert_null(code.sign);
        if (strstr(klift_error(), cases[i].says) == NULL)
            print_message("%s\n", klift_error());
        assert_non_null(strstr(klift_error(), cases[i].says));
    }
}

/* ---- models ---- */

static float x[ROWS * COLUMNS];

static void make_labels(int64_t k, double *label)
{
    syn_rows_float(ROWS, COLUMNS, x);
    syn_labels(ROWS, COLUMNS, x, k, 0.2, label);
}

typedef struct setup {
    const char *code, *bits, *decode, *learner, *task;
} setup;

static klift_status train(const setup *s, const klift_batch *rows, klift_model **model)
{
    klift_spec *spec;
    klift_data *data;
    OK(klift_spec_new(&spec));
    OK(klift_spec_set(spec, "kernel", "gaussian:gamma=1"));
    OK(klift_spec_set(spec, "map", "fourier"));
    OK(klift_spec_set(spec, "features", "48"));
    OK(klift_spec_set(spec, "lambda", "0.001"));
    OK(klift_spec_set(spec, "task", s->task != NULL ? s->task : "classify"));
    OK(klift_spec_set(spec, "allow-one-class", "true"));
    OK(klift_spec_set(spec, "learner", s->learner != NULL ? s->learner : "ridge"));
    OK(klift_spec_set(spec, "code", s->code));
    OK(klift_spec_set(spec, "bits", s->bits != NULL ? s->bits : "auto"));
    OK(klift_spec_set(spec, "decode", s->decode != NULL ? s->decode : "soft"));
    OK(klift_data_view(rows, &data));
    klift_status status = klift_train(spec, data, NULL, model);
    klift_data_free(data);
    klift_spec_free(spec);
    return status;
}

static klift_model *trained(int64_t k, const char *code, const char *bits, const char *decode)
{
    double label[ROWS];
    klift_model *model;
    make_labels(k, label);
    klift_batch rows = dense_batch(TRAINED, COLUMNS, x);
    rows.target = label;
    rows.targets = 1;
    OK(train(&(setup){code, bits, decode, NULL, NULL}, &rows, &model));
    assert_int_equal(klift_model_classes(model), k);
    assert_int_equal(klift_model_outputs(model), k == 2 ? 1 : k); /* whatever the bits */
    return model;
}

static void predict(const klift_model *model, int what, const char *threads, double *out)
{
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    klift_run *run;
    OK(klift_run_new(&run));
    OK(klift_run_set(run, "threads", threads));
    OK(klift_model_predict(model, &rows, what, out, run));
    klift_run_free(run);
}

static int64_t different(const double *a, const double *b)
{
    int64_t count = 0;
    for (int64_t i = 0; i < ROWS; i++)
        count += a[i] != b[i];
    return count;
}

static void equidistant_codes_predict_as_one_class_against_the_rest(void **state)
{
    (void)state;
    static double rest[ROWS], coded[ROWS];
    for (int64_t k = 2; k <= MOST; k++)
        for (int kind = KL_CODE_IDENTITY; kind <= KL_CODE_EXHAUSTIVE; kind++) {
            if (kind == KL_CODE_RANDOM || kind == KL_CODE_BALANCED)
                continue;
            klift_model *plain = trained(k, "none", NULL, NULL), *model = trained(k, names[kind], NULL, "soft");
            predict(plain, KLIFT_CLASS, "2", rest);
            predict(model, KLIFT_CLASS, "2", coded);
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
    static double plain[ROWS * MOST], got[ROWS * MOST], class[ROWS], one[ROWS], both[MOST], wanted[MOST];
    for (int64_t k = 2; k <= MOST; k += 4)
        for (int kind = KL_CODE_IDENTITY; kind <= KL_CODE_EXHAUSTIVE; kind++)
            for (int hamming = 0; hamming < 2; hamming++) {
                klift_model *rest = trained(k, "none", NULL, NULL), *model = trained(k, names[kind], NULL, hamming ? "hamming" : "soft");
                kl_code code = make((kl_code_kind)kind, k, 0, 1);
                int64_t outputs = klift_model_outputs(model);
                predict(rest, KLIFT_SCORES, "1", plain);
                predict(model, KLIFT_SCORES, "2", got);
                predict(model, KLIFT_CLASS, "2", class);
                predict(model, KLIFT_CLASS, "1", one);
                assert_int_equal(different(class, one), 0);
                for (int64_t i = 0; i < ROWS; i++) {
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
    static double rest[ROWS], coded[ROWS], signs[ROWS];
    klift_model *plain = trained(8, "none", NULL, NULL);
    predict(plain, KLIFT_CLASS, "1", rest);
    for (int kind = KL_CODE_IDENTITY; kind <= KL_CODE_BALANCED; kind++) {
        klift_model *model = trained(8, names[kind], kind == KL_CODE_IDENTITY ? NULL : "200", "soft"), *hard = trained(8, names[kind], kind == KL_CODE_IDENTITY ? NULL : "200", "hamming");
        predict(model, KLIFT_CLASS, "1", coded);
        predict(hard, KLIFT_CLASS, "1", signs);
        print_message("%s: %lld of %d rows differ by soft decoding, %lld by hamming\n", names[kind], (long long)different(rest, coded), ROWS, (long long)different(rest, signs));
        assert_true(different(rest, coded) <= ROWS / 10);
        assert_true(different(rest, signs) > different(rest, coded));
        if (kind == KL_CODE_IDENTITY) /* no class with a positive score, or two: the first one is taken */
            assert_true(different(rest, signs) > ROWS / 10);
        klift_model_free(model);
        klift_model_free(hard);
    }
    klift_model_free(plain);
}

static void settings_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        setup setup;
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
    static double label[ROWS];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        klift_model *model;
        syn_rows_float(ROWS, COLUMNS, x);
        for (int64_t r = 0; r < ROWS; r++)
            label[r] = (double)(r % cases[i].classes);
        klift_batch rows = dense_batch(ROWS, COLUMNS, x);
        rows.target = label;
        rows.targets = 1;
        assert_int_equal(train(&cases[i].setup, &rows, &model), cases[i].status);
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

/* ---- the model file ---- */

static model_file file_of(const klift_model *model)
{
    model_file f;
    assert_true(model_bytes_of(model, "CODE", &f));
    return f;
}

static void a_model_with_a_code_is_read_as_it_was_written(void **state)
{
    (void)state;
    static double before[ROWS * MOST], after[ROWS * MOST];
    static const char *const decodes[] = {"soft", "hamming"};
    for (int64_t k = 2; k <= MOST; k += 8)
        for (int kind = KL_CODE_NONE; kind <= KL_CODE_EXHAUSTIVE; kind++)
            for (int d = 0; d < (kind == KL_CODE_NONE ? 1 : 2); d++) {
                klift_model *model = trained(k, names[kind], NULL, decodes[d]), *again;
                model_file f = file_of(model), g;
                assert_int_equal(f.section >= 0, kind != KL_CODE_NONE); /* without a code the file is as it always was */
                OK(klift_model_parse(f.bytes, f.size, &again));
                g = file_of(again);
                assert_int_equal(f.size, g.size);
                assert_memory_equal(f.bytes, g.bytes, (size_t)f.size);
                predict(model, KLIFT_SCORES, "1", before);
                predict(again, KLIFT_SCORES, "1", after);
                assert_memory_equal(before, after, (size_t)(ROWS * klift_model_outputs(model)) * sizeof(double));
                free(f.bytes);
                free(g.bytes);
                klift_model_free(model);
                klift_model_free(again);
            }
}

static void assert_damaged(model_file *f, const char *says)
{
    klift_model *model;
    model_bytes_seal(f->bytes, (size_t)f->size, false);
    assert_int_equal(klift_model_parse(f->bytes, f->size, &model), KLIFT_MODEL);
    assert_null(model);
    if (says != NULL && strstr(klift_error(), says) == NULL)
        print_message("%s\n", klift_error());
    assert_true(says == NULL || strstr(klift_error(), says) != NULL);
}

static void a_damaged_code_is_refused(void **state)
{
    (void)state;
    static const struct {
        int at, value; /* a byte behind the header of CODE */
        const char *says;
    } cases[] = {{0, 0, "no known kind"},           {0, 6, "no known kind"}, {3, 1, "no known kind"}, {4, 2, "no known kind"}, {8, 0, NULL}, {8, 33, "do not agree"},
                 {8, 14, "beyond the last"},        {10, 1, "do not agree"}, {15, 128, NULL},         {18, 1, "beyond the last"}};
    klift_model *model = trained(10, "hadamard", NULL, NULL);
    model_file f = file_of(model);
    assert_int_equal(f.bytes[f.section + 8], 15);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t kept = f.bytes[f.section + cases[i].at];
        f.bytes[f.section + cases[i].at] = (uint8_t)cases[i].value;
        assert_damaged(&f, cases[i].says);
        f.bytes[f.section + cases[i].at] = kept;
    }
    uint8_t word[4];
    memcpy(word, f.bytes + f.section + 16, 4);
    memcpy(f.bytes + f.section + 16, f.bytes + f.section + 20, 4);
    assert_damaged(&f, "the same code");
    memcpy(f.bytes + f.section + 16, word, 4);
    memcpy(f.bytes + f.section - 24, "EDOC", 4);
    assert_damaged(&f, "does not know"); /* what a klift without codes says */
    f.bytes[f.section - 20] = 0;            /* skipped: then the weights are too many */
    assert_damaged(&f, NULL);
    free(f.bytes);
    klift_model_free(model);
}

static void a_code_at_a_wrong_place_or_twice_is_refused(void **state)
{
    (void)state;
    klift_model *model = trained(10, "hadamard", NULL, NULL);
    model_file f = file_of(model), two = f;
    int64_t from = f.section - 24, length = 24 + 16 + 4 * 10;
    two.size = f.size + length;
    two.bytes = malloc((size_t)two.size);
    assert_non_null(two.bytes);
    memcpy(two.bytes, f.bytes, (size_t)(from + length));
    memcpy(two.bytes + from + length, f.bytes + from, (size_t)(f.size - from));
    model_bytes_seal(two.bytes, (size_t)two.size, true);
    assert_damaged(&two, "twice");
    uint8_t *late = two.bytes; /* behind the weights, or before the map */
    memcpy(late + from, f.bytes + from + length, (size_t)(f.size - 8 - from - length));
    memcpy(late + f.size - 8 - length, f.bytes + from, (size_t)length);
    two.size = f.size;
    model_bytes_seal(two.bytes, (size_t)two.size, true);
    assert_damaged(&two, NULL);
    memcpy(late, f.bytes, 32);
    memcpy(late + 32, f.bytes + from, (size_t)length);
    memcpy(late + 32 + length, f.bytes + 32, (size_t)(from - 32));
    memcpy(late + from + length, f.bytes + from + length, (size_t)(f.size - from - length));
    model_bytes_seal(two.bytes, (size_t)two.size, true);
    assert_damaged(&two, "between its classes and its weights");
    free(two.bytes);
    free(f.bytes);
    klift_model_free(model);
}

/* Any bytes behind right checksums: refused, or finite scores. */
static void any_damage_is_refused_or_predicts_finite_values(void **state)
{
    (void)state;
    klift_batch rows = dense_batch(2, COLUMNS, x);
    klift_model *model = trained(3, "random", "40", "soft"), *changed;
    model_file f = file_of(model), g = f;
    int64_t count = quick() ? 2000 : 20000, taken = 0;
    double scores[2 * 3];
    g.bytes = malloc((size_t)f.size);
    assert_non_null(g.bytes);
    for (int64_t i = 0; i < count; i++) {
        memcpy(g.bytes, f.bytes, (size_t)f.size);
        for (int n = 0; n < 1 + i % 3; n++) { /* half of them in and behind the code */
            uint64_t draw = syn_mix((uint64_t)(4 * i + n)), behind = (uint64_t)(f.size - f.section);
            g.bytes[draw >> 63 ? draw % (uint64_t)f.size : (uint64_t)f.section + draw % (i % 2 ? 60 : behind)] = (uint8_t)(draw >> 40);
        }
        model_bytes_seal(g.bytes, (size_t)g.size, true);
        if (klift_model_parse(g.bytes, g.size, &changed) != KLIFT_OK)
            continue;
        taken++;
        if (klift_model_outputs(changed) <= 3 && klift_model_predict(changed, &rows, KLIFT_SCORES, scores, NULL) == KLIFT_OK)
            for (int64_t o = 0; o < 2 * klift_model_outputs(changed); o++)
                assert_true(isfinite(scores[o]));
        klift_model_free(changed);
    }
    assert_true(taken > 0 && taken < count);
    free(g.bytes);
    free(f.bytes);
    klift_model_free(model);
}

/* Each bit is finite, what they add up to is not. */
static void bits_too_large_to_add_are_refused_by_the_row(void **state)
{
    (void)state;
    klift_model *model = trained(10, "hadamard", NULL, NULL), *huge;
    klift_batch rows = dense_batch(2, COLUMNS, x);
    model_file f = file_of(model);
    double b = 1e308, out[2 * MOST];
    for (int j = 0; j < 15; j++) /* the last numbers before the checksum */
        memcpy(f.bytes + f.size - 8 - 8 * (j + 1), &b, 8);
    model_bytes_seal(f.bytes, (size_t)f.size, false);
    OK(klift_model_parse(f.bytes, f.size, &huge));
    assert_int_equal(klift_model_predict(huge, &rows, KLIFT_SCORES, out, NULL), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "row 0"));
    free(f.bytes);
    klift_model_free(model);
    klift_model_free(huge);
}

/* ---- MNIST ---- */

static double mnist_error(const char *folder, const klift_batch *rows, const char *code, const char *decode)
{
    char path[4096], options[4200], *json;
    klift_spec *spec;
    klift_data *data, *held;
    klift_model *model;
    int64_t needed, room = 1 << 16;
    OK(klift_spec_new(&spec));
    OK(klift_spec_set(spec, "prepare", "maxnorm"));
    OK(klift_spec_set(spec, "features", "2048"));
    OK(klift_spec_set(spec, "lambda", "1e-6"));
    OK(klift_spec_set(spec, "code", code));
    OK(klift_spec_set(spec, "bits", strcmp(code, "random") == 0 ? "200" : "auto"));
    OK(klift_spec_set(spec, "decode", decode));
    OK(klift_data_view(rows, &data));
    OK(klift_train(spec, data, NULL, &model));
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
    klift_data_free(data);
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
    if (folder == NULL) {
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
        cmocka_unit_test(no_code_has_a_constant_column_or_two_equal_classes),
        cmocka_unit_test(codes_of_fixed_distance_have_it_between_all_classes),
        cmocka_unit_test(drawn_codes_are_a_function_of_their_arguments_and_far_apart),
        cmocka_unit_test(codes_that_cannot_be_are_refused_with_what_to_do),
        cmocka_unit_test(equidistant_codes_predict_as_one_class_against_the_rest),
        cmocka_unit_test(every_code_is_decoded_as_defined),
        cmocka_unit_test(random_bits_come_close_and_signs_alone_lose),
        cmocka_unit_test(settings_that_do_not_fit_are_refused),
        cmocka_unit_test(a_model_with_a_code_is_read_as_it_was_written),
        cmocka_unit_test(a_damaged_code_is_refused),
        cmocka_unit_test(a_code_at_a_wrong_place_or_twice_is_refused),
        cmocka_unit_test(any_damage_is_refused_or_predicts_finite_values),
        cmocka_unit_test(bits_too_large_to_add_are_refused_by_the_row),
        cmocka_unit_test(random_bits_are_within_two_tenths_of_a_point_on_mnist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
