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
#include "math/hadamard.h"

#include <math.h>

enum { SIGNS };
enum { AUTO, COMPLEX, REAL };

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
        KL_GO(kl_tree_draw_step(map, i));
    }
done:
    kl_free(kind);
    return status;
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
        if (!kl_tree_is_root(step))
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
    .apply = kl_tree_apply,
    .memory = memory,
    .scratch = kl_tree_scratch,
    .variance = variance,
    .cost = cost,
    .weights = weights,
    .clear = clear,
};
