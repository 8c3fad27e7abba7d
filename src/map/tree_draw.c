/*
 * tree_draw.c - what the seed decides about the steps of a tree: signs of leaves and nodes, permutations, offsets and places of two leaves,
 * features that are kept. What is drawn for a step depends on its number alone.
 */
#include "map/tree.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { MANY = 256 }; /* coordinates of a leaf */

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
    KL_TRY(kl_scatter_new(columns, (2 * leaf + KL_TREE_APART) / KL_SCATTER_GROUP, &step->scatter));
    for (int64_t j = 0; j < columns; j++) {
        int64_t at = step->place[j];
        float re = step->leaf[1].re[at], im = step->leaf[1].im[at];
        step->scatter.code[j] = kl_scatter_code(im != 0 ? leaf + KL_TREE_APART + at : at, re + im < 0);
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

klift_status kl_tree_draw_step(kl_map *map, int64_t i)
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
