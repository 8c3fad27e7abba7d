/* test_prepare.c - every preparation is its formula, for dense and CSR rows, and survives a record. */
#include "data/prepare.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 50, COLUMNS = 6, KINDS = KL_MEANNORM + 1 };

typedef struct fixture {
    float x[ROWS * COLUMNS];
    csr sparse;
    kl_batch batch[2]; /* dense, CSR */
    kl_survey survey[2];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            f->x[i * COLUMNS + j] = i == 3 || (i + j) % 4 == 0 ? 0.0f : (float)(syn_normal((uint64_t)i, (uint64_t)j) * (j + 1) + j);
    for (int i = 0; i < ROWS; i++) {
        f->x[i * COLUMNS + 4] = 0.0f; /* row 3 and column 4 are zero, column 5 is constant elsewhere */
        f->x[i * COLUMNS + 5] = i == 3 ? 0.0f : 2.5f;
    }
    f->sparse = csr_of(ROWS, COLUMNS, f->x);
    f->batch[0] = dense_batch(ROWS, COLUMNS, f->x);
    f->batch[1] = csr_batch(ROWS, COLUMNS, &f->sparse);
    for (int k = 0; k < 2; k++) {
        kl_reader *reader;
        if (kl_reader_view(&f->batch[k], &reader) != KLIFT_OK || kl_survey_take(reader, 1, 20, NULL, &f->survey[k]) != KLIFT_OK)
            return -1;
        kl_reader_free(reader);
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    kl_survey_clear(&f->survey[0]);
    kl_survey_clear(&f->survey[1]);
    csr_free(&f->sparse);
    free(f);
    return 0;
}

/* The prepared rows as doubles (rows, n_out); scratch has its exact size, so that the sanitizer sees one byte more. */
static double *apply(const kl_prepare *p, const kl_batch *batch)
{
    int64_t bytes = kl_prepare_scratch(p, batch);
    void *scratch = malloc(bytes > 0 ? (size_t)bytes : 1);
    double *out = calloc((size_t)(batch->rows * p->n_out) + 1, sizeof *out);
    kl_batch ready;
    kl_prepare_apply(p, batch, scratch, &ready);
    assert_true(ready.rows == batch->rows && ready.columns == p->n_out);
    assert_true(ready.rows == 0 || kl_batch_check(&ready, "prepared") == KLIFT_OK);
    for (int64_t i = 0; i < batch->rows; i++)
        kl_batch_row_doubles(&ready, i, p->n_out, out + i * p->n_out);
    free(scratch);
    return out;
}

/* The formulas at the head of prepare.c, for x[row][j]; sparse: fitted on CSR rows. */
static double formula(const fixture *f, kl_prepare_kind kind, bool sparse, int64_t row, int64_t j)
{
    const kl_survey *s = &f->survey[0];
    const float *x = f->x + row * COLUMNS;
    double norm = 0, value = j < COLUMNS ? (double)x[j] : 0;
    for (int k = 0; k < COLUMNS; k++)
        norm += (double)x[k] * (double)x[k];
    norm = sqrt(norm);
    switch (kind) {
    case KL_NONE:
        return value;
    case KL_UNIT:
    case KL_UNIT_KEEP_NORM:
        return j == COLUMNS ? norm / s->norm_mean : norm > 0 ? value / norm : 0;
    case KL_STANDARDISE:
        return (value - (sparse ? 0 : s->mean[j])) / (s->variance[j] > 0 ? sqrt(s->variance[j]) : 1);
    case KL_MINMAX:
        if (sparse)
            return value / (s->low[j] != 0 || s->high[j] != 0 ? fmax(fabs(s->low[j]), fabs(s->high[j])) : 1);
        return (value - s->low[j]) / (s->high[j] > s->low[j] ? s->high[j] - s->low[j] : 1);
    case KL_MAXNORM:
        return value / s->norm_max;
    default:
        return value / s->norm_mean;
    }
}

static void every_kind_is_its_formula(void **state)
{
    const fixture *f = *state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int fitted = 0; fitted < 2; fitted++)
            for (int given = 0; given < 2; given++) {
                kl_prepare p;
                assert_int_equal(kl_prepare_fit(&p, (kl_prepare_kind)kind, &f->survey[fitted]), KLIFT_OK);
                assert_int_equal(p.n_in, COLUMNS);
                assert_int_equal(p.n_out, COLUMNS + (kind == KL_UNIT_KEEP_NORM));
                assert_true(p.centred == (fitted == 0 && (kind == KL_STANDARDISE || kind == KL_MINMAX)));
                double *out = apply(&p, &f->batch[given]);
                for (int64_t i = 0; i < ROWS; i++)
                    for (int64_t j = 0; j < p.n_out; j++) {
                        double expected = formula(f, p.kind, fitted == 1, i, j), found = out[i * p.n_out + j];
                        if (!(fabs(found - expected) <= 1e-6 * (1 + fabs(expected))))
                            fail_msg("%s, fitted %d, given %d, (%d, %d): %.9g is not %.9g", kl_prepare_name(p.kind), fitted, given, (int)i, (int)j, found, expected);
                    }
                free(out);
                kl_prepare_clear(&p);
            }
}

static void dense_and_sparse_rows_become_the_same_bits(void **state)
{
    const fixture *f = *state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int fitted = 0; fitted < 2; fitted++) {
            kl_prepare p;
            assert_int_equal(kl_prepare_fit(&p, (kl_prepare_kind)kind, &f->survey[fitted]), KLIFT_OK);
            double *dense = apply(&p, &f->batch[0]), *sparse = apply(&p, &f->batch[1]);
            for (int64_t i = 0; i < ROWS * p.n_out; i++)
                assert_true(dense[i] == sparse[i]);
            free(dense);
            free(sparse);
            kl_prepare_clear(&p);
        }
}

static void every_row_is_prepared_by_itself(void **state)
{
    const fixture *f = *state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int given = 0; given < 2; given++) {
            kl_prepare p;
            assert_int_equal(kl_prepare_fit(&p, (kl_prepare_kind)kind, &f->survey[given]), KLIFT_OK);
            double *all = apply(&p, &f->batch[given]);
            for (int64_t first = 0; first < ROWS; first += 7)
                for (int64_t count = 0; count <= 3 && first + count <= ROWS; count++) {
                    kl_batch part = kl_batch_part(&f->batch[given], first, count); /* CSR: start[0] is not 0 */
                    double *some = apply(&p, &part);
                    assert_memory_equal(some, all + first * p.n_out, (size_t)(count * p.n_out) * sizeof *some);
                    free(some);
                }
            free(all);
            kl_prepare_clear(&p);
        }
}

static void narrower_sparse_rows_are_zero_beyond_their_width(void **state)
{
    const fixture *f = *state;
    float x[2 * 3] = {1, 0, 2, 0, 0, 0}, wide[2 * COLUMNS] = {1, 0, 2};
    csr rows = csr_of(2, 3, x);
    kl_batch narrow = csr_batch(2, 3, &rows), same = dense_batch(2, COLUMNS, wide);
    for (int kind = 0; kind < KINDS; kind++)
        for (int fitted = 0; fitted < 2; fitted++) {
            kl_prepare p;
            assert_int_equal(kl_prepare_fit(&p, (kl_prepare_kind)kind, &f->survey[fitted]), KLIFT_OK);
            double *a = apply(&p, &narrow), *b = apply(&p, &same);
            for (int64_t i = 0; i < 2 * p.n_out; i++)
                assert_true(a[i] == b[i]);
            free(a);
            free(b);
            kl_prepare_clear(&p);
        }
    csr_free(&rows);
}

/* Loads what was put into the one section of `to`. */
static klift_status load(kl_prepare *p, kl_record_writer *to)
{
    kl_record_reader from;
    uint32_t tag;
    kl_record_close(to);
    assert_int_equal(kl_record_finish(to), KLIFT_OK);
    assert_int_equal(kl_record_check(&from, to->bytes, to->length, KL_RECORD_MODEL), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    klift_status status = kl_prepare_load(p, &from);
    assert_true(status != KLIFT_OK || kl_record_done(&from) == KLIFT_OK);
    kl_record_clear(to);
    return status;
}

static void records_bring_back_the_same_preparation(void **state)
{
    const fixture *f = *state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int fitted = 0; fitted < 2; fitted++) {
            kl_prepare p, q;
            kl_record_writer to;
            assert_int_equal(kl_prepare_fit(&p, (kl_prepare_kind)kind, &f->survey[fitted]), KLIFT_OK);
            kl_record_begin(&to, KL_RECORD_MODEL);
            kl_record_open(&to, 1, true);
            kl_prepare_save(&p, &to);
            assert_int_equal(load(&q, &to), KLIFT_OK);
            assert_true(q.kind == p.kind && q.n_in == p.n_in && q.n_out == p.n_out && q.centred == p.centred && q.norm == p.norm);
            double *before = apply(&p, &f->batch[0]), *after = apply(&q, &f->batch[0]);
            assert_memory_equal(before, after, (size_t)(ROWS * p.n_out) * sizeof *before);
            free(before);
            free(after);
            kl_prepare_clear(&p);
            kl_prepare_clear(&q);
        }
}

static void preparations_that_make_no_sense_are_not_loaded(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t kind;
        int64_t n_in;
        uint32_t centred;
        double norm;
    } bad[] = {{KINDS, 3, 0, 1}, {KL_UNIT, 0, 0, 1}, {KL_UNIT, -1, 0, 1}, {KL_UNIT, INT64_C(1) << 31, 0, 1}, {KL_UNIT, 3, 2, 1}, {KL_UNIT, 3, 1, 1},
               {KL_MAXNORM, 3, 0, 0}, {KL_MAXNORM, 3, 0, -1}, {KL_MAXNORM, 3, 0, NAN}, {KL_STANDARDISE, 3, 0, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        kl_record_writer to;
        kl_prepare p;
        kl_record_begin(&to, KL_RECORD_MODEL);
        kl_record_open(&to, 1, true);
        kl_record_put_u32(&to, bad[i].kind);
        kl_record_put_i64(&to, bad[i].n_in);
        kl_record_put_u32(&to, bad[i].centred);
        kl_record_put_f64(&to, bad[i].norm);
        assert_int_equal(load(&p, &to), KLIFT_MODEL);
        kl_prepare_clear(&p);
    }
}

/* Rows of values times scale, in float32's last decades. */
static void check_extreme(double scale, kl_prepare_kind kind, bool sparse)
{
    static const float base[4 * 3] = {1, -0.5f, 0, 0.25f, 1, 0, -1, 0, 0.5f, 0.5f, 0.5f, 0.5f};
    float x[4 * 3];
    for (int i = 0; i < 12; i++)
        x[i] = (float)((double)base[i] * scale);
    csr rows = csr_of(4, 3, x), plain = csr_of(4, 3, base);
    kl_batch large = sparse ? csr_batch(4, 3, &rows) : dense_batch(4, 3, x), usual = sparse ? csr_batch(4, 3, &plain) : dense_batch(4, 3, base);
    kl_prepare p, q;
    kl_reader *reader;
    kl_survey survey;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(kl_reader_view(k ? &usual : &large, &reader), KLIFT_OK);
        assert_int_equal(kl_survey_take(reader, 0, 0, NULL, &survey), KLIFT_OK);
        assert_int_equal(kl_prepare_fit(k ? &q : &p, kind, &survey), KLIFT_OK);
        kl_survey_clear(&survey);
        kl_reader_free(reader);
    }
    double *found = apply(&p, &large), *expected = apply(&q, &usual); /* every kind but none forgets the scale */
    for (int64_t i = 0; i < 4 * p.n_out; i++)
        if (!(fabs(found[i] - expected[i]) <= 1e-5))
            fail_msg("%s at %g: %g is not %g", kl_prepare_name(kind), scale, found[i], expected[i]);
    free(found);
    free(expected);
    kl_prepare_clear(&p);
    kl_prepare_clear(&q);
    csr_free(&rows);
    csr_free(&plain);
}

static void tiny_and_huge_values_keep_their_proportions(void **unused)
{
    (void)unused;
    static const double scales[] = {1e-37, 1e-20, 1e20, 1e38};
    for (int s = 0; s < 4; s++)
        for (int kind = KL_UNIT; kind < KINDS; kind++)
            for (int sparse = 0; sparse < 2; sparse++)
                check_extreme(scales[s], (kl_prepare_kind)kind, sparse);
    check_extreme(1e-38, KL_UNIT, false); /* subnormal values: rows as a whole still scale */
    check_extreme(1e-38, KL_UNIT_KEEP_NORM, true);
    check_extreme(1e-38, KL_MAXNORM, false);
    check_extreme(1e-38, KL_MEANNORM, true);
}

static void preparing_a_survey_is_preparing_its_sample(void **state)
{
    const fixture *f = *state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int given = 0; given < 2; given++) {
            kl_prepare p;
            kl_survey s = {.columns = COLUMNS, .norm_max = f->survey[given].norm_max, .norm_mean = f->survey[given].norm_mean};
            kl_batch sample = kl_rows_view(&f->survey[given].sample);
            assert_int_equal(kl_rows_add(&s.sample, &sample, 0, sample.rows), KLIFT_OK);
            assert_int_equal(kl_prepare_fit(&p, (kl_prepare_kind)kind, &f->survey[given]), KLIFT_OK);
            double *expected = apply(&p, &sample), *row = calloc((size_t)p.n_out, sizeof *row), largest = 0;
            assert_int_equal(kl_prepare_survey(&p, &s), KLIFT_OK);
            assert_true(s.columns == p.n_out && s.sample.columns == p.n_out && s.sample.rows == sample.rows);
            kl_batch ready = kl_rows_view(&s.sample);
            for (int64_t i = 0; i < ready.rows; i++) {
                kl_batch_row_doubles(&ready, i, p.n_out, row);
                assert_memory_equal(row, expected + i * p.n_out, (size_t)p.n_out * sizeof *row);
                largest = fmax(largest, kl_batch_row_norm(&ready, i));
            }
            assert_true(largest <= s.norm_max * (1 + 1e-6));
            assert_true(kind != KL_UNIT || s.norm_max == 1);
            assert_true(kind != KL_MAXNORM || s.norm_max == 1);
            assert_true(kind != KL_MEANNORM || s.norm_mean == 1);
            free(expected);
            free(row);
            kl_survey_clear(&s);
            kl_prepare_clear(&p);
        }
}

static void without_data_only_none_and_unit_work(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++) {
        kl_prepare p;
        klift_status status = kl_prepare_plain(&p, (kl_prepare_kind)kind, 9);
        assert_int_equal(status, kind == KL_NONE || kind == KL_UNIT ? KLIFT_OK : KLIFT_USAGE);
        assert_true(status != KLIFT_OK || (p.n_in == 9 && p.n_out == 9));
        kl_prepare_clear(&p);
    }
}

static void rows_that_are_all_zero_cannot_be_divided_by_their_norm(void **unused)
{
    (void)unused;
    static double zero[3];
    kl_survey s = {.rows = 5, .columns = 3, .mean = zero, .variance = zero, .low = zero, .high = zero};
    for (int kind = 0; kind < KINDS; kind++) {
        kl_prepare p;
        bool divides = kind == KL_MAXNORM || kind == KL_MEANNORM || kind == KL_UNIT_KEEP_NORM;
        assert_int_equal(kl_prepare_fit(&p, (kl_prepare_kind)kind, &s), divides ? KLIFT_DATA : KLIFT_OK);
        if (divides)
            assert_non_null(strstr(kl_error_text(), "all rows are zero"));
        kl_prepare_clear(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_its_formula),
        cmocka_unit_test(dense_and_sparse_rows_become_the_same_bits),
        cmocka_unit_test(every_row_is_prepared_by_itself),
        cmocka_unit_test(narrower_sparse_rows_are_zero_beyond_their_width),
        cmocka_unit_test(records_bring_back_the_same_preparation),
        cmocka_unit_test(preparations_that_make_no_sense_are_not_loaded),
        cmocka_unit_test(tiny_and_huge_values_keep_their_proportions),
        cmocka_unit_test(preparing_a_survey_is_preparing_its_sample),
        cmocka_unit_test(without_data_only_none_and_unit_work),
        cmocka_unit_test(rows_that_are_all_zero_cannot_be_divided_by_their_norm),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
