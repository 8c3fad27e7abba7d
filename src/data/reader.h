/*
 * reader.h - the interface of data formats: bytes or arrays -> batches. One file per format, one line in
 * reader_list.h. Call order: open, { next, ... , rewind }, close. A batch is valid until the next call.
 */
#ifndef KL_READER_H
#define KL_READER_H

#include "base/run.h"
#include "data/batch.h"
#include "data/rows.h"
#include "data/schema.h"
#include "data/stream.h"

typedef klift_data kl_reader;

/* What a model expects of rows: known to whoever has it, given to a reader before its first row. */
typedef struct kl_expect {
    const kl_schema *schema; /* count 0: columns by position */
    int64_t width;
    int index_base;          /* of text formats that have one */
    bool words;              /* some class is no number */
} kl_expect;

typedef struct kl_reader_type {
    const char *name, *summary;
    const kl_param *params; /* options of this format beside the common ones; may be NULL */
    bool listed;            /* false: not a file format (arrays, source) */
    size_t state_size;
    bool (*detect)(const unsigned char *head, int64_t count); /* optional: is the file of this format? */
    /* reader->stream is open (NULL for formats without one); options are in reader->option */
    klift_status (*open)(kl_reader *reader);
    /* At most at_most rows, at least one unless the end is reached (rows = 0). Formats that can return exactly at_most. */
    klift_status (*next)(kl_reader *reader, int64_t at_most, kl_batch *batch);
    klift_status (*rewind)(kl_reader *reader); /* the stream is already at its start; may be NULL: read once */
    void (*close)(kl_reader *reader);
    klift_status (*learn)(kl_reader *reader, klift_run *run); /* optional: fills reader->schema from the data; leaves the reader at its start */
    klift_status (*match)(kl_reader *reader, const kl_expect *expect); /* optional: rows as a model expects them; reader->schema is its own */
    void (*say)(kl_reader *reader, klift_run *run); /* optional: what else is to be said once the rows have ended */
    bool reads_stream; /* reader.c opens, rewinds and closes reader->stream */
} kl_reader_type;

struct klift_data {
    const kl_reader_type *type;
    char *path;        /* as given; NULL for arrays and sources */
    kl_stream *stream; /* NULL when the format has none */
    void *state;       /* type->state_size bytes, zeroed */
    kl_value option[KL_PARAMS_MAX]; /* of type->params */
    kl_spec *items;    /* all options as given, for those that are texts */
    /* common options */
    int64_t dim;       /* 0: from the data */
    char *labels;      /* file of labels, or NULL */
    bool no_label;     /* rows have none (text formats) or they are to be ignored */
    int threads;       /* that parse text; 0: nobody said */
    bool threads_given; /* by an option: a run does not change them */
    int index_base;    /* 0 or 1 as found or given by formats that have one, -1 otherwise */
    bool base_found;   /* index_base was found, not given: files of one chain agree on the lowest */
    char note[160];    /* what a user should know of the file once it was read; "": nothing */
    bool note_said;
    /* tables */
    kl_schema schema;  /* learnt, or a copy of the model's; empty for formats without */
    bool schema_given; /* by kl_reader_match */
    int64_t unseen;    /* cells of this pass whose category is not in the schema */
    int64_t skipped;   /* rows of this pass left out for a missing value */
    int64_t extra;     /* columns that the model does not know */
    int64_t unseen_said, skipped_said, extra_said; /* already told by kl_reader_say */
    /* kept by reader.c */
    int64_t handed;    /* rows handed out, over all passes */
    int64_t at;        /* rows handed out in this pass */
    int64_t total;     /* rows in all, 0 while unknown: for progress */
    bool at_start;
    kl_rows head;      /* first rows of a read-once source, replayed */
    int64_t head_at;
    bool head_kept, head_is_all;
    kl_pool *pool;     /* see kl_reader_pool */
};

extern const kl_param kl_reader_params[]; /* the common options */

/* So many threads parse text, unless the options said how many; the rows are the same. */
void kl_reader_use_threads(kl_reader *reader, int threads);
/* For formats: their threads, made when they are first asked for and ended with the rows; NULL: there is only one. */
klift_status kl_reader_pool(kl_reader *reader, kl_pool **pool);

klift_status kl_reader_open(const char *path, const char *options, kl_reader **reader);
klift_status kl_reader_new(const kl_reader_type *type, kl_reader **reader); /* for arrays and sources: state zeroed, not opened */
klift_status kl_reader_next(kl_reader *reader, int64_t at_most, kl_batch *batch);
bool kl_reader_can_rewind(const kl_reader *reader);
klift_status kl_reader_rewind(kl_reader *reader);
/* Reads the first rows of a read-once reader and keeps them: the next kl_reader_next starts with them again.
 * *all tells whether they were all rows. */
klift_status kl_reader_keep_head(kl_reader *reader, int64_t rows, bool *all);
const kl_rows *kl_reader_head(const kl_reader *reader);
/* Says once what the reader or its stream noted, and what was skipped, unseen or left out; call when the rows have ended. */
void kl_reader_say(kl_reader *reader, klift_run *run);
/* The option as written, NULL when it was not given. */
const char *kl_reader_option_text(const kl_reader *reader, const char *key);
/* Columns, width and labels as a model expects them; KLIFT_USAGE behind the first row. */
klift_status kl_reader_match(kl_reader *reader, const kl_expect *expect);
bool kl_reader_can_match(const kl_reader *reader); /* at its start, and not matched yet */
/* What messages call it: path, "standard input", "the arrays". */
const char *kl_reader_name(const kl_reader *reader);
void kl_reader_free(kl_reader *reader);

/* registry */
const kl_reader_type *kl_reader_type_at(int64_t index); /* NULL at the end */

/* arrays.c */
klift_status kl_reader_view(const kl_batch *rows, kl_reader **reader);
/* chain.c: takes the parts, also on failure; a chain of one is that one */
klift_status kl_reader_chain(kl_reader **part, int64_t count, kl_reader **reader);
/* source.c */
klift_status kl_reader_from(const klift_source *source, kl_reader **reader);

#endif
