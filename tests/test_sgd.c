/*
 * test_sgd.c - the learner sgd: the published steps of Pegasos by hand, scaled weights and means against plain ones, the objectives of svm, ridge and
 * logistic, classes that come late, threads, batches and memory, weights that run away, and what is refused.
 */
#include "learn/online.h"
#include "support.h"
#include "learning.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { ROWS = 300, COLUMNS = 5, WIDE = COLUMNS + 1 };
static const double epsilon = 0.1;

static float x[ROWS * COLUMNS];
static double sign[ROWS], target[ROWS], weight[ROWS];

static void make_problem(void)
{
    syn_rows_float(ROWS, COLUMNS, x);
    for (int i = 0; i < ROWS; i++) {
        double f = (double)x[i * COLUMNS] + 0.5 * (double)x[i * COLUMNS + 1], noise = syn_normal((uint64_t)i, 100);
        sign[i] = f + 0.3 * noise > 0 ? 1 : -1;
        target[i] = 2 * f + 0.2 * noise + 7;
        weight[i] = i % 4;
    }
}

static klift_batch problem(const double *y)
{
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    rows.target = y;
    rows.targets = 1;
    return rows;
}

static void weights_of_training(const klift_batch *rows, const training *how, int64_t columns, int64_t outputs, double *w)
{
    klift_model *model;
    if (learn_rows(rows, how, &model) != KLIFT_OK)
        fail_msg("%s: %s", how->learner, klift_error());
    linear_weights_of(model, columns, outputs, w);
    klift_model_free(model);
}

/*
 * Shalev-Shwartz, Singer and Srebro 2007, figure 1, lambda = 1/2: w := (1 - 1/t) w + [y w'x < 1] 2/t y x.
 * t = 1: (2, 0). t = 2, y w'x = -2: (1, 0) - (1, 1) = (0, -1). t = 3, -1: (0, -2/3) + (0, 2/3) = 0. t = 4, 0: (1, 0).
 * t = 5, 3: only 4/5 of it. With the projection onto |w| <= sqrt 2: (r, 0), r = sqrt 2; (r/2 - 1, -1); 2/3 (r/2 - 1, 0); then with
 * a = (r/2 - 1)/2: (a + 1, 0); 4/5 of it.
 */
static void the_first_steps_of_pegasos_are_the_published_ones(void **state)
{
    static const float five[] = {1, 0, 1, 1, 0, 1, 2, 0, 3, 1};
    double r = sqrt(2), a = (r / 2 - 1) / 2, by_hand[2][5][2] = {{{2, 0}, {0, -1}, {0, 0}, {1, 0}, {0.8, 0}}, {{r, 0}, {r / 2 - 1, -1}, {4 * a / 3, 0}, {a + 1, 0}, {0.8 * (a + 1), 0}}};
    (void)state;
    for (int way = 0; way < 4; way++) /* projected or not; the first row of the first class or of the second */
        for (int t = 2; t <= 5; t++) {
            static const double label[2][5] = {{1, -1, 1, 1, 1}, {-1, 1, -1, -1, -1}};
            double w[3], turn = way < 2 ? 1 : -1;
            klift_batch rows = dense_batch(t, 2, five);
            rows.target = label[way / 2];
            rows.targets = 1;
            weights_of_training(&rows, &(training){.learner = way % 2 == 1 ? "sgd:step=pegasos,average=false,bias=-1,project=true" : "sgd:step=pegasos,average=false,bias=-1", .task = "classify", .lambda = "0.5"}, 2, 1, w);
            for (int j = 0; j < 2; j++) {
                double expected = turn * by_hand[way % 2][t - 1][j];
                if (!(fabs(w[j] - expected) < 1e-7))
                    fail_msg("step %d, way %d: weight %d is %.9f, by hand %.9f", t, way, j, w[j], expected);
            }
            assert_true(w[2] == 0);
        }
}

/* ---- loss.c and online.c by themselves ---- */

static void slopes_are_those_of_differences(void **state)
{
    static const double at[] = {-3.7, -1.13, -0.93, -0.04, 0.03, 0.42, 0.97, 1.09, 5.3};
    enum { PLACES = sizeof at / sizeof at[0] };
    (void)state;
    for (int l = 0; l < KL_LOSSES; l++)
        for (int i = 0; i < 2 * PLACES; i++) {
            const kl_loss_type *loss = &kl_loss_types[l];
            double y = i < PLACES ? 1 : -1, f = at[i % PLACES], step = 1e-5, slope = (loss->value(y, f + step, epsilon) - loss->value(y, f - step, epsilon)) / (2 * step);
            if (!(fabs(slope - loss->slope(y, f, epsilon)) < 1e-8) || loss->value(y, f, epsilon) < 0)
                fail_msg("%s: the slope at %g for %g is %g, by differences %g", loss->name, f, y, loss->slope(y, f, epsilon), slope);
        }
}

static double target_of(const void *user, int64_t row, int64_t output)
{
    (void)output;
    return (*(const double *const *)user)[row];
}

typedef struct plain {
    double w[WIDE], mean[WIDE], weight;
} plain;

/* The formulas of online.h on a plain vector, the mean by a recursion on plain vectors. */
static void plain_step(const kl_online *s, plain *p, const float *row, double m, double y)
{
    double z[WIDE], f = 0, square = 0, step, along;
    for (int j = 0; j < WIDE; j++) {
        z[j] = j < COLUMNS ? (double)row[j] : s->bias;
        f += p->w[j] * z[j];
        square += z[j] * z[j];
    }
    y -= s->output[0].shift;
    double loss = s->loss->value(y, f, s->epsilon), slope = s->loss->slope(y, f, s->epsilon), norm = 0;
    p->weight += m;
    step = s->pegasos ? 1 / (s->lambda * p->weight) : s->output[0].first / (1 + s->lambda * s->output[0].first * p->weight);
    along = s->pegasos || slope == 0 ? step * m : fmin(step * m, s->loss->reach * loss / (slope * slope * square));
    for (int j = 0; j < WIDE; j++) {
        p->w[j] = p->w[j] * (s->pegasos ? 1 - m / p->weight : 1 / (1 + s->lambda * step * m)) - along * slope * z[j];
        norm += p->w[j] * p->w[j];
    }
    for (int j = 0; s->project && j < WIDE; j++)
        p->w[j] *= fmin(1, 1 / sqrt(s->lambda * norm));
    for (int j = 0; j < WIDE; j++) {
        double part = 9 * m / (p->weight + 8 * m);
        p->mean[j] += part * (p->w[j] - p->mean[j]);
    }
}

static void scaled_weights_are_those_of_plain_vectors(void **state)
{
    enum { PASSES = 20 };
    (void)state;
    make_problem();
    for (int l = 0; l < KL_LOSSES; l++)
        for (int way = 0; way < 6; way++) { /* pegasos, projected or not, or our steps; mean or last */
            const double *y = kl_loss_types[l].classes ? sign : target;
            kl_online s = {.loss = &kl_loss_types[l], .epsilon = epsilon, .bias = 2, .lambda = way < 2 ? 0.5 : 0.01, .step = NAN, .pegasos = way < 4, .project = way == 2 || way == 3, .average = way % 2 == 1,
                           .numbers = y == target, .features = COLUMNS, .target_of = target_of, .user = &y};
            kl_row z[ROWS];
            plain p = {.weight = 0};
            double w[COLUMNS], b, far = 0, size = 0;
            if (s.pegasos && l != KL_LOSS_HINGE && l != KL_LOSS_LOGISTIC && l != KL_LOSS_EPSILON)
                continue; /* 1 / (lambda t) is too long for squares */
            for (int i = 0; i < ROWS; i++)
                z[i] = (kl_row){.count = COLUMNS, .value = x + i * COLUMNS};
            kl_online_rows rows = {ROWS, NULL, z, weight, false};
            assert_int_equal(kl_online_grow(&s, 1), KLIFT_OK);
            kl_online_begin(&s, &rows);
            for (int pass = 0; pass < PASSES; pass++) {
                assert_int_equal(kl_online_visit(&s, &rows, 0, 1, NULL), KLIFT_OK);
                for (int i = 0; i < ROWS; i++)
                    if (weight[i] > 0)
                        plain_step(&s, &p, x + i * COLUMNS, weight[i], y[i]);
            }
            for (int settled = 0; settled < 2; settled++) {
                kl_online_weights(&s, 0, w, &b);
                for (int j = 0; j < WIDE; j++) {
                    double mine = j < COLUMNS ? w[j] : (b - s.output[0].shift) / s.bias, expected = s.average ? p.mean[j] : p.w[j];
                    far = fmax(far, fabs(mine - expected));
                    size = fmax(size, fabs(expected));
                }
                kl_online_settle(&s, 0);
            }
            if (!(far < 1e-9 * size))
                fail_msg("%s, way %d: weights are %g from plain ones of %g", s.loss->name, way, far, size);
            kl_online_clear(&s);
        }
}

/* ---- through klift.h ---- */

static double objective(const kl_loss_type *loss, const double *y, double lambda, const double *w, double b, double penalised)
{
    double sum = 0, norm = penalised * penalised;
    for (int j = 0; j < COLUMNS; j++)
        norm += w[j] * w[j];
    for (int i = 0; i < ROWS; i++) {
        double f = b;
        for (int j = 0; j < COLUMNS; j++)
            f += w[j] * (double)x[i * COLUMNS + j];
        sum += loss->value(y[i], f, epsilon) / ROWS;
    }
    return sum + lambda * norm / 2;
}

/* After 50 passes the objective is above that of an exact learner by less than a thousandth. */
static void objectives_go_to_those_of_the_exact_learners(void **state)
{
    static const struct {
        const char *loss, *exact;
        bool numbers, free; /* free: the exact one does not penalise its intercept */
    } all[] = {
        {"hinge", "svm:loss=hinge,tolerance=1e-6,passes=100000", false, false},
        {"squared-hinge", "svm:tolerance=1e-8,passes=100000", false, false},
        {"logistic", "logistic:tolerance=1e-8", false, true},
        {"squared", "ridge", true, true},
        {"epsilon", "svm:loss=epsilon,tolerance=1e-6,passes=100000", true, false},
    };
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS; i++)
        target[i] -= 7; /* so that a penalised intercept costs nothing */
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        const kl_loss_type *loss = kl_loss_types;
        char learner[80];
        double w[WIDE], value[2];
        const double *y = all[k].numbers ? target : sign;
        klift_batch rows = problem(y);
        while (strcmp(loss->name, all[k].loss) != 0)
            loss++;
        snprintf(learner, sizeof learner, "sgd:loss=%s,passes=50", all[k].loss);
        for (int way = 0; way < 2; way++) {
            weights_of_training(&rows, &(training){.learner = way == 0 ? all[k].exact : learner, .task = all[k].numbers ? "regress" : "classify", .lambda = "0.01"}, COLUMNS, 1, w);
            value[way] = objective(loss, y, 0.01, w, w[COLUMNS], way == 0 && all[k].free ? 0 : w[COLUMNS]);
        }
        print_message("%s: %.6f, exact %.6f: %.3f %% more\n", all[k].loss, value[1], value[0], 100 * (value[1] / value[0] - 1));
        if (!(value[1] < 1.001 * value[0]))
            fail_msg("%s: objective %.6f, of %s %.6f", learner, value[1], all[k].exact, value[0]);
    }
}

/* Huber's loss of wide rows is the squared one, and a far target pulls it no further than epsilon's slope. */
static void huber_is_not_pulled_by_outliers(void **state)
{
    static double bad[ROWS];
    double plain_w[WIDE], squared_w[WIDE], huber_w[WIDE];
    (void)state;
    make_problem();
    memcpy(bad, target, sizeof bad);
    for (int i = 0; i < ROWS; i += 20)
        bad[i] += 100;
    klift_batch rows = problem(target), pulled = problem(bad);
    weights_of_training(&rows, &(training){.learner = "sgd:loss=squared,passes=30", .task = "regress", .lambda = "0.001"}, COLUMNS, 1, plain_w);
    weights_of_training(&pulled, &(training){.learner = "sgd:loss=squared,passes=30", .task = "regress", .lambda = "0.001"}, COLUMNS, 1, squared_w);
    weights_of_training(&pulled, &(training){.learner = "sgd:loss=huber,epsilon=0.5,passes=30", .task = "regress", .lambda = "0.001"}, COLUMNS, 1, huber_w);
    print_message("intercepts: %.3f, with outliers: squared %.3f, huber %.3f\n", plain_w[COLUMNS], squared_w[COLUMNS], huber_w[COLUMNS]);
    assert_true(fabs(squared_w[COLUMNS] - plain_w[COLUMNS]) > 2);
    assert_true(fabs(huber_w[COLUMNS] - plain_w[COLUMNS]) < 0.3);
}

/* ---- several blocks ---- */

enum { MANY = 9000, BROAD = 40 };
static float *many;
static double *label, *some;

static void make_many(void)
{
    many = malloc(MANY * BROAD * sizeof *many);
    label = malloc(MANY * sizeof *label);
    some = malloc(MANY * sizeof *some);
    syn_rows_float(MANY, BROAD, many);
    for (int i = 0; i < MANY; i++) {
        label[i] = (double)((many[i * BROAD] > 0) + 2 * (many[i * BROAD + 1] > 0) + (many[i * BROAD + 2] > 0.2f));
        some[i] = i % 5 != 0;
    }
}

static void free_many(void)
{
    free(many);
    free(label);
    free(some);
}

static klift_batch many_rows(void)
{
    klift_batch rows = dense_batch(MANY, BROAD, many);
    rows.target = label;
    rows.targets = 1;
    rows.weight = some;
    return rows;
}

static void threads_batches_and_memory_change_no_byte(void **state)
{
    static const char *const learner[] = {"sgd", "sgd:loss=logistic,passes=3", "sgd:step=pegasos,project=true,passes=2", "sgd:loss=epsilon", "sgd:loss=huber,passes=2"};
    (void)state;
    make_many();
    klift_batch rows = many_rows();
    for (int l = 0; l < 5; l++) {
        training way = {.learner = learner[l], .task = l < 3 ? "classify" : "regress"}, ways[5] = {way, way, way, way, way};
        ways[1].threads = ways[3].threads = "2";
        ways[1].batch = "100";
        ways[2].threads = "3";
        ways[3].memory = "2M";
        ways[4].once = true;
        check_same_bytes(&rows, ways, 5);
    }
    free_many();
}

static void sparse_rows_are_dense_ones(void **state)
{
    static const char *const learner[] = {"sgd", "sgd:passes=4", "sgd:passes=3,step=pegasos,project=true"};
    (void)state;
    for (int l = 0; l < 3; l++)
        check_sparse_bytes(learner[l], "classify");
    check_sparse_bytes("sgd:loss=huber,passes=3", "regress");
}

/* A block of them with their zeros would take 4 GB. */
static void sparse_rows_of_many_columns_come_without_their_zeros(void **state)
{
    enum { FEW = 2500, BROADEST = 1000000, ENTRIES = 5 };
    int64_t start[FEW + 1] = {0};
    static int32_t column[FEW * ENTRIES];
    static float value[FEW * ENTRIES];
    static double y[FEW];
    klift_model *model;
    (void)state;
    for (int i = 0; i < FEW; i++) {
        start[i + 1] = (i + 1) * ENTRIES;
        y[i] = i % 2;
        for (int k = 0; k < ENTRIES; k++) {
            column[i * ENTRIES + k] = k == 0 ? i % 2 : (int32_t)(syn_uniform((uint64_t)(i * ENTRIES + k)) * 200000) + k * 200000 - 2;
            value[i * ENTRIES + k] = 1;
        }
    }
    klift_batch rows = {.size = sizeof rows, .rows = FEW, .columns = BROADEST, .start = start, .column = column, .value = value, .target = y, .targets = 1};
    if (learn_rows(&rows, &(training){.learner = "sgd", .task = "classify", .memory = "200M"}, &model) != KLIFT_OK)
        fail_msg("%s", klift_error());
    static double score[FEW];
    assert_int_equal(klift_model_predict(model, &rows, KLIFT_SCORES, score, NULL), KLIFT_OK);
    for (int i = 0; i < FEW; i++)
        assert_true((score[i] > 0) == (y[i] > 0));
    klift_model_free(model);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    assert_true(used.ru_maxrss < 1000000); /* kB */
}

/* Rows of weight zero move nothing, but they make classes known: with them at the start every class is known from the start. */
static void a_class_that_comes_late_is_as_one_that_was_known(void **state)
{
    enum { LATE = 6000, CLASSES = 5 };
    static double late[CLASSES * (BROAD + 1)], known[CLASSES * (BROAD + 1)];
    (void)state;
    make_many();
    for (int classes = 2; classes <= CLASSES; classes++) {
        training how = {.learner = "sgd", .task = "classify", .lambda = "0.001"};
        for (int i = 0; i < MANY; i++) {
            label[i] = (double)((many[i * BROAD] > 0) + (i >= LATE && many[i * BROAD + 1] > 0 ? (int)(fabsf(many[i * BROAD + 2]) * 20) : 0));
            label[i] = label[i] >= classes ? classes - 1 : label[i];
            if (classes == 2 && i < LATE)
                label[i] = 1; /* one class only for a while */
            some[i] = i >= CLASSES;
        }
        klift_batch rows = many_rows();
        weights_of_training(&rows, &how, BROAD, classes == 2 ? 1 : classes, late);
        for (int i = 0; i < CLASSES; i++)
            label[i] = i % classes;
        weights_of_training(&rows, &how, BROAD, classes == 2 ? 1 : classes, known);
        for (int i = 0; i < (classes == 2 ? 1 : classes) * (BROAD + 1); i++)
            assert_true(late[i] == known[i]);
    }
    free_many();
}

/* The loss of a row before it is learnt from: in the progress, falling. */
static int keep_loss(const klift_event *event, void *user)
{
    double *loss = user;
    if (event->kind == KLIFT_EVENT_PROGRESS && strcmp(event->stage, "rows") == 0 && isfinite(event->loss)) {
        loss[0] = loss[0] == 0 ? event->loss : loss[0];
        loss[1] = event->loss;
    }
    return 0;
}

static void progress_tells_the_loss_of_rows_to_come(void **state)
{
    double loss[2] = {0};
    klift_model *model;
    (void)state;
    make_many();
    klift_batch rows = many_rows();
    assert_int_equal(learn_rows(&rows, &(training){.learner = "sgd", .task = "classify", .event = keep_loss, .user = loss}, &model), KLIFT_OK);
    klift_model_free(model);
    print_message("loss %.4f, then %.4f\n", loss[0], loss[1]);
    assert_true(loss[0] > loss[1] && loss[1] > 0);
    free_many();
}

static void weights_that_run_away_are_told(void **state)
{
    static float huge[ROWS * COLUMNS];
    static const char *const learner[] = {"sgd:step=pegasos,loss=squared", "sgd:step=pegasos,loss=squared,passes=3"};
    klift_model *model;
    (void)state;
    make_problem();
    for (int i = 0; i < ROWS * COLUMNS; i++)
        huge[i] = 1e6f * x[i];
    klift_batch rows = dense_batch(ROWS, COLUMNS, huge);
    rows.target = target;
    rows.targets = 1;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(learn_rows(&rows, &(training){.learner = learner[k], .task = "regress"}, &model), KLIFT_FAILED);
        assert_non_null(strstr(klift_error(), "ran away"));
        assert_non_null(strstr(klift_error(), "prepare=standardise"));
    }
    assert_int_equal(learn_rows(&rows, &(training){.learner = "sgd:loss=squared", .task = "regress"}, &model), KLIFT_OK); /* the default step does not */
    klift_model_free(model);
    assert_int_equal(learn_rows(&rows, &(training){.learner = "sgd:loss=squared,step=1e10", .task = "regress"}, &model), KLIFT_OK);
    klift_model_free(model);
}

static void what_cannot_be_is_refused(void **state)
{
    static const refusal wrong[] = {
        {{.learner = "sgd:loss=epsilon", .task = "classify"}, KLIFT_USAGE, "use hinge, squared-hinge, logistic or squared"},
        {{.learner = "sgd:loss=hinge", .task = "regress"}, KLIFT_USAGE, "use squared, huber or epsilon"},
        {{.learner = "sgd:project=true", .task = "classify"}, KLIFT_USAGE, "project=true belongs to step=pegasos"},
        {{.learner = "sgd:project=true,step=pegasos,loss=logistic", .task = "classify"}, KLIFT_USAGE, "project=true belongs to step=pegasos"},
        {{.learner = "sgd", .task = "classify", .search = "holdout"}, KLIFT_USAGE, "holds no rows out"},
        {{.learner = "sgd:passes=2", .task = "classify", .search = "folds"}, KLIFT_USAGE, "holds no rows out"},
        {{.learner = "sgd:step=0", .task = "classify"}, KLIFT_USAGE, "step"},
        {{.learner = "sgd:step=fast", .task = "classify"}, KLIFT_USAGE, "step"},
        {{.learner = "sgd", .task = "classify", .class_weight = "1=0,-1=0"}, KLIFT_DATA, "all weights are zero"},
        {{.learner = "sgd:passes=2", .task = "classify", .class_weight = "7=1"}, KLIFT_DATA, "no row has the label '7'"},
    };
    double ones[ROWS] = {0};
    klift_model *model;
    klift_batch rows = problem(sign), same = problem(ones);
    (void)state;
    make_problem();
    check_refusals(&rows, wrong, sizeof wrong / sizeof wrong[0]);
    assert_int_equal(learn_rows(&same, &(training){.learner = "sgd", .task = "classify"}, &model), KLIFT_DATA);
    assert_non_null(strstr(klift_error(), "one class only"));
    assert_int_equal(learn_rows(&same, &(training){.learner = "sgd", .task = "classify", .allow_one_class = "true"}, &model), KLIFT_OK);
    klift_model_free(model);
}

/* More rows than a pipe's survey keeps, read once: how many there are is not known. */
static void a_pipe_wants_lambda_instead_of_c(void **state)
{
    enum { LONG = 20000, NARROW = 2 };
    float *rows_of = malloc(LONG * NARROW * sizeof *rows_of);
    double *side = malloc(LONG * sizeof *side), w[2][NARROW + 1];
    klift_model *model;
    (void)state;
    syn_rows_float(LONG, NARROW, rows_of);
    for (int i = 0; i < LONG; i++)
        side[i] = rows_of[i * NARROW] > 0;
    klift_batch rows = dense_batch(LONG, NARROW, rows_of);
    rows.target = side;
    rows.targets = 1;
    assert_int_equal(learn_rows(&rows, &(training){.learner = "sgd", .task = "classify", .c = "2", .once = true}, &model), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "give lambda, or a file"));
    assert_int_equal(learn_rows(&rows, &(training){.learner = "sgd", .task = "classify", .class_weight = "balanced", .once = true}, &model), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "class-weight=balanced"));
    weights_of_training(&rows, &(training){.learner = "sgd", .task = "classify", .once = true}, NARROW, 1, w[0]);
    weights_of_training(&rows, &(training){.learner = "sgd", .task = "classify", .lambda = "1e-6"}, NARROW, 1, w[1]);
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    weights_of_training(&rows, &(training){.learner = "sgd:passes=2", .task = "classify", .c = "2", .once = true, .class_weight = "balanced"}, NARROW, 1, w[0]);
    free(rows_of);
    free(side);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_steps_of_pegasos_are_the_published_ones),
        cmocka_unit_test(slopes_are_those_of_differences),
        cmocka_unit_test(scaled_weights_are_those_of_plain_vectors),
        cmocka_unit_test(objectives_go_to_those_of_the_exact_learners),
        cmocka_unit_test(huber_is_not_pulled_by_outliers),
        cmocka_unit_test(threads_batches_and_memory_change_no_byte),
        cmocka_unit_test(sparse_rows_are_dense_ones),
        cmocka_unit_test(sparse_rows_of_many_columns_come_without_their_zeros),
        cmocka_unit_test(a_class_that_comes_late_is_as_one_that_was_known),
        cmocka_unit_test(progress_tells_the_loss_of_rows_to_come),
        cmocka_unit_test(weights_that_run_away_are_told),
        cmocka_unit_test(a_pipe_wants_lambda_instead_of_c),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
