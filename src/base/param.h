/*
 * param.h - parameters described once, as data: parsing, range checks, canonical printing, `klift list`, the manual
 * and Python read the same tables. A table ends with a name of NULL.
 */
#ifndef KL_PARAM_H
#define KL_PARAM_H

#include "base/spec.h"

typedef enum {
    KL_REAL,  /* a number in [low, high], or one of the words */
    KL_WHOLE, /* a whole number in [low, high], or one of the words */
    KL_WORD,  /* one of the words */
    KL_FREE,  /* any text; checked by whoever uses it */
    KL_LIST   /* numbers in [low, high], one after the other in the places from its own on; the last of its table */
} kl_param_kind;

typedef struct kl_param {
    const char *name;
    kl_param_kind kind;
    const char *fallback; /* the default, as text; NULL: must be given */
    double low, high;
    bool above_low; /* low itself is not allowed */
    const char *words; /* "auto|search", or NULL */
    const char *help;
} kl_param;

typedef struct kl_value {
    double number; /* NaN when it is a word */
    int word;      /* index into words, -1 when it is a number */
} kl_value;

enum { KL_PARAMS_MAX = 64 }; /* values of a table, those of a list included */

/* One value against its table entry; where is the text that messages start with ("kernel gaussian"). */
klift_status kl_param_read(const kl_param *param, const char *text, const char *where, kl_value *value);
/* Defaults, then the items of spec; positional numbers fill the table in order. values has KL_PARAMS_MAX; places that a
 * list leaves free are NaN. */
klift_status kl_params_read(const kl_param *table, const kl_spec *spec, const char *where, kl_value *values);
/* ":gamma=0.5,form=paired", nothing for an empty table: with the name before it, the canonical form. Texts (KL_FREE) are
 * left out: a file name is of the making, not of what was made. */
void kl_params_print(const kl_param *table, const kl_value *values, kl_text *text);
void kl_value_print(const kl_param *param, kl_value value, kl_text *text);
void kl_params_json(const kl_param *table, const char *key, kl_text *text);
int64_t kl_params_listed(const kl_value *values, int64_t first); /* numbers of the list that starts at place first */
int64_t kl_params_find(const kl_param *table, const char *name); /* -1 when absent */

/* The i-th known name, NULL at the end: what lists of names look like to kl_unknown. */
typedef const char *(*kl_name_at)(int64_t index, const void *context);
const char *kl_param_name_at(int64_t index, const void *table);
/* KLIFT_USAGE "unknown kernel 'gausian': did you mean 'gaussian'? known: ..." */
klift_status kl_unknown(const char *what, const char *name, kl_name_at name_at, const void *context);

#endif
