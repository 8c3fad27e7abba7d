/* folder.h - a folder of a test's own under /tmp, in which files are counted: what is written beside them must not stay. */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <stdbool.h>

extern char folder_path[64];
const char *folder_at(const char *name); /* path of a file in it; the last four stay valid */
int folder_count(bool and_remove);
void folder_write(const char *path, const char *text);
const char *folder_text(const char *path); /* at most 99,999 bytes, valid until the next call */

/* As cmocka wants them: before all tests, after each, after all. */
int folder_make(void **unused);
int folder_empty(void **unused);
int folder_remove(void **unused);

#endif
