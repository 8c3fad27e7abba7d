/*
 * test_maclaurin_mnist.c - random Maclaurin features on the first 1000 MNIST training rows of length 1, K = (<x, y> + 1)^7: the
 * protocol of figure 5 of Hamid et al. 2014, whose NRMSE is the RMSE over all entries divided by the standard deviation of K.
 * Needs KLIFT_DATA, a folder with mnist/train-images-idx3-ubyte; skipped without.
 */
#include "map/map.h"
#include "math/product.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 1000, COLUMNS = 784, MOST_SEEDS = 20 };

static float *dense;       /* (ROWS, COLUMNS), of length 1 */
static double *rows, *exact; /* the same; (ROWS, ROWS) */
static kl_survey survey;
static double deviation;

static bool read_rows(void)
{
    const char *folder = getenv("KLIFT_DATA");
    char path[4096];
    if (folder == NULL)
        return false;
    unsigned char *bytes = malloc(16 + ROWS * COLUMNS);
    snprintf(path, sizeof path, "%s/mnist/train-images-idx3-ubyte", folder);
    FILE *file = fopen(path, "rb");
    bool read = file != NULL && fread(bytes, 1, 16 + ROWS * COLUMNS, file) == 16 + ROWS * COLUMNS;
    dense = malloc(ROWS * COLUMNS * sizeof *dense);
    rows = malloc(ROWS * COLUMNS * sizeof *rows);
    for (int64_t i = 0; read && i < ROWS; i++) {
        double square = 0;
        for (int64_t j = 0; j < COLUMNS; j++)
            square += pow(bytes[16 + i * COLUMNS + j], 2);
        for (int64_t j = 0; j < COLUMNS; j++) {
            dense[i * COLUMNS + j] = (float)(bytes[16 + i * COLUMNS + j] / sqrt(square));
            rows[i * COLUMNS + j] = (double)dense[i * COLUMNS + j];
        }
    }
    if (file != NULL)
        fclose(file);
    free(bytes);
    return read;
}

static int prepare(void **state)
{
    double sum = 0, square = 0;
    (void)state;
    if (!read_rows())
        return 0;
    kl_batch all = dense_batch(ROWS, COLUMNS, dense);
    survey = (kl_survey){.rows = ROWS, .columns = COLUMNS, .norm_max = 1, .norm_mean = 1, .nonzeros = ROWS * COLUMNS};
    exact = malloc(ROWS * ROWS * sizeof *exact);
    if (kl_rows_add(&survey.sample, &all, 0, ROWS) != KLIFT_OK || exact == NULL)
        return -1;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ROWS; j++) {
            double s = 0;
            for (int64_t k = 0; k < COLUMNS; k++)
                s += rows[i * COLUMNS + k] * rows[j * COLUMNS + k];
            exact[i * ROWS + j] = pow(s + 1, 7);
            sum += exact[i * ROWS + j] / (ROWS * ROWS);
            square += exact[i * ROWS + j] * exact[i * ROWS + j] / (ROWS * ROWS);
        }
    deviation = sqrt(square - sum * sum);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    free(dense);
    free(rows);
    free(exact);
    kl_rows_clear(&survey.sample);
    return 0;
}

static bool there(void)
{
    if (exact == NULL)
        print_message("skipped: figures of MNIST (set KLIFT_DATA to a folder with mnist/train-images-idx3-ubyte)\n");
    return exact != NULL;
}

static kl_map *make(const char *text, int64_t features, uint64_t seed)
{
    kl_kernel *kernel;
    kl_map *map;
    assert_int_equal(kl_kernel_new("poly:degree=7", &kernel), KLIFT_OK);
    assert_int_equal(kl_map_new(text, kernel, features, seed, 0, &map), KLIFT_OK);
    assert_int_equal(kl_map_make(map, &survey, COLUMNS, NULL), KLIFT_OK);
    kl_kernel_free(kernel);
    return map;
}

static double closed_form(const kl_map *map)
{
    double sum = 0;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j <= i; j++) {
            kl_pair pair = {.n = COLUMNS, .x = rows + i * COLUMNS, .y = rows + j * COLUMNS};
            sum += (i == j ? 1 : 2) * map->type->variance(map, &pair);
        }
    return sum / (ROWS * ROWS);
}

static double mean_square(const kl_map *map)
{
    kl_batch all = dense_batch(ROWS, COLUMNS, dense);
    int64_t n = map->n_out;
    float *z = malloc((size_t)(ROWS * n) * sizeof *z), *k = malloc(ROWS * ROWS * sizeof *k);
    void *scratch = malloc((size_t)(kl_map_dense_scratch(map, &all) + kl_product_scratch(n)));
    double *row = malloc((size_t)n * sizeof *row), sum = 0;
    kl_panels w;
    assert_int_equal(kl_map_apply_dense(map, &all, z, n, false, scratch), KLIFT_OK);
    assert_int_equal(kl_panels_new(&w, ROWS, n), KLIFT_OK);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < n; j++)
            row[j] = (double)z[i * n + j];
        kl_panels_set(&w, i, row);
    }
    const kl_product_out to = {.out = k, .stride = ROWS};
    kl_product_dense(&w, ROWS, z, n, &to, scratch);
    for (int64_t i = 0; i < ROWS * ROWS; i++)
        sum += pow((double)k[i] - exact[i], 2) / (ROWS * ROWS);
    kl_panels_clear(&w);
    free(z);
    free(k);
    free(scratch);
    free(row);
    return sum;
}

static bool close_to(double a, double b, double relative)
{
    if (fabs(a - b) <= relative * fabs(b))
        return true;
    print_message("%.6g is not %.6g\n", a, b);
    return false;
}

static void closed_forms_are_those_of_the_reference(void **unused)
{
    (void)unused;
    static const struct {
        int64_t features;
        double without, with;
    } cases[] = {{1024, 5.612, 11.121}, {2048, 3.968, 4.838}, {4096, 2.805, 2.988}, {16384, 1.402, 1.377}};
    if (!there())
        return;
    assert_true(close_to(deviation, 10.5343, 1e-4));
    for (int i = 0; i < (quick() ? 2 : 4); i++) {
        const char *const texts[] = {"maclaurin:h01=false,projection=dense", "maclaurin:h01=true,projection=dense", "maclaurin"};
        double value[3];
        for (int t = 0; t < 3; t++) {
            kl_map *map = make(texts[t], cases[i].features, 1);
            value[t] = sqrt(closed_form(map));
            kl_map_free(map);
        }
        print_message("D=%lld: RMSE without h01 %.3f, with %.3f, default %.3f\n", (long long)cases[i].features, value[0], value[1], value[2]);
        assert_true(close_to(value[0], cases[i].without, 0.01)); /* the counts are of 256 of these rows */
        assert_true(close_to(value[1], cases[i].with, 0.01));
        assert_true(value[2] <= 1.001 * fmin(value[0], value[1]));
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* One point of a curve: the mean squared error over the seeds is within 5 of its standard errors of the closed form. */
static double check_point(const char *text, int64_t features, int seeds, double paper)
{
    double square[MOST_SEEDS], sum = 0, spread = 0, theory = 0;
    for (int s = 0; s < seeds; s++) {
        kl_map *map = make(text, features, (uint64_t)(1 + s));
        if (s == 0)
            theory = closed_form(map);
        square[s] = mean_square(map);
        sum += square[s];
        kl_map_free(map);
    }
    double mean = sum / seeds;
    for (int s = 0; s < seeds; s++)
        spread += (square[s] - mean) * (square[s] - mean);
    double se = sqrt(spread / (seeds - 1) / seeds);
    qsort(square, (size_t)seeds, sizeof *square, ascending);
    print_message("E=%-6lld paper %-6.3g  NRMSE median %.3f, range %.3f to %.3f, closed form %.3f\n", (long long)features, paper, sqrt(square[seeds / 2]) / deviation,
                  sqrt(square[0]) / deviation, sqrt(square[seeds - 1]) / deviation, sqrt(theory) / deviation);
    if (!(fabs(mean - theory) <= 5 * se))
        fail_msg("E=%lld: mean squared error %g (se %g) is not %g", (long long)features, mean, se, theory);
    return sqrt(square[seeds - 1]) / deviation;
}

static void published_features_have_the_errors_of_figure_5(void **unused)
{
    (void)unused;
    static const double paper[] = {1.134, .575, .442, .297, .242, .175};
    if (!there())
        return;
    for (int i = 0; i < (quick() ? 2 : 6); i++)
        check_point("maclaurin:law=geometric,p=2,signs=real,h01=true", (int64_t)1024 << i, MOST_SEEDS, paper[i]);
}

static void the_default_is_better_at_every_size(void **unused)
{
    (void)unused;
    static const double paper[] = {1.134, .575, .442, .297, .242};
    if (!there())
        return;
    for (int i = 0; i < (quick() ? 2 : 5); i++)
        assert_true(check_point("maclaurin", (int64_t)1024 << i, 10, paper[i]) < paper[i]); /* with every seed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_are_those_of_the_reference),
        cmocka_unit_test(published_features_have_the_errors_of_figure_5),
        cmocka_unit_test(the_default_is_better_at_every_size),
    };
    return cmocka_run_group_tests(tests, prepare, finish);
}
