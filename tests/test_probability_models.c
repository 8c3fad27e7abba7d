/*
 * test_probability_models.c - probabilities of trained models: scores come from models which did not see their rows, for every learner;
 * threads, parts and files change nothing; what is refused. KLIFT_DATA, a folder with adult/ and pendigits/, adds how good they are.
 */
#include "base/number.h"
#include "learn/statistics.h"
#include "model/model.h"
#include "model_bytes.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 900, TRAINED = 600, COLUMNS = 4, MOST = 4 };

/* ---- models ---- */

static float x[ROWS * COLUMNS];
static double label[ROWS];

static klift_batch problem(int64_t k)
{
    syn_rows_float(ROWS, COLUMNS, x);
    syn_labels(ROWS, COLUMNS, x, k, 0.4, label);
    klift_batch rows = dense_batch(TRAINED, COLUMNS, x);
    rows.target = label;
    rows.targets = 1;
    return rows;
}

/* settings: key=value, separated by blanks, on top of a small linear model with probabilities. */
static klift_spec *spec_of(const char *settings)
{
    klift_spec *spec;
    char text[400], *at = text;
    OK(klift_spec_new(&spec));
    snprintf(text, sizeof text, "kernel=linear task=classify probability=true lambda=0.01 %s", settings);
    for (char *one; (one = strtok_r(at, " ", &at)) != NULL;) {
        char *equals = strchr(one, '=');
        *equals = '\0';
        OK(klift_spec_set(spec, one, equals + 1));
    }
    return spec;
}

static klift_status train(const char *settings, const klift_batch *rows, const char *threads, klift_model **model)
{
    klift_spec *spec = spec_of(settings);
    klift_data *data;
    klift_run *run;
    OK(klift_run_new(&run));
    OK(klift_run_set(run, "threads", threads));
    OK(klift_data_view(rows, &data));
    klift_status status = klift_train(spec, data, run, model);
    klift_data_free(data);
    klift_run_free(run);
    klift_spec_free(spec);
    return status;
}

static klift_model *trained(const char *settings, int64_t classes)
{
    klift_batch rows = problem(classes);
    klift_model *model;
    OK(train(settings, &rows, "2", &model));
    assert_int_equal(klift_model_classes(model), classes);
    return model;
}

static void predict(const klift_model *model, int what, double *out)
{
    klift_batch rows = dense_batch(ROWS, COLUMNS, x);
    OK(klift_model_predict(model, &rows, what, out, NULL));
}

static model_file file_of(const klift_model *model)
{
    model_file f;
    assert_true(model_bytes_of(model, "PROB", &f));
    return f;
}

/* Scores of every row by a model trained without the rows of its fold. */
static void hold_out(const char *settings, const klift_batch *rows, int folds, int tested, kl_held *held)
{
    static float part[TRAINED * COLUMNS];
    static double part_label[TRAINED], weight[TRAINED];
    char plain[400], text[KL_NUMBER_ROOM];
    int fold[TRAINED];
    snprintf(plain, sizeof plain, "%s probability=false search=auto", settings);
    for (int64_t i = 0; i < rows->rows; i++)
        fold[i] = kl_statistics_fold(kl_statistics_key(rows, i, kl_batch_row_class(rows, i, text)), folds);
    for (int f = 0; f < tested; f++) {
        klift_model *model;
        int64_t count = 0;
        for (int64_t i = 0; i < rows->rows; i++)
            if (fold[i] != f) {
                memcpy(part + count * COLUMNS, rows->dense + i * COLUMNS, COLUMNS * sizeof *part);
                weight[count] = rows->weight != NULL ? rows->weight[i] : 1;
                part_label[count++] = rows->target[i];
            }
        klift_batch rest = dense_batch(count, COLUMNS, part);
        rest.target = part_label;
        rest.targets = 1;
        rest.weight = weight;
        OK(train(plain, &rest, "1", &model));
        for (int64_t i = 0; i < rows->rows; i++)
            if (fold[i] == f) {
                double score[MOST];
                klift_batch one = dense_batch(1, COLUMNS, rows->dense + i * COLUMNS);
                OK(klift_model_predict(model, &one, KLIFT_SCORES, score, NULL));
                OK(kl_held_add(held, score, (int64_t)rows->target[i], rows->weight != NULL ? rows->weight[i] : 1));
            }
        klift_model_free(model);
    }
}

static void scores_are_those_of_models_that_did_not_see_the_row(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        int64_t classes;
        int folds, tested;
        double near;
    } cases[] = {
        {"folds=3", 2, 3, 3, 1e-6},
        {"folds=5 search=folds", 4, 5, 5, 1e-6},
        {"folds=4 search=holdout", 2, 4, 1, 1e-6},
        {"folds=2 search=holdout", 3, 2, 1, 1e-6},
        {"folds=3 code=random bits=9 decode=hamming", 4, 3, 3, 1e-6},
        {"folds=3 code=hadamard", 2, 3, 3, 1e-6},
        {"folds=3 class-weight=1=4", 2, 3, 3, 1e-6},
        {"folds=3 learner=svm:tolerance=1e-10,passes=100000", 2, 3, 3, 1e-3},
        {"folds=3 learner=svm:tolerance=1e-10,passes=100000 search=holdout", 3, 3, 1, 1e-3},
        {"folds=3 learner=svm:tolerance=1e-6,passes=100000,classes=crammer-singer", 2, 3, 3, 1e-2},
        {"folds=3 learner=svm:tolerance=1e-6,passes=100000,classes=crammer-singer", 3, 3, 3, 1e-2},
    };
    static double weight[TRAINED];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int weighted = 0; weighted < 2; weighted++) {
            klift_batch rows = problem(cases[i].classes);
            kl_held held = {.classes = cases[i].classes};
            klift_model *model;
            for (int r = 0; r < TRAINED; r++)
                weight[r] = 0.5 + r % 4;
            rows.weight = weighted ? weight : NULL;
            hold_out(cases[i].settings, &rows, cases[i].folds, cases[i].tested, &held);
            OK(train(cases[i].settings, &rows, "2", &model));
            kl_probability wanted, got = model->weights.probability;
            OK(kl_probability_fit(&held, &model->weights.classes, &wanted));
            if (!(fabs(got.scale / wanted.scale - 1) < cases[i].near && fabs(got.offset - wanted.offset) < cases[i].near && got.rows == wanted.rows))
                fail_msg("%s, %lld classes: scale %.9g instead of %.9g, offset %.9g instead of %.9g, rows %lld instead of %lld", cases[i].settings, (long long)cases[i].classes,
                         got.scale, wanted.scale, got.offset, wanted.offset, (long long)got.rows, (long long)wanted.rows);
            klift_model_free(model);
            kl_held_clear(&held);
        }
}

/* The lambda that a search takes, given by hand: the same probabilities. */
static void the_scores_are_those_of_the_lambda_that_is_taken(void **state)
{
    (void)state;
    for (int64_t k = 2; k <= 3; k++)
        for (int s = 0; s < 2; s++) {
            char settings[200];
            const char *search = s == 0 ? "folds" : "holdout";
            snprintf(settings, sizeof settings, "kernel=gaussian:gamma=1 map=fourier features=48 lambda=auto search=%s", search);
            klift_model *model = trained(settings, k), *again;
            assert_true(model->weights.path_points > 3);
            snprintf(settings, sizeof settings, "kernel=gaussian:gamma=1 map=fourier features=48 search=%s lambda=%.17g", search, model->weights.lambda);
            again = trained(settings, k);
            assert_true(model->weights.probability.scale == again->weights.probability.scale);
            assert_true(model->weights.probability.offset == again->weights.probability.offset);
            assert_true(model->weights.cv_error == again->weights.cv_error);
            klift_model_free(model);
            klift_model_free(again);
        }
}

static void asking_for_them_changes_no_score(void **state)
{
    (void)state;
    static double with[ROWS * MOST], without[ROWS * MOST];
    static const char *const learners[] = {"learner=ridge", "learner=svm", "learner=ridge code=hadamard"};
    for (int l = 0; l < 3; l++)
        for (int64_t k = 2; k <= 3; k++) {
            char off[100];
            snprintf(off, sizeof off, "%s probability=false", learners[l]);
            klift_model *a = trained(learners[l], k), *b = trained(off, k);
            assert_true(a->weights.probability.known && !b->weights.probability.known);
            assert_true(a->weights.lambda == b->weights.lambda);
            predict(a, KLIFT_SCORES, with);
            predict(b, KLIFT_SCORES, without);
            for (int64_t i = 0; i < ROWS * klift_model_outputs(a); i++)
                assert_true(fabs(with[i] - without[i]) < 1e-9);
            klift_model_free(a);
            klift_model_free(b);
        }
}

static void predicted_rows_add_up_to_one_and_follow_the_scores(void **state)
{
    (void)state;
    static double p[ROWS * MOST], scores[ROWS * MOST], class[ROWS];
    static const char *const learners[] = {"learner=ridge", "learner=svm"};
    for (int l = 0; l < 2; l++)
        for (int64_t k = 2; k <= MOST; k++) {
            klift_model *model = trained(learners[l], k);
            int64_t outputs = klift_model_outputs(model);
            double sum = 0;
            predict(model, KLIFT_PROBABILITY, p);
            predict(model, KLIFT_SCORES, scores);
            predict(model, KLIFT_CLASS, class);
            for (int64_t i = 0; i < ROWS; i++) {
                double row = 0, wanted[MOST];
                kl_probability_of(&model->weights.probability, k, scores + i * outputs, wanted);
                assert_memory_equal(wanted, p + i * k, (size_t)k * sizeof *p);
                for (int64_t c = 0; c < k; c++) {
                    row += p[i * k + c];
                    assert_true(k == 2 || p[i * k + (int64_t)class[i]] >= p[i * k + c]);
                }
                assert_true(fabs(row - 1) < 1e-14);
                if (i >= TRAINED)
                    sum -= log(p[i * k + (int64_t)label[i]]);
            }
            print_message("%s, %lld classes: log loss %.4f of rows held out, %.4f of others, %.4f of equal shares\n", learners[l], (long long)k, model->weights.probability.log_loss,
                          sum / (ROWS - TRAINED), log((double)k));
            assert_true(sum / (ROWS - TRAINED) < 0.8 * log((double)k));
            assert_true(fabs(sum / (ROWS - TRAINED) - model->weights.probability.log_loss) < 0.12);
            klift_model_free(model);
        }
}

static void threads_change_no_byte(void **state)
{
    (void)state;
    static const char *const settings[] = {"learner=ridge lambda=auto", "learner=svm", "search=holdout kernel=gaussian:gamma=1 map=fourier features=600"};
    for (int s = 0; s < 3; s++)
        for (int64_t k = 2; k <= 3; k++) {
            klift_batch rows = problem(k);
            klift_model *one, *three;
            OK(train(settings[s], &rows, "1", &one));
            OK(train(settings[s], &rows, "3", &three));
            model_file a = file_of(one), b = file_of(three);
            assert_int_equal(a.size, b.size);
            assert_memory_equal(a.bytes, b.bytes, (size_t)a.size);
            free(a.bytes);
            free(b.bytes);
            klift_model_free(one);
            klift_model_free(three);
        }
}

/* What ranks and shards do: kept rows merge with the rest of the statistics. */
static void parts_merged_give_the_probabilities_of_one_pass(void **state)
{
    (void)state;
    for (int64_t k = 2; k <= 3; k++) {
        klift_batch rows = problem(k);
        klift_spec *spec = spec_of("");
        klift_data *data;
        klift_map *map;
        klift_model *whole, *merged;
        klift_stats *sum = NULL;
        OK(train("", &rows, "1", &whole));
        OK(klift_data_view(&rows, &data));
        OK(klift_map_fit(spec, data, NULL, &map));
        klift_data_free(data);
        for (int64_t part = 0; part < 3; part++) {
            klift_stats *stats;
            klift_batch third = dense_batch(TRAINED / 3, COLUMNS, x + part * (TRAINED / 3) * COLUMNS);
            third.target = label + part * (TRAINED / 3);
            third.targets = 1;
            OK(klift_data_view(&third, &data));
            OK(klift_stats_new(map, spec, NULL, &stats));
            OK(klift_stats_add(stats, data, NULL));
            if (sum == NULL)
                sum = stats;
            else {
                OK(klift_stats_merge(sum, stats, 1));
                klift_stats_free(stats);
            }
            klift_data_free(data);
        }
        OK(klift_stats_solve(sum, NULL, &merged));
        assert_true(fabs(merged->weights.probability.scale / whole->weights.probability.scale - 1) < 1e-6);
        assert_true(fabs(merged->weights.probability.offset - whole->weights.probability.offset) < 1e-6);
        klift_stats_free(sum);
        klift_model_free(whole);
        klift_model_free(merged);
        klift_map_free(map);
        klift_spec_free(spec);
    }
}

static void what_cannot_be_is_refused_with_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        klift_status status;
        const char *says;
    } cases[] = {
        {"task=regress", KLIFT_USAGE, "probability=true is for classes"},
        {"task=regress learner=svm", KLIFT_USAGE, "say task=classify"},
        {"search=gcv", KLIFT_USAGE, "use search=folds or search=holdout"},
        {"search=gcv learner=svm", KLIFT_USAGE, "use search=folds or search=holdout"},
        {"class-weight=1=0", KLIFT_DATA, "none is of class '1'"},
        {"class-weight=1=0 learner=svm", KLIFT_DATA, "none is of class '1'"},
    };
    klift_batch rows = problem(2);
    klift_model *model;
    double out[2];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(train(cases[i].settings, &rows, "1", &model), cases[i].status);
        if (strstr(klift_error(), cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].settings, klift_error());
        assert_null(model);
    }
    rows.rows = 0;
    model = trained("probability=false", 2);
    assert_int_equal(klift_model_predict(model, &rows, KLIFT_PROBABILITY, out, NULL), KLIFT_USAGE);
    assert_string_equal(klift_error(), "the model has no probabilities: train it with probability=true");
    klift_model_free(model);
    model = NULL;
    rows = problem(3);
    OK(train("task=regress probability=false", &rows, "1", &model));
    rows.rows = 1;
    assert_int_equal(klift_model_predict(model, &rows, KLIFT_PROBABILITY, out, NULL), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "numbers"));
    klift_model_free(model);
    klift_spec *spec;
    OK(klift_spec_new(&spec));
    assert_int_equal(klift_spec_set(spec, "probability", "platt"), KLIFT_USAGE);
    klift_spec_free(spec);
}

static void one_class_has_probability_one(void **state)
{
    (void)state;
    static const char *const settings[] = {"allow-one-class=true", "allow-one-class=true learner=svm"};
    static double p[ROWS];
    for (int s = 0; s < 2; s++) {
        klift_model *model = trained(settings[s], 1);
        predict(model, KLIFT_PROBABILITY, p);
        for (int i = 0; i < ROWS; i++)
            assert_true(p[i] == 1);
        klift_model_free(model);
    }
}

/* ---- the model file ---- */

enum { SECTION = 24, FIELDS = 32 };

static void a_model_is_read_as_it_was_written(void **state)
{
    (void)state;
    static double before[ROWS * MOST], after[ROWS * MOST];
    static const char *const settings[] = {"learner=ridge", "learner=svm", "code=random", "probability=false"};
    for (int s = 0; s < 4; s++)
        for (int64_t k = 2; k <= 3; k++) {
            klift_model *model = trained(settings[s], k), *again;
            model_file f = file_of(model), g;
            OK(klift_model_parse(f.bytes, f.size, &again));
            g = file_of(again);
            assert_int_equal(f.size, g.size);
            assert_memory_equal(f.bytes, g.bytes, (size_t)f.size);
            assert_int_equal(f.section >= 0, s < 3); /* without them the file is as it always was */
            if (s < 3) {
                char json[4000];
                int64_t needed;
                predict(model, KLIFT_PROBABILITY, before);
                predict(again, KLIFT_PROBABILITY, after);
                assert_memory_equal(before, after, (size_t)(ROWS * k) * sizeof *before);
                OK(klift_model_describe(again, json, sizeof json, &needed));
                assert_non_null(strstr(json, k == 2 ? "\"probability\": {\"method\": \"platt\", \"scale\": " : "\"probability\": {\"method\": \"temperature\", \"scale\": "));
            }
            free(f.bytes);
            free(g.bytes);
            klift_model_free(model);
            klift_model_free(again);
        }
}

/* As damage is: no checksum is right. As a forger does it: they are, and what is taken still gives probabilities. */
static void every_damaged_byte_is_refused_or_gives_probabilities(void **state)
{
    (void)state;
    klift_batch row = dense_batch(1, COLUMNS, x);
    for (int64_t k = 2; k <= 3; k++) {
        klift_model *model = trained("", k), *changed;
        model_file f = file_of(model);
        int taken = 0;
        for (int64_t at = f.section - SECTION; at < f.section + FIELDS; at++)
            for (int bit = 0; bit < 8; bit++) {
                model_file g = f;
                double p[MOST], sum = 0;
                g.bytes = malloc((size_t)f.size);
                assert_non_null(g.bytes);
                memcpy(g.bytes, f.bytes, (size_t)f.size);
                g.bytes[at] ^= (uint8_t)(1 << bit);
                assert_int_equal(klift_model_parse(g.bytes, g.size, &changed), KLIFT_MODEL);
                assert_null(changed);
                model_bytes_seal(g.bytes, (size_t)g.size, false);
                if (klift_model_parse(g.bytes, g.size, &changed) == KLIFT_OK) {
                    taken++;
                    if (changed->weights.probability.known) {
                        OK(klift_model_predict(changed, &row, KLIFT_PROBABILITY, p, NULL));
                        for (int64_t c = 0; c < k; c++)
                            sum += p[c];
                        assert_true(fabs(sum - 1) < 1e-12);
                    }
                }
                klift_model_free(changed);
                free(g.bytes);
            }
        assert_true(taken > 0);
        free(f.bytes);
        klift_model_free(model);
    }
}

static void assert_damaged(uint8_t *bytes, int64_t size, const char *says)
{
    klift_model *model;
    model_bytes_seal(bytes, (size_t)size, true);
    assert_int_equal(klift_model_parse(bytes, size, &model), KLIFT_MODEL);
    assert_null(model);
    if (strstr(klift_error(), says) == NULL)
        fail_msg("%s", klift_error());
}

static void numbers_that_are_none_of_probabilities_are_refused(void **state)
{
    (void)state;
    static const struct {
        int64_t classes, at; /* the field */
        double value;
        const char *says;
    } cases[] = {{2, 0, -1, "below 0"}, {2, 0, NAN, ""}, {2, 8, INFINITY, ""}, {2, 24, -0.5, "below 0"}, {3, 8, 1, "do not agree"}, {3, 24, NAN, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        klift_model *model = trained("", cases[i].classes);
        model_file f = file_of(model);
        memcpy(f.bytes + f.section + cases[i].at, &cases[i].value, 8);
        assert_damaged(f.bytes, f.size, cases[i].says);
        free(f.bytes);
        klift_model_free(model);
    }
}

/* The section of a classifier behind the weights of another model, and twice. */
static void a_section_where_it_does_not_belong_is_refused(void **state)
{
    (void)state;
    klift_model *model = trained("", 3), *numbers, *map_alone;
    klift_batch rows = problem(3);
    OK(train("task=regress probability=false", &rows, "1", &numbers));
    OK(klift_model_from_map(klift_model_map(model), &map_alone));
    const klift_model *into[] = {model, numbers, map_alone};
    static const char *const says[] = {"twice", "do not agree", "without weights"};
    model_file f = file_of(model);
    for (int i = 0; i < 3; i++) {
        model_file g = file_of(into[i]);
        int64_t more = SECTION + FIELDS;
        uint8_t *bytes = malloc((size_t)(g.size + more));
        assert_non_null(bytes);
        memcpy(bytes, g.bytes, (size_t)g.size - 8);
        memcpy(bytes + g.size - 8, f.bytes + f.section - SECTION, (size_t)more);
        memset(bytes + g.size - 8 + more, 0, 8);
        assert_damaged(bytes, g.size + more, says[i]);
        free(bytes);
        free(g.bytes);
    }
    free(f.bytes);
    klift_model_free(model);
    klift_model_free(numbers);
    klift_model_free(map_alone);
}

/* ---- real data ---- */

typedef struct quality {
    double log_loss, held_out, constant, error, by_probability, gap;
} quality;

/* gap: between the mean of the largest probability and the share of rows it is right for, over ten equal ranges of it, by rows. */
static quality quality_of(const klift_model *model, const char *path)
{
    enum { BINS = 10, MANY = 10 };
    int64_t k = klift_model_classes(model), n = 0;
    double sum[BINS] = {0}, right[BINS] = {0}, count[MANY] = {0};
    quality q = {0};
    klift_data *data;
    OK(klift_data_open(path, NULL, &data));
    OK(klift_data_match(data, model));
    for (;;) {
        klift_batch batch = {.size = sizeof batch};
        OK(klift_data_next(data, 4096, &batch));
        if (batch.rows == 0)
            break;
        double *p = malloc((size_t)(batch.rows * k) * sizeof *p), *class = malloc((size_t)batch.rows * sizeof *class);
        OK(klift_model_predict(model, &batch, KLIFT_PROBABILITY, p, NULL));
        OK(klift_model_predict(model, &batch, KLIFT_CLASS, class, NULL));
        for (int64_t i = 0; i < batch.rows; i++) {
            int64_t truth = 0, best = 0;
            for (int64_t c = 0; c < k; c++) {
                truth = strtod(klift_model_class(model, c), NULL) == batch.target[i] ? c : truth;
                best = p[i * k + c] > p[i * k + best] ? c : best;
            }
            int bin = (int)fmin(BINS - 1, BINS * p[i * k + best]);
            q.log_loss -= log(p[i * k + truth]);
            q.error += class[i] != (double)truth;
            q.by_probability += best != truth;
            sum[bin] += p[i * k + best];
            right[bin] += best == truth;
            count[truth]++;
            n++;
        }
        free(p);
        free(class);
    }
    for (int b = 0; b < BINS; b++)
        q.gap += fabs(sum[b] - right[b]) / (double)n;
    for (int64_t c = 0; c < k; c++)
        q.constant -= count[c] > 0 ? count[c] / (double)n * log(count[c] / (double)n) : 0;
    q.log_loss /= (double)n;
    q.error *= 100 / (double)n;
    q.by_probability *= 100 / (double)n;
    klift_data_free(data);
    return q;
}

static quality real(const char *folder, const char *set, const char *settings)
{
    char path[4096];
    klift_spec *spec = spec_of(settings);
    klift_data *data;
    klift_model *model;
    snprintf(path, sizeof path, "%s/%s/train.svm", folder, set);
    OK(klift_data_open(path, strcmp(set, "adult") == 0 ? "dim=123" : NULL, &data));
    OK(klift_train(spec, data, NULL, &model));
    snprintf(path, sizeof path, "%s/%s/test.svm", folder, set);
    quality q = quality_of(model, path);
    q.held_out = model->weights.probability.log_loss;
    print_message("%s, %s:\n  log loss %.4f (%.4f of rows held out, %.4f of constant shares), error %.2f %%, by the largest probability %.2f %%, calibration gap %.4f\n", set, settings,
                  q.log_loss, q.held_out, q.constant, q.error, q.by_probability, q.gap);
    klift_model_free(model);
    klift_data_free(data);
    klift_spec_free(spec);
    return q;
}

static void probabilities_of_real_data(void **state)
{
    (void)state;
    static const char *const adult[] = {"kernel=gaussian:gamma=0.0125 map=fourier features=512 lambda=auto", "kernel=gaussian:gamma=0.0125 map=fourier features=512 learner=svm lambda=1e-5"};
    static const char *const digits[] = {"kernel=gaussian map=orthogonal prepare=standardise features=512 lambda=auto",
                                         "kernel=gaussian map=orthogonal prepare=standardise features=512 learner=svm lambda=1e-4"};
    const char *folder = getenv("KLIFT_DATA");
    if (folder == NULL || folder[0] == '\0') {
        print_message("skipped: adult and pendigits (set KLIFT_DATA to a folder with them)\n");
        return;
    }
    for (int l = 0; l < (quick() ? 1 : 2); l++) {
        quality q = real(folder, "adult", adult[l]);
        assert_true(fabs(q.log_loss - q.held_out) < 0.03); /* not for pendigits, whose test rows other people wrote */
        assert_true(q.log_loss < 0.34 && q.constant > 0.54 && q.error < 15.8 && q.by_probability < 15.8 && q.gap < 0.03);
        q = real(folder, "pendigits", digits[l]);
        assert_true(q.log_loss < 0.25 && q.error == q.by_probability);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_models_that_did_not_see_the_row),
        cmocka_unit_test(the_scores_are_those_of_the_lambda_that_is_taken),
        cmocka_unit_test(asking_for_them_changes_no_score),
        cmocka_unit_test(predicted_rows_add_up_to_one_and_follow_the_scores),
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(parts_merged_give_the_probabilities_of_one_pass),
        cmocka_unit_test(what_cannot_be_is_refused_with_what_to_do),
        cmocka_unit_test(one_class_has_probability_one),
        cmocka_unit_test(a_model_is_read_as_it_was_written),
        cmocka_unit_test(every_damaged_byte_is_refused_or_gives_probabilities),
        cmocka_unit_test(numbers_that_are_none_of_probabilities_are_refused),
        cmocka_unit_test(a_section_where_it_does_not_belong_is_refused),
        cmocka_unit_test(probabilities_of_real_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
