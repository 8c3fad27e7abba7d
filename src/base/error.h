/* error.h - status codes and this thread's message. */
#ifndef KL_ERROR_H
#define KL_ERROR_H

#include "klift.h"

#include <stddef.h>

/* Writes the message of this thread and returns status. Called once, where the failure is seen. */
klift_status kl_fail(klift_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts "prefix: " before the message of a failure that a caller can place better (a file name); returns status. */
klift_status kl_fail_in(klift_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *kl_error_text(void);

/* Forwards a failure out of a function that owns nothing. */
#define KL_TRY(call)                             \
    do {                                         \
        klift_status kl_status_ = (call);        \
        if (kl_status_ != KLIFT_OK)              \
            return kl_status_;                   \
    } while (0)

/* Forwards a failure to the `done:` label of a function that has `klift_status status`. */
#define KL_GO(call)                              \
    do {                                         \
        status = (call);                         \
        if (status != KLIFT_OK)                  \
            goto done;                           \
    } while (0)

#endif
