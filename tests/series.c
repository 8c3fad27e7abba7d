/* series.c - random Maclaurin features made from SYN rows, and their errors against closed forms. */
#include "series.h"

#include "gram.h"
#include "math/product.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void series_rows_new(series_rows *b, int64_t n, int64_t d, double length)
{
    *b = (series_rows){.n = n, .d = d};
    b->x = malloc((size_t)(n * d) * sizeof *b->x);
    b->dense = malloc((size_t)(n * d) * sizeof *b->dense);
    syn_rows(n, d, b->x);
    for (int64_t i = 0; i < n * d; i++) {
        b->dense[i] = (float)(length * b->x[i]);
        b->x[i] = (double)b->dense[i];
    }
    kl_batch all = dense_batch(n, d, b->dense);
    b->survey = (kl_survey){.rows = n, .columns = d, .norm_max = length, .norm_mean = length, .nonzeros = n * d};
    assert_int_equal(kl_rows_add(&b->survey.sample, &all, 0, n), KLIFT_OK);
}

void series_rows_free(series_rows *b)
{
    free(b->x);
    free(b->dense);
    kl_rows_clear(&b->survey.sample);
}

klift_status series_try(const series_rows *b, const char *text, const char *kernel_text, int64_t features, uint64_t seed, kl_map **map)
{
    kl_kernel *kernel;
    assert_int_equal(kl_kernel_new(kernel_text, &kernel), KLIFT_OK);
    klift_status status = kl_kernel_fit(kernel, &b->survey);
    *map = NULL;
    if (status == KLIFT_OK)
        status = kl_map_new(text, kernel, features, seed, 0, map);
    if (status == KLIFT_OK)
        status = kl_map_make(*map, &b->survey, b->d, NULL);
    kl_kernel_free(kernel);
    return status;
}

kl_map *series_map(const series_rows *b, const char *text, const char *kernel, int64_t features, uint64_t seed)
{
    kl_map *map;
    if (series_try(b, text, kernel, features, seed, &map) != KLIFT_OK)
        fail_msg("%s %s: %s", text, kernel, kl_error_text());
    return map;
}

/* z z', by the library's own product: float32 sums are far finer than the errors looked at here. */
static float *gram(int64_t n, int64_t columns, const float *z)
{
    kl_panels w;
    float *out = malloc((size_t)(n * n) * sizeof *out);
    double *row = malloc((size_t)columns * sizeof *row);
    void *scratch = malloc((size_t)kl_product_scratch(columns));
    assert_int_equal(kl_panels_new(&w, n, columns), KLIFT_OK);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < columns; k++)
            row[k] = (double)z[i * columns + k];
        kl_panels_set(&w, i, row);
    }
    const kl_product_out to = {.out = out, .stride = n};
    kl_product_dense(&w, n, z, columns, &to, scratch);
    kl_panels_clear(&w);
    free(row);
    free(scratch);
    return out;
}

double series_mean_square(const kl_map *map, const series_rows *b, const double *exact)
{
    kl_batch all = dense_batch(b->n, b->d, b->dense);
    float *z = gram_lift(map, &all), *k = gram(b->n, map->n_out, z);
    double sum = 0;
    for (int64_t i = 0; i < b->n * b->n; i++)
        sum += ((double)k[i] - exact[i]) * ((double)k[i] - exact[i]);
    free(z);
    free(k);
    return sum / (double)(b->n * b->n);
}

double series_closed_form(const kl_map *map, const series_rows *b, double *exact)
{
    double sum = 0;
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            kl_pair pair;
            kl_pair_set(&pair, b->d, b->x + i * b->d, b->x + j * b->d);
            double bias = map->type->bias(map, &pair);
            sum += (i == j ? 1 : 2) * (map->type->variance(map, &pair) + bias * bias);
            if (exact != NULL)
                exact[i * b->n + j] = exact[j * b->n + i] = kl_kernel_value(map->kernel, &pair);
        }
    return sum / (double)(b->n * b->n);
}

double series_stated(const series_rows *b, const char *text, const char *kernel, int64_t features)
{
    kl_map *map = series_map(b, text, kernel, features, 1);
    double theory = series_closed_form(map, b, NULL);
    kl_map_free(map);
    return theory;
}

double series_check(const series_rows *b, const char *text, const char *kernel, int64_t features, int seeds, double table, double table_se)
{
    double *exact = malloc((size_t)(b->n * b->n) * sizeof *exact), *square = malloc((size_t)seeds * sizeof *square), sum = 0, spread = 0, theory = 0;
    for (int s = 0; s < seeds; s++) {
        kl_map *map = series_map(b, text, kernel, features, (uint64_t)(1 + s));
        if (s == 0)
            theory = series_closed_form(map, b, exact);
        square[s] = series_mean_square(map, b, exact);
        sum += square[s];
        kl_map_free(map);
    }
    double mean = sum / seeds;
    for (int s = 0; s < seeds; s++)
        spread += (square[s] - mean) * (square[s] - mean);
    double se = sqrt(spread / (seeds - 1) / seeds);
    print_message("%s, %s, d=%lld D=%lld: MSE %.4g (se %.1g), closed form %.4g, table %.4g (se %.1g)\n", kernel, text, (long long)b->d, (long long)features, mean, se, theory, table, table_se);
    if (!(fabs(mean - theory) <= 5 * se + 1e-11))
        fail_msg("%s, %s: MSE %g is not %g", kernel, text, mean, theory);
    if (table > 0 && !(fabs(theory - table) <= 5 * table_se))
        fail_msg("%s, %s: closed form %g is not the table's %g", kernel, text, theory, table);
    free(exact);
    free(square);
    return theory;
}

bool series_close(double a, double b, double relative)
{
    if (fabs(a - b) <= relative * fabs(b))
        return true;
    print_message("%.6g is not %.6g\n", a, b);
    return false;
}
