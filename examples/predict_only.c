/*
 * predict_only.c - a model file and rows in a file: one line per row.  usage: predict_only MODEL DATA
 *
 * The model may come from `klift train`; the data may be anything that `klift list formats` names. Rows are read
 * a batch at a time, so the file may be larger than the memory.
 */
#include <klift.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1024 };

/* Classes by name, or the numbers of a regression. */
static void print_row(const klift_model *model, const double *out)
{
    int64_t k, outputs = klift_model_outputs(model);
    if (klift_model_classes(model) > 0) {
        puts(klift_model_class(model, (int64_t)out[0]));
        return;
    }
    for (k = 0; k < outputs; k++)
        printf("%.9g%c", out[k], k + 1 < outputs ? '\t' : '\n');
}

static klift_status predict_all(const klift_model *model, klift_data *data, double *out)
{
    int what = klift_model_classes(model) > 0 ? KLIFT_CLASS : KLIFT_SCORES;
    int64_t i, width = what == KLIFT_CLASS ? 1 : klift_model_outputs(model);
    for (;;) {
        klift_batch rows;
        klift_status status;
        memset(&rows, 0, sizeof rows);
        rows.size = (int64_t)sizeof rows;
        status = klift_data_next(data, BATCH, &rows); /* valid until the next call */
        if (status != KLIFT_OK || rows.rows == 0)
            return status;
        status = klift_model_predict(model, &rows, what, out, NULL);
        if (status != KLIFT_OK)
            return status;
        for (i = 0; i < rows.rows; i++)
            print_row(model, out + i * width);
    }
}

int main(int argc, char **argv)
{
    klift_model *model = NULL;
    klift_data *data = NULL;
    double *out = NULL; /* (BATCH, outputs) */
    klift_status status;
    if (argc != 3) {
        fprintf(stderr, "usage: predict_only MODEL DATA\n");
        return KLIFT_USAGE;
    }
    status = klift_model_load(argv[1], &model);
    if (status == KLIFT_OK)
        status = klift_data_open(argv[2], NULL, &data);
    if (status == KLIFT_OK)
        status = klift_data_match(data, model); /* as wide as the model, columns of a table by name */
    if (status == KLIFT_OK) {
        out = (double *)malloc(BATCH * (size_t)(klift_model_outputs(model) + 1) * sizeof *out);
        status = out == NULL ? KLIFT_MEMORY : predict_all(model, data, out);
    }
    if (status != KLIFT_OK) /* if it was our own malloc, the library has no message */
        fprintf(stderr, "predict_only: %s\n", model != NULL && data != NULL && out == NULL ? "no memory" : klift_error());
    free(out);
    klift_data_free(data);
    klift_model_free(model);
    return (int)status;
}
