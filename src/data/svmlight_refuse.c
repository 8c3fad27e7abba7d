/*
 * svmlight_refuse.c - what is wrong with a line of LIBSVM text, where, and what to do: the only place of its messages.
 * The fast loops step aside from anything odd; by then time no longer matters, and the line is looked at again.
 */
#include "data/svmlight.h"

#include <string.h>

/* Puts FILE:LINE:COLUMN before the message; at is inside the present line. */
klift_status kl_svmlight_place(const kl_reader *reader, const char *at, klift_status status)
{
    const kl_svmlight *s = reader->state;
    return kl_fail_in(status, "%s:%lld:%lld", kl_stream_name(reader->stream), (long long)s->line, (long long)(at - (s->text + s->at)) + 1);
}

const char *kl_svmlight_token_end(const char *p)
{
    while (!kl_svmlight_ends(*p))
        p++;
    return p;
}

typedef struct excerpt {
    char text[32];
} excerpt;

/* The token at p as messages show it: cut, and without bytes that a terminal or a JSON text would mind. */
static excerpt quote(const char *p)
{
    excerpt out = {{0}};
    size_t length = 0;
    for (; !kl_svmlight_ends(*p) && length < sizeof out.text - 4; p++)
        out.text[length++] = *p;
    if (!kl_svmlight_ends(*p))
        memcpy(out.text + length, "...", 3);
    for (char *c = out.text; *c != '\0' || c < out.text + length; c++)
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    return out;
}

/* Bytes that no line may hold, whatever was expected there; KLIFT_OK when the token has none. */
klift_status kl_svmlight_refuse_bytes(const kl_reader *reader, const char *p, const char *end)
{
    const char *nul = memchr(p, '\0', (size_t)(end - p));
    if (nul != NULL)
        return kl_svmlight_place(
            reader, nul, kl_fail(KLIFT_DATA, "NUL byte in the text: it is binary, UTF-16 or damaged; convert it (iconv -f UTF-16 -t UTF-8) or copy it again"));
    if (*p == '\r' && p[1] != '\n')
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "carriage return inside a line; if lines end in CR only, convert them: tr '\\r' '\\n'"));
    return KLIFT_OK;
}

/* Commas or semicolons but no colon before the end of the line. */
static bool looks_like_csv(const char *p)
{
    bool separator = false;
    for (; *p != '\n' && *p != '#'; p++) {
        if (*p == ':')
            return false;
        separator = separator || *p == ',' || *p == ';';
    }
    return separator;
}

klift_status kl_svmlight_refuse_csv(const kl_reader *reader, const char *from, const char *p)
{
    if (!looks_like_csv(from))
        return KLIFT_OK;
    return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "looks like CSV: say format=csv; rows here must be 'label index:value index:value ...'"));
}

klift_status kl_svmlight_refuse_missing_label(const kl_reader *reader, const char *p)
{
    return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "the label is missing: the row starts with '%s'; if rows have no labels, say no-label=true", quote(p).text));
}

klift_status kl_svmlight_refuse_label(const kl_reader *reader, const char *p, kl_number_kind kind, const char *after)
{
    const excerpt token = quote(p);
    KL_TRY(kl_svmlight_refuse_bytes(reader, p, kl_svmlight_token_end(p)));
    KL_TRY(kl_svmlight_refuse_csv(reader, p, p));
    if (strncmp(p, "qid:", 4) == 0 || (kind == KL_NUMBER_OK && *after == ':'))
        return kl_svmlight_refuse_missing_label(reader, p);
    if (kind == KL_NUMBER_OK && *after == ',')
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "label '%s': rows with several labels (multi-label) are not supported; a decimal comma must be a point", token.text));
    if (kind == KL_NUMBER_NAN)
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "label '%s' is not finite; remove the row or correct the label", token.text));
    if (kind == KL_NUMBER_TOO_LARGE)
        return kl_svmlight_place(reader, p,
                                 kl_fail(KLIFT_DATA, "label '%s' is out of range of a number; scale the labels, or say label-type=text", token.text));
    if (kind == KL_NUMBER_OK && kl_svmlight_ends(*after))
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "label '%s' is above 2^53 and cannot be held exactly as a number; say label-type=text", token.text));
    return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "label '%s' is not a decimal number; if labels are words, say label-type=text", token.text));
}

klift_status kl_svmlight_refuse_value(const kl_reader *reader, const char *p, kl_number_kind kind, const char *after)
{
    KL_TRY(kl_svmlight_refuse_bytes(reader, p, kl_svmlight_token_end(p)));
    if (kl_svmlight_ends(*p))
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "the value after ':' is missing; write index:value without blanks"));
    if (kind == KL_NUMBER_NAN && kl_svmlight_ends(*after))
        return kl_svmlight_place(
            reader, p, kl_fail(KLIFT_DATA, "value '%s' is not finite; clean the data first, or for NaN say missing=zero or missing=skip", quote(p).text));
    if (kind == KL_NUMBER_TOO_LARGE || (kind == KL_NUMBER_OK && kl_svmlight_ends(*after)))
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "value '%s' is out of range of float32; scale the data", quote(p).text));
    if (kind == KL_NUMBER_OK && *after == ',')
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "value '%s' has a comma; decimal comma? write a point", quote(p).text));
    return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "value '%s' is not a decimal number; write it like 0.5 or -1e3", quote(p).text));
}

/* The token at p has no index before a colon. after is behind its digits. */
klift_status kl_svmlight_refuse_entry(const kl_reader *reader, const char *p, const char *after)
{
    const kl_svmlight *s = reader->state;
    KL_TRY(kl_svmlight_refuse_bytes(reader, p, kl_svmlight_token_end(p)));
    KL_TRY(kl_svmlight_refuse_csv(reader, s->text + s->at, p));
    if (*p == '-' && p[1] >= '0' && p[1] <= '9')
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "'%s': the index is negative; columns are numbered from 0 or 1", quote(p).text));
    const char *next = after;
    while (*next == ' ' || *next == '\t')
        next++;
    if (after > p && *next == ':')
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "'%s': blank before ':'; write index:value without blanks", quote(p).text));
    if (strncmp(p, "qid:", 4) == 0)
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "'%s': qid must be a whole number directly behind the label", quote(p).text));
    return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "'%s' is not index:value; write rows as 'label index:value index:value ...'", quote(p).text));
}

klift_status kl_svmlight_refuse_index(const kl_reader *reader, const char *p, int64_t index, int64_t last)
{
    const kl_svmlight *s = reader->state;
    int64_t column = index - reader->index_base;
    if (column < 0 && reader->option[KL_SVM_INDEX_BASE].word == KL_SVM_BASE_AUTO)
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "index 0, but indices were taken to start at 1, as the first 1 MiB has no 0; say index-base=0"));
    if (column < 0)
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "index 0, but index-base=1 was given; say index-base=0"));
    if (index > KL_SVM_HIGHEST_INDEX)
        return kl_svmlight_place(
            reader, p,
            kl_fail(KLIFT_DATA, "'%s': the index is above the highest, %d; correct it, or number the columns anew", quote(p).text, KL_SVM_HIGHEST_INDEX));
    if (column == last)
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "index %lld is there twice; merge the entries", (long long)index));
    if (column < last)
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "index %lld comes after %lld; sort the row, or say sort-indices=true", (long long)index, (long long)(last + reader->index_base)));
    if (reader->schema_given)
        return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "index %lld is beyond the %lld columns of the model; to leave such entries out say ignore-extra=true", (long long)index, (long long)s->limit));
    return kl_svmlight_place(reader, p, kl_fail(KLIFT_DATA, "index %lld is beyond dim=%lld; give a larger one", (long long)index, (long long)s->limit));
}
