/* test_param.c - parameter tables: ranges, words, positions, defaults, and messages that help. */
#include "base/param.h"

#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const kl_param table[] = {
    {"gamma", KL_REAL, "auto", 0, INFINITY, true, "auto|search", "width"},
    {"degree", KL_WHOLE, "3", 1, 40, false, NULL, "power"},
    {"form", KL_WORD, "paired", 0, 0, false, "paired|phase|pair", "layout"},
    {"file", KL_FREE, "none", 0, 0, false, NULL, "a path"},
    {"shift", KL_REAL, "-0.5", -1, 1, false, NULL, "offset"},
    {0}};
enum { GAMMA, DEGREE, FORM, FREE_TEXT, SHIFT };
static const kl_param must[] = {{"dim", KL_WHOLE, NULL, 1, 1e6, false, NULL, "number of columns"}, {0}};
static const kl_param none[] = {{0}};

static klift_status read_text(const kl_param *params, const char *text, kl_value *values)
{
    kl_spec *spec;
    assert_int_equal(kl_spec_parse(text, "kernel", &spec), KLIFT_OK);
    klift_status status = kl_params_read(params, spec, "kernel test", values);
    kl_spec_free(spec);
    return status;
}

static void refused(const kl_param *params, const char *text, const char *first, const char *second)
{
    kl_value values[KL_PARAMS_MAX];
    if (read_text(params, text, values) != KLIFT_USAGE)
        fail_msg("'%s' is not refused", text);
    if (strstr(kl_error_text(), first) == NULL || strstr(kl_error_text(), second) == NULL || strncmp(kl_error_text(), "kernel test", 11) != 0)
        fail_msg("'%s': %s", text, kl_error_text());
}

static void defaults_stand_where_nothing_is_given(void **unused)
{
    (void)unused;
    kl_value v[KL_PARAMS_MAX];
    assert_int_equal(read_text(table, "test", v), KLIFT_OK);
    assert_true(v[GAMMA].word == 0 && isnan(v[GAMMA].number));
    assert_true(v[DEGREE].number == 3 && v[DEGREE].word == -1);
    assert_int_equal(v[FORM].word, 0);
    assert_true(v[SHIFT].number == -0.5);
    assert_int_equal(read_text(none, "test", v), KLIFT_OK);
}

static void numbers_and_words_are_read_by_name(void **unused)
{
    (void)unused;
    kl_value v[KL_PARAMS_MAX];
    assert_int_equal(read_text(table, "test:form=pair,gamma=1e-3,degree=4e1,file=\"any (thing)\",shift=1", v), KLIFT_OK);
    assert_true(v[GAMMA].number == 1e-3 && v[GAMMA].word == -1);
    assert_true(v[DEGREE].number == 40);
    assert_int_equal(v[FORM].word, 2);
    assert_true(v[SHIFT].number == 1);
    assert_int_equal(read_text(table, "test:gamma=search", v), KLIFT_OK);
    assert_int_equal(v[GAMMA].word, 1);
}

static void positional_numbers_fill_the_table_in_order(void **unused)
{
    (void)unused;
    kl_value v[KL_PARAMS_MAX];
    assert_int_equal(read_text(table, "test:2.5,7", v), KLIFT_OK);
    assert_true(v[GAMMA].number == 2.5 && v[DEGREE].number == 7);
    assert_int_equal(read_text(table, "test:shift=0.25,2.5,7", v), KLIFT_OK);
    assert_true(v[GAMMA].number == 2.5 && v[DEGREE].number == 7 && v[SHIFT].number == 0.25);
    refused(table, "test:1,2,3", "form is '3'", "paired|phase|pair");
}

static const kl_param listed[] = {
    {"degree", KL_WHOLE, "3", 1, 40, false, NULL, "power"},
    {"weights", KL_LIST, "1,0.5", 0, 10, false, NULL, "one after the other"},
    {0}};

static void a_list_takes_the_numbers_behind_it(void **unused)
{
    (void)unused;
    kl_value v[KL_PARAMS_MAX];
    kl_text text = {0};
    assert_int_equal(read_text(listed, "test", v), KLIFT_OK);
    assert_true(kl_params_listed(v, 1) == 2 && v[1].number == 1 && v[2].number == 0.5);
    assert_int_equal(read_text(listed, "test:7,4,5,6", v), KLIFT_OK);
    assert_true(v[0].number == 7 && kl_params_listed(v, 1) == 3 && v[1].number == 4 && v[3].number == 6);
    assert_int_equal(read_text(listed, "test:weights=4,5,degree=2", v), KLIFT_OK);
    assert_true(v[0].number == 2 && kl_params_listed(v, 1) == 2 && v[2].number == 5);
    kl_params_print(listed, v, &text);
    assert_string_equal(text.text, ":degree=2,weights=4,5");
    kl_text_clear(&text);
    refused(listed, "test:1,2,11", "weights is '11'", "numbers, each of at least 0 and at most 10");
    refused(listed, "test:1,2,weights=3", "weights is given twice", "");
}

static void a_list_has_an_end(void **unused)
{
    (void)unused;
    char text[4 * KL_PARAMS_MAX] = "test:1";
    kl_value v[KL_PARAMS_MAX];
    for (int i = 1; i < KL_PARAMS_MAX; i++)
        strcat(text, ",1");
    assert_int_equal(read_text(listed, text, v), KLIFT_OK);
    assert_int_equal(kl_params_listed(v, 1), KL_PARAMS_MAX - 1);
    strcat(text, ",2");
    refused(listed, text, "takes 64 parameters", "'2' is one too many");
}

static void values_out_of_range_are_refused_with_the_range(void **unused)
{
    (void)unused;
    refused(table, "test:gamma=0", "gamma is '0'", "a number above 0, or one of auto|search");
    refused(table, "test:gamma=-1", "gamma is '-1'", "above 0");
    refused(table, "test:gamma=nan", "gamma is 'nan'", "a number");
    refused(table, "test:gamma=inf", "gamma is 'inf'", "a number");
    refused(table, "test:gamma=1e999", "gamma is '1e999'", "a number");
    refused(table, "test:gamma=Auto", "gamma is 'Auto'", "auto|search");
    refused(table, "test:gamma=aut", "gamma is 'aut'", "auto|search");
    refused(table, "test:gamma=\"\"", "gamma is ''", "auto|search");
    refused(table, "test:gamma=\"auto|search\"", "gamma is", "auto|search");
    refused(table, "test:degree=0", "degree is '0'", "a whole number of at least 1 and at most 40");
    refused(table, "test:degree=41", "degree is '41'", "at most 40");
    refused(table, "test:degree=2.5", "degree is '2.5'", "a whole number");
    refused(table, "test:degree=two", "degree is 'two'", "a whole number");
    refused(table, "test:form=3", "form is '3'", "one of paired|phase|pair");
    refused(table, "test:shift=1.0000001", "shift is", "of at least -1 and at most 1");
}

static void the_ends_of_a_range_belong_to_it(void **unused)
{
    (void)unused;
    kl_value v[KL_PARAMS_MAX];
    assert_int_equal(read_text(table, "test:gamma=5e-324,degree=1,shift=-1", v), KLIFT_OK);
    assert_int_equal(read_text(table, "test:gamma=1e308,degree=40,shift=1", v), KLIFT_OK);
}

static void faults_of_the_list_are_named(void **unused)
{
    (void)unused;
    refused(table, "test:gamma=1,gamma=2", "gamma is given twice", "");
    refused(table, "test:1,gamma=2", "gamma is given twice", "");
    refused(table, "test:gamma=2,1", "gamma is given twice", "");
    refused(must, "test:1,2", "takes 1 parameters", "'2' is one too many");
    refused(must, "test", "needs dim", "number of columns");
    refused(none, "test:1", "takes 0 parameters", "too many");
    refused(none, "test:x=1", "has no parameters", "'x'");
}

static void unknown_names_suggest_the_nearest(void **unused)
{
    (void)unused;
    refused(table, "test:gama=1", "unknown parameter 'gama': did you mean 'gamma'?", "Known: gamma, degree, form, file, shift");
    refused(table, "test:degre=1", "did you mean 'degree'?", "degree");
    refused(table, "test:shfit=1", "did you mean 'shift'?", "shift");
    refused(table, "test:from=1", "did you mean 'form'?", "form");
    refused(table, "test:bandwidth=1", "unknown parameter 'bandwidth'. Known: ", "gamma");
    assert_null(strstr(kl_error_text(), "did you mean"));
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(kl_unknown("kernel", name, kl_param_name_at, table), KLIFT_USAGE);
    assert_null(strstr(kl_error_text(), "did you mean"));
    assert_int_equal(kl_unknown("kernel", "", kl_param_name_at, none), KLIFT_USAGE);
    assert_non_null(strstr(kl_error_text(), "Known: none"));
}

static void names_are_found_exactly(void **unused)
{
    (void)unused;
    assert_int_equal(kl_params_find(table, "gamma"), GAMMA);
    assert_int_equal(kl_params_find(table, "shift"), SHIFT);
    assert_int_equal(kl_params_find(table, "Gamma"), -1);
    assert_int_equal(kl_params_find(table, "gam"), -1);
    assert_int_equal(kl_params_find(none, ""), -1);
    assert_null(kl_param_name_at(5, table));
}

static void what_is_printed_reads_back(void **unused)
{
    (void)unused;
    kl_param shorter[4];
    kl_value v[KL_PARAMS_MAX], w[KL_PARAMS_MAX];
    memcpy(shorter, table, 3 * sizeof table[0]);
    shorter[3] = (kl_param){0};
    kl_text text = {0};
    assert_int_equal(read_text(shorter, "test:gamma=0.1,form=phase", v), KLIFT_OK);
    kl_text_add(&text, "test");
    kl_params_print(shorter, v, &text);
    assert_string_equal(text.text, "test:gamma=0.1,degree=3,form=phase");
    assert_int_equal(read_text(shorter, text.text, w), KLIFT_OK);
    assert_true(w[GAMMA].number == 0.1 && w[DEGREE].number == 3 && w[FORM].word == 1);
    kl_text_clear(&text);
    kl_params_print(none, v, &text);
    assert_null(text.text);
}

static void tables_describe_themselves_in_json(void **unused)
{
    (void)unused;
    kl_text text = {0};
    kl_params_json(must, "params", &text);
    assert_string_equal(text.text, "\"params\": [{\"name\": \"dim\", \"kind\": \"whole\", \"default\": null, "
                                   "\"range\": \"a whole number of at least 1 and at most 1000000\", \"help\": \"number of columns\"}]");
    kl_text_clear(&text);
    kl_params_json(table, NULL, &text);
    assert_non_null(strstr(text.text, "{\"name\": \"gamma\", \"kind\": \"number\", \"default\": \"auto\", \"range\": \"a number above 0, or one of auto|search\", \"help\": \"width\"}"));
    assert_non_null(strstr(text.text, "{\"name\": \"file\", \"kind\": \"text\", \"default\": \"none\", \"range\": null, \"help\": \"a path\"}"));
    kl_text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_stand_where_nothing_is_given),
        cmocka_unit_test(numbers_and_words_are_read_by_name),
        cmocka_unit_test(positional_numbers_fill_the_table_in_order),
        cmocka_unit_test(a_list_takes_the_numbers_behind_it),
        cmocka_unit_test(a_list_has_an_end),
        cmocka_unit_test(values_out_of_range_are_refused_with_the_range),
        cmocka_unit_test(the_ends_of_a_range_belong_to_it),
        cmocka_unit_test(faults_of_the_list_are_named),
        cmocka_unit_test(unknown_names_suggest_the_nearest),
        cmocka_unit_test(names_are_found_exactly),
        cmocka_unit_test(what_is_printed_reads_back),
        cmocka_unit_test(tables_describe_themselves_in_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
