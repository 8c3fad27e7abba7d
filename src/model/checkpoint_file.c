/*
 * checkpoint_file.c - which sections make a checkpoint: KEPT (versions, spec, the rows that went by), PLAN (what the survey told beside the
 * lift), TALY (weights of the labels, where they were counted), LIFT (a model file that is only preparation and map) and
 * STAT (the learner's own). docs/model_format.md has the bytes.
 */
#include "model/checkpoint.h"

#include "base/memory.h"
#include "base/spec.h"
#include "model/model.h"

#include <string.h>

#define KEPT KL_TAG('K', 'E', 'P', 'T')
#define PLAN KL_TAG('P', 'L', 'A', 'N')
#define TALLY KL_TAG('T', 'A', 'L', 'Y')
#define LIFT KL_TAG('L', 'I', 'F', 'T')
#define STATE KL_TAG('S', 'T', 'A', 'T')

void kl_checkpoint_put(const kl_checkpoint *c, kl_record_writer *to)
{
    kl_record_open(to, KEPT, true);
    kl_record_put_text(to, c->version);
    kl_record_put_text(to, c->spec.text);
    kl_record_put_i64(to, c->seen.rows);
    kl_record_put_i64(to, (int64_t)c->seen.key);
    kl_record_put_i64(to, c->seen.words);
    kl_record_close(to);
    kl_record_open(to, PLAN, true);
    kl_record_put_i64(to, c->goal);
    kl_record_put_i64(to, c->extent.rows);
    kl_record_put_i64(to, c->extent.row_bytes);
    kl_record_put_i64(to, c->extent.entries);
    kl_record_put_i64(to, c->sample);
    kl_record_put_i64(to, c->table_bytes);
    kl_record_put_i64(to, c->all.rows);
    kl_record_put_i64(to, (int64_t)c->all.key);
    kl_record_close(to);
    if (c->tally->classes.count > 0) {
        kl_record_open(to, TALLY, true);
        kl_record_put_i64(to, c->tally->complete);
        kl_names_save(&c->tally->classes, to);
        kl_record_put_doubles(to, c->tally->weight, c->tally->classes.count);
        kl_record_close(to);
    }
    kl_record_open(to, LIFT, true);
    kl_record_put_bytes(to, c->lift.bytes, c->lift.length);
    kl_record_close(to);
    kl_record_open(to, STATE, true);
}

/* ---- what differs ---- */

static const char *value_of(const kl_spec *items, const char *key)
{
    for (int64_t i = 0; i < items->items; i++)
        if (items->item[i].key != NULL && strcmp(items->item[i].key, key) == 0)
            return items->item[i].value;
    return "";
}

/* Two canonical texts: refuses the first setting that is not the same in both. */
static klift_status compare_specs(const char *given, const char *kept)
{
    kl_spec *a = NULL, *b = NULL;
    klift_status status;
    KL_GO(kl_spec_parse_items(given, "settings", &a));
    status = kl_spec_parse_items(kept, "settings", &b);
    if (status != KLIFT_OK) {
        status = status == KLIFT_MEMORY ? status : kl_record_damaged("its settings cannot be read");
        goto done;
    }
    for (int64_t i = 0; i < a->items; i++) {
        const char *key = a->item[i].key, *other = value_of(b, key);
        if (strcmp(a->item[i].value, other) != 0) {
            status = kl_fail(KLIFT_USAGE, "%s is %.100s, the checkpoint has %.100s; give the settings of the run before, or remove the checkpoint to start again", key, a->item[i].value, other);
            goto done;
        }
    }
    if (strcmp(given, kept) != 0)
        status = kl_record_damaged("its settings are not canonical");
done:
    kl_spec_free(a);
    kl_spec_free(b);
    return status;
}

static klift_status compare(const kl_checkpoint *c, const char *version, const char *spec)
{
    if (strcmp(c->version, version) != 0)
        return kl_fail(KLIFT_USAGE, "the checkpoint was made by klift %.40s, this is klift %s; go on with that one, or remove the checkpoint to start again", version, c->version);
    return compare_specs(c->spec.text, spec);
}

/* ---- reading ---- */

static klift_status get_kept(kl_checkpoint *c, kl_record_reader *from)
{
    char *version = NULL, *spec = NULL;
    int64_t key, words;
    klift_status status;
    KL_GO(kl_record_get_text(from, &version));
    KL_GO(kl_record_get_text(from, &spec));
    KL_GO(compare(c, version, spec));
    KL_GO(kl_record_get_i64(from, 0, INT64_MAX / 2, &c->before.rows));
    KL_GO(kl_record_get_i64(from, INT64_MIN, INT64_MAX, &key));
    KL_GO(kl_record_get_i64(from, 0, 1, &words));
    c->before.key = (uint64_t)key;
    c->before.words = words == 1;
done:
    kl_free(version);
    kl_free(spec);
    return status;
}

static klift_status get_plan(kl_checkpoint *c, kl_record_reader *from)
{
    int64_t goal, key;
    KL_TRY(kl_record_get_i64(from, 0, KL_REGRESS, &goal));
    KL_TRY(kl_record_get_i64(from, 1, INT64_MAX, &c->extent.rows));
    KL_TRY(kl_record_get_i64(from, 0, INT64_MAX / 64, &c->extent.row_bytes));
    KL_TRY(kl_record_get_i64(from, 0, INT32_MAX, &c->extent.entries));
    KL_TRY(kl_record_get_i64(from, 0, INT32_MAX, &c->sample));
    KL_TRY(kl_record_get_i64(from, 0, INT64_MAX / 64, &c->table_bytes));
    KL_TRY(kl_record_get_i64(from, 0, INT64_MAX / 2, &c->all.rows));
    KL_TRY(kl_record_get_i64(from, INT64_MIN, INT64_MAX, &key));
    c->all.key = (uint64_t)key;
    c->goal = (int)goal;
    return KLIFT_OK;
}

static klift_status get_tally(kl_tally *tally, kl_record_reader *from)
{
    int64_t complete;
    if (tally->weight != NULL)
        return kl_record_damaged("it has two tallies");
    KL_TRY(kl_record_get_i64(from, 0, 1, &complete));
    KL_TRY(kl_names_load(&tally->classes, from));
    KL_TRY(kl_record_get_doubles(from, &tally->weight, tally->classes.count));
    tally->complete = complete == 1;
    tally->room = tally->classes.count;
    for (int64_t i = 0; i < tally->classes.count; i++)
        if (!(tally->weight[i] >= 0))
            return kl_record_damaged("a label weighs less than nothing");
    return KLIFT_OK;
}

static klift_status get_lift(kl_checkpoint *c, kl_record_reader *from)
{
    const unsigned char *bytes = NULL;
    int64_t count;
    klift_model *model = NULL;
    KL_TRY(kl_record_get_bytes(from, &bytes, &count));
    KL_TRY(kl_model_read(bytes, count, c->run, &model));
    if (c->found != NULL || model->weights.outputs > 0) {
        kl_model_free(model);
        return kl_record_damaged("its map comes twice, or with weights");
    }
    c->found = model->lift;
    model->lift = NULL;
    kl_model_free(model);
    return KLIFT_OK;
}

static klift_status get_section(kl_checkpoint *c, uint32_t tag, kl_record_reader *from, int *seen)
{
    static const uint32_t order[] = {KEPT, PLAN, LIFT, STATE};
    if (tag == TALLY)
        return get_tally(&c->found_tally, from);
    for (int i = 0; i < 4; i++)
        if (tag == order[i] && i != (*seen)++)
            return kl_record_damaged("its parts are not in their order");
    switch (tag) {
    case KEPT: return get_kept(c, from);
    case PLAN: return get_plan(c, from);
    case LIFT: return get_lift(c, from);
    case STATE:
        c->state = *from;
        from->at = from->end; /* whoever learns reads it */
        return KLIFT_OK;
    default:
        from->at = from->end;
        return kl_record_skip(from, tag);
    }
}

klift_status kl_checkpoint_get(kl_checkpoint *c, const void *bytes, int64_t count)
{
    kl_record_reader from;
    uint32_t tag;
    int seen = 0;
    KL_TRY(kl_record_check(&from, bytes, count, KL_RECORD_CHECKPOINT));
    for (;;) {
        KL_TRY(kl_record_next(&from, &tag));
        if (tag == 0)
            break;
        KL_TRY(get_section(c, tag, &from, &seen));
        KL_TRY(kl_record_done(&from));
    }
    if (seen != 4)
        return kl_record_damaged("a part of it is missing");
    if (c->extent.rows < c->before.rows || c->before.rows == 0 || (c->all.rows > 0 && c->all.rows != c->extent.rows))
        return kl_record_damaged("its numbers of rows do not agree");
    c->found->goal = c->goal;
    c->found->rows = c->extent.rows;
    c->found->row_bytes = c->extent.row_bytes;
    c->found->entries = c->extent.entries;
    c->found->sample = c->sample;
    c->found->table_bytes = c->table_bytes;
    return KLIFT_OK;
}
