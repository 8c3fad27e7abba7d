/* error.c - the thread-local message behind klift_error(). */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_ROOM = 1024 };

static _Thread_local char message[MESSAGE_ROOM];

klift_status kl_fail(klift_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return status;
}

klift_status kl_fail_in(klift_status status, const char *format, ...)
{
    char prefix[MESSAGE_ROOM], old[MESSAGE_ROOM];
    va_list args;
    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    memcpy(old, message, sizeof old);
    size_t used = strnlen(prefix, sizeof prefix);
    if (used > MESSAGE_ROOM - 3)
        used = MESSAGE_ROOM - 3;
    memcpy(message, prefix, used);
    memcpy(message + used, ": ", 2);
    used += 2;
    size_t rest = strnlen(old, sizeof old);
    if (rest > MESSAGE_ROOM - 1 - used)
        rest = MESSAGE_ROOM - 1 - used;
    memcpy(message + used, old, rest);
    message[used + rest] = '\0';
    return status;
}

const char *kl_error_text(void)
{
    return message;
}
