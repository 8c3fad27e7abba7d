/* layout.h - text for people: the width of the screen, wrapped paragraphs, any JSON value as aligned lines. */
#ifndef CLI_LAYOUT_H
#define CLI_LAYOUT_H

#include <stdio.h>

int layout_columns(int descriptor); /* of COLUMNS or of the terminal; 0 when nobody knows */
int layout_width(int descriptor);   /* the same between 60 and 200, 80 when nobody knows */
/* Words from the current position, which is `indent`, on; later lines are indented; ends the line. */
void layout_wrap(const char *text, int indent, int width, FILE *to);
/* "key   value" lines; objects are indented, arrays of objects become tables, long arrays are cut. */
void layout_json(const char *value, int indent, FILE *to);
void layout_bytes(double bytes, char *out, size_t room); /* "16.4 KiB" */

#endif
