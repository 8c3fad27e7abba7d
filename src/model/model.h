/* model.h - a lift and the weights on its features; what klift_model is. */
#ifndef KL_MODEL_H
#define KL_MODEL_H

#include "model/brief.h"
#include "model/lift.h"
#include "model/settings.h"

struct klift_model {
    klift_map *lift;
    char *learner;      /* canonical, NULL without weights */
    kl_weights weights; /* outputs 0: preparation and map only */
    double *carried;    /* the weights as the map carried them (map.h); NULL: scores are made of features. Made of the others, not stored */
    kl_brief brief;     /* the same in float32, for classes; not stored either */
};

/* Takes the lift and the weights (both are emptied), also on failure. */
klift_status kl_model_new(klift_map **lift, kl_weights *weights, const char *learner, klift_model **model);
/* What is made of lift and weights once, before the first scores. */
klift_status kl_model_carry(klift_model *model);
void kl_model_drop(klift_model *model); /* frees it */
/* scores (rows, outputs) */
klift_status kl_model_scores(const klift_model *model, const kl_batch *x, double *scores, klift_run *run);
/* KLIFT_USAGE when it has no probabilities */
klift_status kl_model_check_probabilities(const klift_model *model);
/* probabilities (rows, classes) */
klift_status kl_model_probabilities(const klift_model *model, const kl_batch *x, double *probabilities, klift_run *run);
/* classes (rows): indices, which kl_model_class_of says of the scores */
klift_status kl_model_classes(const klift_model *model, const kl_batch *x, double *classes, klift_run *run);
/* index of the class that scores (outputs) say */
int64_t kl_model_class_of(const klift_model *model, const double *scores);
void kl_model_describe(const klift_model *model, kl_text *json);
void kl_model_free(klift_model *model);

/* model_file.c */
klift_status kl_model_write(const klift_model *model, kl_record_writer *to);
klift_status kl_model_read(const void *bytes, int64_t count, klift_run *run, klift_model **model); /* run: its memory limit counts */
klift_status kl_model_save(const klift_model *model, const char *path);
klift_status kl_model_load(const char *path, klift_model **model);

#endif
