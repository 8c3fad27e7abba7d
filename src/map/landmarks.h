/* landmarks.h - which rows of a sample stand for all of them: how nystrom chooses. */
#ifndef KL_LANDMARKS_H
#define KL_LANDMARKS_H

#include "kernel/block.h"

/* Rows drawn between two updates of the residuals. */
enum { KL_LANDMARKS_ROUND = 64 };

typedef struct kl_landmarks {
    int64_t count;
    int64_t *row;        /* (count) of the sample, in the order in which they were chosen */
    double trace, error; /* sum of K(x, x) over the sample, and what the landmarks leave of it (rpcholesky only) */
} kl_landmarks;

/* Randomly pivoted Cholesky: at most `wanted` rows, fewer when they already explain the sample to 1e-12. */
klift_status kl_landmarks_pivoted(const kl_kernel *kernel, const kl_batch *sample, int64_t columns, int64_t wanted, const kl_random *from, klift_run *run, kl_landmarks *chosen);
int64_t kl_landmarks_bytes(int64_t rows, int64_t wanted); /* what that takes */
/* k-means++: every row with the probability of its squared distance, in the kernel's space, to the nearest one chosen. */
klift_status kl_landmarks_spread(const kl_kernel *kernel, const kl_batch *sample, int64_t columns, int64_t wanted, const kl_random *from, klift_run *run, kl_landmarks *chosen);
/* The first of a random order. */
klift_status kl_landmarks_uniform(int64_t rows, int64_t wanted, const kl_random *from, kl_landmarks *chosen);
void kl_landmarks_clear(kl_landmarks *chosen);

#endif
