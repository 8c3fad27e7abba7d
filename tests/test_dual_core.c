/*
 * test_dual_core.c - the few variables that move, by the inner products of their rows: the weights are those of the variables, the gap over all rows is as
 * small as asked, and neither threads, memory, the form of the rows, nor a stop between two outputs change a bit.
 */
#include "base/memory.h"
#include "learn/dual_core.h"
#include "math/random.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 700, FEATURES = 1040, OUTPUTS = 3, SPARSE = 5 /* every such column has a zero */ };
static const double tolerance = 0.001;
static float z[ROWS * FEATURES];
static double y[OUTPUTS][ROWS];

/* Rows about one of three places, and each class against the rest: a machine whose variables are mostly 0. */
static void make_problem(void)
{
    static double normal[FEATURES], place[OUTPUTS][FEATURES];
    for (uint32_t k = 0; k < OUTPUTS; k++)
        kl_random_normals(&(kl_random){9, 0, KL_DRAW_SYNTHETIC}, k, FEATURES, place[k]);
    for (uint32_t i = 0; i < ROWS; i++) {
        kl_random_normals(&(kl_random){9, 1, KL_DRAW_SYNTHETIC}, i, FEATURES, normal);
        for (uint32_t p = 0; p < FEATURES; p++)
            z[i * FEATURES + p] = p % SPARSE == 0 ? 0 : (float)((place[i % OUTPUTS][p] / 4 + normal[p] * (p < 40 ? 2 : 0.3)) / sqrt(FEATURES));
        for (int o = 0; o < OUTPUTS; o++)
            y[o][i] = (int)(i % OUTPUTS) == o ? 1 : -1;
    }
}

static kl_dual_row row_of(const void *user, int64_t row, int64_t output)
{
    (void)user;
    return (kl_dual_row){y[output][row], row % 11 == 3 ? 0 : 10}; /* some are held out */
}

/* ---- where rows come from ---- */

typedef struct source {
    kl_passes passes;
    bool sparse;
    int64_t taken, stop; /* calls, and at which the run is stopped; -1: never */
} source;

static int32_t column[ROWS][FEATURES];
static float value[ROWS][FEATURES];

static klift_status take(kl_passes *passes, const int32_t *index, int64_t count, klift_run *run, kl_row *to)
{
    source *s = (source *)passes;
    assert_true(count > 0 && count <= passes->at_most);
    if (s->taken++ == s->stop)
        klift_run_cancel(run);
    for (int64_t i = 0; i < count; i++) {
        int64_t row = index[i], entries = 0;
        to[i] = (kl_row){.count = FEATURES, .value = z + row * FEATURES};
        for (int p = 0; s->sparse && p < FEATURES; p++)
            if (z[row * FEATURES + p] != 0) {
                column[i][entries] = p;
                value[i][entries++] = z[row * FEATURES + p];
            }
        if (s->sparse)
            to[i] = (kl_row){.count = entries, .column = column[i], .value = value[i]};
    }
    return kl_run_check(run);
}

static source source_of(int64_t at_most, bool sparse)
{
    return (source){.passes = {.rows = ROWS, .features = FEATURES, .at_most = at_most, .take = take}, .sparse = sparse, .stop = -1};
}

/* ---- a machine ---- */

static kl_dual machine_of(kl_loss loss)
{
    kl_dual d = {.loss = loss, .bias = 1, .rows = ROWS, .features = FEATURES, .outputs = OUTPUTS, .seed = 7, .single = true, .c = 10, .row_of = row_of};
    assert_int_equal(kl_dual_new(&d), KLIFT_OK);
    return d;
}

static double pass_over(kl_dual *d, bool sweep)
{
    static kl_row rows[ROWS];
    static int32_t order[ROWS];
    static uint32_t work[ROWS];
    int64_t count = sweep ? kl_dual_awake(d, order) : ROWS;
    for (int32_t i = 0; !sweep && i < ROWS; i++)
        order[i] = i;
    kl_random_among(&(kl_random){d->seed, (uint32_t)d->passes, KL_DRAW_SWEEP}, 0, sweep ? count : 0, order, work);
    for (int64_t i = 0; i < count; i++)
        rows[i] = (kl_row){.count = FEATURES, .value = z + order[i] * FEATURES};
    kl_dual_block block = {count, order, rows, d->passes == 0, sweep};
    assert_int_equal(kl_dual_visit(d, &block, NULL), KLIFT_OK);
    d->passes += sweep;
    return kl_dual_gap(d, !sweep, tolerance);
}

/* Sweeps until few variables are left; returns how many. */
static int sweeps_before(kl_dual *d)
{
    int sweeps = 0;
    while (!kl_core_ready(d) && sweeps < 200) {
        assert_true(pass_over(d, true) > tolerance);
        sweeps++;
    }
    assert_true(sweeps > 0 && sweeps < 200);
    return sweeps;
}

static klift_status solve(kl_dual *d, source *s, const char *threads, const char *memory, int64_t *output)
{
    klift_run *run;
    kl_keeping keeping = {0};
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "threads", threads), KLIFT_OK);
    if (memory != NULL)
        assert_int_equal(klift_run_set(run, "max-memory", memory), KLIFT_OK);
    klift_status status = kl_core_solve(d, &s->passes, tolerance, output, &keeping, run);
    klift_run_free(run);
    return status;
}

/* w is the sum of the rows by their variables, to what float32 makes of it in sweeps. */
static void check_weights(const kl_dual *d)
{
    for (int o = 0; o < OUTPUTS; o++) {
        double worst = 0, length = 0, b = 0;
        for (int p = 0; p < FEATURES; p++) {
            double w = 0;
            for (int i = 0; i < ROWS; i++)
                w += d->alpha[o * ROWS + i] * y[o][i] * (double)z[i * FEATURES + p];
            worst = fmax(worst, fabs(w - d->w[o * FEATURES + p]));
            length += w * w;
        }
        for (int i = 0; i < ROWS; i++)
            b += d->alpha[o * ROWS + i] * y[o][i];
        assert_true(worst < 1e-6 * sqrt(length));
        assert_true(fabs(b - d->b[o]) < 1e-9 * (1 + fabs(b)));
    }
}

static void few_variables_are_solved_at_once(void **state)
{
    (void)state;
    make_problem();
    for (int l = KL_HINGE; l <= KL_SQUARED_HINGE; l++) {
        kl_dual d = machine_of((kl_loss)l);
        source s = source_of(ROWS, false);
        int sweeps = sweeps_before(&d), times = 0;
        double before = pass_over(&d, false), after = before;
        for (; after > tolerance && times < 4; times++) { /* rows that rested too early wake at a look */
            int64_t output = 0;
            assert_int_equal(solve(&d, &s, "2", NULL, &output), KLIFT_OK);
            assert_int_equal(output, OUTPUTS);
            after = pass_over(&d, false);
        }
        print_message("loss %d: %d sweeps, gap %.2g, then %.2g after %d times\n", l, sweeps, before, after, times);
        assert_true(before > 100 * tolerance && after <= tolerance);
        check_weights(&d);
        for (int i = 0; i < OUTPUTS * ROWS; i++)
            assert_true(d.alpha[i] >= 0 && (l != KL_HINGE || d.alpha[i] <= 10) && (i % ROWS % 11 != 3 || d.alpha[i] == 0));
        kl_dual_clear(&d);
    }
}

static void check_same(const kl_dual *a, const kl_dual *b)
{
    assert_memory_equal(a->alpha, b->alpha, OUTPUTS * ROWS * sizeof *a->alpha);
    assert_memory_equal(a->w, b->w, OUTPUTS * FEATURES * sizeof *a->w);
    assert_memory_equal(a->b, b->b, OUTPUTS * sizeof *a->b);
}

static void the_run_and_the_form_of_rows_change_no_bit(void **state)
{
    static const char *const threads[] = {"1", "2", "3", "2"};
    (void)state;
    make_problem();
    kl_dual first = machine_of(KL_HINGE);
    source whole = source_of(ROWS, false);
    int64_t output = 0;
    sweeps_before(&first);
    assert_int_equal(solve(&first, &whole, "2", NULL, &output), KLIFT_OK);
    for (int k = 0; k < 4; k++) {
        kl_dual d = machine_of(KL_HINGE);
        source s = source_of(k == 0 ? ROWS : 64, k >= 2);
        output = 0;
        sweeps_before(&d);
        assert_int_equal(solve(&d, &s, threads[k], k == 3 ? "1M" : NULL, &output), KLIFT_OK); /* 1 MB: one output after the other */
        check_same(&d, &first);
        kl_dual_clear(&d);
    }
    kl_dual_clear(&first);
}

/* Wherever it is stopped, outputs are as they were or as they will be, and it goes on with the first that was not solved. */
static void a_stop_leaves_whole_outputs(void **state)
{
    (void)state;
    make_problem();
    kl_dual first = machine_of(KL_HINGE), stopped;
    source whole = source_of(ROWS, false);
    int64_t output = 0;
    sweeps_before(&first);
    assert_int_equal(solve(&first, &whole, "1", NULL, &output), KLIFT_OK);
    assert_true(whole.taken >= OUTPUTS * 2);
    for (int64_t stop = 0; stop < whole.taken; stop++) {
        source s = source_of(ROWS, false), rest = source_of(ROWS, false);
        stopped = machine_of(KL_HINGE);
        sweeps_before(&stopped);
        s.stop = stop;
        output = 0;
        assert_int_equal(solve(&stopped, &s, stop % 2 == 0 ? "1" : "2", NULL, &output), KLIFT_CANCELLED);
        assert_true(output < OUTPUTS);
        assert_int_equal(solve(&stopped, &rest, "2", NULL, &output), KLIFT_OK);
        check_same(&stopped, &first);
        kl_dual_clear(&stopped);
    }
    kl_dual_clear(&first);
}

static void it_waits_for_few_rows_and_enough_sweeps(void **state)
{
    (void)state;
    kl_dual d = machine_of(KL_HINGE);
    memset(d.rest, true, OUTPUTS * ROWS);
    memset(d.rest + ROWS, false, 100);
    d.passes = 3;
    assert_false(kl_core_ready(&d)); /* 100 rows are three sweeps and a bit */
    d.passes = 4;
    assert_true(kl_core_ready(&d));
    d.single = false;
    assert_false(kl_core_ready(&d)); /* float32 would not do */
    d.single = true;
    d.passes = 1000;
    memset(d.rest + ROWS, false, FEATURES / 8 * 3 + 1);
    assert_false(kl_core_ready(&d));
    d.done[1] = true;
    assert_true(kl_core_ready(&d));
    d.loss = KL_EPSILON;
    assert_false(kl_core_ready(&d));
    kl_dual_clear(&d);
    assert_true(kl_core_bytes(100, FEATURES) < kl_core_bytes(100000, FEATURES));
    assert_int_equal(kl_core_bytes(INT64_MAX, FEATURES), 0);
    assert_int_equal(kl_core_bytes(100000, 100), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_variables_are_solved_at_once),
        cmocka_unit_test(the_run_and_the_form_of_rows_change_no_bit),
        cmocka_unit_test(a_stop_leaves_whole_outputs),
        cmocka_unit_test(it_waits_for_few_rows_and_enough_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
