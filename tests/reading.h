/* reading.h - all that reading a file gives, as bytes: batches, the message it ends with, notes; the same for any number of threads. */
#ifndef TEST_READING_H
#define TEST_READING_H

#include "base/text.h"
#include "data/reader.h"

/* The next rows, and whether there are more: none at the end or behind a failure, whose message is taken down. */
bool reading_step(kl_reader *reader, int64_t at_most, kl_text *out);
/* The same up to the end; behind a failure once more. Then what the reader has to say. */
void reading_to_end(kl_reader *reader, int64_t at_most, kl_text *out);
/* A file from its start on; *status: how it ended. */
void reading_of(const char *path, const char *options, int threads, int64_t at_most, kl_text *out, klift_status *status);
/* 2, 3 and 5 threads read the file as one does, in batches of 1 to 100,000 rows; returns how that ends. */
klift_status reading_is_one(const char *path, const char *options);
/* Fails the test, naming the first byte that differs. */
void reading_same(const kl_text *one, const kl_text *other, const char *what);

#endif
