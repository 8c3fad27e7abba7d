/*
 * tree_row.c - a row through the steps of a tree. Leaves are transforms of x', results wait on a stack of slots, and each already has the signs and
 * the transform of the node above it; the root's is z.
 */
#include "map/tree.h"

#include "math/hadamard.h"
#include "math/micro.h"

#include <string.h>

enum { FEW = 4 }; /* blocks of a product of two leaves */

/* Parts of the scratch: complex numbers of a length, real ones where the tree is real. */
typedef struct work {
    float *row;                   /* x' (leaf) */
    kl_complex placed;            /* with its columns in random places */
    kl_complex one, two;          /* transforms of leaves (leaf), that of two with room for a copy behind it */
    kl_complex left;              /* picked at the root: (size) */
    float *pairs;                 /* what they are gathered from: (size or leaf, 2) */
    float *slots;                 /* (slots, 2, size + KL_TREE_APART) */
} work;

static int64_t work_floats(const kl_tree_state *s)
{
    const kl_tree_shape *t = &s->shape;
    return 11 * (t->leaf + KL_TREE_APART) + 4 * (t->size + KL_TREE_APART) + s->slots * 2 * (t->size + KL_TREE_APART);
}

static kl_complex take(float **next, int64_t count)
{
    kl_complex c = {*next, *next + count + KL_TREE_APART};
    *next += 2 * (count + KL_TREE_APART);
    return c;
}

static work split(const kl_tree_state *s, void *scratch)
{
    const kl_tree_shape *t = &s->shape;
    float *next = scratch;
    work w = {.row = next};
    next += t->leaf + KL_TREE_APART;
    w.placed = take(&next, t->leaf);
    w.one = take(&next, t->leaf);
    w.two = take(&next, 2 * t->leaf);
    w.left = take(&next, t->size);
    w.pairs = next;
    w.slots = next + 2 * (t->size + t->leaf + 2 * KL_TREE_APART);
    return w;
}

static void transform(const kl_tree_shape *t, int64_t n, kl_complex c)
{
    kl_hadamard(n, NULL, c.re);
    if (t->complex)
        kl_hadamard(n, NULL, c.im);
}

/* H(sign o x') over a leaf's own coordinates. */
static void transform_leaf(const kl_tree_shape *t, const float *row, const kl_complex *sign, kl_complex out)
{
    kl_hadamard_of(t->leaf, sign->re, row, out.re);
    if (t->complex)
        kl_hadamard_of(t->leaf, sign->im, row, out.im);
}

/* out = a o b o the signs behind the step, from its coordinate `first` on; without signs at the root. Not by way of another function: fields that were just put
 * together would be read as one, for which a CPU waits, and there are 48 such calls to a row. */
static void multiply(const kl_tree_shape *t, const kl_tree_step *step, int64_t first, int64_t n, kl_complex a, kl_complex b, kl_complex out)
{
    if (t->complex) {
        kl_roots roots = {kl_tree_is_root(step) ? NULL : step->roots.code + first, step->roots.scale};
        kl_micro_get()->multiply(n, a, b, kl_tree_is_root(step) ? NULL : &roots, out);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        out.re[k] = a.re[k] * b.re[k];
    for (int64_t k = 0; !kl_tree_is_root(step) && k < n; k++)
        out.re[k] *= step->sign[first + k];
}

/* The same with b[k] = from[index[k]], from (count), k < n; without a when a.re is NULL. */
static void gather(const kl_tree_shape *t, const kl_tree_step *step, const work *w, int64_t n, kl_complex a, const int32_t *index, int64_t count, kl_complex from, kl_complex out)
{
    if (t->complex) {
        kl_complex_gather(n, a, index, count, from, w->pairs, kl_tree_is_root(step) ? NULL : &step->roots, out);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        out.re[k] = (a.re != NULL ? a.re[k] : 1) * from.re[index[k]];
    for (int64_t k = 0; !kl_tree_is_root(step) && k < n; k++)
        out.re[k] *= step->sign[k];
}

static kl_complex behind(const kl_tree_shape *t, kl_complex c, int64_t k)
{
    return (kl_complex){c.re + k, t->complex ? c.im + k : NULL};
}

/* The second of two leaves: H(sign o x') with the columns in random places. */
static void transform_placed(const kl_tree_shape *t, const kl_tree_step *step, const work *w)
{
    if (step->scatter.code != NULL) {
        kl_scatter_dense(&step->scatter, w->row, w->placed.re);
        kl_hadamard_finish(t->leaf, t->leaf, w->placed, NULL, w->two);
        return;
    }
    for (int64_t j = 0; j < t->leaf; j++)
        w->placed.re[step->place[j]] = w->row[j];
    transform_leaf(t, w->placed.re, &step->leaf[1], w->two);
}

/* Two leaves: block by block, the second one turned by the block's offset. Of many blocks it stands there twice, so that each is one run. */
static void multiply_pair(const kl_tree_shape *t, const kl_tree_step *step, const work *w, const kl_complex *out)
{
    bool twice = t->size > FEW * t->leaf;
    size_t bytes = twice ? (size_t)t->leaf * sizeof(float) : 0;
    memcpy(w->two.re + t->leaf, w->two.re, bytes);
    if (t->complex)
        memcpy(w->two.im + t->leaf, w->two.im, bytes);
    for (int64_t first = 0; first < t->size; first += t->leaf) {
        int64_t offset = step->offset[first / t->leaf % t->leaf], count = twice ? t->leaf : t->leaf - offset;
        multiply(t, step, first, count, w->one, behind(t, w->two, offset), behind(t, *out, first));
        if (count < t->leaf)
            multiply(t, step, first + count, offset, behind(t, w->one, count), w->two, behind(t, *out, first + count));
    }
}

/* A random leaf: rows of its transform, times the signs that stand behind it. */
static void pick_leaf(const kl_tree_shape *t, const kl_tree_step *step, const work *w, kl_complex out)
{
    gather(t, step, w, t->size, (kl_complex){0}, step->order, t->leaf, w->one, out);
}

static kl_complex slot(const kl_tree_state *s, const work *w, int64_t at)
{
    float *re = w->slots + at * 2 * (s->shape.size + KL_TREE_APART);
    return (kl_complex){re, re + s->shape.size + KL_TREE_APART};
}

/* One step; its result, already with the signs and the transform of the node above, is in out. */
static void apply_step(const kl_tree_state *s, const kl_tree_step *step, const work *w, kl_complex a, kl_complex b, kl_complex out)
{
    const kl_tree_shape *t = &s->shape;
    bool pair = step->kind == KL_TREE_PAIR, root = kl_tree_is_root(step);
    if (step->kind == KL_TREE_LEAF || pair)
        transform_leaf(t, w->row, &step->leaf[0], w->one);
    if (pair)
        transform_placed(t, step, w);
    if (step->kind == KL_TREE_SIDE)
        transform_leaf(t, w->row, &step->leaf[1], w->two);
    if (step->kind == KL_TREE_LEAF)
        pick_leaf(t, step, w, out);
    else if (pair && step->left == NULL)
        multiply_pair(t, step, w, &out);
    else {
        bool join = step->kind == KL_TREE_JOIN, picked = step->left != NULL; /* only the root picks its left side */
        if (picked)
            gather(t, step, w, t->kept, (kl_complex){0}, step->left, pair ? t->leaf : t->size, pair ? w->one : a, w->left);
        gather(t, step, w, picked ? t->kept : t->size, picked ? w->left : a, step->order, join ? t->size : t->leaf, join ? b : w->two, out);
    }
    if (!root)
        transform(t, t->size, out);
}

static klift_status apply_row(const kl_map *map, const kl_batch *x, int64_t row, float *z, work *w)
{
    const kl_tree_state *s = map->state;
    int64_t top = 0;
    int64_t nonzeros, columns = kl_power_columns(map);
    KL_TRY(kl_power_row(map, x, row, 1, w->row, &nonzeros));
    memset(w->row + columns, 0, (size_t)(s->shape.leaf - columns) * sizeof *w->row);
    for (int64_t i = 0; i < s->steps; i++) {
        const kl_tree_step *step = &s->step[i];
        int64_t taken = step->kind == KL_TREE_JOIN ? 2 : step->kind == KL_TREE_SIDE ? 1 : 0;
        top -= taken;
        kl_complex out = i == s->steps - 1 ? (kl_complex){z, z + s->shape.kept} : slot(s, w, top);
        apply_step(s, step, w, slot(s, w, top), slot(s, w, top + 1), out);
        top++;
    }
    return KLIFT_OK;
}

klift_status kl_tree_apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    if (kl_power_exact(map))
        return kl_power_apply_exact(map, x, z);
    work w = split(map->state, scratch);
    for (int64_t i = 0; i < x->rows; i++)
        KL_TRY(apply_row(map, x, i, z->dense + i * z->stride, &w));
    return KLIFT_OK;
}

int64_t kl_tree_scratch(const kl_map *map, int64_t rows)
{
    const kl_tree_state *s = map->state;
    (void)rows;
    return s->step == NULL ? 0 : work_floats(s) * (int64_t)sizeof(float);
}
