/* manual.h - manual pages as roff, from the same tables as the help; make writes them to files. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "klift.h"

/* klift(1), or klift-COMMAND(1) for the name of a command, to standard output. date: of the release, YYYY-MM-DD, or "". */
klift_status manual_print(const char *name, const char *date);

#endif
