/* test_narrow.c - rows in 16 bits: what is lost, what is not, and rows of nothing and of too much. */
#include "math/narrow.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 1000 };

static float largest_of(const float *value)
{
    float largest = 0;
    for (int i = 0; i < COLUMNS; i++)
        largest = fabsf(value[i]) > largest ? fabsf(value[i]) : largest;
    return largest;
}

static void whole_numbers_are_within_half_a_unit(void **state)
{
    static const double sizes[] = {1e-30, 3e-5, 0.03, 1, 32767, 32768, 1e30};
    (void)state;
    for (int s = 0; s < 7; s++) {
        float value[COLUMNS], rounded[COLUMNS];
        uint16_t half[COLUMNS];
        int power;
        for (int i = 0; i < COLUMNS; i++)
            value[i] = (float)(sizes[s] * syn_normal(7, (uint64_t)i));
        memcpy(rounded, value, sizeof value);
        float scale = kl_narrow_row(KL_INT16, COLUMNS, value, half), largest = largest_of(value);
        kl_narrow_round(KL_INT16, COLUMNS, rounded);
        assert_true(frexpf(scale, &power) == 0.5f); /* a power of two */
        assert_true(largest / scale > 16383 && largest / scale < 32767.6f);
        for (int i = 0; i < COLUMNS; i++) {
            float is = scale * (float)(int16_t)half[i];
            assert_true(fabsf(is - value[i]) <= scale / 2);
            assert_true(is == rounded[i]);
        }
    }
}

/* 32767.6 would round to 32768, which 16 bits do not hold. */
static void the_largest_number_never_wraps(void **state)
{
    (void)state;
    for (int i = 0; i < 4000; i++) {
        float value[2] = {(float)(0x1p-15 * (32766 + i * 0.0005)), -(float)(0x1p-15 * (32766 + i * 0.0005))};
        uint16_t half[2];
        float scale = kl_narrow_row(KL_INT16, 2, value, half);
        assert_true(fabsf(scale * (float)(int16_t)half[0] - value[0]) <= scale / 2 && (int16_t)half[0] == -(int16_t)half[1]);
    }
}

static void rounding_twice_is_rounding_once(void **state)
{
    (void)state;
    for (kl_narrow kind = KL_FLOAT32; kind <= KL_INT16; kind++) {
        float once[COLUMNS], twice[COLUMNS];
        for (int i = 0; i < COLUMNS; i++)
            once[i] = (float)syn_normal(9, (uint64_t)i);
        memcpy(twice, once, sizeof once);
        kl_narrow_round(kind, COLUMNS, once);
        assert_int_equal(memcmp(once, twice, sizeof once) == 0, kind == KL_FLOAT32);
        memcpy(twice, once, sizeof once);
        kl_narrow_round(kind, COLUMNS, twice);
        assert_memory_equal(once, twice, sizeof once);
    }
}

static void rows_of_nothing_and_of_too_much(void **state)
{
    float zero[3] = {0, -0.0f, 0}, tiny[3] = {FLT_MIN, 0, -FLT_MIN / 2}, endless[3] = {1, INFINITY, 0}, unknown[3] = {NAN, 1, 2};
    uint16_t half[3];
    (void)state;
    assert_true(kl_narrow_row(KL_INT16, 0, zero, half) > 0);
    assert_true(kl_narrow_row(KL_INT16, 3, zero, half) > 0 && half[0] == 0 && half[1] == 0 && half[2] == 0);
    float scale = kl_narrow_row(KL_INT16, 3, tiny, half);
    assert_true(scale * (float)(int16_t)half[0] == FLT_MIN);
    assert_true(isinf(kl_narrow_row(KL_INT16, 3, endless, half)) && half[2] != 0); /* infinity, not infinity times 0 */
    assert_true(isinf(kl_narrow_row(KL_INT16, 3, unknown, half)));
    kl_narrow_round(KL_INT16, 3, endless);
    assert_true(isinf(endless[0]) && isinf(endless[2]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_within_half_a_unit),
        cmocka_unit_test(the_largest_number_never_wraps),
        cmocka_unit_test(rounding_twice_is_rounding_once),
        cmocka_unit_test(rows_of_nothing_and_of_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
