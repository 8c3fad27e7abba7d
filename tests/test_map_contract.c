/*
 * test_map_contract.c - what every map must do, for every kernel that fits and every variant: walks the registries, so
 * a new map is tested by being registered. Data: SYN rows (support.c), errors over all n^2 entries of the Gram
 * matrix; statistical checks allow 5 of their own standard errors over fixed seeds.
 */
#include "gram.h"
#include "map/map.h"
#include "support.h"

#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 40, SEEDS = 24, SPREAD = 1 << 15 };

typedef struct bench {
    int64_t n, d;
    double *x;    /* (n, d) */
    float *dense; /* (n, d) */
    int64_t *start;
    int32_t *column;
    float *value;
    kl_survey survey;
} bench;

/* Rows of the domain of a kernel. */
static void bench_new(bench *b, int64_t n, int64_t d, unsigned domain)
{
    *b = (bench){.n = n, .d = d};
    b->x = malloc((size_t)(n * d) * sizeof *b->x);
    b->dense = malloc((size_t)(n * d) * sizeof *b->dense);
    b->start = malloc((size_t)(n + 1) * sizeof *b->start);
    b->column = malloc((size_t)(n * d) * sizeof *b->column);
    b->value = malloc((size_t)(n * d) * sizeof *b->value);
    syn_rows(n, d, b->x);
    int64_t at = 0;
    b->start[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        double square = 0; /* rows have length 1, whatever is left of them: some maps are for no others */
        for (int64_t j = 0; j < d; j++)
            square += d > 5 && (i + j) % 3 == 0 ? 0 : b->x[i * d + j] * b->x[i * d + j];
        for (int64_t j = 0; j < d; j++) {
            float v = (float)(b->x[i * d + j] / sqrt(square));
            if (domain & KL_NON_NEGATIVE) /* of different lengths: one column has nothing else */
                v = fabsf(v) * (float)(1 + i % 7) / 7;
            if (d > 5 && (i + j) % 3 == 0) /* some zeros, so that sparse rows differ from dense ones */
                v = 0.0f;
            b->dense[i * d + j] = v;
            b->x[i * d + j] = (double)v;
            if (v != 0.0f) {
                b->column[at] = (int32_t)j;
                b->value[at++] = v;
            }
        }
        b->start[i + 1] = at;
    }
    kl_batch all = {.size = sizeof all, .rows = n, .columns = d, .dense = b->dense, .stride = d};
    b->survey.rows = n;
    b->survey.complete = true;
    b->survey.columns = d;
    b->survey.norm_max = b->survey.norm_mean = 1;
    assert_int_equal(kl_rows_add(&b->survey.sample, &all, 0, n), KLIFT_OK);
}

static void bench_free(bench *b)
{
    free(b->x);
    free(b->dense);
    free(b->start);
    free(b->column);
    free(b->value);
    kl_rows_clear(&b->survey.sample);
}

static kl_batch dense_view(const bench *b)
{
    return (kl_batch){.size = sizeof(kl_batch), .rows = b->n, .columns = b->d, .dense = b->dense, .stride = b->d};
}

static kl_batch sparse_view(const bench *b)
{
    return (kl_batch){.size = sizeof(kl_batch), .rows = b->n, .columns = b->d, .start = b->start, .column = b->column, .value = b->value};
}

static kl_map *make(const bench *b, const char *text, const char *kernel_text, int64_t features, uint64_t seed, uint32_t stream)
{
    kl_kernel *kernel;
    kl_map *map;
    assert_int_equal(kl_kernel_new(kernel_text, &kernel), KLIFT_OK);
    assert_int_equal(kl_kernel_fit(kernel, &b->survey), KLIFT_OK);
    assert_int_equal(kl_map_new(text, kernel, features, seed, stream, &map), KLIFT_OK);
    assert_int_equal(kl_map_make(map, &b->survey, b->d, NULL), KLIFT_OK);
    kl_kernel_free(kernel);
    return map;
}

static float *lift(const kl_map *map, const kl_batch *x)
{
    float *z = malloc((size_t)(x->rows * map->n_out) * sizeof *z + 1);
    void *scratch = malloc((size_t)kl_map_dense_scratch(map, x) + 1);
    assert_int_equal(kl_map_apply_dense(map, x, z, map->n_out, x->rows % 2 == 0, scratch), KLIFT_OK);
    free(scratch);
    return z;
}

static double largest_difference(const float *a, const float *b, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        if (!(d <= most))
            most = d; /* NaN stays */
    }
    return most;
}

/* ---- the contract, each part answering how many times it is broken ---- */

static int rows_alone_equal_the_batch(const kl_map *map, const bench *b)
{
    kl_batch all = dense_view(b);
    float *together = lift(map, &all);
    int broken = 0;
    for (int64_t i = 0; i < b->n; i++) {
        kl_batch one = kl_batch_part(&all, i, 1);
        float *alone = lift(map, &one);
        broken += !(largest_difference(alone, together + i * map->n_out, map->n_out) <= 1e-6);
        free(alone);
    }
    free(together);
    return broken;
}

static int sparse_equals_dense(const kl_map *map, const bench *b)
{
    kl_batch dense = dense_view(b), sparse = sparse_view(b);
    kl_batch tail = kl_batch_part(&sparse, b->n / 2, b->n - b->n / 2); /* entries that do not start at 0 */
    float *one = lift(map, &dense), *two = lift(map, &sparse), *three = lift(map, &tail);
    int broken = !(largest_difference(one, two, b->n * map->n_out) <= 1e-6);
    broken += !(largest_difference(one + b->n / 2 * map->n_out, three, tail.rows * map->n_out) <= 1e-6);
    free(one);
    free(two);
    free(three);
    return broken;
}

static int a_loaded_map_equals_the_saved_one(const kl_map *map, const bench *b)
{
    kl_record_writer to;
    kl_record_reader from;
    kl_map *loaded = NULL;
    uint32_t tag;
    kl_batch all = dense_view(b);
    kl_record_begin(&to, KL_RECORD_MODEL);
    kl_record_open(&to, KL_TAG('T', 'E', 'S', 'T'), true);
    kl_map_save(map, &to);
    kl_record_close(&to);
    assert_int_equal(kl_record_finish(&to), KLIFT_OK);
    assert_int_equal(kl_record_check(&from, to.bytes, to.length, KL_RECORD_MODEL), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    assert_int_equal(kl_map_load(&from, map->n_in, NULL, &loaded), KLIFT_OK);
    assert_int_equal(kl_record_done(&from), KLIFT_OK);
    float *before = lift(map, &all), *after = lift(loaded, &all);
    int broken = memcmp(before, after, (size_t)(b->n * map->n_out) * sizeof *before) != 0;
    free(before);
    free(after);
    kl_map_free(loaded);
    kl_record_clear(&to);
    return broken;
}

static int a_zero_row_is_finite_or_refused(const kl_map *map, const bench *b)
{
    float *zero = calloc((size_t)b->d, sizeof *zero);
    kl_batch one = {.size = sizeof one, .rows = 1, .columns = b->d, .dense = zero, .stride = b->d};
    float *z = calloc((size_t)map->n_out, sizeof *z);
    void *scratch = malloc((size_t)kl_map_dense_scratch(map, &one) + 1);
    bool outside = map->type->domain & KL_UNIT_NORM; /* then it is refused */
    int broken = kl_map_apply_dense(map, &one, z, map->n_out, false, scratch) != (outside ? KLIFT_DATA : KLIFT_OK);
    for (int64_t i = 0; i < map->n_out; i++)
        broken += !isfinite(z[i]);
    free(scratch);
    free(z);
    free(zero);
    return broken;
}

/* A map with a bias and no variance: the bound is for every single copy. */
static bool is_bounded(const kl_map_type *type)
{
    return type->accuracy == KL_BIASED && type->variance == NULL;
}

/* Sums of errors and squared errors of one map over all pairs; *theory is the mean of the stated variances, *worst the largest
 * error, of a map with a bound the largest beyond it. theory and worst may be NULL: they take their time. */
static void pair_errors(const kl_map *map, const bench *b, double *error, double *square, double *theory, double *worst)
{
    kl_batch all = dense_view(b);
    float *z = lift(map, &all);
    double none, *beyond_all = worst != NULL ? worst : &none;
    *error = *square = *beyond_all = 0;
    if (theory != NULL)
        *theory = 0;
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t j = 0; j < b->n; j++) {
            kl_pair pair;
            double estimate = 0;
            kl_pair_set(&pair, b->d, b->x + i * b->d, b->x + j * b->d);
            for (int64_t k = 0; k < map->n_out; k++)
                estimate += (double)z[i * map->n_out + k] * (double)z[j * map->n_out + k];
            double e = estimate - kl_kernel_value(map->kernel, &pair);
            *error += e;
            *square += e * e;
            bool bounded = is_bounded(map->type);
            if (bounded && (i * 7 + j) % 5 != 0) /* a bound may take as long as the features of both rows */
                continue;
            double beyond = fabs(e) - (bounded ? map->type->bias(map, &pair) : 0);
            if (!(beyond <= *beyond_all) && !isnan(*beyond_all)) /* NaN stays */
                *beyond_all = beyond;
            if (map->type->variance != NULL && theory != NULL)
                *theory += map->type->variance(map, &pair);
            if (map->type->variance != NULL && map->type->bias != NULL && theory != NULL) /* of a map that is unbiased but for what it leaves out */
                *theory += pow(map->type->bias(map, &pair), 2);
        }
    double pairs = (double)(b->n * b->n);
    *error /= pairs;
    *square /= pairs;
    if (theory != NULL)
        *theory /= pairs;
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

/* The mean of the stated bounds over all pairs. */
static double mean_bias(const kl_map *map, const bench *b)
{
    double sum = 0;
    for (int64_t i = 0; map->type->bias != NULL && i < b->n; i++)
        for (int64_t j = 0; j < b->n; j++) {
            kl_pair pair;
            kl_pair_set(&pair, b->d, b->x + i * b->d, b->x + j * b->d);
            sum += map->type->bias(map, &pair);
        }
    return sum / (double)(b->n * b->n);
}

/* Exact, unbiased with the stated variance, or within the stated bias. With `damage`, one weight of each map is spoilt. */
static int accuracy_is_as_stated(const bench *b, const char *text, const char *kernel, int64_t features, bool damage)
{
    double error[SEEDS], square[SEEDS], theory = 0, worst = 0, allowed = 0, mean, se;
    bool has_variance = false, random = false; /* random: judged over the seeds, not copy by copy */
    for (int s = 0; s < SEEDS; s++) {
        kl_map *map = make(b, text, kernel, features, (uint64_t)(1000 + s), 0);
        if (damage) {
            int64_t count;
            float *weight = map->type->weights(map, &count);
            weight[0] += 1e4f;
        }
        bool bounded = is_bounded(map->type);
        random = map->type->accuracy != KL_EXACT && !bounded;
        has_variance = map->type->variance != NULL;
        pair_errors(map, b, &error[s], &square[s], s == 0 ? &theory : NULL, &worst);
        allowed = s == 0 && random ? mean_bias(map, b) : allowed;
        kl_map_free(map);
        if (!random && !(worst <= 1e-5))
            return 1;
        if (bounded && s == 1) /* every single copy must keep the bound */
            return 0;
    }
    if (!random)
        return 0;
    int broken = 0;
    mean_and_error(error, SEEDS, &mean, &se);
    broken += !(fabs(mean) <= 5 * se + 1e-6 + allowed);
    mean_and_error(square, SEEDS, &mean, &se);
    broken += has_variance && !isnan(theory) && !(fabs(mean - theory) <= 5 * se + 1e-9 + 1e-6 * theory);
    /* errors with heavy tails have standard errors to match: a hundred times the variance is wrong whatever they are */
    broken += has_variance && !isnan(theory) && !(mean <= 100 * theory + 1e-6);
    if (broken > 0 && !damage)
        print_message("%s %s d=%lld D=%lld: mean squared error %g (se %g), stated %g\n", text, kernel, (long long)b->d, (long long)features, mean, se, theory);
    return broken;
}

/* The mean of the stated variances over all pairs. */
static double mean_variance(const kl_map *map, const bench *b)
{
    double sum = 0;
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t j = 0; j < b->n; j++) {
            kl_pair pair;
            kl_pair_set(&pair, b->d, b->x + i * b->d, b->x + j * b->d);
            sum += map->type->variance(map, &pair);
        }
    return sum / (double)(b->n * b->n);
}

static int streams_are_different_copies(const bench *b, const char *text, const char *kernel, int64_t features)
{
    kl_map *one = make(b, text, kernel, features, 7, 0), *two = make(b, text, kernel, features, 7, 1);
    kl_batch all = dense_view(b);
    float *x = lift(one, &all), *y = lift(two, &all);
    bool few = is_bounded(one->type) && one->n_out < 8; /* of which two copies may choose the same */
    int broken = one->type->accuracy != KL_EXACT && !few && largest_difference(x, y, b->n * one->n_out) == 0;
    if (broken && one->type->variance != NULL) /* nothing is random without variance, as in a polynomial with room for all its products */
        broken = !(mean_variance(one, b) < 1e-8);
    free(x);
    free(y);
    kl_map_free(one);
    kl_map_free(two);
    return broken;
}

/* No feature is larger than the map says, but the constant's, which is one number in all rows. */
static int a_feature_is_out_of_reach(const kl_map *map, const bench *b)
{
    double reach = kl_map_reach(map);
    kl_batch all = dense_view(b);
    float *z = reach > 0 ? lift(map, &all) : NULL;
    int broken = 0;
    for (int64_t j = 0; z != NULL && j < map->n_out; j++)
        for (int64_t i = 0; i < b->n; i++)
            broken |= fabs((double)z[i * map->n_out + j]) > 1.000001 * reach && z[i * map->n_out + j] != z[j];
    free(z);
    return broken;
}

/* What draw makes must be refused before it is made: all but a row's worth is in memory(). */
static int memory_is_not_stated(kl_map *map)
{
    int64_t count = 0;
    if (map->type->weights == NULL || map->type->weights(map, &count) == NULL || count <= map->n_in)
        return 0;
    return kl_map_memory(map) < count * (int64_t)sizeof(float);
}

static int contract(const bench *b, const char *text, const char *kernel, int64_t features)
{
    kl_map *map = make(b, text, kernel, features, 42, 0);
    if (map->type->nonzeros != NULL && map->n_out > SPREAD) { /* a sparse z that nobody would spread out; narrower rows have the same map */
        kl_map_free(map);
        return 0;
    }
    int broken = rows_alone_equal_the_batch(map, b) + sparse_equals_dense(map, b) + a_loaded_map_equals_the_saved_one(map, b) + a_zero_row_is_finite_or_refused(map, b);
    broken += map->type->accuracy == KL_UNBIASED && map->type->nonzeros == NULL && map->n_out < features;
    broken += memory_is_not_stated(map) + a_feature_is_out_of_reach(map, b);
    kl_map_free(map);
    broken += accuracy_is_as_stated(b, text, kernel, features, false);
    broken += streams_are_different_copies(b, text, kernel, features);
    return broken;
}

/* ---- walking the registries ---- */

/* Every variant of a map: each word of its first word parameter. */
static int variants(const kl_map_type *type, char text[][64], int most)
{
    int count = 0;
    for (const kl_param *p = type->params; p->name != NULL; p++) {
        if (p->kind != KL_WORD)
            continue;
        for (const char *word = p->words; *word != '\0' && count < most;) {
            size_t length = strcspn(word, "|");
            if (length != 4 || memcmp(word, "file", 4) != 0) /* there is none here */
                snprintf(text[count++], 64, "%s:%s=%.*s", type->name, p->name, (int)length, word);
            word += length + (word[length] == '|');
        }
        return count;
    }
    snprintf(text[0], 64, "%s", type->name);
    return 1;
}

/* Kernels to try: those of the registry by their names; for one made of others, what it can be made of. */
static const char *const compositions[] = {"compose(exp, gaussian)", "compose(poly:degree=2, laplacian)", "compose(vovk-infinite, matern)", "compose(exp, intersection)", "compose(exp, poly)"};
enum { COMPOSITIONS = sizeof compositions / sizeof compositions[0] };

typedef struct candidate {
    const char *text;
    kl_kernel *kernel;
} candidate;

static int64_t candidates(candidate *out)
{
    int64_t count = 0;
    for (int64_t k = 0; kl_kernel_type_at(k) != NULL; k++)
        if (kl_kernel_type_at(k)->compose == NULL)
            out[count++].text = kl_kernel_type_at(k)->name;
    for (int64_t k = 0; k < COMPOSITIONS; k++)
        out[count++].text = compositions[k];
    for (int64_t k = 0; k < count; k++)
        assert_int_equal(kl_kernel_new(out[k].text, &out[k].kernel), KLIFT_OK);
    return count;
}

static void candidates_free(candidate *all, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        kl_kernel_free(all[k].kernel);
}

static void every_map_keeps_its_contract_on_every_kernel_that_fits(void **state)
{
    static const int64_t widths[] = {1, 5, 54, 123}; /* below and above a power of two, and of the 32 where directions change */
    const char *only = getenv("KLIFT_TEST_MAP"); /* the contract of one map */
    int combinations = 0;
    candidate kernel[64];
    int64_t kernels = candidates(kernel);
    (void)state;
    for (int w = 0; w < 4; w++) {
        if (quick() && w != 1)
            continue;
        for (int64_t m = 0; kl_map_type_at(m) != NULL; m++)
            for (int64_t k = 0; k < kernels; k++) {
                bench b;
                char text[8][64];
                if ((kl_map_type_at(m)->domain & KL_UNIT_NORM) && widths[w] < 2) /* a sphere of two points */
                    continue;
                if (!kl_map_fits(kl_map_type_at(m), kernel[k].kernel->type) || (only != NULL && strcmp(only, kl_map_type_at(m)->name) != 0))
                    continue;
                int count = variants(kl_map_type_at(m), text, 8);
                bench_new(&b, ROWS, widths[w], kl_domain_of(kernel[k].kernel));
                for (int v = 0; v < count; v++) {
                    int64_t features = w % 2 == 0 ? 64 : 77; /* odd too */
                    int broken = contract(&b, text[v], kernel[k].text, features);
                    if (is_bounded(kl_map_type_at(m))) /* whose bias may go away with as many features as rows */
                        broken += contract(&b, text[v], kernel[k].text, 12);
                    if (widths[w] == (quick() ? 5 : 123))
                        print_message("contract: %s on %s\n", text[v], kernel[k].text);
                    if (broken > 0)
                        print_message("%s on %s, d=%lld: broken %d times\n", text[v], kernel[k].text, (long long)widths[w], broken);
                    assert_int_equal(broken, 0);
                    combinations++;
                }
                bench_free(&b);
            }
    }
    candidates_free(kernel, kernels);
    print_message("%d combinations\n", combinations);
    assert_true(combinations >= (only != NULL ? 1 : 12));
}

static void one_spoilt_weight_breaks_the_contract_of_every_map(void **state)
{
    candidate kernel[64];
    int64_t kernels = candidates(kernel);
    (void)state;
    for (int64_t m = 0; kl_map_type_at(m) != NULL; m++) {
        const kl_map_type *type = kl_map_type_at(m);
        for (int64_t k = 0; k < kernels; k++) {
            bench b;
            int64_t count;
            if (!kl_map_fits(type, kernel[k].kernel->type))
                continue;
            if (type->weights == NULL) {
                print_message("%s has no weights to spoil\n", type->name);
                continue;
            }
            bench_new(&b, ROWS, 5, kl_domain_of(kernel[k].kernel));
            kl_map *map = make(&b, type->name, kernel[k].text, 8, 42, 0);
            float *weight = type->weights(map, &count);
            if (weight == NULL) { /* nothing of it is random, as of a kernel that is all but linear */
                kl_map_free(map);
                bench_free(&b);
                continue;
            }
            weight[0] += 0.125f;
            assert_true(a_loaded_map_equals_the_saved_one(map, &b) > 0);
            kl_map_free(map);
            /* of an indefinite kernel what is stated is nearly as wide as the values: nothing breaks it */
            int broken = kernel[k].kernel->type->indefinite ? 1 : accuracy_is_as_stated(&b, type->name, kernel[k].text, 2, true);
            if (broken == 0)
                print_message("%s on %s is not broken by a spoilt weight\n", type->name, kernel[k].text);
            assert_true(broken > 0);
            bench_free(&b);
        }
    }
    candidates_free(kernel, kernels);
}

/* Of every map, around its first kernel: stored, spoilt byte by byte, loaded. Dense and sparse rows, for what data decide. */
static void a_damaged_map_is_refused_or_works(void **state)
{
    candidate kernel[64];
    int64_t kernels = candidates(kernel);
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        for (int64_t m = 0; kl_map_type_at(m) != NULL; m++) {
            const kl_map_type *type = kl_map_type_at(m);
            int64_t k = 0, tried = 0, refused = 0;
            bench b;
            while (!kl_map_fits(type, kernel[k].kernel->type))
                k++;
            bench_new(&b, 12, 6, kl_domain_of(kernel[k].kernel));
            kl_batch all = sparse ? sparse_view(&b) : dense_view(&b);
            kl_rows_clear(&b.survey.sample);
            assert_int_equal(kl_rows_add(&b.survey.sample, &all, 0, b.n), KLIFT_OK);
            kl_map *map = make(&b, type->name, kernel[k].text, 10, 1, 0);
            gram_damage(map, &all, &tried, &refused);
            print_message("%s, %s rows: %lld of %lld damages refused\n", type->name, sparse ? "sparse" : "dense", (long long)refused, (long long)tried);
            assert_true(refused > 0);
            assert_int_equal(a_loaded_map_equals_the_saved_one(map, &b), 0);
            kl_map_free(map);
            bench_free(&b);
        }
    }
    candidates_free(kernel, kernels);
}

static void a_map_refuses_a_kernel_that_does_not_fit_and_names_those_that_do(void **state)
{
    kl_kernel *kernel;
    kl_map *map;
    (void)state;
    assert_int_equal(kl_kernel_new("linear", &kernel), KLIFT_OK);
    assert_int_equal(kl_map_new("fourier", kernel, 10, 1, 0, &map), KLIFT_USAGE);
    assert_null(map);
    assert_non_null(strstr(kl_error_text(), "identity"));
    kl_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_map_keeps_its_contract_on_every_kernel_that_fits),
        cmocka_unit_test(one_spoilt_weight_breaks_the_contract_of_every_map),
        cmocka_unit_test(a_damaged_map_is_refused_or_works),
        cmocka_unit_test(a_map_refuses_a_kernel_that_does_not_fit_and_names_those_that_do),
    };
    const struct CMUnitTest walk[] = {cmocka_unit_test(every_map_keeps_its_contract_on_every_kernel_that_fits)};
    return getenv("KLIFT_TEST_MAP") != NULL ? cmocka_run_group_tests(walk, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
