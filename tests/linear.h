/* linear.h - what tests of linear machines share: rows of two classes or of numbers, training on them as they are, and the weights. */
#ifndef TEST_LINEAR_H
#define TEST_LINEAR_H

#include "learn/dual.h"

/* x (n, d) as SYN; sign (n) of x_0 + x_1 / 2 and noise; target (n) twice that, with less noise. */
void linear_problem(int64_t n, int64_t d, float *x, double *sign, double *target);
/* The linear kernel, C = 3; NULL when it fails. */
klift_model *linear_train(const char *learner, const char *task, const klift_batch *rows, const char *threads, const char *memory);
/* With settings as key, value, key, value, ..., NULL. */
klift_status linear_train_set(const klift_batch *rows, const char *const *setting, klift_run *run, klift_model **model);
/* w (outputs, d + 1), the intercept last; at most 8 columns and outputs */
void linear_weights(const klift_model *model, int64_t d, int64_t outputs, double *w);
/* |w|^2 / 2 + c sum loss of dense rows and their targets, epsilon = 0.1 */
double linear_objective(kl_loss loss, double c, const klift_batch *rows, const double *w, double b);

#endif
