/* test_late.c - sums that are added beside the products of the next block have the bits of those that are added at once, in every table that has them. */
#include "math/micro.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 900, STRIDE = KL_MICRO_WIDEST + 4 };

static float f32[MOST * KL_MICRO_WIDEST];
static double f64[MOST * KL_MICRO_WIDEST];

static void fill(void)
{
    for (int i = 0; i < MOST * KL_MICRO_WIDEST; i++) {
        f64[i] = syn_normal((uint64_t)i, 5);
        f32[i] = (float)f64[i];
    }
}

/* Blocks of many a length and number of rows, one behind the other, twice at the same place: what is there at the end has the bits of additions at once. */
static void sums_that_are_added_later_have_the_bits_of_those_at_once(void **state)
{
    static const int64_t lengths[] = {512, 1, 447, 448, 16, 15, 800, 33, 0, 300};
    enum { COUNT = 10, PLACES = 3, SIZE = KL_MICRO_LEFT * STRIDE };
    (void)state;
    fill();
    for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
        const kl_micro *m = kl_micro_at(t);
        double once[PLACES * SIZE], behind[PLACES * SIZE];
        kl_late late = {.rows = 0};
        if (m->add_late == NULL)
            continue;
        for (int64_t rows = 1; rows <= m->left32; rows++) {
            for (int i = 0; i < PLACES * SIZE; i++)
                once[i] = behind[i] = f64[i];
            for (int i = 0; i < COUNT; i++) {
                double *place = once + i / 2 % PLACES * SIZE, copy[SIZE];
                memcpy(copy, place, sizeof copy);
                m->add32(lengths[i], f32 + i, f32 + 99 * i, copy, STRIDE);
                memcpy(place, copy, (size_t)(rows * STRIDE) * sizeof *place);
                m->add_late(rows, lengths[i], f32 + i, f32 + 99 * i, behind + i / 2 % PLACES * SIZE, STRIDE, &late);
            }
            m->late(&late);
            assert_memory_equal(behind, once, sizeof once);
            m->late(&late); /* none wait */
            assert_memory_equal(behind, once, sizeof once);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_that_are_added_later_have_the_bits_of_those_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
