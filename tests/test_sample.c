/* test_sample.c - the sample is the rows of the smallest keys, whatever the order in which they are offered. */
#include "data/sample.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 200 };

/* Row i is (i + 1, 0, i % 3); its key is key[i]. */
typedef struct fixture {
    float x[ROWS * 3];
    double weight[ROWS];
    uint64_t key[ROWS];
    int64_t order[ROWS]; /* of offering */
    int64_t sorted[ROWS]; /* by key, equal ones as offered */
    csr sparse;
} fixture;

static void shuffle(int64_t *order, uint64_t seed)
{
    for (int64_t i = 0; i < ROWS; i++)
        order[i] = seed == 1 ? ROWS - 1 - i : i; /* ascending, descending, mixed */
    for (int64_t i = ROWS - 1; i > 0 && seed > 1; i--) {
        int64_t j = (int64_t)(syn_mix(seed * 1000 + (uint64_t)i) % (uint64_t)(i + 1)), keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
}

/* distinct: how many different keys; 0: every row has its own, in the order of the rows when seed is 0. */
static void fill(fixture *f, uint64_t seed, uint64_t distinct)
{
    *f = (fixture){0};
    for (int64_t i = 0; i < ROWS; i++) {
        f->x[3 * i] = (float)(i + 1);
        f->x[3 * i + 2] = (float)(i % 3);
        f->weight[i] = (double)(i % 5 + 1);
        f->key[i] = distinct > 0 ? syn_mix(syn_mix((uint64_t)i * 7) % distinct) : seed < 2 ? (uint64_t)i : syn_mix((uint64_t)i);
    }
    shuffle(f->order, seed);
    memcpy(f->sorted, f->order, sizeof f->sorted);
    for (int i = 1; i < ROWS; i++) /* insertion sort: stable */
        for (int j = i; j > 0 && f->key[f->sorted[j - 1]] > f->key[f->sorted[j]]; j--) {
            int64_t keep = f->sorted[j];
            f->sorted[j] = f->sorted[j - 1];
            f->sorted[j - 1] = keep;
        }
    f->sparse = csr_of(ROWS, 3, f->x);
}

static kl_sample offer_all(const fixture *f, int64_t limit, bool merge, bool sparse)
{
    kl_sample sample = {.limit = limit, .merge_equal = merge};
    kl_batch batch = sparse ? csr_batch(ROWS, 3, &f->sparse) : dense_batch(ROWS, 3, f->x);
    batch.weight = f->weight;
    for (int64_t i = 0; i < ROWS; i++)
        assert_int_equal(kl_sample_offer(&sample, &batch, f->order[i], f->key[f->order[i]]), KLIFT_OK);
    assert_int_equal(kl_sample_settle(&sample), KLIFT_OK);
    return sample;
}

static const int64_t limits[] = {1, 2, 3, 10, 64, 99, 100, 101, 199, 200, 201, 1000};
enum { LIMITS = sizeof limits / sizeof limits[0], ORDERS = 12 };

static void check_smallest(uint64_t distinct)
{
    fixture f;
    for (uint64_t seed = 0; seed < ORDERS; seed++) {
        fill(&f, seed, distinct);
        for (int l = 0; l < LIMITS; l++) {
            kl_sample sample = offer_all(&f, limits[l], false, seed % 2);
            kl_batch view = kl_rows_view(&sample.rows);
            assert_int_equal(view.rows, limits[l] < ROWS ? limits[l] : ROWS);
            for (int64_t i = 0; i < view.rows; i++) {
                double row[3];
                int64_t expected = f.sorted[i];
                kl_batch_row_doubles(&view, i, 3, row);
                assert_true(sample.key[i] == f.key[expected]);
                assert_true(row[0] == (double)(expected + 1) && row[2] == (double)(expected % 3));
                assert_true(view.weight[i] == f.weight[expected]);
            }
            kl_sample_clear(&sample);
        }
        csr_free(&f.sparse);
    }
}

static void the_smallest_keys_are_kept_in_ascending_order(void **unused)
{
    (void)unused;
    check_smallest(0);
}

static void equal_keys_stay_in_the_order_of_offering(void **unused)
{
    (void)unused;
    check_smallest(20);
    check_smallest(1);
}

static void merged_rows_carry_the_sum_of_their_weights(void **unused)
{
    (void)unused;
    static const uint64_t distinct[] = {1, 2, 15, 90};
    fixture f;
    for (uint64_t seed = 2; seed < ORDERS; seed++)
        for (int d = 0; d < 4; d++) {
            fill(&f, seed, distinct[d]);
            for (int l = 0; l < LIMITS; l++) {
                kl_sample sample = offer_all(&f, limits[l], true, seed % 2);
                int64_t kept = 0;
                for (int64_t i = 0; i < ROWS && kept <= limits[l]; i++) {
                    if (i > 0 && f.key[f.sorted[i]] == f.key[f.sorted[i - 1]])
                        continue;
                    if (kept == limits[l])
                        break;
                    double sum = 0;
                    for (int64_t j = i; j < ROWS && f.key[f.sorted[j]] == f.key[f.sorted[i]]; j++)
                        sum += f.weight[f.sorted[j]];
                    assert_true(kept < sample.rows.rows);
                    assert_true(sample.key[kept] == f.key[f.sorted[i]]);
                    assert_true(sample.rows.weight[kept] == sum); /* small whole numbers: exact */
                    kept++;
                }
                assert_int_equal(sample.rows.rows, kept);
                kl_sample_clear(&sample);
            }
            csr_free(&f.sparse);
        }
}

static void settling_twice_changes_nothing(void **unused)
{
    (void)unused;
    fixture f;
    fill(&f, 5, 0);
    kl_sample sample = offer_all(&f, 10, false, false);
    uint64_t keys[10];
    memcpy(keys, sample.key, sizeof keys);
    assert_int_equal(kl_sample_settle(&sample), KLIFT_OK);
    assert_int_equal(sample.rows.rows, 10);
    assert_memory_equal(sample.key, keys, sizeof keys);
    kl_sample_clear(&sample);
    csr_free(&f.sparse);
}

static void a_limit_of_none_keeps_nothing(void **unused)
{
    (void)unused;
    fixture f;
    fill(&f, 5, 0);
    kl_sample sample = offer_all(&f, 0, false, false);
    assert_int_equal(sample.rows.rows, 0);
    kl_sample_clear(&sample);
    csr_free(&f.sparse);
}

static void memory_stays_within_twice_the_limit(void **unused)
{
    (void)unused;
    fixture f;
    fill(&f, 1, 0); /* descending: every row is offered and taken */
    kl_sample sample = {.limit = 7};
    kl_batch batch = dense_batch(ROWS, 3, f.x);
    for (int64_t i = 0; i < ROWS; i++) {
        assert_int_equal(kl_sample_offer(&sample, &batch, f.order[i], f.key[f.order[i]]), KLIFT_OK);
        assert_true(sample.rows.rows < 14);
    }
    kl_sample_clear(&sample);
    csr_free(&f.sparse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_keys_are_kept_in_ascending_order),
        cmocka_unit_test(equal_keys_stay_in_the_order_of_offering),
        cmocka_unit_test(merged_rows_carry_the_sum_of_their_weights),
        cmocka_unit_test(settling_twice_changes_nothing),
        cmocka_unit_test(a_limit_of_none_keeps_nothing),
        cmocka_unit_test(memory_stays_within_twice_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
