/*
 * csv.h - what the files of the CSV reader share: csv_text (blocks and cells of text) -> csv_detect (delimiter) ->
 * csv_layout (columns, header) -> csv_learn, or csv_match when there is a model: a plan of what each column becomes ->
 * csv.c (rows by the plan, cells by csv_marks.c, plain rows by several threads in csv_parts.c).
 */
#ifndef KL_CSV_H
#define KL_CSV_H

#include "data/csv_text.h"
#include "data/plain_cells.h"
#include "data/reader.h"

enum { KL_CSV_LABEL_OPTION, KL_CSV_HEADER, KL_CSV_DELIMITER, KL_CSV_CATEGORICAL, KL_CSV_IGNORE, KL_CSV_MISSING, KL_CSV_DECIMAL, KL_CSV_LABEL_TYPE };
enum { KL_CSV_AUTO, KL_CSV_TRUE, KL_CSV_FALSE };                    /* header */
enum { KL_CSV_ERROR, KL_CSV_ZERO, KL_CSV_MEAN, KL_CSV_SKIP };       /* missing */
enum { KL_CSV_NUMBERS = 1, KL_CSV_WORDS = 2 };                      /* label-type */
enum { KL_CSV_IGNORED = -1, KL_CSV_LABEL = -2 };                    /* in a plan */
enum { KL_CSV_HEAD = 1000 };                                        /* rows that decide what a column is */

typedef enum {
    KL_CELL_NUMBER,
    KL_CELL_MISSING,
    KL_CELL_TEXT,
    KL_CELL_GROUPED,   /* digits with separators: 1,234 or a decimal comma */
    KL_CELL_NOT_FINITE,
    KL_CELL_TOO_LARGE
} kl_csv_kind;

/* Where the cells of the held text end, as far as it was looked at. */
typedef struct kl_csv_marks {
    const kl_plain_cells *loops; /* NULL: rows are read without marks */
    uint32_t *end;               /* from text[from] on: one that stands for the byte before it, then delimiters and newlines */
    int64_t room, count, next;   /* next: likely the first one of the next row */
    int64_t from, to, fills;     /* the part of the text, and which text it was */
    bool regular;                /* all rows of it have as many cells as the table has columns */
} kl_csv_marks;

typedef struct kl_csv_part kl_csv_part; /* csv_parts.c */

typedef struct kl_csv {
    kl_csv_text text;
    kl_csv_marks marks;
    kl_csv_part *part;  /* (parts): one for each thread; NULL before the first use, or when one thread reads */
    int64_t parts;
    int64_t odd, alone; /* texts (fills): in which a part met a row that is not plain; which one thread reads on for this batch */
    char point;         /* of decimal numbers */
    bool header;        /* the first row is one */
    bool header_is_sure; /* not merely because it is all text */
    bool begun;         /* the text is behind the header */
    int64_t columns;    /* of the file */
    char **name;        /* (columns): the first row as names, also when it is none */
    kl_names names;     /* for finding them */
    int64_t *named;     /* (names.count): their columns */
    bool *ignored;      /* (columns) by option */
    bool *listed;       /* (columns) as categorical, by option */
    kl_csv_cell *cell;  /* of the present row */
    int64_t cells, cell_room;
    /* the plan */
    bool ready;
    int64_t *plan;      /* (columns): column of the schema, KL_CSV_LABEL or KL_CSV_IGNORED */
    bool *number;       /* (columns): a number is expected, in a column of the schema or as the label */
    int64_t *run;       /* (columns): so many from here on are numbers for columns of the schema that follow each other */
    int64_t label;      /* column of the file, -1: none */
    bool words;         /* labels are texts */
    bool sparse;        /* rows have categories: CSR */
    int missing;        /* KL_CSV_ERROR, KL_CSV_ZERO (fill) or KL_CSV_SKIP */
    /* the batch */
    int64_t rows, entries;
    float *dense;       /* (rows, width); of sparse rows the present one (count) */
    int32_t *category;  /* (count): of the present row, -1: none */
    int64_t *start;
    int32_t *column;
    float *value;
    double *target;
    const char **class; /* into classes */
    kl_names classes;
    int64_t dense_room, start_room, column_room, value_room, target_room, class_room;
} kl_csv;

/* csv_detect.c */
bool kl_csv_detect(const unsigned char *head, int64_t count);
/* '\0' when no delimiter but point is there in at least half of the rows as often as in the first. */
char kl_csv_choose_delimiter(const char *text, const char *end, char point);

/* csv_layout.c */
/* Delimiter, columns, header; leaves the text at the first row. */
klift_status kl_csv_lay_out(kl_reader *reader);
/* The next row that is not blank into csv->cell; *any is false at the end. The row must have csv->columns cells unless
 * that is 0. Finish it by kl_csv_end_row(&csv->text, *after). */
klift_status kl_csv_row(kl_csv *csv, const char **after, bool *any);
/* The newline of the present row when it has a plain number in every column, as most rows do; NULL: kl_csv_row knows more. */
const char *kl_csv_row_of_numbers(const kl_csv *csv);
klift_status kl_csv_skip_header(kl_csv *csv);
bool kl_csv_in_head(const kl_csv *csv, int64_t rows); /* that many rows of the held text are not too many yet */
/* A column by name, or by position from 1, negative from the end; -1 when there is none. */
int64_t kl_csv_find(const kl_csv *csv, const char *text);
/* KLIFT_USAGE that lists the columns. */
klift_status kl_csv_no_column(const kl_reader *reader, const char *option, const char *text);
/* Marks the columns that the option lists, "a+b+3"; a name that is not there is an error unless lenient. */
klift_status kl_csv_mark(kl_reader *reader, const char *option, bool lenient, bool *marked);
/* No name stands over two columns that are not ignored. */
klift_status kl_csv_check_names(const kl_reader *reader);
kl_csv_excerpt kl_csv_column(const kl_csv *csv, int64_t column); /* for messages: "column 3", "column 'price'" */
const char *kl_csv_begin_of(const kl_csv_cell *cell);            /* with its quote */

/* csv_cell.c */
kl_csv_kind kl_csv_classify(char point, const kl_csv_cell *cell, double *value);
kl_csv_kind kl_csv_kind_of(char point, const kl_csv_cell *cell); /* without the value, sooner for plain numbers */
bool kl_csv_is_missing(const kl_csv_cell *cell);

/* csv_marks.c */
klift_status kl_csv_begin_marks(kl_csv *csv); /* before the first row; without it there are none */
/* The ends of the cells of the present row, from the start of the marked text on: (csv->columns), the last one its newline,
 * and one before it. NULL when the row has another number of delimiters up to its newline, or none is known. Only with
 * marks.loops. */
const uint32_t *kl_csv_marks_of_row(kl_csv *csv);

/* Text from..to, which begins with a row. */
void kl_csv_mark_stretch(kl_csv_marks *marks, const kl_csv_text *text, int64_t from, int64_t to, int64_t columns);
/* Cells from j on that are plain numbers, and the label when it is right behind them, by the marks of the row in text; returns the cell behind them. */
int64_t kl_csv_read_marked(const kl_csv *csv, const char *text, const uint32_t *end, int64_t j, float *x, double *target);

/* csv.c */
klift_status kl_csv_reserve(kl_csv *csv, int64_t width, int64_t more); /* room for so many rows behind those of the batch */

/* csv_parts.c */
/* Rows from the present one on into the batch, which is to have at_most, by all threads of the reader: as far as they are
 * plain. Perhaps none. */
klift_status kl_csv_read_parts(kl_reader *reader, int64_t at_most);
void kl_csv_clear_parts(kl_csv *csv);

/* csv_learn.c */
klift_status kl_csv_learn(kl_reader *reader, klift_run *run);

/* csv_match.c */
klift_status kl_csv_match(kl_reader *reader, const kl_expect *expect);

/* csv_plan.c: what both share */
/* Arrays of the plan, all columns ignored; the ignored ones by option. Twice is fine. */
klift_status kl_csv_start_plan(kl_reader *reader, bool lenient);
/* What the held rows say of every column. */
typedef struct kl_csv_look {
    bool text, any;       /* some cell is text; some is not missing */
    int64_t line;         /* of the first text */
    kl_csv_excerpt shown; /* that text */
} kl_csv_look;
klift_status kl_csv_look_at_head(kl_csv *csv, kl_csv_look *look);
/* Width, form of the rows, labels: the plan is ready. */
klift_status kl_csv_finish_plan(kl_reader *reader);

#endif
