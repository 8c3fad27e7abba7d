/* survey.h - what one pass over the rows tells: width, counts, moments, norms, labels, and one seeded sample. */
#ifndef KL_SURVEY_H
#define KL_SURVEY_H

#include "data/reader.h"
#include "data/sample.h"
#include "data/seen.h"
#include "data/tally.h"

enum { KL_SURVEY_HEAD = 16384 };     /* rows that stand for a source that can be read once only */
enum { KL_SURVEY_DISTINCT = 51 };    /* label values counted: one more than the task rule needs */

typedef struct kl_survey {
    int64_t rows, columns, nonzeros;
    bool sparse;      /* some rows came as CSR */
    bool complete;    /* false: only the head of a pipe was seen */
    bool weighted;
    int index_base;   /* of text formats, -1 otherwise */
    double weight;    /* sum of weights */
    double *mean, *variance, *low, *high; /* (columns); weighted moments, zeros of sparse rows counted */
    double norm_max, norm_mean;
    int64_t nonzeros_max, nonzeros_row; /* of the row that has the most, and its number from 1; 0: unknown */
    /* labels */
    int64_t targets;  /* numbers per row; 0 when rows have text labels or none */
    bool text_labels, fractions;
    int64_t distinct; /* different values of the first target, or labels, up to KL_SURVEY_DISTINCT */
    double distinct_value[KL_SURVEY_DISTINCT];
    kl_names classes; /* text labels seen, up to KL_SURVEY_DISTINCT */
    kl_rows sample;   /* in the order of their random keys */
    const struct kl_prepare *prepare; /* what was done to the sample, or NULL: nothing; borrowed */
} kl_survey;

/* Reads the reader from its start, once; leaves it at its start. sample_rows may be 0. */
klift_status kl_survey_take(kl_reader *reader, uint64_t seed, int64_t sample_rows, klift_run *run, kl_survey *survey);
/* The same, and counts labels and keys of rows on the way; both may be NULL, and the tally is the caller's to clear. seen: of all rows, or none
 * when only the head was read. */
klift_status kl_survey_count(kl_reader *reader, uint64_t seed, int64_t sample_rows, klift_run *run, kl_tally *tally, kl_seen *seen, kl_survey *survey);
void kl_survey_clear(kl_survey *survey);

#endif
