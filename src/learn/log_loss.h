/*
 * log_loss.h - the objective of the learner logistic, (1/n) sum weight loss + lambda |w|^2 / 2, and its derivatives, each by one
 * pass over the features. joint: scores of all classes in one loss, ln sum_k exp(f_k) - f_y (multinomial); otherwise every output
 * by itself, ln(1 + exp(-+f)), all in one sum.
 * Variables: w (outputs, features), then the intercepts (outputs), which lambda leaves alone. Call order: new, { look, curve }, clear.
 */
#ifndef KL_LOG_LOSS_H
#define KL_LOG_LOSS_H

#include "learn/learner.h"

typedef struct kl_log_loss {
    kl_passes *passes;
    klift_run *run;
    int64_t features, outputs;
    const double *class_of;  /* (rows) numbers of classes */
    const int64_t *output_of;/* (classes) the output that is for a class, -1: none */
    const double *weight;    /* (rows) */
    double n, lambda;        /* n: sum of the weights */
    bool joint;
    int32_t *order;          /* (passes->at_most) */
    kl_row *z;               /* (passes->at_most) */
    int64_t parts;           /* of the rows, each with sums of its own: a function of the variables only */
    double *sum;             /* (parts, variables) */
    double *loss;            /* (parts) */
    double *score;           /* (parts, 2, outputs) */
} kl_log_loss;

int64_t kl_log_loss_size(const kl_log_loss *l); /* variables */
klift_status kl_log_loss_new(kl_log_loss *l); /* the fields above order are set */
/* value and gradient (variables) at w */
klift_status kl_log_loss_look(kl_log_loss *l, const double *w, double *value, double *gradient);
/* product (variables) = second derivative at w, times s */
klift_status kl_log_loss_curve(kl_log_loss *l, const double *w, const double *s, double *product);
void kl_log_loss_clear(kl_log_loss *l);

#endif
