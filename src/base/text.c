/* text.c - a growing text, and JSON as the one form in which klift describes things. */
#include "base/text.h"

#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void kl_text_add_bytes(kl_text *text, const char *bytes, int64_t count)
{
    if (text->failed || kl_grow(&text->text, &text->room, text->length, text->length + count + 1, 1, "a text") != KLIFT_OK) {
        text->failed = true;
        return;
    }
    memcpy(text->text + text->length, bytes, (size_t)count);
    text->length += count;
    text->text[text->length] = '\0';
}

void kl_text_add(kl_text *text, const char *format, ...)
{
    char small[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof small)
        kl_text_add_bytes(text, small, length);
    else if (length < 0 || kl_grow(&text->text, &text->room, text->length, text->length + length + 1, 1, "a text") != KLIFT_OK)
        text->failed = true;
    else {
        vsnprintf(text->text + text->length, (size_t)length + 1, format, again);
        text->length += length;
    }
    va_end(again);
}

void kl_text_add_number(kl_text *text, double value)
{
    char digits[KL_NUMBER_ROOM];
    kl_text_add_bytes(text, digits, kl_number_print(value, digits));
}

static void quote(kl_text *text, const char *value)
{
    kl_text_add_bytes(text, "\"", 1);
    for (const char *p = value; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\')
            kl_text_add(text, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            kl_text_add(text, "\\u%04x", c);
        else
            kl_text_add_bytes(text, p, 1);
    }
    kl_text_add_bytes(text, "\"", 1);
}

static void begin(kl_text *text, const char *key)
{
    if (text->comma)
        kl_text_add_bytes(text, ", ", 2);
    if (key != NULL) {
        quote(text, key);
        kl_text_add_bytes(text, ": ", 2);
    }
    text->comma = true;
}

void kl_json_open(kl_text *text, const char *key, char bracket)
{
    begin(text, key);
    kl_text_add_bytes(text, &bracket, 1);
    text->comma = false;
}

void kl_json_close(kl_text *text, char bracket)
{
    kl_text_add_bytes(text, &bracket, 1);
    text->comma = true;
}

void kl_json_text(kl_text *text, const char *key, const char *value)
{
    begin(text, key);
    if (value == NULL)
        kl_text_add_bytes(text, "null", 4);
    else
        quote(text, value);
}

void kl_json_number(kl_text *text, const char *key, double value)
{
    begin(text, key);
    if (isfinite(value))
        kl_text_add_number(text, value);
    else
        kl_text_add_bytes(text, "null", 4);
}

void kl_json_count(kl_text *text, const char *key, int64_t value)
{
    begin(text, key);
    kl_text_add(text, "%lld", (long long)value);
}

void kl_json_bool(kl_text *text, const char *key, bool value)
{
    begin(text, key);
    kl_text_add(text, "%s", value ? "true" : "false");
}

klift_status kl_text_status(const kl_text *text)
{
    return text->failed ? kl_fail(KLIFT_MEMORY, "no memory for a text of %lld bytes", (long long)text->length) : KLIFT_OK;
}

klift_status kl_text_give(kl_text *text, char *out, int64_t room, int64_t *needed)
{
    klift_status status = kl_text_status(text);
    if (needed != NULL)
        *needed = status == KLIFT_OK ? text->length : 0;
    if (out != NULL && room > 0) {
        int64_t count = status != KLIFT_OK ? 0 : text->length < room - 1 ? text->length : room - 1;
        if (count > 0)
            memcpy(out, text->text, (size_t)count);
        out[count] = '\0';
    }
    kl_text_clear(text);
    return status;
}

void kl_text_clear(kl_text *text)
{
    kl_free(text->text);
    *text = (kl_text){0};
}
