/*
 * test_probability.c - the fit of probabilities on scores: known numbers come back, scikit-learn and a brute-force search agree, scores
 * that separate classes or say nothing have a defined answer; and the mapping itself for any scores.
 */
#include "learn/probability.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWN = 20000 };

static kl_names named(int64_t classes)
{
    kl_names names = {0};
    char text[32];
    int64_t index;
    for (int64_t k = 0; k < classes; k++) {
        snprintf(text, sizeof text, "c%lld", (long long)k);
        OK(kl_names_add(&names, text, &index));
    }
    return names;
}

static kl_probability fitted(const kl_held *held)
{
    kl_names names = named(held->classes);
    kl_probability p;
    OK(kl_probability_fit(held, &names, &p));
    assert_true(p.known);
    kl_names_clear(&names);
    return p;
}

/* Rows of known probabilities: scores normal, a class drawn for each. */
static kl_held drawn(int64_t classes, double scale, double offset, int64_t rows)
{
    kl_held held = {.classes = classes};
    kl_probability true_one = {.known = true, .scale = scale, .offset = offset};
    for (int64_t i = 0; i < rows; i++) {
        double score[8], p[8], u = syn_uniform(syn_mix((uint64_t)(77 + i)));
        int64_t class = 0;
        for (int64_t k = 0; k < classes; k++)
            score[k] = 2 * syn_normal((uint64_t)i, (uint64_t)(10 + k)) - 0.3 * (double)k;
        kl_probability_of(&true_one, classes, score, p);
        while (class + 1 < classes && u > p[class])
            u -= p[class++];
        OK(kl_held_add(&held, score, class, 1));
    }
    return held;
}

/* The mean loss as probability.h states it, its slope by a and b, and its curvature. */
typedef struct loss {
    double value, a, b, aa, ab, bb;
} loss;

static loss loss_at(const kl_held *held, double scale, double offset)
{
    kl_probability at = {.known = true, .scale = scale, .offset = offset};
    int64_t k = held->classes, outputs = kl_held_outputs(held);
    double count[8] = {0}, p[8], weight = 0;
    loss l = {0};
    for (int64_t i = 0; i < held->rows; i++)
        count[held->row[i].truth] += held->row[i].weight;
    for (int64_t i = 0; i < held->rows; i++) {
        const double *f = held->score + i * outputs;
        double n = count[held->row[i].truth], w = held->row[i].weight, mean = 0, wanted = 0, square = 0;
        kl_probability_of(&at, k, f, p);
        for (int64_t c = 0; c < k; c++) {
            double t = c == held->row[i].truth ? (n + 1) / (n + 2) : 1 / (n + 2) / (double)(k - 1), score = k == 2 ? (c == 1 ? f[0] : 0) : f[c];
            l.value -= w * t * kl_probability_log(&at, k, f, c);
            mean += p[c] * score;
            square += p[c] * score * score;
            wanted += t * score;
            if (k == 2 && c == 1) {
                l.b += w * (p[1] - t);
                l.ab += w * p[0] * p[1] * score;
                l.bb += w * p[0] * p[1];
            }
        }
        l.a += w * (mean - wanted);
        l.aa += w * (square - mean * mean);
        weight += w;
    }
    return (loss){l.value / weight, l.a / weight, l.b / weight, l.aa / weight, l.ab / weight, l.bb / weight};
}

static void known_numbers_come_back_within_their_standard_errors(void **state)
{
    (void)state;
    for (int64_t k = 2; k <= 6; k += 2) {
        double scale = 0.4 + 0.3 * (double)k, offset = k == 2 ? -0.6 : 0;
        kl_held held = drawn(k, scale, offset, DRAWN);
        kl_probability p = fitted(&held);
        loss l = loss_at(&held, p.scale, p.offset);
        double determinant = l.aa * l.bb - l.ab * l.ab, n = (double)DRAWN;
        double error_a = sqrt((k == 2 ? l.bb / determinant : 1 / l.aa) / n), error_b = k == 2 ? sqrt(l.aa / determinant / n) : 0;
        print_message("%lld classes: scale %.4f (%.4f, standard error %.4f), offset %.4f (%.4f, %.4f)\n", (long long)k, p.scale, scale, error_a, p.offset, offset, error_b);
        assert_true(fabs(p.scale - scale) < 4 * error_a && error_a < 0.03);
        assert_true(fabs(p.offset - offset) <= 4 * error_b && error_b < 0.03);
        assert_int_equal(p.rows, DRAWN);
        kl_held_clear(&held);
    }
}

static void the_slope_is_zero_at_the_solution_whatever_the_unit_of_scores(void **state)
{
    (void)state;
    static const double units[] = {1, 1e-3, 1e6, 1e-150, 1e150};
    for (int64_t k = 2; k <= 5; k += 3) {
        kl_held held = drawn(k, 1.5, k == 2 ? 0.7 : 0, 500);
        kl_probability plain = fitted(&held);
        for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
            kl_held scaled = {.classes = k};
            for (int64_t i = 0; i < held.rows; i++) {
                double score[8];
                for (int64_t o = 0; o < kl_held_outputs(&held); o++)
                    score[o] = held.score[i * kl_held_outputs(&held) + o] * units[u];
                OK(kl_held_add(&scaled, score, held.row[i].truth, 1));
            }
            kl_probability p = fitted(&scaled);
            assert_true(fabs(p.scale * units[u] / plain.scale - 1) < 1e-9);
            assert_true(fabs(p.offset - plain.offset) < 1e-9);
            kl_held_clear(&scaled);
        }
        loss l = loss_at(&held, plain.scale, plain.offset);
        assert_true(fabs(l.a) < 1e-12 && fabs(l.b) < 1e-12);
        kl_held_clear(&held);
    }
}

/* /usr/bin/python3 with scikit-learn 1.2.1, the arrays below as f, y, w:
 *   from sklearn.calibration import _sigmoid_calibration; print(_sigmoid_calibration(f, y), _sigmoid_calibration(f, y, w))
 *   (-1.0123351850351114, 0.06673276313250812) (-1.2262827985794134, 0.26590581765689836)    A and B of 1 / (1 + exp(A f + B)) */
static void scikit_learn_has_the_same_numbers(void **state)
{
    (void)state;
    static const double f[] = {-2.1, -1.7, -1.2, -0.9, -0.7, -0.4, -0.1, 0.2, 0.3, 0.5, 0.8, 1.1, 1.4, 1.9, 2.5, -0.3};
    static const int y[] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0};
    static const double w[] = {1, 2, 1, 1, 3, 1, 1, 1, 0.5, 1, 1, 2, 1, 1, 1, 1};
    kl_held plain = {.classes = 2}, weighted = {.classes = 2};
    for (size_t i = 0; i < sizeof f / sizeof f[0]; i++) {
        OK(kl_held_add(&plain, &f[i], y[i], 1));
        OK(kl_held_add(&weighted, &f[i], y[i], w[i]));
    }
    kl_probability p = fitted(&plain), q = fitted(&weighted);
    assert_true(fabs(p.scale - 1.0123351850351114) < 1e-5 && fabs(p.offset + 0.06673276313250812) < 1e-5);
    assert_true(fabs(q.scale - 1.2262827985794134) < 1e-5 && fabs(q.offset + 0.26590581765689836) < 1e-5);
    kl_held_clear(&plain);
    kl_held_clear(&weighted);
}

static void a_row_of_weight_two_is_two_rows_and_of_weight_zero_none(void **state)
{
    (void)state;
    for (int64_t k = 2; k <= 3; k++) {
        kl_held from = drawn(k, 1, 0, 200), weighted = {.classes = k}, twice = {.classes = k}, without = {.classes = k};
        for (int64_t i = 0; i < from.rows; i++) {
            const double *score = from.score + i * kl_held_outputs(&from);
            int64_t class = from.row[i].truth;
            OK(kl_held_add(&weighted, score, class, (double)(i % 3)));
            if (i % 3 > 0)
                OK(kl_held_add(&without, score, class, (double)(i % 3)));
            for (int64_t n = 0; n < i % 3; n++)
                OK(kl_held_add(&twice, score, class, 1));
        }
        kl_probability a = fitted(&weighted), b = fitted(&twice), c = fitted(&without);
        assert_true(fabs(a.scale - b.scale) < 1e-11 && fabs(a.offset - b.offset) < 1e-11 && fabs(a.log_loss - b.log_loss) < 1e-12);
        assert_true(a.scale == c.scale && a.offset == c.offset && a.log_loss == c.log_loss && a.rows == c.rows);
        kl_held_clear(&from);
        kl_held_clear(&weighted);
        kl_held_clear(&twice);
        kl_held_clear(&without);
    }
}

/* Two values of the score, one per class: the best P is the target itself. */
static void scores_that_separate_the_classes_do_not_diverge(void **state)
{
    (void)state;
    kl_held two = {.classes = 2}, three = {.classes = 3};
    for (int i = 0; i < 400; i++) {
        double f = i < 100 ? 1 : -1, g[3] = {-1, -1, -1};
        OK(kl_held_add(&two, &f, i < 100, 1));
        g[i % 3] = 1;
        OK(kl_held_add(&three, g, i % 3, 1));
    }
    kl_probability p = fitted(&two), q = fitted(&three);
    double out[3], plus = 1, minus = -1, first[3] = {1, -1, -1};
    kl_probability_of(&p, 2, &plus, out);
    assert_true(fabs(out[1] - 101.0 / 102) < 1e-9);
    kl_probability_of(&p, 2, &minus, out);
    assert_true(fabs(out[1] - 1.0 / 302) < 1e-9);
    kl_probability_of(&q, 3, first, out);
    assert_true(out[0] > 0.98 && out[0] < 0.995);
    for (int i = 0; i < 400; i++) /* and where they do so with a wide gap */
        two.score[i] *= 1 + 1e6 * syn_uniform(syn_mix((uint64_t)i));
    p = fitted(&two);
    assert_true(isfinite(p.scale) && p.scale > 0);
    kl_held_clear(&two);
    kl_held_clear(&three);
}

static void scores_that_say_the_opposite_give_every_row_the_same(void **state)
{
    (void)state;
    for (int64_t k = 2; k <= 3; k++) {
        kl_held held = drawn(k, 1, 0, 300);
        for (int64_t i = 0; i < held.rows * kl_held_outputs(&held); i++)
            held.score[i] = -held.score[i];
        kl_probability p = fitted(&held);
        double out[3], ones = 0;
        for (int64_t i = 0; i < held.rows; i++)
            ones += held.row[i].truth == 1;
        assert_true(p.scale == 0);
        kl_probability_of(&p, k, held.score, out);
        double zeros = (double)held.rows - ones, share = (ones * (ones + 1) / (ones + 2) + zeros / (zeros + 2)) / (double)held.rows;
        assert_true(fabs(out[1] - (k == 2 ? share : 1.0 / 3)) < 1e-12);
        kl_held_clear(&held);
    }
}

static void a_class_that_nobody_held_out(void **state)
{
    (void)state;
    for (int64_t k = 1; k <= 3; k++) {
        kl_held held = {.classes = k};
        kl_names names = named(k);
        kl_probability p;
        double score[3] = {0.5, -0.5, -0.25}, out[3];
        assert_int_equal(kl_probability_fit(&held, &names, &p), KLIFT_DATA);
        assert_non_null(strstr(klift_error(), "no row could be held out"));
        assert_false(p.known);
        for (int i = 0; i < 10; i++)
            OK(kl_held_add(&held, score, 0, 1));
        OK(kl_held_add(&held, score, k - 1, 0)); /* a weight of zero is no row */
        klift_status status = kl_probability_fit(&held, &names, &p);
        assert_int_equal(status, k == 2 ? KLIFT_DATA : KLIFT_OK);
        if (k == 2)
            assert_non_null(strstr(klift_error(), "of the 10 rows held out none is of class 'c1'"));
        else {
            kl_probability_of(&p, k, score, out);
            assert_true(k == 1 ? out[0] == 1 : out[0] > out[2] && out[2] > out[1] && out[1] > 0); /* the scale of the others serves it */
        }
        kl_names_clear(&names);
        kl_held_clear(&held);
    }
    kl_held held = {.classes = 2};
    kl_names names = named(2);
    kl_probability p;
    double score = INFINITY;
    OK(kl_held_add(&held, &score, 0, 1));
    assert_int_equal(kl_probability_fit(&held, &names, &p), KLIFT_FAILED);
    kl_names_clear(&names);
    kl_held_clear(&held);
}

static void the_scale_is_that_of_a_search_in_one_dimension(void **state)
{
    (void)state;
    for (int64_t k = 3; k <= 6; k++) {
        kl_held held = drawn(k, 0.2 * (double)k, 0, 300);
        double low = 0, high = 50, golden = (sqrt(5.0) - 1) / 2;
        while (high - low > 1e-7) {
            double a = high - golden * (high - low), b = low + golden * (high - low);
            if (loss_at(&held, a, 0).value < loss_at(&held, b, 0).value)
                high = b;
            else
                low = a;
        }
        kl_probability p = fitted(&held);
        assert_true(fabs(p.scale - low) < 1e-5);
        assert_true(loss_at(&held, p.scale, 0).value <= loss_at(&held, low, 0).value + 1e-13);
        kl_held_clear(&held);
    }
}

static void probabilities_of_any_scores_add_up_to_one(void **state)
{
    (void)state;
    static const double values[] = {0, 1, -1, 1e-300, 30, -800, 1e308, -1e308}, scales[] = {0, 1e-3, 1, 1e5, 1e300};
    enum { VALUES = sizeof values / sizeof values[0] };
    for (int64_t k = 1; k <= 3; k++)
        for (int s = 0; s < 5; s++)
            for (int i = 0; i < VALUES * VALUES * VALUES; i++) {
                kl_probability p = {.known = true, .scale = scales[s], .offset = k == 2 ? values[i / VALUES % VALUES] : 0};
                double score[3] = {values[i % VALUES], values[i / VALUES % VALUES], values[i / VALUES / VALUES]}, out[3], sum = 0;
                kl_probability_of(&p, k, score, out);
                for (int64_t c = 0; c < k; c++) {
                    double logarithm = kl_probability_log(&p, k, score, c);
                    assert_true(out[c] >= 0 && out[c] <= 1 && isfinite(logarithm) && logarithm <= 0);
                    assert_true(fabs(exp(logarithm) - out[c]) < 1e-14);
                    sum += out[c];
                }
                assert_true(fabs(sum - 1) < 1e-14);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_numbers_come_back_within_their_standard_errors),
        cmocka_unit_test(the_slope_is_zero_at_the_solution_whatever_the_unit_of_scores),
        cmocka_unit_test(scikit_learn_has_the_same_numbers),
        cmocka_unit_test(a_row_of_weight_two_is_two_rows_and_of_weight_zero_none),
        cmocka_unit_test(scores_that_separate_the_classes_do_not_diverge),
        cmocka_unit_test(scores_that_say_the_opposite_give_every_row_the_same),
        cmocka_unit_test(a_class_that_nobody_held_out),
        cmocka_unit_test(the_scale_is_that_of_a_search_in_one_dimension),
        cmocka_unit_test(probabilities_of_any_scores_add_up_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
