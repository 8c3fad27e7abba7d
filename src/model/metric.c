/*
 * metric.c - classification: error, accuracy, confusion, precision and recall per class, and of a model with probabilities the mean of
 * -log P(class) over the rows whose class it knows. Regression: RMSE, RMSE relative
 * to the root mean square of the targets (the measure of Rahimi and Recht's tables) and R^2. Row weights count.
 */
#include "model/metric.h"

#include "base/memory.h"
#include "base/number.h"

#include <math.h>

klift_status kl_metric_begin(kl_metric *metric, const klift_model *model)
{
    const kl_weights *w = &model->weights;
    int64_t k = w->classes.count;
    *metric = (kl_metric){.model = model};
    if (w->outputs == 0)
        return kl_fail(KLIFT_MODEL, "the model has no weights: it holds a preparation and a map only; train one");
    KL_TRY(kl_new(&metric->confusion, (k + 1) * k, sizeof *metric->confusion, "metrics"));
    KL_TRY(kl_new(&metric->sum, w->outputs, sizeof(double), "metrics"));
    KL_TRY(kl_new(&metric->square, w->outputs, sizeof(double), "metrics"));
    return kl_new(&metric->residual, w->outputs, sizeof(double), "metrics");
}

static void add_class(kl_metric *metric, const kl_batch *x, int64_t row, const double *score, double weight)
{
    const kl_names *classes = &metric->model->weights.classes;
    char number[KL_NUMBER_ROOM];
    int64_t truth = kl_names_find(classes, kl_batch_row_class(x, row, number)), given = kl_model_class_of(metric->model, score);
    metric->confusion[(truth < 0 ? classes->count : truth) * classes->count + given]++;
    if (truth != given)
        metric->wrong += weight;
    if (metric->model->weights.probability.known && truth >= 0) {
        metric->log_loss -= weight * kl_probability_log(&metric->model->weights.probability, classes->count, score, truth);
        metric->known += weight;
    }
}

static void add_numbers(kl_metric *metric, const kl_batch *x, int64_t row, const double *score, double weight)
{
    for (int64_t o = 0; o < metric->model->weights.outputs; o++) {
        double y = x->target[row * x->targets + o], error = score[o] - y;
        metric->sum[o] += weight * y;
        metric->square[o] += weight * y * y;
        metric->residual[o] += weight * error * error;
    }
}

klift_status kl_metric_add(kl_metric *metric, const kl_batch *x, const double *scores)
{
    const kl_weights *w = &metric->model->weights;
    bool classify = w->goal == KL_CLASSIFY;
    if (x->rows > 0 && x->label == NULL && x->target == NULL)
        return kl_fail(KLIFT_DATA, "the rows have no labels to test against; for NPY and IDX say labels=FILE, or predict instead");
    if (x->rows > 0 && !classify && (x->target == NULL || x->targets != w->outputs))
        return kl_fail(KLIFT_DATA, "the rows have %lld targets, the model gives %lld; test it with the targets it was trained for",
                       (long long)(x->target == NULL ? 0 : x->targets), (long long)w->outputs);
    for (int64_t i = 0; i < x->rows; i++) {
        double weight = x->weight != NULL ? x->weight[i] : 1;
        if (classify)
            add_class(metric, x, i, scores + i * w->outputs, weight);
        else
            add_numbers(metric, x, i, scores + i * w->outputs, weight);
        metric->weight += weight;
    }
    metric->rows += x->rows;
    return KLIFT_OK;
}

static void class_json(const kl_metric *metric, kl_text *json)
{
    const kl_names *classes = &metric->model->weights.classes;
    int64_t k = classes->count;
    double error = metric->wrong / metric->weight;
    kl_json_number(json, "error", error);
    kl_json_number(json, "accuracy", 1 - error);
    if (metric->model->weights.probability.known)
        kl_json_number(json, "log_loss", metric->known > 0 ? metric->log_loss / metric->known : NAN);
    kl_json_open(json, "classes", '[');
    for (int64_t c = 0; c < k; c++) {
        int64_t rows = 0, given = 0, right = metric->confusion[c * k + c];
        for (int64_t o = 0; o < k; o++)
            rows += metric->confusion[c * k + o];
        for (int64_t t = 0; t <= k; t++)
            given += metric->confusion[t * k + c];
        kl_json_open(json, NULL, '{');
        kl_json_text(json, "name", classes->name[c]);
        kl_json_count(json, "rows", rows);
        kl_json_number(json, "precision", given > 0 ? (double)right / (double)given : NAN);
        kl_json_number(json, "recall", rows > 0 ? (double)right / (double)rows : NAN);
        kl_json_close(json, '}');
    }
    kl_json_close(json, ']');
    int64_t unknown = 0;
    for (int64_t o = 0; o < k; o++)
        unknown += metric->confusion[k * k + o];
    kl_json_count(json, "unknown_labels", unknown);
    kl_json_open(json, "confusion", '[');
    for (int64_t c = 0; c < k; c++) {
        kl_json_open(json, NULL, '[');
        for (int64_t o = 0; o < k; o++)
            kl_json_count(json, NULL, metric->confusion[c * k + o]);
        kl_json_close(json, ']');
    }
    kl_json_close(json, ']');
}

/* Several targets: the mean of their squared errors, and of their R^2. */
static void number_json(const kl_metric *metric, kl_text *json)
{
    int64_t outputs = metric->model->weights.outputs;
    double n = metric->weight, error = 0, size = 0, r2 = 0;
    for (int64_t o = 0; o < outputs; o++) {
        double spread = metric->square[o] - metric->sum[o] * metric->sum[o] / n;
        error += metric->residual[o] / n / (double)outputs;
        size += metric->square[o] / n / (double)outputs;
        r2 += (spread > 0 ? 1 - metric->residual[o] / spread : NAN) / (double)outputs;
    }
    kl_json_number(json, "rmse", sqrt(error));
    kl_json_number(json, "relative_rmse", size > 0 ? sqrt(error / size) : NAN);
    kl_json_number(json, "r2", r2);
}

void kl_metric_json(const kl_metric *metric, double seconds, kl_text *json)
{
    kl_json_open(json, NULL, '{');
    kl_json_text(json, "task", metric->model->weights.goal == KL_CLASSIFY ? "classify" : "regress");
    kl_json_count(json, "rows", metric->rows);
    if (metric->model->weights.goal == KL_CLASSIFY)
        class_json(metric, json);
    else
        number_json(metric, json);
    kl_json_number(json, "seconds", seconds);
    kl_json_close(json, '}');
}

void kl_metric_clear(kl_metric *metric)
{
    kl_free(metric->confusion);
    kl_free(metric->sum);
    kl_free(metric->square);
    kl_free(metric->residual);
    *metric = (kl_metric){0};
}
