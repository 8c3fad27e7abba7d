/* test_batch.c - checks catch every fault, parts of parts are parts, keys depend on the content alone. */
#include "data/batch.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 4, COLUMNS = 5 };

/* A good batch in memory of its exact size, so that the sanitizer sees a check that reads too far. */
typedef struct fixture {
    kl_batch dense, sparse;
    float *x, *value;
    int64_t *start;
    int32_t *column;
    double *target, *weight;
    const char **label;
} fixture;

static int set_up(void **state)
{
    static const float x[ROWS * COLUMNS] = {1, 0, 2, 0, -3, 0, 0, 0, 0, 0, 0, 4.5f, 0, 0, 1e-40f, FLT_MAX, 0, 0, 7, 0};
    fixture *f = calloc(1, sizeof *f);
    f->x = malloc(sizeof x);
    memcpy(f->x, x, sizeof x);
    csr roomy = csr_of(ROWS, COLUMNS, x);
    size_t entries = (size_t)roomy.start[ROWS];
    f->start = roomy.start;
    f->column = realloc(roomy.column, entries * sizeof *f->column);
    f->value = realloc(roomy.value, entries * sizeof *f->value);
    f->target = calloc(2 * ROWS, sizeof *f->target);
    f->weight = calloc(ROWS, sizeof *f->weight);
    f->label = calloc(ROWS, sizeof *f->label);
    for (int i = 0; i < ROWS; i++)
        f->label[i] = "class";
    f->dense = dense_batch(ROWS, COLUMNS, f->x);
    f->sparse = (kl_batch){.size = sizeof f->sparse, .rows = ROWS, .columns = COLUMNS, .start = f->start, .column = f->column, .value = f->value};
    kl_batch *both[] = {&f->dense, &f->sparse};
    for (int i = 0; i < 2; i++) {
        both[i]->target = f->target;
        both[i]->targets = 2;
        both[i]->weight = f->weight;
        both[i]->label = f->label;
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    free(f->x);
    free(f->start);
    free(f->column);
    free(f->value);
    free(f->target);
    free(f->weight);
    free(f->label);
    free(f);
    return 0;
}

static void refused(const kl_batch *batch, klift_status status, const char *why)
{
    if (kl_batch_check(batch, "the rows") != status || strstr(kl_error_text(), why) == NULL || strncmp(kl_error_text(), "the rows: ", 10) != 0)
        fail_msg("'%s' does not say '%s'", kl_error_text(), why);
}

static void good_batches_pass(void **state)
{
    fixture *f = *state;
    assert_int_equal(kl_batch_check(&f->dense, "the rows"), KLIFT_OK);
    assert_int_equal(kl_batch_check(&f->sparse, "the rows"), KLIFT_OK);
    assert_true(kl_batch_is_sparse(&f->sparse) && !kl_batch_is_sparse(&f->dense));
    kl_batch empty = {.size = sizeof empty};
    assert_int_equal(kl_batch_check(&empty, "the rows"), KLIFT_OK);
    int64_t none[3] = {7, 7, 7};
    kl_batch blank = {.size = sizeof blank, .rows = 2, .columns = 9, .start = none}; /* no entries: no arrays */
    assert_int_equal(kl_batch_check(&blank, "the rows"), KLIFT_OK);
}

static void wrong_shapes_are_refused(void **state)
{
    fixture *f = *state;
    kl_batch b;
    refused(NULL, KLIFT_USAGE, "NULL");
    b = f->dense, b.size = 8;
    refused(&b, KLIFT_USAGE, "size is not set");
    b = f->dense, b.rows = -1;
    refused(&b, KLIFT_USAGE, "-1 rows");
    b = f->dense, b.columns = -1;
    refused(&b, KLIFT_USAGE, "-1 columns");
    b = f->dense, b.columns = INT64_C(1) << 31;
    refused(&b, KLIFT_USAGE, "2147483648 columns");
    b = f->dense, b.targets = -1;
    refused(&b, KLIFT_USAGE, "-1 targets");
    b = f->dense, b.targets = 0;
    refused(&b, KLIFT_USAGE, "targets is 0");
    b = f->dense, b.start = f->start;
    refused(&b, KLIFT_USAGE, "either dense or start");
    b = f->dense, b.dense = NULL;
    refused(&b, KLIFT_USAGE, "either dense or start");
    b = f->dense, b.stride = COLUMNS - 1;
    refused(&b, KLIFT_USAGE, "stride 4 is below the 5 columns");
    b = f->sparse, b.column = NULL;
    refused(&b, KLIFT_USAGE, "column or value is NULL");
    b = f->sparse, b.value = NULL;
    refused(&b, KLIFT_USAGE, "column or value is NULL");
}

static void wrong_patterns_are_refused(void **state)
{
    fixture *f = *state;
    f->start[1] = 1000; /* beyond the arrays, though the last one is right */
    refused(&f->sparse, KLIFT_DATA, "row 1: start[1] = 1000 does not ascend");
    f->start[1] = 2;
    f->start[2] = 1;
    refused(&f->sparse, KLIFT_DATA, "row 1: start[1] = 2 does not ascend");
    f->start[2] = 3;
    f->start[0] = -1;
    refused(&f->sparse, KLIFT_DATA, "row 0: start[0] = -1");
    f->start[0] = 0;
    f->column[0] = -1;
    refused(&f->sparse, KLIFT_DATA, "row 0: column -1 is negative");
    f->column[0] = 5;
    refused(&f->sparse, KLIFT_DATA, "row 0: column 5 is beyond the width");
    f->column[0] = 0;
    int32_t second = f->column[1];
    f->column[1] = 0;
    refused(&f->sparse, KLIFT_DATA, "column 0 is not above the one before it");
    f->column[1] = second;
    f->sparse.columns = 4;
    refused(&f->sparse, KLIFT_DATA, "column 4 is beyond the width");
}

static void values_that_are_not_finite_are_named_by_row_and_column(void **state)
{
    fixture *f = *state;
    static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
        f->x[3 * COLUMNS + 2] = bad[i];
        refused(&f->dense, KLIFT_DATA, "row 3, column 2: the value is not finite");
        f->value[f->start[2] + 1] = bad[i];
        refused(&f->sparse, KLIFT_DATA, "row 2, column 4: the value is not finite");
    }
}

static void wrong_labels_and_weights_are_refused(void **state)
{
    fixture *f = *state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        f->target[2 * 3 + 1] = bad[i];
        refused(&f->dense, KLIFT_DATA, "row 3: the target is not finite");
        f->target[2 * 3 + 1] = 0;
        f->weight[2] = bad[i];
        refused(&f->sparse, KLIFT_DATA, "row 2: the weight must be finite and not negative");
        f->weight[2] = -1e-300;
        refused(&f->dense, KLIFT_DATA, "row 2: the weight");
        f->weight[2] = 0;
    }
    f->label[1] = NULL;
    refused(&f->dense, KLIFT_DATA, "row 1: the label is NULL");
}

static void parts_of_parts_are_parts(void **state)
{
    fixture *f = *state;
    const kl_batch *both[] = {&f->dense, &f->sparse};
    for (int i = 0; i < ROWS; i++)
        f->weight[i] = f->target[2 * i] = i;
    for (int k = 0; k < 2; k++)
        for (int64_t first = 0; first <= ROWS; first++)
            for (int64_t count = 0; first + count <= ROWS; count++)
                for (int64_t skip = 0; skip <= count; skip++) {
                    kl_batch part = kl_batch_part(both[k], first, count), inner = kl_batch_part(&part, skip, count - skip);
                    assert_int_equal(inner.rows, count - skip);
                    assert_int_equal(kl_batch_check(&inner, "part"), KLIFT_OK);
                    for (int64_t i = 0; i < inner.rows; i++) {
                        double found[COLUMNS];
                        int64_t row = first + skip + i;
                        kl_batch_row_doubles(&inner, i, COLUMNS, found);
                        for (int64_t j = 0; j < COLUMNS; j++)
                            assert_true(found[j] == (double)f->x[row * COLUMNS + j]);
                        assert_true(inner.weight[i] == (double)row && inner.target[2 * i] == (double)row);
                        assert_ptr_equal(&inner.label[i], &f->label[row]);
                        assert_true(kl_batch_row_key(&inner, i) == kl_batch_row_key(both[k], row));
                    }
                }
}

static void keys_depend_on_the_nonzero_entries_alone(void **state)
{
    fixture *f = *state;
    int32_t column[COLUMNS] = {0, 1, 2, 3, 4};
    int64_t start[2] = {0, COLUMNS};
    for (int64_t i = 0; i < ROWS; i++) {
        kl_batch full = {.size = sizeof full, .rows = 1, .columns = COLUMNS + 10, .start = start, .column = column, .value = f->x + i * COLUMNS};
        assert_true(kl_batch_row_key(&f->dense, i) == kl_batch_row_key(&f->sparse, i));
        assert_true(kl_batch_row_key(&full, 0) == kl_batch_row_key(&f->sparse, i)); /* explicit zeros, greater width */
        for (int64_t j = 0; j < i; j++)
            assert_true(kl_batch_row_key(&f->dense, i) != kl_batch_row_key(&f->dense, j));
    }
    uint64_t key = kl_batch_row_key(&f->dense, 0);
    f->x[1] = -0.0f;
    assert_true(kl_batch_row_key(&f->dense, 0) == key);
}

static void any_bit_of_value_or_column_changes_the_key(void **state)
{
    fixture *f = *state;
    uint64_t key = kl_batch_row_key(&f->sparse, 0);
    for (int64_t p = f->start[0]; p < f->start[1]; p++)
        for (int bit = 0; bit < 32; bit++) {
            uint32_t bits;
            float keep = f->value[p];
            memcpy(&bits, &keep, sizeof bits);
            bits ^= UINT32_C(1) << bit;
            memcpy(&f->value[p], &bits, sizeof bits);
            assert_true(kl_batch_row_key(&f->sparse, 0) != key);
            f->value[p] = keep;
            if (bit < 31) {
                f->column[p] ^= 1 << bit;
                assert_true(kl_batch_row_key(&f->sparse, 0) != key);
                f->column[p] ^= 1 << bit;
            }
        }
    float swapped[COLUMNS] = {2, 0, 1, 0, -3};
    kl_batch other = dense_batch(1, COLUMNS, swapped);
    assert_true(kl_batch_row_key(&other, 0) != key); /* nor may values change places */
}

static void norms_neither_overflow_nor_vanish(void **state)
{
    fixture *f = *state;
    assert_true(fabs(kl_batch_row_norm(&f->dense, 0) - sqrt(14)) < 1e-15);
    assert_true(kl_batch_row_norm(&f->dense, 1) == 0);
    for (int64_t i = 0; i < ROWS; i++)
        assert_true(kl_batch_row_norm(&f->dense, i) == kl_batch_row_norm(&f->sparse, i));
    float large[4] = {FLT_MAX, FLT_MAX, -FLT_MAX, FLT_MAX}, tiny[4] = {1e-45f, 1e-45f, -1e-45f, 1e-45f};
    kl_batch b = dense_batch(1, 4, large), t = dense_batch(1, 4, tiny);
    assert_true(fabs(kl_batch_row_norm(&b, 0) / (2 * (double)FLT_MAX) - 1) < 1e-15);
    assert_true(fabs(kl_batch_row_norm(&t, 0) / (2 * (double)1e-45f) - 1) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define WITH_ROWS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
        WITH_ROWS(good_batches_pass),
        WITH_ROWS(wrong_shapes_are_refused),
        WITH_ROWS(wrong_patterns_are_refused),
        WITH_ROWS(values_that_are_not_finite_are_named_by_row_and_column),
        WITH_ROWS(wrong_labels_and_weights_are_refused),
        WITH_ROWS(parts_of_parts_are_parts),
        WITH_ROWS(keys_depend_on_the_nonzero_entries_alone),
        WITH_ROWS(any_bit_of_value_or_column_changes_the_key),
        WITH_ROWS(norms_neither_overflow_nor_vanish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
