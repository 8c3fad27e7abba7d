/*
 * directions.h - random directions times given lengths, the frequencies of maps of waves: orthogonal in blocks, by products of
 * sign changes and Walsh-Hadamard transforms or by dense rotations, or independent of each other.
 * Rows of a block of H D H D H D live in all P = max(32, power of two >= n_in) coordinates, of which x has the first n_in.
 */
#ifndef KL_DIRECTIONS_H
#define KL_DIRECTIONS_H

#include "map/map.h"
#include "math/product.h"

typedef enum { KL_DIRECTIONS_HADAMARD, KL_DIRECTIONS_DENSE, KL_DIRECTIONS_INDEPENDENT } kl_directions_kind;

enum { KL_DIRECTIONS_SMALLEST = 32 }; /* up to here rows of H D H D H D are not uniform, and dense ones cost less */

typedef struct kl_directions {
    int64_t count;
    int64_t block;       /* directions that are orthogonal to each other: P, n_in, or 1 */
    kl_panels frequency; /* dense, independent: (count, n_in) in turns */
    float *sign;         /* hadamard: (blocks, 3, P) */
    float *length;       /* hadamard: (count), everything that multiplies y, in turns */
} kl_directions;

/* Coordinates that a direction of unit length is uniform in: P, or n_in. */
int64_t kl_directions_freedom(kl_directions_kind kind, int64_t n_in);
/* length (count) in turns; the directions are those of the map's seed and stream */
klift_status kl_directions_draw(kl_directions *d, const kl_map *map, kl_directions_kind kind, int64_t count, const double *length, klift_run *run);
int64_t kl_directions_memory(kl_directions_kind kind, int64_t n_in, int64_t count);
int64_t kl_directions_scratch(const kl_directions *d, int64_t n_in);
/* The turns w_j.x of every row, a part of them at a time, to the function that takes them. */
void kl_directions_apply(const kl_directions *d, const kl_batch *x, const kl_product_out *to, void *scratch);
double kl_directions_together(const kl_directions *d); /* ordered pairs of different frequencies that share a block */
double kl_directions_cost(const kl_directions *d, int64_t entries);
float *kl_directions_weights(const kl_directions *d, int64_t *count);
void kl_directions_clear(kl_directions *d);

#endif
