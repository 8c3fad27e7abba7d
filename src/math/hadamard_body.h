/*
 * hadamard_body.h - the passes of the Walsh-Hadamard transform for one kind of vector; hadamard_avx2.c and hadamard_avx512.c
 * include it, each after defining TARGET, VECTOR, LOAD, STORE, ADD, SUBTRACT, MULTIPLY, LANES, MOST (vectors in registers) and
 * within(), the stages inside a vector.
 */
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
TARGET INLINE void first(int count, const float *sign, float *x)
{
    VECTOR v[MOST];
    UNROLL
    for (int i = 0; i < count; i++) {
        v[i] = LOAD(x + LANES * i);
        if (sign != NULL)
            v[i] = MULTIPLY(v[i], LOAD(sign + LANES * i));
        v[i] = within(v[i]);
    }
    between(count, v);
    UNROLL
    for (int i = 0; i < count; i++)
        STORE(x + LANES * i, v[i]);
}

/* The same of n values, block by block; a loop for either case of signs. */
TARGET INLINE void begin(int count, int64_t n, const float *sign, float *x)
{
    if (sign != NULL)
        for (int64_t i = 0; i < n; i += LANES * count)
            first(count, sign + i, x + i);
    else
        for (int64_t i = 0; i < n; i += LANES * count)
            first(count, NULL, x + i);
}

/* The stages h, 2h .. count h / 2 of all n values. */
TARGET INLINE void pass(int count, int64_t n, int64_t h, float *x)
{
    for (int64_t i = 0; i < n; i += count * h)
        for (int64_t j = i; j < i + h; j += LANES) {
            VECTOR v[MOST];
            UNROLL
            for (int k = 0; k < count; k++)
                v[k] = LOAD(x + j + k * h);
            between(count, v);
            UNROLL
            for (int k = 0; k < count; k++)
                STORE(x + j + k * h, v[k]);
        }
}
