/* csv_plan.c - which column of the file becomes what, as far as learning it and taking it from a model are the same. */
#include "data/csv.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

klift_status kl_csv_start_plan(kl_reader *reader, bool lenient)
{
    kl_csv *s = reader->state;
    if (s->plan == NULL && s->columns > 0) {
        KL_TRY(kl_new(&s->plan, s->columns, sizeof *s->plan, "columns"));
        KL_TRY(kl_new(&s->number, s->columns, sizeof *s->number, "columns"));
        KL_TRY(kl_new(&s->run, s->columns, sizeof *s->run, "columns"));
        KL_TRY(kl_new(&s->ignored, s->columns, sizeof *s->ignored, "columns"));
        KL_TRY(kl_new(&s->listed, s->columns, sizeof *s->listed, "columns"));
    }
    for (int64_t j = 0; j < s->columns; j++)
        s->plan[j] = KL_CSV_IGNORED;
    s->label = -1;
    s->ready = false;
    KL_TRY(kl_csv_mark(reader, "ignore", lenient, s->ignored));
    KL_TRY(kl_csv_mark(reader, "categorical", lenient, s->listed));
    return kl_csv_check_names(reader);
}

static void look_at_row(const kl_csv *s, kl_csv_look *look)
{
    for (int64_t j = 0; j < s->columns; j++) {
        if (s->ignored[j])
            continue;
        kl_csv_kind kind = kl_csv_kind_of(s->point, &s->cell[j]);
        look[j].any = look[j].any || kind != KL_CELL_MISSING;
        if (kind != KL_CELL_TEXT || look[j].text)
            continue;
        look[j].text = true;
        look[j].line = s->text.line;
        look[j].shown = kl_csv_show(&s->cell[j]);
    }
}

klift_status kl_csv_look_at_head(kl_csv *s, kl_csv_look *look)
{
    const char *after;
    bool numbers = false;
    kl_csv_return(&s->text);
    KL_TRY(kl_csv_skip_header(s));
    for (int64_t rows = 0; kl_csv_in_head(s, rows); rows++) {
        bool any;
        after = kl_csv_row_of_numbers(s);
        if (after == NULL) {
            KL_TRY(kl_csv_row(s, &after, &any));
            if (!any)
                break;
            look_at_row(s, look);
        } else
            numbers = true;
        kl_csv_end_row(&s->text, after);
    }
    for (int64_t j = 0; j < s->columns; j++)
        look[j].any = look[j].any || (numbers && !s->ignored[j]);
    kl_csv_return(&s->text);
    return KLIFT_OK;
}

static void count_runs(kl_csv *s)
{
    for (int64_t j = s->columns - 1; j >= 0; j--) {
        bool goes_on = j + 1 < s->columns && s->run[j + 1] > 0 && s->plan[j + 1] == s->plan[j] + 1;
        s->run[j] = s->number[j] && s->plan[j] >= 0 ? 1 + (goes_on ? s->run[j + 1] : 0) : 0;
    }
}

klift_status kl_csv_finish_plan(kl_reader *reader)
{
    kl_csv *s = reader->state;
    kl_schema *schema = &reader->schema;
    const char *file = kl_reader_name(reader);
    KL_TRY(kl_schema_number(schema));
    if (s->columns == 1 && s->label == 0)
        return kl_fail(KLIFT_DATA, "%s: the table has one column, the label, and nothing to learn from; is the delimiter right (delimiter=space)?", file);
    if (schema->width == 0 && s->columns > 0)
        return kl_fail(KLIFT_DATA, "%s: no column is left beside the label and those ignored; ignore fewer", file);
    if (reader->dim > 0 && s->columns > 0 && reader->dim != schema->width)
        return kl_fail(KLIFT_DATA, "%s: the table gives %lld columns, but dim=%lld was given; leave that out", file, (long long)schema->width,
                       (long long)reader->dim);
    for (int64_t j = 0; j < s->columns; j++)
        s->number[j] = s->plan[j] == KL_CSV_LABEL ? !s->words : s->plan[j] >= 0 && !schema->column[s->plan[j]].categorical;
    count_runs(s);
    KL_TRY(kl_csv_begin_marks(s));
    s->sparse = kl_schema_is_sparse(schema);
    int64_t room = schema->count;
    KL_TRY(kl_grow(&s->dense, &s->dense_room, 0, room, sizeof *s->dense, "a row"));
    kl_free(s->category);
    s->category = NULL;
    if (s->sparse)
        KL_TRY(kl_new(&s->category, schema->count, sizeof *s->category, "a row"));
    kl_csv_return(&s->text);
    s->text.holds = s->begun = false;
    s->ready = true;
    return KLIFT_OK;
}
