/*
 * csv_parts.c - the rows of a table by several threads: a stretch of text is cut at line ends, every thread marks the cells
 * of its part, and once it is known how many rows come before it, reads them to their places in the batch.
 *
 * A part takes rows that are numbers, and cells to be left out, in one line without quotes. It writes no message: at the
 * first other row it stops, rows behind that are dropped, and csv.c reads on from there to the end of the text. So the rows
 * are the same for any number of threads. A newline inside quotes may be cut at: its row is not plain and comes before.
 */
#include "data/csv.h"

#include "base/memory.h"
#include "data/plain_number.h"

#include <math.h>
#include <string.h>

enum { PART = 1 << 18, LEAST = 1 << 14 }; /* bytes of a part: of a whole one, and of one that is worth waking a thread */

struct kl_csv_part {
    kl_csv_marks marks;
    int64_t first, rows; /* in the batch; of the part */
    int64_t taken;       /* rows that were plain */
};

typedef struct job {
    const kl_csv *csv;
    int64_t width;
    unsigned denormals; /* the caller's mode: a number is the same whoever reads it */
} job;

/* ---- tasks ---- */

static klift_status mark(void *context, int64_t index, int worker)
{
    const kl_csv *s = ((const job *)context)->csv;
    kl_csv_part *part = &s->part[index];
    (void)worker;
    int64_t room = 1 + part->marks.to - part->marks.from + KL_CELLS_SPARE;
    KL_TRY(kl_make_room(&part->marks.end, &part->marks.room, (room / LEAST + 1) * LEAST, sizeof *part->marks.end, "the ends of cells"));
    part->marks.loops = s->marks.loops;
    kl_csv_mark_stretch(&part->marks, &s->text, part->marks.from, part->marks.to, s->columns);
    part->rows = part->marks.regular ? (part->marks.count - 1) / s->columns : 0;
    part->taken = 0;
    return KLIFT_OK;
}

/* The whole cell is a number that needs no other look. */
static bool read_number(char point, const kl_csv_cell *cell, bool feature, double *value)
{
    if (kl_plain_number(cell->begin, feature, point, value) == cell->end)
        return true;
    if (kl_csv_classify(point, cell, value) != KL_CELL_NUMBER)
        return false;
    return feature ? fabs(*value) < KL_FLOAT_LIMIT : !kl_plain_loses_digits(cell->begin, cell->end);
}

/* A cell that nobody wants, if it ends where the mark says. */
static bool is_simple(const kl_csv_cell *cell)
{
    size_t length = (size_t)(cell->end - cell->begin);
    return memchr(cell->begin, '"', length) == NULL && memchr(cell->begin, '\r', length) == NULL;
}

static bool read_row(const kl_csv *s, const char *text, const uint32_t *end, float *x, double *target)
{
    for (int64_t j = 0; j < s->columns; j++) {
        double value;
        if (s->run[j] >= KL_CELLS_LEAST)
            j = kl_csv_read_marked(s, text, end, j, x, target);
        if (j == s->columns)
            break;
        int64_t c = s->plan[j];
        kl_csv_cell cell = {text + (uint32_t)(end[j - 1] + 1), text + end[j], false};
        cell.end -= j == s->columns - 1 && cell.end > cell.begin && cell.end[-1] == '\r';
        if (c == KL_CSV_IGNORED ? !is_simple(&cell) : !read_number(s->point, &cell, c >= 0, &value))
            return false;
        if (c >= 0)
            x[c] = (float)value;
        else if (c == KL_CSV_LABEL)
            *target = value;
    }
    return true;
}

static klift_status read_part(void *context, int64_t index, int worker)
{
    const job *todo = context;
    const kl_csv *s = todo->csv;
    kl_csv_part *part = &s->part[index];
    const char *text = s->text.text + part->marks.from;
    unsigned mode = kl_denormals_flush();
    (void)worker;
    kl_denormals_restore(todo->denormals);
    for (; part->taken < part->rows; part->taken++) {
        int64_t row = part->first + part->taken;
        if (!read_row(s, text, part->marks.end + 1 + part->taken * s->columns, s->dense + row * todo->width, &s->target[row]))
            break;
    }
    kl_denormals_restore(mode);
    return KLIFT_OK;
}

/* ---- the stretch ---- */

/* Numbers in every column that counts; and the text was not found to be of no use to parts. */
static bool suits(const kl_reader *reader, const kl_csv *s)
{
    if (reader->threads < 2 || s->marks.loops == NULL || s->sparse || s->words || s->text.holds)
        return false;
    return s->alone != s->text.fills || s->text.at == s->text.whole;
}

static klift_status begin(kl_reader *reader, kl_csv *s, kl_pool **pool)
{
    kl_csv_text *t = &s->text;
    KL_TRY(kl_reader_pool(reader, pool));
    if (s->part == NULL) {
        KL_TRY(kl_new(&s->part, reader->threads, sizeof *s->part, "parts of a text"));
        s->parts = reader->threads;
    }
    t->block = s->parts * PART;
    t->pool = &reader->pool;
    if (t->whole - t->at >= s->parts * LEAST || t->ended)
        return KLIFT_OK;
    bool any; /* what is left of the text is too little to share out, but with more behind it, it is not */
    KL_TRY(kl_grow(&t->text, &t->room, t->used, t->used - t->at + KL_CELLS_LEAD + t->block + KL_PLAIN_PADDING, 1, "a block of text"));
    return kl_csv_more(t, &any);
}

/* Cuts what likely holds the rows that are wanted, by the length of the present one; false: too little to share out. */
static bool cut(kl_csv *s, int64_t wanted)
{
    const kl_csv_text *t = &s->text;
    int64_t span = t->whole - t->at, most = s->parts * PART, at = t->at;
    if (span < s->parts * LEAST)
        return false;
    int64_t row = (const char *)memchr(t->text + at, '\n', (size_t)span) + 1 - (t->text + at);
    if (wanted < most / row)
        most = wanted * row + wanted * row / 16;
    span = span < most ? span : most;
    if (span < s->parts * LEAST)
        return false;
    for (int64_t i = 0; i < s->parts; i++) {
        int64_t to = t->at + span / s->parts * (i + 1);
        to = to > at ? to : at; /* the row before is longer than a part: nothing is left for this one */
        to = (const char *)memchr(t->text + to - 1, '\n', (size_t)(t->whole - to + 1)) + 1 - t->text;
        s->part[i].marks.from = at;
        s->part[i].marks.to = at = to;
    }
    return true;
}

/* Where the rows of every part go; returns how many there are, at most `wanted`. */
static int64_t place(kl_csv *s, int64_t wanted)
{
    int64_t rows = 0;
    bool regular = true;
    for (int64_t i = 0; i < s->parts; i++) {
        kl_csv_part *part = &s->part[i];
        regular = regular && part->marks.regular;
        part->first = s->rows + rows;
        part->rows = !regular ? 0 : part->rows < wanted - rows ? part->rows : wanted - rows;
        rows += part->rows;
    }
    return rows;
}

/* Takes the parts into the batch up to the first row that was not plain. */
static void take(kl_csv *s)
{
    kl_csv_text *t = &s->text;
    for (int64_t i = 0; i < s->parts; i++) {
        const kl_csv_part *part = &s->part[i];
        s->rows += part->taken;
        t->line += part->taken;
        if (part->taken > 0)
            t->at = part->marks.from + part->marks.end[part->taken * s->columns] + 1;
        if (part->taken == part->rows && part->marks.regular)
            continue;
        s->odd = s->alone = t->fills;
        break;
    }
}

klift_status kl_csv_read_parts(kl_reader *reader, int64_t at_most)
{
    kl_csv *s = reader->state;
    kl_pool *pool;
    if (!suits(reader, s))
        return KLIFT_OK;
    KL_TRY(begin(reader, s, &pool));
    if (s->text.at < KL_CELLS_LEAD)
        return KLIFT_OK; /* the first row has nothing before it: another time */
    while (s->rows < at_most && s->alone != s->text.fills) {
        if (!cut(s, at_most - s->rows)) {
            s->alone = s->text.fills;
            break;
        }
        job todo = {.csv = s, .width = reader->schema.width, .denormals = kl_denormals_flush()};
        kl_denormals_restore(todo.denormals);
        KL_TRY(kl_pool_run(pool, s->parts, mark, &todo, NULL, NULL));
        int64_t rows = place(s, at_most - s->rows);
        KL_TRY(kl_csv_reserve(s, todo.width, rows));
        KL_TRY(kl_pool_run(pool, s->parts, read_part, &todo, NULL, NULL));
        take(s);
    }
    return KLIFT_OK;
}

void kl_csv_clear_parts(kl_csv *s)
{
    for (int64_t i = 0; i < s->parts; i++)
        kl_free(s->part[i].marks.end);
    kl_free(s->part);
}
