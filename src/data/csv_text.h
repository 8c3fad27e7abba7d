/*
 * csv_text.h - the text of a table: blocks of whole lines in one reused buffer, cells by RFC 4180, places for messages.
 * Cells are views into the buffer, valid until it is filled again. A quote opens at the start of a cell only; blanks
 * around an unquoted cell are not part of it.
 */
#ifndef KL_CSV_TEXT_H
#define KL_CSV_TEXT_H

#include "data/stream.h"

typedef struct kl_csv_cell {
    const char *begin, *end; /* without quotes and the blanks around it; "" stays doubled */
    bool quoted;
} kl_csv_cell;

typedef struct kl_csv_text {
    kl_stream *stream;
    char *text;               /* what is kept, whole lines, the start of the next one, padding */
    int64_t room;             /* with padding */
    int64_t used, whole;      /* bytes read into text; end of the last whole line */
    int64_t at, line;         /* start of the present row, and its line from 1 */
    bool holds;               /* text from keep on stays: it will be read again */
    int64_t keep, keep_line;
    bool ended;               /* the file has no more bytes */
    int64_t block;            /* bytes to read at a time; 0: the usual */
    kl_pool *const *pool;     /* where the reader has its threads, or NULL */
    int64_t fills;            /* how often the text was read or moved: views and offsets from before are void */
    char delimiter;           /* ' ' stands for any run of blanks */
    char *copy;               /* of one cell */
    int64_t copy_room;
} kl_csv_text;

/* From the start of the file: the first block; UTF-16 is refused, a byte order mark skipped. */
klift_status kl_csv_begin(kl_csv_text *text);
/* Reads on; *any is false at the end of the file. */
klift_status kl_csv_more(kl_csv_text *text, bool *any);
/* The cell at *at; *at is left at the byte that ends it. *open: the text ends inside its quotes, so read on and begin the
 * row again. */
klift_status kl_csv_cell_at(const kl_csv_text *text, const char **at, kl_csv_cell *cell, bool *open);
/* The end of the present line when it has nothing but blanks, otherwise NULL. */
const char *kl_csv_blank(const kl_csv_text *text);
bool kl_csv_line_ends(const char *at);
/* Goes to the row behind the line end at `at`. */
void kl_csv_end_row(kl_csv_text *text, const char *at);
void kl_csv_end_line(kl_csv_text *text, const char *at); /* the same for a row that is one line */
/* Keeps the text from the present row on until `holds` is false; goes back to that row. */
void kl_csv_hold(kl_csv_text *text);
void kl_csv_return(kl_csv_text *text);

/* The cell's own text, NUL-terminated, quotes undoubled; valid until the next call. Refuses NUL bytes. */
klift_status kl_csv_copy(kl_csv_text *text, const kl_csv_cell *cell, const char **copy);
/* Puts FILE:LINE:COLUMN of a byte of the present row before the message. */
klift_status kl_csv_place(const kl_csv_text *text, const char *at, klift_status status);
typedef struct kl_csv_excerpt {
    char text[64];
} kl_csv_excerpt;
kl_csv_excerpt kl_csv_show(const kl_csv_cell *cell); /* for messages: cut, printable */
void kl_csv_text_clear(kl_csv_text *text);

#endif
