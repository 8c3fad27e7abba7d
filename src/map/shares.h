/* shares.h - how much each column of rows without negative values counts: what maps that draw columns draw them by. */
#ifndef KL_SHARES_H
#define KL_SHARES_H

#include "base/record.h"
#include "data/survey.h"

/* share (n_in), to be freed; adds up to 1, none is 0. Half of it is the same for all columns, so that one the sample has not
 * seen is not lost; half follows the columns' means. Without a survey, or with `uniform`, all are alike. */
klift_status kl_shares_fit(const kl_survey *survey, int64_t n_in, bool uniform, float **share);
void kl_shares_save(const float *share, int64_t n_in, kl_record_writer *to);
klift_status kl_shares_load(kl_record_reader *from, int64_t n_in, float **share);
/* edge (n_in + 1): where the part of each column begins on [0, 1], and 1 at the end */
void kl_shares_edges(const float *share, int64_t n_in, double *edge);
/* The column that holds u. */
int64_t kl_shares_find(const double *edge, int64_t n_in, double u);

#endif
