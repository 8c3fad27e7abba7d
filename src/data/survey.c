/*
 * survey.c - the first pass. Moments are plain float64 sums in row order (columns.c), so that batches, threads and the form
 * of the rows (dense or CSR) give the same bits. Sample keys are Philox(seed, row number).
 */
#include "data/survey.h"

#include "base/memory.h"
#include "data/columns.h"
#include "math/random.h"

#include <math.h>

typedef struct sums {
    kl_columns columns;
    kl_tally *tally; /* NULL: labels are not counted */
    kl_seen *keys;   /* NULL: nor are rows */
    int64_t limit;   /* bytes */
    double norm_sum;
} sums;

static void note_number(kl_survey *survey, double value)
{
    if (value != floor(value))
        survey->fractions = true;
    for (int64_t i = 0; i < survey->distinct; i++)
        if (survey->distinct_value[i] == value)
            return;
    if (survey->distinct < KL_SURVEY_DISTINCT)
        survey->distinct_value[survey->distinct++] = value;
}

static klift_status note_label(kl_survey *survey, const kl_batch *batch, int64_t row)
{
    if (batch->label != NULL) {
        int64_t index;
        survey->text_labels = true;
        if (survey->classes.count < KL_SURVEY_DISTINCT)
            KL_TRY(kl_names_add(&survey->classes, batch->label[row], &index));
        survey->distinct = survey->classes.count;
    } else if (batch->target != NULL) {
        survey->targets = batch->targets;
        note_number(survey, batch->target[row * batch->targets]);
    }
    return KLIFT_OK;
}

static klift_status note_batch(kl_survey *survey, sums *s, const kl_batch *batch, const kl_random *keys, kl_sample *sample, klift_run *run)
{
    KL_TRY(kl_columns_widen(&s->columns, batch->columns, s->limit));
    KL_TRY(kl_columns_add(&s->columns, batch, run));
    if (s->tally != NULL)
        KL_TRY(kl_tally_add(s->tally, batch));
    if (s->keys != NULL)
        kl_seen_add(s->keys, batch);
    survey->sparse = survey->sparse || batch->start != NULL;
    survey->weighted = survey->weighted || batch->weight != NULL;
    for (int64_t i = 0; i < batch->rows; i++) {
        double weight = batch->weight != NULL ? batch->weight[i] : 1, norm = s->columns.norm[i];
        if (s->columns.entries[i] > survey->nonzeros_max) {
            survey->nonzeros_max = s->columns.entries[i];
            survey->nonzeros_row = survey->rows + i + 1;
        }
        KL_TRY(note_label(survey, batch, i));
        survey->weight += weight;
        s->norm_sum += weight * norm;
        if (norm > survey->norm_max)
            survey->norm_max = norm;
        KL_TRY(kl_sample_offer(sample, batch, i, kl_random_key(keys, (uint64_t)(survey->rows + i))));
    }
    survey->rows += batch->rows;
    return KLIFT_OK;
}

static klift_status read_all(kl_reader *reader, klift_run *run, kl_survey *survey, sums *s, const kl_random *keys, kl_sample *sample)
{
    kl_reader_use_threads(reader, kl_run_threads(run));
    if (!kl_reader_can_rewind(reader)) {
        KL_TRY(kl_reader_keep_head(reader, KL_SURVEY_HEAD, &survey->complete));
        kl_batch head = kl_rows_view(kl_reader_head(reader));
        return note_batch(survey, s, &head, keys, sample, run);
    }
    survey->complete = true;
    KL_TRY(kl_reader_rewind(reader));
    for (;;) {
        kl_batch batch;
        KL_TRY(kl_reader_next(reader, kl_run_batch(run), &batch));
        if (batch.rows == 0) {
            kl_reader_say(reader, run);
            return kl_reader_rewind(reader);
        }
        KL_TRY(note_batch(survey, s, &batch, keys, sample, run));
        KL_TRY(kl_run_progress(run, "survey", survey->rows, 0, NAN));
    }
}

static void finish(kl_survey *survey, sums *s)
{
    double total = survey->weight > 0 ? survey->weight : 1;
    kl_columns *c = &s->columns;
    survey->norm_mean = s->norm_sum / total;
    for (int64_t j = 0; j < survey->columns; j++) {
        survey->nonzeros += c->nonzeros[j];
        double mean = c->sum[j] / total, variance = c->square[j] / total - mean * mean;
        if (variance < 1e-13 * mean * mean) /* rounding of a constant column */
            variance = 0;
        c->sum[j] = mean;
        c->square[j] = variance;
        if (c->nonzeros[j] < survey->rows) { /* some entries are zero, which is +0 also where it was -0 */
            c->low[j] = c->low[j] < 0 ? c->low[j] : 0;
            c->high[j] = c->high[j] > 0 ? c->high[j] : 0;
        }
    }
    survey->mean = c->sum;
    survey->variance = c->square;
    survey->low = c->low;
    survey->high = c->high;
    c->sum = c->square = c->low = c->high = NULL;
}

klift_status kl_survey_count(kl_reader *reader, uint64_t seed, int64_t sample_rows, klift_run *run, kl_tally *tally, kl_seen *seen, kl_survey *survey)
{
    kl_random keys = {seed, 0, KL_DRAW_SAMPLE};
    kl_sample sample = {.limit = sample_rows};
    sums s = {.tally = tally, .keys = seen, .limit = kl_run_memory(run)};
    klift_status status = KLIFT_OK;
    *survey = (kl_survey){0};
    if (reader->type->learn != NULL && !reader->schema_given && reader->at_start)
        KL_GO(reader->type->learn(reader, run));
    KL_GO(read_all(reader, run, survey, &s, &keys, &sample));
    if (survey->rows == 0) {
        status = kl_fail(KLIFT_DATA, "%s: no rows; give a file that has some", kl_reader_name(reader));
        goto done;
    }
    KL_GO(kl_columns_widen(&s.columns, reader->dim, s.limit));
    survey->columns = reader->dim > 0 ? reader->dim : s.columns.count;
    survey->index_base = reader->index_base;
    if (survey->columns == 0) {
        status = kl_fail(KLIFT_DATA, "%s: no row has a value, so the number of columns is unknown; say dim=N", kl_reader_name(reader));
        goto done;
    }
    finish(survey, &s);
    if (tally != NULL)
        tally->complete = survey->complete;
    if (seen != NULL && !survey->complete)
        *seen = (kl_seen){0};
    reader->total = survey->complete ? survey->rows : 0;
    KL_GO(kl_sample_settle(&sample));
    survey->sample = sample.rows;
    survey->sample.columns = survey->columns;
    sample.rows = (kl_rows){0};
done:
    kl_columns_clear(&s.columns);
    kl_sample_clear(&sample);
    if (status != KLIFT_OK)
        kl_survey_clear(survey);
    return status;
}

klift_status kl_survey_take(kl_reader *reader, uint64_t seed, int64_t sample_rows, klift_run *run, kl_survey *survey)
{
    return kl_survey_count(reader, seed, sample_rows, run, NULL, NULL, survey);
}

void kl_survey_clear(kl_survey *survey)
{
    kl_free(survey->mean);
    kl_free(survey->variance);
    kl_free(survey->low);
    kl_free(survey->high);
    kl_names_clear(&survey->classes);
    kl_rows_clear(&survey->sample);
    *survey = (kl_survey){0};
}
