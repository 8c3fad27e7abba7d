/*
 * csv_text.c - blocks, cells and places. No loop over an unquoted cell checks for the end of the buffer: the last whole
 * line ends with a newline, which stops all of them. Inside quotes memchr is bounded by the last whole line; a row whose
 * quotes are still open there is begun again when more text has come.
 */
#include "data/csv_text.h"

#include "base/memory.h"
#include "data/plain_cells.h"
#include "data/plain_number.h"

#include <string.h>

enum { BLOCK = 1 << 16, LONGEST_ROW = 1 << 30, LONGEST_QUOTE = 1 << 24 };

klift_status kl_csv_place(const kl_csv_text *t, const char *at, klift_status status)
{
    const char *start = t->text + t->at;
    int64_t line = t->line;
    for (const char *p = start; (p = memchr(p, '\n', (size_t)(at - p))) != NULL;) {
        start = ++p;
        line++;
    }
    return kl_fail_in(status, "%s:%lld:%lld", kl_stream_name(t->stream), (long long)line, (long long)(at - start) + 1);
}

kl_csv_excerpt kl_csv_show(const kl_csv_cell *cell)
{
    kl_csv_excerpt out = {{0}};
    int64_t length = cell->end - cell->begin, most = 32;
    for (int64_t i = 0; i < length && i < most; i++) {
        unsigned char c = (unsigned char)cell->begin[i];
        out.text[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    if (length > most) {
        int64_t cut = most;
        while (cut > 0 && ((unsigned char)out.text[cut - 1] & 0xc0) == 0x80)
            cut--; /* not in the middle of a character */
        cut -= cut > 0 && ((unsigned char)out.text[cut - 1] & 0xc0) == 0xc0;
        memcpy(out.text + cut, "...", 4);
    }
    return out;
}

/* ---- blocks ---- */

/* A row longer than the buffer: rare, so look first whether it is text at all. */
static klift_status widen(kl_csv_text *t)
{
    for (const char *p = t->text + t->at; p < t->text + t->used - 1 && *p != '\n' && *p != '"'; p++) {
        if (*p == '\0')
            return kl_csv_place(
                t, p, kl_fail(KLIFT_DATA, "NUL byte in the text: it is binary, UTF-16 or damaged; convert it (iconv -f UTF-16 -t UTF-8) or copy it again"));
        if (*p == '\r' && p[1] != '\n')
            return kl_csv_place(t, p, kl_fail(KLIFT_DATA, "carriage return inside a line; if lines end in CR only, convert them: tr '\\r' '\\n'"));
    }
    if (t->used - t->at >= LONGEST_ROW)
        return kl_csv_place(t, t->text + t->at, kl_fail(KLIFT_DATA, "the row is longer than 1 GiB; is a quote not closed, or is this no CSV?"));
    return kl_grow(&t->text, &t->room, t->used, 2 * (t->room - KL_PLAIN_PADDING) + KL_PLAIN_PADDING, 1, "rows of text");
}

/* Throws away what has been read and is not held, but for the bytes that plain_cells.h wants before a row. */
static void shift(kl_csv_text *t)
{
    int64_t from = (t->holds ? t->keep : t->at) - KL_CELLS_LEAD;
    t->fills++;
    if (from <= 0)
        return;
    memmove(t->text, t->text + from, (size_t)(t->used - from));
    t->used -= from;
    t->whole -= from;
    t->at -= from;
    t->keep -= t->holds ? from : 0;
}

klift_status kl_csv_more(kl_csv_text *t, bool *any)
{
    shift(t);
    int64_t before = t->whole;
    /* a row that is not whole yet is begun again after each block: doubling keeps that linear */
    int64_t least = t->block > BLOCK ? t->block : BLOCK, block = t->used - t->at > least ? t->used - t->at : least;
    *any = false;
    while (!t->ended && !*any) {
        int64_t got, from = t->used;
        if (t->used >= t->room - KL_PLAIN_PADDING)
            KL_TRY(widen(t));
        int64_t room = t->room - KL_PLAIN_PADDING - t->used;
        room = room < block ? room : block;
        KL_TRY(kl_stream_read_by(t->stream, t->pool != NULL ? *t->pool : NULL, t->text + from, room, &got));
        t->used += got;
        t->ended = got < room;
        if (t->ended && t->used > 0 && t->text[t->used - 1] != '\n')
            t->text[t->used++] = '\n';
        for (t->whole = t->used; t->whole > from && t->text[t->whole - 1] != '\n'; t->whole--)
            ;
        *any = t->whole > from;
        if (!*any)
            t->whole = before;
    }
    return KLIFT_OK;
}

klift_status kl_csv_begin(kl_csv_text *t)
{
    bool any;
    t->used = t->whole = t->at = t->keep = 0;
    t->line = t->keep_line = 1;
    t->ended = t->holds = false;
    KL_TRY(kl_grow(&t->text, &t->room, 0, 2 * BLOCK + KL_PLAIN_PADDING, 1, "a block of text"));
    KL_TRY(kl_csv_more(t, &any));
    if (t->used >= 2 && (memcmp(t->text, "\xff\xfe", 2) == 0 || memcmp(t->text, "\xfe\xff", 2) == 0))
        return kl_csv_place(t, t->text, kl_fail(KLIFT_DATA, "the file is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8"));
    if (t->used >= 3 && memcmp(t->text, "\xef\xbb\xbf", 3) == 0)
        t->at = 3; /* UTF-8 byte order mark */
    return KLIFT_OK;
}

void kl_csv_hold(kl_csv_text *t)
{
    t->holds = true;
    t->keep = t->at;
    t->keep_line = t->line;
}

void kl_csv_return(kl_csv_text *t)
{
    t->at = t->keep;
    t->line = t->keep_line;
}

/* ---- cells ---- */

static bool is_blank(const kl_csv_text *t, char c)
{
    return c == ' ' || (c == '\t' && t->delimiter != '\t');
}

bool kl_csv_line_ends(const char *p)
{
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

const char *kl_csv_blank(const kl_csv_text *t)
{
    const char *p = t->text + t->at;
    while (is_blank(t, *p))
        p++;
    return kl_csv_line_ends(p) ? p : NULL;
}

/* From the end of a cell's text to the byte that ends the cell: behind a run of blanks, its last one is that byte. */
static klift_status find_end(const kl_csv_text *t, const char **at, bool quoted)
{
    const char *p = *at;
    while (is_blank(t, *p))
        p++;
    if (!kl_csv_line_ends(p) && *p != t->delimiter && !(t->delimiter == ' ' && p > *at)) {
        if (*p == '\r')
            return kl_csv_place(t, p, kl_fail(KLIFT_DATA, "carriage return inside a line; if lines end in CR only, convert them: tr '\\r' '\\n'"));
        if (quoted)
            return kl_csv_place(t, p, kl_fail(KLIFT_DATA, "text behind a closing quote; a quote inside quotes is written twice: \"\""));
    }
    *at = t->delimiter == ' ' && !kl_csv_line_ends(p) ? p - 1 : p;
    return KLIFT_OK;
}

static klift_status read_quoted(const kl_csv_text *t, const char **at, kl_csv_cell *cell, bool *open)
{
    const char *first = *at, *q = first + 1, *end = t->text + t->whole;
    for (;; q += 2) {
        q = memchr(q, '"', (size_t)(end - q));
        if (q == NULL || q[1] != '"')
            break;
    }
    if (q == NULL) {
        *open = true;
        if (t->ended)
            return kl_csv_place(t, first, kl_fail(KLIFT_DATA, "the quote is not closed; close it, or write it twice inside quotes"));
        if (end - first > LONGEST_QUOTE)
            return kl_csv_place(t, first, kl_fail(KLIFT_DATA, "the quote is not closed within 16 MiB; close it, or write it twice inside quotes"));
        return KLIFT_OK;
    }
    *cell = (kl_csv_cell){first + 1, q, true};
    *at = q + 1;
    return find_end(t, at, true);
}

klift_status kl_csv_cell_at(const kl_csv_text *t, const char **at, kl_csv_cell *cell, bool *open)
{
    const char *p = *at, d = t->delimiter;
    *open = false;
    while (is_blank(t, *p))
        p++;
    *at = p;
    if (*p == '"')
        return read_quoted(t, at, cell, open);
    while (*p != d && *p != '\n' && *p != '\r' && !(d == ' ' && *p == '\t'))
        p++;
    const char *end = p;
    while (end > *at && is_blank(t, end[-1]))
        end--;
    *cell = (kl_csv_cell){*at, end, false};
    *at = p;
    return find_end(t, at, false);
}

void kl_csv_end_row(kl_csv_text *t, const char *at)
{
    const char *end = at + (*at == '\r') + 1;
    for (const char *p = t->text + t->at; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        t->line++;
    t->at = end - t->text;
}

void kl_csv_end_line(kl_csv_text *t, const char *at)
{
    t->at = at + (*at == '\r') + 1 - t->text;
    t->line++;
}

klift_status kl_csv_copy(kl_csv_text *t, const kl_csv_cell *cell, const char **copy)
{
    int64_t length = cell->end - cell->begin;
    const char *nul = memchr(cell->begin, '\0', (size_t)length);
    if (nul != NULL)
        return kl_csv_place(
            t, nul, kl_fail(KLIFT_DATA, "NUL byte in the text: it is binary, UTF-16 or damaged; convert it (iconv -f UTF-16 -t UTF-8) or copy it again"));
    KL_TRY(kl_grow(&t->copy, &t->copy_room, 0, length + 1, 1, "a cell"));
    char *out = t->copy;
    for (const char *p = cell->begin; p < cell->end; p++) {
        *out++ = *p;
        p += cell->quoted && *p == '"'; /* the second of a pair */
    }
    *out = '\0';
    *copy = t->copy;
    return KLIFT_OK;
}

void kl_csv_text_clear(kl_csv_text *t)
{
    kl_free(t->text);
    kl_free(t->copy);
    *t = (kl_csv_text){0};
}
