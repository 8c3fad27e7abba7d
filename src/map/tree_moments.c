/*
 * tree_moments.c - the exact variance of the tree. For a pair of vectors u(x), u(y) of a node let a = <u(x), u(y)>. Five
 * expectations pass from a node's sides to its result: E|a|^2, E a^2, N = |u(x)|^2 |u(y)|^2, A = sum |u_i(x) u_i(y)|^2 and
 * B = sum (u_i(x) conj u_i(y))^2. With P_k = (H s o u(x))_k conj (H s o u(y))_k over the signs s:
 *   E|P_k|^2 = M = E|a|^2 + N - A,  E P_k^2 = R = 2 E a^2 - B     (real signs: M = R = N + 2 E a^2 - 2 A)
 * and the mean of P_k over k is a. A random permutation Pi makes pairs (Pi k, Pi l) uniform over distinct ones, so that
 * <out(x), out(y)> = mean of P_k Q_Pi(k) has E|.|^2 = E|a1|^2 E|a2|^2 + (M1 - E|a1|^2)(M2 - E|a2|^2) / (m - 1), and so on.
 */
#include "map/tree.h"

#include <math.h>

typedef struct moments {
    double absolute, square, norms, shared, turned; /* E|a|^2, E a^2, N, A, B */
} moments;

typedef struct spread {
    double absolute, square; /* M, R */
} spread;

static spread spread_of(const kl_tree_shape *t, const moments *u)
{
    if (t->complex)
        return (spread){u->absolute + u->norms - u->shared, 2 * u->square - u->turned};
    double both = u->norms + 2 * u->square - 2 * u->shared;
    return (spread){both, both};
}

/* n coordinates of `of`, drawn without replacement: the variance of their mean in units of one coordinate's. */
static double sampling(double n, double of)
{
    return of > 1 ? (of - n) / (n * (of - 1)) : 0;
}

/* A leaf that is n rows of a transform over P coordinates. */
static moments sample_leaf(const kl_tree_shape *t, const moments *x)
{
    spread p = spread_of(t, x);
    double n = (double)t->size, of = (double)t->leaf, share = sampling(n, of);
    double apart = of > 1 ? (of * x->norms - p.absolute) / (of - 1) : x->norms; /* of two different coordinates */
    return (moments){x->absolute + share * (p.absolute - x->absolute), x->square + share * (p.square - x->square), (p.absolute + (n - 1) * apart) / n,
                     p.absolute / n, p.square / n};
}

/* Two leaves: the pairs (j, j + off) of P coordinates, with as many different offsets as there are blocks. */
static moments pair_leaves(const kl_tree_shape *t, const moments *x)
{
    spread p = spread_of(t, x);
    double m = (double)t->size, leaf = (double)t->leaf, blocks = m / leaf, same = blocks <= leaf ? blocks : blocks * blocks / leaf, other = blocks * blocks - same;
    double noise = leaf > 1 ? leaf * leaf / ((leaf - 1) * m * m) * (same - other / (leaf - 1)) : 0;
    double apart = leaf > 1 ? (leaf * x->norms - p.absolute) / (leaf - 1) : x->norms;
    double norms = apart * x->norms + (p.absolute - apart) * (same * p.absolute + other * apart) * leaf / (m * m);
    return (moments){x->absolute * x->absolute + noise * (p.absolute - x->absolute) * (p.absolute - x->absolute),
                     x->square * x->square + noise * (p.square - x->square) * (p.square - x->square), norms, p.absolute * p.absolute / m, p.square * p.square / m};
}

static moments join(const kl_tree_shape *t, const moments *u, const moments *v)
{
    spread p = spread_of(t, u), q = spread_of(t, v);
    double m = (double)t->size, noise = m > 1 ? 1 / (m - 1) : 0;
    double norms = p.absolute * q.absolute / m + noise / m * (m * u->norms - p.absolute) * (m * v->norms - q.absolute);
    return (moments){u->absolute * v->absolute + noise * (p.absolute - u->absolute) * (q.absolute - v->absolute),
                     u->square * v->square + noise * (p.square - u->square) * (q.square - v->square), m > 1 ? norms : u->norms * v->norms,
                     p.absolute * q.absolute / m, p.square * q.square / m};
}

double kl_tree_variance(const kl_tree_state *tree, const kl_power_pair *pair)
{
    const kl_tree_shape *t = &tree->shape;
    double square = pair->s * pair->s, m = (double)t->size;
    moments x = {square, square, pair->norms, pair->shared, pair->shared}, stack[64]; /* as deep as the logarithm of the degree */
    int top = 0;
    for (int64_t i = 0; i < tree->steps; i++) {
        kl_tree_kind kind = tree->step[i].kind;
        top -= kind == KL_TREE_JOIN ? 2 : kind == KL_TREE_SIDE ? 1 : 0;
        if (kind == KL_TREE_LEAF)
            stack[top] = sample_leaf(t, &x);
        else if (kind == KL_TREE_PAIR)
            stack[top] = pair_leaves(t, &x);
        else
            stack[top] = join(t, &stack[top], kind == KL_TREE_SIDE ? &x : &stack[top + 1]);
        top++;
    }
    moments root = stack[0];
    if (t->kept < t->size) { /* A and B of the root are mean squares of its coordinates' products, over m */
        double share = sampling((double)t->kept, m);
        root.absolute += share * (m * root.shared - root.absolute);
        root.square += share * (m * root.turned - root.square);
    }
    return 0.5 * (root.absolute + root.square) - pow(square, (double)t->leaves);
}
