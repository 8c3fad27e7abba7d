/*
 * test_map_threads.c - every map on every kernel that fits, fitted and applied by one thread and by three: the same bytes. Its
 * other use is the thread sanitizer, which sees what the threads of a map and of a kernel share.
 */
#include "kernel/kernel.h"
#include "map/map.h"
#include "training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 600, COLUMNS = 40 }; /* above 32, where directions change */

/* No entry is negative, every row has length 1: rows that all kernels and maps are for. */
static void make_rows(float *x)
{
    for (int i = 0; i < ROWS; i++) {
        double square = 0;
        for (int j = 0; j < COLUMNS; j++)
            square += pow(syn_normal((uint64_t)i, (uint64_t)j), 2);
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = (float)(fabs(syn_normal((uint64_t)i, (uint64_t)j)) / sqrt(square));
    }
}

/* z (ROWS, n_out), or NULL when the map is not for the kernel */
static float *lift(const char *kernel, const char *map_text, const klift_batch *x, const char *threads, int64_t *n_out)
{
    klift_spec *spec = spec_of(PAIRS("kernel", kernel, "map", map_text, "features", "96"));
    klift_run *run = run_of(PAIRS("threads", threads));
    klift_data *data;
    klift_map *map = NULL;
    float *z = NULL;
    int64_t n_in;
    assert_int_equal(klift_data_view(x, &data), KLIFT_OK);
    klift_status status = klift_map_fit(spec, data, run, &map);
    assert_true(status == KLIFT_OK || status == KLIFT_USAGE);
    if (status == KLIFT_OK) {
        assert_int_equal(klift_map_size(map, &n_in, n_out), KLIFT_OK);
        z = malloc((size_t)(ROWS * *n_out) * sizeof *z);
        assert_int_equal(klift_map_apply(map, x, z, *n_out, run), KLIFT_OK);
    }
    klift_map_free(map);
    klift_data_free(data);
    klift_spec_free(spec);
    klift_run_free(run);
    return z;
}

static int walk(const char *kernel, const klift_batch *x)
{
    int fitting = 0;
    for (int64_t m = 0; kl_map_type_at(m) != NULL; m++) {
        int64_t n_one, n_three;
        const char *text = kl_map_type_at(m)->name;
        if (strcmp(text, "craft") == 0)
            text = "craft(maclaurin)";
        float *one = lift(kernel, text, x, "1", &n_one), *three = lift(kernel, text, x, "3", &n_three);
        assert_int_equal(one == NULL, three == NULL);
        if (one != NULL) {
            assert_int_equal(n_one, n_three);
            if (memcmp(one, three, (size_t)(ROWS * n_one) * sizeof *one) != 0)
                fail_msg("%s of %s: other features with three threads", text, kernel);
            fitting++;
        }
        free(one);
        free(three);
    }
    if (fitting == 0)
        fail_msg("no map is for %s", kernel);
    return fitting;
}

static void every_map_lifts_the_same_with_threads(void **state)
{
    static const char *const composed[] = {"compose(exp, laplacian)", "compose(poly:degree=2, gaussian)", "compose(exp, intersection)", "compose(exp, poly)"};
    static float rows[ROWS * COLUMNS];
    int fitting = 0;
    (void)state;
    make_rows(rows);
    klift_batch x = {.size = sizeof x, .rows = ROWS, .columns = COLUMNS, .dense = rows, .stride = COLUMNS};
    for (int64_t k = 0; kl_kernel_type_at(k) != NULL; k++)
        if (kl_kernel_type_at(k)->compose == NULL)
            fitting += walk(kl_kernel_type_at(k)->name, &x);
    for (size_t k = 0; k < sizeof composed / sizeof composed[0]; k++)
        fitting += walk(composed[k], &x);
    print_message("%d pairs of a map and a kernel\n", fitting);
    assert_true(fitting > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_map_lifts_the_same_with_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
