/* inputs.h - the files that arguments name, patterns expanded in sorted order, and all of them as one data handle. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "options.h"

typedef struct inputs {
    char **path;
    int count;
} inputs;

/* The command's arguments; a name that is no file but a pattern stands for what it matches. No match is KLIFT_IO. */
klift_status inputs_expand(const options *given, inputs *files);
/* One handle over all files; with several, --labels is given once per file, or as patterns. */
klift_status inputs_open(const options *given, const inputs *files, klift_data **data);
void inputs_clear(inputs *files);

#endif
