/* test_number.c - decimal numbers read as strtod reads them, print so that they read back, in every locale. */
#include "base/number.h"
#include "support.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double finite_double(uint64_t seed)
{
    double value;
    do {
        uint64_t bits = syn_mix(seed++);
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

static void check_read(const char *text, kl_number_kind kind, double expected, int64_t taken)
{
    const char *after;
    double value;
    kl_number_kind found = kl_number_read(text, text + strlen(text), &value, &after);
    if (found != kind || after - text != taken || (kind == KL_NUMBER_OK && bits_of(value) != bits_of(expected)))
        fail_msg("'%.60s': kind %d, value %.17g, %d bytes read", text, (int)found, value, (int)(after - text));
}

/* Texts whose value the C library knows; overflow is its infinity. Only called in the C locale. */
static void agrees_with_strtod(const char *text)
{
    double expected = strtod(text, NULL);
    check_read(text, isinf(expected) ? KL_NUMBER_TOO_LARGE : KL_NUMBER_OK, expected, (int64_t)strlen(text));
}

static const struct {
    const char *text;
    kl_number_kind kind;
    double value;
    int64_t taken;
} table[] = {
    {"0", KL_NUMBER_OK, 0, 1}, {"-0", KL_NUMBER_OK, -0.0, 2}, {"+7", KL_NUMBER_OK, 7, 2}, {"007", KL_NUMBER_OK, 7, 3},
    {"1.5abc", KL_NUMBER_OK, 1.5, 3}, {".5", KL_NUMBER_OK, 0.5, 2}, {"5.", KL_NUMBER_OK, 5, 2}, {"-.25e1", KL_NUMBER_OK, -2.5, 6},
    {"1..5", KL_NUMBER_OK, 1, 2}, {"1.2.3", KL_NUMBER_OK, 1.2, 3}, {"1,5", KL_NUMBER_OK, 1, 1}, {"0x10", KL_NUMBER_OK, 0, 1},
    {"1e", KL_NUMBER_OK, 1, 1}, {"1e+", KL_NUMBER_OK, 1, 1}, {"1e-", KL_NUMBER_OK, 1, 1}, {"1E3", KL_NUMBER_OK, 1000, 3},
    {"1e+03", KL_NUMBER_OK, 1000, 5}, {"1e5e5", KL_NUMBER_OK, 1e5, 3}, {"0e999999999999999999", KL_NUMBER_OK, 0, 20},
    {"9007199254740993", KL_NUMBER_OK, 9007199254740992.0, 16}, {"9007199254740995", KL_NUMBER_OK, 9007199254740996.0, 16},
    {"1e22", KL_NUMBER_OK, 1e22, 4}, {"1e23", KL_NUMBER_OK, 1e23, 4}, {"5e-324", KL_NUMBER_OK, 0x1p-1074, 6},
    {"2.2250738585072014e-308", KL_NUMBER_OK, DBL_MIN, 23}, {"2.2250738585072011e-308", KL_NUMBER_OK, 0x0.fffffffffffffp-1022, 23},
    {"1.7976931348623157e308", KL_NUMBER_OK, DBL_MAX, 22}, {"-1.7976931348623157e308", KL_NUMBER_OK, -DBL_MAX, 23},
    {"1.7976931348623159e308", KL_NUMBER_TOO_LARGE, 0, 22}, {"1e400", KL_NUMBER_TOO_LARGE, 0, 5}, {"-1e400", KL_NUMBER_TOO_LARGE, 0, 6},
    {"1e99999999999", KL_NUMBER_TOO_LARGE, 0, 13}, {"1e-400", KL_NUMBER_OK, 0, 6}, {"-1e-99999999999", KL_NUMBER_OK, -0.0, 15},
    {"nan", KL_NUMBER_NAN, 0, 3}, {"NaN", KL_NUMBER_NAN, 0, 3}, {"-nan", KL_NUMBER_NAN, 0, 4}, {"inf", KL_NUMBER_NAN, 0, 3},
    {"-INF", KL_NUMBER_NAN, 0, 4}, {"infinity", KL_NUMBER_NAN, 0, 8}, {"+Infinity", KL_NUMBER_NAN, 0, 9}, {"infinit", KL_NUMBER_NAN, 0, 3},
    {"", KL_NUMBER_NOT, 0, 0}, {"+", KL_NUMBER_NOT, 0, 0}, {"-", KL_NUMBER_NOT, 0, 0}, {".", KL_NUMBER_NOT, 0, 0}, {"-.", KL_NUMBER_NOT, 0, 0},
    {"e5", KL_NUMBER_NOT, 0, 0}, {".e5", KL_NUMBER_NOT, 0, 0}, {"+-1", KL_NUMBER_NOT, 0, 0}, {" 1", KL_NUMBER_NOT, 0, 0}, {"abc", KL_NUMBER_NOT, 0, 0},
    {"in", KL_NUMBER_NOT, 0, 0}, {"na", KL_NUMBER_NOT, 0, 0}, {"..5", KL_NUMBER_NOT, 0, 0}};

static void the_table_reads_as_written(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check_read(table[i].text, table[i].kind, table[i].value, table[i].taken);
}

static void nothing_is_read_beyond_the_end(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"12345.678e12", "-infinity", "nan", "1e+5", "."};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
        for (size_t length = 0; length <= strlen(texts[t]); length++) {
            char *part = malloc(length + 1), whole[32] = ""; /* the sanitizer guards the byte behind */
            memcpy(whole, texts[t], length);
            double cut, full;
            const char *after_cut, *after_full;
            memcpy(part, whole, length);
            part[length] = '7'; /* would change the value */
            kl_number_kind kind = kl_number_read(part, part + length, &cut, &after_cut);
            assert_int_equal(kind, kl_number_read(whole, whole + length, &full, &after_full));
            assert_true(bits_of(cut) == bits_of(full) && after_cut - part == after_full - whole);
            free(part);
        }
}

static void parse_takes_whole_finite_numbers_only(void **unused)
{
    (void)unused;
    static const char *const bad[] = {"", " 1", "1 ", "1.5abc", "nan", "inf", "1e400", "-1e400", "1e", ".", "1,5"};
    double value = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(kl_number_parse(bad[i], &value));
    assert_true(kl_number_parse("-2.5e-3", &value) && value == -2.5e-3);
}

static void random_decimals_read_as_strtod_reads_them(void **unused)
{
    (void)unused;
    uint64_t seed = 1;
    for (int i = quick() ? 10000 : 100000; i > 0; i--) {
        char text[64];
        int digits = 1 + (int)(syn_mix(seed++) % 25), point = (int)(syn_mix(seed++) % 30), used = 0;
        for (int d = 0; d < digits; d++) {
            if (d == point)
                text[used++] = '.';
            text[used++] = (char)('0' + syn_mix(seed++) % 10);
        }
        int exponent = (int)(syn_mix(seed++) % 700) - 360;
        snprintf(text + used, sizeof text - (size_t)used, i % 4 == 0 ? "%.0d" : "e%d", i % 4 == 0 ? 0 : exponent);
        agrees_with_strtod(text);
    }
}

/* The exact decimal expansion of the middle between two doubles, then a hair above and below it. */
static void ties_are_decided_by_their_last_digit(void **unused)
{
    (void)unused;
    static char text[8192];
    for (uint64_t seed = 0; seed < (quick() ? 300 : 2000); seed++) {
        double value = fabs(finite_double(seed * 100));
        if (seed % 2 == 0)
            value = ldexp(1 + syn_uniform(seed), (int)(syn_mix(seed) % 140) - 70);
        if (seed % 10 == 1)
            value = ldexp((double)(syn_mix(seed) % 1000), -1074); /* subnormal */
        long double next = (long double)nextafter(value, INFINITY), middle = ((long double)value + next) / 2;
        if (isinf(next))
            continue;
        int length = snprintf(text, sizeof text, "%.780Le", middle); /* exact: the middle has at most 768 digits */
        char *exponent = strchr(text, 'e'), tail[16];
        strcpy(tail, exponent);
        agrees_with_strtod(text);
        char *last = exponent - 1;
        while (*last == '0')
            last--;
        strcpy(last + 1, "1");
        strcat(text, tail);
        agrees_with_strtod(text);
        *last = (char)(*last - 1);
        strcpy(last + 1, "99");
        strcat(text, tail);
        agrees_with_strtod(text);
        *last = (char)(*last + 1);
        memset(last + 1, '0', 1500); /* above by a digit that no buffer keeps */
        strcpy(last + 1500, "1");
        strcat(text, tail);
        agrees_with_strtod(text);
        assert_true(length < 1000);
    }
}

static void doubles_print_short_and_read_back(void **unused)
{
    (void)unused;
    for (int i = quick() ? 10000 : 100000; i > 0; i--) {
        double value = i % 2 ? finite_double((uint64_t)i * 50) : syn_normal((uint64_t)i, 0) * pow(10, i % 30 - 15), back;
        char text[KL_NUMBER_ROOM], shorter[64];
        int length = kl_number_print(value, text), digits = 0;
        assert_true(length < KL_NUMBER_ROOM && (size_t)length == strlen(text));
        assert_true(kl_number_parse(text, &back));
        if (bits_of(back) != bits_of(value) || bits_of(strtod(text, NULL)) != bits_of(value))
            fail_msg("%.17g printed as %s", value, text);
        for (const char *p = text + strspn(text, "-0."); *p != '\0' && *p != 'e'; p++)
            digits += *p != '.';
        if (fabs(value) < DBL_MIN || digits < 2 || strchr(text, '.') == NULL)
            continue;
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        assert_true(strtod(shorter, NULL) != value);
    }
}

static void floats_print_short_and_read_back(void **unused)
{
    (void)unused;
    for (int i = quick() ? 10000 : 100000; i > 0; i--) {
        uint32_t bits = (uint32_t)(syn_mix((uint64_t)i) >> 32);
        float value;
        double back;
        char text[KL_NUMBER_ROOM];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        int length = kl_number_print_float(value, text);
        assert_true((size_t)length == strlen(text) && length <= 18); /* nine digits, or a sign and a whole number of 17 */
        assert_true(kl_number_parse(text, &back));
        if ((float)back != value)
            fail_msg("%.9g printed as %s", (double)value, text);
    }
}

static void numbers_print_as_people_write_them(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"}, {-0.0, "0"}, {1, "1"}, {-2.5, "-2.5"}, {0.1, "0.1"}, {1.0 / 3, "0.3333333333333333"}, {100, "100"}, {123456.75, "123456.75"},
                 {1e15, "1000000000000000"}, {1e16, "10000000000000000"}, {1e17, "1e17"}, {1e21, "1e21"}, {1e22, "1e22"}, {1e23, "1e23"}, {1.25e30, "1.25e30"},
                 {0.00001, "0.00001"}, {0.000001, "1e-6"}, {1.5e-7, "1.5e-7"}, {-1.5e-7, "-1.5e-7"}, {9007199254740992.0, "9007199254740992"},
                 {DBL_MAX, "1.7976931348623157e308"}, {DBL_MIN, "2.2250738585072014e-308"}, {NAN, "nan"}, {INFINITY, "inf"}, {-INFINITY, "-inf"}};
    static const struct {
        float value;
        const char *text;
    } floats[] = {{0.1f, "0.1"}, {0.3f, "0.3"}, {-7.5f, "-7.5"}, {16777216.0f, "16777216"}, {FLT_MAX, "3.4028235e38"}, {FLT_MIN, "1.1754944e-38"}, {1e21f, "1e21"}};
    char text[KL_NUMBER_ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(kl_number_print(cases[i].value, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        assert_int_equal(kl_number_print_float(floats[i].value, text), strlen(floats[i].text));
        assert_string_equal(text, floats[i].text);
    }
}

static void a_locale_with_a_decimal_comma_changes_nothing(void **unused)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    bool found = false;
    for (int i = 0; i < 3 && !found; i++)
        found = setlocale(LC_ALL, names[i]) != NULL && strcmp(localeconv()->decimal_point, ",") == 0;
    if (!found) {
        setlocale(LC_ALL, "C");
        printf("skipped: no locale with a decimal comma (de_DE.UTF-8)\n");
        skip();
    }
    the_table_reads_as_written(unused);
    parse_takes_whole_finite_numbers_only(unused);
    numbers_print_as_people_write_them(unused);
    check_read("0.30000000000000000000000000000004", KL_NUMBER_OK, 0.3, 34);
    for (uint64_t i = 0; i < 2000; i++) {
        double value = finite_double(i * 50), back;
        char text[KL_NUMBER_ROOM];
        kl_number_print(value, text);
        assert_null(strchr(text, ','));
        assert_true(kl_number_parse(text, &back) && bits_of(back) == bits_of(value));
    }
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_reads_as_written),
        cmocka_unit_test(nothing_is_read_beyond_the_end),
        cmocka_unit_test(parse_takes_whole_finite_numbers_only),
        cmocka_unit_test(random_decimals_read_as_strtod_reads_them),
        cmocka_unit_test(ties_are_decided_by_their_last_digit),
        cmocka_unit_test(doubles_print_short_and_read_back),
        cmocka_unit_test(floats_print_short_and_read_back),
        cmocka_unit_test(numbers_print_as_people_write_them),
        cmocka_unit_test(a_locale_with_a_decimal_comma_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
