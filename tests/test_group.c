/* test_group.c - four rows at a time against the definition, and rows in float32, in 16 bits and by entries bit for bit alike. */
#include "math/bfloat16.h"
#include "math/group.h"
#include "math/micro.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WIDEST = 203 };
static const int64_t widths[] = {0, 1, 7, 8, 9, 15, 16, 17, 64, WIDEST};
enum { WIDTHS = sizeof widths / sizeof widths[0] };
static const kl_narrow kinds[] = {KL_BFLOAT16, KL_INT16};

/* Rows of numbers that 16 bits hold, every fifth one zero, in the three forms. */
static struct rows {
    float value[KL_GROUP][WIDEST], w[WIDEST], entry[KL_GROUP][WIDEST];
    uint16_t half[KL_GROUP][WIDEST];
    int32_t column[KL_GROUP][WIDEST];
    kl_row dense[KL_GROUP], narrow[KL_GROUP], sparse[KL_GROUP];
} rows;

static void make(int64_t n, kl_narrow kind)
{
    for (int64_t p = 0; p < n; p++)
        rows.w[p] = (float)syn_normal(3, (uint64_t)p);
    for (int g = 0; g < KL_GROUP; g++) {
        int64_t count = 0;
        for (int64_t p = 0; p < n; p++)
            rows.value[g][p] = (p + g) % 5 == 0 ? 0 : (float)syn_normal((uint64_t)(10 + g), (uint64_t)p);
        rows.narrow[g] = (kl_row){.count = n, .half = rows.half[g], .scale = kl_narrow_row(kind, n, rows.value[g], rows.half[g])};
        kl_narrow_round(kind, n, rows.value[g]);
        for (int64_t p = 0; p < n; p++)
            if (rows.value[g][p] != 0) {
                rows.column[g][count] = (int32_t)p;
                rows.entry[g][count++] = rows.value[g][p];
            }
        rows.dense[g] = (kl_row){.count = n, .value = rows.value[g]};
        rows.sparse[g] = (kl_row){.count = count, .column = rows.column[g], .value = rows.entry[g]};
    }
}

static void pointers(const kl_row *z, const kl_row **to)
{
    for (int g = 0; g < KL_GROUP; g++)
        to[g] = &z[g];
}

/* Sums of a table have no scales: powers of two, which change no other bit. */
static void scale(const kl_row *const *z, double *f, double *inner)
{
    for (int g = 0, pair = 0; g < KL_GROUP; g++) {
        f[g] *= (double)kl_row_scale(z[g]);
        for (int h = 0; h < g; h++, pair++)
            inner[pair] *= (double)kl_row_scale(z[g]) * (double)kl_row_scale(z[h]);
    }
}

static void check_sums(const kl_micro *table, bool narrow, int64_t n)
{
    const kl_row *z[KL_GROUP];
    double f[KL_GROUP], inner[KL_GROUP_PAIRS], reference_f[KL_GROUP], reference_inner[KL_GROUP_PAIRS];
    pointers(rows.dense, z);
    kl_micro_portable.group_dots(z, z, n, rows.w, reference_f, reference_inner);
    pointers(narrow ? rows.narrow : rows.dense, z);
    table->group_dots(z, z, n, rows.w, f, inner);
    scale(z, f, inner);
    assert_memory_equal(f, reference_f, sizeof f);
    assert_memory_equal(inner, reference_inner, sizeof inner);
    for (int g = 0, pair = 0; g < KL_GROUP; g++) {
        double sum = 0;
        for (int64_t p = 0; p < n; p++)
            sum += (double)rows.value[g][p] * (double)rows.w[p];
        assert_true(fabs(sum - f[g]) < 1e-5 * (double)(n + 1));
        for (int h = 0; h < g; h++, pair++) {
            sum = 0;
            for (int64_t p = 0; p < n; p++)
                sum += (double)rows.value[g][p] * (double)rows.value[h][p];
            assert_true(fabs(sum - inner[pair]) < 1e-5 * (double)(n + 1));
        }
    }
}

static void every_table_has_the_sums_of_the_definition(void **state)
{
    (void)state;
    for (int s = 0; s < WIDTHS; s++)
        for (int kind = 0; kind < 2; kind++)
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
                make(widths[s], kinds[kind]);
                check_sums(kl_micro_at(t), false, widths[s]);
                check_sums(kl_micro_at(t), true, widths[s]);
            }
}

static void check_additions(const kl_micro *table, int64_t n)
{
    static const float factor[KL_GROUP] = {0.3f, -1.7f, 0, 2.5f};
    const kl_row *z[KL_GROUP];
    float copy[2][WIDEST], delta[2][WIDEST] = {{0}}, scaled[KL_GROUP];
    double w[WIDEST];
    for (int narrow = 0; narrow < 2; narrow++) {
        memcpy(copy[narrow], rows.w, sizeof rows.w);
        pointers(narrow ? rows.narrow : rows.dense, z);
        for (int g = 0; g < KL_GROUP; g++)
            scaled[g] = factor[g] * kl_row_scale(z[g]);
        table->group_add(z, n, scaled, copy[narrow], delta[narrow]);
    }
    assert_memory_equal(copy[0], copy[1], sizeof copy[0]);
    assert_memory_equal(delta[0], delta[1], sizeof delta[0]);
    for (int64_t p = 0; p < n; p++) {
        double sum = 0;
        w[p] = (double)rows.w[p] + 1e-12;
        for (int g = 0; g < KL_GROUP; g++)
            sum += (double)factor[g] * (double)rows.value[g][p];
        assert_true(fabs(sum - (double)delta[0][p]) < 1e-5 && fabs((double)copy[0][p] - (double)rows.w[p] - sum) < 1e-5);
    }
    memcpy(delta[1], delta[0], sizeof delta[0]);
    table->group_settle(n, w, copy[0], delta[0]);
    for (int64_t p = 0; p < n; p++)
        assert_true(w[p] == (double)rows.w[p] + 1e-12 + (double)delta[1][p] && copy[0][p] == (float)w[p] && delta[0][p] == 0);
}

static void added_rows_settle_in_the_vector(void **state)
{
    (void)state;
    for (int s = 0; s < WIDTHS; s++)
        for (int kind = 0; kind < 2; kind++)
            for (int64_t t = 0; kl_micro_at(t) != NULL; t++) {
                make(widths[s], kinds[kind]);
                check_additions(kl_micro_at(t), widths[s]);
            }
}

/* What a form of the rows gives, through the table in use. */
typedef struct given {
    double f[KL_GROUP], inner[KL_GROUP_PAIRS], dot, square, w[WIDEST];
    float copy[WIDEST], delta[WIDEST], spread[WIDEST];
} given;

static void go_through(const kl_row *form, int64_t n, given *is)
{
    static const float factor[KL_GROUP] = {0.3f, -1.7f, 0.9f, 2.5f};
    const kl_row *z[KL_GROUP];
    double inner[KL_GROUP_PAIRS] = {0};
    pointers(form, z);
    for (int64_t p = 0; p < n; p++) {
        is->w[p] = (double)rows.w[p];
        is->copy[p] = rows.w[p];
    }
    kl_group_dots(z, z, n, rows.w, is->f, inner);
    for (int g = 0, pair = 0; g < KL_GROUP; g++)
        for (int h = 0; h < g; h++, pair++)
            is->inner[pair] = kl_group_inner(z, inner, h, g);
    kl_row_dots(z[1], z[1], n, 1, is->w, n, &is->dot);
    is->square = kl_row_square(0.5, z[2], z[3]);
    kl_group_add(z, n, factor, is->copy, is->delta);
    kl_group_settle(form, KL_GROUP, n, is->w, is->copy, is->delta);
    kl_row_add(z[3], n, -0.7, is->w);
    kl_row_spread(z[3], n, is->spread);
}

static void forms_of_a_row_decide_nothing(void **state)
{
    const kl_row *const forms[] = {rows.dense, rows.narrow, rows.sparse};
    (void)state;
    for (int s = 1; s < WIDTHS; s++)
        for (int kind = 0; kind < 2; kind++) {
            static given is[3];
            make(widths[s], kinds[kind]);
            memset(is, 0, sizeof is);
            for (int form = 0; form < 3; form++)
                go_through(forms[form], widths[s], &is[form]);
            assert_memory_equal(&is[0], &is[1], sizeof is[0]);
            assert_memory_equal(&is[0], &is[2], sizeof is[0]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_has_the_sums_of_the_definition),
        cmocka_unit_test(added_rows_settle_in_the_vector),
        cmocka_unit_test(forms_of_a_row_decide_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
