/* settings.h - what is computed: the public klift_spec, one table of options, checked as they are set. */
#ifndef KL_SETTINGS_H
#define KL_SETTINGS_H

#include "data/prepare.h"
#include "learn/learner.h"
#include "map/map.h"

struct klift_spec {
    char *kernel, *map, *learner; /* kernel NULL: linear for the identity map, gaussian otherwise */
    int64_t features, dim;
    kl_prepare_kind prepare;
    int task;          /* index into KL_TASK_WORDS */
    double lambda, c;  /* NaN: not given */
    double tolerance, epsilon, bias; /* parameters of the learner, NaN: as its text says */
    int cache;         /* of the learner too; 0: as its text says, float32, bf16 */
    char *path;        /* none, auto or values of C */
    int search;        /* index into KL_SEARCH_WORDS: 0 is auto */
    int folds;
    kl_code_kind code;
    int64_t bits;      /* of the code; 0: auto */
    kl_decode decode;
    bool allow_one_class, probability;
    char *class_weight; /* none, balanced or LABEL=W,... */
    double holdout;     /* share of the rows, NaN: auto */
    int64_t early_stop; /* passes, 0: none */
    char *warm_start;   /* file of a model to go on from; none */
    uint64_t seed;
    uint64_t given;     /* a bit for every setting that was made, by its place in the table */
};
#define KL_TASK_WORDS "auto|classify|regress"

extern const kl_param kl_settings_params[];

klift_status kl_settings_new(klift_spec **spec);
klift_status kl_settings_set(klift_spec *spec, const char *key, const char *value);
bool kl_settings_given(const klift_spec *spec, const char *key); /* it was set, if to its default */
void kl_settings_print(const klift_spec *spec, kl_text *text); /* items that kl_settings_set reads back */
void kl_settings_free(klift_spec *spec);
const char *kl_settings_kernel(const klift_spec *spec);
/* The learner with the parameters that are settings of their own. text is to be cleared whatever happens. */
klift_status kl_settings_learner(const klift_spec *spec, kl_text *text);
/* The task rule: text or whole numbers with at most 50 values are classes, fractions with more are regression. */
klift_status kl_settings_goal(const klift_spec *spec, const kl_survey *survey, kl_goal *goal);
kl_learn_spec kl_settings_learn(const klift_spec *spec, kl_goal goal, int64_t rows); /* rows: there will be, 0: unknown */

#endif
