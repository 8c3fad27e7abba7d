/*
 * csv_layout.c - what a table looks like before anything of its content counts: rows of cells, columns, header, and the
 * columns that options name. The first row is a header when it has text above a number, or is all text, without repeats,
 * and none of it occurs again below.
 */
#include "data/csv.h"

#include "base/memory.h"
#include "base/number.h"
#include "data/plain_number.h"

#include <stdio.h>
#include <string.h>

enum { HELD = 1 << 20, NAMES_SHOWN = 50, MOST_COLUMNS = 1 << 21 }; /* each column costs some 600 bytes */

/* ---- rows ---- */

const char *kl_csv_begin_of(const kl_csv_cell *cell)
{
    return cell->begin - cell->quoted;
}

static klift_status split(kl_csv *s, const char **after, bool *open)
{
    const char *p = s->text.text + s->text.at;
    for (s->cells = 0;; p++) {
        if (s->cells == MOST_COLUMNS)
            return kl_csv_place(&s->text, p, kl_fail(KLIFT_DATA, "the row has more than %d cells; keep so wide a table as LIBSVM text or NPY", MOST_COLUMNS));
        KL_TRY(kl_grow(&s->cell, &s->cell_room, s->cells, s->cells + 1, sizeof *s->cell, "a row of text"));
        KL_TRY(kl_csv_cell_at(&s->text, &p, &s->cell[s->cells], open));
        if (*open)
            return KLIFT_OK;
        s->cells++;
        if (kl_csv_line_ends(p))
            break;
    }
    *after = p;
    return KLIFT_OK;
}

/* One empty cell too many is a delimiter at the end of the line. */
static klift_status check_count(kl_csv *s, const char *after)
{
    const kl_csv_cell *last = &s->cell[s->cells - 1];
    if (s->cells == s->columns + 1 && last->begin == last->end && !last->quoted)
        s->cells--;
    if (s->cells == s->columns)
        return KLIFT_OK;
    const char *at = s->cells < s->columns ? after : kl_csv_begin_of(&s->cell[s->columns]);
    return kl_csv_place(&s->text, at,
                        kl_fail(KLIFT_DATA, "the row has %lld cells, the %s has %lld; complete it, or quote cells that hold the delimiter", (long long)s->cells,
                                s->header ? "header" : "first row", (long long)s->columns));
}

klift_status kl_csv_row(kl_csv *s, const char **after, bool *any)
{
    kl_csv_text *t = &s->text;
    bool more = true, open = false;
    *any = false;
    for (;;) {
        if (t->at == t->whole || open)
            KL_TRY(kl_csv_more(t, &more));
        if (t->at == t->whole)
            return KLIFT_OK;
        const char *blank = kl_csv_blank(t);
        open = false;
        if (blank != NULL) {
            kl_csv_end_row(t, blank);
            continue;
        }
        KL_TRY(split(s, after, &open));
        if (open)
            continue;
        *any = true;
        return s->columns == 0 ? KLIFT_OK : check_count(s, *after);
    }
}

const char *kl_csv_row_of_numbers(const kl_csv *s)
{
    const kl_csv_text *t = &s->text;
    const char *p = t->text + t->at;
    double value;
    if (t->at == t->whole || t->delimiter == ' ' || s->columns == 0)
        return NULL;
    for (int64_t j = 0; j < s->columns; j++) {
        p = kl_plain_number(p, false, s->point, &value);
        if (p == NULL || *p++ != (j < s->columns - 1 ? t->delimiter : '\n'))
            return NULL;
    }
    return p - 1;
}

bool kl_csv_in_head(const kl_csv *s, int64_t rows)
{
    return rows < KL_CSV_HEAD && (rows < 2 || s->text.at - s->text.keep < HELD);
}

klift_status kl_csv_skip_header(kl_csv *s)
{
    const char *after;
    bool any;
    if (!s->header)
        return KLIFT_OK;
    KL_TRY(kl_csv_row(s, &after, &any));
    if (any)
        kl_csv_end_row(&s->text, after);
    return KLIFT_OK;
}

/* ---- header ---- */

typedef struct first_rows {
    kl_csv_kind *above;   /* (columns): of the first row */
    bool text_over_number, all_text, again;
    bool tail_is_empty;   /* the last cell of every row */
    int64_t rows;
} first_rows;

/* The texts of the first row, in case they are names. */
static klift_status keep_names(kl_csv *s)
{
    KL_TRY(kl_new(&s->name, s->columns, sizeof *s->name, "column names"));
    for (int64_t j = 0; j < s->columns; j++) {
        const char *text;
        char unnamed[32];
        KL_TRY(kl_csv_copy(&s->text, &s->cell[j], &text));
        snprintf(unnamed, sizeof unnamed, "column %lld", (long long)j + 1);
        KL_TRY(kl_copy_text(&s->name[j], *text != '\0' ? text : unnamed));
    }
    return KLIFT_OK;
}

/* The present row against the first one. */
static klift_status look_at_row(kl_csv *s, first_rows *f)
{
    if (f->rows > 1 && (!f->all_text || f->again))
        return KLIFT_OK; /* nothing more to learn */
    for (int64_t j = 0; j < s->cells; j++) {
        const char *text;
        kl_csv_kind kind = kl_csv_kind_of(s->point, &s->cell[j]);
        if (f->rows == 1 && f->above[j] == KL_CELL_TEXT && kind == KL_CELL_NUMBER)
            f->text_over_number = true;
        if (!f->all_text || f->again || kind != KL_CELL_TEXT)
            continue;
        KL_TRY(kl_csv_copy(&s->text, &s->cell[j], &text));
        f->again = strcmp(text, s->name[j]) == 0;
    }
    return KLIFT_OK;
}

static klift_status look_at_head(kl_csv *s, first_rows *f)
{
    const char *after;
    for (bool any; kl_csv_in_head(s, f->rows); f->rows++) {
        after = f->rows > 1 ? kl_csv_row_of_numbers(s) : NULL;
        if (after != NULL) { /* no text, and an end that is not empty */
            f->tail_is_empty = false;
            kl_csv_end_row(&s->text, after);
            continue;
        }
        KL_TRY(kl_csv_row(s, &after, &any));
        if (!any)
            break;
        if (f->rows == 0) {
            s->columns = s->cells;
            KL_TRY(keep_names(s));
            KL_TRY(kl_new(&f->above, s->columns, sizeof *f->above, "a header"));
            f->all_text = f->tail_is_empty = true;
            for (int64_t j = 0; j < s->columns; j++) {
                double value;
                f->above[j] = kl_csv_classify(s->point, &s->cell[j], &value);
                f->all_text = f->all_text && f->above[j] == KL_CELL_TEXT;
            }
        } else
            KL_TRY(look_at_row(s, f));
        const kl_csv_cell *last = &s->cell[s->columns - 1];
        f->tail_is_empty = f->tail_is_empty && last->begin == last->end && !last->quoted;
        kl_csv_end_row(&s->text, after);
    }
    return KLIFT_OK;
}

static bool all_differ(const kl_csv *s)
{
    return s->names.count == s->columns;
}

static klift_status index_names(kl_csv *s)
{
    KL_TRY(kl_new(&s->named, s->columns, sizeof *s->named, "column names"));
    for (int64_t j = 0, index; j < s->columns; j++) {
        int64_t known = s->names.count;
        KL_TRY(kl_names_add(&s->names, s->name[j], &index));
        if (s->names.count > known)
            s->named[index] = j;
    }
    return KLIFT_OK;
}

static klift_status find_header(kl_reader *reader, kl_csv *s)
{
    int asked = reader->option[KL_CSV_HEADER].word;
    first_rows f = {0};
    klift_status status;
    kl_csv_hold(&s->text);
    KL_GO(look_at_head(s, &f));
    if (s->columns > 1 && f.tail_is_empty) /* every line ends with a delimiter */
        kl_free(s->name[--s->columns]);
    KL_GO(s->columns > 0 ? index_names(s) : KLIFT_OK);
    s->header_is_sure = asked != KL_CSV_AUTO || f.text_over_number;
    s->header = s->columns > 0 && (asked == KL_CSV_TRUE || (asked == KL_CSV_AUTO && (f.text_over_number || (f.all_text && all_differ(s) && !f.again))));
    kl_csv_return(&s->text);
done:
    kl_free(f.above);
    return status;
}

klift_status kl_csv_lay_out(kl_reader *reader)
{
    static const char delimiters[] = {'\0', ',', ';', '\t', '|', ' '};
    kl_csv *s = reader->state;
    kl_csv_text *t = &s->text;
    t->stream = reader->stream;
    s->point = reader->option[KL_CSV_DECIMAL].word == 1 ? ',' : '.';
    KL_TRY(kl_csv_begin(t));
    t->delimiter = delimiters[reader->option[KL_CSV_DELIMITER].word];
    if (t->delimiter == '\0')
        t->delimiter = kl_csv_choose_delimiter(t->text + t->at, t->text + t->whole, s->point);
    if (t->delimiter == '\0')
        t->delimiter = s->point == ',' ? ';' : ','; /* one column */
    if (t->delimiter == s->point)
        return kl_fail(KLIFT_USAGE, "%s: a comma cannot be both the delimiter and the decimal sign", kl_stream_name(t->stream));
    return find_header(reader, s);
}

/* ---- columns by name or position ---- */

int64_t kl_csv_find(const kl_csv *s, const char *text)
{
    double position;
    int64_t index = s->header ? kl_names_find(&s->names, text) : -1;
    if (index >= 0)
        return s->named[index];
    if (!kl_number_parse(text, &position) || position != (double)(int64_t)position || position == 0)
        return -1;
    int64_t at = position > 0 ? (int64_t)position - 1 : s->columns + (int64_t)position;
    return at >= 0 && at < s->columns ? at : -1;
}

static const char *name_at(int64_t index, const void *context)
{
    const kl_csv *s = context;
    return index < s->columns && index < NAMES_SHOWN ? s->name[index] : NULL;
}

klift_status kl_csv_no_column(const kl_reader *reader, const char *option, const char *text)
{
    const kl_csv *s = reader->state;
    const char *file = kl_reader_name(reader);
    if (!s->header)
        return kl_fail(KLIFT_USAGE, "%s: %s=%s: the table has no header; give a position from 1 to %lld, or say header=true", file, option, text, (long long)s->columns);
    kl_unknown("column", text, name_at, s);
    return kl_fail_in(KLIFT_USAGE, "%s: %s", file, option);
}

klift_status kl_csv_mark(kl_reader *reader, const char *option, bool lenient, bool *marked)
{
    kl_csv *s = reader->state;
    const char *p = kl_reader_option_text(reader, option);
    if (p == NULL || strcmp(p, "none") == 0 || strcmp(p, "auto") == 0)
        return KLIFT_OK;
    while (*p != '\0') {
        size_t length = strcspn(p, "+");
        KL_TRY(kl_grow(&s->text.copy, &s->text.copy_room, 0, (int64_t)length + 1, 1, "a column name"));
        memcpy(s->text.copy, p, length);
        s->text.copy[length] = '\0';
        int64_t column = kl_csv_find(s, s->text.copy);
        if (column >= 0)
            marked[column] = true;
        else if (!lenient)
            return kl_csv_no_column(reader, option, s->text.copy);
        p += length + (p[length] == '+');
    }
    return KLIFT_OK;
}

klift_status kl_csv_check_names(const kl_reader *reader)
{
    kl_csv *s = reader->state;
    for (int64_t j = 0; s->header && j < s->columns; j++) {
        int64_t *first = &s->named[kl_names_find(&s->names, s->name[j])];
        if (s->ignored[j] || *first == j)
            continue;
        if (!s->ignored[*first])
            return kl_fail(KLIFT_DATA, "%s: %s is there twice, as column %lld and %lld; rename one, or ignore it by its position", kl_reader_name(reader),
                           kl_csv_column(s, j).text, (long long)*first + 1, (long long)j + 1);
        *first = j;
    }
    return KLIFT_OK;
}

kl_csv_excerpt kl_csv_column(const kl_csv *s, int64_t column)
{
    kl_csv_excerpt out = {{0}};
    if (!s->header)
        snprintf(out.text, sizeof out.text, "column %lld", (long long)column + 1);
    else {
        const char *name = s->name[column];
        kl_csv_excerpt shown = kl_csv_show(&(kl_csv_cell){name, name + strlen(name), false});
        snprintf(out.text, sizeof out.text, "column '%.40s'", shown.text);
    }
    return out;
}
