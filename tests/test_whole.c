/* test_whole.c - products of whole numbers (math/whole.h), tiles that are made of them, and ridge with cache=int16. */
#include "math/micro.h"
#include "math/tiles.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int16_t whole(uint64_t i)
{
    return (int16_t)lrint((2 * syn_uniform(i) - 1) * KL_WHOLE_MOST);
}

/* Every table against 64-bit sums, to the last row that fits; the largest numbers too, which all but reach 2^31. */
static void sums_are_exact_in_every_table(void **state)
{
    enum { PAIRS_MOST = KL_WHOLE_ROWS / 2, STRIDE = KL_MICRO_WIDEST + 3 };
    static const int64_t lengths[] = {0, 1, 2, 3, 37, PAIRS_MOST};
    static int16_t a[2 * PAIRS_MOST * KL_MICRO_LEFT], b[2 * PAIRS_MOST * KL_MICRO_WIDEST];
    (void)state;
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++)
        for (int s = 0; s < 7; s++) {
            const kl_micro *m = kl_micro_at(t);
            int64_t pairs = s < 6 ? lengths[s] : PAIRS_MOST;
            double c[KL_MICRO_LEFT * STRIDE];
            for (int i = 0; i < (int)(sizeof a / sizeof *a); i++)
                a[i] = s < 6 ? whole((uint64_t)i) : -KL_WHOLE_MOST;
            for (int i = 0; i < (int)(sizeof b / sizeof *b); i++)
                b[i] = s < 6 ? whole((uint64_t)(i + 99991)) : KL_WHOLE_MOST;
            for (int i = 0; i < KL_MICRO_LEFT * STRIDE; i++)
                c[i] = 3;
            m->add16(pairs, a, b, 0.25, c, STRIDE);
            for (int i = 0; i < KL_MICRO_LEFT; i++)
                for (int j = 0; j < STRIDE; j++) {
                    int64_t sum = 0;
                    for (int64_t p = 0; p < pairs && i < m->left32 && j < m->width32; p++)
                        for (int k = 0; k < 2; k++)
                            sum += (int64_t)a[2 * (p * m->left32 + i) + k] * b[2 * (p * m->width32 + j) + k];
                    if (c[i * STRIDE + j] != 3 + 0.25 * (double)sum)
                        fail_msg("%s, %d pairs: (%d, %d) is %g", m->name, (int)pairs, i, j, c[i * STRIDE + j]);
                }
        }
}

static void numbers_are_rounded_to_the_nearest_and_ties_to_even(void **state)
{
    (void)state;
    for (int i = -8 * KL_WHOLE_MOST; i <= 8 * KL_WHOLE_MOST; i++)
        assert_true(kl_whole_round((float)i / 8) == rintf((float)i / 8));
    for (uint64_t i = 0; i < 10000; i++) {
        float x = (float)((2 * syn_uniform(i) - 1) * KL_WHOLE_MOST);
        assert_true(kl_whole_round(x) == rintf(x));
    }
}

/* G of n columns and so many rows, by all tasks in turn, against sums of the rounded numbers that are exact in float64. */
static void check_tiles(int64_t n, int64_t rows, bool weighted)
{
    const float step = 0x1p-10f;
    float *z = malloc((size_t)(rows * n) * sizeof *z), *shift = malloc((size_t)n * sizeof *shift);
    double *weight = malloc((size_t)rows * sizeof *weight);
    int32_t *index = malloc((size_t)rows * sizeof *index);
    kl_tiles tiles;
    for (int64_t i = 0; i < rows * n; i++)
        z[i] = (float)(2 * syn_uniform((uint64_t)i) - 1);
    for (int64_t j = 0; j < n; j++)
        shift[j] = (float)(0.9 * (2 * syn_uniform((uint64_t)j + 77) - 1));
    for (int64_t i = 0; i < rows; i++) {
        index[i] = (int32_t)(rows - 1 - i);
        weight[i] = 0.5 + (double)(i % 3);
    }
    assert_int_equal(kl_tiles_new(&tiles, n, NULL), KLIFT_OK);
    tiles.step = step;
    void *packed = malloc((size_t)kl_tiles_packed(&tiles, rows));
    kl_tile_rows given = {z, n, rows, index, shift, weighted ? weight : NULL};
    assert_int_equal(kl_tiles_add(&tiles, &given, packed, NULL), KLIFT_OK);
    for (int64_t i = 0; i < n; i += n > 600 ? 97 : 1)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t r = 0; r < rows; r++) {
                double one = rint(((double)(z[r * n + i] - shift[i])) / (double)step) * (double)step, two = rint((double)(z[r * n + j] - shift[j]) / (double)step) * (double)step;
                assert_true(kl_tiles_centred(&tiles, z[r * n + i], shift[i]) == one);
                sum += (weighted ? weight[r] : 1) * one * two;
            }
            if (!(fabs(kl_tiles_get(&tiles, i, j) - sum) <= (weighted && n > KL_TILES_EXACT ? 1e-5 * (double)rows : 0)))
                fail_msg("n %d, %d rows: (%d, %d) is %.17g, not %.17g", (int)n, (int)rows, (int)i, (int)j, kl_tiles_get(&tiles, i, j), sum);
        }
    free(packed);
    free(z);
    free(shift);
    free(weight);
    free(index);
    kl_tiles_clear(&tiles);
}

static void tiles_of_steps_are_exact(void **state)
{
    static const int64_t sizes[] = {1, 5, 16, 47, 130};
    (void)state;
    for (int i = 0; i < 5; i++)
        for (int weighted = 0; weighted < 2; weighted++) {
            check_tiles(sizes[i], 1, weighted);
            check_tiles(sizes[i], 36, weighted);
            check_tiles(sizes[i], KL_WHOLE_ROWS + 77, weighted);
        }
    check_tiles(530, 9, false);
    check_tiles(KL_TILES_EXACT + 30, 7, false);
    check_tiles(KL_TILES_EXACT + 30, 7, true);
}

/* ---- ridge ---- */

static klift_model *train(const table *t, const char *map, const char *features, const char *cache, const char *threads, const char *batch)
{
    klift_spec *spec = spec_of(PAIRS("kernel", "gaussian:gamma=2", "map", map, "features", features, "cache", cache, "lambda", "1e-4", "task", "classify"));
    klift_run *run = run_of(PAIRS("threads", threads, "batch", batch));
    klift_batch rows = rows_of(t, 0, t->n);
    klift_model *model;
    if (train_rows(spec, &rows, run, &model) != KLIFT_OK)
        fail_msg("%s: %s", map, klift_error());
    klift_spec_free(spec);
    klift_run_free(run);
    return model;
}

static void rounded_features_train_nearly_the_same_model_and_always_the_same_bytes(void **state)
{
    static const char *const maps[] = {"fourier", "fourier:form=phase", "orthogonal", "fastfood"};
    table t = load("rings", "rows=3000,seed=3");
    klift_batch rows = rows_of(&t, 0, t.n);
    (void)state;
    for (int i = 0; i < 4; i++) {
        klift_model *plain = train(&t, maps[i], "128", "float32", "2", "1000"), *rounded = train(&t, maps[i], "128", "int16", "2", "1000");
        double far = largest_score_difference(plain, rounded, &rows);
        print_message("%s: scores differ by %.2g\n", maps[i], far);
        assert_true(far > 0 && far < 0.01);
        klift_model *other = train(&t, maps[i], "128", "int16", "1", "7");
        assert_same_bytes(rounded, other);
        klift_model_free(other);
        other = train(&t, maps[i], "128", "int16", "3", "3000");
        assert_same_bytes(rounded, other);
        klift_model_free(other);
        klift_model_free(plain);
        klift_model_free(rounded);
    }
    table_free(&t);
}

static void maps_whose_features_have_no_bound_are_refused(void **state)
{
    klift_spec *spec = spec_of(PAIRS("map", "nystrom", "features", "16", "cache", "int16", "task", "classify"));
    table t = load("rings", "rows=200");
    klift_batch rows = rows_of(&t, 0, t.n);
    klift_model *model;
    (void)state;
    assert_int_equal(train_rows(spec, &rows, NULL, &model), KLIFT_USAGE);
    assert_null(model);
    assert_non_null(strstr(klift_error(), "cache=int16 needs features of one size"));
    assert_non_null(strstr(klift_error(), "cache=float32"));
    klift_spec_free(spec);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_in_every_table),
        cmocka_unit_test(numbers_are_rounded_to_the_nearest_and_ties_to_even),
        cmocka_unit_test(tiles_of_steps_are_exact),
        cmocka_unit_test(rounded_features_train_nearly_the_same_model_and_always_the_same_bytes),
        cmocka_unit_test(maps_whose_features_have_no_bound_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
