/*
 * svmlight_text.c - the text of a file by whole lines: blocks, lines longer than a block, the head.
 */
#include "data/svmlight.h"

#include "base/memory.h"

#include <string.h>

enum { LONGEST_LINE = 1 << 30 };

/* A line longer than the buffer: rare, so look first whether it is text at all before taking up to 1 GiB for it. */
static klift_status widen(kl_reader *reader, kl_svmlight *s)
{
    int64_t room = s->text_room - KL_PLAIN_PADDING;
    for (const char *p = s->text; p < s->text + s->used - 1; p++)
        if (*p == '\0' || (*p == '\r' && p[1] != '\n'))
            return kl_svmlight_refuse_bytes(reader, p, p + 1);
    if (room >= LONGEST_LINE)
        return kl_svmlight_place(reader, s->text, kl_fail(KLIFT_DATA, "the line is longer than 1 GiB; is this LIBSVM text, with a row per line?"));
    return kl_grow(&s->text, &s->text_room, s->used, 2 * room + KL_PLAIN_PADDING, 1, "a line of text");
}

/* Keeps the unread start of a line, reads on by `block` bytes until there is a whole one or the file ends. */
klift_status kl_svmlight_refill(kl_reader *reader, int64_t block)
{
    kl_svmlight *s = reader->state;
    int64_t rest = s->used - s->whole, got;
    memmove(s->text, s->text + s->whole, (size_t)rest);
    s->at = s->whole = 0;
    s->used = rest;
    s->fills++;
    while (!s->ended && s->whole == 0) {
        if (s->used >= s->text_room - KL_PLAIN_PADDING)
            KL_TRY(widen(reader, s));
        int64_t room = s->text_room - KL_PLAIN_PADDING - s->used, from = s->used;
        room = room < block ? room : block;
        KL_TRY(kl_stream_read_by(reader->stream, reader->pool, s->text + from, room, &got));
        s->used += got;
        s->ended = got < room;
        if (s->ended && s->used > 0 && s->text[s->used - 1] != '\n')
            s->text[s->used++] = '\n';
        for (s->whole = s->used; s->whole > from && s->text[s->whole - 1] != '\n'; s->whole--)
            ;
        if (s->whole == from)
            s->whole = 0;
    }
    return KLIFT_OK;
}

/* Something else than text, or text of another kind, told by its first bytes. */
static klift_status refuse_head(const kl_reader *reader, const kl_svmlight *s)
{
    static const struct {
        const char *bytes, *what, *advice;
    } heads[] = {{"\xff\xfe", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"},
                 {"\xfe\xff", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"}};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        size_t length = strlen(heads[i].bytes);
        if (s->used >= (int64_t)length && memcmp(s->text, heads[i].bytes, length) == 0)
            return kl_svmlight_place(reader, s->text, kl_fail(KLIFT_DATA, "the file is %s; %s", heads[i].what, heads[i].advice));
    }
    return KLIFT_OK;
}

/* Zeros between a blank or a line start and the colon at p, outside a comment. */
static bool is_index_zero(const char *text, const char *p)
{
    const char *q = p;
    while (q > text && q[-1] == '0')
        q--;
    if (q == p || (q > text && q[-1] != ' ' && q[-1] != '\t' && q[-1] != '\n'))
        return false;
    while (q > text && q[-1] != '\n' && q[-1] != '#')
        q--;
    return q == text || q[-1] == '\n';
}

bool kl_svmlight_has_zero(const char *text, int64_t count)
{
    enum { STEP = 256 };
    if (count > 1 && text[0] == '0' && text[1] == ':')
        return true;
    for (int64_t from = 2; from < count; from += STEP) {
        int64_t end = from + STEP < count ? from + STEP : count;
        char hit = 0;
        for (int64_t i = from; i < end; i++) /* without branches, for the compiler to vectorise */
            hit = (char)(hit | ((text[i] == ':') & (text[i - 1] == '0') & (text[i - 2] <= '0')));
        for (int64_t i = from; hit && i < end; i++)
            if (text[i] == ':' && is_index_zero(text, text + i))
                return true;
    }
    return false;
}

klift_status kl_svmlight_begin(kl_reader *reader, int64_t block)
{
    kl_svmlight *s = reader->state;
    s->used = s->whole = s->at = s->width = 0;
    s->blank_lines = s->queries = s->extra = 0;
    s->line = 1;
    s->ended = false;
    KL_TRY(kl_svmlight_refill(reader, block));
    KL_TRY(refuse_head(reader, s));
    if (s->used >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
        s->at = 3; /* UTF-8 byte order mark */
    return KLIFT_OK;
}
