/*
 * reader.h - the interface of data formats: bytes or arrays -> batches. One file per format, one line in
 * reader_list.h. Call order: open, { next, ... , rewind }, close. A batch is valid until the next call.
 */
#ifndef KL_READER_H
#define KL_READER_H

#include "base/run.h"
#include "data/batch.h"
#include "data/rows.h"
#include "data/stream.h"

typedef klift_data kl_reader;

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
    bool reads_stream; /* reader.c opens, rewinds and closes reader->stream */
} kl_reader_type;

struct klift_data {
    const kl_reader_type *type;
    char *path;        /* as given; NULL for arrays and sources */
    kl_stream *stream; /* NULL when the format has none */
    void *state;       /* type->state_size bytes, zeroed */
    kl_value option[KL_PARAMS_MAX]; /* of type->params */
    /* common options */
    int64_t dim;       /* 0: from the data */
    char *labels;      /* file of labels, or NULL */
    bool no_label;     /* rows have none (text formats) or they are to be ignored */
    int index_base;    /* 0 or 1 as found or given by formats that have one, -1 otherwise */
    /* kept by reader.c */
    int64_t handed;    /* rows handed out, over all passes */
    int64_t at;        /* rows handed out in this pass */
    int64_t total;     /* rows in all, 0 while unknown: for progress */
    bool at_start;
    kl_rows head;      /* first rows of a read-once source, replayed */
    int64_t head_at;
    bool head_kept, head_is_all;
};

extern const kl_param kl_reader_params[]; /* the common options */

klift_status kl_reader_open(const char *path, const char *options, kl_reader **reader);
klift_status kl_reader_new(const kl_reader_type *type, kl_reader **reader); /* for arrays and sources: state zeroed, not opened */
klift_status kl_reader_next(kl_reader *reader, int64_t at_most, kl_batch *batch);
bool kl_reader_can_rewind(const kl_reader *reader);
klift_status kl_reader_rewind(kl_reader *reader);
/* Reads the first rows of a read-once reader and keeps them: the next kl_reader_next starts with them again.
 * *all tells whether they were all rows. */
klift_status kl_reader_keep_head(kl_reader *reader, int64_t rows, bool *all);
const kl_rows *kl_reader_head(const kl_reader *reader);
/* What messages call it: path, "standard input", "the arrays". */
const char *kl_reader_name(const kl_reader *reader);
void kl_reader_free(kl_reader *reader);

/* registry */
const kl_reader_type *kl_reader_type_at(int64_t index); /* NULL at the end */

/* arrays.c */
klift_status kl_reader_view(const kl_batch *rows, kl_reader **reader);
/* source.c */
klift_status kl_reader_from(const klift_source *source, kl_reader **reader);

#endif
