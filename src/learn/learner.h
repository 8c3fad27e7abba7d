/*
 * learner.h - the interface of learners: features and labels -> weights. One file per learner, one line in
 * learner_list.h. Call order: begin, { observe, ... , consume } per block, finish; merge between two learners of one spec.
 * A learner never asks a reader: rows are pushed to it. Where it must see kept rows again it lifts them itself (kl_lift). One that
 * needs several passes over all features has learn in the place of consume and finish: begin, observe ..., learn. One that has
 * both says by its values which it wants.
 */
#ifndef KL_LEARNER_H
#define KL_LEARNER_H

#include "base/run.h"
#include "data/batch.h"
#include "data/names.h"
#include "data/rows.h"
#include "data/tally.h"
#include "learn/class_weight.h"
#include "learn/code.h"
#include "learn/cost_path.h"
#include "learn/keep.h"
#include "learn/plan.h"
#include "learn/probability.h"
#include "math/row.h"

typedef enum { KL_CLASSIFY, KL_REGRESS } kl_goal;
typedef enum { KL_BY_FOLDS, KL_BY_HOLDOUT, KL_BY_GCV, KL_BY_HAND } kl_search;
#define KL_SEARCH_WORDS "auto|folds|holdout|gcv"

struct kl_weights;

/* What decides the result. lambda is relative to n: (1/n) sum loss + lambda |w|^2 / 2. */
typedef struct kl_learn_spec {
    kl_goal goal;
    double lambda;      /* NaN: chosen by search; ignored when c is given */
    double c;           /* NaN, or lambda = 1 / (c n) */
    bool search_given;  /* search was named: it is done even for a fixed lambda, to report its error */
    kl_search search;   /* KL_BY_HAND: auto, resolved in begin */
    int folds;
    int64_t rows;       /* to be learnt from; 0: unknown, taken as many */
    double reach;       /* features of a row are of one size, none larger: 16 bits may do; 0: they are not */
    bool allow_one_class;
    bool probability;   /* rows are held out whoever chooses lambda, and probabilities fitted on their scores */
    kl_code_kind code;  /* of the classes; KL_CODE_NONE: one against the rest */
    int64_t bits;       /* of the code; 0: as many as it likes */
    kl_decode decode;
    const char *path;         /* NULL: none. Values of C to search: it, class_weight and tally are looked at by kl_learner_new only */
    const char *class_weight; /* NULL: none */
    const kl_tally *tally;    /* of the rows to come, where they were counted; NULL: they were not */
    double holdout;     /* share of the rows that no pass learns from; 0: none */
    int64_t early_stop; /* passes that were no better on them before it ends; 0: all passes */
    const struct kl_weights *start; /* of a model with the same features to go on from; NULL: none. Borrowed as long as the learner is there */
    uint64_t seed;
} kl_learn_spec;

/* From raw rows to features, given to a learner that kept raw rows. */
typedef struct kl_lift {
    const void *user;
    klift_status (*apply)(const void *user, const kl_batch *x, float *z, int64_t stride, int worker);
} kl_lift;

/* Features of rows that were observed, any of them in any order, as often as wanted. */
typedef struct kl_passes kl_passes;
struct kl_passes {
    int64_t rows, features, at_most; /* at_most: rows of one call */
    int64_t taken; /* rows of all calls so far */
    /* z (count): the features of rows index[..], dense or sparse, in 16 bits only for who has narrow; valid until the next call */
    klift_status (*take)(kl_passes *passes, const int32_t *index, int64_t count, klift_run *run, kl_row *z);
    kl_keep *keep; /* where the learner's state is kept, and where it may be found; NULL: nobody keeps it */
    int64_t parts; /* copies of one map that the features are made of, times 1 / sqrt(parts); 0: they are not, or nobody asked by_parts */
    /* (with parts, in the place of take) z (count, features / parts): those of one copy, before they are divided */
    klift_status (*take_part)(kl_passes *passes, const int32_t *index, int64_t count, int64_t part, klift_run *run, const float **z);
};

/* How much is to come, as a survey tells it: for plans. */
typedef struct kl_extent {
    int64_t rows;      /* INT64_MAX: unknown */
    int64_t row_bytes; /* of a raw row; 0: unknown */
    int64_t entries;   /* of a row's features in the mean, where they are CSR; 0: they are dense */
    int64_t parts;     /* copies of one map that the features are made of; 0: they are not, or it is not known yet */
} kl_extent;

typedef struct kl_path_point {
    double lambda, error;
} kl_path_point;

enum { KL_PATH_MAX = 64 };

/* What training gives: f(z) = w z + b, one value per output, or per bit of a code from which the outputs are decoded. */
typedef struct kl_weights {
    kl_goal goal;
    int64_t features, outputs;
    double *w; /* (kl_weights_rows, features) */
    double *b; /* (kl_weights_rows) */
    kl_names classes; /* sorted; empty for regression. Two classes share one output, positive for class 1 */
    kl_code code;     /* bits 0: none */
    kl_probability probability; /* of the classes */
    double rows, weight; /* seen in training */
    double lambda;
    kl_search search;
    int folds;
    double cv_error; /* NaN when nothing was held out */
    int64_t cv_rows; /* rows behind a 0/1 cv_error, 0 when it comes from the statistics */
    double jitter;   /* added to lambda where the factorisation failed, 0 normally */
    int64_t path_points;
    kl_path_point path[KL_PATH_MAX]; /* ascending lambda */
} kl_weights;

void kl_weights_clear(kl_weights *weights);
static inline int64_t kl_weights_rows(const kl_weights *weights)
{
    return weights->code.bits > 0 ? weights->code.bits : weights->outputs;
}

/* Who looks at the weights that the first rows make. */
typedef struct kl_watch kl_watch;
struct kl_watch {
    int64_t rows; /* learnt from so far, over all passes */
    klift_status (*show)(kl_watch *watch, kl_weights *weights, klift_run *run); /* takes the weights */
};
/* Rows were learnt from: are the weights of now wanted? No where nobody watches (NULL). */
bool kl_watch_due(kl_watch *watch, int64_t rows, const klift_run *run);

typedef struct kl_learner kl_learner;

typedef struct kl_learner_type {
    const char *name, *summary;
    const kl_param *params;
    size_t state_size;
    bool codes; /* it can learn a code of the classes */
    bool paths; /* it can choose C from a path */
    bool probabilities; /* it has them */
    bool by_parts;      /* (with learn) it takes the features of one copy of a map at a time: the map is to be made of copies */
    bool stops; /* it can end early by rows held out */
    bool starts; /* it can go on from weights */
    bool shows; /* learn gives weights on the way to whoever watches */
    klift_status (*begin)(kl_learner *learner, klift_run *run);
    /* raw rows of the block to come, in order: labels, weights and whatever is kept of x */
    klift_status (*observe)(kl_learner *learner, const kl_batch *x);
    /* the features of all rows observed since the last consume: z (rows, stride) */
    klift_status (*consume)(kl_learner *learner, const float *z, int64_t stride, int64_t rows, klift_run *run);
    /* (optional) the same of CSR features, which are then not spread out */
    klift_status (*consume_sparse)(kl_learner *learner, const kl_rows *z, klift_run *run);
    klift_status (*finish)(const kl_learner *learner, const kl_lift *lift, klift_run *run, kl_weights *weights);
    klift_status (*learn)(kl_learner *learner, kl_passes *passes, klift_run *run, kl_weights *weights);
    bool (*streams)(const kl_value *value); /* (optional, beside learn) consume and finish will do: every row is seen once */
    klift_status (*merge)(kl_learner *into, const kl_learner *from, int sign); /* (optional) statistics that add */
    /* (optional, with consume) all that consume has learnt, between two blocks; and back into a learner that has begun and seen no
     * row. width: of raw rows. One with learn keeps its state by kl_passes.keep. */
    void (*save)(const kl_learner *learner, kl_record_writer *to);
    klift_status (*load)(kl_learner *learner, int64_t width, kl_record_reader *from);
    kl_narrow (*narrow)(const kl_learner *learner); /* (optional, with learn) what its features are to be rounded to; rows may then come so */
    /* the parts of memory that it holds at its peak, known before begin, when the learner has no state yet */
    void (*plan)(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *plan);
    void (*clear)(kl_learner *learner);
} kl_learner_type;

struct kl_learner {
    const kl_learner_type *type;
    kl_value value[KL_PARAMS_MAX];
    kl_learn_spec spec;
    kl_cost_path path;
    kl_class_weight class_weight; /* balanced: whoever learns balances them once it knows the rows */
    int64_t features;
    double loss; /* mean over the rows so far, each before it was learnt from, for progress; NaN: not known */
    double loss_weight; /* of those rows */
    kl_watch *watch; /* NULL: nobody. Borrowed */
    void *state;
};

klift_status kl_learner_new(const char *text, const kl_learn_spec *spec, int64_t features, klift_run *run, kl_learner **learner);
klift_status kl_learner_plan(const char *text, const kl_learn_spec *spec, int64_t features, const kl_extent *extent, klift_run *run, kl_plan *plan);
klift_status kl_learner_check(const char *text); /* a learner and its parameters */
klift_status kl_learner_by_parts(const char *text, bool *by_parts);
/* text with key=word, or key=value when word is NULL, added to its parameters, in place; KLIFT_USAGE when the learner has no such
 * parameter. */
klift_status kl_learner_add(kl_text *text, const char *key, double value, const char *word);
/* Adds (sign 1) or takes away (-1) the statistics of `from`; a setting that differs is refused by its name. For types with merge. */
klift_status kl_learner_merge(kl_learner *into, const kl_learner *from, int sign);
void kl_learner_print(const kl_learner *learner, kl_text *text); /* the canonical text */
void kl_learner_free(kl_learner *learner);
bool kl_learner_streams(const kl_learner *learner); /* to be fed by consume and finish, not by learn */
int64_t kl_learner_block(int64_t features); /* rows of a block: a function of the features only */
kl_narrow kl_learner_narrow(const kl_learner *learner);
int64_t kl_learner_halves(int64_t features); /* 16 bits each, of a narrow row: whole cache lines with room for its scale at the end */
/* Of features for passes: bytes of a row, and rows that are made or taken at a time. */
int64_t kl_learner_line(const kl_learner *learner, const kl_extent *extent);
int64_t kl_learner_width(const kl_learner *learner, const kl_extent *extent); /* features of a row that are made at a time */
int64_t kl_learner_taken(const kl_learner *learner, const kl_extent *extent);
/* What of all rows stays in memory between passes: their features where those take at most half of the limit, else the rows
 * where they take at most a quarter; else one of both goes to a file, the rows where they take less than half as much. By parts, rows. */
typedef enum { KL_KEEP_FEATURES, KL_KEEP_ROWS, KL_FILE_FEATURES, KL_FILE_ROWS } kl_kept;
kl_kept kl_learner_keep(const kl_learner *learner, const kl_extent *extent, int64_t limit);
void kl_learner_plan_passes(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *plan); /* that, and the targets */
const kl_learner_type *kl_learner_type_at(int64_t index);
const char *kl_learner_name_at(int64_t index, const void *context);
const char *kl_search_name(kl_search search);

#endif
