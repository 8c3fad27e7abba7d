/*
 * svmlight.c - LIBSVM / svmlight text, one row per line: label [qid:n] {index:value} [# comment].
 *
 * The text is parsed where it was read, in blocks of whole lines, which come from svmlight_text.c. The fast loops
 * (svmlight_plain.h) accept or step aside: read_entry looks again at what they left, and svmlight_refuse.c alone writes
 * messages. With several threads svmlight_parts.c reads what it can, and this file the rest. Call order: open, next ...,
 * say, close.
 */
#include "data/svmlight.h"

#include "base/memory.h"
#include "data/svmlight_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_TEXT = 1 };

static const kl_param params[] = {
    {"index-base", KL_WORD, "auto", 0, 0, false, "0|1|auto", "index of the first column; auto: 0 when an index 0 occurs in the first 1 MiB"},
    {"label-type", KL_WORD, "number", 0, 0, false, "number|text", "labels are numbers, or class names without blanks"},
    {"missing", KL_WORD, "error", 0, 0, false, "error|zero|skip", "what to do about the value NaN; skip: leave the row out"},
    {"sort-indices", KL_WORD, "false", 0, 0, false, "false|true", "sort rows whose indices are not ascending"},
    {"ignore-extra", KL_WORD, "false", 0, 0, false, "false|true", "leave out entries beyond the columns of the model, or beyond dim"},
    {0}};

/* ---- lines ---- */

static klift_status read_number_label(kl_reader *reader, kl_svmlight *s, const char **at)
{
    double *value = &s->target[s->rows];
    const char *p = *at, *end = s->text + s->whole, *after;
    *at = kl_svmlight_plain_label(p, end, value);
    if (*at != NULL)
        return KLIFT_OK;
    kl_number_kind kind = kl_number_read(p, end, value, &after);
    return kl_svmlight_refuse_label(reader, p, kind, after);
}

static klift_status read_text_label(kl_reader *reader, kl_svmlight *s, const char **at)
{
    const char *p = *at, *end = kl_svmlight_token_end(p);
    KL_TRY(kl_svmlight_refuse_bytes(reader, p, end));
    if (p[strspn(p, "0123456789")] == ':' && *p != ':')
        return kl_svmlight_refuse_missing_label(reader, p);
    KL_TRY(kl_svmlight_refuse_csv(reader, p, p));
    char *stop = s->text + (end - s->text), kept = *stop;
    int64_t index;
    *stop = '\0';
    klift_status status = kl_names_add(&s->names, p, &index);
    *stop = kept;
    if (status != KLIFT_OK)
        return kl_svmlight_place(reader, p, status);
    s->label[s->rows] = s->names.name[index];
    *at = end;
    return KLIFT_OK;
}

/* A first token without a colon is a label that nobody wants. */
static klift_status skip_label(kl_reader *reader, const char **at)
{
    const char *end = kl_svmlight_token_end(*at);
    if (memchr(*at, ':', (size_t)(end - *at)) != NULL)
        return KLIFT_OK;
    KL_TRY(kl_svmlight_refuse_bytes(reader, *at, end));
    KL_TRY(kl_svmlight_refuse_csv(reader, *at, *at));
    *at = end;
    return KLIFT_OK;
}

static const char *skip_query(const char *p)
{
    const char *q = kl_svmlight_skip_blanks(p);
    if (*q != 'q' || strncmp(q, "qid:", 4) != 0)
        return p;
    size_t digits = strspn(q + 4, "0123456789");
    return digits > 0 && kl_svmlight_ends(q[4 + digits]) ? q + 4 + digits : p;
}

/* What a value of that kind stands for: NaN may be a gap that was allowed for. */
static bool takes_gap(kl_svmlight *s, kl_number_kind kind, const char *p, double *value)
{
    if (kind != KL_NUMBER_NAN || s->missing == KL_SVM_ERROR || (p[strspn(p, "+-")] | 0x20) != 'n')
        return false;
    s->gap = true;
    *value = 0;
    return true;
}

/* Is the column below one before it and to be sorted, or beyond the last and to be left out? */
static bool takes_column(kl_svmlight *s, int64_t column, int64_t last)
{
    if (s->sort && column >= 0 && column < last) {
        s->unsorted = true;
        return true;
    }
    return s->drop_extra && column >= s->limit && column > last;
}

/* One entry of any form behind *last, the highest column so far. */
static klift_status read_entry(kl_reader *reader, kl_svmlight *s, const char **at, int64_t *last)
{
    const char *p = *at, *q = p, *after;
    int64_t index = 0;
    for (; *q >= '0' && *q <= '9'; q++)
        if (index <= KL_SVM_HIGHEST_INDEX)
            index = index * 10 + (*q - '0');
    if (q == p || *q != ':')
        return kl_svmlight_refuse_entry(reader, p, q);
    int64_t column = index - reader->index_base;
    if (index > KL_SVM_HIGHEST_INDEX || ((column <= *last || column >= s->limit) && !takes_column(s, column, *last)))
        return kl_svmlight_refuse_index(reader, p, index, *last);
    double value;
    kl_number_kind kind = kl_number_read(q + 1, s->text + s->whole, &value, &after);
    bool gap = takes_gap(s, kind, q + 1, &value);
    if ((kind != KL_NUMBER_OK && !gap) || !kl_svmlight_ends(*after) || fabs(value) >= KL_FLOAT_LIMIT)
        return kl_svmlight_refuse_value(reader, q + 1, kind, after);
    *at = after;
    if (column >= s->limit) {
        s->extra++;
        return KLIFT_OK;
    }
    s->column[s->entries] = (int32_t)column;
    s->value[s->entries] = (float)value;
    s->entries += s->value[s->entries] != 0.0f || s->sort;
    *last = column > *last ? column : *last;
    return KLIFT_OK;
}

/* All entries up to the end of the line; *at is left there. */
static klift_status read_entries(kl_reader *reader, kl_svmlight *s, const char **at)
{
    const kl_svmlight_rules rules = {.base = reader->index_base, .limit = s->limit, .keep = s->sort};
    kl_svmlight_entries row = {.column = s->column, .value = s->value, .count = s->entries, .last = -1};
    for (;;) {
        *at = kl_svmlight_plain_entries(*at, s->text + s->whole, &rules, &row);
        s->entries = row.count;
        if (kl_svmlight_line_ends(*at))
            break;
        KL_TRY(read_entry(reader, s, at, &row.last));
        row.count = s->entries;
    }
    if (row.last >= s->width && !(s->gap && s->missing == KL_SVM_SKIP))
        s->width = row.last + 1;
    return KLIFT_OK;
}

typedef struct entry {
    int32_t column;
    float value;
} entry;

static int by_column(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->column > y->column) - (x->column < y->column);
}

/* Sorts the present row, whose zeros were kept so that an index that is there twice shows. */
static klift_status sort_row(kl_reader *reader, kl_svmlight *s)
{
    int64_t from = s->start[s->rows], count = s->entries - from, kept = from;
    entry *row = NULL;
    KL_TRY(kl_new(&row, count, sizeof *row, "a row to sort"));
    klift_status status = KLIFT_OK;
    for (int64_t i = 0; i < count; i++)
        row[i] = (entry){s->column[from + i], s->value[from + i]};
    if (count > 0)
        qsort(row, (size_t)count, sizeof *row, by_column);
    for (int64_t i = 0; i < count && status == KLIFT_OK; i++) {
        if (i > 0 && row[i].column == row[i - 1].column)
            status = kl_svmlight_refuse_index(reader, s->text + s->at, row[i].column + reader->index_base, row[i].column);
        s->column[kept] = row[i].column;
        s->value[kept] = row[i].value;
        kept += row[i].value != 0.0f;
    }
    s->entries = kept;
    kl_free(row);
    return status;
}

static klift_status read_row(kl_reader *reader, kl_svmlight *s, const char **at)
{
    if (reader->no_label)
        KL_TRY(skip_label(reader, at));
    else
        KL_TRY(s->text_labels ? read_text_label(reader, s, at) : read_number_label(reader, s, at));
    const char *behind = skip_query(*at);
    s->queries += behind != *at;
    *at = behind;
    s->gap = s->unsorted = false;
    KL_TRY(read_entries(reader, s, at));
    if (s->sort)
        KL_TRY(sort_row(reader, s));
    if (s->gap && s->missing == KL_SVM_SKIP) {
        s->entries = s->start[s->rows];
        reader->skipped++;
        return KLIFT_OK;
    }
    s->start[++s->rows] = s->entries;
    return KLIFT_OK;
}

/* One line: a row, or nothing but blanks and a comment. */
static klift_status read_line(kl_reader *reader, kl_svmlight *s)
{
    const char *p = kl_svmlight_skip_blanks(s->text + s->at);
    if (!kl_svmlight_line_ends(p))
        KL_TRY(read_row(reader, s, &p));
    else
        s->blank_lines += *p != '#';
    const char *end = p;
    if (*p != '\n') {
        end = memchr(p, '\n', (size_t)(s->text + s->whole - p));
        if (*p == '#')
            KL_TRY(kl_svmlight_refuse_bytes(reader, p, end));
    }
    s->at = end + 1 - s->text;
    s->line++;
    return KLIFT_OK;
}

/* ---- interface ---- */

static klift_status open_text(kl_reader *reader)
{
    kl_svmlight *s = reader->state;
    bool look = reader->option[KL_SVM_INDEX_BASE].word == KL_SVM_BASE_AUTO;
    int64_t block = look ? KL_SVM_LOOK_AHEAD : KL_SVM_BLOCK, size = kl_stream_size(reader->stream);
    if (size >= 0 && size < block)
        block = size + 1; /* a short file needs no more; one byte over, to see its end */
    if (reader->labels != NULL)
        return kl_fail(KLIFT_USAGE, "%s: svmlight rows carry their labels; labels=FILE is for NPY and IDX", kl_stream_name(reader->stream));
    s->text_labels = reader->option[KL_SVM_LABEL_TYPE].word == LABEL_TEXT;
    s->missing = reader->option[KL_SVM_MISSING].word;
    s->sort = reader->option[KL_SVM_SORT].word == 1;
    s->drop_extra = reader->option[KL_SVM_EXTRA].word == 1;
    s->limit = reader->dim > 0 ? reader->dim : INT32_MAX;
    KL_TRY(kl_grow(&s->text, &s->text_room, 0, block + KL_PLAIN_PADDING, 1, "a block of text"));
    KL_TRY(kl_svmlight_begin(reader, block));
    if (look)
        reader->index_base = kl_svmlight_has_zero(s->text + s->at, s->used - s->at < KL_SVM_LOOK_AHEAD ? s->used - s->at : KL_SVM_LOOK_AHEAD) ? 0 : 1;
    else
        reader->index_base = reader->option[KL_SVM_INDEX_BASE].word;
    reader->base_found = look;
    return KLIFT_OK;
}

/* The arrays of a row grow together. */
klift_status kl_svmlight_reserve_rows(kl_svmlight *s, int64_t more)
{
    if (s->rows + more + 1 <= s->start_room)
        return KLIFT_OK;
    KL_TRY(kl_grow(&s->start, &s->start_room, s->start == NULL ? 0 : s->rows + 1, s->rows + more + 1, sizeof *s->start, "rows"));
    KL_TRY(kl_grow(&s->target, &s->target_room, s->rows, s->start_room, sizeof *s->target, "rows"));
    return s->text_labels ? kl_grow(&s->label, &s->label_room, s->rows, s->start_room, sizeof *s->label, "rows") : KLIFT_OK;
}

/* Room for every entry that the whole lines in the buffer can hold, so that the fast loop need not look. */
static klift_status reserve_entries(kl_svmlight *s)
{
    int64_t entries = s->entries + (s->whole - s->at) / KL_SVM_SHORTEST_ENTRY + 1;
    KL_TRY(kl_grow(&s->column, &s->column_room, s->entries, entries, sizeof *s->column, "entries"));
    return kl_grow(&s->value, &s->value_room, s->entries, entries, sizeof *s->value, "entries");
}

static klift_status refill(kl_reader *reader, kl_svmlight *s)
{
    int64_t block;
    if (s->ended)
        return KLIFT_OK;
    KL_TRY(kl_svmlight_make_block(reader, &block));
    return kl_svmlight_refill(reader, block);
}

static klift_status next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    kl_svmlight *s = reader->state;
    s->rows = s->entries = 0;
    s->limit = reader->dim > 0 ? reader->dim : INT32_MAX; /* a survey may have set dim since the last call */
    while (s->rows < at_most) {
        if (s->at == s->whole)
            KL_TRY(refill(reader, s));
        if (s->at == s->whole)
            break;
        KL_TRY(kl_svmlight_read_parts(reader, at_most));
        if (s->at == s->whole || s->rows == at_most)
            continue;
        KL_TRY(reserve_entries(s));
        while (s->at < s->whole && s->rows < at_most) {
            KL_TRY(kl_svmlight_reserve_rows(s, 1));
            KL_TRY(read_line(reader, s));
        }
    }
    *batch = (kl_batch){.size = sizeof *batch, .rows = s->rows, .columns = reader->dim > 0 ? reader->dim : s->width,
                        .start = s->start, .column = s->column, .value = s->value};
    if (!reader->no_label && s->text_labels)
        batch->label = s->label;
    else if (!reader->no_label) {
        batch->target = s->target;
        batch->targets = 1;
    }
    return KLIFT_OK;
}

/* Said once: what was in the text and means nothing here. */
static void say(kl_reader *reader, klift_run *run)
{
    kl_svmlight *s = reader->state;
    const char *name = kl_reader_name(reader);
    if (s->said)
        return;
    if (s->blank_lines > 0)
        kl_run_say(run, KLIFT_EVENT_WARNING, "read", "%s: %lld blank line%s skipped", name, (long long)s->blank_lines, s->blank_lines == 1 ? " is" : "s are");
    if (s->queries > 0)
        kl_run_say(run, KLIFT_EVENT_WARNING, "read", "%s: qid is ignored (%lld rows have it)", name, (long long)s->queries);
    if (s->extra > 0)
        kl_run_say(run, KLIFT_EVENT_NOTE, "read", "%s: %lld entries beyond column %lld are left out", name, (long long)s->extra, (long long)s->limit);
    s->said = s->blank_lines + s->queries + s->extra > 0;
}

static klift_status rewind_text(kl_reader *reader)
{
    int64_t block;
    KL_TRY(kl_svmlight_make_block(reader, &block));
    return kl_svmlight_begin(reader, block);
}

/* What the model says counts like an option, unless there was one. */
static klift_status match(kl_reader *reader, const kl_expect *expect)
{
    kl_svmlight *s = reader->state;
    if (reader->option[KL_SVM_INDEX_BASE].word == KL_SVM_BASE_AUTO)
        reader->option[KL_SVM_INDEX_BASE].word = reader->index_base = expect->index_base;
    reader->dim = reader->dim > 0 ? reader->dim : expect->width;
    s->limit = reader->dim;
    if (expect->words && kl_reader_option_text(reader, "label-type") == NULL)
        s->text_labels = true;
    return s->text_labels ? kl_grow(&s->label, &s->label_room, 0, s->start_room, sizeof *s->label, "rows") : KLIFT_OK;
}

static void close_text(kl_reader *reader)
{
    kl_svmlight *s = reader->state;
    kl_svmlight_clear_parts(s);
    kl_free(s->text);
    kl_free(s->start);
    kl_free(s->column);
    kl_free(s->value);
    kl_free(s->target);
    kl_free(s->label);
    kl_names_clear(&s->names);
}

const kl_reader_type kl_reader_svmlight = {
    .name = "svmlight",
    .summary = "LIBSVM / svmlight text: label index:value ...",
    .params = params,
    .listed = true,
    .state_size = sizeof(kl_svmlight),
    .open = open_text,
    .next = next,
    .rewind = rewind_text,
    .close = close_text,
    .match = match,
    .say = say,
    .reads_stream = true,
};
