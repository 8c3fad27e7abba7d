/* spec.c - recursive descent over the grammar in spec.h; every error names the column and what was expected. */
#include "base/spec.h"

#include "base/memory.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 };

typedef struct parser {
    const char *text, *at, *end, *what;
} parser;

static klift_status expect(const parser *p, const char *wanted)
{
    return kl_fail(KLIFT_USAGE, "%s '%.200s': column %lld: expected %s", p->what, p->text, (long long)(p->at - p->text) + 1, wanted);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '+' || c == '/';
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static bool next_is(parser *p, char c)
{
    skip_blanks(p);
    return p->at < p->end && *p->at == c;
}

static const char *word_end(const parser *p)
{
    const char *q = p->at;
    while (q < p->end && is_word(*q))
        q++;
    return q;
}

static klift_status take(const char *first, const char *last, char **copy)
{
    KL_TRY(kl_new(copy, last - first + 1, 1, "a spec"));
    memcpy(*copy, first, (size_t)(last - first));
    return KLIFT_OK;
}

static klift_status take_word(parser *p, const char *wanted, char **word)
{
    skip_blanks(p);
    const char *last = word_end(p);
    if (last == p->at)
        return expect(p, wanted);
    KL_TRY(take(p->at, last, word));
    p->at = last;
    return KLIFT_OK;
}

static klift_status take_quoted(parser *p, char **value)
{
    const char *q = ++p->at;
    KL_TRY(kl_new(value, p->end - q + 1, 1, "a spec"));
    char *out = *value;
    for (; q < p->end; q++) {
        if (*q == '"') {
            if (q + 1 < p->end && q[1] == '"')
                q++;
            else {
                p->at = q + 1;
                return KLIFT_OK;
            }
        }
        *out++ = *q;
    }
    p->at = p->end;
    return expect(p, "a closing '\"'");
}

/* A number that ends where the word ends: "2" but not "2d". */
static bool number_ahead(parser *p)
{
    skip_blanks(p);
    double value;
    const char *after;
    return kl_number_read(p->at, p->end, &value, &after) == KL_NUMBER_OK && after == word_end(p);
}

static bool key_ahead(parser *p)
{
    skip_blanks(p);
    parser look = *p;
    look.at = word_end(p);
    return look.at > p->at && next_is(&look, '=');
}

static klift_status read_item(parser *p, kl_spec *spec)
{
    KL_TRY(kl_grow(&spec->item, &spec->item_room, spec->items, spec->items + 1, sizeof *spec->item, "a spec"));
    kl_spec_item *item = &spec->item[spec->items++];
    *item = (kl_spec_item){0};
    if (key_ahead(p)) {
        KL_TRY(take_word(p, "a parameter", &item->key));
        skip_blanks(p);
        p->at++; /* the '=' that key_ahead saw */
        skip_blanks(p);
        item->quoted = p->at < p->end && *p->at == '"';
        if (item->quoted)
            return take_quoted(p, &item->value);
        return take_word(p, "a value", &item->value);
    }
    if (!number_ahead(p))
        return expect(p, "parameter=value or a number");
    return take_word(p, "a number", &item->value);
}

static klift_status read_items(parser *p, kl_spec *spec)
{
    for (;;) {
        KL_TRY(read_item(p, spec));
        if (!next_is(p, ','))
            return KLIFT_OK;
        parser look = *p;
        look.at++;
        if (!key_ahead(&look) && !number_ahead(&look))
            return KLIFT_OK; /* the comma belongs to the arguments around us */
        p->at = look.at;
    }
}

static klift_status read_spec(parser *p, kl_spec **out, int depth)
{
    kl_spec *spec;
    if (depth > DEEPEST)
        return expect(p, "fewer nested parentheses");
    KL_TRY(kl_new(out, 1, sizeof **out, "a spec"));
    spec = *out;
    KL_TRY(take_word(p, "a name", &spec->name));
    if (next_is(p, '(')) {
        do {
            p->at++;
            KL_TRY(kl_grow(&spec->argument, &spec->argument_room, spec->arguments, spec->arguments + 1, sizeof *spec->argument, "a spec"));
            spec->argument[spec->arguments++] = NULL;
            KL_TRY(read_spec(p, &spec->argument[spec->arguments - 1], depth + 1));
        } while (next_is(p, ','));
        if (!next_is(p, ')'))
            return expect(p, "',' or ')'");
        p->at++;
    }
    if (!next_is(p, ':'))
        return KLIFT_OK;
    p->at++;
    return read_items(p, spec);
}

static klift_status finish(parser *p, klift_status status, kl_spec **spec)
{
    skip_blanks(p);
    if (status == KLIFT_OK && p->at < p->end)
        status = expect(p, "nothing more");
    if (status != KLIFT_OK) {
        kl_spec_free(*spec);
        *spec = NULL;
    }
    return status;
}

klift_status kl_spec_parse(const char *text, const char *what, kl_spec **spec)
{
    parser p = {text, text, text + strlen(text), what};
    *spec = NULL;
    return finish(&p, read_spec(&p, spec, 0), spec);
}

klift_status kl_spec_parse_items(const char *text, const char *what, kl_spec **spec)
{
    if (text == NULL)
        text = "";
    parser p = {text, text, text + strlen(text), what};
    *spec = NULL;
    KL_TRY(kl_new(spec, 1, sizeof **spec, "a spec"));
    klift_status status = kl_copy_text(&(*spec)->name, what);
    skip_blanks(&p);
    if (status == KLIFT_OK && p.at < p.end)
        status = read_items(&p, *spec);
    for (int64_t i = 0; status == KLIFT_OK && i < (*spec)->items; i++)
        if ((*spec)->item[i].key == NULL)
            status = kl_fail(KLIFT_USAGE, "%s: '%s' has no name before it; write name=%s", what, (*spec)->item[i].value, (*spec)->item[i].value);
    return finish(&p, status, spec);
}

static void print_quoted(const char *value, kl_text *text)
{
    kl_text_add_bytes(text, "\"", 1);
    for (const char *p = value; *p != '\0'; p++)
        kl_text_add_bytes(text, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    kl_text_add_bytes(text, "\"", 1);
}

void kl_spec_print_value(const char *value, kl_text *text)
{
    double number;
    bool word = *value != '\0';
    for (const char *p = value; *p != '\0'; p++)
        word = word && is_word(*p);
    if (kl_number_parse(value, &number))
        kl_text_add_number(text, number);
    else if (word)
        kl_text_add(text, "%s", value);
    else
        print_quoted(value, text);
}

void kl_spec_print(const kl_spec *spec, kl_text *text)
{
    double number;
    kl_text_add(text, "%s", spec->name);
    for (int64_t i = 0; i < spec->arguments; i++) {
        kl_text_add(text, "%s", i == 0 ? "(" : ", ");
        kl_spec_print(spec->argument[i], text);
    }
    if (spec->arguments > 0)
        kl_text_add(text, ")");
    for (int64_t i = 0; i < spec->items; i++) {
        kl_text_add(text, "%s", i == 0 ? ":" : ",");
        if (spec->item[i].key != NULL)
            kl_text_add(text, "%s=", spec->item[i].key);
        if (spec->item[i].quoted && kl_number_parse(spec->item[i].value, &number))
            print_quoted(spec->item[i].value, text);
        else
            kl_spec_print_value(spec->item[i].value, text);
    }
}

void kl_spec_free(kl_spec *spec)
{
    if (spec == NULL)
        return;
    for (int64_t i = 0; i < spec->arguments; i++)
        kl_spec_free(spec->argument[i]);
    for (int64_t i = 0; i < spec->items; i++) {
        kl_free(spec->item[i].key);
        kl_free(spec->item[i].value);
    }
    kl_free(spec->argument);
    kl_free(spec->item);
    kl_free(spec->name);
    kl_free(spec);
}
