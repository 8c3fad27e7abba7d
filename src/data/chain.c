/*
 * chain.c - several readers of one format as one: their rows in order. The same rows in one file or cut over several
 * give the same model, so what a file decides about its rows is decided for all: the lowest index base found counts,
 * sparse rows are as wide as the widest so far, columns of tables are learnt over all parts. All parts must be
 * rewindable, as training reads them twice.
 */
#include "data/reader.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

typedef struct state {
    kl_reader **part;
    int64_t count, at;
    int64_t columns;  /* widest so far */
    int64_t targets;  /* of the first rows */
    bool seen, named; /* first rows were seen; they had texts as labels */
} state;

static const char *first_name(const state *s)
{
    return kl_reader_name(s->part[0]);
}

/* Rows of the present part against those before. */
static klift_status agree(state *s, kl_batch *batch)
{
    const char *name = kl_reader_name(s->part[s->at]);
    int64_t targets = batch->target != NULL ? batch->targets : 0;
    if (s->seen && (targets != s->targets || (batch->label != NULL) != s->named))
        return kl_fail(KLIFT_DATA, "%s: its rows are labelled otherwise than those of %s (numbers, names or none); files of one training must agree", name, first_name(s));
    if (s->seen && batch->dense != NULL && batch->columns != s->columns)
        return kl_fail(KLIFT_DATA, "%s: its rows have %lld columns, those of %s have %lld; files of one training must agree", name, (long long)batch->columns,
                       first_name(s), (long long)s->columns);
    s->seen = true;
    s->targets = targets;
    s->named = batch->label != NULL;
    if (batch->columns > s->columns)
        s->columns = batch->columns;
    batch->columns = s->columns;
    return KLIFT_OK;
}

static klift_status next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    state *s = reader->state;
    for (; s->at < s->count; s->at++) {
        kl_reader *part = s->part[s->at];
        if (part->dim == 0)
            part->dim = reader->dim; /* the survey's width, so that a part itself places an index beyond it */
        kl_reader_use_threads(part, reader->threads);
        KL_TRY(kl_reader_next(part, at_most, batch));
        if (batch->rows > 0)
            return agree(s, batch);
    }
    *batch = (kl_batch){.size = sizeof *batch};
    return KLIFT_OK;
}

static klift_status rewind_parts(kl_reader *reader)
{
    state *s = reader->state;
    for (int64_t i = 0; i < s->count; i++)
        KL_TRY(kl_reader_rewind(s->part[i]));
    s->at = s->columns = 0;
    s->seen = false;
    return KLIFT_OK;
}

/* The column of schema that is column c of `like`, by name when both have names; NULL: none. */
static const kl_schema_column *find_column(const kl_schema *schema, const kl_schema *like, int64_t c)
{
    if (!schema->named || !like->named)
        return &schema->column[c];
    for (int64_t i = 0; i < schema->count; i++)
        if (strcmp(schema->column[i].name, like->column[c].name) == 0)
            return &schema->column[i];
    return NULL;
}

/* Adds the categories of a part's columns; the columns themselves must be the same. */
static klift_status merge(kl_schema *all, const kl_reader *part)
{
    const kl_schema *own = &part->schema;
    const char *name = kl_reader_name(part);
    if (own->count != all->count)
        return kl_fail(KLIFT_DATA,
                       "%s: the table has %lld columns beside the label, the files before it have %lld; files of one training must have the same columns", name,
                       (long long)own->count, (long long)all->count);
    for (int64_t c = 0; c < all->count; c++) {
        kl_schema_column *to = &all->column[c];
        const kl_schema_column *from = find_column(own, all, c);
        if (from == NULL)
            return kl_fail(KLIFT_DATA, "%s: column '%s' of the files before it is not in the header; add it, or rename the column that holds it", name,
                           to->name);
        if (from->categorical != to->categorical)
            return kl_fail(KLIFT_DATA, "%s: column %lld holds %s, in the files before it %s; say categorical=COLUMN, or correct the file", name,
                           (long long)c + 1, from->categorical ? "text" : "numbers", to->categorical ? "text" : "numbers");
        for (int64_t k = 0, index; k < from->categories.count; k++)
            KL_TRY(kl_names_add(&to->categories, from->categories.name[k], &index));
        if (to->categories.count > KL_CATEGORIES_MAX)
            return kl_fail(KLIFT_DATA, "%s: column %lld has more than %d categories over all files; leave it out: ignore=COLUMN", name, (long long)c + 1,
                           KL_CATEGORIES_MAX);
        KL_TRY(kl_schema_sort(to));
    }
    return KLIFT_OK;
}

/* Tables: every part learns its own columns, then all get the union. */
static klift_status learn(kl_reader *reader, klift_run *run)
{
    state *s = reader->state;
    kl_schema *all = &reader->schema;
    const char *missing = kl_reader_option_text(s->part[0], "missing");
    if (s->part[0]->type->learn == NULL)
        return KLIFT_OK;
    if (missing != NULL && strcmp(missing, "mean") == 0)
        return kl_fail(KLIFT_USAGE, "means over several files are not taken: say missing=zero or missing=skip, or make one file of them");
    kl_schema_clear(all);
    for (int64_t i = 0; i < s->count; i++) {
        KL_TRY(s->part[i]->type->learn(s->part[i], run));
        if (all->count == 0) /* the first file that has columns at all */
            KL_TRY(kl_schema_copy(&s->part[i]->schema, all));
        else if (s->part[i]->schema.count > 0)
            KL_TRY(merge(all, s->part[i]));
    }
    KL_TRY(kl_schema_number(all));
    kl_expect expect = {.schema = all, .width = all->width};
    for (int64_t i = 0; i < s->count; i++)
        KL_TRY(kl_reader_match(s->part[i], &expect));
    return KLIFT_OK;
}

static klift_status match(kl_reader *reader, const kl_expect *expect)
{
    state *s = reader->state;
    for (int64_t i = 0; i < s->count; i++)
        KL_TRY(kl_reader_match(s->part[i], expect));
    return KLIFT_OK;
}

static void say(kl_reader *reader, klift_run *run)
{
    state *s = reader->state;
    for (int64_t i = 0; i < s->count; i++)
        kl_reader_say(s->part[i], run);
}

static void close_parts(kl_reader *reader)
{
    state *s = reader->state;
    for (int64_t i = 0; i < s->count; i++)
        kl_reader_free(s->part[i]);
    kl_free(s->part);
}

static const kl_reader_type type = {
    .name = "chain",
    .summary = "the files",
    .state_size = sizeof(state),
    .next = next,
    .rewind = rewind_parts,
    .learn = learn,
    .match = match,
    .say = say,
    .close = close_parts,
};

/* One format, readable twice, none twice in the list. */
static klift_status check(kl_reader *const *part, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (strcmp(part[i]->type->name, part[0]->type->name) != 0)
            return kl_fail(KLIFT_DATA, "%s is %s, %s is %s: files of one training must have one format", kl_reader_name(part[0]), part[0]->type->name,
                           kl_reader_name(part[i]), part[i]->type->name);
        if (!kl_reader_can_rewind(part[i]))
            return kl_fail(KLIFT_IO, "%s can be read once only and cannot be one of several inputs: save it to a file first, or give it alone", kl_reader_name(part[i]));
        KL_TRY(kl_reader_rewind(part[i]));
    }
    return KLIFT_OK;
}

/* What the parts were told or found, for all of them. */
static klift_status settle(kl_reader *reader, state *s)
{
    int base = s->part[0]->index_base;
    char name[1024];
    for (int64_t i = 0; i < s->count; i++) {
        if (s->part[i]->index_base < base)
            base = s->part[i]->index_base;
        if (s->part[i]->dim > reader->dim)
            reader->dim = s->part[i]->dim;
    }
    for (int64_t i = 0; i < s->count; i++) {
        if (!s->part[i]->base_found && s->part[i]->index_base != base)
            return kl_fail(KLIFT_USAGE, "%s was opened with index-base=%d, other files have %d; give all the same", kl_reader_name(s->part[i]), s->part[i]->index_base, base);
        s->part[i]->index_base = base;
    }
    reader->index_base = base;
    snprintf(name, sizeof name, "%s and %lld more", first_name(s), (long long)s->count - 1);
    return kl_copy_text(&reader->path, name);
}

static void free_parts(kl_reader **part, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        bool again = false;
        for (int64_t j = 0; j < i && !again; j++)
            again = part[j] == part[i];
        if (!again)
            kl_reader_free(part[i]);
    }
}

static klift_status take(kl_reader **part, int64_t count, kl_reader **out)
{
    kl_reader *reader = NULL;
    klift_status status;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++)
            if (part[i] == NULL || (j < i && part[j] == part[i]))
                return kl_fail(KLIFT_USAGE, "part %lld of the chain is NULL or there twice", (long long)i);
    KL_TRY(check(part, count));
    KL_TRY(kl_reader_new(&type, &reader));
    state *s = reader->state;
    KL_GO(kl_new(&s->part, count, sizeof *s->part, "a chain of files"));
    memcpy(s->part, part, (size_t)count * sizeof *s->part);
    s->count = count;
    status = settle(reader, s);
    if (status != KLIFT_OK)
        s->count = 0; /* the parts are the caller's still */
done:
    if (status == KLIFT_OK)
        *out = reader;
    else
        kl_reader_free(reader);
    return status;
}

klift_status kl_reader_chain(kl_reader **part, int64_t count, kl_reader **reader)
{
    *reader = NULL;
    if (count < 1)
        return kl_fail(KLIFT_USAGE, "a chain needs at least one part");
    if (count == 1 && part[0] != NULL) {
        *reader = part[0];
        return KLIFT_OK;
    }
    klift_status status = take(part, count, reader);
    if (status != KLIFT_OK)
        free_parts(part, count);
    return status;
}
