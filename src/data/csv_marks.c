/*
 * csv_marks.c - where the cells of a row end, found for a stretch of text at once, so that many cells can be read side by
 * side. Marks know nothing of quotes: a row of which they are wrong has a cell that is no plain number before that, and
 * csv.c leaves them there.
 */
#include "data/csv.h"

#include "base/memory.h"

#include <string.h>

enum { STRETCH = 1 << 16 }; /* the marks of one are less than the text, and both stay in the caches */

klift_status kl_csv_begin_marks(kl_csv *s)
{
    bool worth_it = false;
    for (int64_t j = 0; j < s->columns; j++)
        worth_it = worth_it || s->run[j] >= KL_CELLS_LEAST;
    s->marks.fills = -1;
    s->marks.loops = worth_it && s->text.delimiter != ' ' ? kl_plain_cells_get() : NULL;
    if (s->marks.loops == NULL)
        return KLIFT_OK;
    return kl_grow(&s->marks.end, &s->marks.room, 0, 1 + STRETCH + KL_CELLS_SPARE, sizeof *s->marks.end, "the ends of cells");
}

/* Every newline of the marks ends a row of that many cells: they are as many as there are rows, and all of those end in one. */
static bool is_regular(const kl_csv_marks *m, const char *text, int64_t columns, int64_t newlines)
{
    int64_t rows = (m->count - 1) / columns, ended = 0;
    for (int64_t row = 1; row <= rows; row++)
        ended += text[m->end[row * columns]] == '\n';
    return ended == rows && newlines == rows;
}

void kl_csv_mark_stretch(kl_csv_marks *m, const kl_csv_text *t, int64_t from, int64_t to, int64_t columns)
{
    int64_t newlines;
    m->fills = t->fills;
    m->from = from;
    m->to = to;
    m->end[0] = UINT32_MAX; /* one less than 0 */
    m->count = 1 + m->loops->mark(t->text + m->from, m->to - m->from, t->delimiter, m->end + 1, &newlines);
    m->next = 1;
    m->regular = is_regular(m, t->text + m->from, columns, newlines);
}

/* Goes to the present row's first mark; false when the marks end before all of its cells do. */
static bool find(kl_csv_marks *m, const kl_csv_text *t, int64_t columns)
{
    if (m->fills != t->fills || t->at < m->from || t->at >= m->to)
        return false;
    if ((uint32_t)(m->end[m->next - 1] + 1) + m->from > t->at) /* the text was gone back in */
        m->next = 1;
    while (m->next < m->count && m->end[m->next] + m->from < t->at)
        m->next++;
    return m->count - m->next >= columns;
}

int64_t kl_csv_read_marked(const kl_csv *s, const char *text, const uint32_t *end, int64_t j, float *x, double *target)
{
    int64_t last = s->columns - 1, run = s->run[j], label = j + run;
    bool with_label = label == s->label && s->number[label] && end[label] - end[label - 1] <= KL_CELLS_EXACT + 1;
    if (with_label && text[(int64_t)end[label] - 1] != '\r')
        return j + s->marks.loops->read(text, end + j, run + 1, s->point, x + s->plan[j], target);
    run -= j + run > last && text[(int64_t)end[last] - 1] == '\r'; /* a return is no digit, and would spoil its neighbours */
    return j + s->marks.loops->read(text, end + j, run, s->point, x + s->plan[j], NULL);
}

const uint32_t *kl_csv_marks_of_row(kl_csv *s)
{
    kl_csv_marks *m = &s->marks;
    const kl_csv_text *t = &s->text;
    if (t->at < KL_CELLS_LEAD)
        return NULL;
    if (!find(m, t, s->columns)) {
        kl_csv_mark_stretch(m, t, t->at, t->whole - t->at > STRETCH ? t->at + STRETCH : t->whole, s->columns);
        if (!find(m, t, s->columns))
            return NULL;
    }
    const uint32_t *end = m->end + m->next;
    if (!m->regular) {
        const char *newline = memchr(t->text + t->at, '\n', (size_t)(t->whole - t->at));
        if (newline - (t->text + m->from) != end[s->columns - 1])
            return NULL;
    }
    m->next += s->columns; /* where the next row begins if there is nothing unforeseen in this one */
    return end;
}
