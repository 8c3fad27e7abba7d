/* checkpoint.h - what train does about --checkpoint beside handing it to the library: rules, the file when it is no longer needed, and what to say of a
 * run that was stopped. Without --checkpoint each does nothing. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "options.h"

klift_status checkpoint_check(const options *given, const char *model); /* model: the file to be written, or NULL */
void checkpoint_remove(const options *given, const char *model);        /* the training is over and its model is written */
void checkpoint_stopped(const options *given, klift_status status);     /* where it is, and how to go on */

#endif
