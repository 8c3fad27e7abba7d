/* gram.c - see gram.h; rows of support.c, all n^2 entries, sums in double. */
#include "gram.h"

#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static klift_status make(const char *text, const char *kernel_text, int64_t d, int64_t features, uint64_t seed, uint32_t stream, kl_map **out)
{
    kl_survey survey = {.rows = 64, .columns = d, .norm_max = 1, .norm_mean = 1};
    float *x = malloc((size_t)(64 * d) * sizeof *x);
    kl_kernel *kernel = NULL;
    syn_rows_float(64, d, x);
    klift_batch rows = dense_batch(64, d, x);
    klift_status status = kl_rows_add(&survey.sample, &rows, 0, 64);
    *out = NULL;
    if (status == KLIFT_OK)
        status = kl_kernel_new(kernel_text, &kernel);
    if (status == KLIFT_OK)
        status = kl_kernel_fit(kernel, &survey);
    if (status == KLIFT_OK)
        status = kl_map_new(text, kernel, features, seed, stream, out);
    if (status == KLIFT_OK)
        status = kl_map_make(*out, &survey, d, NULL);
    kl_kernel_free(kernel);
    kl_rows_clear(&survey.sample);
    free(x);
    return status;
}

kl_map *gram_map(const char *text, const char *kernel, int64_t d, int64_t features, uint64_t seed, uint32_t stream)
{
    kl_map *map;
    klift_status status = make(text, kernel, d, features, seed, stream, &map);
    if (status != KLIFT_OK)
        print_message("%s, %s, d=%lld: %s\n", text, kernel, (long long)d, kl_error_text());
    assert_int_equal(status, KLIFT_OK);
    return map;
}

klift_status gram_try(const char *text, const char *kernel, int64_t d, int64_t features)
{
    kl_map *map;
    klift_status status = make(text, kernel, d, features, 1, 0, &map);
    kl_map_free(map);
    return status;
}

float *gram_lift(const kl_map *map, const klift_batch *x)
{
    float *z = malloc((size_t)(x->rows * map->n_out) * sizeof *z);
    void *scratch = malloc((size_t)kl_map_dense_scratch(map, x) + 1);
    assert_int_equal(kl_map_apply_dense(map, x, z, map->n_out, false, scratch), KLIFT_OK);
    free(scratch);
    return z;
}

static klift_status load_spoilt(const kl_map *map, int64_t at, unsigned char spoil, int64_t *length, kl_map **loaded)
{
    kl_record_writer to;
    kl_record_reader from;
    uint32_t tag;
    kl_record_begin(&to, KL_RECORD_MODEL);
    kl_record_open(&to, KL_TAG('T', 'E', 'S', 'T'), true);
    int64_t first = to.length;
    kl_map_save(map, &to);
    *length = to.length - first;
    to.bytes[first + at] ^= spoil;
    kl_record_close(&to);
    assert_int_equal(kl_record_finish(&to), KLIFT_OK);
    assert_int_equal(kl_record_check(&from, to.bytes, to.length, KL_RECORD_MODEL), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    klift_status status = kl_map_load(&from, map->n_in, NULL, loaded);
    kl_record_clear(&to);
    return status;
}

/* It may refuse the rows, but not break. */
static void apply_spoilt(const kl_map *map, const klift_batch *x)
{
    float *z = malloc((size_t)(x->rows * map->n_out) * sizeof *z);
    void *scratch = malloc((size_t)kl_map_dense_scratch(map, x) + 1);
    kl_map_apply_dense(map, x, z, map->n_out, false, scratch);
    free(scratch);
    free(z);
}

void gram_damage(const kl_map *map, const klift_batch *x, int64_t *tried, int64_t *refused)
{
    static const unsigned char spoil[] = {0x01, 0x80, 0xff};
    for (int64_t at = 0, length = 1; at < length; at++)
        for (int k = 0; k < 3; k++) {
            kl_map *loaded = NULL;
            klift_status status = load_spoilt(map, at, spoil[k], &length, &loaded);
            if (status == KLIFT_OK)
                apply_spoilt(loaded, x);
            *refused += status != KLIFT_OK;
            *tried += 1;
            kl_map_free(loaded);
        }
}

double gram_product(int64_t n, const float *x, const float *y)
{
    double sum[8] = {0};
    for (int64_t k = 0; k < n; k++)
        sum[k % 8] += (double)x[k] * (double)y[k];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

typedef struct reference {
    float *x;
    double *k; /* (GRAM_ROWS, GRAM_ROWS) exact */
    double stated;
} reference;

static void exact_values(reference *r, const kl_map *map, int64_t d, bool stated)
{
    double *x = malloc((size_t)(GRAM_ROWS * d) * sizeof *x);
    r->k = malloc((size_t)(GRAM_ROWS * GRAM_ROWS) * sizeof *r->k);
    r->stated = 0;
    for (int64_t i = 0; i < GRAM_ROWS * d; i++)
        x[i] = (double)r->x[i];
    for (int64_t i = 0; i < GRAM_ROWS; i++)
        for (int64_t j = 0; j < GRAM_ROWS; j++) {
            kl_pair pair;
            kl_pair_set(&pair, d, x + i * d, x + j * d);
            r->k[i * GRAM_ROWS + j] = kl_kernel_value(map->kernel, &pair);
            r->stated += stated && map->type->variance != NULL ? map->type->variance(map, &pair) / (GRAM_ROWS * GRAM_ROWS) : NAN;
        }
    free(x);
}

static void one_seed(const kl_map *map, const reference *r, const klift_batch *x, double *error, double *square, double *absolute)
{
    float *z = gram_lift(map, x);
    *error = *square = *absolute = 0;
    for (int64_t i = 0; i < GRAM_ROWS; i++)
        for (int64_t j = 0; j <= i; j++) {
            double e = gram_product(map->n_out, z + i * map->n_out, z + j * map->n_out) - r->k[i * GRAM_ROWS + j], times = i == j ? 1 : 2;
            *error += times * e / (GRAM_ROWS * GRAM_ROWS);
            *square += times * e * e / (GRAM_ROWS * GRAM_ROWS);
            *absolute += times * fabs(e) / (GRAM_ROWS * GRAM_ROWS);
        }
    free(z);
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

static gram_errors measure(const gram_case *c, bool stated)
{
    double error[64], square[64], absolute[64], none;
    gram_errors out = {0};
    reference r = {.x = malloc((size_t)(GRAM_ROWS * c->d) * sizeof(float))};
    assert_true(c->seeds <= 64);
    syn_rows_float(GRAM_ROWS, c->d, r.x);
    klift_batch x = dense_batch(GRAM_ROWS, c->d, r.x);
    for (int s = 0; s < c->seeds; s++) {
        kl_map *map = gram_map(c->map, c->kernel, c->d, c->features, (uint64_t)(1 + s), 0);
        if (s == 0)
            exact_values(&r, map, c->d, stated);
        out.outputs = map->n_out;
        one_seed(map, &r, &x, &error[s], &square[s], &absolute[s]);
        kl_map_free(map);
    }
    out.stated = r.stated;
    mean_and_error(error, c->seeds, &out.bias, &out.bias_error);
    mean_and_error(square, c->seeds, &out.mse, &out.mse_error);
    mean_and_error(absolute, c->seeds, &out.mae, &none);
    free(r.x);
    free(r.k);
    return out;
}

gram_errors gram_measure(const gram_case *c)
{
    return measure(c, true);
}

gram_errors gram_measure_only(const gram_case *c)
{
    return measure(c, false);
}

static gram_errors measure_and_print(const gram_case *c)
{
    gram_errors e = gram_measure(c);
    print_message("%s %s d=%lld D=%lld: MAE %.4g MSE %.4g (se %.1g), closed form %.4g, bias %.2g (se %.1g)\n", c->map, c->kernel, (long long)c->d,
                  (long long)c->features, e.mae, e.mse, e.mse_error, e.stated, e.bias, e.bias_error);
    assert_true(fabs(e.bias) <= 5 * e.bias_error + 1e-6);
    return e;
}

gram_errors gram_check(const gram_case *c)
{
    gram_errors e = measure_and_print(c);
    double rounding = 1e-10 * (1 + e.stated); /* float32 features of an exact map */
    assert_true(fabs(e.mse - e.stated) <= 5 * e.mse_error + rounding); /* not when nothing is stated */
    return e;
}

gram_errors gram_check_bias(const gram_case *c)
{
    gram_errors e = measure_and_print(c);
    assert_true(isnan(e.stated));
    return e;
}
