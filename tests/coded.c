/* coded.c - see coded.h. */
#include "coded.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

const char *const coded_names[] = {"none", "identity", "random", "balanced", "hadamard", "exhaustive"};
float coded_x[CODED_ROWS * CODED_COLUMNS];

kl_code coded_matrix(kl_code_kind kind, int64_t classes, int64_t bits, uint64_t seed)
{
    kl_code code;
    OK(kl_code_new(kind, classes, bits, seed, &code));
    assert_int_equal(code.classes, classes);
    return code;
}

klift_status coded_train(const coded_settings *s, const klift_batch *rows, klift_model **model)
{
    klift_spec *spec = spec_of(PAIRS("kernel", "gaussian:gamma=1", "map", "fourier", "features", "48", "lambda", "0.001", "allow-one-class", "true",
                                     "task", s->task != NULL ? s->task : "classify", "learner", s->learner != NULL ? s->learner : "ridge",
                                     "code", s->code, "bits", s->bits != NULL ? s->bits : "auto", "decode", s->decode != NULL ? s->decode : "soft"));
    klift_status status = train_rows(spec, rows, NULL, model);
    klift_spec_free(spec);
    return status;
}

klift_model *coded_model(int64_t k, const char *code, const char *bits, const char *decode)
{
    double label[CODED_ROWS];
    klift_model *model;
    syn_rows_float(CODED_ROWS, CODED_COLUMNS, coded_x);
    syn_labels(CODED_ROWS, CODED_COLUMNS, coded_x, k, 0.2, label);
    klift_batch rows = dense_batch(CODED_TRAINED, CODED_COLUMNS, coded_x);
    rows.target = label;
    rows.targets = 1;
    OK(coded_train(&(coded_settings){.code = code, .bits = bits, .decode = decode}, &rows, &model));
    assert_int_equal(klift_model_classes(model), k);
    assert_int_equal(klift_model_outputs(model), k == 2 ? 1 : k); /* whatever the bits */
    return model;
}

void coded_predict(const klift_model *model, int what, const char *threads, double *out)
{
    klift_batch rows = dense_batch(CODED_ROWS, CODED_COLUMNS, coded_x);
    klift_run *run = run_of(PAIRS("threads", threads));
    OK(klift_model_predict(model, &rows, what, out, run));
    klift_run_free(run);
}
