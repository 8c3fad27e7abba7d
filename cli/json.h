/*
 * json.h - reads the library's JSON where it stands: a value is a pointer to its first character in the text.
 * Every function accepts NULL (a value that is not there) and answers as for an empty one.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* "classes.2.name": keys and positions; NULL when there is no such value. An empty path is the value itself. */
const char *json_get(const char *value, const char *path);
char json_kind(const char *value);                   /* '{' '[' '"', 'n' null, 'b' true or false, '0' number, '?' none of them */
bool json_number(const char *value, double *number); /* false: not a number */
double json_number_or(const char *value, double otherwise);
/* The text of a string, or of a number or word as it is written; cut to room - 1 bytes. Returns out. */
const char *json_text(const char *value, char *out, size_t room);
size_t json_count(const char *value); /* elements of an array, members of an object */
/* Walks an array or object: start with cursor NULL; key may be NULL, otherwise it receives the member's key. */
const char *json_next(const char *container, const char **cursor, char *key, size_t room);
void json_copy(const char *value, FILE *to); /* as it is written; null for NULL */
void json_quote(const char *text, FILE *to); /* a C string as JSON; bytes that are not UTF-8 as Latin-1 */

#endif
