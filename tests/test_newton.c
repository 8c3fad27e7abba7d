/*
 * test_newton.c - newton.c by itself (gap, slope 0, dual variables that make the weights), and inside svm: costs so large that
 * dual coordinate ascent would not end, the same bytes for threads, memory and sparse rows.
 */
#include "learn/newton.h"
#include "linear.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 300, COLUMNS = 7, AT_MOST = 64 };

static float x[ROWS * COLUMNS];
static double sign[ROWS], target[ROWS];
static const double costs[] = {0.1, 3, 1e4};

typedef struct problem {
    kl_loss loss;
    double cost;
} problem;

static kl_dual_row row_of(const void *user, int64_t row, int64_t output)
{
    const problem *p = user;
    (void)output; /* every eleventh row does not count */
    return (kl_dual_row){p->loss == KL_SQUARED_HINGE ? sign[row] : target[row], row % 11 == 3 ? 0 : p->cost};
}

static klift_status take(kl_passes *passes, const int32_t *index, int64_t count, klift_run *run, kl_row *z)
{
    (void)passes;
    (void)run;
    assert_true(count <= AT_MOST);
    for (int64_t i = 0; i < count; i++)
        z[i] = (kl_row){.count = COLUMNS, .value = x + index[i] * COLUMNS};
    return KLIFT_OK;
}

static double objective(const problem *p, const double *w, double b, double bias)
{
    double sum = b * b / 2;
    for (int j = 0; j < COLUMNS; j++)
        sum += w[j] * w[j] / 2;
    for (int i = 0; i < ROWS; i++) {
        double f = b * bias;
        kl_dual_row row = row_of(p, i, 0);
        for (int j = 0; j < COLUMNS; j++)
            f += w[j] * (double)x[i * COLUMNS + j];
        sum += row.cost * kl_loss_of(p->loss, 0.1, row.y, f);
    }
    return sum;
}

/* alpha, or beta, makes the weights: sum alpha y z. */
static void check_variables(const problem *p, const kl_dual *d)
{
    double w[COLUMNS] = {0}, b = 0, largest = 0;
    for (int i = 0; i < ROWS; i++) {
        double factor = d->alpha[i] * (p->loss == KL_SQUARED_HINGE ? sign[i] : 1);
        assert_true(p->loss == KL_SQUARED_EPSILON || d->alpha[i] >= 0);
        assert_true(i % 11 != 3 || d->alpha[i] == 0);
        for (int j = 0; j < COLUMNS; j++)
            w[j] += factor * (double)x[i * COLUMNS + j];
        b += factor * d->bias;
        largest = fmax(largest, fabs(d->alpha[i]));
    }
    for (int j = 0; j < COLUMNS; j++)
        assert_true(fabs(w[j] - d->w[j]) < 1e-11 * ROWS * largest);
    assert_true(fabs(b - d->b[0]) < 1e-11 * ROWS * largest);
}

static void a_few_steps_lead_from_nothing_to_the_solution(void **state)
{
    (void)state;
    linear_problem(ROWS, COLUMNS, x, sign, target);
    for (int k = 0; k < 12; k++) {
        problem p = {k % 2 == 0 ? KL_SQUARED_HINGE : KL_SQUARED_EPSILON, costs[k / 2 % 3]};
        kl_dual d = {.loss = p.loss, .epsilon = 0.1, .bias = k < 6 ? 2 : 0, .rows = ROWS, .features = COLUMNS, .outputs = 1, .row_of = row_of, .user = &p};
        kl_passes passes = {.rows = ROWS, .features = COLUMNS, .at_most = AT_MOST, .take = take};
        kl_newton_place at = {.most = 50};
        kl_keeping nobody = {0};
        assert_int_equal(kl_dual_new(&d), KLIFT_OK);
        assert_true(kl_newton_fits(&d));
        assert_int_equal(kl_newton_solve(&d, &passes, 1e-13, &at, &nobody, NULL), KLIFT_OK);
        double least = objective(&p, d.w, d.b[0], d.bias);
        print_message("loss %d, C %g, B %g: %lld steps, objective %.9g\n", (int)p.loss, p.cost, d.bias, (long long)at.steps, least);
        assert_in_range(at.steps, 1, 15);
        check_variables(&p, &d);
        for (int j = 0; j < COLUMNS + (d.bias > 0); j++) {
            double side[2], h = 1e-4;
            for (int s = 0; s < 2; s++) {
                double w[COLUMNS], b = d.b[0];
                memcpy(w, d.w, sizeof w);
                *(j < COLUMNS ? &w[j] : &b) += s == 0 ? h : -h;
                side[s] = objective(&p, w, b, d.bias);
                assert_true(side[s] > least);
            }
            assert_true(fabs(side[0] - side[1]) < 1e-3 * (side[0] + side[1] - 2 * least)); /* the slope, against the curve */
        }
        kl_dual_clear(&d);
    }
}

static void a_step_is_counted_in_sweeps(void **state)
{
    kl_dual d = {.loss = KL_SQUARED_HINGE, .rows = 1000, .features = 100, .outputs = 2};
    (void)state;
    assert_int_equal(kl_dual_new(&d), KLIFT_OK);
    for (int i = 0; i < 500; i++)
        d.alpha[i] = 1; /* a quarter of the rows of both outputs */
    assert_true(fabs(kl_newton_sweeps(&d) - (0.25 * 100 + 100.0 * 100 / 3000) / 20) < 1e-12);
    d.loss = KL_HINGE;
    assert_false(kl_newton_fits(&d));
    d.loss = KL_SQUARED_EPSILON;
    d.features = KL_NEWTON_WIDEST + 1;
    assert_false(kl_newton_fits(&d));
    d.features = 100;
    kl_dual_clear(&d);
}

static int watch(const klift_event *event, void *user)
{
    if (event->kind == KLIFT_EVENT_NOTE && strstr(event->message, "Newton steps") != NULL)
        ++*(int *)user;
    assert_true(event->kind != KLIFT_EVENT_WARNING);
    return 0;
}

/* Three classes of a third of a million times the costs, in 40 passes; without the steps it takes thousands. */
static void large_costs_are_solved_and_by_threads_and_memory_alike(void **state)
{
    enum { MANY = 3000, WIDE = 30 };
    static const char *const ways[][2] = {{"1", "1G"}, {"2", "1G"}, {"3", "1G"}, {"2", "1400K"}};
    static const char *const setting[] = {"kernel", "linear", "task", "classify", "learner", "svm:passes=40,tolerance=1e-7", "c", "1e5", NULL};
    float *many = malloc(MANY * WIDE * sizeof *many);
    double *class = malloc(MANY * sizeof *class);
    char *first = NULL;
    (void)state;
    syn_rows_float(MANY, WIDE, many);
    for (int i = 0; i < MANY; i++)
        class[i] = (double)((many[i * WIDE] + 0.1f * (float)syn_normal((uint64_t)i, 77) > 0) + (many[i * WIDE + 1] > 0.1f));
    for (int i = 0; i < MANY * WIDE; i++)
        many[i] = fabsf(many[i]) < 0.1f ? 0 : many[i];
    csr entries = csr_of(MANY, WIDE, many);
    for (int k = 0; k < 5; k++) {
        klift_run *run;
        klift_model *model;
        klift_batch rows = k < 4 ? dense_batch(MANY, WIDE, many) : csr_batch(MANY, WIDE, &entries);
        int notes = 0;
        int64_t count;
        rows.target = class;
        rows.targets = 1;
        assert_int_equal(klift_run_new(&run), KLIFT_OK);
        assert_int_equal(klift_run_set(run, "threads", ways[k % 4][0]), KLIFT_OK);
        assert_int_equal(klift_run_set(run, "max-memory", ways[k % 4][1]), KLIFT_OK);
        klift_run_on_event(run, watch, &notes);
        if (linear_train_set(&rows, setting, run, &model) != KLIFT_OK)
            fail_msg("%s", klift_error());
        assert_int_equal(notes, 1);
        char *bytes = bytes_of(model, &count);
        if (first == NULL)
            first = bytes;
        else {
            assert_memory_equal(bytes, first, (size_t)count);
            free(bytes);
        }
        klift_model_free(model);
        klift_run_free(run);
    }
    csr_free(&entries);
    free(first);
    free(many);
    free(class);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_steps_lead_from_nothing_to_the_solution),
        cmocka_unit_test(a_step_is_counted_in_sweeps),
        cmocka_unit_test(large_costs_are_solved_and_by_threads_and_memory_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
