/* test_bfloat16.c - rounding to bfloat16 against its definition: the nearest of the numbers that have 8 bits, ties to the even one. */
#include "math/bfloat16.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float rounded(float value)
{
    uint16_t half;
    float wide, same = value;
    kl_bfloat16_narrow(1, &value, &half);
    kl_bfloat16_widen(1, &half, &wide);
    kl_bfloat16_round(1, &same);
    assert_memory_equal(&wide, &same, sizeof wide);
    return wide;
}

static void every_number_of_16_bits_is_itself(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 1 << 16; bits++) {
        float value = of_bits(bits << 16);
        if (isnan(value))
            assert_true(isnan(rounded(value)));
        else
            assert_true(rounded(value) == value && signbit(rounded(value)) == signbit(value));
    }
}

static void between_two_the_nearer_one_is_taken_and_the_even_one_of_two(void **state)
{
    (void)state;
    for (uint32_t upper = 0; upper < 0x7f7f; upper += 1 + upper % 7) {
        float low = of_bits(upper << 16), high = of_bits((upper + 1) << 16), even = upper % 2 == 0 ? low : high;
        assert_true(rounded(of_bits(upper << 16 | 0x7fff)) == low);
        assert_true(rounded(of_bits(upper << 16 | 0x8000)) == even);
        assert_true(rounded(of_bits(upper << 16 | 0x8001)) == high);
        assert_true(rounded(-of_bits(upper << 16 | 0x8001)) == -high);
    }
    assert_true(isinf(rounded(3.4e38f)));
    assert_true(isnan(rounded(of_bits(0x7fffffff))) && isnan(rounded(of_bits(0xff800001))));
}

static void a_number_changes_by_at_most_the_256th_part(void **state)
{
    enum { COUNT = 10007 };
    float *value = malloc(COUNT * sizeof *value), *after = malloc(COUNT * sizeof *after);
    uint16_t *half = malloc(COUNT * sizeof *half);
    double worst = 0;
    (void)state;
    for (int i = 0; i < COUNT; i++)
        after[i] = value[i] = (float)(syn_normal(1, (uint64_t)i) * exp(syn_normal(2, (uint64_t)i)));
    kl_bfloat16_round(COUNT, after);
    for (int i = 0; i < COUNT; i++)
        worst = fmax(worst, fabs((double)after[i] / (double)value[i] - 1));
    assert_true(worst <= 0x1p-8 && worst > 0x1p-9);
    kl_bfloat16_narrow(COUNT, value, half); /* in one piece the same as one by one */
    kl_bfloat16_widen(COUNT, half, value);
    assert_memory_equal(value, after, COUNT * sizeof *value);
    free(value);
    free(after);
    free(half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_16_bits_is_itself),
        cmocka_unit_test(between_two_the_nearer_one_is_taken_and_the_even_one_of_two),
        cmocka_unit_test(a_number_changes_by_at_most_the_256th_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
