/* param.c - reads, checks, prints and describes parameters by their tables. */
#include "base/param.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

/* Index of text among "a|b|c", or -1. */
static int find_word(const char *words, const char *text)
{
    size_t length = strlen(text);
    int index = 0;
    for (const char *p = words; p != NULL && *p != '\0'; index++) {
        size_t span = strcspn(p, "|");
        if (span == length && memcmp(p, text, length) == 0)
            return index;
        p += span + (p[span] == '|');
    }
    return -1;
}

static void print_word(const char *words, int index, kl_text *text)
{
    const char *p = words;
    while (index-- > 0)
        p += strcspn(p, "|") + 1;
    kl_text_add_bytes(text, p, (int64_t)strcspn(p, "|"));
}

/* "a number above 0, or auto or search" */
static void print_range(const kl_param *param, kl_text *text)
{
    const char *noun = param->kind == KL_WHOLE ? "a whole number" : param->kind == KL_LIST ? "numbers, each" : "a number";
    if (param->kind == KL_REAL || param->kind == KL_WHOLE || param->kind == KL_LIST) {
        kl_text_add(text, "%s", noun);
        if (isfinite(param->low)) {
            kl_text_add(text, param->above_low ? " above " : " of at least ");
            kl_text_add_number(text, param->low);
        }
        if (isfinite(param->high)) {
            kl_text_add(text, isfinite(param->low) ? " and at most " : " of at most ");
            kl_text_add_number(text, param->high);
        }
        if (param->words != NULL)
            kl_text_add(text, ", or ");
    }
    if (param->words != NULL)
        kl_text_add(text, "one of %s", param->words);
}

static klift_status out_of_range(const kl_param *param, const char *text, const char *where)
{
    kl_text range = {0};
    print_range(param, &range);
    klift_status status = kl_fail(KLIFT_USAGE, "%s: %s is '%.100s'; it must be %s", where, param->name, text, range.text ? range.text : "in range");
    kl_text_clear(&range);
    return status;
}

klift_status kl_param_read(const kl_param *param, const char *text, const char *where, kl_value *value)
{
    *value = (kl_value){NAN, -1};
    if (param->kind == KL_FREE)
        return KLIFT_OK;
    value->word = find_word(param->words, text);
    if (value->word >= 0)
        return KLIFT_OK;
    if (param->kind == KL_WORD || !kl_number_parse(text, &value->number))
        return out_of_range(param, text, where);
    bool low = param->above_low ? value->number <= param->low : value->number < param->low;
    if (low || value->number > param->high || (param->kind == KL_WHOLE && value->number != floor(value->number)))
        return out_of_range(param, text, where);
    return KLIFT_OK;
}

int64_t kl_params_find(const kl_param *table, const char *name)
{
    for (int64_t i = 0; table[i].name != NULL; i++)
        if (strcmp(table[i].name, name) == 0)
            return i;
    return -1;
}

const char *kl_param_name_at(int64_t index, const void *table)
{
    return ((const kl_param *)table)[index].name;
}

static klift_status unknown_param(const kl_param *table, const char *where, const char *key)
{
    if (table[0].name == NULL)
        return kl_fail(KLIFT_USAGE, "%s has no parameters, so no '%.100s'", where, key);
    kl_unknown("parameter", key, kl_param_name_at, table);
    return kl_fail_in(KLIFT_USAGE, "%s", where);
}

/* "1,1,0.5": the default of a list. */
static klift_status read_numbers(const kl_param *param, const char *text, const char *where, kl_value *values)
{
    for (const char *p = text; *p != '\0';) {
        size_t span = strcspn(p, ",");
        char number[KL_NUMBER_ROOM] = "";
        memcpy(number, p, span < sizeof number ? span : sizeof number - 1);
        KL_TRY(kl_param_read(param, number, where, values++));
        p += span + (p[span] == ',');
    }
    return KLIFT_OK;
}

klift_status kl_params_read(const kl_param *table, const kl_spec *spec, const char *where, kl_value *values)
{
    bool given[KL_PARAMS_MAX] = {false};
    int64_t position = 0, count = 0;
    while (table[count].name != NULL)
        count++;
    bool list = count > 0 && table[count - 1].kind == KL_LIST;
    int64_t most = list ? KL_PARAMS_MAX : count;
    for (int64_t i = count; list && i < most; i++)
        values[i] = (kl_value){NAN, -1};
    for (int64_t i = 0; i < spec->items; i++) {
        const kl_spec_item *item = &spec->item[i];
        int64_t index = item->key != NULL ? kl_params_find(table, item->key) : position++;
        if (index < 0)
            return unknown_param(table, where, item->key);
        if (index >= most)
            return kl_fail(KLIFT_USAGE, "%s takes %lld parameters; '%.100s' is one too many", where, (long long)most, item->value);
        const kl_param *param = &table[index < count ? index : count - 1];
        if (given[index])
            return kl_fail(KLIFT_USAGE, "%s: %s is given twice", where, param->name);
        given[index] = true;
        KL_TRY(kl_param_read(param, item->value, where, &values[index]));
        if (item->key != NULL && param->kind == KL_LIST)
            position = index + 1; /* the numbers behind its name go on with it */
    }
    for (int64_t i = 0; i < count; i++) {
        if (given[i])
            continue;
        if (table[i].fallback == NULL)
            return kl_fail(KLIFT_USAGE, "%s needs %s: %s", where, table[i].name, table[i].help);
        if (table[i].kind == KL_LIST)
            KL_TRY(read_numbers(&table[i], table[i].fallback, where, &values[i]));
        else
            KL_TRY(kl_param_read(&table[i], table[i].fallback, where, &values[i]));
    }
    return KLIFT_OK;
}

int64_t kl_params_listed(const kl_value *values, int64_t first)
{
    int64_t count = 0;
    while (first + count < KL_PARAMS_MAX && !isnan(values[first + count].number))
        count++;
    return count;
}

void kl_value_print(const kl_param *param, kl_value value, kl_text *text)
{
    if (value.word >= 0)
        print_word(param->words, value.word, text);
    else
        kl_text_add_number(text, value.number);
}

void kl_params_print(const kl_param *table, const kl_value *values, kl_text *text)
{
    const char *before = ":";
    for (int64_t i = 0; table[i].name != NULL; i++) {
        if (table[i].kind == KL_FREE)
            continue;
        kl_text_add(text, "%s%s=", before, table[i].name);
        kl_value_print(&table[i], values[i], text);
        before = ",";
        for (int64_t j = 1; table[i].kind == KL_LIST && j < kl_params_listed(values, i); j++) {
            kl_text_add(text, ",");
            kl_text_add_number(text, values[i + j].number);
        }
    }
}

void kl_params_json(const kl_param *table, const char *key, kl_text *text)
{
    static const char *const kinds[] = {"number", "whole", "word", "text", "numbers"};
    kl_json_open(text, key, '[');
    for (const kl_param *param = table; param->name != NULL; param++) {
        kl_text range = {0};
        print_range(param, &range);
        kl_json_open(text, NULL, '{');
        kl_json_text(text, "name", param->name);
        kl_json_text(text, "kind", kinds[param->kind]);
        kl_json_text(text, "default", param->fallback);
        kl_json_text(text, "range", range.text);
        kl_json_text(text, "help", param->help);
        kl_json_close(text, '}');
        kl_text_clear(&range);
    }
    kl_json_close(text, ']');
}

/* Levenshtein distance of two short names; longer ones are not worth a guess. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return INT32_MAX;
    int row[LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int shorter = row[j - 1] < row[j] ? row[j - 1] : row[j];
            row[j] = change < shorter + 1 ? change : shorter + 1;
        }
    }
    return row[m];
}

klift_status kl_unknown(const char *what, const char *name, kl_name_at name_at, const void *context)
{
    kl_text known = {0};
    const char *nearest = NULL, *candidate;
    int least = 1 + (int)strlen(name) / 3;
    for (int64_t i = 0; (candidate = name_at(i, context)) != NULL; i++) {
        int d = distance(name, candidate);
        if (d <= least && (nearest == NULL || d < least)) {
            least = d;
            nearest = candidate;
        }
        kl_text_add(&known, "%s%s", i == 0 ? "" : ", ", candidate);
    }
    const char *all = known.text != NULL ? known.text : "none";
    if (nearest != NULL)
        kl_fail(KLIFT_USAGE, "unknown %s '%.100s': did you mean '%s'? Known: %s", what, name, nearest, all);
    else
        kl_fail(KLIFT_USAGE, "unknown %s '%.100s'. Known: %s", what, name, all);
    kl_text_clear(&known);
    return KLIFT_USAGE;
}
