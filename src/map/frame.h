/*
 * frame.h - rows as a series sees them: a kernel of differences is expanded about the mean of the sample, where its series is
 * shortest; lengths are in units of the longest row, so that no power of them leaves the range of numbers.
 */
#ifndef KL_FRAME_H
#define KL_FRAME_H

#include "kernel/kernel.h"
#include "map/moments.h"

typedef struct kl_frame {
    const kl_kernel *kernel;
    int64_t n_in;
    double *mean;  /* (n_in) subtracted from rows; NULL: nothing is */
    double length; /* of the longest row */
} kl_frame;

/* Pairs of sample rows; weight is what the kernel's prefactors put on their squared errors. */
typedef struct kl_frame_pairs {
    int64_t count;
    kl_moments *pair;
    double *weight;
} kl_frame_pairs;

/* mean, length and pairs from the survey's sample; without a survey the longest row is 1 and there are no pairs */
klift_status kl_frame_fit(kl_frame *frame, const kl_survey *survey, kl_frame_pairs *pairs);
/* log p(|x|^2), 0 for a kernel without a prefactor; square in the units of the data */
double kl_frame_prefactor(const kl_frame *frame, double square);
/* Moments of two rows, as they came (n_in); answers the log of both prefactors. */
double kl_frame_measure(const kl_frame *frame, const double *x, const double *y, kl_moments *m);
void kl_frame_pairs_clear(kl_frame_pairs *pairs);
void kl_frame_clear(kl_frame *frame);

#endif
