/* histograms.c - see histograms.h: |SYN|, below 0.1 nothing, divided by the sum. */
#include "histograms.h"

#include "gram.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = HISTOGRAM_ROWS, D = HISTOGRAM_COLUMNS, MOST_SEEDS = 64 };

void histograms_new(histograms *h)
{
    *h = (histograms){0};
    syn_rows(N, D, h->x);
    for (int64_t i = 0; i < N; i++) {
        double sum = 0;
        for (int64_t j = 0; j < D; j++) {
            double v = fabs(h->x[i * D + j]);
            h->x[i * D + j] = v < 0.1 ? 0 : v;
            sum += h->x[i * D + j];
        }
        for (int64_t j = 0; j < D; j++)
            h->dense[i * D + j] = (float)(h->x[i * D + j] / sum);
    }
    for (int64_t i = 0; i < N * D; i++)
        h->x[i] = (double)h->dense[i];
    klift_batch all = dense_batch(N, D, h->dense);
    h->survey = (kl_survey){.rows = N, .columns = D, .norm_max = 1, .norm_mean = 1, .nonzeros = N * D};
    assert_int_equal(kl_rows_add(&h->survey.sample, &all, 0, N), KLIFT_OK);
}

void histograms_free(histograms *h)
{
    kl_rows_clear(&h->survey.sample);
}

kl_map *histograms_map(const histograms *h, const char *text, const char *kernel_text, int64_t features, uint64_t seed)
{
    kl_kernel *kernel;
    kl_map *map = NULL;
    assert_int_equal(kl_kernel_new(kernel_text, &kernel), KLIFT_OK);
    if (kl_kernel_fit(kernel, &h->survey) != KLIFT_OK || kl_map_new(text, kernel, features, seed, 0, &map) != KLIFT_OK || kl_map_make(map, &h->survey, D, NULL) != KLIFT_OK)
        fail_msg("%s, %s: %s", text, kernel_text, kl_error_text());
    kl_kernel_free(kernel);
    return map;
}

static void mean_and_error(const double *v, int count, double *mean, double *standard_error)
{
    double sum = 0, square = 0;
    for (int i = 0; i < count; i++)
        sum += v[i];
    *mean = sum / count;
    for (int i = 0; i < count; i++)
        square += (v[i] - *mean) * (v[i] - *mean);
    *standard_error = sqrt(square / (count - 1) / count);
}

static double state_variance(const histograms *h, const kl_map *map)
{
    double sum = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            kl_pair pair;
            kl_pair_set(&pair, D, h->x + i * D, h->x + j * D);
            sum += map->type->variance(map, &pair) / (N * N);
        }
    return sum;
}

histograms_errors histograms_check(const histograms *h, const char *text, const char *kernel, int64_t features, int seeds)
{
    double square[MOST_SEEDS] = {0}, error[MOST_SEEDS] = {0};
    histograms_errors e = {0};
    klift_batch all = dense_batch(N, D, h->dense);
    assert_true(seeds <= MOST_SEEDS);
    for (int s = 0; s < seeds; s++) {
        kl_map *map = histograms_map(h, text, kernel, features, (uint64_t)(1 + s));
        float *z = gram_lift(map, &all);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                kl_pair pair;
                kl_pair_set(&pair, D, h->x + i * D, h->x + j * D);
                double miss = gram_product(map->n_out, z + i * map->n_out, z + j * map->n_out) - kl_kernel_value(map->kernel, &pair);
                square[s] += miss * miss / (N * N);
                error[s] += miss / (N * N);
            }
        free(z);
        e.stated = s == 0 ? state_variance(h, map) : e.stated;
        kl_map_free(map);
    }
    mean_and_error(square, seeds, &e.mse, &e.mse_error);
    mean_and_error(error, seeds, &e.bias, &e.bias_error);
    print_message("%s, %s, D=%lld: MSE %.4g (se %.1g), stated %.4g, bias %.2g (se %.1g)\n", text, kernel, (long long)features, e.mse, e.mse_error, e.stated, e.bias, e.bias_error);
    if (!(fabs(e.mse - e.stated) <= 5 * e.mse_error + 1e-13) || !(fabs(e.bias) <= 5 * e.bias_error + 1e-6))
        fail_msg("%s, %s: outside of 5 standard errors", text, kernel);
    return e;
}
