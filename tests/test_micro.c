/*
 * test_micro.c - every table of inner loops that this CPU can run against its definition, bit for bit where that has one
 * order, and those of AVX2 and AVX-512 against each other. Compiled twice: test_micro_avx512 has the AVX-512 loops emulated.
 */
#include "math/micro.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 900, STRIDE = KL_MICRO_WIDEST + 4 };

static float f32[MOST * KL_MICRO_WIDEST];
static const kl_row first = {.value = f32}, later = {.value = f32 + 1000};
static double f64[MOST * KL_MICRO_WIDEST];

static void fill(void)
{
    for (int i = 0; i < MOST * KL_MICRO_WIDEST; i++) {
        f64[i] = syn_normal((uint64_t)i, 5);
        f32[i] = (float)f64[i];
    }
}

static void products_equal_the_definition(void **state)
{
    static const int64_t lengths[] = {0, 1, 2, 7, 64, 257, 800};
    (void)state;
    fill();
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
        const kl_micro *m = kl_micro_at(t);
        print_message("%s: %d x %d, %d x %d\n", m->name, m->left32, m->width32, m->left64, m->width64);
        for (int s = 0; s < 7; s++) {
            int64_t k = lengths[s];
            float c[KL_MICRO_LEFT * STRIDE];
            double d[KL_MICRO_LEFT * STRIDE], e[KL_MICRO_LEFT * STRIDE];
            for (int i = 0; i < KL_MICRO_LEFT * STRIDE; i++) {
                c[i] = 7;
                d[i] = 3;
                e[i] = 3;
            }
            m->product32(k, f32, f32 + 99, false, c, STRIDE);
            m->add32(k, f32, f32 + 99, d, STRIDE);
            m->add64(k, f64, f64 + 99, -2, e, STRIDE);
            for (int i = 0; i < m->left32; i++)
                for (int j = 0; j < STRIDE; j++) {
                    double single = 0, size = 0, full = 0;
                    for (int64_t p = 0; p < k && j < m->width32; p++) {
                        double term = (double)f32[p * m->left32 + i] * (double)f32[99 + p * m->width32 + j];
                        single += term;
                        size += fabs(term);
                    }
                    for (int64_t p = 0; p < k && j < m->width64; p++)
                        full += i >= m->left64 ? 0 : f64[p * m->left64 + i] * f64[99 + p * m->width64 + j];
                    double bound = (double)(k + 1) * 0x1p-24 * size;
                    assert_true(fabs((double)c[i * STRIDE + j] - (j < m->width32 ? single : 7)) <= bound);
                    assert_true(fabs(d[i * STRIDE + j] - 3 - single) <= bound);
                    assert_true(fabs(e[i * STRIDE + j] - 3 + 2 * full) <= 1e-12 * (1 + (double)k));
                }
        }
    }
}

static const kl_micro *table_of(const char *name)
{
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++)
        if (strcmp(kl_micro_at(t)->name, name) == 0)
            return kl_micro_at(t);
    return NULL;
}

/* One multiply-add of this table: rounded once, or in the portable one after the product too. */
static float step32(bool fused, float a, float b, float sum)
{
    return fused ? fmaf(a, b, sum) : sum + a * b;
}

static double step64(bool fused, double a, double b, double sum)
{
    return fused ? fma(a, b, sum) : sum + a * b;
}

static void sums_are_one_chain_over_ascending_terms(void **state)
{
    enum { K = 77, CUT = 30 };
    (void)state;
    fill();
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
        const kl_micro *m = kl_micro_at(t);
        bool fused = strcmp(m->name, "portable") != 0;
        float c[KL_MICRO_LEFT * STRIDE] = {0};
        double d[KL_MICRO_LEFT * STRIDE], e[KL_MICRO_LEFT * STRIDE];
        if (strcmp(m->name, "blas") == 0)
            continue; /* its order is its own */
        for (int i = 0; i < KL_MICRO_LEFT * STRIDE; i++)
            d[i] = e[i] = f64[i];
        m->product32(CUT, f32, f32 + 99, false, c, STRIDE);
        m->product32(K - CUT, f32 + CUT * m->left32, f32 + 99 + CUT * m->width32, true, c, STRIDE);
        m->add32(K, f32, f32 + 99, d, STRIDE);
        m->add64(K, f64, f64 + 99, -0.3, e, STRIDE);
        for (int i = 0; i < m->left32; i++)
            for (int j = 0; j < m->width32; j++) {
                float sum = 0;
                for (int p = 0; p < K; p++)
                    sum = step32(fused, f32[p * m->left32 + i], f32[99 + p * m->width32 + j], sum);
                assert_true(c[i * STRIDE + j] == sum);
                assert_true(d[i * STRIDE + j] == f64[i * STRIDE + j] + (double)sum);
            }
        for (int i = 0; i < m->left64; i++)
            for (int j = 0; j < m->width64; j++) {
                double sum = 0;
                for (int p = 0; p < K; p++)
                    sum = step64(fused, f64[p * m->left64 + i], f64[99 + p * m->width64 + j], sum);
                assert_true(e[i * STRIDE + j] == step64(fused, -0.3, sum, f64[i * STRIDE + j]));
            }
    }
}

static void sparse_rows_equal_dense_blocks_bit_for_bit(void **state)
{
    enum { K = 200, COUNT = 60 };
    (void)state;
    fill();
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
        const kl_micro *m = kl_micro_at(t);
        int32_t column[COUNT];
        float value[COUNT], dense[K * KL_MICRO_LEFT] = {0}, out[KL_MICRO_PANELS * KL_MICRO_WIDEST], block[KL_MICRO_LEFT * KL_MICRO_WIDEST];
        for (int i = 0; i < COUNT; i++) {
            column[i] = (int32_t)(3 * i + i % 2);
            value[i] = f32[1000 + i];
            dense[column[i] * m->left32] = value[i];
        }
        for (int panels = 1; panels <= KL_MICRO_PANELS; panels++) {
            m->sparse32(COUNT, column, value, f32, K * m->width32, panels, out);
            for (int q = 0; q < panels; q++) {
                const float *panel = f32 + q * K * m->width32;
                m->product32(K, dense, panel, false, block, m->width32);
                assert_memory_equal(out + q * m->width32, block, (size_t)m->width32 * sizeof *out);
                float parts[KL_MICRO_LEFT * KL_MICRO_WIDEST];
                m->product32(128, dense, panel, false, parts, m->width32);
                m->product32(K - 128, dense + 128 * m->left32, panel + 128 * m->width32, true, parts, m->width32);
                assert_memory_equal(parts, block, sizeof(float) * (size_t)(m->left32 * m->width32));
            }
        }
    }
}

static void forward_substitution_solves(void **state)
{
    enum { N = 61 };
    double l[N * N], x[N * KL_MICRO_GROUP];
    float l32[N * N], x32[N * KL_MICRO_GROUP];
    (void)state;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            l[i * N + j] = i == j ? 2 + fabs(syn_normal((uint64_t)i, 1)) : 0.2 * syn_normal((uint64_t)i, (uint64_t)j);
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
        for (int i = 0; i < N * KL_MICRO_GROUP; i++)
            x[i] = syn_normal(77, (uint64_t)i);
        for (int i = 0; i < N * N; i++)
            l32[i] = (float)l[i];
        for (int i = 0; i < N * KL_MICRO_GROUP; i++)
            x32[i] = (float)x[i];
        kl_micro_at(t)->forward64(N, l, N, x);
        kl_micro_at(t)->forward32(N, l32, N, x32);
        for (int i = 0; i < N * KL_MICRO_GROUP; i++)
            assert_true(fabs((double)x32[i] - x[i]) < 1e-5);
        for (int i = 0; i < N; i++)
            for (int g = 0; g < KL_MICRO_GROUP; g++) {
                double back = 0;
                for (int p = 0; p <= i; p++)
                    back += l[i * N + p] * x[p * KL_MICRO_GROUP + g];
                assert_true(fabs(back - syn_normal(77, (uint64_t)(i * KL_MICRO_GROUP + g))) < 1e-12);
            }
    }
}

/* A rectangle of a factor, not at the beginning of its rows, against the right sides of a solve. */
static void rectangles_are_taken_away(void **state)
{
    enum { ROWS = 24, COLUMNS = 40, APART = 45, GROUP = KL_MICRO_GROUP };
    static double y[2][COLUMNS * GROUP];
    static float l32[ROWS * APART], x32[COLUMNS * GROUP], y32[2][COLUMNS * GROUP];
    const double *l = f64, *x = f64 + 2000, *before = f64 + 3000;
    (void)state;
    fill();
    for (int i = 0; i < ROWS * APART; i++)
        l32[i] = (float)l[i];
    for (int i = 0; i < COLUMNS * GROUP; i++)
        x32[i] = (float)x[i];
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
        const kl_micro *m = kl_micro_at(t);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < COLUMNS * GROUP; i++)
                y32[k][i] = (float)(y[k][i] = before[i]);
        m->below64(ROWS, COLUMNS, l, APART, x, y[0]);
        m->above64(ROWS, COLUMNS, l, APART, x, y[1]);
        m->below32(ROWS, COLUMNS, l32, APART, x32, y32[0]);
        m->above32(ROWS, COLUMNS, l32, APART, x32, y32[1]);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < COLUMNS; i++)
                for (int g = 0; g < GROUP; g++) {
                    double exact = before[i * GROUP + g];
                    for (int p = 0; p < (k == 0 ? COLUMNS : ROWS) && (k == 1 || i < ROWS); p++)
                        exact -= (k == 0 ? l[i * APART + p] : l[p * APART + i]) * x[p * GROUP + g];
                    assert_true(fabs(y[k][i * GROUP + g] - exact) < 1e-13);
                    assert_true(fabs((double)y32[k][i * GROUP + g] - exact) < 2e-5);
                }
    }
}

static void cosines_of_all_tables_agree(void **state)
{
    enum { N = 1003 };
    static float turns[N], phase[N], c[2][N], s[2][N], o[2][N];
    (void)state;
    for (int i = 0; i < N; i++) {
        turns[i] = (float)(syn_normal(3, (uint64_t)i) * (i % 3 == 0 ? 1000 : 2));
        phase[i] = (float)syn_uniform((uint64_t)i);
    }
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
        int at = kl_micro_at(t + 1) == NULL;
        kl_micro_at(t)->pairs(N, turns, 0.5f, false, c[at], s[at]);
        kl_micro_at(t)->cosines(N, turns, phase, 0.5f, o[at]);
        for (int i = 0; i < N; i++) { /* a value alone is the same value */
            float one, two;
            kl_micro_at(t)->pairs(1, turns + i, 0.5f, false, &one, &two);
            assert_true(one == c[at][i] && two == s[at][i]);
        }
    }
    for (int i = 0; kl_micro_at(1) != NULL && i < N; i++) {
        assert_true(fabsf(c[0][i] - c[1][i]) <= 2e-7f && fabsf(s[0][i] - s[1][i]) <= 2e-7f);
        assert_true(fabsf(o[0][i] - o[1][i]) <= 2e-7f);
    }
}

/* So that a model has the same bytes on both; sums are chains, and transforms are compared by test_hadamard. */
static void avx512_has_the_bits_of_avx2(void **state)
{
    enum { N = 61, COUNT = 1003 };
    static double l[N * N], x[2][N * KL_MICRO_GROUP];
    static float l32[N * N], x32[2][N * KL_MICRO_GROUP], turns[COUNT], phase[COUNT], c[2][COUNT], s[2][COUNT], o[2][COUNT];
    const kl_micro *tables[2] = {table_of("avx2"), table_of("avx512")};
    (void)state;
    if (tables[0] == NULL || tables[1] == NULL) {
        print_message("not compared: this CPU has no AVX-512, or nothing emulates it\n");
        return;
    }
    fill();
    for (int i = 0; i < N * N; i++)
        l32[i] = (float)(l[i] = i % (N + 1) == 0 ? 2 + fabs(f64[i]) : 0.2 * f64[i]);
    for (int i = 0; i < COUNT; i++) {
        turns[i] = f32[i] * (i % 3 == 0 ? 1e6f : i % 3 == 1 ? 1e-3f : 3.0f);
        phase[i] = (float)syn_uniform((uint64_t)i);
    }
    memcpy(turns, (float[]){0.0f, -0.0f, 0.5f, -0.5f, 0.25f, 1e30f, -3e38f, 1e-40f, INFINITY, -INFINITY, NAN}, 11 * sizeof *turns);
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < N * KL_MICRO_GROUP; i++)
            x32[t][i] = (float)(x[t][i] = f64[5000 + i]);
        tables[t]->forward64(N, l, N, x[t]);
        tables[t]->forward32(N, l32, N, x32[t]);
        tables[t]->below64(8, 48, l, N, x[t], x[t] + 48 * KL_MICRO_GROUP);
        tables[t]->above64(8, 48, l, N, x[t] + 48 * KL_MICRO_GROUP, x[t]);
        tables[t]->pairs(COUNT, turns, 0.3f, false, c[t], s[t]);
        tables[t]->cosines(COUNT, turns, phase, 0.3f, o[t]);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(x32[0], x32[1], sizeof x32[0]);
    for (int i = 0; i < COUNT; i++) {
        assert_true(isnan(c[0][i]) == (i >= 8 && i <= 10) && isnan(c[1][i]) == isnan(c[0][i]) && isnan(s[1][i]) == isnan(s[0][i]) && isnan(o[1][i]) == isnan(o[0][i]));
        if (!isnan(c[0][i])) {
            assert_memory_equal(&c[0][i], &c[1][i], sizeof c[0][i]);
            assert_memory_equal(&s[0][i], &s[1][i], sizeof s[0][i]);
            assert_memory_equal(&o[0][i], &o[1][i], sizeof o[0][i]);
        }
    }
}

static void complex_products_are_the_same_bits_in_all_tables(void **state)
{
    enum { N = 77 };
    float out[2][2 * N];
    int32_t index[N];
    (void)state;
    fill();
    uint8_t code[N];
    for (int k = 0; k < N; k++)
        code[k] = (uint8_t)(k * 7 / 3 % 4);
    static const float turn[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    kl_complex a = {f32, f32 + 100}, b = {f32 + 200, f32 + 300};
    kl_roots c = {code, 0.3f};
    for (int64_t n = 0; n <= N; n++)
        for (int how = 0; how < 4; how++)
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
                bool two = how % 2 == 1, third = how / 2 == 1;
                memset(out, 0, sizeof out);
                kl_complex to = {out[0], out[0] + N}, right = two ? b : (kl_complex){0};
                kl_micro_at(t)->multiply(n, a, right, third ? &c : NULL, to);
                for (int64_t k = 0; k < N; k++) {
                    float re = two ? a.re[k] * b.re[k] - a.im[k] * b.im[k] : a.re[k], im = two ? a.re[k] * b.im[k] + a.im[k] * b.re[k] : a.im[k];
                    float cosine = c.scale * turn[code[k]][0], sine = c.scale * turn[code[k]][1];
                    float more_re = third ? re * cosine - im * sine : re, more_im = third ? re * sine + im * cosine : im;
                    assert_true(out[0][k] == (k < n ? more_re : 0) && out[0][N + k] == (k < n ? more_im : 0));
                }
                memcpy(out[1], a.re, N * sizeof(float)); /* into itself */
                memcpy(out[1] + N, a.im, N * sizeof(float));
                to = (kl_complex){out[1], out[1] + N};
                kl_micro_at(t)->multiply(n, to, right, third ? &c : NULL, to);
                assert_memory_equal(out[1], out[0], (size_t)n * sizeof(float));
                assert_memory_equal(out[1] + N, out[0] + N, (size_t)n * sizeof(float));
            }
    for (int k = 0; k < N; k++)
        index[k] = (k * 31 + 5) % N;
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
        float pairs[2 * N], picked[2 * N];
        kl_micro_at(t)->interleave(N, a, pairs);
        for (int k = 0; k < N; k++)
            assert_true(pairs[2 * k] == a.re[k] && pairs[2 * k + 1] == a.im[k]);
        for (int k = 0; k < N; k++) {
            picked[k] = a.re[index[k]];
            picked[N + k] = a.im[index[k]];
        }
        for (int64_t n = 0; n <= N; n++)
            for (int how = 0; how < 4; how++) { /* as multiply of what was picked */
                kl_complex left = how % 2 == 1 ? b : (kl_complex){0}, right = {picked, picked + N};
                const kl_roots *third = how / 2 == 1 ? &c : NULL;
                memset(out, 0, sizeof out);
                kl_micro_at(t)->gather(n, left, index, pairs, third, (kl_complex){out[0], out[0] + N});
                kl_micro_portable.multiply(n, how % 2 == 1 ? left : right, how % 2 == 1 ? right : left, third, (kl_complex){out[1], out[1] + N});
                assert_memory_equal(out[0], out[1], sizeof out[0]);
            }
    }
}

/* Real and complex; what is behind the last one stays as it was. */
static void picked_products_are_the_same_bits_in_all_tables(void **state)
{
    enum { N = 77, MORE = 300 };
    static const float odd[] = {0.0f, -0.0f, 1e-40f, 3e38f, INFINITY};
    int32_t order[N];
    (void)state;
    fill();
    for (int k = 0; k < N; k++)
        order[k] = (k * 131 + 5) % MORE;
    for (int64_t n = 0; n <= N; n++)
        for (int how = 0; how < 4; how++)
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
                bool is_complex = how % 2 == 1;
                float z[2][2 * N], y[2][N];
                kl_complex from = {f32 + 100, is_complex ? f32 + 100 + MORE : NULL};
                for (int which = 0; which < 2; which++) {
                    const kl_micro *m = which == 0 ? &kl_micro_portable : kl_micro_at(t);
                    memcpy(z[which], f32 + 2000, sizeof z[which]);
                    memcpy(y[which], f32 + 3000, sizeof y[which]);
                    for (int k = 0; how >= 2 && k < 5; k++)
                        z[which][7 * k] = z[which][N + 11 * k] = y[which][13 * k] = odd[k];
                    m->multiply_picked(n, f32 + 4001, order, from, (kl_complex){z[which], is_complex ? z[which] + N : NULL});
                    m->add_product(n, f32 + 5003, f32 + 6001, y[which]);
                }
                for (int64_t k = 0; k < N; k++) {
                    float a = f32[4001 + k] * from.re[order[k]], b = is_complex ? f32[4001 + k] * from.im[order[k]] : 0, re = f32[2000 + k], im = f32[2000 + N + k];
                    if (how < 2) {
                        assert_true(z[0][k] == (k >= n ? re : is_complex ? re * a - im * b : re * a));
                        assert_true(z[0][N + k] == (k >= n || !is_complex ? im : re * b + im * a));
                        assert_true(y[0][k] == (k >= n ? f32[3000 + k] : f32[3000 + k] + f32[5003 + k] * f32[6001 + k]));
                    }
                    assert_memory_equal(z[0] + k, z[1] + k, sizeof(float));
                    assert_memory_equal(z[0] + N + k, z[1] + N + k, sizeof(float));
                    assert_memory_equal(y[0] + k, y[1] + k, sizeof(float));
                }
            }
}

static void rows_times_a_number_or_a_row_are_the_same_bits_in_all_tables(void **state)
{
    enum { N = 77 };
    float from[N], to[N + 1];
    (void)state;
    fill();
    for (int64_t n = 0; n <= N; n++)
        for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
            int64_t count = 0;
            double square = 0;
            float about = -1;
            for (int64_t k = 0; k < n; k++) {
                from[k] = k % 5 == 1 ? -0.0f : k % 7 == 3 ? 0.0f : f32[k];
                count += from[k] != 0;
                square += (double)from[k] * (double)from[k];
            }
            to[n] = 3;
            assert_int_equal(kl_micro_at(t)->scaled(n, 0.3f, from, to, &about), count);
            assert_true(fabs((double)about - square) <= 1e-6 * square);
            for (int64_t k = 0; k < n; k++)
                assert_memory_equal(&to[k], &(float){0.3f * from[k]}, sizeof(float));
            kl_micro_at(t)->times(n, f32 + 100, to);
            for (int64_t k = 0; k < n; k++)
                assert_memory_equal(&to[k], &(float){0.3f * from[k] * f32[100 + k]}, sizeof(float));
            assert_true(to[n] == 3); /* what is behind stays as it was */
        }
}

static void one_number_that_is_not_finite_is_found_at_any_place(void **state)
{
    enum { N = 140 };
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    float x[N + 1];
    (void)state;
    for (int64_t n = 0; n <= N; n++)
        for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
            for (int64_t k = 0; k <= n; k++)
                x[k] = k == n ? NAN : k % 4 == 0 ? FLT_MAX : k % 4 == 1 ? -FLT_MAX : k % 4 == 2 ? 0x1p-149f : -0.0f; /* what is behind is not looked at */
            assert_true(kl_micro_at(t)->are_finite(n, x));
            for (int64_t k = 0; k < n; k++) {
                float kept = x[k];
                x[k] = bad[(n + k) % 3];
                assert_false(kl_micro_at(t)->are_finite(n, x));
                x[k] = kept;
            }
        }
}

/* Few and many of them, buckets hit twice, words with all bits; what was taken leaves zeros. */
static void buckets_are_the_same_bits_in_all_tables(void **state)
{
    enum { ENTRIES = 700, BUCKETS = 1000, WORDS = (BUCKETS + 63) / 64 };
    static const int64_t counts[] = {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 64, 65, 80, 81, 96, 100, 112, 113, 127, 128, 129, 300, ENTRIES};
    static kl_buckets_few few;
    static uint32_t entry[ENTRIES];
    static uint64_t place[ENTRIES], touched[WORDS];
    static double value[ENTRIES];
    static float sums[BUCKETS], out[2][ENTRIES + 1];
    static int32_t list[BUCKETS + KL_BUCKETS_SPARE], column[2][ENTRIES + 1];
    (void)state;
    fill();
    for (int64_t i = 0; i < ENTRIES; i++) {
        entry[i] = (uint32_t)(i < 200 ? i % 100 : i % 3 == 0 ? i % 50 : i * 7919 % BUCKETS) << 1 | (uint32_t)(i % 3 == 0);
        place[i] = (uint64_t)(i * 31 % ENTRIES);
        value[i] = i % 11 == 5 ? (i % 2 ? 0.0 : -0.0) : (double)f32[i] * 1.0000001;
    }
    for (int k = 0; k < (int)(sizeof counts / sizeof counts[0]); k++)
        for (int64_t t = 0; kl_micro_at(t) != NULL; t++)
            for (int way = 0; way < 4; way++) { /* said to be few, or many; without a place for few, or with one */
                const kl_buckets to = {BUCKETS, sums, touched, way < 2 ? NULL : &few};
                int64_t taken[2];
                for (int which = 0; which < 2; which++) {
                    const kl_micro *m = which == 0 ? &kl_micro_portable : kl_micro_at(t);
                    memset(out[which], 0, sizeof out[which]);
                    memset(column[which], 0, sizeof column[which]);
                    memset(list, 0, sizeof list);
                    few.count = 0;
                    m->bucket_add(&to, counts[k] / 2, value, place, entry);
                    m->bucket_add(&to, counts[k] - counts[k] / 2, value + counts[k] / 2, place + counts[k] / 2, entry);
                    taken[which] = m->bucket_take(&to, way % 2 * ENTRIES, 1000, list, column[which], out[which]);
                    for (int64_t i = 0; i < BUCKETS; i++)
                        assert_true(sums[i] == 0 && touched[i / 64] == 0);
                }
                assert_int_equal(taken[0], taken[1]);
                assert_true(counts[k] == 0 ? taken[0] == 0 : taken[0] > 0 && column[0][0] >= 1000);
                assert_memory_equal(column[0], column[1], sizeof column[0]);
                assert_memory_equal(out[0], out[1], sizeof out[0]);
            }
}

/* Those that wait as few go to the sums when they are wanted there, and behind what comes after; then everything does until the next take. */
static void few_that_are_settled_are_in_the_sums(void **state)
{
    static kl_buckets_few few;
    static float sums[200], out[2];
    static uint64_t touched[4];
    static int32_t list[200 + KL_BUCKETS_SPARE], column[2];
    const uint32_t entry[2] = {70 << 1 | 1, 3 << 1};
    const uint64_t place[3] = {0, 1, 0};
    const double value[3] = {2, -0.0, 0.5};
    const kl_buckets to = {200, sums, touched, &few};
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        kl_buckets_add(&to, 3, value, place, entry);
        kl_buckets_settle(&to);
        assert_true(few.count == -1 && sums[70] == -2.5f && sums[3] == 0 && touched[0] == 8 && touched[1] == 64);
        kl_buckets_put(&to, 70 << 1, 1);
        kl_buckets_add(&to, 1, value, place, entry);
        assert_true(sums[70] == -3.5f);
        assert_int_equal(kl_buckets_take(&to, 5, 10, list, column, out), 2);
        assert_true(column[0] == 13 && column[1] == 80 && out[0] == 0 && !signbit(out[0]) && out[1] == -3.5f && few.count == 0);
    }
}

/* Runs of any length, and nothing but a block behind the last. */
static void triangles_are_the_same_bits_in_all_tables(void **state)
{
    enum { LONGEST = 40, ALL = LONGEST * (LONGEST + 1) / 2 + KL_TRIANGLE_BLOCK };
    static double value[2][ALL];
    static uint64_t to[2][ALL], column[LONGEST + KL_TRIANGLE_BLOCK];
    static int64_t step[3 * LONGEST];
    (void)state;
    fill();
    for (int64_t i = 0; i < LONGEST + KL_TRIANGLE_BLOCK; i++)
        column[i] = (uint64_t)(2 * i + i % 2);
    for (int64_t i = 0; i < 3 * LONGEST; i++)
        step[i] = i * (i + 1) / 2;
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++)
        for (int64_t count = 0; count <= LONGEST; count++) {
            const kl_triangle of = {count, f64, column, step, 0.7, sqrt(3), sqrt(2), 1000};
            int64_t at = 0;
            kl_micro_portable.triangle(&of, value[0], to[0]);
            kl_micro_at(t)->triangle(&of, value[1], to[1]);
            for (int64_t i = 0; i < count; i++)
                for (int64_t u = 0; u <= i; u++, at++) {
                    double product = 0.7 * f64[i] * of.last * f64[u];
                    assert_true(value[1][at] == (u < i ? product : product / of.twice));
                    assert_int_equal(to[1][at], 1000 + step[column[i]] + (int64_t)column[u]);
                }
            assert_memory_equal(value[0], value[1], (size_t)at * sizeof value[0][0]);
            assert_memory_equal(to[0], to[1], (size_t)at * sizeof to[0][0]);
        }
}

/* However many vectors are taken at a time, each has its own sums. */
static void rows_against_vectors_equal_the_definition(void **state)
{
    static const int64_t lengths[] = {0, 1, 15, 16, 17, 63, 64, 800};
    enum { VECTORS = 8, STEP = 811 };
    (void)state;
    fill();
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++)
        for (int s = 0; s < 8; s++) {
            const kl_micro *m = kl_micro_at(t);
            int64_t n = lengths[s];
            double out[VECTORS], alone, w[1000];
            for (int64_t count = 0; count <= VECTORS; count++) {
                m->row_dots(n, &first, &later, count, f64 + 77, STEP, out);
                for (int64_t o = 0; o < count; o++) {
                    double sum = 0, size = 0;
                    for (int64_t p = 0; p < n; p++) {
                        sum += (double)f32[p] * f64[77 + o * STEP + p];
                        size += fabs((double)f32[p] * f64[77 + o * STEP + p]);
                    }
                    assert_true(fabs(out[o] - sum) <= 1e-15 * (double)n * size);
                    m->row_dots(n, &first, &first, 1, f64 + 77 + o * STEP, STEP, &alone);
                    assert_memory_equal(&alone, &out[o], sizeof alone);
                }
            }
            double square = m->row_square(n, &first, &later), reference = kl_micro_portable.row_square(n, &first, &first), sum = 0;
            assert_memory_equal(&square, &reference, sizeof square);
            for (int64_t p = 0; p < n; p++)
                sum += (double)f32[p] * (double)f32[p];
            assert_true(fabs(square - sum) <= 1e-15 * (double)n * sum);
            memcpy(w, f64, sizeof w);
            m->row_add(n, -0.3, &first, w);
            for (int64_t p = 0; p < 1000; p++)
                assert_true(fabs(w[p] - (f64[p] - (p < n ? 0.3 * (double)f32[p] : 0))) <= 1e-15 * (1 + fabs(f64[p])));
        }
}

/* Some columns in some order of gaps, the last ones too: entries give the bits of the row that has their zeros. */
static void sparse_rows_have_the_bits_of_dense_ones(void **state)
{
    static const int64_t lengths[] = {1, 15, 16, 17, 63, 64, 800, 811};
    enum { VECTORS = 5, STEP = 811 };
    (void)state;
    fill();
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++)
        for (int s = 0; s < 8; s++)
            for (int gap = 1; gap < 40; gap += 6) {
                const kl_micro *m = kl_micro_at(t);
                int64_t n = lengths[s], count = 0;
                float row[STEP] = {0}, value[STEP];
                int32_t column[STEP];
                double dense[VECTORS], sparse[VECTORS], w[2][STEP];
                for (int64_t p = (n - 1) % gap; p < n; p += gap) {
                    column[count] = (int32_t)p;
                    row[p] = value[count++] = p % 5 == 3 ? 0.0f : f32[p]; /* an entry may be zero */
                }
                kl_row z = {.count = count, .column = column, .value = value}, spread = {.count = n, .value = row};
                m->row_dots(n, &spread, &spread, VECTORS, f64 + 77, STEP, dense);
                m->sparse_dots(&z, n, VECTORS, f64 + 77, STEP, sparse);
                assert_memory_equal(dense, sparse, sizeof dense);
                memcpy(w[0], f64, sizeof w[0]);
                memcpy(w[1], f64, sizeof w[1]);
                m->row_add(n, -0.3, &spread, w[0]);
                m->sparse_add(&z, n, -0.3, w[1]);
                assert_memory_equal(w[0], w[1], sizeof w[0]);
            }
}

/* Every lane of every table has the bits of the reference, which is libm's within two units in the last place. */
static void powers_of_e_are_the_same_everywhere(void **state)
{
    double x[KL_RAISE], out[KL_RAISE], reference[KL_RAISE];
    (void)state;
    fill();
    for (int turn = 0; turn < 12; turn++) {
        for (int i = 0; i < KL_RAISE; i++)
            x[i] = turn == 0 ? (double)(i - 32) * 30 : turn == 1 ? -1e-3 * i * i : f64[turn * 50 + i] * 10;
        kl_portable_raise(x, reference);
        for (int i = 0; i < KL_RAISE; i++)
            assert_true(x[i] < -708 ? reference[i] == 0 : x[i] > 709 || fabs(reference[i] - exp(x[i])) <= 5e-16 * exp(x[i]));
        for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
            kl_micro_at(t)->raise(x, out);
            assert_memory_equal(out, reference, sizeof out);
        }
    }
}

/* s = xx + norm - 2 product of numbers chosen so that s rate is `wanted`, from 0 to where float32 ends. */
static void decays_of(int64_t count, double rate, float *product, double *norm)
{
    for (int64_t j = 0; j < count; j++) {
        double wanted = j % 3 == 0 ? 110.0 * (double)j / (double)count : f64[j] * f64[j];
        product[j] = f32[j];
        norm[j] = wanted / rate + 2 * (double)product[j] - 2;
    }
}

/* e^(-rate s) in float32: within 1e-7 of libm's, AVX-512 with the bits of AVX2, a number by itself wherever it stands, and
 * s below its share told; what is no number stays none. */
static void decays_are_within_1e_7_and_alike(void **state)
{
    enum { COUNT = 100 };
    static const double rates[] = {1e-6, 0.03, 1, 70, 1e9};
    float product[COUNT], out[COUNT + 1], fused[COUNT], alone;
    double norm[COUNT];
    (void)state;
    fill();
    for (int r = 0; r < 5; r++)
        for (int64_t count = 0; count <= COUNT; count += count < 40 ? 1 : 20) {
            decays_of(COUNT, rates[r], product, norm);
            double scaled = -rates[r] * 0x1.71547652b82fep0;
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
                const kl_micro *m = kl_micro_at(t);
                out[count] = 7;
                m->decay(count, product, 2, norm, scaled, 0, out);
                assert_true(out[count] == 7);
                for (int64_t j = 0; j < count; j++) {
                    double right = exp(-rates[r] * (2 + norm[j] - 2 * (double)product[j]));
                    assert_true(fabs((double)out[j] - right) <= 1e-7 * right + 1e-45);
                    m->decay(1, product + j, 2, norm + j, scaled, 0, &alone);
                    assert_memory_equal(&alone, out + j, sizeof alone);
                }
                if (t == 0)
                    memcpy(fused, out, (size_t)count * sizeof *out);
                else if (m != &kl_micro_portable)
                    assert_memory_equal(out, fused, (size_t)count * sizeof *out);
            }
        }
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++)
        for (int64_t count = 1; count <= 40; count++)
            for (int64_t close = 0; close <= count; close++) { /* the last of them: none is */
                for (int64_t j = 0; j <= count; j++) {
                    norm[j] = 3;
                    product[j] = j == close ? 2.4f : 2.2f; /* 0.2 and 0.6 of 5 */
                }
                assert_int_equal(kl_micro_at(t)->decay(count, product, 2, norm, -1, 0.1, out), close < count);
                product[close] = NAN;
                assert_false(kl_micro_at(t)->decay(count, product, 2, norm, -1, 0.1, out));
                assert_true(close == count || isnan(out[close]));
                product[close] = INFINITY; /* a product that overflowed is not to look like a value */
                kl_micro_at(t)->decay(count, product, 2, norm, -1, 0.1, out);
                assert_true(close == count || isinf(out[close]));
            }
}

static void the_table_in_use_is_one_of_those_and_obeys_the_variable(void **state)
{
    const char *wanted = getenv("KLIFT_SIMD");
    bool found = false;
    (void)state;
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++)
        found = found || kl_micro_at(t) == kl_micro_get();
    assert_true(found);
    if (wanted != NULL && table_of(wanted) != NULL)
        assert_string_equal(kl_micro_get()->name, wanted);
    assert_int_equal(kl_micro_check(), wanted == NULL || wanted[0] == '\0' || table_of(wanted) != NULL ? KLIFT_OK : KLIFT_USAGE);
#ifdef KLIFT_BLAS
    assert_string_equal(kl_micro_at(0)->name, "blas");
#endif
#ifdef KLIFT_TEST_AVX512
    if (table_of("avx2") != NULL)
        assert_non_null(table_of("avx512"));
    else
        print_message("skipped: the AVX-512 loops (this CPU has not even AVX2 to emulate them)\n");
#elif defined(__x86_64__) && (defined(KLIFT_WITHOUT_SIMDE) || !__has_include(<simde/simde-arch.h>))
    if (table_of("avx512") == NULL)
        print_message("skipped: the AVX-512 loops (this CPU has none, and libsimde-dev, which emulates them, is not installed)\n");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_the_definition),
        cmocka_unit_test(sums_are_one_chain_over_ascending_terms),
        cmocka_unit_test(sparse_rows_equal_dense_blocks_bit_for_bit),
        cmocka_unit_test(forward_substitution_solves),
        cmocka_unit_test(rectangles_are_taken_away),
        cmocka_unit_test(cosines_of_all_tables_agree),
        cmocka_unit_test(avx512_has_the_bits_of_avx2),
        cmocka_unit_test(complex_products_are_the_same_bits_in_all_tables),
        cmocka_unit_test(picked_products_are_the_same_bits_in_all_tables),
        cmocka_unit_test(rows_times_a_number_or_a_row_are_the_same_bits_in_all_tables),
        cmocka_unit_test(one_number_that_is_not_finite_is_found_at_any_place),
        cmocka_unit_test(buckets_are_the_same_bits_in_all_tables),
        cmocka_unit_test(few_that_are_settled_are_in_the_sums),
        cmocka_unit_test(triangles_are_the_same_bits_in_all_tables),
        cmocka_unit_test(rows_against_vectors_equal_the_definition),
        cmocka_unit_test(sparse_rows_have_the_bits_of_dense_ones),
        cmocka_unit_test(the_table_in_use_is_one_of_those_and_obeys_the_variable),
        cmocka_unit_test(powers_of_e_are_the_same_everywhere),
        cmocka_unit_test(decays_are_within_1e_7_and_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
