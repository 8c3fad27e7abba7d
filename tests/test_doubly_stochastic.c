/*
 * test_doubly_stochastic.c - the learner doubly-stochastic: the published steps against a plain implementation, the solutions of ridge and
 * logistic where it goes over the copies often, weights as repeated rows, threads, batches, memory and pipes, what a model holds, weights
 * that run away, and what is refused.
 */
#include "gram.h"
#include "learn/loss.h"
#include "learning.h"
#include "math/random.h"
#include "model_bytes.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 60, COLUMNS = 3, EACH = 8, COPIES = 4, FEATURES = EACH * COPIES };
#define KERNEL "gaussian:gamma=0.7"

static float x[ROWS * COLUMNS];
static double label[ROWS], target[2 * ROWS], weight[ROWS];

static void make_problem(int64_t classes)
{
    syn_rows_float(ROWS, COLUMNS, x);
    syn_labels(ROWS, COLUMNS, x, classes, 0.2, label);
    for (int i = 0; i < ROWS; i++) {
        target[2 * i] = 3 + (double)x[i * COLUMNS] + 0.1 * syn_normal((uint64_t)i, 50);
        target[2 * i + 1] = (double)(x[i * COLUMNS + 1] * x[i * COLUMNS + 2]);
        weight[i] = i % 4;
    }
}

static klift_batch problem(const double *y, int64_t targets)
{
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = y;
    rows.targets = targets;
    return rows;
}

static void scores_of(const klift_batch *rows, const training *how, int64_t outputs, double *score)
{
    klift_model *model;
    if (learn_rows(rows, how, &model) != KLIFT_OK)
        fail_msg("%s: %s", how->learner, klift_error());
    assert_int_equal(klift_model_outputs(model), outputs);
    klift_batch bare = dense_batch(rows->rows, rows->columns, rows->dense);
    OK(klift_model_predict(model, &bare, KLIFT_SCORES, score, NULL));
    klift_model_free(model);
}

static double distance(const double *a, const double *b, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= most))
            most = fabs(a[i] - b[i]);
    return most;
}

/* ---- as published ---- */

typedef struct plain {
    const kl_loss_type *loss;
    double lambda, first; /* first: NaN for 1 / (lambda t) */
    int64_t rows, outputs, passes;
    bool numbers, weighted;
} plain;

/* y of an output: classes are 0, 1, ..., of two the second has the only output. */
static double wanted(const plain *p, int64_t row, int64_t output)
{
    if (p->numbers)
        return target[2 * row + output];
    return label[row] == (double)(p->outputs == 1 ? 1 : output) ? 1 : -1;
}

/*
 * Dai et al. 2014, algorithm 1, by its letters: alpha_t = -gamma_t l'(f(x), y) phi_t(x), the mean over rows; alpha_i = (1 - gamma_t nu) alpha_i.
 * f (ROWS, outputs) = sum_i alpha_i phi_i(x), all anew at every step.
 */
static void plain_descent(const plain *p, double *f)
{
    static double alpha[COPIES][EACH][4], intercept[4];
    int32_t order[ROWS];
    uint32_t round = 0;
    int64_t at = ROWS;
    float *phi[COPIES];
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    memset(alpha, 0, sizeof alpha);
    memset(intercept, 0, sizeof intercept);
    for (int t = 0; t < COPIES; t++) {
        kl_map *map = gram_map("fourier", KERNEL, COLUMNS, EACH, 5, (uint32_t)t);
        phi[t] = gram_lift(map, &rows);
        kl_map_free(map);
    }
    double mass = 0;
    for (int i = 0; i < ROWS; i++)
        mass += p->weighted ? weight[i] : 1;
    for (int64_t o = 0; p->numbers && o < p->outputs; o++)
        for (int i = 0; i < ROWS; i++)
            intercept[o] += (p->weighted ? weight[i] : 1) / mass * wanted(p, i, o);
    for (int64_t step = 0; step <= p->passes * COPIES; step++) {
        for (int64_t i = 0; i < ROWS * p->outputs; i++) {
            f[i] = intercept[i % p->outputs];
            for (int t = 0; t < COPIES; t++)
                for (int j = 0; j < EACH; j++)
                    f[i] += alpha[t][j][i % p->outputs] * (double)phi[t][i / p->outputs * EACH + j];
        }
        if (step == p->passes * COPIES)
            break;
        double t = (double)(step + 1), gamma = isnan(p->first) ? 1 / (p->lambda * t) : p->first / (1 + p->lambda * p->first * t), gradient[EACH][4] = {{0}};
        if (at + p->rows > ROWS) {
            kl_random_permutation(&(kl_random){5, round++, KL_DRAW_SWEEP}, 0, ROWS, order);
            at = 0;
        }
        mass = 0;
        for (int64_t i = at; i < at + p->rows; i++) {
            double m = p->weighted ? weight[order[i]] : 1;
            mass += m;
            for (int64_t o = 0; o < p->outputs; o++)
                for (int j = 0; j < EACH; j++)
                    gradient[j][o] += m * p->loss->slope(wanted(p, order[i], o), f[order[i] * p->outputs + o], 0.1) * (double)phi[step % COPIES][order[i] * EACH + j];
        }
        at += p->rows;
        for (int i = 0; i < COPIES * EACH * 4; i++)
            (&alpha[0][0][0])[i] *= 1 - gamma * p->lambda;
        for (int i = 0; i < EACH * 4; i++)
            (&alpha[step % COPIES][0][0])[i] -= gamma / mass * (&gradient[0][0])[i];
    }
    for (int t = 0; t < COPIES; t++)
        free(phi[t]);
}

static void published_steps_are_those_of_a_plain_implementation(void **state)
{
    double expected[3 * ROWS], score[3 * ROWS];
    (void)state;
    for (int l = 0; l < KL_LOSSES; l++)
        for (int way = 0; way < 8; way++) { /* the step; some rows or all; two classes or three, or two numbers, with weights */
            const kl_loss_type *loss = &kl_loss_types[l];
            plain p = {.loss = loss, .lambda = 0.05, .first = way % 2 == 0 ? NAN : 0.8, .rows = way / 2 % 2 == 0 ? 25 : ROWS, .outputs = !loss->classes ? 2 : way < 4 ? 1 : 3, .passes = way == 5 ? 3 : 1,
                       .numbers = !loss->classes, .weighted = way >= 4};
            char text[160];
            make_problem(p.outputs == 3 ? 3 : 2);
            klift_batch rows = problem(p.numbers ? target : label, p.numbers ? 2 : 1);
            rows.weight = p.weighted ? weight : NULL;
            snprintf(text, sizeof text, "doubly-stochastic:loss=%s,step=%s,rows=%d,passes=%d", loss->name, way % 2 == 0 ? "published" : "0.8", (int)p.rows, (int)p.passes);
            scores_of(&rows, &(training){.kernel = KERNEL, .map = "copies(fourier):each=8", .features = "32", .learner = text, .task = p.numbers ? "regress" : "classify", .lambda = "0.05", .seed = "5"},
                      p.outputs, score);
            plain_descent(&p, expected);
            double largest = 0;
            for (int64_t i = 0; i < ROWS * p.outputs; i++)
                largest = fmax(largest, fabs(expected[i]));
            if (!(distance(score, expected, ROWS * p.outputs) <= 2e-6 * largest))
                fail_msg("%s: scores differ by %g of %g", text, distance(score, expected, ROWS * p.outputs), largest);
        }
}

/* ---- by the curvature ---- */

static void many_passes_end_where_ridge_and_logistic_do(void **state)
{
    double first[2 * ROWS], second[2 * ROWS];
    (void)state;
    make_problem(2);
    for (int way = 0; way < 4; way++) {
        bool numbers = way < 2;
        klift_batch rows = problem(numbers ? target : label, numbers ? 2 : 1);
        rows.weight = way % 2 == 1 ? weight : NULL;
        training how = {.kernel = KERNEL, .map = "copies(fourier):each=8", .features = "32", .task = numbers ? "regress" : "classify", .lambda = "0.01", .seed = "5"};
        how.learner = numbers ? "ridge" : "logistic:tolerance=1e-12";
        scores_of(&rows, &how, numbers ? 2 : 1, first);
        how.learner = numbers ? "doubly-stochastic:loss=squared,passes=300" : "doubly-stochastic:loss=logistic,passes=600";
        scores_of(&rows, &how, numbers ? 2 : 1, second);
        if (!(distance(first, second, (numbers ? 2 : 1) * ROWS) <= 1e-5))
            fail_msg("%s: scores differ by %g", how.learner, distance(first, second, (numbers ? 2 : 1) * ROWS));
    }
}

/* Events of training: the losses before each step. */
static int note_loss(const klift_event *event, void *user)
{
    double *worst = user; /* the last loss, the largest rise, how many */
    if (event->kind != KLIFT_EVENT_PROGRESS || strcmp(event->stage, "copies") != 0)
        return 0;
    if (worst[2] > 0 && event->loss - worst[0] > worst[1])
        worst[1] = event->loss - worst[0];
    worst[0] = event->loss;
    worst[2]++;
    return 0;
}

static void the_loss_falls_from_copy_to_copy(void **state)
{
    static const char *const learners[] = {"doubly-stochastic", "doubly-stochastic:loss=logistic", "doubly-stochastic:loss=squared"};
    (void)state;
    make_problem(3);
    klift_batch rows = problem(label, 1);
    for (size_t i = 0; i < sizeof learners / sizeof learners[0]; i++) {
        double losses[3] = {0}, score[3 * ROWS];
        int wrong = 0;
        scores_of(&rows, &(training){.kernel = KERNEL, .features = "256", .map = "copies(orthogonal):each=16", .learner = learners[i], .lambda = "1e-6", .event = note_loss, .user = losses}, 3, score);
        for (int r = 0; r < ROWS; r++)
            for (int o = 0; o < 3; o++)
                wrong += score[r * 3 + o] > score[r * 3 + (int)label[r]];
        assert_true(losses[2] == 16 && losses[1] == 0);
        assert_true(wrong <= 2); /* there are more features than rows */
    }
}

/* One copy from zero: b is the mean of y, and f - b a multiple of the change. */
static void a_step_ends_at_the_least_loss_along_its_line(void **state)
{
    static const int losses[] = {KL_LOSS_SQUARED_HINGE, KL_LOSS_LOGISTIC};
    (void)state;
    make_problem(2);
    klift_batch rows = problem(label, 1);
    for (int l = 0; l < 2; l++) {
        const kl_loss_type *loss = &kl_loss_types[losses[l]];
        double score[ROWS], mean = 0, sum[3] = {0};
        char text[80];
        snprintf(text, sizeof text, "doubly-stochastic:loss=%s", loss->name);
        scores_of(&rows, &(training){.kernel = KERNEL, .map = "copies(fourier):each=16", .features = "16", .learner = text, .task = "classify", .lambda = "1e-7"}, 1, score);
        for (int i = 0; i < ROWS; i++)
            mean -= loss->slope(label[i] == 1 ? 1 : -1, 0, 0) / (loss->curvature * ROWS);
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < 3; k++)
                sum[k] += loss->value(label[i] == 1 ? 1 : -1, mean + (0.95 + 0.05 * k) * (score[i] - mean), 0);
        if (!(sum[1] < sum[0] && sum[1] < sum[2]))
            fail_msg("%s: %g at the end of the step, %g before it, %g behind", text, sum[1], sum[0], sum[2]);
    }
}

static void a_weight_is_a_number_of_rows(void **state)
{
    float repeated[4 * ROWS * COLUMNS];
    double labels[4 * ROWS], score[3 * ROWS], many[4 * 3 * ROWS];
    int64_t count = 0;
    (void)state;
    make_problem(3);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < i % 4; k++) {
            memcpy(repeated + count * COLUMNS, x + i * COLUMNS, COLUMNS * sizeof *x);
            labels[count++] = label[i];
        }
    klift_batch weighted = problem(label, 1), rows = dense_batch(count, COLUMNS, repeated);
    weighted.weight = weight;
    rows.target = labels;
    rows.targets = 1;
    training how = {.kernel = KERNEL, .features = "48", .map = "copies(fourier):each=16", .learner = "doubly-stochastic", .task = "classify", .seed = "5"};
    scores_of(&weighted, &how, 3, score);
    scores_of(&rows, &how, 3, many);
    count = 0;
    for (int i = 0; i < ROWS; i++) {
        if (i % 4 > 0)
            assert_true(distance(score + i * 3, many + count * 3, 3) <= 1e-6);
        count += i % 4;
    }
}

/* ---- runs ---- */

static void no_run_changes_a_byte(void **state)
{
    enum { MANY = 20000, WIDE = 8 };
    float *big = malloc(sizeof *big * MANY * WIDE);
    double *class = malloc(sizeof *class * MANY);
    (void)state;
    syn_rows_float(MANY, WIDE, big);
    syn_labels(MANY, WIDE, big, 3, 0.2, class);
    klift_batch rows = dense_batch(MANY, WIDE, big);
    rows.target = class;
    rows.targets = 1;
    csr entries = csr_of(MANY, WIDE, big);
    klift_batch sparse = csr_batch(MANY, WIDE, &entries);
    sparse.target = class;
    sparse.targets = 1;
    for (int way = 0; way < 2; way++) {
        const training how = {.kernel = "gaussian:gamma=1", .features = "16", .map = "copies(fourier):each=4", .learner = way == 0 ? "doubly-stochastic" : "doubly-stochastic:step=0.5,rows=3000,passes=3",
                              .task = "classify"};
        training ways[6] = {how, how, how, how, how, how};
        ways[1].threads = "3";
        ways[2].threads = "2";
        ways[2].batch = "77";
        ways[3].memory = "2400K"; /* rows go to a file, though features would be as small */
        ways[4].once = true;
        ways[5].instead = &sparse;
        check_same_bytes(&rows, ways, 6);
    }
    csr_free(&entries);
    free(big);
    free(class);
}

static void a_model_is_its_seed_and_its_weights(void **state)
{
    static const char *const maps[] = {"copies(fourier):each=64", "fourier", "copies(maclaurin):each=64"}; /* a map that is not made of copies is copied */
    klift_model *model;
    model_file file;
    (void)state;
    make_problem(3);
    klift_batch rows = problem(label, 1);
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        training how = {.kernel = i == 2 ? "exp" : KERNEL, .features = "1024", .map = maps[i], .learner = "doubly-stochastic", .task = "classify"};
        OK(learn_rows(&rows, &how, &model));
        assert_true(model_bytes_of(model, "LERN", &file));
        klift_model_free(model);
        assert_true(file.size >= 1024 * 3 * 8);
        if (i < 2) /* of maclaurin the numbers of columns by degree are stored too */
            assert_true(file.size < 1024 * 3 * 8 + 1500);
        free(file.bytes);
    }
}

/* ---- what goes wrong ---- */

static void refuses(const klift_batch *rows, const training *how, klift_status expected, const char *said)
{
    klift_model *model;
    klift_status status = learn_rows(rows, how, &model);
    if (status != expected || strstr(klift_error(), said) == NULL)
        fail_msg("%s: status %d, %s", how->learner, (int)status, klift_error());
}

static void what_cannot_be_learnt_is_refused(void **state)
{
    (void)state;
    make_problem(2);
    klift_batch rows = problem(label, 1), numbers = problem(target, 2);
    training how = {.kernel = KERNEL, .features = "64", .learner = "doubly-stochastic:loss=hinge", .task = "classify"};
    refuses(&rows, &how, KLIFT_USAGE, "give step=NUMBER");
    how.learner = "doubly-stochastic:loss=huber";
    refuses(&rows, &how, KLIFT_USAGE, "loss=huber is for regression");
    how.learner = "doubly-stochastic:rows=0";
    refuses(&rows, &how, KLIFT_USAGE, "rows");
    how.learner = "doubly-stochastic";
    how.search = "folds";
    refuses(&rows, &how, KLIFT_USAGE, "holds no rows out");
    how.search = NULL;
    how.map = "nystrom";
    refuses(&rows, &how, KLIFT_USAGE, "learner doubly-stochastic: map copies: nystrom has no independent copies");
    how.map = "taylor";
    refuses(&rows, &how, KLIFT_USAGE, "taylor has no independent copies");
    how.map = NULL;
    how.kernel = "linear";
    refuses(&rows, &how, KLIFT_USAGE, "does not fit kernel linear");
    how.kernel = KERNEL;
    how.memory = "1M";
    how.features = "200000";
    refuses(&rows, &how, KLIFT_MEMORY, "the limit is");
    how.memory = NULL;
    how.features = "64";
    how.lambda = "1e-30"; /* of 64 features of 60 rows */
    how.map = "copies(fourier):each=64";
    refuses(&rows, &how, KLIFT_FAILED, "use a larger lambda");
    how.learner = "doubly-stochastic:step=1e20,passes=5,loss=squared";
    how.lambda = "1e-9";
    refuses(&rows, &how, KLIFT_FAILED, "ran away");
    how.task = "regress";
    refuses(&numbers, &how, KLIFT_FAILED, "ran away");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_steps_are_those_of_a_plain_implementation),
        cmocka_unit_test(many_passes_end_where_ridge_and_logistic_do),
        cmocka_unit_test(the_loss_falls_from_copy_to_copy),
        cmocka_unit_test(a_step_ends_at_the_least_loss_along_its_line),
        cmocka_unit_test(a_weight_is_a_number_of_rows),
        cmocka_unit_test(no_run_changes_a_byte),
        cmocka_unit_test(a_model_is_its_seed_and_its_weights),
        cmocka_unit_test(what_cannot_be_learnt_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
