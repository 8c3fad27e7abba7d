/*
 * class_weight.h - factors on the weights of rows by their class: none, given as LABEL=W,LABEL=W, or balanced, n / (k n_c), with n,
 * n_c the sums of weights of all rows and of the class, and k the classes that weigh something (scikit-learn's, for weights of 1).
 * Call order: read; balance once the classes are counted; of per class; check when all classes are known.
 */
#ifndef KL_CLASS_WEIGHT_H
#define KL_CLASS_WEIGHT_H

#include "base/text.h"
#include "data/names.h"

#include <stdbool.h>

typedef struct kl_class_weight {
    bool balanced;  /* and not yet known: 1 for every class */
    bool given;     /* by label: every one of them must occur */
    kl_names label; /* as written */
    double *weight; /* (label) */
    int64_t room;
} kl_class_weight;

klift_status kl_class_weight_read(const char *text, kl_class_weight *c); /* c may be cleared whatever happens */
klift_status kl_class_weight_check_text(const char *text);
/* Ends `balanced`: sum (classes) are the weights of the rows of each. */
klift_status kl_class_weight_balance(kl_class_weight *c, const kl_names *classes, const double *sum);
double kl_class_weight_of(const kl_class_weight *c, const char *class_name); /* 1 for a class without one */
klift_status kl_class_weight_check(const kl_class_weight *c, const kl_names *classes);
bool kl_class_weight_same(const kl_class_weight *a, const kl_class_weight *b); /* in any order and spelling of the labels */
void kl_class_weight_print(const kl_class_weight *c, kl_text *text);
void kl_class_weight_clear(kl_class_weight *c);

#endif
