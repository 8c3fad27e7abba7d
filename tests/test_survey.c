/* test_survey.c - one pass tells the moments, labels and a sample; neither form, batch nor pipe changes a bit. */
#include "data/survey.h"
#include "support.h"

#include "math/random.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 500, COLUMNS = 6, WIDE = 20000, MANY = 3001, BROAD = 37 }; /* MANY x BROAD: enough for more than one thread */

typedef struct fixture {
    float x[ROWS * COLUMNS];
    double weight[ROWS], target[ROWS];
    csr sparse;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    for (int i = 0; i < ROWS; i++) {
        float *x = f->x + i * COLUMNS;
        x[0] = (float)syn_normal((uint64_t)i, 0);
        x[1] = (float)(100 + syn_normal((uint64_t)i, 1)); /* far from zero */
        x[2] = i % 3 ? 0.0f : (float)syn_normal((uint64_t)i, 2);
        x[3] = 0.1f; /* constant */
        x[5] = i % 2 ? 1e30f : -1e30f; /* column 4 is zero */
        f->weight[i] = i % 10 == 0 ? 0 : 0.25 * (double)(i % 4 + 1);
        f->target[i] = i % 7;
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

static kl_batch rows_of(const fixture *f, bool sparse, bool weighted)
{
    kl_batch batch = sparse ? csr_batch(ROWS, COLUMNS, &f->sparse) : dense_batch(ROWS, COLUMNS, f->x);
    batch.weight = weighted ? f->weight : NULL;
    return batch;
}

static kl_survey take(const kl_batch *batch, uint64_t seed, int64_t sample, const char *batch_rows)
{
    kl_reader *reader;
    kl_survey survey;
    klift_run *run;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "batch", batch_rows), KLIFT_OK);
    assert_int_equal(kl_reader_view(batch, &reader), KLIFT_OK);
    assert_int_equal(kl_survey_take(reader, seed, sample, run, &survey), KLIFT_OK);
    assert_true(reader->at_start);
    kl_reader_free(reader);
    klift_run_free(run);
    return survey;
}

static void near(double value, double expected, double scale)
{
    if (!(fabs(value - expected) <= 1e-13 * scale))
        fail_msg("%.17g is not %.17g (scale %g)", value, expected, scale);
}

static void moments_are_those_of_two_passes(void **state)
{
    const fixture *f = *state;
    for (int weighted = 0; weighted < 2; weighted++) {
        kl_batch batch = rows_of(f, false, weighted);
        kl_survey s = take(&batch, 1, 0, "64");
        double total = 0, norm_sum = 0, norm_max = 0;
        for (int64_t i = 0; i < ROWS; i++) {
            double weight = weighted ? f->weight[i] : 1, norm = kl_batch_row_norm(&batch, i);
            total += weight;
            norm_sum += weight * norm;
            norm_max = fmax(norm_max, norm);
        }
        for (int64_t j = 0; j < COLUMNS; j++) {
            double mean = 0, variance = 0, low = INFINITY, high = -INFINITY;
            for (int64_t i = 0; i < ROWS; i++)
                mean += (weighted ? f->weight[i] : 1) * (double)f->x[i * COLUMNS + j] / total;
            for (int64_t i = 0; i < ROWS; i++) {
                double x = (double)f->x[i * COLUMNS + j];
                variance += (weighted ? f->weight[i] : 1) * (x - mean) * (x - mean) / total;
                low = fmin(low, x);
                high = fmax(high, x);
            }
            double scale = mean * mean + variance;
            near(s.mean[j], mean, sqrt(scale));
            near(s.variance[j], j == 3 ? 0 : variance, 10 * scale);
            assert_true(s.low[j] == low && s.high[j] == high);
        }
        assert_true(s.variance[3] == 0 && s.variance[4] == 0); /* constant columns have none at all */
        near(s.weight, total, total);
        near(s.norm_mean, norm_sum / total, norm_max);
        assert_true(s.norm_max == norm_max);
        assert_true(s.rows == ROWS && s.columns == COLUMNS && s.nonzeros == f->sparse.start[ROWS]);
        assert_true(s.complete && !s.sparse && s.weighted == weighted && s.index_base == -1);
        kl_survey_clear(&s);
    }
}

static void check_same(const kl_survey *a, const kl_survey *b)
{
    size_t bytes = COLUMNS * sizeof(double);
    assert_memory_equal(a->mean, b->mean, bytes);
    assert_memory_equal(a->variance, b->variance, bytes);
    assert_memory_equal(a->low, b->low, bytes);
    assert_memory_equal(a->high, b->high, bytes);
    assert_true(a->norm_max == b->norm_max && a->norm_mean == b->norm_mean && a->weight == b->weight && a->nonzeros == b->nonzeros);
    kl_batch x = kl_rows_view(&a->sample), y = kl_rows_view(&b->sample);
    assert_int_equal(x.rows, y.rows);
    for (int64_t i = 0; i < x.rows; i++) {
        double u[COLUMNS], v[COLUMNS];
        kl_batch_row_doubles(&x, i, COLUMNS, u);
        kl_batch_row_doubles(&y, i, COLUMNS, v);
        assert_memory_equal(u, v, sizeof u);
    }
}

static void form_and_batch_change_no_bit(void **state)
{
    const fixture *f = *state;
    static const char *const sizes[] = {"1", "7", "499", "500", "4096"};
    for (int weighted = 0; weighted < 2; weighted++) {
        kl_batch dense = rows_of(f, false, weighted), sparse = rows_of(f, true, weighted);
        kl_survey first = take(&dense, 3, 50, "4096");
        for (int b = 0; b < 5; b++) {
            kl_survey d = take(&dense, 3, 50, sizes[b]), s = take(&sparse, 3, 50, sizes[b]);
            check_same(&first, &d);
            check_same(&first, &s);
            assert_true(s.sparse && kl_rows_view(&s.sample).start != NULL);
            kl_survey_clear(&d);
            kl_survey_clear(&s);
        }
        kl_survey_clear(&first);
    }
}

/* Zeros of both signs, denormal numbers, columns of one sign, values that cancel. */
static float *many_rows(double *weight)
{
    float *x = calloc((size_t)MANY * BROAD, sizeof *x);
    for (int64_t i = 0; i < MANY; i++) {
        weight[i] = i % 10 == 0 ? 0 : 0.3 * (double)(i % 4 + 1);
        for (int64_t j = 0; j < BROAD; j++) {
            float *value = &x[i * BROAD + j], normal = (float)syn_normal((uint64_t)i, (uint64_t)j);
            *value = (i + j) % 3 == 0 ? 0.0f : (i + j) % 3 == 1 && j % 5 < 2 ? -0.0f : normal * powf(10, (float)(j % 7 - 3));
            if (j % 6 == 4 && *value != 0.0f)
                *value = copysignf(1e-42f * (float)(i % 100 + 1), j == 10 ? -1.0f : normal);
            if (j % 6 == 5)
                *value = j == 11 ? -fabsf(*value) : fabsf(*value) + (j == 17);
        }
    }
    return x;
}

/* The definition: sums over the nonzeros in the order of the rows, one column after the other. */
static void check_column(const kl_survey *s, const float *x, const double *weight, int64_t j)
{
    double total = 0, sum = 0, square = 0, low = 0, high = 0;
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < MANY; i++) {
        double value = (double)x[i * BROAD + j], w = weight != NULL ? weight[i] : 1;
        total += w;
        if (value == 0)
            continue;
        sum += w * value;
        square += w * value * value;
        low = nonzeros == 0 || value < low ? value : low;
        high = nonzeros == 0 || value > high ? value : high;
        nonzeros++;
    }
    double mean = sum / total, variance = square / total - mean * mean;
    variance = variance < 1e-13 * mean * mean ? 0 : variance;
    if (nonzeros < MANY) {
        low = low < 0 ? low : 0;
        high = high > 0 ? high : 0;
    }
    const double found[] = {s->mean[j], s->variance[j], s->low[j], s->high[j]}, expected[] = {mean, variance, low, high};
    assert_memory_equal(found, expected, sizeof found);
}

static kl_survey take_threads(const kl_batch *batch, const char *threads, const char *batch_rows)
{
    kl_reader *reader;
    kl_survey survey;
    klift_run *run;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "threads", threads), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "batch", batch_rows), KLIFT_OK);
    assert_int_equal(kl_reader_view(batch, &reader), KLIFT_OK);
    assert_int_equal(kl_survey_take(reader, 1, 0, run, &survey), KLIFT_OK);
    kl_reader_free(reader);
    klift_run_free(run);
    return survey;
}

static void threads_change_no_bit(void **unused)
{
    (void)unused;
    static const char *const threads[] = {"1", "2", "3"}, *const sizes[] = {"4096", "2998", "70"};
    double *weight = calloc(MANY, sizeof *weight);
    float *x = many_rows(weight);
    csr sparse = csr_of(MANY, BROAD, x);
    for (int form = 0; form < 4; form++) {
        kl_batch batch = form % 2 ? csr_batch(MANY, BROAD, &sparse) : dense_batch(MANY, BROAD, x);
        batch.weight = form / 2 ? weight : NULL;
        double norm_sum = 0, norm_max = 0, total = 0;
        int64_t most = 0, row = 0;
        for (int64_t i = 0; i < MANY; i++) {
            double w = form / 2 ? weight[i] : 1, norm = kl_batch_row_norm(&batch, i);
            int64_t nonzeros = sparse.start[i + 1] - sparse.start[i];
            total += w;
            norm_sum += w * norm;
            norm_max = norm > norm_max ? norm : norm_max;
            row = nonzeros > most ? i + 1 : row;
            most = nonzeros > most ? nonzeros : most;
        }
        for (int k = 0; k < 9; k++) {
            kl_survey s = take_threads(&batch, threads[k / 3], sizes[k % 3]);
            for (int64_t j = 0; j < BROAD; j++)
                check_column(&s, x, batch.weight, j);
            assert_true(s.norm_max == norm_max && s.norm_mean == norm_sum / total && s.weight == total);
            assert_true(s.nonzeros == sparse.start[MANY] && s.nonzeros_max == most && s.nonzeros_row == row);
            kl_survey_clear(&s);
        }
    }
    csr_free(&sparse);
    free(x);
    free(weight);
}

static void the_sample_is_the_rows_of_the_smallest_keys(void **state)
{
    const fixture *f = *state;
    static const int64_t limits[] = {0, 1, 10, 100, ROWS, 10 * ROWS};
    kl_batch batch = rows_of(f, false, false);
    for (uint64_t seed = 0; seed < 5; seed++)
        for (int l = 0; l < 6; l++) {
            kl_random keys = {seed, 0, KL_DRAW_SAMPLE};
            kl_survey s = take(&batch, seed, limits[l], "33");
            kl_batch sample = kl_rows_view(&s.sample);
            int64_t count = limits[l] < ROWS ? limits[l] : ROWS;
            assert_int_equal(sample.rows, count);
            bool used[ROWS] = {false};
            for (int64_t i = 0; i < count; i++) {
                int64_t best = -1; /* the smallest key that is left */
                for (int64_t r = 0; r < ROWS; r++)
                    if (!used[r] && (best < 0 || kl_random_key(&keys, (uint64_t)r) < kl_random_key(&keys, (uint64_t)best)))
                        best = r;
                used[best] = true;
                assert_memory_equal(sample.dense + i * COLUMNS, f->x + best * COLUMNS, COLUMNS * sizeof(float));
                if (l == 4 && i > 20)
                    break; /* the rest of the full sample is one permutation */
            }
            kl_survey_clear(&s);
        }
}

/* A source of wide rows (row number, row number squared mod 97) that may be without rewind, in uneven batches. */
typedef struct supply {
    int64_t at, rows, step;
    float x[3000 * 2];
} supply;

static klift_status next(void *user, klift_batch *batch)
{
    supply *s = user;
    int64_t left = s->rows - s->at, count = left < s->step ? left : s->step;
    for (int64_t i = 0; i < count; i++) {
        s->x[2 * i] = (float)(s->at + i + 1);
        s->x[2 * i + 1] = (float)((s->at + i) * (s->at + i) % 97);
    }
    *batch = dense_batch(count, 2, s->x);
    s->at += count;
    s->step = s->step % 2999 + 1;
    return KLIFT_OK;
}

static void a_pipe_is_surveyed_by_its_head_and_then_read_from_its_start(void **unused)
{
    (void)unused;
    supply *s = calloc(1, sizeof *s);
    *s = (supply){.rows = WIDE, .step = 1234};
    const klift_source source = {sizeof source, s, next, NULL};
    kl_reader *reader;
    kl_survey survey;
    assert_int_equal(kl_reader_from(&source, &reader), KLIFT_OK);
    assert_int_equal(kl_survey_take(reader, 0, 100, NULL, &survey), KLIFT_OK);
    assert_false(survey.complete);
    assert_int_equal(survey.rows, KL_SURVEY_HEAD);
    near(survey.mean[0], (KL_SURVEY_HEAD + 1) / 2.0, KL_SURVEY_HEAD);
    assert_true(survey.high[0] == KL_SURVEY_HEAD);
    assert_int_equal(survey.sample.rows, 100);
    kl_survey_clear(&survey);
    int64_t seen = 0;
    for (int64_t ask = 1;; ask = ask % 3001 + 7) {
        kl_batch batch;
        assert_int_equal(kl_reader_next(reader, ask, &batch), KLIFT_OK);
        if (batch.rows == 0)
            break;
        assert_true(batch.rows <= ask);
        for (int64_t i = 0; i < batch.rows; i++)
            assert_true(batch.dense[i * batch.stride] == (float)(++seen));
    }
    assert_int_equal(seen, WIDE);
    assert_int_equal(klift_data_count(reader), WIDE);
    assert_int_equal(kl_reader_rewind(reader), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "once only"));
    kl_reader_free(reader);
    free(s);
}

static void a_short_pipe_is_kept_whole_and_can_be_read_again(void **unused)
{
    (void)unused;
    supply *s = calloc(1, sizeof *s);
    *s = (supply){.rows = 1000, .step = 77};
    const klift_source source = {sizeof source, s, next, NULL};
    kl_reader *reader;
    kl_survey survey;
    assert_int_equal(kl_reader_from(&source, &reader), KLIFT_OK);
    assert_int_equal(kl_survey_take(reader, 0, 10, NULL, &survey), KLIFT_OK);
    assert_true(survey.complete && survey.rows == 1000);
    kl_survey_clear(&survey);
    for (int pass = 0; pass < 3; pass++) {
        int64_t seen = 0;
        for (;;) {
            kl_batch batch;
            assert_int_equal(kl_reader_next(reader, 64, &batch), KLIFT_OK);
            if (batch.rows == 0)
                break;
            for (int64_t i = 0; i < batch.rows; i++)
                assert_true(batch.dense[i * batch.stride] == (float)(++seen));
        }
        assert_int_equal(seen, 1000);
        assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
    }
    kl_reader_free(reader);
    free(s);
}

static void labels_are_counted_up_to_the_limit(void **state)
{
    const fixture *f = *state;
    kl_batch batch = rows_of(f, false, false);
    batch.target = f->target;
    batch.targets = 1;
    kl_survey s = take(&batch, 0, 0, "100");
    assert_true(s.distinct == 7 && s.targets == 1 && !s.fractions && !s.text_labels);
    for (int i = 0; i < 7; i++)
        assert_true(s.distinct_value[i] == i); /* in the order of their coming */
    kl_survey_clear(&s);
    double *target = calloc(ROWS, sizeof *target);
    for (int i = 0; i < ROWS; i++)
        target[i] = i + (i == 100 ? 0.5 : 0);
    batch.target = target;
    s = take(&batch, 0, 0, "100");
    assert_true(s.distinct == KL_SURVEY_DISTINCT && s.fractions);
    kl_survey_clear(&s);
    free(target);
    char names[ROWS][8];
    const char *label[ROWS];
    for (int classes = 3; classes <= 103; classes += 100) {
        for (int i = 0; i < ROWS; i++) {
            snprintf(names[i], sizeof names[i], "c%d", i % classes);
            label[i] = names[i];
        }
        batch.target = NULL;
        batch.targets = 0;
        batch.label = label;
        s = take(&batch, 0, 5, "100");
        assert_true(s.text_labels && s.targets == 0 && s.distinct == (classes < KL_SURVEY_DISTINCT ? classes : KL_SURVEY_DISTINCT));
        assert_string_equal(s.classes.name[1], "c1");
        kl_survey_clear(&s);
    }
}

static void what_cannot_be_surveyed_is_refused(void **state)
{
    const fixture *f = *state;
    kl_batch none = dense_batch(0, 3, f->x), narrow = dense_batch(ROWS, 0, f->x);
    kl_reader *reader;
    kl_survey survey;
    assert_int_equal(kl_reader_view(&none, &reader), KLIFT_OK);
    assert_int_equal(kl_survey_take(reader, 0, 10, NULL, &survey), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "no rows"));
    assert_null(survey.mean);
    kl_reader_free(reader);
    assert_int_equal(kl_reader_view(&narrow, &reader), KLIFT_OK);
    assert_int_equal(kl_survey_take(reader, 0, 10, NULL, &survey), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "say dim=N"));
    reader->dim = 4; /* and with dim there is nothing to complain of */
    assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
    assert_int_equal(kl_survey_take(reader, 0, 10, NULL, &survey), KLIFT_OK);
    assert_true(survey.columns == 4 && survey.mean[3] == 0 && survey.nonzeros == 0 && survey.norm_max == 0);
    kl_survey_clear(&survey);
    kl_reader_free(reader);
    klift_run *run;
    kl_batch batch = rows_of(f, false, false);
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    klift_run_cancel(run);
    assert_int_equal(kl_reader_view(&batch, &reader), KLIFT_OK);
    assert_int_equal(kl_survey_take(reader, 0, 10, run, &survey), KLIFT_CANCELLED);
    assert_null(survey.mean);
    kl_reader_free(reader);
    klift_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_two_passes),
        cmocka_unit_test(form_and_batch_change_no_bit),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(the_sample_is_the_rows_of_the_smallest_keys),
        cmocka_unit_test(a_pipe_is_surveyed_by_its_head_and_then_read_from_its_start),
        cmocka_unit_test(a_short_pipe_is_kept_whole_and_can_be_read_again),
        cmocka_unit_test(labels_are_counted_up_to_the_limit),
        cmocka_unit_test(what_cannot_be_surveyed_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
