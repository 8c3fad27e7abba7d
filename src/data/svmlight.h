/*
 * svmlight.h - what the files of the svmlight reader share: its state, text by whole lines, plain rows, rows by several
 * threads, the refusals.
 */
#ifndef KL_SVMLIGHT_H
#define KL_SVMLIGHT_H

#include "base/number.h"
#include "data/plain_number.h"
#include "data/reader.h"

enum { KL_SVM_BLOCK = 1 << 16, KL_SVM_LOOK_AHEAD = 1 << 20, KL_SVM_HIGHEST_INDEX = INT32_MAX - 1, KL_SVM_SHORTEST_ENTRY = 4 };
enum { KL_SVM_INDEX_BASE, KL_SVM_LABEL_TYPE, KL_SVM_MISSING, KL_SVM_SORT, KL_SVM_EXTRA }; /* options */
enum { KL_SVM_BASE_AUTO = 2 };
enum { KL_SVM_ERROR, KL_SVM_ZERO, KL_SVM_SKIP }; /* missing */

typedef struct kl_svmlight_parts kl_svmlight_parts; /* svmlight_parts.c */

typedef struct kl_svmlight {
    char *text;           /* whole lines, the start of the next one, KL_PLAIN_PADDING */
    int64_t text_room;    /* with the padding */
    int64_t used;         /* bytes read into text */
    int64_t whole;        /* end of the last whole line */
    int64_t at;           /* start of the next line */
    int64_t line;         /* its number, from 1 */
    bool ended;           /* the file has no more bytes */
    int64_t fills;        /* how often the text was read: offsets from before are void */
    kl_svmlight_parts *parts; /* NULL before the first use, or when one thread reads */
    bool text_labels, sort, drop_extra;
    bool gap, unsorted;   /* in the present row: a value is missing, an index is below one before it */
    int missing;
    int64_t limit, width; /* columns are below limit; width of this pass */
    int64_t rows, entries;
    int64_t *start;
    int32_t *column;
    float *value;
    double *target;
    const char **label;   /* into names */
    int64_t start_room, column_room, value_room, target_room, label_room;
    kl_names names;
    int64_t blank_lines, queries, extra; /* of this pass: seen and left out */
    bool said;
} kl_svmlight;

static inline bool kl_svmlight_ends(char c) /* a token */
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#';
}

static inline bool kl_svmlight_line_ends(const char *p)
{
    return *p == '\n' || *p == '#' || (*p == '\r' && p[1] == '\n');
}

static inline const char *kl_svmlight_skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* svmlight_text.c: the text by whole lines. No loop over a line looks for the end of the buffer: the last whole line
 * ends with a newline, which stops all of them, and the padding makes eight-byte loads safe. */
klift_status kl_svmlight_begin(kl_reader *reader, int64_t block);
klift_status kl_svmlight_refill(kl_reader *reader, int64_t block); /* s->at == s->whole afterwards: the end */
bool kl_svmlight_has_zero(const char *text, int64_t count);        /* an index 0 occurs */

typedef struct kl_svmlight_rules {
    int64_t base, limit; /* columns are indices less base, and below limit */
    bool keep;           /* zeros too */
} kl_svmlight_rules;
typedef struct kl_svmlight_entries {
    int32_t *column;
    float *value;
    int64_t count, last; /* entries so far; the highest column of the row, -1: none */
} kl_svmlight_entries;

/* svmlight.c */
klift_status kl_svmlight_reserve_rows(kl_svmlight *s, int64_t more); /* room for so many behind those of the batch */

/* svmlight_parts.c */
/* How much text to read at a time, and room for it. */
klift_status kl_svmlight_make_block(kl_reader *reader, int64_t *block);
/* Rows from the present line on into the batch, which is to have at_most, by all threads of the reader: as far as they are
 * plain. Perhaps none. */
klift_status kl_svmlight_read_parts(kl_reader *reader, int64_t at_most);
void kl_svmlight_clear_parts(kl_svmlight *s);

/* svmlight_refuse.c: each gives a failure with its line and column; p is where, after is behind what was understood. */
const char *kl_svmlight_token_end(const char *p);
klift_status kl_svmlight_place(const kl_reader *reader, const char *at, klift_status status);
klift_status kl_svmlight_refuse_bytes(const kl_reader *reader, const char *p, const char *end); /* KLIFT_OK: none is bad */
klift_status kl_svmlight_refuse_csv(const kl_reader *reader, const char *from, const char *p);  /* KLIFT_OK: the line does not look like CSV from there */
klift_status kl_svmlight_refuse_missing_label(const kl_reader *reader, const char *p);
klift_status kl_svmlight_refuse_label(const kl_reader *reader, const char *p, kl_number_kind kind, const char *after);
klift_status kl_svmlight_refuse_value(const kl_reader *reader, const char *p, kl_number_kind kind, const char *after);
klift_status kl_svmlight_refuse_entry(const kl_reader *reader, const char *p, const char *after);
klift_status kl_svmlight_refuse_index(const kl_reader *reader, const char *p, int64_t index, int64_t last);

#endif
