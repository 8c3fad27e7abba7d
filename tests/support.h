/* support.h - what several tests need: calls that must succeed, reference rows, files that go away, a short mode. */
#ifndef TEST_SUPPORT_H
#define TEST_SUPPORT_H

#include "klift.h"

#include <stdbool.h>

/* A call that must succeed, told with its message otherwise; for files that include <cmocka.h>. */
#define OK(call)                                             \
    do {                                                     \
        klift_status status_ = (call);                       \
        if (status_ != KLIFT_OK)                             \
            print_message("%s: %s\n", #call, klift_error()); \
        assert_int_equal(status_, KLIFT_OK);                 \
    } while (0)

/* The generator of the reference rows. */
uint64_t syn_mix(uint64_t z);
double syn_uniform(uint64_t k);
double syn_normal(uint64_t row, uint64_t column);
/* SYN(n, d): x (n, d), every row of length 1. */
void syn_rows(int64_t n, int64_t d, double *x);
void syn_rows_float(int64_t n, int64_t d, float *x);

/* Classes 0 .. k - 1 that overlap: the nearest of k directions, of a row of x (n, d) with some noise. */
void syn_labels(int64_t n, int64_t d, const float *x, int64_t k, double noise, double *label);

/* Dense rows (n, d) as a batch, and their nonzero entries as CSR. */
typedef struct csr {
    int64_t *start;
    int32_t *column;
    float *value;
} csr;
klift_batch dense_batch(int64_t n, int64_t d, const float *x);
csr csr_of(int64_t n, int64_t d, const float *x);
klift_batch csr_batch(int64_t n, int64_t d, const csr *rows);
void csr_free(csr *rows);

/* A path for `name` in this process's own folder; text and folder go away at exit. */
char *temp_path(const char *name);
/* KLIFT_TEST_QUICK is set: smaller counts will do. */
bool quick(void);

#endif
