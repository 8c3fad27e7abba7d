/*
 * csv_match.c - a table read as a model expects it: columns by name when both sides have names, otherwise by position;
 * the label may be absent.
 */
#include "data/csv.h"

#include "base/memory.h"

#include <string.h>

/* The header as the model's names show it: all of them in the first row make it one; text that no name asks for does
 * not, when the model was made without a header. */
static void decide_header(const kl_reader *reader, kl_csv *s)
{
    const kl_schema *schema = &reader->schema;
    if (reader->option[KL_CSV_HEADER].word != KL_CSV_AUTO || s->columns == 0)
        return;
    if (!schema->named) {
        s->header = s->header && s->header_is_sure;
        return;
    }
    for (int64_t c = 0; c < schema->count; c++)
        if (kl_names_find(&s->names, schema->column[c].name) < 0)
            return;
    s->header = true;
}

static klift_status match_names(kl_reader *reader, kl_csv *s)
{
    const kl_schema *schema = &reader->schema;
    const char *asked = kl_reader_option_text(reader, "label");
    for (int64_t c = 0; c < schema->count; c++) {
        int64_t index = kl_names_find(&s->names, schema->column[c].name), j = index < 0 ? -1 : s->named[index];
        if (j < 0 || s->ignored[j])
            return kl_fail(KLIFT_DATA, "%s: column '%s', which the model needs, is %s", kl_reader_name(reader), schema->column[c].name,
                           j < 0 ? "not in the header; add it, or rename the column that holds it" : "ignored; do not ignore it");
        s->plan[j] = c;
    }
    if (asked != NULL && strcmp(asked, "auto") != 0)
        s->label = kl_csv_find(s, asked);
    else if (schema->label != NULL)
        s->label = kl_csv_find(s, schema->label);
    if (s->label >= 0 && (s->plan[s->label] >= 0 || s->ignored[s->label]))
        s->label = -1; /* what was an input in training is one still */
    for (int64_t j = 0; j < s->columns; j++)
        reader->extra += s->plan[j] < 0 && j != s->label && !s->ignored[j];
    return KLIFT_OK;
}

/* The label when there is one column more than the model needs. */
static int64_t find_label(const kl_reader *reader, const kl_csv *s)
{
    const char *asked = kl_reader_option_text(reader, "label");
    int64_t place = reader->schema.label_at, column = -1;
    if (asked != NULL && strcmp(asked, "auto") != 0)
        return kl_csv_find(s, asked);
    for (int64_t j = 0, seen = 0; j < s->columns; j++) {
        if (s->ignored[j])
            continue;
        column = j;
        if (++seen == place)
            break;
    }
    return column;
}

static klift_status match_positions(kl_reader *reader, kl_csv *s)
{
    int64_t wanted = reader->schema.count, found = 0, c = 0;
    for (int64_t j = 0; j < s->columns; j++)
        found += !s->ignored[j];
    if (found == wanted + 1)
        s->label = find_label(reader, s);
    if (found != wanted && (found != wanted + 1 || s->label < 0 || s->ignored[s->label]))
        return kl_fail(KLIFT_DATA, "%s: the table has %lld columns, the model needs %lld, or one more with the label; columns that were ignored in training must be ignored again",
                       kl_reader_name(reader), (long long)found, (long long)wanted);
    for (int64_t j = 0; j < s->columns; j++)
        if (!s->ignored[j] && j != s->label)
            s->plan[j] = c++;
    return KLIFT_OK;
}

/* Labels that are missing in all of the head are none; words when the model has some or the head shows some. */
static klift_status decide_label(kl_reader *reader, kl_csv *s, bool words)
{
    int type = reader->option[KL_CSV_LABEL_TYPE].word;
    kl_csv_look *look = NULL;
    klift_status status;
    KL_GO(kl_new(&look, s->columns, sizeof *look, "columns"));
    KL_GO(kl_csv_look_at_head(s, look));
    if (s->label >= 0 && (reader->no_label || !look[s->label].any))
        s->label = -1;
    if (s->label < 0)
        goto done;
    s->plan[s->label] = KL_CSV_LABEL;
    s->words = type == KL_CSV_WORDS || (type == 0 && (words || look[s->label].text));
done:
    kl_free(look);
    return status;
}

/* As in training, unless the options say otherwise; rows are never left out by themselves. */
static klift_status decide_missing(kl_reader *reader, kl_csv *s)
{
    kl_schema *schema = &reader->schema;
    int asked = reader->option[KL_CSV_MISSING].word;
    if (kl_reader_option_text(reader, "missing") == NULL)
        asked = schema->filled ? KL_CSV_MEAN : KL_CSV_ERROR;
    if (asked == KL_CSV_MEAN && !schema->filled)
        return kl_fail(KLIFT_USAGE, "%s: the model knows no means, it was trained without missing=mean; say missing=zero", kl_reader_name(reader));
    for (int64_t c = 0; c < schema->count && asked == KL_CSV_ZERO; c++)
        schema->column[c].fill = 0;
    s->missing = asked == KL_CSV_MEAN ? KL_CSV_ZERO : asked;
    return KLIFT_OK;
}

static klift_status match(kl_reader *reader, kl_csv *s, const kl_expect *expect)
{
    kl_schema *schema = &reader->schema;
    for (int64_t c = schema->count; c < expect->width && expect->schema->count == 0; c++)
        KL_TRY(kl_schema_add(schema, "", NULL));
    decide_header(reader, s);
    KL_TRY(kl_csv_start_plan(reader, true));
    reader->extra = 0;
    KL_TRY(schema->named && s->header ? match_names(reader, s) : match_positions(reader, s));
    KL_TRY(decide_label(reader, s, expect->words));
    KL_TRY(decide_missing(reader, s));
    return kl_csv_finish_plan(reader);
}

klift_status kl_csv_match(kl_reader *reader, const kl_expect *expect)
{
    kl_csv *s = reader->state;
    if (s->columns == 0)
        return KLIFT_OK; /* an empty file has no columns to match */
    kl_csv_hold(&s->text);
    klift_status status = match(reader, s, expect);
    if (status != KLIFT_OK) {
        kl_csv_return(&s->text);
        kl_schema_clear(&reader->schema);
    }
    return status;
}
