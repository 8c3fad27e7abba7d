/*
 * test_copies.c - the map copies: each copy is the inner map of its own stream, the law is that of the inner map over the copies, what was fitted
 * is the same in all of them, and what has no copies is refused.
 */
#include "gram.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 20, COLUMNS = 5 };

static float x[ROWS * COLUMNS];

static klift_batch some_rows(void)
{
    syn_rows_float(ROWS, COLUMNS, x);
    return dense_batch(ROWS, COLUMNS, x);
}

static void copy_t_is_the_inner_map_of_stream_t(void **state)
{
    enum { EACH = 10, COPIES = 3 };
    klift_batch rows = some_rows();
    (void)state;
    for (uint32_t stream = 0; stream < 2; stream++) {
        kl_map *all = gram_map("copies(fourier):each=10", "gaussian:gamma=0.5", COLUMNS, EACH * COPIES - 1, 7, stream);
        float *z = gram_lift(all, &rows), scale = (float)sqrt(1.0 / COPIES);
        assert_int_equal(all->n_out, EACH * COPIES);
        assert_int_equal(kl_map_parts(all), COPIES);
        assert_null(all->type->part(all, COPIES));
        for (int t = 0; t < COPIES; t++) {
            kl_map *one = gram_map("fourier", "gaussian:gamma=0.5", COLUMNS, EACH, 7, stream * COPIES + (uint32_t)t);
            float *own = gram_lift(one, &rows), *part = gram_lift(all->type->part(all, t), &rows);
            assert_memory_equal(part, own, ROWS * EACH * sizeof *own);
            for (int i = 0; i < ROWS * EACH; i++)
                assert_true(z[i / EACH * EACH * COPIES + t * EACH + i % EACH] == scale * own[i]);
            free(own);
            free(part);
            kl_map_free(one);
        }
        free(z);
        kl_map_free(all);
    }
}

static void the_law_is_that_of_the_inner_map_over_the_copies(void **state)
{
    static const struct {
        const char *inner, *kernel;
    } cases[] = {{"orthogonal", "gaussian:gamma=0.5"}, {"fourier:form=phase", "laplacian:gamma=0.5"}, {"tensor-sketch", "poly:degree=3"}, {"craft(tensor-sketch):up=2", "poly:degree=3"}, {"maclaurin", "exp"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[80];
        snprintf(text, sizeof text, "copies(%s):each=16", cases[i].inner);
        gram_errors four = gram_check(&(gram_case){COLUMNS, text, cases[i].kernel, 64, quick() ? 10 : 40});
        kl_map *one = gram_map(cases[i].inner, cases[i].kernel, COLUMNS, 16, 1, 0);
        kl_map *all = gram_map(text, cases[i].kernel, COLUMNS, 64, 1, 0);
        kl_pair pair;
        double a[COLUMNS] = {0.6, 0, 0.8}, b[COLUMNS] = {0, 0.6, 0.8};
        kl_pair_set(&pair, COLUMNS, a, b);
        assert_int_equal(four.outputs, 4 * one->n_out);
        assert_true(fabs(all->type->variance(all, &pair) - one->type->variance(one, &pair) / 4) <= 1e-12);
        kl_map_free(one);
        kl_map_free(all);
    }
}

/* What data decided is the same in every copy, and in a copy of them all that was stored and loaded. */
static void a_stored_map_has_the_same_features(void **state)
{
    static const char *const texts[][2] = {{"copies(maclaurin):each=12", "exp"}, {"copies(orthogonal):each=8", "gaussian"},
#ifndef KLIFT_WITHOUT_SPHERICAL
                                           {"copies(spherical):each=12", "poly:degree=3,gamma=0.5,offset=0.5"},
#endif
                                           {"copies(craft(maclaurin)):each=12", "exp"}};
    klift_batch rows = some_rows();
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        kl_map *map = gram_map(texts[i][0], texts[i][1], COLUMNS, 36, 3, 2), *again, *other;
        OK(kl_map_stream(map, 2, NULL, &again));
        OK(kl_map_stream(map, 3, NULL, &other));
        float *z = gram_lift(map, &rows), *stored = gram_lift(again, &rows), *fresh = gram_lift(other, &rows);
        size_t bytes = (size_t)(ROWS * map->n_out) * sizeof *z;
        assert_int_equal(again->n_out, map->n_out);
        assert_true(kl_map_parts(map) > 1);
        assert_memory_equal(stored, z, bytes);
        assert_true(memcmp(fresh, z, bytes) != 0);
        free(z);
        free(stored);
        free(fresh);
        kl_map_free(map);
        kl_map_free(again);
        kl_map_free(other);
    }
}

static void a_map_without_copies_is_refused(void **state)
{
    static const struct {
        const char *map, *kernel, *said;
    } cases[] = {{"copies(nystrom)", "gaussian", "nystrom has no independent copies"},       {"copies(taylor)", "gaussian", "taylor has no independent copies"},
                 {"copies(monomial)", "poly:degree=2", "monomial has no independent copies"}, {"copies(copies(fourier))", "gaussian", "leave one of both out"},
                 {"copies(identity)", "linear", "does not fit kernel linear"},                {"copies:each=1", "gaussian", "raise each"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(gram_try(cases[i].map, cases[i].kernel, COLUMNS, 1 << 17), KLIFT_USAGE);
        if (strstr(klift_error(), cases[i].said) == NULL)
            fail_msg("%s: %s", cases[i].map, klift_error());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_t_is_the_inner_map_of_stream_t),
        cmocka_unit_test(the_law_is_that_of_the_inner_map_over_the_copies),
        cmocka_unit_test(a_stored_map_has_the_same_features),
        cmocka_unit_test(a_map_without_copies_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
