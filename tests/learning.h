/* learning.h - a training of rows in memory through klift.h, and what came of it. */
#ifndef TEST_LEARNING_H
#define TEST_LEARNING_H

#include "klift.h"

#include <stdbool.h>
#include <stddef.h>

/* Settings, each NULL where it is not said; the kernel is then linear. */
typedef struct training {
    const char *kernel, *map, *features;
    const char *learner, *task, *lambda, *c, *class_weight, *seed, *search, *prepare, *allow_one_class, *probability;
    const char *warm_start, *holdout, *early_stop;
    const char *threads, *batch, *memory;
    bool once; /* the rows can be read once only */
    const klift_batch *instead; /* of the rows given, where several trainings are */
    klift_event_fn event;
    void *user;
    klift_model_fn show; /* from the first rows on */
    void *show_user;
} training;

klift_status learn_rows(const klift_batch *rows, const training *how, klift_model **model);
/* Trainings that end with this status and these words. */
typedef struct refusal {
    training how;
    klift_status status;
    const char *answer;
} refusal;
void check_refusals(const klift_batch *rows, const refusal *wrong, size_t count);
/* All trainings give the same bytes. */
void check_same_bytes(const klift_batch *rows, const training *how, int trainings);
/* Rows of few entries as they are, with their zeros, and on several threads. */
void check_sparse_bytes(const char *learner, const char *task);
/* w (outputs, columns + 1), the intercepts last: by the scores of the origin and of each unit vector. */
void linear_weights_of(const klift_model *model, int64_t columns, int64_t outputs, double *w);

#endif
