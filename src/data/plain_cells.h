/*
 * plain_cells.h - many cells of a table at once, for CPUs that can: where they end, and the numbers in those that are
 * plain. A cell that is not plain ends the run; whoever asked reads it by plain_number.h or base/number.h, which give the
 * same bits and are the reference.
 */
#ifndef KL_PLAIN_CELLS_H
#define KL_PLAIN_CELLS_H

#include <stdint.h>

/* Readable bytes that a run of numbers needs before its first cell, and marks written past the last one. */
enum { KL_CELLS_LEAD = 32, KL_CELLS_SPARE = 64 };
enum { KL_CELLS_EXACT = 15 }; /* digits that are an exact double */
enum { KL_CELLS_LEAST = 4 }; /* shorter runs are read as soon one by one */

typedef struct kl_plain_cells {
    const char *name; /* of the table in math/micro.h that goes with it */
    /* Offsets of every delimiter and every newline of text (count), ascending, into end (count + KL_CELLS_SPARE); returns
     * how many, and how many newlines. Reads 63 bytes past the text. */
    int64_t (*mark)(const char *text, int64_t count, char delimiter, uint32_t *end, int64_t *newlines);
    /* Cell j is text[end[j - 1] + 1 .. end[j] - 1]: x (count) gets the first cells that are numbers; returns how many. With last the last cell, of at most
     * KL_CELLS_EXACT bytes, goes there as a double, not to x. */
    int64_t (*read)(const char *text, const uint32_t *end, int64_t count, char point, float *x, double *last);
} kl_plain_cells;

const kl_plain_cells *kl_plain_cells_get(void);             /* NULL: this CPU has none, or KLIFT_SIMD=portable */
const kl_plain_cells *kl_plain_cells_at(int64_t index);     /* those this CPU can run, best first; NULL at the end */

#endif
