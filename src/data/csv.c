/*
 * csv.c - tables as text: RFC 4180 with any of , ; tab | or blanks between the cells, one row per record.
 *
 * Rows are parsed where the text was read. The fast loop takes plain numbers between delimiters, many at a time where the
 * CPU can (csv_marks.c, plain_cells.h), and steps aside for anything else: a cell that is quoted, padded, missing, a word
 * or a number with an exponent goes through kl_csv_cell_at and kl_csv_classify, which give the same bits. Only numbers:
 * dense rows; with categories: CSR.
 */
#include "data/csv.h"

#include "base/memory.h"
#include "data/plain_number.h"

#include <math.h>
#include <string.h>

enum { BATCH_VALUES = 1 << 24 }; /* 64 MiB of floats: wide tables come in smaller batches */

static const kl_param params[] = {
    {"label", KL_FREE, "auto", 0, 0, false, NULL, "label column: name, or position from 1, negative from the end; auto: label, target, class or y, else the last"},
    {"header", KL_WORD, "auto", 0, 0, false, "auto|true|false", "the first row names the columns; auto: when it is text above numbers, or all text"},
    {"delimiter", KL_WORD, "auto", 0, 0, false, "auto|comma|semicolon|tab|pipe|space", "what separates cells; auto: by the first rows, never space"},
    {"categorical", KL_FREE, "auto", 0, 0, false, NULL, "columns of categories, names or positions joined by +, one-hot; text columns are without being named"},
    {"ignore", KL_FREE, "none", 0, 0, false, NULL, "columns to leave out, names or positions joined by +"},
    {"missing", KL_WORD, "error", 0, 0, false, "error|zero|mean|skip", "what to do about empty cells, NA, N/A, NaN, null and ?; skip: leave the row out"},
    {"decimal", KL_WORD, "point", 0, 0, false, "point|comma", "decimal sign"},
    {"label-type", KL_WORD, "auto", 0, 0, false, "auto|number|text", "what labels are; auto: by the first 1000 rows"},
    {0}};

/* ---- messages ---- */

static klift_status refuse(const kl_csv *s, const kl_csv_cell *cell, klift_status status)
{
    return kl_csv_place(&s->text, kl_csv_begin_of(cell), status);
}

static klift_status refuse_missing(const kl_csv *s, int64_t column, const kl_csv_cell *cell)
{
    const kl_csv_excerpt name = kl_csv_column(s, column), shown = kl_csv_show(cell);
    if (s->plan[column] == KL_CSV_LABEL)
        return refuse(s, cell, kl_fail(KLIFT_DATA, "the label is missing (%s); fill it in, say missing=skip to leave such rows out, or no-label=true to predict", name.text));
    return refuse(s, cell,
                  kl_fail(KLIFT_DATA, "%s%s%s: the value is missing (%s); fill it in, or say missing=zero, missing=mean or missing=skip",
                          *shown.text != '\0' ? "'" : "", *shown.text != '\0' ? shown.text : "empty cell", *shown.text != '\0' ? "'" : "", name.text));
}

static klift_status refuse_grouped(const kl_csv *s, const kl_csv_cell *cell, const char *name)
{
    const kl_csv_excerpt shown = kl_csv_show(cell);
    if (s->point == ',')
        return refuse(s, cell, kl_fail(KLIFT_DATA, "'%s' is not a number with a decimal comma (%s); remove separators of thousands, or leave decimal=comma out", shown.text, name));
    if (s->text.delimiter == ',')
        return refuse(s, cell, kl_fail(KLIFT_DATA, "'%s' is not a decimal number (%s); remove separators of thousands, write a decimal point", shown.text, name));
    return refuse(s, cell, kl_fail(KLIFT_DATA, "'%s' is not a decimal number (%s); decimal comma? say decimal=comma; separator of thousands? remove it", shown.text, name));
}

static klift_status refuse_number(const kl_reader *reader, int64_t column, const kl_csv_cell *cell, kl_csv_kind kind)
{
    const kl_csv *s = reader->state;
    const kl_csv_excerpt name = kl_csv_column(s, column), shown = kl_csv_show(cell);
    bool label = s->plan[column] == KL_CSV_LABEL;
    const char *nul = memchr(cell->begin, '\0', (size_t)(cell->end - cell->begin));
    if (nul != NULL)
        return kl_csv_place(
            &s->text, nul,
            kl_fail(KLIFT_DATA, "NUL byte in the text: it is binary, UTF-16 or damaged; convert it (iconv -f UTF-16 -t UTF-8) or copy it again"));
    if (kind == KL_CELL_GROUPED)
        return refuse_grouped(s, cell, name.text);
    if (kind == KL_CELL_NOT_FINITE)
        return refuse(s, cell, kl_fail(KLIFT_DATA, "'%s' is not finite (%s); clean the data first", shown.text, name.text));
    if (kind == KL_CELL_TOO_LARGE || kind == KL_CELL_NUMBER)
        return refuse(s, cell, kl_fail(KLIFT_DATA, "'%s' is out of range of %s (%s); scale the data", shown.text, label ? "a number" : "float32", name.text));
    if (label)
        return refuse(s, cell, kl_fail(KLIFT_DATA, "the label '%s' is not a number, as those before it are (%s); if labels are words, say label-type=text", shown.text, name.text));
    if (reader->schema_given)
        return refuse(s, cell,
                      kl_fail(KLIFT_DATA, "'%s' is not a number, which the model expects here (%s); correct it, or leave the row out", shown.text, name.text));
    return refuse(s, cell, kl_fail(KLIFT_DATA, "'%s' is not a number, as those before it are (%s); correct it, or say categorical=%s", shown.text, name.text,
                                   s->header ? s->name[column] : "POSITION"));
}

/* ---- cells ---- */

/* What a row has beside its numbers, until it is complete. */
typedef struct row {
    float *x; /* (count) */
    bool skip;
    bool one_line; /* no quoted cell, hence no newline inside one */
    int64_t unseen;
} row;

static klift_status take_label(kl_reader *reader, kl_csv *s, int64_t column, const kl_csv_cell *cell)
{
    const char *text;
    if (s->words) {
        int64_t index;
        KL_TRY(kl_csv_copy(&s->text, cell, &text));
        KL_TRY(kl_names_add(&s->classes, text, &index));
        s->class[s->rows] = s->classes.name[index];
        return KLIFT_OK;
    }
    kl_csv_kind kind = kl_csv_classify(s->point, cell, &s->target[s->rows]);
    if (kind != KL_CELL_NUMBER)
        return refuse_number(reader, column, cell, kind);
    if (kl_plain_loses_digits(cell->begin, cell->end))
        return refuse(s, cell, kl_fail(KLIFT_DATA, "label '%s' is above 2^53 and cannot be held exactly as a number; say label-type=text", kl_csv_show(cell).text));
    return KLIFT_OK;
}

static klift_status take_category(kl_reader *reader, kl_csv *s, int64_t c, const kl_csv_cell *cell, row *r)
{
    const char *text;
    KL_TRY(kl_csv_copy(&s->text, cell, &text));
    int64_t index = kl_names_find(&reader->schema.column[c].categories, text);
    s->category[c] = (int32_t)index;
    r->unseen += index < 0;
    return KLIFT_OK;
}

static klift_status take_cell(kl_reader *reader, kl_csv *s, int64_t column, const kl_csv_cell *cell, row *r)
{
    int64_t c = s->plan[column];
    double value;
    if (c == KL_CSV_IGNORED)
        return KLIFT_OK;
    if (kl_csv_is_missing(cell)) {
        if (s->missing == KL_CSV_ERROR || (c == KL_CSV_LABEL && s->missing != KL_CSV_SKIP))
            return refuse_missing(s, column, cell);
        r->skip = r->skip || s->missing == KL_CSV_SKIP;
        if (c >= 0 && reader->schema.column[c].categorical)
            s->category[c] = -1;
        else if (c >= 0)
            r->x[c] = (float)reader->schema.column[c].fill;
        return KLIFT_OK;
    }
    if (c == KL_CSV_LABEL)
        return take_label(reader, s, column, cell);
    if (reader->schema.column[c].categorical)
        return take_category(reader, s, c, cell, r);
    kl_csv_kind kind = kl_csv_classify(s->point, cell, &value);
    if (kind != KL_CELL_NUMBER || fabs(value) >= KL_FLOAT_LIMIT)
        return refuse_number(reader, column, cell, kind);
    r->x[c] = (float)value;
    return KLIFT_OK;
}

/* ---- rows ---- */

/* The whole of a row by the slow way: for those that are not of the form expected. */
static klift_status read_slowly(kl_reader *reader, kl_csv *s, row *r, const char **after, bool *any)
{
    *r = (row){.x = r->x};
    KL_TRY(kl_csv_row(s, after, any));
    for (int64_t j = 0; *any && j < s->columns; j++)
        KL_TRY(take_cell(reader, s, j, &s->cell[j], r));
    return KLIFT_OK;
}

/* Cells one after the other; *after is NULL when the row needs another look: too few or too many cells, quotes that go on
 * beyond the text, a blank line. */
static klift_status read_fast(kl_reader *reader, kl_csv *s, row *r, const char **after)
{
    const uint32_t *end = s->marks.loops != NULL ? kl_csv_marks_of_row(s) : NULL;
    const char *p = s->text.text + s->text.at, *marked = s->text.text + s->marks.from, delimiter = s->text.delimiter, point = s->point;
    const int64_t last = s->columns - 1, *plan = s->plan;
    float *x = r->x;
    *after = NULL;
    for (int64_t j = 0; j <= last; j++) {
        kl_csv_cell cell;
        bool open;
        double value;
        if (end != NULL && s->run[j] >= KL_CELLS_LEAST) {
            int64_t from = j;
            j = kl_csv_read_marked(s, marked, end, j, x, &s->target[s->rows]);
            p = j > from ? marked + end[j - 1] + 1 : p;
            if (j > last)
                break;
        }
        if (s->number[j]) {
            int64_t c = plan[j];
            const char *q = kl_plain_number(p, c >= 0, point, &value);
            if (q != NULL && *q == (j < last ? delimiter : '\n')) {
                if (c >= 0)
                    x[c] = (float)value;
                else
                    s->target[s->rows] = value;
                p = q + 1;
                continue;
            }
        }
        KL_TRY(kl_csv_cell_at(&s->text, &p, &cell, &open));
        if (open || kl_csv_line_ends(p) != (j == last))
            return KLIFT_OK;
        KL_TRY(take_cell(reader, s, j, &cell, r));
        p++;
        r->one_line = r->one_line && !cell.quoted;
        end = end != NULL && p == marked + end[j] + 1 ? end : NULL; /* quotes hid a delimiter: marks are of no use from here on */
    }
    *after = p - 1;
    return KLIFT_OK;
}

/* One entry per number that is not zero and per category, ascending. */
static klift_status put_sparse(kl_reader *reader, kl_csv *s, const float *x)
{
    const kl_schema *schema = &reader->schema;
    KL_TRY(kl_grow(&s->column, &s->column_room, s->entries, s->entries + schema->count, sizeof *s->column, "entries"));
    KL_TRY(kl_grow(&s->value, &s->value_room, s->entries, s->entries + schema->count, sizeof *s->value, "entries"));
    for (int64_t c = 0; c < schema->count; c++) {
        const kl_schema_column *column = &schema->column[c];
        int64_t index = column->categorical ? s->category[c] : 0;
        float value = column->categorical ? 1.0f : x[c];
        if (index < 0 || value == 0.0f)
            continue;
        s->column[s->entries] = (int32_t)(column->first + index);
        s->value[s->entries++] = value;
    }
    s->start[s->rows + 1] = s->entries;
    return KLIFT_OK;
}

klift_status kl_csv_reserve(kl_csv *s, int64_t width, int64_t more)
{
    if (!s->sparse)
        KL_TRY(kl_grow(&s->dense, &s->dense_room, s->rows * width, (s->rows + more) * width, sizeof *s->dense, "rows"));
    if (s->rows + more + 1 <= s->start_room)
        return KLIFT_OK;
    KL_TRY(kl_grow(&s->start, &s->start_room, s->start == NULL ? 0 : s->rows + 1, s->rows + more + 1, sizeof *s->start, "rows"));
    KL_TRY(kl_grow(&s->target, &s->target_room, s->rows, s->start_room, sizeof *s->target, "rows"));
    return kl_grow(&s->class, &s->class_room, s->rows, s->start_room, sizeof *s->class, "rows");
}

static klift_status read_row(kl_reader *reader, kl_csv *s, bool *any)
{
    int64_t width = reader->schema.width;
    const char *after = NULL;
    KL_TRY(kl_csv_reserve(s, width, 1));
    row r = {.x = s->dense + (s->sparse ? 0 : s->rows * width), .one_line = true};
    *any = true;
    if (s->text.at < s->text.whole)
        KL_TRY(read_fast(reader, s, &r, &after));
    if (after == NULL)
        KL_TRY(read_slowly(reader, s, &r, &after, any));
    if (!*any)
        return KLIFT_OK;
    if (!r.skip && s->sparse)
        KL_TRY(put_sparse(reader, s, r.x));
    if (r.one_line)
        kl_csv_end_line(&s->text, after);
    else
        kl_csv_end_row(&s->text, after);
    s->rows += !r.skip;
    reader->skipped += r.skip;
    reader->unseen += r.skip ? 0 : r.unseen;
    return KLIFT_OK;
}

/* ---- interface ---- */

static klift_status open_table(kl_reader *reader)
{
    if (reader->labels != NULL)
        return kl_fail(KLIFT_USAGE, "%s: the rows of a table carry their labels: say label=COLUMN; labels=FILE is for NPY and IDX", kl_stream_name(reader->stream));
    return kl_csv_lay_out(reader);
}

static klift_status next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    kl_csv *s = reader->state;
    if (s->columns > 0 && !s->ready)
        KL_TRY(kl_csv_learn(reader, NULL));
    if (s->columns > 0 && !s->begun) {
        KL_TRY(kl_csv_skip_header(s));
        s->begun = true;
    }
    int64_t width = reader->schema.width, fits = width > 0 ? BATCH_VALUES / (s->sparse ? reader->schema.count : width) : 0;
    at_most = at_most < fits ? at_most : fits > 0 ? fits : 1;
    s->rows = s->entries = 0;
    s->alone = s->odd;
    for (bool any = s->columns > 0; any && s->rows < at_most;) {
        KL_TRY(kl_csv_read_parts(reader, at_most));
        if (s->rows < at_most)
            KL_TRY(read_row(reader, s, &any));
    }
    *batch = (kl_batch){.size = sizeof *batch, .rows = s->rows, .columns = width};
    if (s->sparse) {
        batch->start = s->start;
        batch->column = s->column;
        batch->value = s->value;
    } else {
        batch->dense = s->dense;
        batch->stride = width;
    }
    if (s->columns > 0 && s->label >= 0 && s->words)
        batch->label = s->class;
    else if (s->columns > 0 && s->label >= 0) {
        batch->target = s->target;
        batch->targets = 1;
    }
    return KLIFT_OK;
}

static klift_status rewind_table(kl_reader *reader)
{
    kl_csv *s = reader->state;
    s->begun = false;
    return kl_csv_begin(&s->text);
}

static void close_table(kl_reader *reader)
{
    kl_csv *s = reader->state;
    for (int64_t j = 0; s->name != NULL && j < s->columns; j++)
        kl_free(s->name[j]);
    kl_free(s->name);
    kl_names_clear(&s->names);
    kl_free(s->named);
    kl_free(s->ignored);
    kl_free(s->listed);
    kl_free(s->cell);
    kl_free(s->plan);
    kl_free(s->number);
    kl_free(s->run);
    kl_free(s->marks.end);
    kl_csv_clear_parts(s);
    kl_free(s->dense);
    kl_free(s->category);
    kl_free(s->start);
    kl_free(s->column);
    kl_free(s->value);
    kl_free(s->target);
    kl_free(s->class);
    kl_names_clear(&s->classes);
    kl_csv_text_clear(&s->text);
}

const kl_reader_type kl_reader_csv = {
    .name = "csv",
    .summary = "tables as text: CSV, TSV; text columns one-hot",
    .params = params,
    .listed = true,
    .state_size = sizeof(kl_csv),
    .detect = kl_csv_detect,
    .open = open_table,
    .next = next,
    .rewind = rewind_table,
    .close = close_table,
    .learn = kl_csv_learn,
    .match = kl_csv_match,
    .reads_stream = true,
};
