/*
 * hadamard_body.h - the passes of the Walsh-Hadamard transform for one kind of vector; hadamard_avx2.c and hadamard_avx512.c
 * include it, each after defining TARGET, VECTOR, LOAD, STORE, ADD, SUBTRACT, MINUS (the same by another unit), MULTIPLY, LANES and
 * load_four(), load_eight(), load_one(), one(), two() and eight(), the stages inside a vector, load_four() with the load and the signs.
 *
 * A pass takes 2, 4 or 8 vectors a step of h apart through one, two or three stages for one load and store each. Stages inside a vector
 * want other units of the CPU than those between vectors, so every pass has one of them: 4 before its own, 1 or 2 behind. What is
 * larger than the nearest cache is first transformed block by block. The order of the stages decides the rounding: it is that of the reference
 * (kl_hadamard_order), so all tables give the same bits. In x that has the stages 1, 2 and 4 already (`bare`) they ascend.
 */
enum { BLOCK = KL_HADAMARD_BLOCK, MOST = 8 };

/* What a pass does besides; constants where it is called, as are the stages. FIRST: from h = 8 on, where vectors of 16 hold both partners. */
enum { FOUR = 1, ONE = 2, TWO = 4, FIRST = 8, ONE_BEFORE = 16 };

/* One stage between `count` vectors, those a step apart being partners. Adders have enough to do without the last of three stages'
 * differences. */
TARGET INLINE void stage(int count, int step, VECTOR *v)
{
    UNROLL
    for (int i = 0; i < count / 2; i++) {
        int low = i / step * 2 * step + i % step;
        VECTOR a = v[low], b = v[low + step];
        v[low] = ADD(a, b);
        v[low + step] = step == 4 ? MINUS(a, b) : SUBTRACT(a, b);
    }
}

/* `count`, 1 to MOST, is a constant where it is called: the vectors stay in registers. */
TARGET INLINE void between(int count, VECTOR *v)
{
    if (count >= 2)
        stage(count, 1, v);
    if (count >= 4)
        stage(count, 2, v);
    if (count >= 8)
        stage(count, 4, v);
}

/* A vector on its way in. */
TARGET INLINE VECTOR take(int also, const float *sign, const float *from)
{
    VECTOR v;
    if (also & FOUR)
        v = load_four(sign, from);
    else if (also & ONE_BEFORE)
        v = load_one(from);
    else if (also & FIRST && LANES > 8 && sign == NULL)
        return load_eight(from);
    else if (sign != NULL)
        v = MULTIPLY(LOAD(from), LOAD(sign));
    else
        v = LOAD(from);
    return also & FIRST && LANES > 8 ? eight(v) : v;
}

TARGET INLINE VECTOR finished(int also, VECTOR v)
{
    if (also & ONE)
        v = one(v);
    return also & TWO ? two(v) : v;
}

/* The stages h, 2h .. of all n values, with those that `also` names. */
TARGET INLINE void pass(int also, int stages, int64_t n, int64_t h, const float *sign, const float *from, float *x, kl_waiting *waiting)
{
    int count = also & FIRST && LANES > 8 ? (1 << stages) / 2 : 1 << stages;
    int64_t step = also & FIRST ? LANES : h;
    for (int64_t i = 0; i < n; i += count * step)
        for (int64_t j = i; j < i + step; j += LANES) {
            VECTOR v[MOST];
            UNROLL
            for (int k = 0; k < count; k++)
                v[k] = take(also, sign != NULL ? sign + j + k * step : NULL, from + j + k * step);
            between(count, v);
            UNROLL
            for (int k = 0; k < count; k++)
                STORE(x + j + k * step, finished(also, v[k]));
            if (waiting != NULL)
                BESIDE(waiting, count);
        }
}

TARGET INLINE void one_pass(bool bare, int stages, const float *sign, const float *from, float *x, kl_waiting *waiting)
{
    pass(FIRST | (bare ? 0 : FOUR | ONE | TWO), stages, (int64_t)8 << stages, 8, sign, from, x, waiting);
}

TARGET INLINE void two_passes(bool bare, int first, int second, const float *sign, const float *from, float *x, kl_waiting *waiting)
{
    int64_t n = (int64_t)8 << (first + second);
    pass(FIRST | (bare ? 0 : ONE), first, n, 8, sign, from, x, waiting);
    pass(bare ? 0 : FOUR | TWO, second, n, (int64_t)8 << first, NULL, x, x, waiting);
}

TARGET INLINE void three_passes(bool bare, int first, int second, int third, const float *sign, const float *from, float *x, kl_waiting *waiting)
{
    int64_t n = (int64_t)8 << (first + second + third);
    pass(FIRST, first, n, 8, sign, from, x, waiting);
    pass(bare ? 0 : ONE_BEFORE | TWO, second, n, (int64_t)8 << first, NULL, x, x, waiting);
    pass(bare ? 0 : FOUR, third, n, (int64_t)8 << (first + second), NULL, x, x, waiting);
}

/* All stages of a block of n values, as kl_hadamard_order has them. */
TARGET INLINE void block(bool bare, int64_t n, const float *sign, const float *from, float *x, kl_waiting *waiting)
{
    switch (n / 8) {
    case 1: if (LANES == 8) one_pass(bare, 0, sign, from, x, waiting); break; /* wider vectors leave it to the reference */
    case 2: one_pass(bare, 1, sign, from, x, waiting); break;
    case 4: one_pass(bare, 2, sign, from, x, waiting); break;
    case 8: one_pass(bare, 3, sign, from, x, waiting); break;
    case 16: two_passes(bare, 2, 2, sign, from, x, waiting); break;
    case 32: two_passes(bare, 2, 3, sign, from, x, waiting); break;
    case 64: two_passes(bare, 3, 3, sign, from, x, waiting); break;
    case 128: three_passes(bare, 2, 2, 3, sign, from, x, waiting); break;
    case 256: three_passes(bare, 3, 2, 3, sign, from, x, waiting); break;
    default: three_passes(bare, 3, 3, 3, sign, from, x, waiting); break;
    }
}

/* The stages h .. last / 2 of all n values. */
TARGET INLINE void beyond(int64_t h, int64_t last, int64_t n, float *x, kl_waiting *waiting)
{
    for (; h * 16 == last || h * 4 == last; h *= 4)
        pass(0, 2, n, h, NULL, x, x, waiting);
    for (; h * 8 <= last; h *= 8)
        pass(0, 3, n, h, NULL, x, x, waiting);
    if (h * 4 == last)
        pass(0, 2, n, h, NULL, x, x, waiting);
    else if (h * 2 == last)
        pass(0, 1, n, h, NULL, x, x, waiting);
}

/* The stages up to `last`, n or less. */
TARGET INLINE void transform(bool bare, int64_t last, int64_t n, const float *sign, const float *from, float *x, kl_waiting *waiting)
{
    int64_t size = last < BLOCK ? last : BLOCK;
    if (sign != NULL)
        for (int64_t i = 0; i < n; i += size)
            block(bare, size, sign + i, from + i, x + i, waiting);
    else
        for (int64_t i = 0; i < n; i += size)
            block(bare, size, NULL, from + i, x + i, waiting);
    if (size < last)
        beyond(size, last, n, x, waiting);
}

TARGET INLINE void hadamard(int64_t n, const float *sign, const float *from, float *x, kl_waiting *waiting)
{
    if (n < LANES)
        kl_micro_portable.hadamard(n, sign, from, x);
    else
        transform(false, n, n, sign, from, x, waiting);
}

/* The stages n / 4 and n / 2 of both parts of x, whose results go into the product at once: out = a o H x, or H x without a. */
TARGET INLINE void last_product(int64_t n, kl_complex x, const kl_complex *a, kl_complex out)
{
    for (int64_t j = 0; j < n / 4; j += LANES) {
        VECTOR re[MOST], im[MOST];
        UNROLL
        for (int k = 0; k < 4; k++) {
            re[k] = LOAD(x.re + j + k * (n / 4));
            im[k] = LOAD(x.im + j + k * (n / 4));
        }
        between(4, re);
        between(4, im);
        UNROLL
        for (int k = 0; a != NULL && k < 4; k++) { /* all loads before the first store, which they may be a page apart from */
            VECTOR left = LOAD(a->re + j + k * (n / 4)), right = LOAD(a->im + j + k * (n / 4)), real = re[k];
            re[k] = SUBTRACT(MULTIPLY(left, real), MULTIPLY(right, im[k]));
            im[k] = ADD(MULTIPLY(left, im[k]), MULTIPLY(right, real));
        }
        UNROLL
        for (int k = 0; k < 4; k++) {
            STORE(out.re + j + k * (n / 4), re[k]);
            STORE(out.im + j + k * (n / 4), im[k]);
        }
    }
}

/* Stages of both parts from 8 on, the last two of them with the product where all of it is kept. */
TARGET INLINE void finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out)
{
    bool joined = kept == n && n >= 4 * 8 * MOST;
    if (n > 8) {
        transform(true, joined ? n / 4 : n, n, NULL, x.re, x.re, NULL);
        transform(true, joined ? n / 4 : n, n, NULL, x.im, x.im, NULL);
    }
    if (!joined)
        kl_avx2_keep(kept, x, a, out);
    else if (a != NULL)
        last_product(n, x, a, out);
    else
        last_product(n, x, NULL, out);
}
