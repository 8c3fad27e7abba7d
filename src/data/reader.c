/*
 * reader.c - the registry of formats and what all of them share: opening by content, common options, counting rows,
 * the first rows of a pipe kept and replayed so that a survey loses none.
 */
#include "data/reader.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define READER(name) extern const kl_reader_type kl_reader_##name;
#include "data/reader_list.h"
#undef READER

static const kl_reader_type *const types[] = {
#define READER(name) &kl_reader_##name,
#include "data/reader_list.h"
#undef READER
    NULL};

enum { FORMAT, DIM, LABELS, NO_LABEL, THREADS };
enum { MOST_THREADS = 16 }; /* more would wait for the one that copies the file, and every open file has their room */

const kl_param kl_reader_params[] = {
    {"format", KL_FREE, "auto", 0, 0, false, NULL, "file format; auto: by content"},
    {"dim", KL_WHOLE, "0", 0, INT32_MAX, false, NULL, "number of columns; 0: from the data"},
    {"labels", KL_FREE, "none", 0, 0, false, NULL, "file of labels, NPY or IDX, for formats without them (NPY, IDX, NPZ)"},
    {"no-label", KL_WORD, "false", 0, 0, false, "false|true", "rows have no label"},
    {"threads", KL_WHOLE, "run", 1, 1024, false, "run|auto", "threads that read text; run: those of the run, one without; auto: the CPUs this process may use"},
    {0}};

const kl_reader_type *kl_reader_type_at(int64_t index)
{
    return types[index];
}

static const char *format_at(int64_t index, const void *context)
{
    (void)context;
    int64_t seen = 0;
    for (int64_t i = 0; types[i] != NULL; i++)
        if (types[i]->listed && seen++ == index)
            return types[i]->name;
    return NULL;
}

static const char *find_item(const kl_spec *options, const char *key)
{
    for (int64_t i = 0; options != NULL && i < options->items; i++)
        if (options->item[i].key != NULL && strcmp(options->item[i].key, key) == 0)
            return options->item[i].value;
    return NULL;
}

/* By name when format is given, otherwise by the first bytes. */
static klift_status choose_type(kl_reader *reader, const char *path, const char *format)
{
    if (format != NULL && strcmp(format, "auto") != 0) {
        for (int64_t i = 0; types[i] != NULL; i++)
            if (types[i]->listed && strcmp(types[i]->name, format) == 0)
                reader->type = types[i];
        if (reader->type == NULL)
            return kl_unknown("format", format, format_at, NULL);
    }
    if (reader->type == NULL || reader->type->reads_stream) {
        const unsigned char *head;
        int64_t count;
        KL_TRY(kl_stream_open(path, &reader->stream));
        KL_TRY(kl_stream_peek(reader->stream, &head, &count));
        for (int64_t i = 0; reader->type == NULL; i++)
            if (types[i]->listed && types[i]->reads_stream && (types[i]->detect == NULL || types[i]->detect(head, count)))
                reader->type = types[i];
    }
    return KLIFT_OK;
}

static void set_threads(kl_reader *reader, int threads, bool given)
{
    reader->threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    reader->threads_given = given;
}

static void read_threads(kl_reader *reader, const kl_value *value)
{
    enum { RUN, AUTO };
    int threads = value->word == RUN ? 0 : value->word == AUTO ? kl_run_cpus() : (int)value->number;
    set_threads(reader, threads, value->word != RUN);
}

/* Reads the items into the common fields and, by the format's own table, into reader->option. */
static klift_status read_options(kl_reader *reader, const kl_spec *options)
{
    static const kl_param none[] = {{0}};
    const kl_param *own = reader->type->params != NULL ? reader->type->params : none;
    kl_spec rest = {.name = options->name};
    klift_status status = KLIFT_OK;
    KL_GO(kl_new(&rest.item, options->items, sizeof *rest.item, "options"));
    for (int64_t i = 0; i < options->items; i++) {
        const kl_spec_item *item = &options->item[i];
        int64_t index = item->key == NULL ? -1 : kl_params_find(kl_reader_params, item->key);
        if (index < 0) {
            rest.item[rest.items++] = *item;
            continue;
        }
        kl_value value;
        KL_GO(kl_param_read(&kl_reader_params[index], item->value, "data options", &value));
        if (index == DIM)
            reader->dim = (int64_t)value.number;
        else if (index == THREADS)
            read_threads(reader, &value);
        else if (index == NO_LABEL)
            reader->no_label = value.word == 1;
        else if (index == LABELS && strcmp(item->value, "none") != 0) {
            kl_free(reader->labels); /* given twice: the last one counts */
            KL_GO(kl_copy_text(&reader->labels, item->value));
        }
    }
    char where[64] = "format ";
    strncat(where, reader->type->name, 50);
    status = kl_params_read(own, &rest, where, reader->option);
done:
    kl_free(rest.item);
    return status;
}

klift_status kl_reader_new(const kl_reader_type *type, kl_reader **reader)
{
    KL_TRY(kl_new(reader, 1, sizeof **reader, "a reader"));
    (*reader)->type = type;
    (*reader)->index_base = -1;
    (*reader)->at_start = true;
    klift_status status = kl_new(&(*reader)->state, type != NULL ? (int64_t)type->state_size : 0, 1, "a reader");
    if (status != KLIFT_OK) {
        kl_free(*reader);
        *reader = NULL;
    }
    return status;
}

klift_status kl_reader_open(const char *path, const char *options, kl_reader **out)
{
    kl_reader *reader = NULL;
    klift_status status;
    *out = NULL;
    KL_TRY(kl_reader_new(NULL, &reader));
    KL_GO(kl_spec_parse_items(options, "data options", &reader->items));
    KL_GO(kl_copy_text(&reader->path, path));
    KL_GO(choose_type(reader, path, find_item(reader->items, "format")));
    KL_GO(read_options(reader, reader->items));
    KL_GO(kl_new(&reader->state, (int64_t)reader->type->state_size, 1, "a reader"));
    status = reader->type->open(reader);
done:
    if (status == KLIFT_OK)
        *out = reader;
    else
        kl_reader_free(reader);
    return status;
}

/* The kept rows of a read-once reader, before those still in it. */
static klift_status next_of_head(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    int64_t left = reader->head.rows - reader->head_at, count = at_most < left ? at_most : left;
    kl_batch all = kl_rows_view(&reader->head);
    *batch = kl_batch_part(&all, reader->head_at, count);
    reader->head_at += count;
    return KLIFT_OK;
}

void kl_reader_use_threads(kl_reader *reader, int threads)
{
    if (!reader->threads_given)
        set_threads(reader, threads, false);
}

klift_status kl_reader_pool(kl_reader *reader, kl_pool **pool)
{
    if (reader->pool == NULL && reader->threads > 1)
        KL_TRY(kl_pool_new(&reader->pool, reader->threads));
    *pool = reader->pool;
    return KLIFT_OK;
}

static void rest(kl_reader *reader)
{
    kl_pool_free(reader->pool);
    reader->pool = NULL;
}

klift_status kl_reader_next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    *batch = (kl_batch){.size = sizeof *batch};
    if (reader->at_start && reader->stream != NULL && reader->threads > 1)
        kl_stream_run_ahead(reader->stream);
    reader->at_start = false; /* also when it fails: the next rewind must not believe in the start */
    if (reader->head_kept && reader->head_at < reader->head.rows)
        KL_TRY(next_of_head(reader, at_most, batch));
    else {
        if (reader->head_kept && !reader->head_is_all)
            kl_rows_clear(&reader->head); /* replayed, and cannot be asked for again */
        KL_TRY(reader->type->next(reader, at_most, batch));
    }
    if (batch->rows == 0)
        rest(reader); /* a hundred files read one after the other do not keep a hundred pools */
    reader->at += batch->rows;
    reader->handed += batch->rows;
    return KLIFT_OK;
}

bool kl_reader_can_rewind(const kl_reader *reader)
{
    if (reader->head_kept && reader->head_is_all)
        return true;
    if (reader->type->reads_stream && !kl_stream_can_rewind(reader->stream))
        return false;
    return reader->type->rewind != NULL;
}

klift_status kl_reader_rewind(kl_reader *reader)
{
    if (reader->at_start)
        return KLIFT_OK;
    if (reader->head_kept && (reader->head_is_all || reader->at <= reader->head.rows)) {
        reader->head_at = 0;
        reader->at = 0;
        return KLIFT_OK;
    }
    if (!kl_reader_can_rewind(reader))
        return kl_fail(KLIFT_IO, "%s can be read once only: save it to a file first", kl_reader_name(reader));
    if (reader->type->reads_stream)
        KL_TRY(kl_stream_rewind(reader->stream));
    reader->unseen = reader->skipped = 0;
    KL_TRY(reader->type->rewind(reader));
    reader->at_start = true;
    reader->at = 0;
    return KLIFT_OK;
}

klift_status kl_reader_keep_head(kl_reader *reader, int64_t rows, bool *all)
{
    while (reader->head.rows < rows) {
        kl_batch batch = {.size = sizeof batch};
        KL_TRY(reader->type->next(reader, rows - reader->head.rows, &batch));
        if (batch.rows == 0) {
            reader->head_is_all = true;
            break;
        }
        KL_TRY(kl_rows_add(&reader->head, &batch, 0, batch.rows));
    }
    reader->head_kept = true;
    reader->head_at = 0;
    *all = reader->head_is_all;
    return KLIFT_OK;
}

const kl_rows *kl_reader_head(const kl_reader *reader)
{
    return &reader->head;
}

/* What the rows of a table had that needs a word, each once. */
static void say_table(kl_reader *reader, klift_run *run)
{
    const char *name = kl_reader_name(reader);
    if (reader->extra > reader->extra_said)
        kl_run_say(run, KLIFT_EVENT_NOTE, "read", "%s: %lld columns that the model does not know are left out", name, (long long)reader->extra);
    if (reader->skipped > reader->skipped_said)
        kl_run_say(run, KLIFT_EVENT_NOTE, "read", "%s: %lld rows with missing values are skipped", name, (long long)reader->skipped);
    if (reader->unseen > reader->unseen_said)
        kl_run_say(run, KLIFT_EVENT_WARNING, "read", "%s: %lld cells hold categories that were not seen when the columns were learnt; they count as none",
                   name, (long long)reader->unseen);
    reader->extra_said = reader->extra;
    reader->skipped_said = reader->skipped;
    reader->unseen_said = reader->unseen;
}

void kl_reader_say(kl_reader *reader, klift_run *run)
{
    say_table(reader, run);
    if (reader->type->say != NULL)
        reader->type->say(reader, run);
    const char *note = reader->note[0] != '\0' ? reader->note : reader->stream != NULL ? kl_stream_note(reader->stream) : NULL;
    if (note == NULL || reader->note_said)
        return;
    kl_run_say(run, KLIFT_EVENT_WARNING, "read", "%s: %s", kl_reader_name(reader), note);
    reader->note_said = true;
}

const char *kl_reader_option_text(const kl_reader *reader, const char *key)
{
    return find_item(reader->items, key);
}

bool kl_reader_can_match(const kl_reader *reader)
{
    return reader->at_start && !reader->head_kept && !reader->schema_given && reader->type->match != NULL;
}

klift_status kl_reader_match(kl_reader *reader, const kl_expect *expect)
{
    if (!reader->at_start || reader->head_kept)
        return kl_fail(KLIFT_USAGE, "%s: rows were read already; match it with the model before the first one", kl_reader_name(reader));
    kl_schema_clear(&reader->schema);
    KL_TRY(kl_schema_copy(expect->schema, &reader->schema));
    KL_TRY(reader->type->match != NULL ? reader->type->match(reader, expect) : KLIFT_OK);
    reader->schema_given = true;
    return KLIFT_OK;
}

const char *kl_reader_name(const kl_reader *reader)
{
    if (reader->stream != NULL)
        return kl_stream_name(reader->stream);
    return reader->path != NULL ? reader->path : reader->type->summary;
}

void kl_reader_free(kl_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->type != NULL && reader->type->close != NULL && reader->state != NULL)
        reader->type->close(reader);
    rest(reader);
    kl_stream_close(reader->stream);
    kl_rows_clear(&reader->head);
    kl_schema_clear(&reader->schema);
    kl_spec_free(reader->items);
    kl_free(reader->labels);
    kl_free(reader->path);
    kl_free(reader->state);
    kl_free(reader);
}
