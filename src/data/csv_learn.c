/*
 * csv_learn.c - what the columns are when no model says it: label, numbers, categories.
 *
 * The first 1000 rows (or 1 MiB) decide which columns are text; a column of numbers that turns out otherwise later is an
 * error there. Categories and means need one pass over all rows; of a pipe, over the first 16,384 (or 64 MiB of text).
 * Categories are sorted, so that the order of the rows changes nothing.
 */
#include "data/csv.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { PIPE_ROWS = 16384, PIPE_BYTES = 1 << 26, STEP = 4096 };

static bool same_word(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++)
        if ((*a >= 'A' && *a <= 'Z' ? *a | 0x20 : *a) != *b)
            return false;
    return *a == *b;
}

/* As asked; else the column called label, target, class or y; else the last one. */
static klift_status choose_label(kl_reader *reader, kl_csv *s)
{
    static const char *const usual[] = {"label", "target", "class", "y"};
    const char *asked = kl_reader_option_text(reader, "label");
    if (reader->no_label)
        return KLIFT_OK;
    if (asked != NULL && strcmp(asked, "auto") != 0) {
        s->label = kl_csv_find(s, asked);
        if (s->label >= 0 && s->ignored[s->label])
            return kl_fail(KLIFT_USAGE, "%s: %s is both the label and ignored", kl_reader_name(reader), kl_csv_column(s, s->label).text);
        return s->label >= 0 ? KLIFT_OK : kl_csv_no_column(reader, "label", asked);
    }
    for (int w = 0; w < 4 && s->header && s->label < 0; w++)
        for (int64_t j = 0; j < s->columns && s->label < 0; j++)
            if (!s->ignored[j] && same_word(s->name[j], usual[w]))
                s->label = j;
    for (int64_t j = s->columns; j-- > 0 && s->label < 0;)
        if (!s->ignored[j])
            s->label = j;
    return KLIFT_OK;
}

/* Numbers or categories by what the head showed and the options say. */
static klift_status add_columns(kl_reader *reader, kl_csv *s, const kl_csv_look *look)
{
    kl_schema *schema = &reader->schema;
    int64_t place = 0, last = 0;
    schema->named = s->header;
    for (int64_t j = 0; j < s->columns; j++) {
        kl_schema_column *column = NULL;
        if (s->ignored[j])
            continue;
        last++;
        if (j == s->label) {
            s->plan[j] = KL_CSV_LABEL;
            place = last;
            continue;
        }
        s->plan[j] = schema->count;
        KL_TRY(kl_schema_add(schema, s->header ? s->name[j] : "", &column));
        column->categorical = s->listed[j] || look[j].text;
    }
    schema->label_at = place == last ? 0 : place;
    if (s->label >= 0 && s->header)
        KL_TRY(kl_copy_text(&schema->label, s->name[s->label]));
    return KLIFT_OK;
}

/* ---- the pass over all rows ---- */

typedef struct pass {
    kl_reader *reader;
    kl_csv *s;
    const kl_csv_look *look; /* (columns of the file) */
    double *sum;             /* (columns of the schema) */
    int64_t *count;
} pass;

static klift_status refuse_categories(const pass *p, int64_t column, const kl_csv_cell *cell)
{
    const kl_csv *s = p->s;
    const kl_csv_look *look = &p->look[column];
    const char *at = kl_csv_begin_of(cell);
    const kl_csv_excerpt name = kl_csv_column(s, column);
    if (look->text && !s->listed[column])
        return kl_csv_place(&s->text, at,
                            kl_fail(KLIFT_DATA, "%s has more than %d categories (it is text because of '%s' in line %lld); leave it out: ignore=%s", name.text, KL_CATEGORIES_MAX,
                                    look->shown.text, (long long)look->line, s->header ? s->name[column] : "POSITION"));
    return kl_csv_place(&s->text, at, kl_fail(KLIFT_DATA, "%s has more than %d categories; leave it out: ignore=%s", name.text, KL_CATEGORIES_MAX, s->header ? s->name[column] : "POSITION"));
}

static bool has_missing(const kl_csv *s)
{
    for (int64_t j = 0; j < s->columns; j++)
        if (s->plan[j] != KL_CSV_IGNORED && kl_csv_is_missing(&s->cell[j]))
            return true;
    return false;
}

static klift_status note_row(const pass *p)
{
    kl_csv *s = p->s;
    if (s->missing == KL_CSV_SKIP && has_missing(s))
        return KLIFT_OK; /* not a row at all: its categories would be columns of zeros */
    for (int64_t j = 0; j < s->columns; j++) {
        int64_t c = s->plan[j], index;
        const kl_csv_cell *cell = &s->cell[j];
        const char *text;
        double value;
        if (c < 0)
            continue;
        kl_schema_column *column = &p->reader->schema.column[c];
        if (!column->categorical) {
            if (kl_csv_classify(s->point, cell, &value) == KL_CELL_NUMBER) {
                p->sum[c] += value;
                p->count[c]++;
            }
            continue;
        }
        if (kl_csv_is_missing(cell))
            continue;
        KL_TRY(kl_csv_copy(&s->text, cell, &text));
        KL_TRY(kl_names_add(&column->categories, text, &index));
        if (column->categories.count > KL_CATEGORIES_MAX)
            return refuse_categories(p, j, cell);
    }
    return KLIFT_OK;
}

static klift_status read_rows(const pass *p, bool once, klift_run *run)
{
    kl_csv *s = p->s;
    const char *after;
    kl_csv_return(&s->text);
    s->text.holds = once;
    KL_TRY(kl_csv_skip_header(s));
    for (int64_t rows = 0; !once || (rows < PIPE_ROWS && s->text.at - s->text.keep < PIPE_BYTES); rows++) {
        bool any;
        KL_TRY(kl_csv_row(s, &after, &any));
        if (!any)
            break;
        KL_TRY(note_row(p));
        kl_csv_end_row(&s->text, after);
        if (rows % STEP == STEP - 1)
            KL_TRY(kl_run_progress(run, "columns", rows + 1, 0, NAN));
    }
    if (once)
        return KLIFT_OK;
    KL_TRY(kl_stream_rewind(p->reader->stream));
    KL_TRY(kl_csv_begin(&s->text));
    kl_csv_hold(&s->text);
    return KLIFT_OK;
}

static klift_status learn_values(kl_reader *reader, kl_csv *s, const kl_csv_look *look, klift_run *run)
{
    kl_schema *schema = &reader->schema;
    pass p = {.reader = reader, .s = s, .look = look};
    bool mean = reader->option[KL_CSV_MISSING].word == KL_CSV_MEAN;
    klift_status status = KLIFT_OK;
    if (!mean && !kl_schema_is_sparse(schema))
        return KLIFT_OK;
    KL_GO(kl_new(&p.sum, schema->count, sizeof *p.sum, "means"));
    KL_GO(kl_new(&p.count, schema->count, sizeof *p.count, "means"));
    KL_GO(read_rows(&p, !kl_stream_can_rewind(reader->stream), run));
    for (int64_t c = 0; c < schema->count; c++) {
        if (mean && p.count[c] > 0)
            schema->column[c].fill = p.sum[c] / (double)p.count[c];
        if (schema->column[c].categorical)
            KL_GO(kl_schema_sort(&schema->column[c]));
    }
done:
    kl_free(p.sum);
    kl_free(p.count);
    return status;
}

static void say(const kl_reader *reader, const kl_csv *s, klift_run *run)
{
    int64_t texts = 0;
    for (int64_t c = 0; c < reader->schema.count; c++)
        texts += reader->schema.column[c].categorical;
    const kl_csv_excerpt label = s->label < 0 ? (kl_csv_excerpt){"none"} : kl_csv_column(s, s->label);
    kl_run_say(run, KLIFT_EVENT_NOTE, "columns", "%s: CSV %s header; label: %s; columns of numbers: %lld, of categories: %lld (%lld columns in all)",
               kl_reader_name(reader), s->header ? "with a" : "without", label.text, (long long)(reader->schema.count - texts), (long long)texts,
               (long long)reader->schema.width);
}

/* After a failure: the next call fails in the same way, or learns all rows, never the rest of them. */
static void start_anew(kl_reader *reader, kl_csv *s)
{
    kl_schema_clear(&reader->schema);
    if (s->text.holds)
        kl_csv_return(&s->text);
    else if (kl_stream_rewind(reader->stream) == KLIFT_OK)
        (void)kl_csv_begin(&s->text);
}

klift_status kl_csv_learn(kl_reader *reader, klift_run *run)
{
    kl_csv *s = reader->state;
    kl_csv_look *look = NULL;
    int asked = reader->option[KL_CSV_MISSING].word, type = reader->option[KL_CSV_LABEL_TYPE].word;
    klift_status status;
    if (s->ready)
        return KLIFT_OK;
    kl_csv_hold(&s->text);
    KL_GO(kl_csv_start_plan(reader, false));
    KL_GO(choose_label(reader, s));
    KL_GO(kl_new(&look, s->columns, sizeof *look, "columns"));
    KL_GO(kl_csv_look_at_head(s, look));
    KL_GO(add_columns(reader, s, look));
    s->words = s->label >= 0 && (type == KL_CSV_WORDS || (type == 0 && (look[s->label].text || s->listed[s->label])));
    s->missing = asked == KL_CSV_MEAN ? KL_CSV_ZERO : asked;
    reader->schema.filled = asked == KL_CSV_ZERO || asked == KL_CSV_MEAN;
    KL_GO(learn_values(reader, s, look, run));
    KL_GO(kl_csv_finish_plan(reader));
    say(reader, s, run);
done:
    if (status != KLIFT_OK)
        start_anew(reader, s);
    kl_free(look);
    return status;
}
