/*
 * test_waves.c - maps of cosines and sines write the same bits past the caches as by way of them, dense and sparse rows, wherever rows begin and however far they
 * are apart, and nothing else.
 */
#include "gram.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const float guard = -77.25f;
enum { LINE = 16, MOST_ROWS = 84 };

static void apply(const kl_map *map, const kl_batch *x, bool past, int64_t stride, float *z)
{
    void *scratch = malloc((size_t)kl_map_dense_scratch(map, x) + 1);
    assert_int_equal(kl_map_apply_dense(map, x, z, stride, past, scratch), KLIFT_OK);
    free(scratch);
}

static void compare(const kl_map *map, const char *name, const kl_batch *x, int64_t shift, int64_t apart)
{
    int64_t stride = map->n_out + apart, size = (x->rows * stride + 3 * LINE) / LINE * LINE;
    float *usual = aligned_alloc(64, (size_t)size * sizeof *usual), *past = aligned_alloc(64, (size_t)size * sizeof *past);
    for (int64_t i = 0; i < size; i++)
        usual[i] = past[i] = guard;
    apply(map, x, false, stride, usual + shift);
    apply(map, x, true, stride, past + shift);
    for (int64_t i = 0; i < size; i++)
        if (memcmp(usual + i, past + i, sizeof *usual) != 0)
            fail_msg("%s: %d rows of %d columns to %d features, a row every %d floats from %d on: place %d has %g, not %g", name, (int)x->rows, (int)map->n_in, (int)map->n_out,
                     (int)stride, (int)shift, (int)(i - shift), (double)past[i], (double)usual[i]);
    assert_true(shift == 0 || past[shift - 1] == guard);
    free(usual);
    free(past);
}

static void waves_past_the_caches_have_the_same_bits(void **unused)
{
    static const char *const names[] = {"fourier", "fourier:form=phase", "orthogonal", "orthogonal:directions=dense", "fastfood"};
    static const int64_t columns[] = {5, 40, 130, 600}, features[] = {64, 96, 1000, 2048, 4096, 4099}, rows[] = {1, 2, 13, 29, MOST_ROWS};
    static int64_t start[MOST_ROWS + 1]; /* three entries a row */
    static int32_t column[3 * MOST_ROWS];
    (void)unused;
    for (int i = 0; i < 3 * MOST_ROWS; i++) {
        start[i / 3 + 1] = i / 3 * 3 + 3;
        column[i] = i % 3;
    }
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            for (size_t f = 0; f < sizeof features / sizeof *features; f++) {
                if (columns[c] * features[f] > (quick() ? 100000 : 700000))
                    continue;
                kl_map *map = gram_map(names[n], "gaussian:gamma=0.02", columns[c], features[f], 3, 0);
                float *x = malloc((size_t)(MOST_ROWS * columns[c]) * sizeof *x);
                syn_rows_float(MOST_ROWS, columns[c], x);
                for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
                    kl_batch batch = dense_batch(rows[r], columns[c], x), entries = {.size = sizeof entries, .rows = rows[r], .columns = columns[c], .start = start, .column = column, .value = x};
                    for (int64_t shift = 0; shift < LINE; shift += rows[r] < 10 ? 1 : 5)
                        for (int64_t apart = 0; apart <= LINE; apart += apart == 0 ? 3 : LINE - 3) {
                            compare(map, names[n], &batch, shift, apart);
                            compare(map, names[n], &entries, shift, apart);
                        }
                }
                free(x);
                kl_map_free(map);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waves_past_the_caches_have_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
