/*
 * output.h - results: standard output, or a file that is written beside its name and takes it only when whole.
 * Call order: open, write to file, check after each batch, close; or abandon, which is fine after close too.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "klift.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct output {
    FILE *file;
    char *path;      /* where it goes, links resolved; NULL: file is stdout or a device */
    char *temporary; /* beside path */
    const char *name;
} output;

klift_status output_open(output *out, const char *path); /* NULL or "-": stdout */
klift_status output_check(output *out);                  /* flushes; KLIFT_IO when the file cannot take it */
klift_status output_close(output *out);                  /* flush, fsync, rename */
void output_abandon(output *out);
/* The failure is that the reader of our output has gone (head -1): not worth a word. */
bool output_reader_left(klift_status status);
klift_status output_finish(void); /* flushes stdout at the end of the program */

/* Before a long run: can a file of this name be made, and is it not one of the inputs (NULL: none)? */
klift_status output_possible(const char *path, const char *input);
bool output_same_file(const char *a, const char *b);

/* The shortest form that reads back as the same double. */
enum { OUTPUT_NUMBER = 32 };
const char *output_number(double value, char out[OUTPUT_NUMBER]);

#endif
