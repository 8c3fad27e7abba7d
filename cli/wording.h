/*
 * wording.h - the library names its settings as programs set them: dim=5, no-label=true. Whoever typed a command is told the
 * option to type: --dim 5, --no-label.
 */
#ifndef CLI_WORDING_H
#define CLI_WORDING_H

#include <stddef.h>

/* A copy of the library's text in out, cut to room. */
const char *wording(const char *text, char *out, size_t room);

#endif
