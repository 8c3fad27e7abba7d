/*
 * map.h - the interface of feature maps: z(x).z(y) ~ K(x, y). One file per map, one line in map_list.h; then it is in
 * `klift list`, train, save and load, and under the contract test.
 * A map is made from (spec, seed, stream): another stream is an independent copy. Call order: new, fit (what data
 * decide), draw (what the seed decides), then const and shared between threads. Loading is new, load, draw.
 * A map may be made around another one, craft(maclaurin): new makes and owns the inner map, with the same kernel.
 */
#ifndef KL_MAP_H
#define KL_MAP_H

#include "base/record.h"
#include "kernel/kernel.h"

typedef enum {
    KL_EXACT,    /* z(x).z(y) = K(x, y) up to rounding */
    KL_UNBIASED, /* in expectation over seeds; variance() is exact */
    KL_BIASED    /* bias() bounds the expectation's error */
} kl_accuracy;

/* Where apply writes: dense (rows, stride) or, for sparse z, CSR with room for the entries nonzeros() asked for. */
typedef struct kl_output {
    float *dense;
    int64_t stride;
    bool past;      /* z is too large for the caches to keep: it may be written past them */
    int64_t *start; /* (rows + 1) */
    int32_t *column;
    float *value;
} kl_output;

typedef struct kl_map kl_map;

typedef struct kl_map_type {
    const char *name, *summary;
    const kl_param *params;
    unsigned needs;       /* of the kernel: KL_LINEAR, KL_SPECTRUM, ..., or 0: its value only */
    unsigned domain;      /* of the rows: 0, KL_UNIT_NORM, KL_NON_NEGATIVE */
    kl_accuracy accuracy;
    /* optional: the features of a row are of one size, as those of waves, and none is larger than this: rounded to the same place, each still has most of its bits */
    double (*reach)(const kl_map *map);
    size_t state_size;
    bool wraps; /* takes a random map in parentheses: map->inner */
    /* (wraps) before fit or load: sets features and stream of map->inner, refuses what it cannot be around */
    klift_status (*wrap)(kl_map *map);
    int64_t (*sample)(const kl_map *map); /* (optional) rows it would like the survey's sample to have */
    /* (optional) what the prepared sample decides; stored by save */
    klift_status (*fit)(kl_map *map, const kl_survey *survey, klift_run *run);
    bool fit_without_data; /* fit has a rule of its own for a survey of NULL */
    /* sets n_out and makes the state from n_in, features, kernel, parameters, seed and stream */
    klift_status (*draw)(kl_map *map, klift_run *run);
    /* (optional) after draw: the copies that z is made of, side by side and alike, times 1 / sqrt(their number); NULL behind the last.
     * For whoever makes only some of the features at a time */
    kl_map *(*part)(const kl_map *map, int64_t index);
    /* every row by itself; x has at most n_in columns when sparse, exactly n_in when dense */
    klift_status (*apply)(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch);
    /* (optional, both) for whoever wants w z(x) and not z, where z = T h(x) with a T that costs more than h. carry: w (outputs, n_out)
     * behind T, so that carried h(x) = w z(x); NULL where the rounding of that sum could show. values (rows, outputs) = carried h(x),
     * every row by itself; scratch as for apply. nystrom's T whitens; craft's mixes, which would be its second user, and copies' is
     * that of its parts, side by side: the third */
    klift_status (*carry)(const kl_map *map, int64_t outputs, const double *w, double **carried);
    klift_status (*values)(const kl_map *map, const kl_batch *x, int64_t outputs, const double *carried, double *values, void *scratch);
    int64_t (*memory)(const kl_map *map);                           /* (optional) bytes draw will take: refused before it starts */
    int64_t (*scratch)(const kl_map *map, int64_t rows);            /* (optional) bytes apply needs */
    int64_t (*nonzeros)(const kl_map *map, const kl_batch *x);      /* (optional) room for a CSR z; -1: z of this x is dense */
    bool either; /* (with nonzeros) apply writes z dense or CSR, as the output asks */
    /* (optional) refuses a row for its nonzeros, KLIFT_DATA: asked before apply, which knows no row's number in its batch */
    klift_status (*check)(const kl_map *map, int64_t row, int64_t nonzeros);
    double (*variance)(const kl_map *map, const kl_pair *pair);     /* (optional) exact, of z(x).z(y) over seeds */
    double (*bias)(const kl_map *map, const kl_pair *pair);         /* (optional, always when KL_BIASED) bound on |E z(x).z(y) - K| */
    double (*cost)(const kl_map *map, int64_t nonzeros);            /* operations per row */
    void (*save)(const kl_map *map, kl_record_writer *to);          /* (optional) what (seed, stream) cannot redraw */
    klift_status (*load)(kl_map *map, kl_record_reader *from);      /* (optional) */
    float *(*weights)(kl_map *map, int64_t *count);                 /* (optional) the numbers drawn: export and tests */
    void (*describe)(const kl_map *map, kl_text *json);             /* (optional) members of an open JSON object: what a user may ask of its fit */
    /* (optional) for maps around it, after fit or load: how many of the first columns are exact, the same for every stream */
    int64_t (*exact_columns)(const kl_map *map);
    /* (optional, with exact_columns) after fit: as many random columns as this behind the exact ones it has; sets features */
    klift_status (*resize)(kl_map *map, const kl_survey *survey, int64_t columns, klift_run *run);
    /* (optional) for maps around it, after draw: how many columns from `column` on have a law of their own and are only to be mixed with
     * each other, and with a pair, what they add to K; 0, or without it: all columns behind the exact ones are alike */
    int64_t (*alike)(const kl_map *map, int64_t column, const kl_pair *pair, double *part);
    void (*clear)(kl_map *map);                                     /* (optional) */
} kl_map_type;

struct kl_map {
    const kl_map_type *type;
    kl_kernel *kernel; /* owned, fitted */
    kl_map *inner;     /* owned: the map in parentheses, or NULL */
    kl_value value[KL_PARAMS_MAX];
    int64_t features;  /* as asked for */
    int64_t n_in, n_out;
    uint64_t seed;
    uint32_t stream;
    kl_spec *spec; /* as given, for parameters that are texts: those are of the making, not of the map */
    void *state; /* type->state_size bytes, zeroed before fit or load */
};

/* text may be `auto`: a fixed rule by kernel. Copies the kernel; refuses one that does not fit, naming the maps that do. */
klift_status kl_map_new(const char *text, const kl_kernel *kernel, int64_t features, uint64_t seed, uint32_t stream, kl_map **map);
/* The map that `auto` stands for: by what the kernel offers and by counting operations on rows of so many nonzeros. */
const char *kl_map_choose(const kl_kernel *kernel, int64_t features, int64_t n_in, double nonzeros);
/* Name and parameters are right, whatever the kernel: what a setting can check at once. */
klift_status kl_map_check(const char *text);
/* A parameter that is a text, NULL when it was not given. */
const char *kl_map_text(const kl_map *map, const char *key);
/* Rows of a sample that such a map would like to see. */
klift_status kl_map_sample(const char *text, const kl_kernel *kernel, int64_t features, int64_t *rows);
/* An independent copy of a fitted or loaded map: its spec and what data decided, drawn from another stream. */
klift_status kl_map_stream(const kl_map *map, uint32_t stream, klift_run *run, kl_map **copy);
/* fit and draw; survey NULL when nothing is to be learnt, then n_in counts */
klift_status kl_map_make(kl_map *map, const kl_survey *survey, int64_t n_in, klift_run *run);
double kl_map_reach(const kl_map *map); /* of its type; 0: it has none */
int64_t kl_map_parts(const kl_map *map); /* copies that part has; 0: it has none */
void kl_map_free(kl_map *map);
void kl_map_print(const kl_map *map, kl_text *text); /* canonical form */
bool kl_map_fits(const kl_map_type *type, const kl_kernel_type *kernel);
void kl_map_list_fitting(const kl_kernel_type *kernel, const kl_map_type *but, kl_text *text); /* "a, b, c", `but` left out */
int64_t kl_map_scratch(const kl_map *map, int64_t rows);
/* z dense (rows, stride) whatever the map makes: a sparse z is spread out. scratch: kl_map_dense_scratch bytes */
int64_t kl_map_dense_scratch(const kl_map *map, const kl_batch *x);
klift_status kl_map_apply_dense(const kl_map *map, const kl_batch *x, float *z, int64_t stride, bool past, void *scratch);
void kl_map_save(const kl_map *map, kl_record_writer *to);
/* n_in: what the preparation before it gives. Widths and memory are checked before anything is drawn. */
klift_status kl_map_load(kl_record_reader *from, int64_t n_in, klift_run *run, kl_map **map);
int64_t kl_map_memory(const kl_map *map); /* bytes of its state */
/* The first call of draw: sets n_out; a loaded map that says otherwise is refused. */
klift_status kl_map_set_outputs(kl_map *map, int64_t n_out);

const kl_map_type *kl_map_type_at(int64_t index); /* NULL at the end */
const char *kl_map_name_at(int64_t index, const void *context);

#endif
