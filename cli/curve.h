/*
 * curve.h - models on the way of a training: snapshots of them in the place of the model to come (--snapshot-every), and their errors at
 * doubling counts of rows (--curve): of the test file, otherwise of the rows that the learner held out.
 * Call order: begin, klift_train, then status, table or JSON, clear.
 */
#ifndef CLI_CURVE_H
#define CLI_CURVE_H

#include "options.h"

typedef struct curve_point {
    int64_t rows;
    double error; /* of numbers: the root of the mean squared one */
} curve_point;

typedef struct curve {
    const options *given;
    klift_run *run;
    const char *path, *test;  /* of the model, NULL: none is written; test: NULL: rows held out */
    bool wanted;              /* --curve */
    int64_t every, next;      /* snapshots: rows between them, 0: none; when the next one is due */
    int64_t next_point;
    klift_data *test_rows;
    char *metrics;            /* JSON of the last point on the test file */
    bool numbers;             /* the model predicts them */
    klift_status status;      /* why the training was stopped from here, already told */
    curve_point point[64];    /* every one has twice the rows of the one before, but for the last */
    int points;
} curve;

/* Before the data are opened; refuses what cannot be. */
klift_status curve_begin(const options *given, const char *path, const char *test, klift_run *run, curve *c);
void curve_print(const curve *c);  /* a table */
void curve_json(const curve *c);   /* a member of an open object */
void curve_clear(curve *c);

#endif
