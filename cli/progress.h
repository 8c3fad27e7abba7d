/*
 * progress.h - everything that goes to stderr: a bar on a terminal, otherwise lines at doubling row counts; notes,
 * warnings and errors. It also keeps the time each stage took. There is one screen, so there is one state.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "klift.h"

#include <stdbool.h>

typedef struct progress_stage {
    char name[24];
    double seconds;
} progress_stage;

void progress_init(bool quiet, bool verbose);               /* verbose: notes about the plan too */
int progress_event(const klift_event *event, void *unused); /* a klift_event_fn */
void progress_rows(const char *stage, int64_t rows);        /* an event of the command's own */
void progress_leave_screen(const char *path);               /* no bar when results go to the same terminal */
void progress_end(void);                                    /* erases the bar */
int progress_stages(const progress_stage **stages);         /* how many there were */
double progress_seconds(void);                              /* since progress_init */

/* "klift: MESSAGE" on stderr, after the bar is gone; returns status. */
klift_status progress_fail(klift_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with klift_error() when status is a failure; cancelled runs and closed pipes fail without a word. */
klift_status progress_check(klift_status status);
klift_status progress_check_in(const char *file, klift_status status);            /* with "FILE: " before the message */
void progress_say(const char *format, ...) __attribute__((format(printf, 1, 2))); /* a line unless quiet */

#endif
