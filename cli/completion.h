/* completion.h - completion of the command line for shells, from the same tables as the parser; make writes it to files. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "klift.h"

klift_status completion_print(const char *shell); /* bash or zsh; to standard output */

#endif
