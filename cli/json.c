/* json.c - reads JSON in place, without a tree: what klift prints is small and well formed. */
#include "json.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* Past the value that starts at p; never past the end of the text. */
static const char *skip_value(const char *p)
{
    int depth = 0;
    do {
        p = skip_blanks(p);
        if (*p == '"') {
            for (p++; *p != '\0' && *p != '"'; p++)
                if (*p == '\\' && p[1] != '\0')
                    p++;
            p += *p == '"';
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            depth--;
            p++;
        } else if (depth > 0 && (*p == ',' || *p == ':'))
            p++;
        else
            p += strcspn(p, ",:{}[]\" \t\r\n");
    } while (depth > 0 && *p != '\0');
    return p;
}

char json_kind(const char *value)
{
    if (value == NULL || *value == '\0')
        return '?';
    if (strchr("{[\"n", *value) != NULL)
        return *value;
    if (*value == 't' || *value == 'f')
        return 'b';
    return strchr("-0123456789", *value) != NULL ? '0' : '?';
}

bool json_number(const char *value, double *number)
{
    if (json_kind(value) != '0')
        return false;
    *number = strtod(value, NULL);
    return true;
}

double json_number_or(const char *value, double otherwise)
{
    double number;
    return json_number(value, &number) ? number : otherwise;
}

/* One code point as UTF-8; returns the bytes written. */
static size_t encode(unsigned long c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t count = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = count; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf0 << (4 - count)) | (int)c);
    return count;
}

static unsigned long read_hex(const char *p)
{
    char digits[5] = "";
    memcpy(digits, p, strnlen(p, 4));
    return strtoul(digits, NULL, 16);
}

/* The character after a backslash at *p, as UTF-8; *p moves past it. */
static size_t unescape(const char **p, char *out)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char c = *(*p)++;
    const char *known = c != '\0' ? strchr(from, c) : NULL;
    if (c != 'u') {
        out[0] = known != NULL ? to[known - from] : c;
        return 1;
    }
    unsigned long code = read_hex(*p);
    *p += strnlen(*p, 4);
    if (code >= 0xd800 && code < 0xdc00 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        code = 0x10000 + ((code - 0xd800) << 10) + ((read_hex(*p + 2) - 0xdc00) & 0x3ff);
        *p += 2 + strnlen(*p + 2, 4);
    }
    return encode(code, out);
}

const char *json_text(const char *value, char *out, size_t room)
{
    size_t length = 0;
    const char *end = value != NULL ? skip_value(value) : NULL;
    if (json_kind(value) == '"') {
        const char *p = value + 1;
        while (p < end - 1) {
            char bytes[4];
            size_t count = 1;
            bytes[0] = *p++;
            if (bytes[0] == '\\')
                count = unescape(&p, bytes);
            if (length + count >= room)
                break;
            memcpy(out + length, bytes, count);
            length += count;
        }
    } else if (value != NULL) {
        length = (size_t)(end - value) < room ? (size_t)(end - value) : room - 1;
        memcpy(out, value, length);
    }
    out[length] = '\0';
    return out;
}

const char *json_next(const char *container, const char **cursor, char *key, size_t room)
{
    char kind = json_kind(container);
    if (kind != '{' && kind != '[')
        return NULL;
    const char *p = skip_blanks(*cursor == NULL ? container + 1 : skip_value(*cursor));
    if (*p == ',')
        p = skip_blanks(p + 1);
    if (*p == '}' || *p == ']' || *p == '\0')
        return NULL;
    if (kind == '{') {
        if (key != NULL)
            json_text(p, key, room);
        p = skip_blanks(skip_value(p));
        p = skip_blanks(p + (*p == ':'));
    }
    return *cursor = p;
}

size_t json_count(const char *value)
{
    size_t count = 0;
    for (const char *cursor = NULL; json_next(value, &cursor, NULL, 0) != NULL;)
        count++;
    return count;
}

const char *json_get(const char *value, const char *path)
{
    value = value != NULL ? skip_blanks(value) : NULL;
    while (value != NULL && *path != '\0') {
        char key[128];
        size_t span = strcspn(path, "."), position = strtoul(path, NULL, 10);
        const char *cursor = NULL, *member;
        bool is_array = json_kind(value) == '[';
        while ((member = json_next(value, &cursor, key, sizeof key)) != NULL)
            if (is_array ? position-- == 0 : strlen(key) == span && memcmp(key, path, span) == 0)
                break;
        value = member;
        path += span + (path[span] == '.');
    }
    return value;
}

void json_copy(const char *value, FILE *to)
{
    if (value == NULL)
        fputs("null", to);
    else
        fwrite(value, 1, (size_t)(skip_value(value) - value), to);
}

/* Bytes of the UTF-8 character at p, 0 when it is none. */
static int utf8_length(const unsigned char *p)
{
    int length = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

void json_quote(const char *text, FILE *to)
{
    const unsigned char *p = (const unsigned char *)text;
    putc('"', to);
    while (*p != '\0') {
        int length = utf8_length(p);
        if (*p == '"' || *p == '\\')
            fprintf(to, "\\%c", *p);
        else if (*p < 0x20 || length == 0)
            fprintf(to, "\\u%04x", *p);
        else
            fwrite(p, 1, (size_t)length, to);
        p += length > 0 ? length : 1;
    }
    putc('"', to);
}
