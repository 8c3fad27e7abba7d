/*
 * fuzz_model.c - any bytes as a model file, as they are and with lengths and checksums repaired: refused as a model, or
 * it describes itself and predicts finite values and probabilities that add up to 1, or says that it cannot.
 */
#include "fuzz.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 3, MOST_COLUMNS = 1 << 12, MOST_OUTPUTS = 1 << 12 };

static void predict(const klift_model *model, klift_run *run)
{
    int64_t columns = model->lift->prepare.n_in, outputs = klift_model_outputs(model);
    int64_t start[ROWS + 1] = {0, 0, 1, 2};
    int32_t column[] = {0, (int32_t)(columns - 1)};
    float value[] = {1.5f, -2e3f};
    klift_batch sparse = {.size = sizeof sparse, .rows = ROWS, .columns = columns, .start = start, .column = column, .value = value};
    klift_batch dense = {.size = sizeof dense, .rows = ROWS, .columns = columns, .stride = columns};
    if (columns > MOST_COLUMNS || outputs > MOST_OUTPUTS)
        return;
    double *scores = malloc((size_t)(ROWS * (outputs + 1)) * sizeof *scores); /* + 1: two classes have one output */
    float *x = calloc((size_t)(ROWS * columns), sizeof *x);
    if (scores == NULL || x == NULL)
        abort();
    for (int64_t i = 0; i < ROWS * columns; i++)
        x[i] = (float)(i % 7) - 2.5f;
    dense.dense = x;
    for (int form = 0; form < 2; form++) {
        klift_status status = klift_model_predict(model, form == 0 ? &dense : &sparse, KLIFT_SCORES, scores, run);
        HOLDS(status == KLIFT_OK || status == KLIFT_DATA || (status == KLIFT_MODEL && outputs == 0));
        for (int64_t i = 0; status == KLIFT_OK && i < ROWS * outputs; i++)
            HOLDS(isfinite(scores[i]));
    }
    if (klift_model_classes(model) > 0 && klift_model_predict(model, &dense, KLIFT_CLASS, scores, run) == KLIFT_OK)
        for (int i = 0; i < ROWS; i++)
            HOLDS(klift_model_class(model, (int64_t)scores[i]) != NULL);
    if (klift_model_predict(model, &dense, KLIFT_PROBABILITY, scores, run) == KLIFT_OK)
        for (int64_t i = 0, classes = klift_model_classes(model); i < ROWS; i++) {
            double sum = 0;
            for (int64_t k = 0; k < classes; k++)
                sum += scores[i * classes + k];
            HOLDS(fabs(sum - 1) < 1e-9);
        }
    free(scores);
    free(x);
}

static void load(const uint8_t *data, size_t size)
{
    klift_run *run = fuzz_small_run();
    klift_model *model;
    klift_status status = kl_model_read(data, (int64_t)size, run, &model);
    HOLDS((status == KLIFT_OK) == (model != NULL));
    HOLDS(status == KLIFT_OK || status == KLIFT_MODEL);
    if (status == KLIFT_OK) {
        char json[256];
        int64_t needed;
        HOLDS(klift_model_describe(model, json, sizeof json, &needed) == KLIFT_OK);
        predict(model, run);
    }
    klift_model_free(model);
    klift_run_free(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    load(data, size);
    uint8_t *repaired = fuzz_repair(data, size);
    load(repaired, size);
    free(repaired);
    return 0;
}
