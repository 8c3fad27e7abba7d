/*
 * test_maclaurin_mnist.c - random Maclaurin features, alone and in craft, on the first 1000 MNIST training rows of length 1,
 * K = (<x, y> + 1)^7: the protocol of figure 5 of Hamid et al. 2014, whose NRMSE is the RMSE over all entries divided by the standard deviation of K.
 * Needs KLIFT_DATA, a folder with mnist/train-images-idx3-ubyte; skipped without.
 */
#include "series.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 1000, COLUMNS = 784, MOST_SEEDS = 20 };

static const char published[] = "maclaurin:law=geometric,p=2,signs=real,h01=true";
static series_rows first_rows;        /* of length 1 */
static double *exact, deviation;      /* (ROWS, ROWS), and the standard deviation of its entries */

static kl_map *make(const char *text, int64_t features, uint64_t seed)
{
    return series_map(&first_rows, text, "poly:degree=7", features, seed);
}

static bool read_rows(series_rows *b)
{
    const char *folder = getenv("KLIFT_DATA");
    char path[4096];
    if (folder == NULL || folder[0] == '\0')
        return false;
    unsigned char *bytes = malloc(16 + ROWS * COLUMNS);
    snprintf(path, sizeof path, "%s/mnist/train-images-idx3-ubyte", folder);
    FILE *file = fopen(path, "rb");
    bool read = file != NULL && fread(bytes, 1, 16 + ROWS * COLUMNS, file) == 16 + ROWS * COLUMNS;
    b->dense = malloc(ROWS * COLUMNS * sizeof *b->dense);
    b->x = malloc(ROWS * COLUMNS * sizeof *b->x);
    for (int64_t i = 0; read && i < ROWS; i++) {
        double square = 0;
        for (int64_t j = 0; j < COLUMNS; j++)
            square += pow(bytes[16 + i * COLUMNS + j], 2);
        for (int64_t j = 0; j < COLUMNS; j++) {
            b->dense[i * COLUMNS + j] = (float)(bytes[16 + i * COLUMNS + j] / sqrt(square));
            b->x[i * COLUMNS + j] = (double)b->dense[i * COLUMNS + j];
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
    first_rows = (series_rows){.n = ROWS, .d = COLUMNS};
    if (!read_rows(&first_rows))
        return 0;
    kl_batch all = dense_batch(ROWS, COLUMNS, first_rows.dense);
    first_rows.survey = (kl_survey){.rows = ROWS, .columns = COLUMNS, .norm_max = 1, .norm_mean = 1, .nonzeros = ROWS * COLUMNS};
    exact = malloc(ROWS * ROWS * sizeof *exact);
    if (kl_rows_add(&first_rows.survey.sample, &all, 0, ROWS) != KLIFT_OK || exact == NULL)
        return -1;
    kl_map *any = make("maclaurin", 1024, 1);
    series_closed_form(any, &first_rows, exact);
    kl_map_free(any);
    for (int64_t i = 0; i < ROWS * ROWS; i++) {
        sum += exact[i] / (ROWS * ROWS);
        square += exact[i] * exact[i] / (ROWS * ROWS);
    }
    deviation = sqrt(square - sum * sum);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    free(exact);
    series_rows_free(&first_rows);
    return 0;
}

static bool there(void)
{
    if (exact == NULL)
        print_message("skipped: figures of MNIST (set KLIFT_DATA to a folder with mnist/train-images-idx3-ubyte)\n");
    return exact != NULL;
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
    assert_true(series_close(deviation, 10.5343, 1e-4));
    for (int i = 0; i < (quick() ? 2 : 4); i++) {
        const char *const texts[] = {"maclaurin:h01=false,projection=dense", "maclaurin:h01=true,projection=dense", "maclaurin"};
        double value[3];
        for (int t = 0; t < 3; t++) {
            kl_map *map = make(texts[t], cases[i].features, 1);
            value[t] = sqrt(series_closed_form(map, &first_rows, NULL));
            kl_map_free(map);
        }
        print_message("D=%lld: RMSE without h01 %.3f, with %.3f, default %.3f\n", (long long)cases[i].features, value[0], value[1], value[2]);
        assert_true(series_close(value[0], cases[i].without, 0.01)); /* the counts are of 256 of these rows */
        assert_true(series_close(value[1], cases[i].with, 0.01));
        assert_true(value[2] <= 1.001 * fmin(value[0], value[1]));
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Of a map that states its variance. */
static double stated(const char *text, int64_t features)
{
    kl_map *map = make(text, features, 1);
    double theory = series_closed_form(map, &first_rows, NULL);
    kl_map_free(map);
    return theory;
}

/* One point of a curve: the mean squared error over the seeds is within 5 of its standard errors of the closed form. */
static double check_point(const char *text, int64_t features, int seeds, double paper, double theory)
{
    double square[MOST_SEEDS], sum = 0, spread = 0;
    for (int s = 0; s < seeds; s++) {
        kl_map *map = make(text, features, (uint64_t)(1 + s));
        square[s] = series_mean_square(map, &first_rows, exact);
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
        check_point(published, (int64_t)1024 << i, MOST_SEEDS, paper[i], stated(published, (int64_t)1024 << i));
}

/* D features by SRHT to E: the variance of D features, and (K(x,x) K(y,y) + K^2) / E. */
static void published_craft_has_the_errors_of_figure_5(void **unused)
{
    (void)unused;
    static const struct {
        int64_t made, kept;
        double paper;
    } cases[] = {{1 << 15, 1 << 10, .485}, {1 << 15, 1 << 11, .356}, {1 << 15, 1 << 12, .256}, {1 << 15, 1 << 13, .206}, {1 << 17, 1 << 10, .416}, {1 << 17, 1 << 12, .218}};
    if (!there())
        return;
    for (int i = 0; i < (quick() ? 1 : 6); i++) {
        char text[128];
        double limit = 0;
        for (int64_t a = 0; a < ROWS; a++)
            for (int64_t b = 0; b < ROWS; b++)
                limit += (exact[a * ROWS + a] * exact[b * ROWS + b] + pow(exact[a * ROWS + b], 2)) / (ROWS * ROWS) / (double)cases[i].kept;
        snprintf(text, sizeof text, "craft(%s):up=%lld,down=srht", published, (long long)(cases[i].made / cases[i].kept));
        print_message("D=%-6lld ", (long long)cases[i].made);
        check_point(text, cases[i].kept, MOST_SEEDS, cases[i].paper, stated(published, cases[i].made) + limit);
    }
}

static void the_default_is_better_at_every_size(void **unused)
{
    (void)unused;
    static const double paper[] = {1.134, .575, .442, .297, .242};
    if (!there())
        return;
    for (int i = 0; i < (quick() ? 2 : 5); i++)
        assert_true(check_point("maclaurin", (int64_t)1024 << i, 10, paper[i], stated("maclaurin", (int64_t)1024 << i)) < paper[i]); /* with every seed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_are_those_of_the_reference),
        cmocka_unit_test(published_features_have_the_errors_of_figure_5),
        cmocka_unit_test(published_craft_has_the_errors_of_figure_5),
        cmocka_unit_test(the_default_is_better_at_every_size),
    };
    return cmocka_run_group_tests(tests, prepare, finish);
}
