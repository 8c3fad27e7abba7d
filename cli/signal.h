/*
 * signal.h - what signals and closed descriptors do to the command. SIGINT and SIGTERM cancel the watched run and close
 * standard input, so that a wait for a pipe ends too; the second one ends the process at once.
 */
#ifndef CLI_SIGNAL_H
#define CLI_SIGNAL_H

#include "klift.h"

void signal_init(void);
void signal_watch(klift_run *run); /* NULL: no run is left to cancel */
int signal_caught(void);           /* the signal's number, 0 for none */

#endif
