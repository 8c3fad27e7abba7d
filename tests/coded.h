/*
 * coded.h - models with an error-correcting output code, of rows whose classes overlap, for the tests of codes. The rows are
 * coded_x after the first model was made.
 */
#ifndef TEST_CODED_H
#define TEST_CODED_H

#include "learn/code.h"
#include "training.h"

enum { CODED_ROWS = 1200, CODED_TRAINED = 600, CODED_COLUMNS = 4, CODED_MOST = 10 };

extern const char *const coded_names[]; /* of kl_code_kind */
extern float coded_x[CODED_ROWS * CODED_COLUMNS];

typedef struct coded_settings {
    const char *code, *bits, *decode, *learner, *task; /* NULL: as it is without */
} coded_settings;

kl_code coded_matrix(kl_code_kind kind, int64_t classes, int64_t bits, uint64_t seed);
klift_status coded_train(const coded_settings *settings, const klift_batch *rows, klift_model **model);
/* Trained on the first CODED_TRAINED rows, of k classes. */
klift_model *coded_model(int64_t k, const char *code, const char *bits, const char *decode);
/* Of all rows. */
void coded_predict(const klift_model *model, int what, const char *threads, double *out);

#endif
