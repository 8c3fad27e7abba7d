/*
 * test_stats.c - statistics of parts, through the public header: added, taken away, and refused where the parts are
 * of different specs.
 */
#include "training.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static klift_model *train_by_thirds(const klift_spec *spec, const table *t, klift_run *run)
{
    klift_stats *part[3];
    klift_model *model;
    klift_batch all = rows_of(t, 0, t->n);
    klift_map *map = map_of(spec, &all, run);
    for (int i = 0; i < 3; i++) {
        int64_t first = t->n * i / 3, last = t->n * (i + 1) / 3;
        klift_batch rows = rows_of(t, first, last - first);
        part[i] = stats_of(map, spec, &rows, run);
    }
    OK(klift_stats_merge(part[0], part[2], 1));
    OK(klift_stats_merge(part[0], part[1], 1));
    OK(klift_stats_solve(part[0], run, &model));
    for (int i = 0; i < 3; i++)
        klift_stats_free(part[i]);
    klift_map_free(map);
    return model;
}

static void thirds_merged_give_the_scores_of_one_pass(void **state)
{
    static const char *const names[] = {"rings", "friedman"};
    static const char *const settings[] = {"features", "200", "task", "auto", NULL};
    (void)state;
    for (int i = 0; i < 2; i++) {
        klift_spec *spec = spec_of(settings);
        klift_run *run = run_of(PAIRS("threads", "2", "batch", "1000"));
        table t = load(names[i], "rows=9000,seed=5");
        klift_batch all = rows_of(&t, 0, t.n);
        klift_model *whole, *merged = train_by_thirds(spec, &t, run);
        OK(train_rows(spec, &all, run, &whole));
        double difference = largest_score_difference(whole, merged, &all);
        print_message("%s: largest difference %g\n", names[i], difference);
        assert_true(difference <= 1e-6);
        klift_model_free(whole);
        klift_model_free(merged);
        klift_run_free(run);
        klift_spec_free(spec);
        table_free(&t);
    }
}

static void what_was_added_can_be_forgotten(void **state)
{
    static const char *const settings[] = {"features", "100", "lambda", "1e-4", "task", "regress", NULL};
    klift_spec *spec = spec_of(settings);
    table t = load("friedman", "rows=3000,seed=6");
    klift_batch all = rows_of(&t, 0, 3000), head = rows_of(&t, 0, 2000), tail = rows_of(&t, 2000, 1000);
    klift_map *map = map_of(spec, &all, NULL);
    klift_stats *kept = stats_of(map, spec, &all, NULL), *gone = stats_of(map, spec, &tail, NULL), *only = stats_of(map, spec, &head, NULL);
    klift_model *a, *b;
    (void)state;
    OK(klift_stats_merge(kept, gone, -1));
    OK(klift_stats_solve(kept, NULL, &a));
    OK(klift_stats_solve(only, NULL, &b));
    assert_true(largest_score_difference(a, b, &all) <= 1e-5);
    klift_model_free(a);
    klift_model_free(b);
    klift_stats_free(kept);
    klift_stats_free(gone);
    klift_stats_free(only);
    klift_map_free(map);
    klift_spec_free(spec);
    table_free(&t);
}

/* Empty statistics under a map of these settings and rows. */
static klift_stats *empty(const char *const *settings, const table *t, int64_t rows)
{
    klift_spec *spec = spec_of(settings);
    klift_batch some = rows_of(t, 0, rows);
    klift_map *map = map_of(spec, &some, NULL);
    klift_stats *stats;
    OK(klift_stats_new(map, spec, NULL, &stats));
    klift_map_free(map);
    klift_spec_free(spec);
    return stats;
}

/* The setting is named with what it was in both parts. */
static void parts_of_different_settings_are_refused(void **state)
{
    static const struct {
        const char *setting[5], *says;
    } cases[] = {
        {{"lambda", "2", NULL}, "lambda=1 and lambda=2"},
        {{"lambda", "auto", NULL}, "lambda=1 and lambda=auto"},
        {{"lambda", "auto", "c", "3", NULL}, "lambda=1 and lambda=auto"},
        {{"search", "holdout", NULL}, "search=none and search=holdout"},
        {{"folds", "7", NULL}, "folds=5 and folds=7"},
        {{"code", "random", NULL}, "code=none and code=random"},
        {{"class-weight", "1=5,2=0.5", NULL}, "class-weight=none and class-weight=1=5,2=0.5"},
        {{"task", "regress", NULL}, "task=classify and task=regress"},
        {{"allow-one-class", "true", NULL}, "allow-one-class=false and allow-one-class=true"},
        {{"probability", "true", NULL}, "probability=false and probability=true"},
        {{"features", "30", NULL}, "features 20, "},
        {{"kernel", "gaussian:gamma=2", NULL}, "kernel gaussian:gamma=2"},
        {{"map", "fourier:form=phase", NULL}, "map fourier:form=phase"},
        {{"prepare", "unit", NULL}, "prepare unit"},
        {{"seed", "4", NULL}, "seed 4"},
    };
    table t = load("rings", "rows=300");
    klift_stats *one = empty(PAIRS("features", "20", "lambda", "1", "kernel", "gaussian:gamma=1", "map", "fourier"), &t, 300);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const *more = cases[i].setting;
        klift_stats *other = empty(PAIRS("features", "20", "lambda", "1", "kernel", "gaussian:gamma=1", "map", "fourier", more[0], more[1], more[2], more[2] != NULL ? more[3] : NULL), &t, 300);
        for (int sign = -1; sign <= 1; sign += 2) {
            assert_int_equal(klift_stats_merge(one, other, sign), KLIFT_USAGE);
            if (strstr(klift_error(), cases[i].says) == NULL)
                fail_msg("no '%s' in: %s", cases[i].says, klift_error());
        }
        klift_stats_free(other);
    }
    klift_stats_free(one);
    table_free(&t);
}

/* bits and decode are settings of a code; weights of classes are the same in any order and spelling of the labels. */
static void parts_of_different_codes_and_weights_are_refused(void **state)
{
    table t = load("rings", "rows=300");
    klift_stats *part[] = {
        empty(PAIRS("features", "20", "lambda", "1", "code", "random", "bits", "20", "class-weight", "1=5,2=0.5"), &t, 300),
        empty(PAIRS("features", "20", "lambda", "1", "code", "random", "bits", "20", "class-weight", "2.0=0.5,+1=5"), &t, 300),
        empty(PAIRS("features", "20", "lambda", "1", "code", "random", "bits", "30", "class-weight", "1=5,2=0.5"), &t, 300),
        empty(PAIRS("features", "20", "lambda", "1", "code", "random", "bits", "20", "decode", "hamming", "class-weight", "1=5,2=0.5"), &t, 300),
        empty(PAIRS("features", "20", "lambda", "1", "code", "random", "bits", "20", "class-weight", "1=5,2=0.25"), &t, 300),
        empty(PAIRS("features", "20", "lambda", "1", "code", "random", "bits", "20", "class-weight", "1=5"), &t, 300),
    };
    static const char *const says[] = {NULL, NULL, "bits=20 and bits=30", "decode=soft and decode=hamming", "class-weight=1=5,2=0.5 and class-weight=1=5,2=0.25 cannot",
                                       "class-weight=1=5,2=0.5 and class-weight=1=5 cannot"};
    (void)state;
    OK(klift_stats_merge(part[0], part[1], 1));
    for (int i = 2; i < 6; i++) {
        assert_int_equal(klift_stats_merge(part[0], part[i], 1), KLIFT_USAGE);
        if (strstr(klift_error(), says[i]) == NULL)
            fail_msg("no '%s' in: %s", says[i], klift_error());
    }
    for (int i = 0; i < 6; i++)
        klift_stats_free(part[i]);
    table_free(&t);
}

/* The settings are the same, gamma=auto is not: each part found its own. */
static void parts_of_maps_fitted_on_different_rows_are_refused(void **state)
{
    table t = load("rings", "rows=300");
    klift_stats *all = empty(PAIRS("features", "20", "lambda", "1"), &t, 300), *again = empty(PAIRS("features", "20", "lambda", "1"), &t, 300);
    klift_stats *half = empty(PAIRS("features", "20", "lambda", "1"), &t, 150), *scaled[2];
    (void)state;
    OK(klift_stats_merge(all, again, 1));
    assert_int_equal(klift_stats_merge(all, half, 1), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "the maps are different ones: kernel gaussian:gamma="));
    for (int i = 0; i < 2; i++)
        scaled[i] = empty(PAIRS("features", "20", "lambda", "1", "kernel", "gaussian:gamma=1", "prepare", "standardise"), &t, i == 0 ? 300 : 150);
    assert_int_equal(klift_stats_merge(scaled[0], scaled[1], 1), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "were fitted on different rows; fit one map"));
    klift_stats_free(all);
    klift_stats_free(again);
    klift_stats_free(half);
    klift_stats_free(scaled[0]);
    klift_stats_free(scaled[1]);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thirds_merged_give_the_scores_of_one_pass),
        cmocka_unit_test(what_was_added_can_be_forgotten),
        cmocka_unit_test(parts_of_different_settings_are_refused),
        cmocka_unit_test(parts_of_different_codes_and_weights_are_refused),
        cmocka_unit_test(parts_of_maps_fitted_on_different_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
