/* test_code.c - error-correcting output codes: what every code matrix must have, and which cannot be. */
#include "coded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

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
            kl_code code = coded_matrix((kl_code_kind)kind, k, 0, 1);
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
            kl_code code = coded_matrix((kl_code_kind)kind, k, 0, 1);
            int64_t distance = kind == KL_CODE_IDENTITY ? 2 : kind == KL_CODE_HADAMARD ? order / 2 : INT64_C(1) << (k - 2);
            for (int64_t a = 1; a < k; a++)
                for (int64_t b = 0; b < a; b++)
                    assert_int_equal(apart(&code, a, b), distance);
            if (kind == KL_CODE_EXHAUSTIVE)
                assert_int_equal(code.bits, (INT64_C(1) << (k - 1)) - 1);
            kl_code_clear(&code);
        }
    }
    kl_code ten = coded_matrix(KL_CODE_HADAMARD, 10, 15, 1), eight = coded_matrix(KL_CODE_HADAMARD, 8, 14, 1); /* of eight classes one column is constant */
    kl_code_clear(&ten);
    kl_code_clear(&eight);
}

static void drawn_codes_are_a_function_of_their_arguments_and_far_apart(void **state)
{
    (void)state;
    static const kl_code_kind kinds[] = {KL_CODE_RANDOM, KL_CODE_BALANCED};
    for (int i = 0; i < 2; i++) {
        kl_code a = coded_matrix(kinds[i], 10, 200, 7), b = coded_matrix(kinds[i], 10, 200, 7), other = coded_matrix(kinds[i], 10, 200, 8), few = coded_matrix(kinds[i], 10, 15, 7);
        int64_t sum = 0;
        assert_memory_equal(a.sign, b.sign, 2000);
        assert_memory_not_equal(a.sign, other.sign, 2000);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            kl_code one = coded_matrix(kinds[i], 10, 15, seed);
            sum += kl_code_distance(&one);
            kl_code_clear(&one);
        }
        print_message("%s: least distance %lld of 200 bits, %lld of 15, %.2f in the mean\n", coded_names[kinds[i]], (long long)kl_code_distance(&a), (long long)kl_code_distance(&few), (double)sum / 20);
        assert_true(kl_code_distance(&a) >= 90); /* random: 85 in the first draw of this seed */
        assert_true(sum >= 20 * 5);              /* random: 3.15 in the mean of the first draws */
        kl_code_clear(&a);
        kl_code_clear(&b);
        kl_code_clear(&other);
        kl_code_clear(&few);
    }
    kl_code many = coded_matrix(KL_CODE_RANDOM, 3000, 0, 1), least = coded_matrix(KL_CODE_RANDOM, 2, 1, 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_code_has_a_constant_column_or_two_equal_classes),
        cmocka_unit_test(codes_of_fixed_distance_have_it_between_all_classes),
        cmocka_unit_test(drawn_codes_are_a_function_of_their_arguments_and_far_apart),
        cmocka_unit_test(codes_that_cannot_be_are_refused_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
