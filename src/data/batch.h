/* batch.h - the currency: a view of rows, dense or CSR, with targets, labels and weights; owns nothing. */
#ifndef KL_BATCH_H
#define KL_BATCH_H

#include "base/error.h"

#include <stdbool.h>

typedef klift_batch kl_batch;

/* Rows first .. first+count-1 of batch. */
kl_batch kl_batch_part(const kl_batch *batch, int64_t first, int64_t count);
/* A caller's batch is usable: shapes, ascending columns in range, finite values, targets and weights. Messages name
 * the row and column, both counted from 0, after `what`. */
klift_status kl_batch_check(const kl_batch *batch, const char *what);
/* The same in two parts: everything but the entries of x, then those of some rows, which messages count from `first`. */
klift_status kl_batch_check_shape(const kl_batch *batch, const char *what);
klift_status kl_batch_check_values(const kl_batch *batch, const char *what, int64_t first);
/* Entries of a row with values: how many, their values, and their columns, NULL when every column has one. */
int64_t kl_batch_row(const kl_batch *batch, int64_t row, const int32_t **column, const float **value);
/* Key of a row's content: its nonzero (column, value) pairs; the same for dense and CSR. */
uint64_t kl_batch_row_key(const kl_batch *batch, int64_t row);
/* Row as doubles, zeros filled in: out (columns), columns >= batch->columns. */
void kl_batch_row_doubles(const kl_batch *batch, int64_t row, int64_t columns, double *out);
double kl_batch_row_norm(const kl_batch *batch, int64_t row); /* Euclidean, safe from overflow and underflow */
int64_t kl_batch_row_nonzeros(const kl_batch *batch, int64_t row); /* of a CSR batch without values: its entries */
bool kl_batch_is_sparse(const kl_batch *batch);
/* The class of a row that has a label or one number: that text, or the number's, which is written to text (KL_NUMBER_ROOM). */
const char *kl_batch_row_class(const kl_batch *batch, int64_t row, char *text);
/* One step of a 64-bit hash chain: splitmix64's finaliser over the sum of both. */
uint64_t kl_mix(uint64_t key, uint64_t value);

#endif
