/* test_rows.c - kept rows are the rows that came, in whichever form they came. */
#include "data/rows.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 60, COLUMNS = 7 };

/* ROWS x COLUMNS with zeros, an empty row, labels, targets and weights, dense and CSR. */
typedef struct fixture {
    float x[ROWS * COLUMNS];
    double target[ROWS * 2], weight[ROWS];
    const char *label[ROWS];
    char text[ROWS][8];
    csr sparse;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            f->x[i * COLUMNS + j] = (i + j) % 3 == 0 || i == 5 ? 0.0f : (float)syn_normal((uint64_t)i, (uint64_t)j);
        f->target[2 * i] = i;
        f->target[2 * i + 1] = -i;
        f->weight[i] = 0.5 + i;
        snprintf(f->text[i], sizeof f->text[i], "c%d", i % 4);
        f->label[i] = f->text[i];
    }
    f->sparse = csr_of(ROWS, COLUMNS, f->x);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    csr_free(&f->sparse);
    free(f);
    return 0;
}

static kl_batch whole(const fixture *f, bool sparse)
{
    return sparse ? csr_batch(ROWS, COLUMNS, &f->sparse) : dense_batch(ROWS, COLUMNS, f->x);
}

static void check_row(const kl_batch *view, int64_t at, const fixture *f, int64_t row)
{
    double found[COLUMNS + 3];
    kl_batch_row_doubles(view, at, COLUMNS + 3, found);
    for (int64_t j = 0; j < COLUMNS + 3; j++)
        assert_true(found[j] == (j < COLUMNS ? (double)f->x[row * COLUMNS + j] : 0));
}

static void parts_of_both_forms_become_one_set_of_rows(void **state)
{
    const fixture *f = *state;
    for (int pattern = 0; pattern < 16; pattern++) { /* bit p: is part p sparse? */
        kl_rows rows = {0};
        for (int part = 0; part < 4; part++) {
            kl_batch batch = whole(f, pattern >> part & 1);
            assert_int_equal(kl_rows_add(&rows, &batch, part * 15, 15), KLIFT_OK);
        }
        kl_batch view = kl_rows_view(&rows);
        assert_int_equal(kl_batch_check(&view, "kept"), KLIFT_OK);
        assert_true(view.rows == ROWS && view.columns == COLUMNS);
        assert_true(kl_batch_is_sparse(&view) == (pattern & 1)); /* as the first part was */
        assert_true(view.target == NULL && view.label == NULL && view.weight == NULL);
        for (int64_t i = 0; i < ROWS; i++)
            check_row(&view, i, f, i);
        kl_rows_clear(&rows);
    }
}

static void any_rows_can_be_added_in_any_order(void **state)
{
    const fixture *f = *state;
    for (int sparse = 0; sparse < 2; sparse++) {
        kl_batch batch = whole(f, sparse);
        kl_rows rows = {0};
        for (int64_t i = 0; i < 3 * ROWS; i++)
            assert_int_equal(kl_rows_add(&rows, &batch, i * 17 % ROWS, 1), KLIFT_OK);
        assert_int_equal(kl_rows_add(&rows, &batch, 3, 0), KLIFT_OK);
        kl_batch view = kl_rows_view(&rows);
        assert_int_equal(view.rows, 3 * ROWS);
        for (int64_t i = 0; i < 3 * ROWS; i++)
            check_row(&view, i, f, i * 17 % ROWS);
        kl_rows_clear(&rows);
    }
}

static void rows_with_gaps_between_them_are_read_by_stride(void **state)
{
    const fixture *f = *state;
    kl_batch narrow = dense_batch(ROWS, 2, f->x);
    narrow.stride = COLUMNS;
    kl_rows rows = {0};
    assert_int_equal(kl_rows_add(&rows, &narrow, 0, ROWS), KLIFT_OK);
    kl_batch view = kl_rows_view(&rows);
    assert_int_equal(view.stride, 2);
    for (int64_t i = 0; i < ROWS; i++)
        assert_memory_equal(view.dense + i * 2, f->x + i * COLUMNS, 2 * sizeof(float));
    kl_rows_clear(&rows);
}

static void sparse_rows_widen_and_dense_ones_must_agree(void **state)
{
    const fixture *f = *state;
    kl_batch sparse = whole(f, true), dense = whole(f, false), narrow = dense;
    kl_rows rows = {0};
    narrow.columns = 3;
    assert_int_equal(kl_rows_add(&rows, &sparse, 0, 10), KLIFT_OK);
    sparse.columns = COLUMNS + 3;
    assert_int_equal(kl_rows_add(&rows, &sparse, 10, 10), KLIFT_OK);
    assert_int_equal(kl_rows_add(&rows, &narrow, 20, 1), KLIFT_OK);
    kl_batch view = kl_rows_view(&rows);
    assert_int_equal(view.columns, COLUMNS + 3);
    check_row(&view, 0, f, 0);
    check_row(&view, 19, f, 19);
    kl_rows_clear(&rows);
    assert_int_equal(kl_rows_add(&rows, &dense, 0, 10), KLIFT_OK);
    assert_int_equal(kl_rows_add(&rows, &narrow, 0, 1), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "row 10 has 3 columns, the rows before it have 7"));
    assert_int_equal(kl_rows_add(&rows, &sparse, 0, 1), KLIFT_DATA);
    assert_int_equal(rows.rows, 10); /* and what was there is whole */
    view = kl_rows_view(&rows);
    check_row(&view, 9, f, 9);
    kl_rows_clear(&rows);
}

static void targets_labels_and_weights_stay_with_their_rows(void **state)
{
    const fixture *f = *state;
    for (int sparse = 0; sparse < 2; sparse++) {
        kl_batch batch = whole(f, sparse);
        kl_rows rows = {0};
        batch.target = f->target;
        batch.targets = 2;
        batch.label = f->label;
        batch.weight = f->weight;
        for (int64_t i = 0; i < ROWS; i++)
            assert_int_equal(kl_rows_add(&rows, &batch, ROWS - 1 - i, 1), KLIFT_OK);
        kl_batch view = kl_rows_view(&rows);
        assert_int_equal(kl_batch_check(&view, "kept"), KLIFT_OK);
        assert_int_equal(view.targets, 2);
        for (int64_t i = 0; i < ROWS; i++) {
            int64_t row = ROWS - 1 - i;
            check_row(&view, i, f, row);
            assert_memory_equal(view.target + 2 * i, f->target + 2 * row, 2 * sizeof(double));
            assert_string_equal(view.label[i], f->label[row]);
            assert_ptr_not_equal(view.label[i], f->label[row]); /* a copy: the batch may go */
            assert_true(view.weight[i] == f->weight[row]);
        }
        assert_int_equal(rows.names.count, 4);
        kl_rows_clear(&rows);
    }
}

static void rows_labelled_otherwise_are_refused(void **state)
{
    const fixture *f = *state;
    kl_batch plain = whole(f, false), labelled = plain, one = plain, two = plain;
    labelled.label = f->label;
    one.target = two.target = f->target;
    one.targets = 1;
    two.targets = 2;
    const kl_batch *all[] = {&plain, &labelled, &one, &two};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            kl_rows rows = {0};
            assert_int_equal(kl_rows_add(&rows, all[i], 0, 3), KLIFT_OK);
            assert_int_equal(kl_rows_add(&rows, all[j], 0, 3), i == j ? KLIFT_OK : KLIFT_DATA);
            if (i != j)
                assert_non_null(strstr(kl_error_text(), "row 3 is labelled otherwise"));
            kl_rows_clear(&rows);
        }
}

static void rows_without_weight_weigh_one(void **state)
{
    const fixture *f = *state;
    kl_batch plain = whole(f, false), weighted = plain;
    kl_rows rows = {0};
    weighted.weight = f->weight;
    assert_int_equal(kl_rows_add(&rows, &plain, 0, 2), KLIFT_OK);
    assert_int_equal(kl_rows_add(&rows, &weighted, 2, 2), KLIFT_OK);
    assert_int_equal(kl_rows_add(&rows, &plain, 4, 30), KLIFT_OK);
    kl_batch view = kl_rows_view(&rows);
    for (int64_t i = 0; i < 34; i++)
        assert_true(view.weight[i] == (i == 2 || i == 3 ? f->weight[i] : 1));
    kl_rows_clear(&rows);
}

static void emptied_rows_take_any_form_again(void **state)
{
    const fixture *f = *state;
    kl_rows rows = {0};
    for (int round = 0; round < 6; round++) {
        kl_batch batch = whole(f, round % 2);
        if (round % 3 == 0)
            batch.weight = f->weight;
        if (round % 3 == 1)
            batch.label = f->label;
        assert_int_equal(kl_rows_add(&rows, &batch, round, 20), KLIFT_OK);
        kl_batch view = kl_rows_view(&rows);
        assert_int_equal(kl_batch_check(&view, "kept"), KLIFT_OK);
        assert_int_equal(view.rows, 20);
        assert_true((view.weight != NULL) == (round % 3 == 0) && (view.label != NULL) == (round % 3 == 1));
        for (int64_t i = 0; i < 20; i++)
            check_row(&view, i, f, round + i);
        kl_rows_empty(&rows);
        assert_int_equal(kl_rows_view(&rows).rows, 0);
    }
    kl_rows_clear(&rows);
    kl_rows_empty(&rows);
    kl_rows_clear(&rows);
}

static void rows_without_columns_can_be_kept(void **state)
{
    const fixture *f = *state;
    kl_rows rows = {0}, again = {0};
    kl_batch none = dense_batch(ROWS, 0, f->x);
    assert_int_equal(kl_rows_add(&rows, &none, 0, ROWS), KLIFT_OK);
    kl_batch view = kl_rows_view(&rows);
    assert_int_equal(kl_batch_check(&view, "kept"), KLIFT_OK);
    assert_true(view.rows == ROWS && kl_batch_row_norm(&view, ROWS - 1) == 0);
    assert_int_equal(kl_rows_add(&again, &view, 0, ROWS), KLIFT_OK);
    assert_int_equal(again.rows, ROWS);
    kl_rows_clear(&rows);
    kl_rows_clear(&again);
}

static void reserved_room_is_filled_without_moving(void **state)
{
    const fixture *f = *state;
    for (int sparse = 0; sparse < 2; sparse++) {
        kl_rows rows = {0};
        kl_batch all = whole(f, sparse), half = kl_batch_part(&all, ROWS / 2, ROWS / 2);
        assert_int_equal(kl_rows_reserve(&rows, &half), KLIFT_OK);
        assert_int_equal(kl_rows_reserve(&rows, &all), KLIFT_OK);
        const float *memory = sparse ? rows.value : rows.dense;
        const int32_t *column = rows.column;
        assert_non_null(memory);
        assert_int_equal(kl_rows_reserve(&rows, &half), KLIFT_OK); /* there is more than that */
        for (int64_t i = 0; i < ROWS; i++)
            assert_int_equal(kl_rows_add(&rows, &all, ROWS - 1 - i, 1), KLIFT_OK);
        kl_batch view = kl_rows_view(&rows);
        assert_true((sparse ? rows.value : rows.dense) == memory && rows.column == column);
        for (int64_t i = 0; i < ROWS; i++)
            check_row(&view, i, f, ROWS - 1 - i);
        kl_rows_clear(&rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_both_forms_become_one_set_of_rows),
        cmocka_unit_test(any_rows_can_be_added_in_any_order),
        cmocka_unit_test(rows_with_gaps_between_them_are_read_by_stride),
        cmocka_unit_test(sparse_rows_widen_and_dense_ones_must_agree),
        cmocka_unit_test(targets_labels_and_weights_stay_with_their_rows),
        cmocka_unit_test(rows_labelled_otherwise_are_refused),
        cmocka_unit_test(rows_without_weight_weigh_one),
        cmocka_unit_test(emptied_rows_take_any_form_again),
        cmocka_unit_test(rows_without_columns_can_be_kept),
        cmocka_unit_test(reserved_room_is_filled_without_moving),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
