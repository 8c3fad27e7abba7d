/* nearest.h - the known name a mistyped one was probably meant to be. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

/* names ends with NULL; the answer is one of them, or NULL when none is near. */
const char *nearest(const char *typed, const char *const *names);

#endif
