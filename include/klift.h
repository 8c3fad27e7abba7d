/*
 * klift.h - kernel machines by explicit feature maps: z(x).z(y) ~ K(x, y), a linear model on z, prediction in O(D).
 *
 * klift_spec says what is computed and decides the result; klift_run says how (threads, memory, progress) and never
 * does. Settings go in as text, descriptions come out as JSON. Every fallible call returns a status; klift_error()
 * has the message. Out handles are NULL on failure; every _free accepts NULL. Counts are int64_t. Public structs start
 * with `size` (sizeof the struct as the caller compiled it), so they can grow. Models and maps are immutable and may
 * be shared between threads; data, statistics and runs belong to one thread at a time. A NULL run is one thread, no
 * progress and the default memory limit.
 * Text results (`room`, `needed`): `needed` receives the length without the final NUL; the text is written, cut if
 * need be, when room > 0. Call with room 0 to ask for the length.
 */
#ifndef KLIFT_H
#define KLIFT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KLIFT_API __attribute__((visibility("default")))
#else
#define KLIFT_API
#endif

typedef enum {
    KLIFT_OK,        /* done */
    KLIFT_FAILED,    /* the run failed: a matrix could not be factored, a search found nothing, the weights of sgd or doubly-stochastic ran away */
    KLIFT_USAGE,     /* a setting or argument is wrong */
    KLIFT_DATA,      /* the input data are wrong */
    KLIFT_MODEL,     /* not a model, a damaged one, or one from a newer klift */
    KLIFT_IO,        /* a file could not be read or written */
    KLIFT_MEMORY,    /* no memory, or more than the limit allows */
    KLIFT_CANCELLED  /* stopped by klift_run_cancel or by the event callback */
} klift_status;

typedef struct klift_run klift_run;
typedef struct klift_spec klift_spec;
typedef struct klift_data klift_data;
typedef struct klift_map klift_map;
typedef struct klift_stats klift_stats;
typedef struct klift_model klift_model;

/* A view of rows, dense or CSR; owns nothing. The same type carries x and z. */
typedef struct klift_batch {
    int64_t size, rows, columns;
    const float *dense;        /* (rows, stride >= columns), or NULL */
    int64_t stride;
    const int64_t *start;      /* CSR: (rows + 1), or NULL; row i holds entries start[i] .. start[i+1]-1, columns ascending */
    const int32_t *column;
    const float *value;
    const double *target;      /* (rows, targets) numbers, or NULL */
    int64_t targets;
    const char *const *label;  /* (rows) class names, or NULL */
    const double *weight;      /* (rows), or NULL: all 1 */
} klift_batch;

enum { KLIFT_EVENT_PROGRESS = 1, KLIFT_EVENT_NOTE = 2, KLIFT_EVENT_WARNING = 3 };

typedef struct klift_event {
    int64_t size;
    int kind;                  /* KLIFT_EVENT_... */
    const char *stage;         /* "survey", "statistics", "search", "solve", ... */
    const char *message;       /* notes and warnings; NULL for progress */
    int64_t rows, rows_total;  /* rows_total is 0 while unknown */
    int64_t bytes;
    double seconds, loss, holdout; /* NaN: not known. holdout: error of the rows held out */
    double weight;             /* of the rows whose mean loss is; 0: loss is of something else */
} klift_event;
typedef int (*klift_event_fn)(const klift_event *event, void *user); /* not 0 = stop: the call returns KLIFT_CANCELLED */

/* The model on the way, valid during the call. Returns the number of rows at which it wants to see it again; 0 = not again; below 0 = stop. */
typedef int64_t (*klift_model_fn)(const klift_model *model, int64_t rows, void *user);

/* Rows from anywhere: Python iterators, Arrow, sockets. */
typedef struct klift_source {
    int64_t size;
    void *user;
    klift_status (*next)(void *user, klift_batch *batch); /* rows = 0 at the end; the batch is valid until the next call */
    klift_status (*rewind)(void *user);                   /* NULL: can be read once only */
} klift_source;

/* ---- library ---- */
KLIFT_API const char *klift_version(void); /* "major.minor.patch", static */
KLIFT_API const char *klift_error(void);   /* this thread's last message; valid until its next klift call */
/* what: "kernels" "maps" "learners" "formats" "options" "fits" "data" (names that generate makes) */
KLIFT_API klift_status klift_list(const char *what, char *json, int64_t room, int64_t *needed);
/* what runs here and how fast, measured now: takes about a second */
KLIFT_API klift_status klift_doctor(klift_run *run, char *json, int64_t room, int64_t *needed);

/* ---- how ---- */
KLIFT_API klift_status klift_run_new(klift_run **run);
KLIFT_API klift_status klift_run_set(klift_run *run, const char *key, const char *value); /* threads, batch, max-memory, checkpoint, ... */
KLIFT_API void klift_run_on_event(klift_run *run, klift_event_fn event, void *user);      /* called on the calling thread only */
/* klift_train shows the model that the first rows make: from `first` rows on, at the next end of a block (4096 rows, 1024 of more than 8192
 * features) or of a pass, and the last one at the end. For learners that have one on the way: ridge and sgd. Changes no model. */
KLIFT_API void klift_run_on_model(klift_run *run, int64_t first, klift_model_fn show, void *user);
KLIFT_API void klift_run_cancel(klift_run *run);                                          /* async-signal-safe, any thread */
KLIFT_API void klift_run_free(klift_run *run);

/* ---- what ---- */
KLIFT_API klift_status klift_spec_new(klift_spec **spec);
/* kernel, map, features, learner, lambda, prepare, task, seed, ...: klift_list("options"); checked at once */
KLIFT_API klift_status klift_spec_set(klift_spec *spec, const char *key, const char *value);
KLIFT_API klift_status klift_spec_text(const klift_spec *spec, char *text, int64_t room, int64_t *needed); /* canonical form */
KLIFT_API void klift_spec_free(klift_spec *spec);

/* ---- rows ---- */
/* "-" is stdin; gzip, xz, zstd and bzip2 are unpacked on the way; options in the item part of the spec grammar, e.g. "format=npy,labels=\"y.npy\""; NULL for none */
KLIFT_API klift_status klift_data_open(const char *path, const char *options, klift_data **data);
KLIFT_API klift_status klift_data_view(const klift_batch *rows, klift_data **data);      /* borrows the arrays */
KLIFT_API klift_status klift_data_from(const klift_source *source, klift_data **data);   /* copies the struct, borrows user */
/* several of one format as one, rows in order; takes the parts: they are freed with the chain, also on failure */
KLIFT_API klift_status klift_data_chain(klift_data **parts, int64_t count, klift_data **data);
/* rows as the model expects them: columns by name, categories, index base, width, words as labels; before the first row */
KLIFT_API klift_status klift_data_match(klift_data *data, const klift_model *model);
/* rows = 0 at the end; text is read by one thread, or as many as the option threads=N or threads=auto says, with the same rows */
KLIFT_API klift_status klift_data_next(klift_data *data, int64_t at_most, klift_batch *batch);
KLIFT_API klift_status klift_data_rewind(klift_data *data);                              /* KLIFT_IO when it can be read once only */
/* writes all rows from here on; options: format=svmlight|npy (default by suffix), labels="FILE" for npy's y */
KLIFT_API klift_status klift_data_save(klift_data *data, const char *path, const char *options, klift_run *run);
KLIFT_API klift_status klift_data_describe(klift_data *data, klift_run *run, char *json, int64_t room, int64_t *needed); /* reads all rows */
/* tells the run's callback, once, what reading met: skipped rows, unseen categories, columns left out; at the end of the rows */
KLIFT_API void klift_data_report(klift_data *data, klift_run *run);
KLIFT_API int64_t klift_data_count(const klift_data *data); /* rows handed out since it was opened, over all passes */
KLIFT_API void klift_data_free(klift_data *data);

/* ---- maps alone ---- */
/* survey, prepare, kernel, map; data may be NULL if nothing is learnt from them and dim is set */
KLIFT_API klift_status klift_map_fit(const klift_spec *spec, klift_data *data, klift_run *run, klift_map **map);
KLIFT_API klift_status klift_map_describe(const klift_map *map, char *json, int64_t room, int64_t *needed);
KLIFT_API klift_status klift_map_size(const klift_map *map, int64_t *n_in, int64_t *n_out);
/* z dense (rows, n_out) with row stride `stride` into the caller's memory */
KLIFT_API klift_status klift_map_apply(const klift_map *map, const klift_batch *x, float *z, int64_t stride, klift_run *run);
/* z as CSR: start (rows + 1); column and value have room for `room` entries, columns ascend. needed receives their count; when the
 * room may be too small (KLIFT_USAGE, nothing is computed) a room that will do. Ask with room 0, column and value NULL. */
KLIFT_API klift_status klift_map_apply_sparse(const klift_map *map, const klift_batch *x, int64_t *start, int32_t *column,
                                              float *value, int64_t room, int64_t *needed, klift_run *run);
KLIFT_API klift_status klift_map_kernel(const klift_map *map, const klift_batch *x, const klift_batch *y, double *k); /* exact values (x rows, y rows) */
KLIFT_API void klift_map_free(klift_map *map);

/* ---- statistics: train = new + add + solve; partial fits, appends, forgetting and shards are the same calls ---- */
/* copies the map; spec gives learner, task, lambda, search and folds */
KLIFT_API klift_status klift_stats_new(const klift_map *map, const klift_spec *spec, klift_run *run, klift_stats **stats);
KLIFT_API klift_status klift_stats_add(klift_stats *stats, klift_data *data, klift_run *run);
/* sign +1 adds, -1 forgets. Parts of different settings, or of maps that were fitted apart, are refused (KLIFT_USAGE) with what differs. */
KLIFT_API klift_status klift_stats_merge(klift_stats *into, const klift_stats *from, int sign);
KLIFT_API klift_status klift_stats_solve(const klift_stats *stats, klift_run *run, klift_model **model);
KLIFT_API void klift_stats_free(klift_stats *stats);

/* ---- models ---- */
enum { KLIFT_SCORES, KLIFT_CLASS, KLIFT_PROBABILITY };
/* Any learner, all passes. Where the run has a checkpoint, the training is kept in that file, also when it is cancelled (KLIFT_CANCELLED), and goes on
 * from it when resume=true. The file stays: remove it when the model is saved. */
KLIFT_API klift_status klift_train(const klift_spec *spec, klift_data *data, klift_run *run, klift_model **model);
/* KLIFT_SCORES: out (rows, outputs). KLIFT_CLASS: out (rows), indices of klift_model_class. Two classes have one output, positive for class 1. With a code the outputs are still the classes: how far the bits agree with each.
 * KLIFT_PROBABILITY: out (rows, classes), every row adds up to 1; KLIFT_USAGE, also for no rows, unless the model was trained with probability=true. */
KLIFT_API klift_status klift_model_predict(const klift_model *model, const klift_batch *x, int what, double *out, klift_run *run);
KLIFT_API klift_status klift_model_test(const klift_model *model, klift_data *data, klift_run *run, char *json, int64_t room, int64_t *needed);
KLIFT_API klift_status klift_model_describe(const klift_model *model, char *json, int64_t room, int64_t *needed);
KLIFT_API int64_t klift_model_outputs(const klift_model *model);                       /* columns of KLIFT_SCORES; 0 for a model without weights */
KLIFT_API int64_t klift_model_classes(const klift_model *model);                       /* 0: regression, or no weights */
KLIFT_API const char *klift_model_class(const klift_model *model, int64_t index);      /* borrowed; NULL out of range */
KLIFT_API const klift_map *klift_model_map(const klift_model *model);                  /* borrowed from the model */
KLIFT_API klift_status klift_model_from_map(const klift_map *map, klift_model **model); /* a model without weights: preparation and map only */
KLIFT_API klift_status klift_model_save(const klift_model *model, const char *path);   /* atomic */
KLIFT_API klift_status klift_model_load(const char *path, klift_model **model);
KLIFT_API klift_status klift_model_bytes(const klift_model *model, void *bytes, int64_t room, int64_t *needed);
KLIFT_API klift_status klift_model_parse(const void *bytes, int64_t count, klift_model **model);
KLIFT_API void klift_model_free(klift_model *model);

#ifdef __cplusplus
}
#endif
#endif
