/* prepare.h - what is done to a row before the map: fitted from the survey, stored in the model. */
#ifndef KL_PREPARE_H
#define KL_PREPARE_H

#include "base/record.h"
#include "data/survey.h"

typedef enum { KL_NONE, KL_UNIT, KL_UNIT_KEEP_NORM, KL_STANDARDISE, KL_MINMAX, KL_MAXNORM, KL_MEANNORM } kl_prepare_kind;
#define KL_PREPARE_WORDS "none|unit|unit-keep-norm|standardise|minmax|maxnorm|meannorm"

typedef struct kl_prepare {
    kl_prepare_kind kind;
    int64_t n_in, n_out;
    bool centred;  /* shift is not zero: a sparse row becomes dense */
    bool clamped;  /* minmax with a shift: what lies below the lowest value seen is taken for it. Not stored: the kernel asks for it */
    double norm;   /* divisor of maxnorm, meannorm and of the kept norm */
    float *shift, *scale; /* (n_in), standardise and minmax only: (x - shift) scale */
} kl_prepare;

const char *kl_prepare_name(kl_prepare_kind kind);
klift_status kl_prepare_fit(kl_prepare *prepare, kl_prepare_kind kind, const kl_survey *survey);
/* Without data: none and unit only. */
klift_status kl_prepare_plain(kl_prepare *prepare, kl_prepare_kind kind, int64_t n_in);
/* The survey as the map will see it: columns, norms and the sample prepared, in place. */
klift_status kl_prepare_survey(const kl_prepare *prepare, kl_survey *survey);
/* Bytes of scratch that apply needs for batch. */
int64_t kl_prepare_scratch(const kl_prepare *prepare, const kl_batch *batch);
/* *out is a view into batch or scratch; every row by itself. The batch is as wide as n_in, or narrower when sparse. */
void kl_prepare_apply(const kl_prepare *prepare, const kl_batch *batch, void *scratch, kl_batch *out);
void kl_prepare_save(const kl_prepare *prepare, kl_record_writer *to);
klift_status kl_prepare_load(kl_prepare *prepare, kl_record_reader *from);
void kl_prepare_clear(kl_prepare *prepare);

#endif
