/*
 * svmlight.c - LIBSVM / svmlight text, one row per line: label [qid:n] {index:value} [# comment].
 *
 * The text is parsed where it was read, in blocks of whole lines. Plain numbers are converted up to eight digits at a
 * time inside one 64-bit word; all others go through kl_number_read and give the same bits. The fast loop accepts or
 * steps aside: read_entry looks again at what it left, and the refuse functions alone write messages. No loop checks
 * for the end of the buffer: the last whole line ends with a newline, which stops all of them, and PADDING bytes
 * behind it make eight-byte loads safe.
 */
#include "data/reader.h"

#include "base/memory.h"
#include "base/number.h"
#include "data/plain_number.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1 << 16, LOOK_AHEAD = 1 << 20, LONGEST_LINE = 1 << 30, PADDING = KL_PLAIN_PADDING, HIGHEST_INDEX = INT32_MAX - 1, SHORTEST_ENTRY = 4 };

enum { INDEX_BASE, LABEL_TYPE };
enum { BASE_AUTO = 2, LABEL_TEXT = 1 };

static const kl_param params[] = {
    {"index-base", KL_WORD, "auto", 0, 0, false, "0|1|auto", "index of the first column; auto: 0 when an index 0 occurs in the first 1 MiB"},
    {"label-type", KL_WORD, "number", 0, 0, false, "number|text", "labels are numbers, or class names without blanks"},
    {0}};

typedef struct state {
    char *text;           /* whole lines, the start of the next one, PADDING */
    int64_t text_room;    /* with PADDING */
    int64_t used;         /* bytes read into text */
    int64_t whole;        /* end of the last whole line */
    int64_t at;           /* start of the next line */
    int64_t line;         /* its number, from 1 */
    bool ended;           /* the file has no more bytes */
    bool text_labels;
    int64_t limit, width; /* columns are below limit; width of this pass */
    int64_t rows, entries;
    int64_t *start;
    int32_t *column;
    float *value;
    double *target;
    const char **label;   /* into names */
    int64_t start_room, column_room, value_room, target_room, label_room;
    kl_names names;
} state;

/* ---- messages ---- */

/* Puts FILE:LINE:COLUMN before the message; at is inside the present line. */
static klift_status place(const kl_reader *reader, const char *at, klift_status status)
{
    const state *s = reader->state;
    return kl_fail_in(status, "%s:%lld:%lld", kl_stream_name(reader->stream), (long long)s->line, (long long)(at - (s->text + s->at)) + 1);
}

static bool ends(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#';
}

static const char *token_end(const char *p)
{
    while (!ends(*p))
        p++;
    return p;
}

typedef struct excerpt {
    char text[32];
} excerpt;

/* The token at p as messages show it: cut, and without bytes that a terminal or a JSON text would mind. */
static excerpt quote(const char *p)
{
    excerpt out = {{0}};
    size_t length = 0;
    for (; !ends(*p) && length < sizeof out.text - 4; p++)
        out.text[length++] = *p;
    if (!ends(*p))
        memcpy(out.text + length, "...", 3);
    for (char *c = out.text; *c != '\0' || c < out.text + length; c++)
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    return out;
}

/* Bytes that no line may hold, whatever was expected there; KLIFT_OK when the token has none. */
static klift_status refuse_bytes(const kl_reader *reader, const char *p, const char *end)
{
    const char *nul = memchr(p, '\0', (size_t)(end - p));
    if (nul != NULL)
        return place(reader, nul, kl_fail(KLIFT_DATA, "NUL byte in the text; this is a binary file, UTF-16, or damaged"));
    if (*p == '\r' && p[1] != '\n')
        return place(reader, p, kl_fail(KLIFT_DATA, "carriage return inside a line; if lines end in CR only, convert them: tr '\\r' '\\n'"));
    return KLIFT_OK;
}

/* Commas or semicolons but no colon before the end of the line. */
static bool looks_like_csv(const char *p)
{
    bool separator = false;
    for (; *p != '\n' && *p != '#'; p++) {
        if (*p == ':')
            return false;
        separator = separator || *p == ',' || *p == ';';
    }
    return separator;
}

static klift_status refuse_csv(const kl_reader *reader, const char *p)
{
    return place(reader, p, kl_fail(KLIFT_DATA, "looks like CSV: say format=csv; rows here must be 'label index:value index:value ...'"));
}

static klift_status refuse_missing_label(const kl_reader *reader, const char *p)
{
    return place(reader, p, kl_fail(KLIFT_DATA, "the label is missing: the row starts with '%s'; if rows have no labels, say no-label=true", quote(p).text));
}

static klift_status refuse_label(const kl_reader *reader, const char *p, kl_number_kind kind, const char *after)
{
    const excerpt token = quote(p);
    KL_TRY(refuse_bytes(reader, p, token_end(p)));
    if (looks_like_csv(p))
        return refuse_csv(reader, p);
    if (strncmp(p, "qid:", 4) == 0 || (kind == KL_NUMBER_OK && *after == ':'))
        return refuse_missing_label(reader, p);
    if (kind == KL_NUMBER_OK && *after == ',')
        return place(reader, p, kl_fail(KLIFT_DATA, "label '%s': rows with several labels (multi-label) are not supported; a decimal comma must be a point", token.text));
    if (kind == KL_NUMBER_NAN)
        return place(reader, p, kl_fail(KLIFT_DATA, "label '%s' is not finite; remove the row or correct the label", token.text));
    if (kind == KL_NUMBER_TOO_LARGE)
        return place(reader, p, kl_fail(KLIFT_DATA, "label '%s' is out of range", token.text));
    if (kind == KL_NUMBER_OK && ends(*after))
        return place(reader, p, kl_fail(KLIFT_DATA, "label '%s' is above 2^53 and cannot be held exactly as a number; say label-type=text", token.text));
    return place(reader, p, kl_fail(KLIFT_DATA, "label '%s' is not a decimal number; if labels are words, say label-type=text", token.text));
}

static klift_status refuse_value(const kl_reader *reader, const char *p, kl_number_kind kind, const char *after)
{
    KL_TRY(refuse_bytes(reader, p, token_end(p)));
    if (ends(*p))
        return place(reader, p, kl_fail(KLIFT_DATA, "the value after ':' is missing; write index:value without blanks"));
    if (kind == KL_NUMBER_NAN)
        return place(reader, p, kl_fail(KLIFT_DATA, "value '%s' is not finite (NaN or infinity); clean the data first", quote(p).text));
    if (kind == KL_NUMBER_TOO_LARGE || (kind == KL_NUMBER_OK && ends(*after)))
        return place(reader, p, kl_fail(KLIFT_DATA, "value '%s' is out of range of float32; scale the data", quote(p).text));
    if (kind == KL_NUMBER_OK && *after == ',')
        return place(reader, p, kl_fail(KLIFT_DATA, "value '%s' has a comma; decimal comma? write a point", quote(p).text));
    return place(reader, p, kl_fail(KLIFT_DATA, "value '%s' is not a decimal number", quote(p).text));
}

/* The token at p has no index before a colon. after is behind its digits. */
static klift_status refuse_entry(const kl_reader *reader, const char *p, const char *after)
{
    const state *s = reader->state;
    KL_TRY(refuse_bytes(reader, p, token_end(p)));
    if (looks_like_csv(s->text + s->at))
        return refuse_csv(reader, p);
    if (*p == '-' && p[1] >= '0' && p[1] <= '9')
        return place(reader, p, kl_fail(KLIFT_DATA, "'%s': the index is negative", quote(p).text));
    const char *next = after;
    while (*next == ' ' || *next == '\t')
        next++;
    if (after > p && *next == ':')
        return place(reader, p, kl_fail(KLIFT_DATA, "'%s': blank before ':'; write index:value without blanks", quote(p).text));
    if (strncmp(p, "qid:", 4) == 0)
        return place(reader, p, kl_fail(KLIFT_DATA, "'%s': qid must be a whole number directly behind the label", quote(p).text));
    return place(reader, p, kl_fail(KLIFT_DATA, "'%s' is not index:value", quote(p).text));
}

static klift_status refuse_index(const kl_reader *reader, const char *p, int64_t index, int64_t last)
{
    const state *s = reader->state;
    int64_t column = index - reader->index_base;
    if (column < 0 && reader->option[INDEX_BASE].word == BASE_AUTO)
        return place(reader, p, kl_fail(KLIFT_DATA, "index 0, but indices were taken to start at 1, as the first 1 MiB has no 0; say index-base=0"));
    if (column < 0)
        return place(reader, p, kl_fail(KLIFT_DATA, "index 0, but index-base=1 was given; say index-base=0"));
    if (index > HIGHEST_INDEX)
        return place(reader, p, kl_fail(KLIFT_DATA, "'%s': the index is above the highest, %d", quote(p).text, HIGHEST_INDEX));
    if (column == last)
        return place(reader, p, kl_fail(KLIFT_DATA, "index %lld is there twice; merge the entries", (long long)index));
    if (column < last)
        return place(reader, p, kl_fail(KLIFT_DATA, "index %lld comes after %lld; sort the row", (long long)index, (long long)(last + reader->index_base)));
    return place(reader, p, kl_fail(KLIFT_DATA, "index %lld is beyond dim=%lld; give a larger dim", (long long)index, (long long)s->limit));
}

/* ---- lines ---- */

static klift_status read_number_label(kl_reader *reader, state *s, const char **at)
{
    double *value = &s->target[s->rows];
    const char *p = *at, *after = kl_plain_number(p, false, '.', value);
    if (after == NULL || !ends(*after)) {
        kl_number_kind kind = kl_number_read(p, s->text + s->whole, value, &after);
        if (kind != KL_NUMBER_OK || !ends(*after) || kl_plain_loses_digits(p, after))
            return refuse_label(reader, p, kind, after);
    }
    *at = after;
    return KLIFT_OK;
}

static klift_status read_text_label(kl_reader *reader, state *s, const char **at)
{
    const char *p = *at, *end = token_end(p);
    KL_TRY(refuse_bytes(reader, p, end));
    if (p[strspn(p, "0123456789")] == ':' && *p != ':')
        return refuse_missing_label(reader, p);
    if (looks_like_csv(p))
        return refuse_csv(reader, p);
    char *stop = s->text + (end - s->text), kept = *stop;
    int64_t index;
    *stop = '\0';
    klift_status status = kl_names_add(&s->names, p, &index);
    *stop = kept;
    if (status != KLIFT_OK)
        return place(reader, p, status);
    s->label[s->rows] = s->names.name[index];
    *at = end;
    return KLIFT_OK;
}

/* A first token without a colon is a label that nobody wants. */
static klift_status skip_label(kl_reader *reader, const char **at)
{
    const char *end = token_end(*at);
    if (memchr(*at, ':', (size_t)(end - *at)) != NULL)
        return KLIFT_OK;
    KL_TRY(refuse_bytes(reader, *at, end));
    if (looks_like_csv(*at))
        return refuse_csv(reader, *at);
    *at = end;
    return KLIFT_OK;
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

static const char *skip_query(const char *p)
{
    const char *q = skip_blanks(p);
    if (*q != 'q' || strncmp(q, "qid:", 4) != 0)
        return p;
    size_t digits = strspn(q + 4, "0123456789");
    return digits > 0 && ends(q[4 + digits]) ? q + 4 + digits : p;
}

static bool line_ends(const char *p)
{
    return *p == '\n' || *p == '#' || (*p == '\r' && p[1] == '\n');
}

/* One entry of any form behind *last. */
static klift_status read_entry(kl_reader *reader, state *s, const char **at, int64_t *last)
{
    const char *p = *at, *q = p, *after;
    int64_t index = 0;
    for (; *q >= '0' && *q <= '9'; q++)
        if (index <= HIGHEST_INDEX)
            index = index * 10 + (*q - '0');
    if (q == p || *q != ':')
        return refuse_entry(reader, p, q);
    int64_t column = index - reader->index_base;
    if (column <= *last || column >= s->limit || index > HIGHEST_INDEX)
        return refuse_index(reader, p, index, *last);
    double value;
    kl_number_kind kind = kl_number_read(q + 1, s->text + s->whole, &value, &after);
    if (kind != KL_NUMBER_OK || !ends(*after) || fabs(value) >= KL_FLOAT_LIMIT)
        return refuse_value(reader, q + 1, kind, after);
    s->column[s->entries] = (int32_t)column;
    s->value[s->entries] = (float)value;
    s->entries += s->value[s->entries] != 0.0f;
    *last = column;
    *at = after;
    return KLIFT_OK;
}

/* The fast loop: plain entries up to the end of the line; *at is left there. */
static klift_status read_entries(kl_reader *reader, state *s, const char **at)
{
    const char *p = *at;
    int64_t last = -1, n = s->entries;
    const int64_t base = reader->index_base, limit = s->limit;
    int32_t *columns = s->column;
    float *values = s->value;
    for (;;) {
        p = skip_blanks(p);
        const char *q = p;
        uint64_t index = 0;
        for (unsigned digit; (digit = (unsigned)*q - '0') < 10; q++)
            index = index * 10 + digit; /* wraps round beyond 19 digits, but then it is not used */
        if (*q == ':' && q > p && q <= p + 9) {
            double value;
            const char *after = kl_plain_number(q + 1, true, '.', &value);
            int64_t column = (int64_t)index - base;
            if (after != NULL && ends(*after) && column > last && column < limit) {
                columns[n] = (int32_t)column;
                values[n] = (float)value;
                n += value != 0; /* zeros say nothing: a row's content is its nonzeros */
                last = column;
                p = after;
                continue;
            }
        } else if (line_ends(p))
            break;
        s->entries = n;
        KL_TRY(read_entry(reader, s, &p, &last));
        n = s->entries;
    }
    s->entries = n;
    if (last >= s->width)
        s->width = last + 1;
    *at = p;
    return KLIFT_OK;
}

static klift_status read_row(kl_reader *reader, state *s, const char **at)
{
    if (reader->no_label)
        KL_TRY(skip_label(reader, at));
    else
        KL_TRY(s->text_labels ? read_text_label(reader, s, at) : read_number_label(reader, s, at));
    *at = skip_query(*at);
    KL_TRY(read_entries(reader, s, at));
    s->start[++s->rows] = s->entries;
    return KLIFT_OK;
}

/* One line: a row, or nothing but blanks and a comment. */
static klift_status read_line(kl_reader *reader, state *s)
{
    const char *p = skip_blanks(s->text + s->at);
    if (!line_ends(p))
        KL_TRY(read_row(reader, s, &p));
    const char *end = p;
    if (*p != '\n') {
        end = memchr(p, '\n', (size_t)(s->text + s->whole - p));
        if (*p == '#')
            KL_TRY(refuse_bytes(reader, p, end));
    }
    s->at = end + 1 - s->text;
    s->line++;
    return KLIFT_OK;
}

/* ---- text ---- */

/* A line longer than the buffer: rare, so look first whether it is text at all before taking up to 1 GiB for it. */
static klift_status widen(kl_reader *reader, state *s)
{
    int64_t room = s->text_room - PADDING;
    for (const char *p = s->text; p < s->text + s->used - 1; p++)
        if (*p == '\0' || (*p == '\r' && p[1] != '\n'))
            return refuse_bytes(reader, p, p + 1);
    if (room >= LONGEST_LINE)
        return place(reader, s->text, kl_fail(KLIFT_DATA, "the line is longer than 1 GiB"));
    return kl_grow(&s->text, &s->text_room, s->used, 2 * room + PADDING, 1, "a line of text");
}

/* Keeps the unread start of a line, reads on by `block` bytes until there is a whole one or the file ends. */
static klift_status refill(kl_reader *reader, state *s, int64_t block)
{
    int64_t rest = s->used - s->whole, got;
    memmove(s->text, s->text + s->whole, (size_t)rest);
    s->at = s->whole = 0;
    s->used = rest;
    while (!s->ended && s->whole == 0) {
        if (s->used >= s->text_room - PADDING)
            KL_TRY(widen(reader, s));
        int64_t room = s->text_room - PADDING - s->used, from = s->used;
        room = room < block ? room : block;
        KL_TRY(kl_stream_read(reader->stream, s->text + from, room, &got));
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
static klift_status refuse_head(const kl_reader *reader, const state *s)
{
    static const struct {
        const char *bytes, *what, *advice;
    } heads[] = {{"\xff\xfe", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"},
                 {"\xfe\xff", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"}};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        size_t length = strlen(heads[i].bytes);
        if (s->used >= (int64_t)length && memcmp(s->text, heads[i].bytes, length) == 0)
            return place(reader, s->text, kl_fail(KLIFT_DATA, "the file is %s; %s", heads[i].what, heads[i].advice));
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

static bool has_index_zero(const char *text, int64_t count)
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

static klift_status begin(kl_reader *reader, int64_t block)
{
    state *s = reader->state;
    s->used = s->whole = s->at = s->width = 0;
    s->line = 1;
    s->ended = false;
    KL_TRY(refill(reader, s, block));
    KL_TRY(refuse_head(reader, s));
    if (s->used >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
        s->at = 3; /* UTF-8 byte order mark */
    return KLIFT_OK;
}

/* ---- interface ---- */

static klift_status open_text(kl_reader *reader)
{
    state *s = reader->state;
    bool look = reader->option[INDEX_BASE].word == BASE_AUTO;
    int64_t block = look ? LOOK_AHEAD : BLOCK, size = kl_stream_size(reader->stream);
    if (size >= 0 && size < block)
        block = size + 1; /* a short file needs no more; one byte over, to see its end */
    if (reader->labels != NULL)
        return kl_fail(KLIFT_USAGE, "%s: svmlight rows carry their labels; labels=FILE is for NPY and IDX", kl_stream_name(reader->stream));
    s->text_labels = reader->option[LABEL_TYPE].word == LABEL_TEXT;
    s->limit = reader->dim > 0 ? reader->dim : INT32_MAX;
    KL_TRY(kl_grow(&s->text, &s->text_room, 0, block + PADDING, 1, "a block of text"));
    KL_TRY(begin(reader, block));
    if (look)
        reader->index_base = has_index_zero(s->text + s->at, s->used - s->at < LOOK_AHEAD ? s->used - s->at : LOOK_AHEAD) ? 0 : 1;
    else
        reader->index_base = reader->option[INDEX_BASE].word;
    reader->base_found = look;
    return KLIFT_OK;
}

/* Room for one more row; the arrays of a row grow together. */
static klift_status reserve_row(state *s)
{
    if (s->rows + 2 <= s->start_room)
        return KLIFT_OK;
    KL_TRY(kl_grow(&s->start, &s->start_room, s->start == NULL ? 0 : s->rows + 1, s->rows + 2, sizeof *s->start, "rows"));
    KL_TRY(kl_grow(&s->target, &s->target_room, s->rows, s->start_room, sizeof *s->target, "rows"));
    return s->text_labels ? kl_grow(&s->label, &s->label_room, s->rows, s->start_room, sizeof *s->label, "rows") : KLIFT_OK;
}

/* Room for every entry that the whole lines in the buffer can hold, so that the fast loop need not look. */
static klift_status reserve_entries(state *s)
{
    int64_t entries = s->entries + (s->whole - s->at) / SHORTEST_ENTRY + 1;
    KL_TRY(kl_grow(&s->column, &s->column_room, s->entries, entries, sizeof *s->column, "entries"));
    return kl_grow(&s->value, &s->value_room, s->entries, entries, sizeof *s->value, "entries");
}

static klift_status next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    state *s = reader->state;
    s->rows = s->entries = 0;
    s->limit = reader->dim > 0 ? reader->dim : INT32_MAX; /* a survey may have set dim since the last call */
    while (s->rows < at_most) {
        if (s->at == s->whole)
            KL_TRY(refill(reader, s, BLOCK));
        if (s->at == s->whole)
            break;
        KL_TRY(reserve_entries(s));
        while (s->at < s->whole && s->rows < at_most) {
            KL_TRY(reserve_row(s));
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

static klift_status rewind_text(kl_reader *reader)
{
    return begin(reader, BLOCK);
}

/* What the model says counts like an option, unless there was one. */
static klift_status match(kl_reader *reader, const kl_expect *expect)
{
    state *s = reader->state;
    if (reader->option[INDEX_BASE].word == BASE_AUTO)
        reader->option[INDEX_BASE].word = reader->index_base = expect->index_base;
    reader->dim = reader->dim > 0 ? reader->dim : expect->width;
    s->limit = reader->dim;
    if (expect->words && kl_reader_option_text(reader, "label-type") == NULL)
        s->text_labels = true;
    return s->text_labels ? kl_grow(&s->label, &s->label_room, 0, s->start_room, sizeof *s->label, "rows") : KLIFT_OK;
}

static void close_text(kl_reader *reader)
{
    state *s = reader->state;
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
    .state_size = sizeof(state),
    .open = open_text,
    .next = next,
    .rewind = rewind_text,
    .close = close_text,
    .match = match,
    .reads_stream = true,
};
