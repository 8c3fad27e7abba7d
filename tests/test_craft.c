/*
 * test_craft.c - maps around maps: the grammar, printing and storing of craft(inner); its variance against the closed form; the
 * published down-projections; more features than columns and fewer; scratch that does not grow with up.
 */
#include "gram.h"
#include "support.h"

#include "base/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void folded_copies_have_the_variance_of_the_closed_form(void **state)
{
    static const int64_t widths[] = {5, 54, 123, 784, 1000};
    (void)state;
    gram_check(&(gram_case){16, "craft(tensor-sketch):up=4", "poly:degree=3", 256, 20});
    gram_check(&(gram_case){64, "craft(tree):up=8", "poly:degree=3", 256, 20});
    gram_check(&(gram_case){64, "craft(tensor-sketch):up=8", "poly:degree=7", 256, 20});
    gram_check(&(gram_case){16, "craft(fourier):up=3", "gaussian:gamma=1", 128, 20});
    gram_check(&(gram_case){16, "craft(fourier:form=phase):up=5", "gaussian:gamma=1", 77, 20});
    gram_check(&(gram_case){16, "craft(tree):up=1", "poly:degree=2", 64, 20});
    for (int w = 0; w < 5 && !quick(); w++) { /* fewer features than columns too */
        gram_check(&(gram_case){widths[w], "craft(tensor-sketch):up=4", "poly:degree=3", 100, 20});
        gram_check(&(gram_case){widths[w], "craft(tree):up=2", "poly:degree=2,offset=0.5", 256, 20});
    }
    if (quick())
        return;
    gram_check(&(gram_case){64, "craft(tensor-sketch):up=16", "poly:degree=10", 256, 20});
    gram_check(&(gram_case){64, "craft(tensor-sketch):up=16", "poly:degree=7", 1024, 12});
    gram_check(&(gram_case){64, "craft(orthogonal):up=4", "gaussian:gamma=1", 256, 20});
}

/* Degrees 0 and 1 are taken out of maclaurin's copies and mixed once: more features than columns, as many, and fewer. */
static void exact_columns_are_mixed_once(void **state)
{
    static const char *const maps[] = {"craft(maclaurin:h01=true):up=8", "craft(maclaurin:h01=false):up=8", "craft(maclaurin):up=8",
                                       "craft(maclaurin:law=geometric,signs=real,h01=true):up=8"};
    static const int64_t features[] = {40, 64, 128, 1000};
    (void)state;
    for (int m = 0; m < 4; m++)
        for (int f = 0; f < (quick() ? 3 : 4); f++)
            gram_check(&(gram_case){64, maps[m], "poly:degree=3", features[f], 20});
    gram_check(&(gram_case){16, "craft(maclaurin:h01=true):up=4", "exp", 30, 20});
    gram_check(&(gram_case){16, "craft(maclaurin:exact=2):up=4", "poly:degree=4", 100, 20});
    gram_check(&(gram_case){16, "craft(maclaurin:law=signal):up=8", "poly:degree=3", 100, 20}); /* degrees apart */
    gram_check(&(gram_case){16, "craft(maclaurin:law=signal,signs=real):up=3", "poly:degree=4,offset=0", 77, 20});
    if (quick())
        return;
    gram_check(&(gram_case){784, "craft(maclaurin:h01=true):up=4", "poly:degree=3", 300, 12}); /* the paper's small feature spaces */
    gram_check(&(gram_case){64, "craft(maclaurin):up=16", "poly:degree=7", 1024, 12});
}

static void check_diagonal(const char *text, const char *kernel)
{
    enum { D = 16, SEEDS = 2000 };
    float x[D];
    double y[D], square[SEEDS], mean = 0, spread = 0, stated = 0;
    kl_pair pair;
    syn_rows_float(1, D, x);
    for (int j = 0; j < D; j++)
        y[j] = (double)x[j];
    kl_pair_set(&pair, D, y, y);
    klift_batch row = dense_batch(1, D, x);
    for (int s = 0; s < SEEDS; s++) {
        kl_map *map = gram_map(text, kernel, D, 32, (uint64_t)(1 + s), 0);
        float *z = gram_lift(map, &row);
        square[s] = pow(gram_product(map->n_out, z, z) - kl_kernel_value(map->kernel, &pair), 2);
        mean += square[s] / SEEDS;
        stated = map->type->variance(map, &pair);
        free(z);
        kl_map_free(map);
    }
    for (int s = 0; s < SEEDS; s++)
        spread += pow(square[s] - mean, 2) / (SEEDS - 1);
    print_message("%s %s: MSE %g (se %g), stated %g\n", text, kernel, mean, sqrt(spread / SEEDS), stated);
    assert_true(fabs(mean - stated) <= 5 * sqrt(spread / SEEDS));
}

static void a_row_with_itself_has_the_stated_variance(void **state)
{
    (void)state;
    check_diagonal("craft(maclaurin:h01=true):up=4", "poly:degree=3"); /* over all pairs products of exact and folded columns nearly cancel */
    check_diagonal("craft(maclaurin:law=signal):up=32", "poly:degree=3");
    check_diagonal("craft(fourier):up=8", "gaussian:gamma=0.05");      /* sines are small: without rotations 1.7 times as much */
}

static void exact_columns_are_counted_and_outputs_are_those_asked_for(void **state)
{
    static const struct {
        const char *map;
        int64_t features, exact;
    } is[] = {{"craft(maclaurin:h01=true):up=8", 30, 65},       {"craft(maclaurin:h01=true):up=8", 300, 65},    {"craft(maclaurin:h01=false):up=8", 30, 1},
              {"craft(maclaurin:exact=2):up=100", 64, 65 + 2080}, {"craft(maclaurin:law=geometric,h01=false):up=2", 30, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++) {
        kl_map *map = gram_map(is[i].map, "poly:degree=3", 64, is[i].features, 1, 0);
        assert_int_equal(map->n_out, is[i].features);
        assert_int_equal(map->inner->type->exact_columns(map->inner), is[i].exact);
        assert_int_equal(map->inner->n_out, is[i].features + is[i].exact);
        kl_map_free(map);
    }
    assert_int_equal(gram_try("craft(maclaurin:h01=true):up=2", "poly:degree=3", 64, 20), KLIFT_USAGE); /* 40 features have no room for 65 */
}

/* With ever more copies the error goes to (K(x,x) K(y,y) + K^2) / E, and never below it. */
static void it_reaches_the_limit_and_stays_above(void **state)
{
    double limit = 1.656e4 / 256, last = 1e300; /* d = 64, degree 7 */
    static const char *const maps[] = {"craft(tensor-sketch):up=2", "craft(tensor-sketch):up=16", "craft(tensor-sketch):up=128"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        gram_errors e = gram_measure(&(gram_case){64, maps[i], "poly:degree=7", 256, 2});
        assert_true(e.stated < last);
        last = e.stated;
    }
    assert_true(last < 1.05 * limit && last > 0.98 * limit);
}

/* Their variance has no closed form; that of D features plus the limit at E is near it. */
static void published_down_projections_are_unbiased_and_as_good_as_the_fold(void **state)
{
    double flat = gram_measure(&(gram_case){64, "tensor-sketch", "poly:degree=3", 1024, 2}).stated, limit = 67.66 / 256;
    static const char *const maps[] = {"craft(tensor-sketch):up=4,down=srht", "craft(tensor-sketch):up=4,down=jl", "craft(tensor-sketch):up=4,down=fold"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        gram_errors e = gram_measure(&(gram_case){64, maps[i], "poly:degree=3", 256, 20});
        print_message("%s: MSE %g (se %g), about %g; bias %g (se %g)\n", maps[i], e.mse, e.mse_error, flat + limit, e.bias, e.bias_error);
        assert_int_equal(e.outputs, 256);
        assert_true(i == 2 || isnan(e.stated));
        assert_true(fabs(e.bias) <= 5 * e.bias_error);
        assert_true(e.mse > 0.75 * (flat + limit) && e.mse < 1.25 * (flat + limit));
    }
}

static void what_cannot_be_wrapped_is_refused(void **state)
{
    static const struct {
        const char *map, *kernel, *says;
    } bad[] = {
        {"craft(tensor-sketch):up=0", "poly", "up"},
        {"craft(tensor-sketch):up=0.5", "poly", "up"},
        {"craft(tensor-sketch):up=-3", "poly", "up"},
        {"craft(tensor-sketch):down=sideways", "poly", "down"},
        {"craft(identity)", "linear", "does not fit"},
        {"craft(craft(tensor-sketch))", "poly", "craft in craft"},
        {"craft(fourier)", "poly", "fourier does not fit"},
        {"craft(tensor-sketch, tree)", "poly", "one map"},
        {"craft(tensorsketch)", "poly", "tensor-sketch"},
        {"craft(tree:sign=real)", "poly", "signs"},
        {"tree(tensor-sketch)", "poly", "no arguments"},
        {"craft(nystrom)", "poly", "random features"},
        {"craft(tensor-sketch):up=65536", "poly", "more than"},
        {"craft(auto)", "poly", "auto"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        klift_status status = gram_try(bad[i].map, bad[i].kernel, 5, 1024);
        if (status != KLIFT_USAGE || strstr(kl_error_text(), bad[i].says) == NULL)
            print_message("%s: %d %s\n", bad[i].map, (int)status, kl_error_text());
        assert_int_equal(status, KLIFT_USAGE);
        assert_non_null(strstr(kl_error_text(), bad[i].says));
    }
    assert_int_equal(kl_map_check("craft(tree:signs=real):up=3"), KLIFT_OK);
    assert_int_equal(kl_map_check("craft(tree:signs=odd):up=3"), KLIFT_USAGE);
    assert_int_equal(kl_map_check("craft(treee)"), KLIFT_USAGE);
}

static void it_prints_what_it_is_and_reads_it_back(void **state)
{
    static const struct {
        const char *given, *printed;
    } text[] = {{"craft(tree:signs=real):up=3", "craft(tree:signs=real):up=3,down=fold"},
                {" craft ( tensor-sketch ) : 5", "craft(tensor-sketch):up=5,down=fold"},
                {"craft(fourier)", "craft(fourier:form=paired):up=8,down=fold"}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        kl_text printed = {0}, again = {0};
        kl_map *map = gram_map(text[i].given, i == 2 ? "gaussian:gamma=1" : "poly", 5, 32, 1, 0);
        kl_map_print(map, &printed);
        assert_string_equal(printed.text, text[i].printed);
        kl_map *twice = gram_map(printed.text, i == 2 ? "gaussian:gamma=1" : "poly", 5, 32, 1, 0);
        kl_map_print(twice, &again);
        assert_string_equal(again.text, printed.text);
        kl_text_clear(&printed);
        kl_text_clear(&again);
        kl_map_free(map);
        kl_map_free(twice);
    }
}

/* A map's bytes with its text put in the place of that of another one, loaded. */
static klift_status load_text(const char *kernel, const char *text, int64_t features, int64_t exact)
{
    kl_record_writer to;
    kl_record_reader from;
    kl_map *map;
    uint32_t tag;
    kl_record_begin(&to, KL_RECORD_MODEL);
    kl_record_open(&to, KL_TAG('T', 'E', 'S', 'T'), true);
    kl_record_put_text(&to, kernel);
    kl_record_put_text(&to, text);
    kl_record_put_u32(&to, KL_STREAM_VERSION);
    kl_record_put_i64(&to, 7);
    kl_record_put_u32(&to, 0);
    kl_record_put_i64(&to, features);
    kl_record_put_i64(&to, 5);
    kl_record_put_i64(&to, features);
    kl_record_put_i64(&to, exact);
    kl_record_close(&to);
    assert_int_equal(kl_record_finish(&to), KLIFT_OK);
    assert_int_equal(kl_record_check(&from, to.bytes, to.length, KL_RECORD_MODEL), KLIFT_OK);
    assert_int_equal(kl_record_next(&from, &tag), KLIFT_OK);
    klift_status status = kl_map_load(&from, 5, NULL, &map);
    kl_map_free(map);
    kl_record_clear(&to);
    return status;
}

static void damaged_and_hostile_files_are_refused(void **state)
{
    char deep[400] = "", end[40] = "";
    (void)state;
    assert_int_equal(load_text("poly", "craft(tree):up=2", 32, 0), KLIFT_OK);
    assert_int_equal(load_text("poly", "craft(tree):up=2", 32, 1), KLIFT_MODEL);
    assert_int_equal(load_text("poly", "craft(tree):up=2", 32, -1), KLIFT_MODEL);
    assert_int_equal(load_text("poly", "craft(tree):up=2", 32, INT64_MAX), KLIFT_MODEL);
    assert_int_equal(load_text("poly", "craft(tree):up=2", 16777216, 0), KLIFT_MODEL);
    assert_int_equal(load_text("poly", "craft(craft(tree)):up=2", 32, 0), KLIFT_MODEL);
    assert_int_equal(load_text("poly", "craft(identity):up=2", 32, 0), KLIFT_MODEL);
    assert_int_equal(load_text("poly:degree=1000", "craft(tree):up=65536", 200, 0), KLIFT_MODEL); /* by its memory, before it is drawn */
    for (int i = 0; i < 30; i++) {
        strcat(deep, "craft(");
        strcat(end, ")");
    }
    strcat(strcat(deep, "tree"), end);
    assert_int_equal(load_text("poly", deep, 32, 0), KLIFT_MODEL);
    assert_int_equal(kl_map_check(deep), KLIFT_USAGE);
}

static void copies_are_of_different_streams_and_streams_of_different_copies(void **state)
{
    enum { D = 6 };
    float x[3 * D];
    (void)state;
    syn_rows_float(3, D, x);
    klift_batch rows = dense_batch(3, D, x);
    kl_map *map = gram_map("craft(tree):up=3", "poly", D, 32, 5, 2), *inner = gram_map("tree", "poly", D, 32, 5, 6), *copy;
    assert_int_equal(map->inner->stream, 6); /* 3 streams to each of the outer ones */
    float *one = gram_lift(inner, &rows), *two = gram_lift(map->inner, &rows);
    assert_memory_equal(one, two, (size_t)(3 * inner->n_out) * sizeof *one);
    assert_int_equal(kl_map_stream(inner, 7, NULL, &copy), KLIFT_OK);
    kl_map *other = gram_map("tree", "poly", D, 32, 5, 7);
    float *three = gram_lift(copy, &rows), *four = gram_lift(other, &rows);
    assert_memory_equal(three, four, (size_t)(3 * inner->n_out) * sizeof *one);
    assert_memory_not_equal(three, one, (size_t)(3 * inner->n_out) * sizeof *one);
    free(one);
    free(two);
    free(three);
    free(four);
    kl_map_free(map);
    kl_map_free(inner);
    kl_map_free(copy);
    kl_map_free(other);
}

static void a_million_features_need_less_than_a_megabyte_of_scratch(void **state)
{
    int64_t features = 4096;
    (void)state;
    kl_map *random = gram_map("craft(maclaurin:h01=true):up=256", "poly:degree=3", 784, features, 1, 0);
    print_message("around maclaurin %lld bytes\n", (long long)kl_map_scratch(random, 256));
    assert_true(kl_map_scratch(random, 256) < 1 << 20);
    kl_map_free(random);
    kl_map *map = gram_map("craft(tensor-sketch):up=256", "poly:degree=3", 784, features, 1, 0);
    print_message("scratch %lld bytes for 256 rows\n", (long long)kl_map_scratch(map, 256));
    assert_true(kl_map_scratch(map, 256) < 1 << 20);
    assert_int_equal(map->n_out, features);
    float *x = malloc(20 * 784 * sizeof *x);
    syn_rows_float(20, 784, x);
    klift_batch rows = dense_batch(20, 784, x);
    float *z = gram_lift(map, &rows);
    double same = gram_product(features, z, z);
    assert_true(same > 7 && same < 9); /* K(x, x) = 8 */
    free(z);
    free(x);
    kl_map_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_copies_have_the_variance_of_the_closed_form),
        cmocka_unit_test(exact_columns_are_mixed_once),
        cmocka_unit_test(a_row_with_itself_has_the_stated_variance),
        cmocka_unit_test(exact_columns_are_counted_and_outputs_are_those_asked_for),
        cmocka_unit_test(it_reaches_the_limit_and_stays_above),
        cmocka_unit_test(published_down_projections_are_unbiased_and_as_good_as_the_fold),
        cmocka_unit_test(what_cannot_be_wrapped_is_refused),
        cmocka_unit_test(it_prints_what_it_is_and_reads_it_back),
        cmocka_unit_test(damaged_and_hostile_files_are_refused),
        cmocka_unit_test(copies_are_of_different_streams_and_streams_of_different_copies),
        cmocka_unit_test(a_million_features_need_less_than_a_megabyte_of_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
