/*
 * schema.h - what the columns of a table mean: names, which are categories, what stands for a missing value. Learnt by a
 * reader from its data (kl_reader_type.learn), stored in the model, given back to the reader at prediction
 * (kl_reader_match). Rows of numbers without names have none worth keeping: the same numbers from any format give the
 * same model.
 */
#ifndef KL_SCHEMA_H
#define KL_SCHEMA_H

#include "base/record.h"
#include "base/text.h"
#include "data/names.h"

typedef struct kl_schema_column {
    char *name;          /* as in the header; "" without one */
    bool categorical;    /* one output column per category, 1 where it is the row's; unseen ones are all zero */
    kl_names categories; /* in the order of kl_names_compare */
    double fill;         /* what a missing number becomes when the schema is filled */
    int64_t first;       /* its first output column */
} kl_schema_column;

typedef struct kl_schema {
    kl_schema_column *column;
    int64_t count, room;
    int64_t width;    /* output columns */
    bool named;       /* columns are matched by name, otherwise by position */
    bool filled;      /* missing cells become fill (none of the categories) instead of an error */
    char *label;      /* name of the label column, NULL: none or unnamed */
    int64_t label_at; /* its place among the columns that are not ignored, from 1; 0: the last one, or none */
} kl_schema;

enum { KL_CATEGORIES_MAX = 1000 };
enum { KL_SCHEMA_COLUMN_BYTES = 600 }; /* what a reader of tables holds per column at its peak, measured; for memory plans */

klift_status kl_schema_add(kl_schema *schema, const char *name, kl_schema_column **column);
klift_status kl_schema_number(kl_schema *schema); /* sets first and width from the columns */
klift_status kl_schema_sort(kl_schema_column *column); /* categories in their order */
/* Nothing that a model must keep. */
bool kl_schema_is_plain(const kl_schema *schema);
bool kl_schema_is_sparse(const kl_schema *schema); /* it has categories */
klift_status kl_schema_copy(const kl_schema *schema, kl_schema *copy);
/* What a model keeps: all of it, or of a plain one the place of the label alone. */
klift_status kl_schema_keep(const kl_schema *schema, kl_schema *kept);
void kl_schema_describe(const kl_schema *schema, kl_text *json); /* members of an open JSON object; none when empty */
void kl_schema_save(const kl_schema *schema, kl_record_writer *to);
klift_status kl_schema_load(kl_schema *schema, kl_record_reader *from);
void kl_schema_clear(kl_schema *schema);

#endif
