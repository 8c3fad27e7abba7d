/* schema.c - the columns of a table: made, numbered, copied, stored. */
#include "data/schema.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

klift_status kl_schema_add(kl_schema *schema, const char *name, kl_schema_column **column)
{
    if (schema->count >= INT32_MAX - 1)
        return kl_fail(KLIFT_DATA, "more than %d columns; ignore some", INT32_MAX - 1);
    KL_TRY(kl_grow(&schema->column, &schema->room, schema->count, schema->count + 1, sizeof *schema->column, "columns"));
    kl_schema_column *made = &schema->column[schema->count];
    *made = (kl_schema_column){0};
    KL_TRY(kl_copy_text(&made->name, name));
    schema->count++;
    if (column != NULL)
        *column = made;
    return KLIFT_OK;
}

klift_status kl_schema_number(kl_schema *schema)
{
    schema->width = 0;
    for (int64_t i = 0; i < schema->count; i++) {
        schema->column[i].first = schema->width;
        schema->width += schema->column[i].categorical ? schema->column[i].categories.count : 1;
    }
    if (schema->width >= INT32_MAX)
        return kl_fail(KLIFT_DATA, "the table becomes %lld columns wide; at most %d are possible: ignore some", (long long)schema->width, INT32_MAX - 1);
    return KLIFT_OK;
}

static int compare(const void *a, const void *b)
{
    return kl_names_compare(*(char *const *)a, *(char *const *)b);
}

klift_status kl_schema_sort(kl_schema_column *column)
{
    kl_names sorted = {0};
    klift_status status = KLIFT_OK;
    if (column->categories.count > 1)
        qsort(column->categories.name, (size_t)column->categories.count, sizeof *column->categories.name, compare);
    for (int64_t i = 0, index; i < column->categories.count; i++)
        KL_GO(kl_names_add(&sorted, column->categories.name[i], &index));
done:
    kl_names_clear(&column->categories); /* its numbers no longer agree with its hash table */
    column->categories = sorted;
    return status;
}

bool kl_schema_is_sparse(const kl_schema *schema)
{
    for (int64_t i = 0; i < schema->count; i++)
        if (schema->column[i].categorical)
            return true;
    return false;
}

bool kl_schema_is_plain(const kl_schema *schema)
{
    return !schema->named && !schema->filled && !kl_schema_is_sparse(schema);
}

klift_status kl_schema_copy(const kl_schema *schema, kl_schema *copy)
{
    klift_status status = KLIFT_OK;
    *copy = (kl_schema){.named = schema->named, .filled = schema->filled, .label_at = schema->label_at};
    if (schema->label != NULL)
        KL_GO(kl_copy_text(&copy->label, schema->label));
    for (int64_t i = 0; i < schema->count; i++) {
        const kl_schema_column *from = &schema->column[i];
        kl_schema_column *to = NULL;
        KL_GO(kl_schema_add(copy, from->name, &to));
        to->categorical = from->categorical;
        to->fill = from->fill;
        for (int64_t k = 0, index; k < from->categories.count; k++)
            KL_GO(kl_names_add(&to->categories, from->categories.name[k], &index));
    }
    status = kl_schema_number(copy);
done:
    if (status != KLIFT_OK)
        kl_schema_clear(copy);
    return status;
}

klift_status kl_schema_keep(const kl_schema *schema, kl_schema *kept)
{
    if (!kl_schema_is_plain(schema))
        return kl_schema_copy(schema, kept);
    *kept = (kl_schema){.label_at = schema->label_at};
    return KLIFT_OK;
}

void kl_schema_describe(const kl_schema *schema, kl_text *json)
{
    if (schema->label != NULL)
        kl_json_text(json, "label", schema->label);
    else if (schema->label_at > 0)
        kl_json_count(json, "label", schema->label_at);
    if (schema->count == 0 || kl_schema_is_plain(schema))
        return;
    kl_json_open(json, "inputs", '[');
    for (int64_t i = 0; i < schema->count; i++) {
        const kl_schema_column *column = &schema->column[i];
        kl_json_open(json, NULL, '{');
        kl_json_text(json, "name", column->name);
        kl_json_text(json, "kind", column->categorical ? "categories" : "number");
        if (schema->filled && !column->categorical)
            kl_json_number(json, "missing", column->fill);
        kl_json_open(json, "categories", '[');
        for (int64_t k = 0; k < column->categories.count; k++)
            kl_json_text(json, NULL, column->categories.name[k]);
        kl_json_close(json, ']');
        kl_json_close(json, '}');
    }
    kl_json_close(json, ']');
}

void kl_schema_save(const kl_schema *schema, kl_record_writer *to)
{
    kl_record_put_u32(to, schema->named);
    kl_record_put_u32(to, schema->filled);
    kl_record_put_u32(to, schema->label != NULL);
    kl_record_put_text(to, schema->label != NULL ? schema->label : "");
    kl_record_put_i64(to, schema->label_at);
    kl_record_put_i64(to, schema->count);
    for (int64_t i = 0; i < schema->count; i++) {
        const kl_schema_column *column = &schema->column[i];
        kl_record_put_text(to, column->name);
        kl_record_put_u32(to, column->categorical);
        kl_record_put_f64(to, column->fill);
        kl_record_put_i64(to, column->categories.count);
        for (int64_t k = 0; k < column->categories.count; k++)
            kl_record_put_text(to, column->categories.name[k]);
    }
}

static klift_status load_flag(kl_record_reader *from, bool *flag)
{
    uint32_t value;
    KL_TRY(kl_record_get_u32(from, &value));
    *flag = value == 1;
    return value <= 1 ? KLIFT_OK : kl_record_damaged("a flag of its columns is neither 0 nor 1");
}

static klift_status load_categories(kl_schema_column *column, kl_record_reader *from)
{
    int64_t count, index;
    KL_TRY(kl_record_get_i64(from, 0, KL_CATEGORIES_MAX, &count));
    if (count > 0 && !column->categorical)
        return kl_record_damaged("a column of numbers has categories");
    for (int64_t k = 0; k < count; k++) {
        char *name;
        KL_TRY(kl_record_get_text(from, &name));
        klift_status status = kl_names_add(&column->categories, name, &index);
        kl_free(name);
        KL_TRY(status);
        if (index != k)
            return kl_record_damaged("a category is named twice");
    }
    return KLIFT_OK;
}

static klift_status load_column(kl_schema *schema, kl_record_reader *from)
{
    kl_schema_column *column = NULL;
    char *name;
    KL_TRY(kl_record_get_text(from, &name));
    klift_status status = kl_schema_add(schema, name, &column);
    kl_free(name);
    KL_TRY(status);
    KL_TRY(load_flag(from, &column->categorical));
    KL_TRY(kl_record_get_f64(from, &column->fill));
    return load_categories(column, from);
}

klift_status kl_schema_load(kl_schema *schema, kl_record_reader *from)
{
    bool has_label;
    int64_t count;
    klift_status status;
    *schema = (kl_schema){0};
    KL_GO(load_flag(from, &schema->named));
    KL_GO(load_flag(from, &schema->filled));
    KL_GO(load_flag(from, &has_label));
    KL_GO(kl_record_get_text(from, &schema->label));
    if (!has_label) {
        kl_free(schema->label);
        schema->label = NULL;
    }
    KL_GO(kl_record_get_i64(from, 0, INT32_MAX, &schema->label_at));
    KL_GO(kl_record_get_i64(from, 0, (from->end - from->at) / 8, &count));
    for (int64_t i = 0; i < count; i++)
        KL_GO(load_column(schema, from));
    status = kl_schema_number(schema);
done:
    if (status != KLIFT_OK)
        kl_schema_clear(schema);
    return status;
}

void kl_schema_clear(kl_schema *schema)
{
    for (int64_t i = 0; i < schema->count; i++) {
        kl_free(schema->column[i].name);
        kl_names_clear(&schema->column[i].categories);
    }
    kl_free(schema->column);
    kl_free(schema->label);
    *schema = (kl_schema){0};
}
