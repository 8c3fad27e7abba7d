/*
 * job.h - what the commands have in common: a spec, a run and data made from the options, models found by their magic.
 * Failures are reported where they happen; callers forward the status.
 */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "options.h"

klift_status job_spec(const options *given, klift_spec **spec);
/* With threads, limits, progress and signals. */
klift_status job_run(const options *given, klift_run **run);
void job_end(klift_run *run);
/* model: the one the rows are for, or NULL; columns, width and labels are then as it expects them.
 * labels: instead of --labels, or NULL. */
klift_status job_data(const options *given, const char *path, const char *labels, const klift_model *model, klift_data **data);
/* Arguments MODEL and DATA in either order. */
void job_order(const options *given, const char **model, const char **data);
klift_status job_model(const char *path, klift_model **model);
bool job_is_model(const char *path);

/* Options of klift_data_open and klift_data_save, "key="value",..."; an append that has no room is reported. */
typedef struct job_items {
    char text[4096];
    size_t length;
} job_items;
klift_status job_add(job_items *items, const char *key, const char *value);

#endif
