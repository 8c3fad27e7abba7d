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

static void merging_different_specs_is_refused(void **state)
{
    table t = load("rings", "rows=100");
    klift_stats *one = empty(PAIRS("features", "20", "lambda", "1"), &t, 100), *two = empty(PAIRS("features", "30", "lambda", "1"), &t, 100);
    (void)state;
    assert_int_equal(klift_stats_merge(one, two, 1), KLIFT_USAGE);
    assert_non_null(strstr(klift_error(), "features"));
    klift_stats_free(one);
    klift_stats_free(two);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thirds_merged_give_the_scores_of_one_pass),
        cmocka_unit_test(what_was_added_can_be_forgotten),
        cmocka_unit_test(merging_different_specs_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
