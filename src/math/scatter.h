/*
 * scatter.h - a signed scatter with the first three stages of a Walsh-Hadamard transform on the way. C[h(j)] += s(j) x_j puts
 * x_j to place t = h(j) mod 8 of a group of eight; the stages 1, 2 and 4 of the transform make x_j times row t of H8 of it. So
 * vectors s(j) x_j H8[t] are added to whole groups, and kl_hadamard_finish goes on from there.
 * Entries of a row go onto zeroed groups in ascending order of columns. For a dense row the columns are sorted by group, and
 * the groups by their number of entries: no zeroing, one store a group, no branch that depends on chance. The same bits.
 * Call order: new, codes of all columns, sort, then dense or sparse by any thread, then clear.
 */
#ifndef KL_SCATTER_H
#define KL_SCATTER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { KL_SCATTER_GROUP = 8, KL_SCATTER_WIDEST = 1 << 22 };

typedef struct kl_scatter {
    int64_t columns, groups;
    uint32_t *code;  /* (columns) group * 16 + row of kl_scatter_row */
    /* For dense rows; NULL for more columns than KL_SCATTER_WIDEST. */
    uint32_t *entry; /* (columns) in the order of `group`, ascending inside a group: column * 256 + row * 8 */
    int32_t *group;  /* (groups) times 8: those without entries first, then those with one, ... */
    int32_t *run;    /* (most + 1) how many groups have so many entries */
    int64_t most;
} kl_scatter;

extern const float kl_scatter_row[16][KL_SCATTER_GROUP]; /* the rows of H8, then their negatives */

int64_t kl_scatter_memory(int64_t columns, int64_t groups); /* bytes of a plan, about */
klift_status kl_scatter_new(int64_t columns, int64_t groups, kl_scatter *plan); /* groups < 2^28 */
static inline uint32_t kl_scatter_code(int64_t bucket, bool negative)
{
    return (uint32_t)bucket / KL_SCATTER_GROUP * 16 + (negative ? 8 : 0) + (uint32_t)bucket % KL_SCATTER_GROUP;
}
klift_status kl_scatter_sort(kl_scatter *plan);
void kl_scatter_clear(kl_scatter *plan);
/* x (groups, 8) of a dense row (columns), or of entries whose columns ascend. */
void kl_scatter_dense(const kl_scatter *plan, const float *row, float *x);
void kl_scatter_sparse(const kl_scatter *plan, int64_t count, const int32_t *column, const float *value, float *x);

#endif
