/* pipeline_test.c - a model and labelled rows -> metrics. */
#include "pipeline.h"

#include "base/memory.h"
#include "data/gather.h"

#include <math.h>

klift_status kl_pipeline_test(const klift_model *model, kl_reader *reader, klift_run *run, kl_text *json)
{
    int64_t step = (int64_t)kl_run_threads(run) * KL_CHUNK * 4;
    kl_gather gather = {.reader = reader, .width = model->lift->prepare.n_in};
    kl_metric metric = {0};
    double *scores = NULL, started = kl_run_seconds(run);
    klift_status status;
    if (kl_reader_can_match(reader))
        KL_GO(kl_pipeline_match(model->lift, &model->weights.classes, reader));
    KL_GO(kl_metric_begin(&metric, model));
    KL_GO(kl_new(&scores, step * model->weights.outputs, sizeof *scores, "scores"));
    for (;;) {
        kl_batch x;
        KL_GO(kl_gather_next(&gather, step, run, &x));
        if (x.rows == 0)
            break;
        KL_GO(kl_model_scores(model, &x, scores, run));
        KL_GO(kl_metric_add(&metric, &x, scores));
        KL_GO(kl_run_progress(run, "test", metric.rows, reader->total, NAN));
    }
    if (metric.rows == 0) {
        status = kl_fail(KLIFT_DATA, "%s: no rows; give a file that has some", kl_reader_name(reader));
        goto done;
    }
    kl_reader_say(reader, run);
    kl_metric_json(&metric, kl_run_seconds(run) - started, json);
done:
    kl_metric_clear(&metric);
    kl_free(scores);
    kl_gather_clear(&gather);
    return status;
}
