/*
 * config.h - --config FILE: options from lines `key = value` (klift help config has the grammar).
 * They come before those of the command line, which win; keys of other commands are left aside.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "options.h"

/* Reads the file that --config names, if it is given; failures are reported with file, line and key. */
klift_status config_read(options *given);
void config_report(const options *given); /* for --verbose: what was taken from the file */

#endif
