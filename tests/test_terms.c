/*
 * test_terms.c - products of columns as features: reference values in double, ranking, hashing, bounds, refusals. Maps
 * taylor and monomial, which share terms.c; what every map must do is in test_map_contract.c.
 */
#include "gram.h"
#include "map/terms.h"
#include "math/buckets.h"
#include "support.h"

#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Products in double, by their columns. */
typedef struct table {
    double value[4096];
    int64_t place[4096], count;
} table;

static void take(void *context, int64_t count, const double *value, const uint64_t *place)
{
    table *t = context;
    for (int64_t i = 0; i < count; i++) {
        t->value[t->count] = value[i];
        t->place[t->count++] = (int64_t)place[i];
    }
}

/* All products of x (n), zeros left out. */
static void expand_by(const kl_map *map, int64_t n, const double *x, bool pairs, table *out)
{
    const kl_terms *t = map->state;
    enum { MORE = KL_TERMS_BLOCK };
    static double value[KL_TERMS_ROOM + MORE], nonzero[64 + MORE], pair[2080 + MORE];
    static uint64_t place[KL_TERMS_ROOM + MORE], column[64 + MORE], pair_column[2080 + MORE];
    double square = 0;
    kl_terms_row row = {.terms = t, .n_in = map->n_in, .column = column, .x = nonzero, .prefactor = 1, .value = value, .place = place};
    for (int64_t j = 0; j < n; j++)
        if (x[j] != 0) {
            column[row.n] = (uint64_t)j;
            nonzero[row.n++] = x[j] / t->length;
            square += x[j] * x[j];
        }
    if (map->kernel->type->log_prefactor != NULL)
        row.prefactor = exp(map->kernel->type->log_prefactor(map->kernel, square));
    if (pairs)
        kl_terms_pair(&row, pair, pair_column);
    out->count = 0;
    kl_terms_walk(&row, 0, t->degree, true, &(kl_terms_sink){out, take});
}

static void expand(const kl_map *map, int64_t n, const double *x, table *out)
{
    expand_by(map, n, x, true, out);
}

static double product_of(const table *a, const table *b)
{
    double sum = 0;
    for (int64_t i = 0, j = 0; i < a->count && j < b->count;)
        if (a->place[i] == b->place[j])
            sum += a->value[i++] * b->value[j++];
        else if (a->place[i] < b->place[j])
            i++;
        else
            j++;
    return sum;
}

static const double x4[] = {0.3, 0, -0.5, 0.7}, y4[] = {0.2, 0.4, 0.1, -0.6};

static void the_reference_row_has_its_products_at_their_ranks(void **state)
{
    static const int64_t place[] = {0, 1, 3, 4, 5, 8, 10, 11, 13, 14};
    static const double value[] = {.660340280705, .198102084211, -.330170140352, .462238196493, .0420237981339,
                                   -.0990510421057, .116732772594, .138671458948, -.231119098247, .228796234285};
    static table t;
    (void)state;
    for (int which = 0; which < 2; which++) { /* the Gaussian as a series is the same */
        kl_map *map = gram_map(which == 0 ? "taylor:degree=2" : "monomial:degree=2", "gaussian:gamma=0.5", 4, 100, 1, 0);
        assert_int_equal(map->n_out, 15);
        expand(map, 4, x4, &t);
        assert_int_equal(t.count, 10);
        for (int64_t i = 0; i < t.count; i++) {
            assert_int_equal(t.place[i], place[i]);
            assert_true(fabs(t.value[i] - value[i]) < 1e-11); /* twelve digits are given */
        }
        kl_map_free(map);
    }
}

static void reference_kernel_values_are_met_in_double(void **state)
{
    static const double expected[] = {0.3347233240206, 0.329019131400165};
    static table a, b;
    (void)state;
    for (int which = 0; which < 2; which++) {
        char text[32];
        snprintf(text, sizeof text, "taylor:degree=%d", which + 2);
        kl_map *map = gram_map(text, "gaussian:gamma=0.5", 4, 100, 1, 0);
        expand(map, 4, x4, &a);
        expand(map, 4, y4, &b);
        assert_true(fabs(product_of(&a, &b) - expected[which]) < 1e-12);
        kl_map_free(map);
    }
}

/* (s + c)^r, of every degree that it has. */
static void polynomials_are_exact_in_double(void **state)
{
    static const struct {
        const char *kernel;
        double r, c;
    } cases[] = {{"poly:2,1,1", 2, 1}, {"poly:3,1,0.5", 3, .5}, {"poly:3,1,0", 3, 0}, {"poly:1,1,0", 1, 0}, {"poly:0,1,1", 0, 1}, {"poly:6,1,1e-3", 6, 1e-3}};
    static table a, b;
    double s = 0;
    (void)state;
    for (int i = 0; i < 4; i++)
        s += x4[i] * y4[i];
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kl_map *map = gram_map("monomial", cases[k].kernel, 4, 1000, 1, 0);
        kl_pair pair;
        expand(map, 4, x4, &a);
        expand(map, 4, y4, &b);
        kl_pair_set(&pair, 4, x4, y4);
        assert_true(fabs(product_of(&a, &b) - pow(s + cases[k].c, cases[k].r)) < 1e-13);
        assert_true(map->type->bias(map, &pair) < 1e-13);
        assert_true(map->type->variance(map, &pair) == 0);
        kl_map_free(map);
    }
}

static void a_homogeneous_polynomial_has_columns_of_its_degree_only(void **state)
{
    kl_map *map = gram_map("monomial", "poly:degree=3,offset=0", 4, 1000, 1, 0);
    (void)state;
    assert_int_equal(map->n_out, 20); /* C(6, 3) */
    kl_map_free(map);
    map = gram_map("monomial", "series:0,1,0,2", 4, 1000, 1, 0);
    assert_int_equal(map->n_out, 24);
    kl_map_free(map);
    assert_int_equal(gram_try("monomial:degree=2", "poly:degree=3,offset=0", 4, 100), KLIFT_USAGE);
    assert_non_null(strstr(kl_error_text(), "has no term up to degree=2"));
}

/* Columns of x are 2, 3, 5, 7, 11: a product is known by its value. */
static void ranking_is_a_bijection_in_colex_order(void **state)
{
    static const double prime[] = {2, 3, 5, 7, 11};
    static const char *const order[] = {"", "0", "1", "2", "3", "4", "00", "01", "11", "02", "12", "22", "03"};
    static table t;
    kl_map *map = gram_map("monomial:degree=4", "series:1,1,1,1,1", 5, 1000, 1, 0);
    const kl_terms *terms = map->state;
    (void)state;
    assert_int_equal(map->n_out, 126); /* C(9, 4) */
    expand(map, 5, prime, &t);
    assert_int_equal(t.count, 126);
    for (int64_t i = 0; i < 126; i++)
        assert_int_equal(t.place[i], i); /* each once, and in ascending order */
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        double expected = 1, repeats = 1, length = (double)strlen(order[k]);
        for (const char *c = order[k], *run = c; *c != '\0'; c++) {
            run = *run == *c ? run : c;
            expected *= prime[*c - '0'];
            repeats *= (double)(c - run + 1);
        }
        expected *= sqrt(tgamma(length + 1) / repeats);
        assert_true(fabs(t.value[k] - expected) < 1e-9 * expected);
    }
    assert_int_equal(terms->first[4], 56); /* C(d + k - 1, k - 1) */
    kl_map_free(map);
}

static void pairs_at_once_are_factors_one_by_one(void **state)
{
    static table a, b;
    double x[20];
    (void)state;
    for (int64_t n = 0; n <= 20; n++)
        for (int degree = 0; degree < (n > 8 ? 4 : 7); degree++) {
            char text[32];
            snprintf(text, sizeof text, "taylor:degree=%d", degree);
            kl_map *map = gram_map(text, "gaussian:gamma=0.5", 20, 1 << 24, 1, 0);
            for (int64_t i = 0; i < 20; i++)
                x[i] = i < n ? syn_normal(1, (uint64_t)i) : 0;
            expand_by(map, 20, x, true, &a);
            expand_by(map, 20, x, false, &b);
            assert_int_equal(a.count, b.count);
            assert_memory_equal(a.place, b.place, (size_t)a.count * sizeof *a.place);
            for (int64_t i = 0; i < a.count; i++)
                assert_true(fabs(a.value[i] - b.value[i]) <= 1e-15 * (1 + fabs(b.value[i])));
            kl_map_free(map);
        }
}

/* A row with some of the columns: its products by hashes, and by their places in the table, for which there is enough room or not. */
static void the_table_has_what_the_hashes_of_products_say(void **state)
{
    static table a, b;
    enum { COLUMNS = 40, MORE = KL_TERMS_BLOCK };
    double value[KL_TERMS_ROOM + MORE], x[COLUMNS + MORE] = {0};
    uint64_t place[KL_TERMS_ROOM + MORE], column[COLUMNS + MORE] = {0};
    kl_map *map = gram_map("monomial:degree=4", "series:1,1,0,2,3", COLUMNS, 500, 1, 0);
    const kl_terms *t = map->state;
    (void)state;
    assert_int_equal(t->exact, 1);
    assert_int_equal(t->tabled, 3); /* 11,480 products; degree 4 has 123,410 */
    kl_terms_row row = {.terms = t, .n_in = COLUMNS, .column = column, .x = x, .prefactor = 1, .value = value, .place = place};
    for (; row.n < 25; row.n++) {
        x[row.n] = syn_normal(2, (uint64_t)row.n);
        column[row.n] = (uint64_t)(row.n * 3 / 2 + 3);
        a.count = b.count = 0;
        kl_terms_walk(&row, 2, 3, false, &(kl_terms_sink){&a, take});
        kl_terms_walk(&row, 2, 3, true, &(kl_terms_sink){&b, take});
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.value, b.value, (size_t)a.count * sizeof *a.value);
        for (int64_t i = 0; i < a.count; i++)
            assert_int_equal(kl_terms_entry((uint64_t)a.place[i], t->buckets), t->hashed[b.place[i]]);
    }
    kl_map_free(map);
}

static void bits_are_listed_in_order_and_cleared(void **state)
{
    enum { WORDS = 50 };
    static int32_t list[64 * WORDS + KL_BUCKETS_SPARE];
    static uint64_t bits[WORDS], left[WORDS];
    (void)state;
    for (int dense = 0; dense <= 10; dense++)
        for (int few = 0; few < 2; few++) {
            int64_t count = 0;
            for (int i = 0; i < 64 * WORDS; i++)
                if (syn_uniform((uint64_t)(dense * 64 * WORDS + i)) < pow(dense / 10.0, 3))
                    bits[i / 64] |= UINT64_C(1) << i % 64;
            memcpy(left, bits, sizeof bits);
            int64_t listed = kl_buckets_list(WORDS, bits, few, list);
            for (int i = 0; i < 64 * WORDS; i++)
                if (left[i / 64] >> i % 64 & 1)
                    assert_int_equal(list[count++], i);
            assert_int_equal(listed, count);
            for (int i = 0; i < WORDS; i++)
                assert_true(bits[i] == 0);
        }
}

static void counts_that_no_integer_holds_are_hashed_or_refused(void **state)
{
    kl_map *map = gram_map("taylor:degree=64", "gaussian:gamma=1", 60, 256, 1, 0); /* C(124, 64) = 2e36 */
    const kl_terms *t = map->state;
    (void)state;
    assert_int_equal(map->n_out, 256);
    assert_int_equal(kl_terms_count(t, 60, 0, 64), INT64_MAX);
    assert_int_equal(kl_terms_count(t, 0, 0, 64), 1);
    assert_int_equal(kl_terms_count(t, 1, 0, 64), 65);
    assert_int_equal(kl_terms_count(t, 16, 0, 16), 601080390);
    assert_true(kl_terms_count(t, t->most, 0, 64) <= 1 << 26 && kl_terms_count(t, t->most + 1, 0, 64) > 1 << 26);
    kl_map_free(map);
    assert_int_equal(gram_try("taylor:degree=8,hash=never", "gaussian:gamma=1", 100, 256), KLIFT_USAGE);
    assert_non_null(strstr(kl_error_text(), "makes 3.52e+11 columns of 100"));
    assert_non_null(strstr(kl_error_text(), "leave hash=never out"));
    assert_int_equal(gram_try("taylor:degree=4,exact=2", "gaussian:gamma=1", 100, 256), KLIFT_USAGE);
    assert_non_null(strstr(kl_error_text(), "exact=2 takes 5151 columns"));
}

/* Largest errors and bounds (11) on 30 SYN rows with small entries zeroed, d = 16. */
static void errors_stay_below_the_bound_and_are_those_of_the_table(void **state)
{
    static const struct {
        double sigma;
        int degree;
        double error, bound;
    } cases[] = {{1, 1, .261, .492}, {1, 2, .0787, .162}, {1, 3, .0185, .0403}, {1, 4, .0035, .0080}, {.5, 4, .36, 8.2}};
    static double x[30 * 16];
    static float dense[30 * 16];
    (void)state;
    syn_rows(30, 16, x);
    for (int i = 0; i < 30 * 16; i++) {
        x[i] = fabs(x[i]) < 0.15 ? 0 : (double)(float)x[i];
        dense[i] = (float)x[i];
    }
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char text[64], kernel[64];
        double gamma = 0.5 / (cases[c].sigma * cases[c].sigma), most = 0, most_bound = 0;
        snprintf(text, sizeof text, "taylor:degree=%d", cases[c].degree);
        snprintf(kernel, sizeof kernel, "gaussian:gamma=%g", gamma);
        kl_map *map = gram_map(text, kernel, 16, 10000, 1, 0);
        klift_batch rows = dense_batch(30, 16, dense);
        float *z = gram_lift(map, &rows);
        for (int64_t i = 0; i < 30; i++)
            for (int64_t j = 0; j < 30; j++) {
                kl_pair pair;
                kl_pair_set(&pair, 16, x + i * 16, x + j * 16);
                double error = fabs(gram_product(map->n_out, z + i * map->n_out, z + j * map->n_out) - kl_kernel_value(map->kernel, &pair));
                double a = sqrt(pair.xx), b = sqrt(pair.yy), bound = pow(2 * gamma * a * b, cases[c].degree + 1) / tgamma(cases[c].degree + 2.0);
                assert_true(fabs(error - map->type->bias(map, &pair)) < 1e-6);
                assert_true(map->type->bias(map, &pair) <= bound * exp(-gamma * (a - b) * (a - b)) + 1e-15);
                most = fmax(most, error);
                most_bound = fmax(most_bound, bound);
            }
        print_message("sigma %g degree %d: largest error %.4g (table %.4g), bound %.4g (%.4g)\n", cases[c].sigma, cases[c].degree, most, cases[c].error, most_bound, cases[c].bound);
        assert_true(fabs(most - cases[c].error) < 0.02 * cases[c].error);
        assert_true(fabs(most_bound - cases[c].bound) < 0.02 * cases[c].bound);
        free(z);
        kl_map_free(map);
    }
}

static void a_hashed_map_is_unbiased_and_has_the_stated_variance(void **state)
{
    (void)state;
    gram_check(&(gram_case){16, "monomial:exact=none", "poly:degree=2", 100, 40});
    gram_check(&(gram_case){16, "monomial:exact=0", "poly:degree=3", 256, 40});
    gram_check(&(gram_case){16, "monomial", "poly:degree=3", 256, 40});
    gram_check(&(gram_case){16, "monomial:exact=1", "exp:sigma=2", 128, 40});
    gram_check(&(gram_case){16, "taylor:degree=4,exact=none", "gaussian:gamma=0.1", 256, 40});
    gram_check(&(gram_case){64, "taylor:degree=3", "gaussian:gamma=0.1", 512, 24});
}

/* Var <= (K(x,x) K(y,y) + K(x,y)^2) / D, as published for signed hashing; columns of their own only lower it. */
static void variance_is_below_its_bound_and_lower_with_exact_degrees(void **state)
{
    gram_errors none = gram_measure(&(gram_case){64, "taylor:degree=3,exact=none", "gaussian:gamma=0.25", 512, 2});
    gram_errors some = gram_measure(&(gram_case){64, "taylor:degree=3", "gaussian:gamma=0.25", 512, 2});
    kl_map *map = gram_map("monomial:exact=none", "poly:degree=3", 16, 256, 1, 0);
    double *x = malloc(200 * 16 * sizeof *x);
    (void)state;
    print_message("stated variance, all hashed %.3g, degrees 0 and 1 apart %.3g\n", none.stated, some.stated);
    assert_true(some.stated < 0.2 * none.stated);
    syn_rows(200, 16, x);
    for (int64_t i = 0; i < 200; i++) {
        kl_pair pair;
        kl_pair_set(&pair, 16, x + i * 16, x + (199 - i) * 16);
        assert_true(map->type->variance(map, &pair) <= (pow(1 + pair.xx, 3) * pow(1 + pair.yy, 3) + pow(1 + pair.xy, 6)) / 256);
    }
    free(x);
    kl_map_free(map);
}

/* CSR and dense, hashed or not, of rows with zeros among them. */
static void sparse_features_are_the_dense_ones_in_ascending_columns(void **state)
{
    static const char *const maps[] = {"taylor:degree=3", "taylor:degree=3,exact=none", "taylor:degree=3,hash=never", "taylor:degree=0", "taylor:degree=1"};
    static float x[20 * 30];
    (void)state;
    for (int i = 0; i < 20 * 30; i++)
        x[i] = i % 3 == 0 || i / 30 == 7 ? 0.0f : (float)(i % 7) - 3.0f;
    for (size_t m = 0; m < sizeof maps / sizeof maps[0]; m++)
        for (int sparse = 0; sparse < 2; sparse++) {
            kl_map *map = gram_map(maps[m], "gaussian:gamma=0.01", 30, 200, 1, 0);
            csr rows = csr_of(20, 30, x);
            klift_batch batch = sparse ? csr_batch(20, 30, &rows) : dense_batch(20, 30, x);
            int64_t room = map->type->nonzeros(map, &batch), start[21];
            int32_t *column = malloc((size_t)room * sizeof *column);
            float *value = malloc((size_t)room * sizeof *value), *z = gram_lift(map, &batch);
            void *scratch = malloc((size_t)kl_map_scratch(map, 20));
            kl_output out = {.start = start, .column = column, .value = value};
            assert_int_equal(map->type->apply(map, &batch, &out, scratch), KLIFT_OK);
            assert_int_equal(start[0], 0);
            assert_true(start[20] <= room);
            if (map->n_out > 200)
                assert_int_equal(start[20], room); /* nothing to add up: as many as were announced */
            for (int64_t i = 0; i < 20; i++)
                for (int64_t p = start[i]; p < start[i + 1]; p++) {
                    assert_true(p == start[i] || column[p] > column[p - 1]);
                    assert_true(value[p] == z[i * map->n_out + column[p]]);
                    z[i * map->n_out + column[p]] = 0;
                }
            for (int64_t i = 0; i < 20 * map->n_out; i++)
                assert_true(z[i] == 0);
            assert_int_equal(start[8] - start[7], map->type->name[0] == 't'); /* a zero row: the constant */
            free(column);
            free(value);
            free(z);
            free(scratch);
            csr_free(&rows);
            kl_map_free(map);
        }
}

static void a_row_with_too_many_nonzeros_is_refused(void **state)
{
    float x[3 * 40] = {0};
    kl_map *map = gram_map("taylor:degree=3,limit=1000", "gaussian:gamma=0.1", 40, 64, 1, 0);
    kl_output out = {.dense = malloc(3 * 64 * sizeof(float)), .stride = 64};
    void *scratch = malloc((size_t)kl_map_scratch(map, 3));
    (void)state;
    for (int j = 0; j < 16; j++)
        x[40 + j] = 1; /* C(19, 3) = 969 */
    klift_batch rows = dense_batch(3, 40, x);
    assert_int_equal(map->type->apply(map, &rows, &out, scratch), KLIFT_OK);
    x[2 * 40] = 1;
    for (int j = 0; j < 17; j++)
        x[2 * 40 + j] = 1; /* C(20, 3) = 1140 */
    assert_int_equal(map->type->apply(map, &rows, &out, scratch), KLIFT_DATA);
    assert_string_equal(kl_error_text(), "row 2 of the batch has 17 nonzeros, and so 1140 products of degree up to 3, more than map taylor's limit=1000; use a lower degree "
                        "(now degree=3), a higher limit, or another map");
    free(out.dense);
    free(scratch);
    kl_map_free(map);
}

static void a_row_far_longer_than_the_sample_is_refused(void **state)
{
    float x[2] = {1e20f, 0}, z[64];
    kl_map *map = gram_map("monomial", "poly:degree=3", 2, 64, 1, 0);
    kl_output out = {.dense = z, .stride = 64};
    void *scratch = malloc((size_t)kl_map_scratch(map, 1));
    klift_batch row = dense_batch(1, 2, x);
    (void)state;
    assert_int_equal(map->type->apply(map, &row, &out, scratch), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "|x| = 1e+20 is too long for degree 3"));
    free(scratch);
    kl_map_free(map);
}

/* A Gaussian far from the origin: all features vanish, and nothing else happens. */
static void a_row_whose_prefactor_underflows_is_zero(void **state)
{
    float x[2] = {1e4f, 0}, z[64];
    kl_map *map = gram_map("taylor:degree=3", "gaussian:gamma=1", 2, 64, 1, 0);
    kl_output out = {.dense = z, .stride = 64};
    void *scratch = malloc((size_t)kl_map_scratch(map, 1));
    klift_batch row = dense_batch(1, 2, x);
    (void)state;
    assert_int_equal(map->type->apply(map, &row, &out, scratch), KLIFT_OK);
    for (int64_t i = 0; i < map->n_out; i++)
        assert_true(z[i] == 0);
    free(scratch);
    kl_map_free(map);
}

static int64_t chosen(const char *map_text, const char *kernel, int64_t d)
{
    kl_map *map = gram_map(map_text, kernel, d, 2048, 1, 0);
    int64_t degree = ((const kl_terms *)map->state)->degree;
    kl_map_free(map);
    return degree;
}

static void the_degree_is_chosen_by_what_it_leaves_out_and_by_cost(void **state)
{
    (void)state;
    assert_int_equal(chosen("taylor", "gaussian:gamma=0.125", 5), 2); /* t = 2 gamma |x|^2 = .25 */
    assert_int_equal(chosen("taylor", "gaussian:gamma=0.25", 5), 3);
    assert_int_equal(chosen("taylor", "gaussian:gamma=0.5", 5), 4);
    assert_int_equal(chosen("taylor", "gaussian:gamma=0.5", 150), 2); /* C(153, 3) products are too many */
    assert_int_equal(chosen("monomial", "poly:degree=10", 5), 10);
    assert_int_equal(chosen("monomial", "poly:degree=7,offset=0", 784), 7); /* nothing below it */
    assert_int_equal(chosen("monomial:degree=9", "poly:degree=3", 5), 3);
}

static void one_column_and_degree_0_and_1_work(void **state)
{
    static table a, b;
    const double x = 0.5, y = -0.25;
    (void)state;
    for (int degree = 0; degree < 4; degree++) {
        char text[32];
        double expected = 0, term = exp(-0.5 * (x * x + y * y));
        snprintf(text, sizeof text, "taylor:degree=%d", degree);
        kl_map *map = gram_map(text, "gaussian:gamma=0.5", 1, 64, 1, 0);
        for (int k = 0; k <= degree; k++, term *= x * y / k)
            expected += term;
        assert_int_equal(map->n_out, degree + 1);
        expand(map, 1, &x, &a);
        expand(map, 1, &y, &b);
        assert_true(fabs(product_of(&a, &b) - expected) < 1e-14);
        kl_map_free(map);
    }
}

/* Hashed, and all columns: spoilt bytes do no harm. Of exact=2 one of them says 3, whose columns are more than the features. */
static void damaged_maps_are_refused_or_work(void **state)
{
    static const char *const maps[] = {"taylor:degree=3", "monomial:degree=3,exact=none", "taylor:hash=never", "taylor:degree=4,exact=2"};
    float x[6 * 6];
    (void)state;
    for (int i = 0; i < 36; i++)
        x[i] = i % 4 == 0 ? 0.0f : 0.1f * (float)i;
    klift_batch rows = dense_batch(6, 6, x);
    for (int m = 0; m < 4; m++) {
        int64_t tried = 0, refused = 0;
        kl_map *map = gram_map(maps[m], "gaussian:gamma=0.5", 6, m == 3 ? 40 : 16, 1, 0);
        gram_damage(map, &rows, &tried, &refused);
        print_message("%s: %lld of %lld damages refused\n", maps[m], (long long)refused, (long long)tried);
        assert_true(refused > tried / 2);
        kl_map_free(map);
    }
}

static void craft_is_for_random_maps(void **state)
{
    (void)state;
    assert_int_equal(gram_try("craft(monomial)", "poly:degree=2", 16, 64), KLIFT_USAGE);
    assert_non_null(strstr(kl_error_text(), "monomial has no random features to add up"));
}

static void cost_is_that_of_the_products(void **state)
{
    kl_map *map = gram_map("taylor:degree=4", "gaussian:gamma=0.1", 20, 20000, 1, 0);
    (void)state;
    assert_true(map->type->cost(map, 5) == 2 * 126);
    assert_true(map->type->cost(map, 14) == 2 * 3060);
    assert_true(map->type->cost(map, 20) == 2 * 10626);
    kl_map_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_row_has_its_products_at_their_ranks),
        cmocka_unit_test(reference_kernel_values_are_met_in_double),
        cmocka_unit_test(polynomials_are_exact_in_double),
        cmocka_unit_test(a_homogeneous_polynomial_has_columns_of_its_degree_only),
        cmocka_unit_test(ranking_is_a_bijection_in_colex_order),
        cmocka_unit_test(pairs_at_once_are_factors_one_by_one),
        cmocka_unit_test(the_table_has_what_the_hashes_of_products_say),
        cmocka_unit_test(bits_are_listed_in_order_and_cleared),
        cmocka_unit_test(counts_that_no_integer_holds_are_hashed_or_refused),
        cmocka_unit_test(errors_stay_below_the_bound_and_are_those_of_the_table),
        cmocka_unit_test(a_hashed_map_is_unbiased_and_has_the_stated_variance),
        cmocka_unit_test(variance_is_below_its_bound_and_lower_with_exact_degrees),
        cmocka_unit_test(sparse_features_are_the_dense_ones_in_ascending_columns),
        cmocka_unit_test(a_row_with_too_many_nonzeros_is_refused),
        cmocka_unit_test(a_row_far_longer_than_the_sample_is_refused),
        cmocka_unit_test(a_row_whose_prefactor_underflows_is_zero),
        cmocka_unit_test(the_degree_is_chosen_by_what_it_leaves_out_and_by_cost),
        cmocka_unit_test(one_column_and_degree_0_and_1_work),
        cmocka_unit_test(damaged_maps_are_refused_or_work),
        cmocka_unit_test(craft_is_for_random_maps),
        cmocka_unit_test(cost_is_that_of_the_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
