/*
 * test_trig.c - cosine and sine in turns against long double, and every table of inner loops against SLEEF where it is
 * installed, for the float32 argument as given: error below 3e-7.
 */
#include "math/micro.h"
#include "math/trig.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if !defined(KLIFT_WITHOUT_SLEEF) && __has_include(<sleef.h>)
#include <sleef.h>
#define HAVE_SLEEF 1
#endif

static const long double two_pi = 6.283185307179586476925286766559006L;
static const double allowed = 3e-7;

static void check_pairs(int64_t count, const float *turns, float scale)
{
    float *cosine = malloc((size_t)count * sizeof *cosine), *sine = malloc((size_t)count * sizeof *sine);
    kl_trig_pairs(count, turns, scale, cosine, sine);
    for (int64_t i = 0; i < count; i++) {
        long double angle = two_pi * ((long double)turns[i] - rintl((long double)turns[i])); /* the difference is exact */
        double c = (double)((long double)cosine[i] - (long double)scale * cosl(angle)), s = (double)((long double)sine[i] - (long double)scale * sinl(angle));
        if (!(fabs(c) <= allowed * (double)scale) || !(fabs(s) <= allowed * (double)scale))
            fail_msg("%.9g turns: errors %g and %g", (double)turns[i], c / (double)scale, s / (double)scale);
    }
    free(cosine);
    free(sine);
}

static int64_t many(void)
{
    return quick() ? 100000 : 1000000;
}

static void random_angles_up_to_1000_turns_are_right(void **unused)
{
    (void)unused;
    int64_t n = many();
    float *turns = malloc((size_t)n * sizeof *turns);
    for (int64_t i = 0; i < n; i++)
        turns[i] = (float)((syn_uniform((uint64_t)i) * 2 - 1) * (i % 2 ? 1000 : 1));
    check_pairs(n, turns, 1);
    check_pairs(n / 10, turns, 0.044194174f);
    free(turns);
}

static void multiples_of_an_eighth_are_right(void **unused)
{
    (void)unused;
    enum { EIGHTHS = 16001 };
    float *turns = malloc(3 * EIGHTHS * sizeof *turns);
    for (int i = 0; i < EIGHTHS; i++) { /* and their neighbours, where range reduction changes branch */
        turns[3 * i] = (float)(i - EIGHTHS / 2) / 8;
        turns[3 * i + 1] = nextafterf(turns[3 * i], INFINITY);
        turns[3 * i + 2] = nextafterf(turns[3 * i], -INFINITY);
    }
    check_pairs(3 * EIGHTHS, turns, 1);
    free(turns);
}

static void tiny_angles_are_right(void **unused)
{
    (void)unused;
    float turns[2 * 170];
    int64_t count = 0;
    for (int exponent = -149; exponent < -2; exponent++) {
        turns[count++] = ldexpf(1, exponent);
        turns[count++] = -ldexpf(1.7f, exponent);
    }
    turns[count++] = 0.0f;
    turns[count++] = -0.0f;
    check_pairs(count, turns, 1);
    float cosine[2], sine[2];
    kl_trig_pairs(2, (float[]){1e-20f, -1e-20f}, 1, cosine, sine); /* and small sines keep their relative size and sign */
    assert_true(fabs((double)sine[0] - 6.2831853e-20) < 1e-6 * 6.2831853e-20);
    assert_true(sine[1] == -sine[0]);
}

static void huge_angles_are_right(void **unused)
{
    (void)unused;
    int64_t n = many() / 4;
    float *turns = malloc((size_t)n * sizeof *turns);
    for (int64_t i = 0; i < n; i++) /* every fourth beyond 2^22, where a float32 still has halves or is whole */
        turns[i] = (float)((syn_uniform((uint64_t)i) * 2 - 1) * (i % 4 == 0 ? 33554432 : 4194304));
    turns[0] = 4194303.5f;
    turns[1] = 4194304.0f;
    turns[2] = -4194303.5f;
    turns[3] = 4194304.5f;
    turns[4] = 8388607.5f;
    turns[5] = -1e9f; /* a whole number of turns */
    check_pairs(n, turns, 1);
    free(turns);
}

/* Within half a unit of float64, and by a range reduction of its own: it is given the whole angle. */
static double oracle_cosine(float turns)
{
#ifdef HAVE_SLEEF
    return Sleef_cospi_u05(2 * (double)turns);
#else
    return (double)cosl(two_pi * ((long double)turns - rintl((long double)turns)));
#endif
}

static double oracle_sine(float turns)
{
#ifdef HAVE_SLEEF
    return Sleef_sinpi_u05(2 * (double)turns);
#else
    return (double)sinl(two_pi * ((long double)turns - rintl((long double)turns)));
#endif
}

enum { AT_ONCE = 1000, RANGES = 5 };

/* The angles a map makes: within a turn, tens of turns, the outliers of unscaled data, as far as it is promised, and tiny ones. */
static float random_angle(int range, int64_t i)
{
    static const double reach[RANGES] = {0.5, 16, 1000, 4194304, 1};
    uint64_t key = (uint64_t)(i * RANGES + range);
    double angle = (syn_uniform(2 * key) * 2 - 1) * reach[range];
    return (float)(range == RANGES - 1 ? ldexp(angle, -(int)(40 * syn_uniform(2 * key + 1))) : angle);
}

static double largest_error(const kl_micro *micro, int range, int64_t count)
{
    float turns[AT_ONCE], phase[AT_ONCE], cosine[AT_ONCE], sine[AT_ONCE], shifted[AT_ONCE];
    double largest = 0;
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            turns[i] = random_angle(range, first + i);
            phase[i] = (float)syn_uniform((uint64_t)(first + i));
        }
        micro->pairs(AT_ONCE, turns, 1, false, cosine, sine);
        micro->cosines(AT_ONCE, turns, phase, 1, shifted);
        for (int i = 0; i < AT_ONCE; i++) {
            double c = fabs((double)cosine[i] - oracle_cosine(turns[i])), s = fabs((double)sine[i] - oracle_sine(turns[i]));
            double p = fabs((double)shifted[i] - oracle_cosine(turns[i] + phase[i]));
            if (!(c <= allowed && s <= allowed && p <= allowed))
                fail_msg("%s, %.9g turns, phase %.9g: errors %g, %g and %g", micro->name, (double)turns[i], (double)phase[i], c, s, p);
            largest = fmax(largest, fmax(c, fmax(s, p)));
        }
    }
    return largest;
}

static void every_table_agrees_with_the_oracle(void **unused)
{
    (void)unused;
#ifndef HAVE_SLEEF
    print_message("skipped: SLEEF as the oracle of cosines (libsleef-dev is not installed); long double takes its place\n");
#endif
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
        double largest = 0;
        for (int range = 0; range < RANGES; range++)
            largest = fmax(largest, largest_error(kl_micro_at(t), range, many()));
        print_message("%s: largest error %.3g\n", kl_micro_at(t)->name, largest);
    }
}

static void results_may_replace_the_angles(void **unused)
{
    (void)unused;
    enum { COUNT = 1003 };
    float turns[COUNT], phase[COUNT], cosine[COUNT], sine[COUNT], place[COUNT], other[COUNT];
    for (int i = 0; i < COUNT; i++) {
        turns[i] = (float)(syn_normal((uint64_t)i, 0) * 5);
        phase[i] = (float)syn_uniform((uint64_t)i);
    }
    kl_trig_pairs(COUNT, turns, 0.5f, cosine, sine);
    memcpy(place, turns, sizeof place);
    kl_trig_pairs(COUNT, place, 0.5f, place, other);
    assert_memory_equal(place, cosine, sizeof place);
    assert_memory_equal(other, sine, sizeof other);
    memcpy(place, turns, sizeof place);
    kl_trig_pairs(COUNT, place, 0.5f, other, place);
    assert_memory_equal(place, sine, sizeof place);
    kl_trig_cosines(COUNT, turns, phase, 0.5f, cosine);
    memcpy(place, turns, sizeof place);
    kl_trig_cosines(COUNT, place, phase, 0.5f, place);
    assert_memory_equal(place, cosine, sizeof place);
}

static void memory_past_the_caches_gets_the_same_bits(void **unused)
{
    (void)unused;
    enum { COUNT = 1003 };
    static _Alignas(64) float turns[COUNT], cosine[COUNT], sine[COUNT], other_cosine[COUNT + 8], other_sine[COUNT + 8];
    for (int i = 0; i < COUNT; i++)
        turns[i] = (float)(syn_normal((uint64_t)i, 1) * 5);
    kl_trig_pairs(COUNT, turns, 0.5f, cosine, sine);
    for (int i = 0; i < 3; i++) {
        const int shift = (const int[]){0, 7, 8}[i]; /* whole lines, nothing, half lines */
        kl_trig_pairs_past(COUNT, turns, 0.5f, other_cosine + shift, other_sine + shift);
        kl_trig_drain();
        assert_memory_equal(other_cosine + shift, cosine, sizeof cosine);
        assert_memory_equal(other_sine + shift, sine, sizeof sine);
    }
}

static void a_row_in_one_piece_gets_the_same_bits_wherever_it_begins(void **unused)
{
    (void)unused;
    enum { MOST = 128, LINE = 16 };
    static _Alignas(64) float turns[MOST], right[2 * MOST], row[2 * MOST + 3 * LINE];
    for (int count = 1; count <= MOST; count += count < 40 ? 1 : 11)
        for (int shift = 1; shift <= LINE; shift++) {
            for (int i = 0; i < count; i++)
                turns[i] = (float)(syn_normal((uint64_t)i, 2) * 5);
            for (int i = 0; i < 2 * MOST + 3 * LINE; i++)
                row[i] = 7;
            kl_trig_pairs(count, turns, 0.5f, right, right + count);
            kl_trig_pairs_past(count, turns, 0.5f, row + shift, row + shift + count);
            kl_trig_drain();
            assert_memory_equal(row + shift, right, (size_t)(2 * count) * sizeof *row);
            assert_true(row[shift - 1] == 7 && row[shift + 2 * count] == 7);
        }
}

static void a_phase_is_added_to_the_angle(void **unused)
{
    (void)unused;
    int64_t n = many() / 4;
    float *turns = malloc((size_t)n * sizeof *turns), *phase = malloc((size_t)n * sizeof *phase), *out = malloc((size_t)n * sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        turns[i] = (float)(syn_normal((uint64_t)i, 0) * (i % 3 ? 1 : 100));
        phase[i] = (float)syn_uniform((uint64_t)i);
    }
    kl_trig_cosines(n, turns, phase, 2, out);
    for (int64_t i = 0; i < n; i++) {
        float given = turns[i] + phase[i];
        long double angle = two_pi * ((long double)given - rintl((long double)given));
        assert_true(fabs((double)((long double)out[i] / 2 - cosl(angle))) <= allowed);
    }
    free(turns);
    free(phase);
    free(out);
}

static void the_place_in_the_array_changes_no_bit(void **unused)
{
    (void)unused;
    float turns[67], cosine[67], sine[67], one_cosine, one_sine;
    for (int i = 0; i < 67; i++)
        turns[i] = (float)(syn_normal((uint64_t)i, 1) * 3);
    kl_trig_pairs(67, turns, 0.3f, cosine, sine);
    for (int i = 0; i < 67; i++) {
        kl_trig_pairs(1, turns + i, 0.3f, &one_cosine, &one_sine);
        assert_true(one_cosine == cosine[i] && one_sine == sine[i]);
    }
    kl_trig_pairs(0, turns, 1, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_angles_up_to_1000_turns_are_right),
        cmocka_unit_test(multiples_of_an_eighth_are_right),
        cmocka_unit_test(tiny_angles_are_right),
        cmocka_unit_test(huge_angles_are_right),
        cmocka_unit_test(every_table_agrees_with_the_oracle),
        cmocka_unit_test(results_may_replace_the_angles),
        cmocka_unit_test(memory_past_the_caches_gets_the_same_bits),
        cmocka_unit_test(a_row_in_one_piece_gets_the_same_bits_wherever_it_begins),
        cmocka_unit_test(a_phase_is_added_to_the_angle),
        cmocka_unit_test(the_place_in_the_array_changes_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
