/*
 * schema.h - what the columns of a table mean: names, which are categories, what stands for a missing value. Learnt by a
 * reader from its data (kl_reader_type.learn), stored in the model, given back to the reader at prediction
 * (kl_reader_match). Formats without names have none: count is 0 then, and nothing is stored.
 */
#ifndef KL_SCHEMA_H
#define KL_SCHEMA_H

#include "base/record.h"
#include "data/names.h"

typedef struct kl_schema_column {
    char *name;          /* as in the header; "" without one */
    bool categorical;    /* one output column per category, 1 where it is the row's; unseen ones are all zero */
    kl_names categories; /* in the order of their names */
    double fill;         /* what a missing number becomes under missing=mean */
    int64_t first;       /* its first output column */
} kl_schema_column;

typedef struct kl_schema {
    kl_schema_column *column;
    int64_t count, room;
    int64_t width;   /* output columns */
    bool named;      /* columns are matched by name, otherwise by position */
    char *label;     /* name of the label column, NULL: none or unnamed */
} kl_schema;

enum { KL_CATEGORIES_MAX = 1000 };

klift_status kl_schema_add(kl_schema *schema, const char *name, kl_schema_column **column);
void kl_schema_number(kl_schema *schema); /* sets first and width from the columns */
klift_status kl_schema_copy(const kl_schema *schema, kl_schema *copy);
void kl_schema_save(const kl_schema *schema, kl_record_writer *to);
klift_status kl_schema_load(kl_schema *schema, kl_record_reader *from);
void kl_schema_clear(kl_schema *schema);

#endif
