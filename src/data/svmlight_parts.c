/*
 * svmlight_parts.c - the rows of LIBSVM text by several threads: the whole lines that were read are cut into one part for
 * each, which has arrays of its own, and the rows wait there until they are asked for.
 *
 * A part takes plain rows (svmlight_plain.h) and writes no message: at the first other line it stops, rows behind that are
 * dropped, and svmlight.c reads on from there to the end of the text. s->at and s->line are those of the first row that
 * waits, so that rows which were read under other settings than the present ones can be dropped and read again. So the
 * rows are the same for any number of threads.
 */
#include "data/svmlight.h"

#include "base/memory.h"
#include "data/svmlight_plain.h"

#include <string.h>

enum { PART = 1 << 18, LEAST = 1 << 14 }; /* bytes of a part: of a whole one, and of one that is worth waking a thread */
enum { MORE_ROWS = 1 << 10 };

typedef struct row {
    int64_t after;   /* where in the text the line behind it begins */
    int64_t entries; /* of the part, up to this row */
    int64_t last;    /* its highest column, -1: none */
    double target;
} row;

typedef struct part {
    int64_t from, to;      /* of the text */
    int64_t rows, handed;  /* that were read; that are in batches */
    bool whole;            /* no line of it was odd */
    row *row;              /* (rows) */
    int32_t *column;
    float *value;
    int64_t row_room, column_room, value_room;
} part;

struct kl_svmlight_parts {
    int64_t count, now;      /* parts; the one whose rows are next, count: none waits */
    int64_t fills;           /* the text that they are of */
    int64_t odd;             /* the text (fills) in which a line was odd */
    kl_svmlight_rules rules; /* by which they were read */
    bool no_label;
    unsigned denormals;      /* the caller's mode: a number is the same whoever reads it */
    const char *text;
    part part[];
};

/* ---- tasks ---- */

/* One line; the byte behind it, or NULL when it is not plain. */
static const char *read_row(const kl_svmlight_parts *w, const char *p, const char *end, kl_svmlight_entries *entries, double *target)
{
    p = kl_svmlight_skip_blanks(p);
    if (kl_svmlight_line_ends(p))
        return NULL; /* it is counted, or a comment */
    const char *after = kl_svmlight_plain_label(p, end, target);
    if (after == NULL && !w->no_label)
        return NULL;
    p = kl_svmlight_plain_entries(after != NULL ? after : p, end, &w->rules, entries);
    p += *p == '\r';
    return *p == '\n' ? p + 1 : NULL;
}

static klift_status make_entries(part *own)
{
    int64_t room = ((own->to - own->from) / KL_SVM_SHORTEST_ENTRY / LEAST + 1) * LEAST;
    KL_TRY(kl_make_room(&own->column, &own->column_room, room, sizeof *own->column, "entries"));
    return kl_make_room(&own->value, &own->value_room, room, sizeof *own->value, "entries");
}

static klift_status read_rows(const kl_svmlight_parts *w, part *own)
{
    const char *p = w->text + own->from, *end = w->text + own->to;
    kl_svmlight_entries entries = {.column = own->column, .value = own->value};
    while (p < end) {
        row next = {0};
        entries.last = -1;
        p = read_row(w, p, end, &entries, &next.target);
        if (p == NULL)
            break;
        if (own->rows == own->row_room)
            KL_TRY(kl_grow(&own->row, &own->row_room, own->rows, own->rows + MORE_ROWS, sizeof *own->row, "rows"));
        next.after = p - w->text;
        next.entries = entries.count;
        next.last = entries.last;
        own->row[own->rows++] = next;
    }
    own->whole = p == end;
    return KLIFT_OK;
}

static klift_status read_part(void *context, int64_t index, int worker)
{
    kl_svmlight_parts *w = context;
    part *own = &w->part[index];
    (void)worker;
    own->rows = own->handed = 0;
    KL_TRY(make_entries(own));
    unsigned mode = kl_denormals_flush();
    kl_denormals_restore(w->denormals);
    klift_status status = read_rows(w, own);
    kl_denormals_restore(mode);
    return status;
}

/* ---- the text ---- */

/* Text labels go into one list of names, which is not a part's to do. */
static bool allows(const kl_reader *reader, const kl_svmlight *s)
{
    return reader->no_label || !s->text_labels;
}

klift_status kl_svmlight_make_block(kl_reader *reader, int64_t *block)
{
    kl_svmlight *s = reader->state;
    *block = KL_SVM_BLOCK;
    if (reader->threads < 2 || !allows(reader, s))
        return KLIFT_OK;
    int64_t size = kl_stream_size(reader->stream);
    *block = (int64_t)reader->threads * PART;
    if (size >= 0 && size < *block)
        *block = size + 1;
    return kl_grow(&s->text, &s->text_room, s->used, s->used - s->whole + *block + KL_PLAIN_PADDING, 1, "a block of text");
}

static bool waits(const kl_svmlight_parts *w)
{
    return w != NULL && w->now < w->count;
}

static bool holds(const kl_reader *reader, const kl_svmlight *s, const kl_svmlight_parts *w)
{
    return w->fills == s->fills && w->rules.base == reader->index_base && w->rules.limit == s->limit;
}

static bool is_worth_it(const kl_reader *reader, const kl_svmlight *s)
{
    const kl_svmlight_parts *w = s->parts;
    return reader->threads > 1 && (w == NULL || w->odd != s->fills) && s->whole - s->at >= (w != NULL ? w->count : reader->threads) * LEAST;
}

/* One part of whole lines for each thread, perhaps empty. */
static void cut(kl_svmlight_parts *w, const kl_svmlight *s)
{
    int64_t at = s->at, step = (s->whole - s->at) / w->count;
    for (int64_t i = 0; i < w->count; i++) {
        int64_t to = i + 1 < w->count ? s->at + step * (i + 1) : s->whole;
        to = to > at ? to : at; /* the line before is longer than a part: nothing is left for this one */
        w->part[i].from = at;
        w->part[i].to = at = (const char *)memchr(s->text + to - 1, '\n', (size_t)(s->whole - to + 1)) + 1 - s->text;
    }
}

static klift_status parse(kl_reader *reader, kl_svmlight *s)
{
    kl_pool *pool;
    KL_TRY(kl_reader_pool(reader, &pool));
    if (s->parts == NULL) {
        KL_TRY(kl_new(&s->parts, (int64_t)sizeof *s->parts + reader->threads * (int64_t)sizeof(part), 1, "parts of a text"));
        s->parts->count = s->parts->now = reader->threads;
    }
    kl_svmlight_parts *w = s->parts;
    w->fills = s->fills;
    w->rules = (kl_svmlight_rules){.base = reader->index_base, .limit = s->limit};
    w->no_label = reader->no_label;
    w->text = s->text;
    w->denormals = kl_denormals_flush();
    kl_denormals_restore(w->denormals);
    cut(w, s);
    KL_TRY(kl_pool_run(pool, w->count, read_part, w, NULL, NULL));
    w->now = 0;
    return KLIFT_OK;
}

/* ---- batches ---- */

static klift_status hand_rows(kl_svmlight *s, part *own, int64_t count)
{
    const row *from = own->row + own->handed, *last = from + count - 1;
    int64_t first = own->handed > 0 ? from[-1].entries : 0, more = last->entries - first;
    KL_TRY(kl_svmlight_reserve_rows(s, count));
    KL_TRY(kl_grow(&s->column, &s->column_room, s->entries, s->entries + more, sizeof *s->column, "entries"));
    KL_TRY(kl_grow(&s->value, &s->value_room, s->entries, s->entries + more, sizeof *s->value, "entries"));
    if (more > 0) {
        memcpy(s->column + s->entries, own->column + first, (size_t)more * sizeof *s->column);
        memcpy(s->value + s->entries, own->value + first, (size_t)more * sizeof *s->value);
    }
    for (const row *r = from; r <= last; r++) {
        s->target[s->rows] = r->target;
        s->start[++s->rows] = s->entries + r->entries - first;
        s->width = r->last >= s->width ? r->last + 1 : s->width;
    }
    s->entries += more;
    s->at = last->after;
    s->line += count;
    own->handed += count;
    return KLIFT_OK;
}

static klift_status hand(kl_svmlight *s, int64_t at_most)
{
    kl_svmlight_parts *w = s->parts;
    while (waits(w) && s->rows < at_most) {
        part *own = &w->part[w->now];
        int64_t left = own->rows - own->handed, count = left < at_most - s->rows ? left : at_most - s->rows;
        if (count > 0)
            KL_TRY(hand_rows(s, own, count));
        if (own->handed < own->rows)
            break;
        w->now = own->whole ? w->now + 1 : w->count;
        w->odd = own->whole ? w->odd : s->fills;
    }
    return KLIFT_OK;
}

klift_status kl_svmlight_read_parts(kl_reader *reader, int64_t at_most)
{
    kl_svmlight *s = reader->state;
    if (waits(s->parts) && !holds(reader, s, s->parts))
        s->parts->now = s->parts->count;
    if (!waits(s->parts)) {
        if (!allows(reader, s) || !is_worth_it(reader, s))
            return KLIFT_OK;
        KL_TRY(parse(reader, s));
    }
    return hand(s, at_most);
}

void kl_svmlight_clear_parts(kl_svmlight *s)
{
    for (int64_t i = 0; s->parts != NULL && i < s->parts->count; i++) {
        kl_free(s->parts->part[i].row);
        kl_free(s->parts->part[i].column);
        kl_free(s->parts->part[i].value);
    }
    kl_free(s->parts);
}
