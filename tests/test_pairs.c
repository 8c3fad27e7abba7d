/*
 * test_pairs.c - cosines and sines that leave a product's registers for memory past the caches: the bits of the product and then of kl_trig_pairs, whatever the
 * number of rows and columns and wherever rows begin; nothing else is written.
 */
#include "math/product.h"
#include "math/trig.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const float guard = -77.25f, scale = 0.3f;
enum { MOST_ROWS = 300, LINE = 16 };
#if defined(KLIFT_TEST_AVX512)
enum { EMULATED = 1 }; /* takes long */
#else
enum { EMULATED = 0 };
#endif

static void fill(kl_panels *w, int64_t n, int64_t k)
{
    double *row = malloc((size_t)k * sizeof *row);
    assert_int_equal(kl_panels_new(w, n, k), KLIFT_OK);
    for (int64_t r = 0; r < n; r++) {
        for (int64_t j = 0; j < k; j++)
            row[j] = syn_normal(1000 + (uint64_t)r, (uint64_t)j);
        kl_panels_set(w, r, row);
    }
    free(row);
}

typedef struct written {
    float *z;
    int64_t stride, count;
    int64_t rows; /* that came this way */
} written;

/* What a map does with rows that do not go past the caches. */
static void take(const void *context, int64_t row, int64_t column, int64_t count, const float *turns)
{
    const written *to = *(written *const *)context;
    float *cosine = to->z + row * to->stride + column;
    kl_trig_pairs(count, turns, scale, cosine, cosine + to->count);
    (*(written *const *)context)->rows += column == 0;
}

static void compare(const kl_panels *w, int64_t rows, const float *x, int64_t stride, int64_t shift, void *scratch)
{
    int64_t size = rows * stride + 2 * LINE;
    float *one = aligned_alloc(64, (size_t)(size + LINE) / LINE * LINE * sizeof *one), *other = aligned_alloc(64, (size_t)(size + LINE) / LINE * LINE * sizeof *other);
    for (int64_t i = 0; i < size; i++)
        one[i] = other[i] = guard;
    written plain = {one + shift, stride, w->n, 0}, past = {other + shift, stride, w->n, 0}, *at[2] = {&plain, &past};
    kl_product_out to = {.take = take, .context = &at[0]};
    kl_product_dense(w, rows, x, w->k, &to, scratch);
    to.context = &at[1];
    to.pairs = (kl_pairs){past.z, stride, w->n, scale};
    kl_product_dense(w, rows, x, w->k, &to, scratch);
    kl_trig_drain();
    if (memcmp(one, other, (size_t)size * sizeof *one) != 0)
        for (int64_t i = 0; i < size; i++)
            if (memcmp(one + i, other + i, sizeof *one) != 0)
                fail_msg("%d rows of %d to %d pairs, a row every %d floats from %d on: place %d has %g, not %g", (int)rows, (int)w->k, (int)w->n, (int)stride, (int)shift,
                         (int)(i - shift), (double)other[i], (double)one[i]);
    assert_int_equal(plain.rows, rows);
    const kl_micro *micro = kl_micro_get();
    bool taken = micro->product_pairs != NULL && w->k < 1152 && w->n % w->width == 0 && stride % LINE == 0 && rows * 4 >= micro->left32;
    assert_true(!taken || rows < micro->left32 || past.rows < micro->left32 * (rows / 28 + 1)); /* only what is left of groups comes to take */
    assert_true(taken || past.rows == rows);
    free(one);
    free(other);
}

static void pairs_have_the_bits_of_sums_and_their_waves(void **unused)
{
    (void)unused;
    static const int64_t width[] = {32, 64, 96, 1024, 1056, 40}, depth[] = {1, 3, 16, 54, 200, 1151, 1200}, counts[] = {1, 3, 4, 14, 15, 29, 56, 83, 252, 300};
    float *x = malloc((size_t)(MOST_ROWS * 1200) * sizeof *x);
    for (int64_t i = 0; i < MOST_ROWS * 1200; i++)
        x[i] = (float)syn_normal((uint64_t)i, 7);
    for (size_t n = 0; n < sizeof width / sizeof *width; n++)
        for (size_t k = 0; k < sizeof depth / sizeof *depth; k++) {
            kl_panels w;
            if (width[n] * depth[k] > (quick() || EMULATED ? 20000 : 400000))
                continue;
            void *scratch = malloc((size_t)kl_product_scratch(depth[k]));
            fill(&w, width[n], depth[k]);
            for (size_t r = 0; r < sizeof counts / sizeof *counts; r++)
                for (int64_t shift = 0; shift < LINE; shift += counts[r] < 60 && width[n] < 100 && depth[k] < 60 ? 1 : 5) {
                    compare(&w, counts[r], x, 2 * width[n], shift, scratch);
                    compare(&w, counts[r], x, 2 * width[n] + LINE, shift, scratch); /* rows apart: what is between them stays */
                    compare(&w, counts[r], x, 2 * width[n] + 3, shift, scratch);
                }
            kl_panels_clear(&w);
            free(scratch);
        }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_have_the_bits_of_sums_and_their_waves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
