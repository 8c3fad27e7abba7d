/* test_spec.c - the grammar of spec.h: what parses, how it prints, what errors say. */
#include "base/spec.h"
#include "support.h"

#include "base/memory.h"
#include "base/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Values are the same when they are the same text or the same number: printing makes numbers canonical. */
static bool same_value(const char *a, const char *b)
{
    double x, y;
    return same_text(a, b) || (kl_number_parse(a, &x) && kl_number_parse(b, &y) && x == y);
}

static bool same(const kl_spec *a, const kl_spec *b)
{
    if (!same_text(a->name, b->name) || a->arguments != b->arguments || a->items != b->items)
        return false;
    for (int64_t i = 0; i < a->arguments; i++)
        if (!same(a->argument[i], b->argument[i]))
            return false;
    for (int64_t i = 0; i < a->items; i++)
        if (!same_text(a->item[i].key, b->item[i].key) || !same_value(a->item[i].value, b->item[i].value))
            return false;
    return true;
}

/* The printed form, after checking that it parses to the same spec and prints the same again; to be freed. */
static char *canonical(const char *text)
{
    kl_spec *spec, *again;
    kl_text first = {0}, second = {0};
    if (kl_spec_parse(text, "kernel", &spec) != KLIFT_OK)
        fail_msg("'%s' does not parse: %s", text, kl_error_text());
    kl_spec_print(spec, &first);
    if (kl_spec_parse(first.text, "kernel", &again) != KLIFT_OK || !same(spec, again))
        fail_msg("'%s' prints as '%s', which is another spec: %s", text, first.text, kl_error_text());
    kl_spec_print(again, &second);
    assert_string_equal(first.text, second.text);
    kl_spec_free(spec);
    kl_spec_free(again);
    kl_text_clear(&second);
    return first.text;
}

static void specs_print_in_one_canonical_form(void **unused)
{
    (void)unused;
    static const char *const cases[][2] = {
        {"gaussian", "gaussian"},
        {"  gaussian \t\n", "gaussian"},
        {"gaussian : gamma = 0.50 , 1e3", "gaussian:gamma=0.5,1000"},
        {"sum(gaussian:gamma=2,laplacian)", "sum(gaussian:gamma=2, laplacian)"},
        {"sum ( a , b ( c : 1 ) : 2 ) : w=3", "sum(a, b(c:1):2):w=3"},
        {"f(a:x=1,y=2,b)", "f(a:x=1,y=2, b)"},
        {"f(a:1,2,b:3)", "f(a:1,2, b:3)"},
        {"f(a,5)", "f(a, 5)"},
        {"f(a:1,2d)", "f(a:1, 2d)"},
        {"f(a(b:1),2:3)", "f(a(b:1), 2:3)"},
        {"f(a):1,2", "f(a):1,2"},
        {"f:+5,-0.5,.5,5.", "f:5,-0.5,0.5,5"},
        {"f:file=a/b-c_d.e+f", "f:file=a/b-c_d.e+f"},
        {"f:file=\"a b\"", "f:file=\"a b\""},
        {"f:file=\"word\"", "f:file=word"},
        {"f:file=\"\"", "f:file=\"\""},
        {"f:file=\"say \"\"hi\"\", (a:b,c=1)\"", "f:file=\"say \"\"hi\"\", (a:b,c=1)\""},
        {"f:file=\"\"\"\"", "f:file=\"\"\"\""},
        {"f:a=nan,b=inf,c=1e999", "f:a=nan,b=inf,c=1e999"},
        {"f:5=6", "f:5=6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = canonical(cases[i][0]);
        assert_string_equal(text, cases[i][1]);
        kl_free(text);
    }
}

static void a_comma_continues_items_or_starts_the_next_argument(void **unused)
{
    (void)unused;
    kl_spec *spec;
    assert_int_equal(kl_spec_parse("f(a:x=1, 2, y=word, b, c:3):4", "map", &spec), KLIFT_OK);
    assert_string_equal(spec->name, "f");
    assert_int_equal(spec->arguments, 3);
    const kl_spec *a = spec->argument[0];
    assert_string_equal(a->name, "a");
    assert_int_equal(a->items, 3);
    assert_string_equal(a->item[0].key, "x");
    assert_null(a->item[1].key);
    assert_string_equal(a->item[1].value, "2");
    assert_string_equal(a->item[2].value, "word");
    assert_string_equal(spec->argument[1]->name, "b");
    assert_int_equal(spec->argument[1]->items, 0);
    assert_string_equal(spec->argument[2]->item[0].value, "3");
    assert_int_equal(spec->items, 1);
    assert_string_equal(spec->item[0].value, "4");
    kl_spec_free(spec);
}

static void quotes_are_doubled_inside_quotes(void **unused)
{
    (void)unused;
    kl_spec *spec;
    assert_int_equal(kl_spec_parse("f:k=\"a\"\"b, c\"\"\"", "map", &spec), KLIFT_OK);
    assert_string_equal(spec->item[0].value, "a\"b, c\"");
    kl_spec_free(spec);
}

static void errors_name_the_column_and_what_was_expected(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int column;
        const char *expected;
    } cases[] = {{"", 1, "a name"}, {"   ", 4, "a name"}, {"(a)", 1, "a name"}, {"f(", 3, "a name"}, {"f()", 3, "a name"}, {"f(a", 4, "')'"}, {"f(a b)", 5, "')'"},
                 {"f(a,)", 5, "a name"}, {"f:", 3, "a number"}, {"f:word", 3, "a number"}, {"f:1e999", 3, "a number"}, {"f:k=", 5, "a value"}, {"f:k=,", 5, "a value"},
                 {"f:k=(", 5, "a value"}, {"f:k=\"open", 10, "closing"}, {"f:k=\"a\"b", 8, "nothing more"}, {"f:1,word", 4, "nothing more"}, {"f g", 3, "nothing more"},
                 {"f)", 2, "nothing more"}, {"f(a)(b)", 5, "nothing more"}, {"f:1:2", 4, "nothing more"}, {"f\xc3\xa4", 2, "nothing more"}, {"f:\"text\"", 3, "a number"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_spec *spec = (kl_spec *)&cases;
        char column[32];
        snprintf(column, sizeof column, "column %d: ", cases[i].column);
        assert_int_equal(kl_spec_parse(cases[i].text, "the kernel", &spec), KLIFT_USAGE);
        assert_null(spec);
        if (strstr(kl_error_text(), column) == NULL || strstr(kl_error_text(), cases[i].expected) == NULL || strncmp(kl_error_text(), "the kernel '", 12) != 0)
            fail_msg("'%s': %s (column %d, %s)", cases[i].text, kl_error_text(), cases[i].column, cases[i].expected);
    }
}

static void nesting_is_limited(void **unused)
{
    (void)unused;
    for (int depth = 0; depth <= 20; depth++) {
        char text[128] = "";
        kl_spec *spec;
        for (int i = 0; i < depth; i++)
            strcat(text, "f(");
        strcat(text, "f");
        for (int i = 0; i < depth; i++)
            strcat(text, ")");
        assert_int_equal(kl_spec_parse(text, "kernel", &spec), depth <= 16 ? KLIFT_OK : KLIFT_USAGE);
        assert_true((spec != NULL) == (depth <= 16));
        if (spec == NULL)
            assert_non_null(strstr(kl_error_text(), "fewer nested"));
        kl_spec_free(spec);
    }
    char *open = malloc(200001); /* deep enough to end a stack that had no limit */
    memset(open, '(', 200000);
    for (int i = 0; i < 200000; i += 2)
        open[i] = 'f';
    open[200000] = '\0';
    kl_spec *spec;
    assert_int_equal(kl_spec_parse(open, "kernel", &spec), KLIFT_USAGE);
    free(open);
}

static void items_may_stand_alone(void **unused)
{
    (void)unused;
    static const char *const empty[] = {NULL, "", " \t\n"};
    kl_spec *spec;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kl_spec_parse_items(empty[i], "data options", &spec), KLIFT_OK);
        assert_int_equal(spec->items, 0);
        assert_string_equal(spec->name, "data options");
        kl_spec_free(spec);
    }
    assert_int_equal(kl_spec_parse_items("format=npy, dim=3,labels=\"my y.npy\"", "data options", &spec), KLIFT_OK);
    assert_int_equal(spec->items, 3);
    assert_string_equal(spec->item[2].value, "my y.npy");
    kl_spec_free(spec);
    assert_int_equal(kl_spec_parse_items("dim=3,5", "data options", &spec), KLIFT_USAGE); /* nobody knows what 5 is */
    assert_string_equal(kl_error_text(), "data options: '5' has no name before it; write name=5");
    assert_null(spec);
    static const char *const bad[] = {"npy", "a=1,", "a=1,b", "a=1 b=2", "=1", "a=", "f(a)", ":a=1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(kl_spec_parse_items(bad[i], "data options", &spec), KLIFT_USAGE);
        assert_null(spec);
        assert_non_null(strstr(kl_error_text(), "column "));
    }
}

static void random_specs_print_and_parse_back(void **unused)
{
    (void)unused;
    static const char *const tokens[] = {"f", "gauss", "a-b", "k", "2d", "(", "(", ")", ")", ",", ",", ",", ":", ":", "=", "=", "1", "-2.50", "1e5", "+.5", "nan", " ", "\t",
                                         "\"q r\"", "\"\"", "\"a\"\"b\"", "\"w\"", "\"(:,=\""};
    enum { TOKENS = sizeof tokens / sizeof tokens[0] };
    int parsed = 0, wanted = quick() ? 1000 : 10000;
    uint64_t seed = 0;
    for (int tries = 0; parsed < wanted && tries < 1000000; tries++) {
        char text[256] = "f";
        int depth = 0;
        for (int length = 1 + (int)(syn_mix(seed++) % 14); length > 0; length--) {
            const char *token = tokens[syn_mix(seed++) % TOKENS];
            depth += token[0] == '(';
            depth -= token[0] == ')';
            strcat(text, token);
        }
        while (depth-- > 0)
            strcat(text, ")");
        kl_spec *spec;
        klift_status status = kl_spec_parse(text, "kernel", &spec);
        if (status == KLIFT_OK) {
            kl_spec_free(spec);
            kl_free(canonical(text));
            parsed++;
        } else {
            assert_int_equal(status, KLIFT_USAGE);
            assert_null(spec);
            assert_non_null(strstr(kl_error_text(), "column "));
        }
    }
    assert_int_equal(parsed, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specs_print_in_one_canonical_form),
        cmocka_unit_test(a_comma_continues_items_or_starts_the_next_argument),
        cmocka_unit_test(quotes_are_doubled_inside_quotes),
        cmocka_unit_test(errors_name_the_column_and_what_was_expected),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(items_may_stand_alone),
        cmocka_unit_test(random_specs_print_and_parse_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
