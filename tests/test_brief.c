/*
 * test_brief.c - classes by a glance at scores of float32 or of whole numbers: the bound of either holds for every table, a class that it names is the one that float64 names, and ties, near ties and
 * what is not finite are left to float64. Then models: classes are those that the scores say, also where half of the rows are nearly tied.
 */
#include "base/memory.h"
#include "math/glance.h"
#include "math/glance_whole.h"
#include "math/micro.h"
#include "model/model.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FEATURES = 4096, MOST = 19, TRIALS = 40 };

static double w[MOST * FEATURES], b[MOST];
static float z[FEATURES];

/* Numbers of one size, or of many sizes. */
static void fill(int64_t outputs, double size, bool wide, uint64_t seed)
{
    for (int64_t i = 0; i < outputs * FEATURES; i++)
        w[i] = size * syn_normal(seed, (uint64_t)i) * (wide ? pow(2, 20 * syn_uniform(seed + (uint64_t)i) - 10) : 1);
    for (int64_t i = 0; i < FEATURES; i++)
        z[i] = (float)(syn_normal(seed + 1, (uint64_t)i) / 64);
    for (int64_t o = 0; o < outputs; o++)
        b[o] = size * syn_normal(seed + 2, (uint64_t)o);
}

static kl_weights weights_of(int64_t outputs, int64_t features)
{
    return (kl_weights){.goal = KL_CLASSIFY, .features = features, .outputs = outputs, .w = w, .b = b, .classes = {.count = outputs == 1 ? 2 : outputs}};
}

static double exact(int64_t features, int64_t o)
{
    double sum = 0;
    for (int64_t p = 0; p < features; p++)
        sum += w[o * features + p] * (double)z[p];
    return sum;
}

static double length_of(int64_t features, int64_t o)
{
    double square = 0;
    for (int64_t p = 0; p < features; p++)
        square += o < 0 ? (double)z[p] * (double)z[p] : w[o * features + p] * w[o * features + p];
    return sqrt(square);
}

static void every_table_keeps_the_bound(void **state)
{
    static const int64_t features[] = {16, 32, 2048, FEATURES};
    (void)state;
    for (int64_t outputs = 1; outputs <= MOST; outputs++)
        for (int f = 0; f < 4; f++) {
            fill(outputs, 1, outputs % 2 == 0, (uint64_t)(100 * outputs + f));
            kl_weights weights = weights_of(outputs, features[f]);
            kl_brief brief;
            OK(kl_brief_make(&weights, 0, &brief));
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
                float out[MOST + 2];
                out[outputs + 1] = 7;
                kl_micro_at(t)->glance(features[f], z, outputs, brief.w, out);
                assert_true(out[outputs + 1] == 7);
                double length = length_of(features[f], -1);
                assert_true(fabs(sqrt((double)out[outputs]) - length) <= 1e-5 * length);
                for (int64_t o = 0; o < outputs; o++)
                    assert_true(fabs((double)out[o] - exact(features[f], o)) <= kl_glance_error(features[f]) * length_of(features[f], o) * length);
            }
            kl_brief_clear(&brief);
        }
}

/* No feature is larger. */
static double reach_of(int64_t features)
{
    double reach = 0;
    for (int64_t p = 0; p < features; p++)
        reach = fmax(reach, fabs((double)z[p]));
    return reach;
}

static int64_t whole_sum(const kl_brief *brief, int64_t count, int64_t features, int64_t k)
{
    int64_t sum = 0;
    for (int64_t p = 0; p < features; p++)
        sum += (int64_t)rintf(z[p] * brief->scale) * brief->whole[(p / KL_GLANCE_STEP * count + k) * KL_GLANCE_STEP + p % KL_GLANCE_STEP];
    return sum;
}

static void whole_sums_are_exact_and_keep_their_bound(void **state)
{
    static const int64_t features[] = {32, 64, 2048, FEATURES};
    (void)state;
    for (int64_t outputs = 1; outputs <= MOST; outputs++)
        for (int f = 0; f < 4; f++) {
            fill(outputs, pow(10, (double)(outputs % 5) * 3 - 6), outputs % 2 == 0, (uint64_t)(100 * outputs + f));
            if (outputs % 3 == 0) /* one large weight, all others small: bound by it; all the same: bound by their sum */
                w[7] *= 1e6;
            for (int64_t i = 0; outputs % 3 == 1 && i < outputs * FEATURES; i++)
                w[i] = 0.25 * (double)(1 + i / features[f]);
            kl_weights weights = weights_of(outputs, features[f]);
            kl_brief brief;
            int64_t count = outputs > 1 ? outputs - 1 : 1;
            OK(kl_brief_make(&weights, reach_of(features[f]), &brief));
            assert_true(brief.whole != NULL && brief.w == NULL);
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
                double out[MOST + 1];
                out[count] = 7;
                assert_int_equal(kl_micro_at(t)->glance_whole(features[f], z, brief.scale, count, brief.whole, out), KL_GLANCE_MOST);
                assert_true(out[count] == 7);
                for (int64_t k = 0; k < count; k++) {
                    int64_t o = outputs > 1 ? k + 1 : 0;
                    assert_true(out[k] == (double)whole_sum(&brief, count, features[f], k));
                    assert_true(fabs(out[k] * brief.unit[k] - (exact(features[f], o) - (o > 0 ? exact(features[f], 0) : 0))) <= brief.slip[o]);
                }
            }
            kl_brief_clear(&brief);
        }
}

/* With all features at their reach a lane's sum is the largest there is: it stays within 32 bits. */
static void the_largest_whole_sums_fit(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int64_t i = 0; i < FEATURES; i++) {
            w[i] = 3;
            z[i] = (float)sign * 0.5f;
        }
        kl_weights weights = weights_of(1, FEATURES);
        kl_brief brief;
        OK(kl_brief_make(&weights, 0.5, &brief));
        for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
            double out;
            assert_int_equal(kl_micro_at(t)->glance_whole(FEATURES, z, brief.scale, 1, brief.whole, &out), KL_GLANCE_MOST);
            assert_true(fabs(out * brief.unit[0] - sign * 1.5 * FEATURES) <= brief.slip[0]);
        }
        kl_brief_clear(&brief);
    }
}

static void features_beyond_their_reach_are_seen(void **state)
{
    static const float beyond[] = {0.26f, -0.26f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN};
    (void)state;
    fill(3, 1, false, 5);
    kl_weights weights = weights_of(3, FEATURES);
    kl_brief brief;
    double out[3];
    OK(kl_brief_make(&weights, 0.25, &brief));
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        for (int64_t p = 0; p < 64; p++) {
            float kept = z[p];
            z[p] = beyond[i];
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++)
                assert_true(kl_micro_at(t)->glance_whole(FEATURES, z, brief.scale, 2, brief.whole, out) > KL_GLANCE_MOST);
            z[p] = kept;
        }
    kl_brief_clear(&brief);
}

/* The class that float64 says, as kl_model_class_of does. */
static int64_t class_of(int64_t outputs)
{
    int64_t best = 0;
    double most = exact(FEATURES, 0) + b[0];
    if (outputs == 1)
        return most > 0;
    for (int64_t o = 1; o < outputs; o++)
        if (exact(FEATURES, o) + b[o] > most) {
            most = exact(FEATURES, o) + b[o];
            best = o;
        }
    return best;
}

static bool whole; /* glances are at whole numbers */

static int64_t glance(int64_t outputs)
{
    kl_weights weights = weights_of(outputs, FEATURES);
    kl_brief brief;
    double score[2 * MOST + 1];
    OK(kl_brief_make(&weights, whole ? 0.125 : 0, &brief));
    assert_true((brief.whole != NULL) == whole && (brief.w != NULL) != whole);
    int64_t class = kl_brief_class(&brief, &weights, z, score);
    kl_brief_clear(&brief);
    return class;
}

static void a_class_that_it_names_is_the_class(void **state)
{
    int64_t named = 0, looks = 0;
    (void)state;
    for (int64_t outputs = 1; outputs <= MOST; outputs += outputs < 4 ? 1 : 5)
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            fill(outputs, pow(10, (double)(trial % 7) * 10 - 30), trial % 2 == 0, 1000 * trial + (uint64_t)outputs);
            int64_t class = glance(outputs);
            assert_true(class == -1 || class == class_of(outputs));
            named += class >= 0;
            looks++;
        }
    assert_true(named > looks * (whole ? 1 : 3) / 4); /* of many sizes, most weights are nothing beside the largest */
}

static void ties_and_near_ties_are_left_alone(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        fill(3, 1, false, trial);
        for (int o = 0; o < 3; o++)
            b[o] = -exact(FEATURES, o) + (o == 1 ? 100 : 101);
        double near = pow(10, -4 - (double)(trial % 13));
        b[2] += trial % 2 == 0 ? near : -near;
        int64_t class = glance(3);
        assert_true(class == -1 || class == class_of(3)); /* 1e-4 may be told from a tie, or not */
        if (near < 1e-7)
            assert_int_equal(class, -1);
        b[0] = -exact(FEATURES, 0) + near;
        class = glance(1);
        assert_true(class == -1 || class == 1);
        if (near < 1e-7)
            assert_int_equal(class, -1);
    }
}

static void what_float32_cannot_hold_is_left_alone(void **state)
{
    static const double sizes[] = {1e300, 1e39, 1e-42, 1e-300};
    (void)state;
    for (int s = 0; s < 4; s++)
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            fill(2, sizes[s], false, trial);
            int64_t class = glance(2);
            assert_true(class == -1 || class == class_of(2));
        }
    fill(2, 1, false, 1);
    z[5] = INFINITY;
    assert_int_equal(glance(2), -1);
    z[5] = 3e38f; /* its square overflows */
    assert_int_equal(glance(2), -1);
    z[5] = NAN;
    assert_int_equal(glance(2), -1);
}

static void there_is_none_where_it_says_nothing(void **state)
{
    kl_brief brief;
    (void)state;
    kl_weights weights = weights_of(2, 24);
    OK(kl_brief_make(&weights, 1, &brief));
    assert_false(kl_brief_is_there(&brief));
    weights = weights_of(2, 48);
    OK(kl_brief_make(&weights, 1, &brief)); /* whole lanes, but no whole steps */
    assert_true(brief.w != NULL && brief.whole == NULL);
    kl_brief_clear(&brief);
    weights = weights_of(2, 32);
    weights.goal = KL_REGRESS;
    OK(kl_brief_make(&weights, 1, &brief));
    assert_false(kl_brief_is_there(&brief));
    weights.goal = KL_CLASSIFY;
    weights.code.bits = 3;
    OK(kl_brief_make(&weights, 1, &brief));
    assert_false(kl_brief_is_there(&brief));
}

static int at_float32(void **state)
{
    (void)state;
    whole = false;
    return 0;
}

static int at_whole_numbers(void **state)
{
    (void)state;
    whole = true;
    return 0;
}

enum { ROWS = 600, D = 5, CLASSES = 4 };

/* Rows 300 .. are moved to where the scores of two classes meet, by halving. */
static void move_to_the_border(const klift_model *model, float *x)
{
    for (int64_t i = ROWS / 2; i < ROWS; i++) {
        float *row = x + i * D, from[D], to[D];
        double one, other;
        klift_batch single = dense_batch(1, D, row);
        memcpy(from, x + (i - ROWS / 2) * D, sizeof from);
        memcpy(to, x + (i - ROWS / 2 + 1) % ROWS * D, sizeof to);
        memcpy(row, from, sizeof from);
        OK(klift_model_predict(model, &single, KLIFT_CLASS, &one, NULL));
        for (int step = 0; step < 30; step++) {
            for (int j = 0; j < D; j++)
                row[j] = from[j] + (to[j] - from[j]) / 2;
            OK(klift_model_predict(model, &single, KLIFT_CLASS, &other, NULL));
            memcpy(one == other ? from : to, row, sizeof from);
        }
    }
}

static void classes_of_models_are_what_the_scores_say(void **state)
{
    static const char *const features[] = {"256", "240", "250"};
    static float x[ROWS * D];
    static double label[ROWS], class[ROWS], scores[ROWS * CLASSES];
    (void)state;
    for (int classes = 2; classes <= CLASSES; classes += 2)
        for (int f = 0; f < 3; f++) {
            syn_rows_float(ROWS, D, x);
            syn_labels(ROWS, D, x, classes, 0.1, label);
            klift_batch rows = dense_batch(ROWS, D, x);
            rows.target = label;
            rows.targets = 1;
            klift_model *model;
            klift_spec *spec = spec_of(PAIRS("kernel", "gaussian:gamma=1", "map", "fourier", "features", features[f], "lambda", "1e-8", "task", "classify"));
            OK(train_rows(spec, &rows, NULL, &model));
            klift_spec_free(spec);
            assert_int_equal(model->brief.whole != NULL, f == 0);
            assert_int_equal(model->brief.w != NULL, f == 1);
            move_to_the_border(model, x);
            OK(klift_model_predict(model, &rows, KLIFT_CLASS, class, NULL));
            OK(klift_model_predict(model, &rows, KLIFT_SCORES, scores, NULL));
            for (int64_t i = 0; i < ROWS; i++)
                assert_int_equal((int64_t)class[i], kl_model_class_of(model, scores + i * model->weights.outputs));
            klift_model_free(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_keeps_the_bound),
        cmocka_unit_test(whole_sums_are_exact_and_keep_their_bound),
        cmocka_unit_test(the_largest_whole_sums_fit),
        cmocka_unit_test(features_beyond_their_reach_are_seen),
        cmocka_unit_test_setup(a_class_that_it_names_is_the_class, at_float32),
        cmocka_unit_test_setup(a_class_that_it_names_is_the_class, at_whole_numbers),
        cmocka_unit_test_setup(ties_and_near_ties_are_left_alone, at_float32),
        cmocka_unit_test_setup(ties_and_near_ties_are_left_alone, at_whole_numbers),
        cmocka_unit_test_setup(what_float32_cannot_hold_is_left_alone, at_float32),
        cmocka_unit_test_setup(what_float32_cannot_hold_is_left_alone, at_whole_numbers),
        cmocka_unit_test(there_is_none_where_it_says_nothing),
        cmocka_unit_test(classes_of_models_are_what_the_scores_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
