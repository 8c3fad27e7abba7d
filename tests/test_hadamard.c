/* test_hadamard.c - the transform against its definition, and every table against the portable one bit for bit. */
#include "math/hadamard.h"
#include "math/micro.h"
#include "math/orthonormal.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static float *values(int64_t n)
{
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)syn_normal(9, (uint64_t)i);
    return x;
}

static void it_is_the_matrix_of_its_definition(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 1024; n *= 2) {
        float *x = values(n), *y = values(n);
        kl_hadamard(n, NULL, y);
        for (int64_t k = 0; k < n; k += n > 64 ? 7 : 1) {
            double sum = 0, size = 0;
            for (int64_t i = 0; i < n; i++) {
                sum += (__builtin_popcountll((unsigned long long)(k & i)) & 1 ? -1.0 : 1.0) * (double)x[i];
                size += fabs((double)x[i]);
            }
            assert_true(fabs(sum - (double)y[k]) <= 1e-6 * (size + 1));
        }
        free(x);
        free(y);
    }
}

static void all_tables_agree_bit_for_bit(void **state)
{
    int64_t last = quick() ? 1 << 14 : 1 << 20;
    (void)state;
    for (int64_t n = 1; n <= last; n *= 2) {
        float *sign = malloc((size_t)n * sizeof *sign);
        for (int64_t i = 0; i < n; i++)
            sign[i] = i % 3 == 1 ? -1.0f : 1.0f;
        for (int with = 0; with < 2; with++) {
            float *reference = values(n);
            kl_micro_portable.hadamard(n, with ? sign : NULL, reference, reference);
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
                float *x = values(n);
                kl_micro_at(t)->hadamard(n, with ? sign : NULL, x, x);
                assert_memory_equal(x, reference, (size_t)n * sizeof *x);
                float *from = values(n); /* from another array, which stays as it is */
                memset(x, 0, (size_t)n * sizeof *x);
                kl_micro_at(t)->hadamard(n, with ? sign : NULL, from, x);
                assert_memory_equal(x, reference, (size_t)n * sizeof *x);
                free(x);
                x = values(n);
                assert_memory_equal(x, from, (size_t)n * sizeof *x);
                free(from);
                free(x);
            }
            free(reference);
        }
        free(sign);
    }
}

static void twice_is_n_times_the_input_and_signs_come_first(void **state)
{
    enum { N = 256 };
    float *x = values(N), *y = values(N), sign[N];
    (void)state;
    kl_hadamard(N, NULL, y);
    kl_hadamard(N, NULL, y);
    for (int i = 0; i < N; i++)
        assert_true(fabsf(y[i] - N * x[i]) < 1e-3f);
    for (int i = 0; i < N; i++) {
        sign[i] = i % 3 == 0 ? -1.0f : 1.0f;
        y[i] = sign[i] * x[i];
    }
    kl_hadamard(N, sign, x);
    kl_hadamard(N, NULL, y);
    assert_memory_equal(x, y, sizeof sign);
    free(x);
    free(y);
    assert_int_equal(kl_hadamard_size(1), 1);
    assert_int_equal(kl_hadamard_size(33), 64);
    assert_int_equal(kl_hadamard_size(64), 64);
}

static void rotations_are_orthonormal_and_haar(void **state)
{
    enum { N = 17, TRIALS = 4000 };
    static double q[N * N];
    double mean = 0, fourth = 0;
    kl_random from = {5, 0, KL_DRAW_MATRIX};
    (void)state;
    for (uint32_t t = 0; t < TRIALS; t++) {
        assert_int_equal(kl_orthonormal_draw(&from, t, N, q), KLIFT_OK);
        mean += q[0];
        fourth += q[N + 2] * q[N + 2] * q[N + 2] * q[N + 2];
        for (int i = 0; t < 20 && i < N; i++)
            for (int j = 0; j < N; j++) {
                double dot = 0;
                for (int k = 0; k < N; k++)
                    dot += q[i * N + k] * q[j * N + k];
                assert_true(fabs(dot - (i == j)) < 1e-12);
            }
    }
    assert_true(fabs(mean / TRIALS) < 5 * sqrt(1.0 / N / TRIALS)); /* without the sign of R it is not 0 */
    assert_true(fabs(fourth / TRIALS - 3.0 / (N * (N + 2))) < 5 * 0.03 / sqrt(TRIALS));
}

static void gammas_have_their_moments(void **state)
{
    static const double shapes[] = {0.5, 1.5, 8, 512};
    enum { TRIALS = 200000 };
    kl_random from = {6, 0, KL_DRAW_LENGTH};
    (void)state;
    for (int s = 0; s < 4; s++) {
        double k = shapes[s], sum = 0, square = 0;
        for (uint32_t i = 0; i < TRIALS; i++) {
            double g = kl_random_gamma(&from, i, k);
            sum += g - k;
            square += (g - k) * (g - k);
        }
        assert_true(fabs(sum / TRIALS) < 5 * sqrt(k / TRIALS));
        assert_true(fabs(square / TRIALS - k) < 5 * sqrt((2 * k * k + 6 * k) / TRIALS));
    }
}

static void permutations_hold_every_number_once(void **state)
{
    enum { N = 1000 };
    int32_t order[N];
    int seen[N] = {0}, fixed = 0;
    kl_random from = {7, 0, KL_DRAW_ORDER};
    (void)state;
    kl_random_permutation(&from, 3, N, order);
    for (int i = 0; i < N; i++) {
        seen[order[i]]++;
        fixed += order[i] == i;
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], 1);
    assert_true(fixed < 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_matrix_of_its_definition),
        cmocka_unit_test(all_tables_agree_bit_for_bit),
        cmocka_unit_test(twice_is_n_times_the_input_and_signs_come_first),
        cmocka_unit_test(rotations_are_orthonormal_and_haar),
        cmocka_unit_test(gammas_have_their_moments),
        cmocka_unit_test(permutations_hold_every_number_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
