/*
 * hadamard_body.h - the passes of the Walsh-Hadamard transform for one kind of vector; hadamard_avx2.c and hadamard_avx512.c
 * include it, each after defining TARGET, VECTOR, LOAD, STORE, ADD, SUBTRACT, MULTIPLY, LANES, MOST (vectors in
 * registers), WIDEST (of a pass),
 * within(), the stages inside a vector, and beyond_eight(), those of them from 8 on. `rest`, a constant where it is called, leaves
 * out the stages 1, 2 and 4.
 */
/* The stages up to `last`, n or less: begin_all, then passes as wide as the registers allow. */
TARGET INLINE void transform(bool rest, int64_t last, int64_t n, const float *sign, const float *from, float *x);

/* One stage between `count` vectors, those a step apart being partners. */
TARGET INLINE void stage(int count, int step, VECTOR *v)
{
    UNROLL
    for (int i = 0; i < count / 2; i++) {
        int low = i / step * 2 * step + i % step;
        VECTOR a = v[low], b = v[low + step];
        v[low] = ADD(a, b);
        v[low + step] = SUBTRACT(a, b);
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
    if (count >= 16)
        stage(count, 8, v);
}

/* All stages of LANES count values. */
TARGET INLINE void first(int count, bool rest, const float *sign, const float *from, float *x)
{
    VECTOR v[MOST];
    UNROLL
    for (int i = 0; i < count; i++) {
        v[i] = LOAD(from + LANES * i);
        if (sign != NULL)
            v[i] = MULTIPLY(v[i], LOAD(sign + LANES * i));
        v[i] = rest ? beyond_eight(v[i]) : within(v[i]);
    }
    between(count, v);
    UNROLL
    for (int i = 0; i < count; i++)
        STORE(x + LANES * i, v[i]);
}

/* The same of n values, block by block; a loop for either case of signs. */
TARGET INLINE void begin(int count, bool rest, int64_t n, const float *sign, const float *from, float *x)
{
    if (sign != NULL)
        for (int64_t i = 0; i < n; i += LANES * count)
            first(count, rest, sign + i, from + i, x + i);
    else
        for (int64_t i = 0; i < n; i += LANES * count)
            first(count, rest, NULL, from + i, x + i);
}

/* The stages h, 2h .. count h / 2 of all n values. */
TARGET INLINE void pass(int count, int64_t n, int64_t h, float *x)
{
    for (int64_t i = 0; i < n; i += count * h)
        for (int64_t j = i; j < i + h; j += LANES) {
            VECTOR v[WIDEST];
            UNROLL
            for (int k = 0; k < count; k++)
                v[k] = LOAD(x + j + k * h);
            between(count, v);
            UNROLL
            for (int k = 0; k < count; k++)
                STORE(x + j + k * h, v[k]);
        }
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
            VECTOR left = LOAD(a->re + j + k * (n / 4)), right = LOAD(a->im + j + k * (n / 4)), one = re[k];
            re[k] = SUBTRACT(MULTIPLY(left, one), MULTIPLY(right, im[k]));
            im[k] = ADD(MULTIPLY(left, im[k]), MULTIPLY(right, one));
        }
        UNROLL
        for (int k = 0; k < 4; k++) {
            STORE(out.re + j + k * (n / 4), re[k]);
            STORE(out.im + j + k * (n / 4), im[k]);
        }
    }
}

/* The stages inside FIRST values of all n, or of fewer. */
TARGET INLINE void begin_all(bool rest, int64_t n, const float *sign, const float *from, float *x)
{
    switch (n / LANES) {
    case 0:
        if (!rest)
            kl_micro_portable.hadamard(n, sign, from, x);
        break;
    case 1: begin(1, rest, n, sign, from, x); break;
    case 2: begin(2, rest, n, sign, from, x); break;
    case 4: begin(4, rest, n, sign, from, x); break;
    case 8: begin(8, rest, n, sign, from, x); break;
    default: begin(MOST, rest, n, sign, from, x); break;
    }
}

/* Stages of both parts, the last two of them with the product where all of it is kept. */
TARGET INLINE void finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out)
{
    bool joined = kept == n && n >= 4 * FIRST;
    transform(true, joined ? n / 4 : n, n, NULL, x.re, x.re);
    transform(true, joined ? n / 4 : n, n, NULL, x.im, x.im);
    if (!joined)
        kl_avx2_keep(kept, x, a, out);
    else if (a != NULL)
        last_product(n, x, a, out);
    else
        last_product(n, x, NULL, out);
}
