/* text.h - a growing text and the JSON written into it. A failed append is remembered and reported by kl_text_status. */
#ifndef KL_TEXT_H
#define KL_TEXT_H

#include "base/error.h"

#include <stdbool.h>

typedef struct kl_text {
    char *text; /* NUL-terminated, or NULL while empty */
    int64_t length, room;
    bool failed, comma;
} kl_text;

void kl_text_add(kl_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kl_text_add_bytes(kl_text *text, const char *bytes, int64_t count);
void kl_text_add_number(kl_text *text, double value); /* shortest form */

/* JSON: commas are put where they belong; key may be NULL inside arrays. Numbers that are not finite become null. */
void kl_json_open(kl_text *text, const char *key, char bracket);
void kl_json_close(kl_text *text, char bracket);
void kl_json_text(kl_text *text, const char *key, const char *value); /* value NULL: null */
void kl_json_number(kl_text *text, const char *key, double value);
void kl_json_count(kl_text *text, const char *key, int64_t value);
void kl_json_bool(kl_text *text, const char *key, bool value);

/* KLIFT_MEMORY when an append failed. */
klift_status kl_text_status(const kl_text *text);
/* The room/needed convention of klift.h; frees the text whatever happens. */
klift_status kl_text_give(kl_text *text, char *out, int64_t room, int64_t *needed);
void kl_text_clear(kl_text *text);

#endif
