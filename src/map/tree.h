/* tree.h - what the map tree is made of, for tree.c, tree_draw.c, tree_row.c and tree_moments.c. */
#ifndef KL_TREE_H
#define KL_TREE_H

#include "map/power.h"
#include "math/complex.h"
#include "math/scatter.h"

enum { KL_TREE_APART = 16 }; /* floats between parts and slots: no stride of a multiple of a page */

typedef enum {
    KL_TREE_LEAF, /* a random leaf: an SRHT of x' */
    KL_TREE_PAIR, /* two exact leaves */
    KL_TREE_SIDE, /* a node and an exact leaf */
    KL_TREE_JOIN  /* two nodes, or random leaves */
} kl_tree_kind;

typedef struct kl_tree_shape {
    bool complex;   /* signs 1, i, -1, -i; otherwise +-1 and no imaginary parts */
    bool exact;     /* a leaf is x' itself */
    int64_t leaves; /* the degree */
    int64_t leaf;   /* P: coordinates of a leaf's transform, a power of two */
    int64_t size;   /* m: coordinates of a node, a power of two */
    int64_t kept;   /* coordinates of the root that are features */
} kl_tree_shape;

typedef struct kl_tree_step {
    kl_tree_kind kind;
    kl_complex leaf[2]; /* signs of leaves (P), left and right */
    float *sign;        /* real trees: signs of the node above on this result (m), with the scales; NULL at the root */
    kl_roots roots;     /* complex trees: the same; codes NULL at the root */
    int32_t *order;     /* which coordinate of the right side meets coordinate k; NULL for two leaves without features left out */
    int32_t *place;     /* two leaves: where the columns of the right one stand (P) */
    int32_t *offset;    /* two leaves: (P) */
    kl_scatter scatter; /* two leaves of a complex tree: place and leaf[1] together; without codes where they are not */
    int32_t *left;      /* the root with features left out: which coordinates of the left side they are (kept) */
} kl_tree_step;

typedef struct kl_tree_state {
    kl_tree_shape shape;
    kl_tree_step *step; /* (steps) in the order of work: results wait on a stack of `slots` vectors */
    int64_t steps, slots;
    int64_t root_left; /* the step whose result is the left side of the root */
} kl_tree_state;

static inline bool kl_tree_is_root(const kl_tree_step *step)
{
    return step->sign == NULL && step->roots.code == NULL;
}

klift_status kl_tree_draw_step(kl_map *map, int64_t i); /* needs shape, steps, root_left and the kinds of all steps */
klift_status kl_tree_apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch);
int64_t kl_tree_scratch(const kl_map *map, int64_t rows);
/* Exact variance of z(x).z(y) over seeds. */
double kl_tree_variance(const kl_tree_state *tree, const kl_power_pair *pair);

#endif
