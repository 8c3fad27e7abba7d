/*
 * tree.c - (gamma <x, y> + offset)^degree = <x', y'>^r as a binary tree of products (after Ahle et al. 2020): r leaves are x'
 * itself, padded with zeros to a power of two, which is exact; a node takes vectors u, v of m coordinates to
 *   a o Pi b / sqrt(m),  a = H(s1 o u),  b = H(s2 o v)
 * with fresh signs from {1, i, -1, -i} (or +-1) and a fresh permutation Pi. z = (Re, Im) of the root, m = D / 2. Errors of
 * the nodes add up instead of multiplying: near the limit (K(x,x) K(y,y) + K^2) / D of any data-free map. tree_moments.c has
 * the exact variance. A leaf's transform repeats after P coordinates, P >= d' a power of two: that of size P is made. A node of
 * two leaves pairs t1[k mod P] with t2[(k + off[k div P]) mod P], off distinct: exact once m is a multiple of P^2. The columns of
 * its second leaf have random places, which is to the moments what a permutation behind the transform would be.
 * D / 2 < d' (columns of x'): real signs, m = D. d' > m: every leaf is an independent SRHT of x' to m coordinates.
 */
#include "map/tree.h"

#include "base/memory.h"
#include "map/power.h"
#include "math/complex.h"
#include "math/hadamard.h"
#include "math/scatter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNS };
enum { AUTO, COMPLEX, REAL };
enum { APART = 16, /* floats between parts and slots: no stride of a multiple of a page */ MANY = 256, FEW = 4 };

static const kl_param params[] = {
    {"signs", KL_WORD, "auto", 0, 0, false, "auto|complex|real", "of the nodes; complex has less variance; auto: complex, real when features / 2 is below the columns"},
    {0}};

static bool is_complex(const kl_map *map)
{
    int word = map->value[SIGNS].word;
    return word == COMPLEX || (word == AUTO && (map->features + 1) / 2 >= kl_power_columns(map));
}

static kl_tree_shape shape_of(const kl_map *map)
{
    int64_t columns = kl_power_columns(map);
    bool complex = is_complex(map);
    kl_tree_shape t = {.complex = complex, .kept = complex ? (map->features + 1) / 2 : map->features, .leaves = kl_power_degree(map)};
    t.size = kl_hadamard_size(t.kept);
    t.leaf = kl_hadamard_size(columns);
    t.exact = columns <= t.size;
    if (t.leaves == 1) /* no transform behind it: the SRHT goes to the features at once */
        t.size = t.kept;
    return t;
}

/* The steps in the order of work: a subtree of n leaves has the largest power of two below n on its left. */
static int64_t plan(const kl_tree_shape *t, int64_t leaves, kl_tree_kind *kind)
{
    int64_t left = 1, steps;
    if (leaves == 1 || (leaves == 2 && t->exact)) {
        *kind = leaves == 1 ? KL_TREE_LEAF : KL_TREE_PAIR;
        return 1;
    }
    while (2 * left < leaves)
        left *= 2;
    steps = plan(t, left, kind);
    if (leaves - left > 1 || !t->exact)
        steps += plan(t, leaves - left, kind + steps);
    kind[steps] = leaves - left == 1 && t->exact ? KL_TREE_SIDE : KL_TREE_JOIN;
    return steps + 1;
}

/* How many vectors wait at most. */
static int64_t slots_of(const kl_tree_state *s)
{
    int64_t now = 0, most = 0;
    for (int64_t i = 0; i < s->steps; i++) {
        now += s->step[i].kind == KL_TREE_JOIN ? -1 : s->step[i].kind == KL_TREE_SIDE ? 0 : 1;
        most = now > most ? now : most;
    }
    return most;
}

static klift_status draw_signs(kl_map *map, int64_t row, int64_t count, double scale, kl_complex *sign)
{
    const kl_tree_state *s = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_SIGN};
    KL_TRY(kl_new(&sign->re, count, sizeof *sign->re, "signs"));
    if (s->shape.complex) {
        KL_TRY(kl_new(&sign->im, count, sizeof *sign->im, "signs"));
        kl_random_roots(&from, (uint32_t)row, count, sign->re, sign->im);
    } else
        kl_random_signs(&from, (uint32_t)row, count, sign->re);
    for (int64_t i = 0; i < count; i++) {
        sign->re[i] *= (float)scale;
        if (s->shape.complex)
            sign->im[i] *= (float)scale;
    }
    return KLIFT_OK;
}

/* Those of a node, on a result of `size` coordinates. */
static klift_status draw_node(kl_map *map, int64_t i, double scale)
{
    const kl_tree_state *s = map->state;
    kl_tree_step *step = &s->step[i];
    kl_complex sign = {0};
    klift_status status = KLIFT_OK;
    KL_GO(draw_signs(map, 4 * i + 2, s->shape.size, s->shape.complex ? 1 : scale, &sign));
    if (s->shape.complex) {
        KL_GO(kl_new(&step->roots.code, s->shape.size, sizeof *step->roots.code, "signs"));
        step->roots.scale = (float)scale;
        for (int64_t k = 0; k < s->shape.size; k++)
            step->roots.code[k] = (uint8_t)(sign.re[k] + sign.im[k] > 0 ? sign.im[k] != 0 : 2 + (sign.im[k] != 0));
    } else {
        step->sign = sign.re;
        sign.re = NULL;
    }
done:
    kl_free(sign.re);
    kl_free(sign.im);
    return status;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Which coordinates of the root are features: a random subset, so that its variance is that of a sample. */
static klift_status draw_kept(kl_map *map, int32_t **kept)
{
    const kl_tree_state *s = map->state;
    kl_random from = {map->seed, map->stream, KL_DRAW_ORDER};
    KL_TRY(kl_new(kept, s->shape.size, sizeof **kept, "features"));
    kl_random_permutation(&from, (uint32_t)(2 * s->steps), s->shape.size, *kept);
    qsort(*kept, (size_t)s->shape.kept, sizeof **kept, ascending);
    return KLIFT_OK;
}

/* Offsets of the blocks of a product of two leaves: (P), all different, in random order; but where there are many, multiples of 8 come first, so that vectors meet
 * whole vectors. */
static klift_status draw_offsets(kl_map *map, int64_t i)
{
    const kl_tree_state *s = map->state;
    kl_tree_step *step = &s->step[i];
    kl_random from = {map->seed, map->stream, KL_DRAW_ORDER};
    int64_t leaf = s->shape.leaf, first = 0;
    int32_t *order = NULL;
    klift_status status = KLIFT_OK;
    KL_GO(kl_new(&order, leaf, sizeof *order, "permutations"));
    KL_GO(kl_new(&step->offset, leaf, sizeof *step->offset, "permutations"));
    kl_random_permutation(&from, (uint32_t)(s->steps + i), leaf, order);
    for (int whole = leaf >= MANY; whole >= 0; whole--)
        for (int64_t k = 0; k < leaf; k++)
            if (leaf < MANY || (order[k] % 8 == 0) == (whole == 1))
                step->offset[first++] = order[k];
done:
    kl_free(order);
    return status;
}

/* Where coordinate k of the right side comes from: index (count), for the coordinates kept[k], or k when kept is NULL. */
static klift_status draw_order(kl_map *map, int64_t i, const int32_t *kept)
{
    const kl_tree_state *s = map->state;
    const kl_tree_shape *t = &s->shape;
    kl_tree_step *step = &s->step[i];
    kl_random from = {map->seed, map->stream, KL_DRAW_ORDER};
    int32_t *order = NULL;
    int64_t count = kept != NULL ? t->kept : t->size, length = step->kind == KL_TREE_PAIR || step->kind == KL_TREE_LEAF ? t->leaf : t->size;
    klift_status status = KLIFT_OK;
    KL_GO(kl_new(&order, length, sizeof *order, "permutations"));
    kl_random_permutation(&from, (uint32_t)i, length, order);
    if (step->kind == KL_TREE_PAIR)
        KL_GO(draw_offsets(map, i));
    if (step->kind == KL_TREE_PAIR) {
        step->place = order;
        order = NULL;
    }
    if (step->kind == KL_TREE_PAIR && kept == NULL)
        goto done; /* the blocks move by their offsets */
    KL_GO(kl_new(&step->order, count, sizeof *step->order, "permutations"));
    for (int64_t k = 0; k < count; k++) {
        int64_t at = kept != NULL ? kept[k] : k;
        if (step->kind == KL_TREE_PAIR)
            step->order[k] = (int32_t)((at + step->offset[at / t->leaf % t->leaf]) % t->leaf);
        else
            step->order[k] = step->kind == KL_TREE_SIDE ? order[at] % (int32_t)t->leaf : order[at];
    }
done:
    kl_free(order);
    return status;
}

/* Places and signs of the second of two leaves in one plan, which replaces them. */
static klift_status plan_second(kl_map *map, int64_t i)
{
    const kl_tree_state *s = map->state;
    kl_tree_step *step = &s->step[i];
    int64_t leaf = s->shape.leaf, columns = kl_power_columns(map);
    if (!s->shape.complex || leaf < KL_SCATTER_GROUP || columns > KL_SCATTER_WIDEST)
        return KLIFT_OK;
    KL_TRY(kl_scatter_new(columns, (2 * leaf + APART) / KL_SCATTER_GROUP, &step->scatter));
    for (int64_t j = 0; j < columns; j++) {
        int64_t at = step->place[j];
        float re = step->leaf[1].re[at], im = step->leaf[1].im[at];
        step->scatter.code[j] = kl_scatter_code(im != 0 ? leaf + APART + at : at, re + im < 0);
    }
    KL_TRY(kl_scatter_sort(&step->scatter));
    kl_free(step->place);
    kl_free(step->leaf[1].re);
    kl_free(step->leaf[1].im);
    step->place = NULL;
    step->leaf[1] = (kl_complex){0};
    return KLIFT_OK;
}

/* At the root with features left out, the left side is picked too. */
static klift_status draw_left(kl_map *map, int64_t i, const int32_t *kept)
{
    const kl_tree_state *s = map->state;
    kl_tree_step *step = &s->step[i];
    KL_TRY(kl_new(&step->left, s->shape.kept, sizeof *step->left, "features"));
    for (int64_t k = 0; k < s->shape.kept; k++)
        step->left[k] = step->kind == KL_TREE_PAIR ? kept[k] % (int32_t)s->shape.leaf : kept[k];
    return KLIFT_OK;
}

static klift_status draw_step(kl_map *map, int64_t i)
{
    const kl_tree_state *s = map->state;
    const kl_tree_shape *t = &s->shape;
    kl_tree_step *step = &s->step[i];
    bool root = i == s->steps - 1, leaf = step->kind == KL_TREE_PAIR || step->kind == KL_TREE_LEAF;
    double node = 1 / sqrt((double)t->size), last = 1 / sqrt((double)t->kept);
    int32_t *kept = NULL;
    klift_status status = KLIFT_OK;
    /* the scale of a node is in the signs behind it, that of the root in those of its left side */
    if (leaf)
        KL_GO(draw_signs(map, 4 * i, t->leaf, root ? last : 1, &step->leaf[0]));
    if (step->kind == KL_TREE_PAIR || step->kind == KL_TREE_SIDE)
        KL_GO(draw_signs(map, 4 * i + 1, t->leaf, 1, &step->leaf[1]));
    if (!root)
        KL_GO(draw_node(map, i, i == s->root_left ? node * last : node));
    if (root && t->kept < t->size) {
        KL_GO(draw_kept(map, &kept));
        KL_GO(draw_left(map, i, kept));
    }
    KL_GO(draw_order(map, i, kept));
    if (step->kind == KL_TREE_PAIR)
        KL_GO(plan_second(map, i));
done:
    kl_free(kept);
    return status;
}

/* The step whose result is the left side of the root: the last one before the right side's first. */
static int64_t find_root_left(const kl_tree_state *s)
{
    int64_t i = s->steps - 2, open = 0;
    if (s->steps < 2 || s->step[s->steps - 1].kind == KL_TREE_SIDE)
        return i;
    for (open = 1; open > 0; i--) /* backwards over one whole subtree */
        open += s->step[i].kind == KL_TREE_JOIN ? 1 : s->step[i].kind == KL_TREE_SIDE ? 0 : -1;
    return i;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    kl_tree_state *s = map->state;
    kl_tree_kind *kind = NULL;
    klift_status status = KLIFT_OK;
    if (kl_power_exact(map))
        return kl_map_set_outputs(map, map->features);
    s->shape = shape_of(map);
    KL_GO(kl_map_set_outputs(map, (s->shape.complex ? 2 : 1) * s->shape.kept));
    KL_GO(kl_new(&kind, 2 * s->shape.leaves, sizeof *kind, "a tree"));
    KL_GO(kl_new(&s->step, 2 * s->shape.leaves, sizeof *s->step, "a tree"));
    s->steps = plan(&s->shape, s->shape.leaves, kind);
    for (int64_t i = 0; i < s->steps; i++)
        s->step[i].kind = kind[i];
    s->slots = slots_of(s);
    s->root_left = find_root_left(s);
    for (int64_t i = 0; i < s->steps; i++) {
        KL_GO(kl_run_check(run));
        KL_GO(draw_step(map, i));
    }
done:
    kl_free(kind);
    return status;
}

/* Parts of the scratch: complex numbers of a length, real ones where the tree is real. */
typedef struct work {
    float *row;                   /* x' (leaf) */
    kl_complex placed;            /* with its columns in random places */
    kl_complex one, two;          /* transforms of leaves (leaf), that of two with room for a copy behind it */
    kl_complex left;              /* picked at the root: (size) */
    float *pairs;                 /* what they are gathered from: (size or leaf, 2) */
    float *slots;                 /* (slots, 2, size + APART) */
} work;

static int64_t work_floats(const kl_tree_state *s)
{
    const kl_tree_shape *t = &s->shape;
    return 11 * (t->leaf + APART) + 4 * (t->size + APART) + s->slots * 2 * (t->size + APART);
}

static kl_complex take(float **next, int64_t count)
{
    kl_complex c = {*next, *next + count + APART};
    *next += 2 * (count + APART);
    return c;
}

static work split(const kl_tree_state *s, void *scratch)
{
    const kl_tree_shape *t = &s->shape;
    float *next = scratch;
    work w = {.row = next};
    next += t->leaf + APART;
    w.placed = take(&next, t->leaf);
    w.one = take(&next, t->leaf);
    w.two = take(&next, 2 * t->leaf);
    w.left = take(&next, t->size);
    w.pairs = next;
    w.slots = next + 2 * (t->size + t->leaf + 2 * APART);
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

static bool is_root(const kl_tree_step *step)
{
    return step->sign == NULL && step->roots.code == NULL;
}

/* out = a o b o the signs behind the step, from its coordinate `first` on; without signs at the root. */
static void multiply(const kl_tree_shape *t, const kl_tree_step *step, int64_t first, int64_t n, kl_complex a, kl_complex b, kl_complex out)
{
    if (t->complex) {
        kl_roots roots = {is_root(step) ? NULL : step->roots.code + first, step->roots.scale};
        kl_complex_multiply(n, a, b, is_root(step) ? NULL : &roots, out);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        out.re[k] = a.re[k] * b.re[k];
    for (int64_t k = 0; !is_root(step) && k < n; k++)
        out.re[k] *= step->sign[first + k];
}

/* The same with b[k] = from[index[k]], from (count), k < n; without a when a.re is NULL. */
static void gather(const kl_tree_shape *t, const kl_tree_step *step, const work *w, int64_t n, kl_complex a, const int32_t *index, int64_t count, kl_complex from, kl_complex out)
{
    if (t->complex) {
        kl_complex_gather(n, a, index, count, from, w->pairs, is_root(step) ? NULL : &step->roots, out);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        out.re[k] = (a.re != NULL ? a.re[k] : 1) * from.re[index[k]];
    for (int64_t k = 0; !is_root(step) && k < n; k++)
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
    float *re = w->slots + at * 2 * (s->shape.size + APART);
    return (kl_complex){re, re + s->shape.size + APART};
}

/* One step; its result, already with the signs and the transform of the node above, is in out. */
static void apply_step(const kl_tree_state *s, const kl_tree_step *step, const work *w, kl_complex a, kl_complex b, kl_complex out)
{
    const kl_tree_shape *t = &s->shape;
    bool pair = step->kind == KL_TREE_PAIR, root = is_root(step);
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

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    if (kl_power_exact(map))
        return kl_power_apply_exact(map, x, z);
    work w = split(map->state, scratch);
    for (int64_t i = 0; i < x->rows; i++)
        KL_TRY(apply_row(map, x, i, z->dense + i * z->stride, &w));
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    if (kl_power_exact(map))
        return 0;
    kl_tree_shape t = shape_of(map);
    int64_t leaves = t.leaves * (t.complex ? 2 : 1) * t.leaf, inner = 2 * (t.leaves - 1) * (t.complex ? 2 : 1) * t.size;
    int64_t orders = t.leaves * (t.leaf > t.size ? t.leaf : t.size) * 2 + 3 * t.size + t.leaves * 2 * t.leaf;
    return (leaves + inner + orders) * (int64_t)sizeof(float) + 2 * t.leaves * (int64_t)sizeof(kl_tree_step);
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    const kl_tree_state *s = map->state;
    (void)rows;
    return s->step == NULL ? 0 : work_floats(s) * (int64_t)sizeof(float);
}

static double variance(const kl_map *map, const kl_pair *pair)
{
    if (kl_power_exact(map))
        return 0;
    kl_power_pair p = kl_power_moments(map, pair);
    return kl_tree_variance(map->state, &p);
}

/* Additions of the transforms, six for every complex product, one for every number picked. */
static double cost(const kl_map *map, int64_t entries)
{
    const kl_tree_state *s = map->state;
    double parts = s->shape.complex ? 2 : 1, product = s->shape.complex ? 6 : 1, leaf = (double)s->shape.leaf, size = (double)s->shape.size, sum = (double)entries;
    for (int64_t i = 0; s->step != NULL && i < s->steps; i++) {
        const kl_tree_step *step = &s->step[i];
        double leaves = step->kind == KL_TREE_PAIR ? 2 : step->kind == KL_TREE_JOIN ? 0 : 1;
        sum += leaves * parts * leaf * (log2(leaf) + 1) + size * (product + parts);
        if (!is_root(step))
            sum += size * (product + parts * log2(size));
    }
    return sum;
}

static float *weights(kl_map *map, int64_t *count)
{
    kl_tree_state *s = map->state;
    *count = s->step != NULL ? s->shape.leaf : 0;
    return s->step != NULL ? s->step[0].leaf[0].re : NULL;
}

static void clear(kl_map *map)
{
    kl_tree_state *s = map->state;
    for (int64_t i = 0; s->step != NULL && i < 2 * s->shape.leaves; i++) {
        kl_tree_step *step = &s->step[i];
        for (int k = 0; k < 2; k++) {
            kl_free(step->leaf[k].re);
            kl_free(step->leaf[k].im);
        }
        kl_free(step->sign);
        kl_free(step->roots.code);
        kl_free(step->place);
        kl_free(step->offset);
        kl_scatter_clear(&step->scatter);
        kl_free(step->order);
        kl_free(step->left);
    }
    kl_free(s->step);
}

const kl_map_type kl_map_tree = {
    .name = "tree",
    .summary = "a tree of products with exact leaves: the best data-free map for powers of the inner product from degree 3 on",
    .params = params,
    .needs = KL_POWER,
    .accuracy = KL_UNBIASED,
    .state_size = sizeof(kl_tree_state),
    .draw = draw,
    .apply = apply,
    .memory = memory,
    .scratch = scratch_bytes,
    .variance = variance,
    .cost = cost,
    .weights = weights,
    .clear = clear,
};
