/* csv_file.h - a table in a file of its own, written by tests of CSV and read as one text. */
#ifndef TEST_CSV_FILE_H
#define TEST_CSV_FILE_H

#include "base/text.h"
#include "data/reader.h"

extern char *csv_path;
int csv_make_path(void **unused); /* before all tests, as cmocka wants it */
void csv_write(const char *bytes, size_t count);
void csv_write_text(const char *text);
/* "label value value ...;" per row, sparse rows filled with their zeros. */
klift_status csv_read_all(kl_reader *reader, int64_t at_most, kl_text *out);

#endif
