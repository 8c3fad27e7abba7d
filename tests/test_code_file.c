/* test_code_file.c - the section CODE of a model file: read as it was written, or refused; damage still predicts finite values. */
#include "coded.h"
#include "model_bytes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static model_file file_of(const klift_model *model)
{
    model_file f;
    assert_true(model_bytes_of(model, "CODE", &f));
    return f;
}

static void a_model_with_a_code_is_read_as_it_was_written(void **state)
{
    (void)state;
    static double before[CODED_ROWS * CODED_MOST], after[CODED_ROWS * CODED_MOST];
    static const char *const decodes[] = {"soft", "hamming"};
    for (int64_t k = 2; k <= CODED_MOST; k += 8)
        for (int kind = KL_CODE_NONE; kind <= KL_CODE_EXHAUSTIVE; kind++)
            for (int d = 0; d < (kind == KL_CODE_NONE ? 1 : 2); d++) {
                klift_model *model = coded_model(k, coded_names[kind], NULL, decodes[d]), *again;
                model_file f = file_of(model), g;
                assert_int_equal(f.section >= 0, kind != KL_CODE_NONE); /* without a code the file is as it always was */
                OK(klift_model_parse(f.bytes, f.size, &again));
                g = file_of(again);
                assert_int_equal(f.size, g.size);
                assert_memory_equal(f.bytes, g.bytes, (size_t)f.size);
                coded_predict(model, KLIFT_SCORES, "1", before);
                coded_predict(again, KLIFT_SCORES, "1", after);
                assert_memory_equal(before, after, (size_t)(CODED_ROWS * klift_model_outputs(model)) * sizeof(double));
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
    klift_model *model = coded_model(10, "hadamard", NULL, NULL);
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
    klift_model *model = coded_model(10, "hadamard", NULL, NULL);
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
    klift_batch rows = dense_batch(2, CODED_COLUMNS, coded_x);
    klift_model *model = coded_model(3, "random", "40", "soft"), *changed;
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
    klift_model *model = coded_model(10, "hadamard", NULL, NULL), *huge;
    klift_batch rows = dense_batch(2, CODED_COLUMNS, coded_x);
    model_file f = file_of(model);
    double b = 1e308, out[2 * CODED_MOST];
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_with_a_code_is_read_as_it_was_written),
        cmocka_unit_test(a_damaged_code_is_refused),
        cmocka_unit_test(a_code_at_a_wrong_place_or_twice_is_refused),
        cmocka_unit_test(any_damage_is_refused_or_predicts_finite_values),
        cmocka_unit_test(bits_too_large_to_add_are_refused_by_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
