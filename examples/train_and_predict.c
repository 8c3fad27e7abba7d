/*
 * train_and_predict.c - arrays in memory: train a classifier on some, ask it about others.
 *
 * Points of the plane are "inside" or "outside" a ring, which no straight line tells apart.
 */
#include <klift.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRAIN = 2000, TEST = 500, COLUMNS = 2 };

static float train_x[TRAIN * COLUMNS], test_x[TEST * COLUMNS]; /* (rows, COLUMNS) */
static const char *train_label[TRAIN], *test_label[TEST];

/* Random points of the square [-1, 1] x [-1, 1] with their names. */
static void draw(float *x, const char **label, int rows)
{
    int i;
    for (i = 0; i < rows; i++) {
        float a = 2 * (float)rand() / (float)RAND_MAX - 1, b = 2 * (float)rand() / (float)RAND_MAX - 1;
        float square = a * a + b * b;
        x[i * COLUMNS] = a;
        x[i * COLUMNS + 1] = b;
        label[i] = square > 0.25f && square < 0.64f ? "inside" : "outside";
    }
}

/* A batch is a view: it points at our arrays, copies nothing and frees nothing. What is not set must be 0. */
static klift_batch view(const float *x, const char **label, int rows)
{
    klift_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.size = (int64_t)sizeof batch; /* so that the library knows which klift.h we were compiled with */
    batch.rows = rows;
    batch.columns = COLUMNS;
    batch.dense = x;
    batch.stride = COLUMNS;
    batch.label = label;
    return batch;
}

static klift_status train(klift_model **model)
{
    klift_spec *spec = NULL;
    klift_data *data = NULL;
    klift_batch rows = view(train_x, train_label, TRAIN);
    klift_status status = klift_spec_new(&spec);
    /* Everything has a default. The width of the kernel is searched for here, and lambda, both by cross-validation. */
    if (status == KLIFT_OK)
        status = klift_spec_set(spec, "kernel", "gaussian:gamma=search");
    if (status == KLIFT_OK)
        status = klift_spec_set(spec, "features", "256");
    if (status == KLIFT_OK)
        status = klift_data_view(&rows, &data);
    if (status == KLIFT_OK)
        status = klift_train(spec, data, NULL, model); /* NULL: one thread, no progress */
    klift_data_free(data);
    klift_spec_free(spec);
    return status;
}

int main(void)
{
    static double answer[TEST]; /* an index of klift_model_class for each row */
    klift_model *model = NULL;
    klift_batch rows;
    klift_status status;
    int i, wrong = 0;
    draw(train_x, train_label, TRAIN);
    draw(test_x, test_label, TEST);
    status = train(&model);
    if (status == KLIFT_OK) {
        rows = view(test_x, NULL, TEST); /* no labels: it has to find them */
        status = klift_model_predict(model, &rows, KLIFT_CLASS, answer, NULL);
    }
    if (status != KLIFT_OK) {
        fprintf(stderr, "train_and_predict: %s\n", klift_error());
        klift_model_free(model);
        return (int)status;
    }
    for (i = 0; i < TEST; i++)
        wrong += strcmp(klift_model_class(model, (int64_t)answer[i]), test_label[i]) != 0;
    printf("(%.2f, %.2f) is %s\n", test_x[0], test_x[1], klift_model_class(model, (int64_t)answer[0]));
    printf("%d of %d wrong\n", wrong, TEST);
    klift_model_free(model);
    return wrong < TEST / 20 ? 0 : 1;
}
