/*
 * csv_detect.c - is it a table, and what separates its cells? Of tab ; , | the one whose number per row agrees best with
 * that of the first row; on a tie the one named first, so that decimal commas between semicolons stay in their cells.
 * Lines of the form `label index:value ...` are svmlight's.
 */
#include "data/csv.h"

#include "base/number.h"

#include <string.h>

enum { LOOKED_AT = 64, PEEKED = 4096 };

/* digits ':' and what may start a number; strict: a whole number of either kind up to the end of the token */
static bool is_entry(const char *p, const char *end, bool strict)
{
    const char *q = p, *after;
    double value;
    if (end - p > 4 && memcmp(p, "qid:", 4) == 0)
        return true;
    while (q < end && *q >= '0' && *q <= '9')
        q++;
    if (q == p || q == end || *q != ':' || memchr(q + 1, ':', (size_t)(end - q - 1)) != NULL)
        return false;
    kl_number_kind kind = kl_number_read(q + 1, end, &value, &after);
    return strict ? kind == KL_NUMBER_OK && after == end : kind != KL_NUMBER_NOT;
}

/* label index:value ...: text labels are believed only when everything behind them is of that form, so that times of
 * day in a table are not taken for entries. */
static bool is_svmlight(const char *p, const char *end)
{
    int64_t tokens = 0, strict = 0, loose = 0;
    bool number = false;
    for (bool first = true; p < end; first = false) {
        p += strspn(p, " \t");
        const char *token = p, *after;
        double value;
        while (p < end && *p != ' ' && *p != '\t' && *p != '\r' && *p != '\n' && *p != '#')
            p++;
        if (p == token)
            break;
        if (first && !is_entry(token, p, true)) {
            number = kl_number_read(token, p, &value, &after) == KL_NUMBER_OK && after == p;
            continue;
        }
        tokens++;
        strict += is_entry(token, p, true);
        loose += is_entry(token, p, false);
    }
    return tokens > 0 && (strict == tokens || (number && 2 * loose > tokens));
}

/* Delimiters between cells, so outside quotes and not at the end of the line, in the record at p; returns the record
 * behind it, NULL when end comes first. */
static const char *count_delimiters(const char *p, const char *end, char delimiter, int64_t *count)
{
    bool fresh = true; /* at the start of a cell: only there a quote opens one */
    *count = 0;
    for (; p < end; p++) {
        if (*p == '\n') {
            *count -= fresh && *count > 0;
            return p + 1;
        }
        if (*p == '"' && fresh) {
            do {
                p = memchr(p + 1, '"', (size_t)(end - p - 1));
                if (p == NULL)
                    return NULL;
                p++;
            } while (p < end && *p == '"');
            p--;
        }
        *count += *p == delimiter;
        fresh = *p == delimiter || (fresh && (*p == ' ' || *p == '\r'));
    }
    return NULL;
}

/* Share of the records that have as many delimiters as the first one; 0 when that has none. */
static double agreement(const char *text, const char *end, char delimiter)
{
    int64_t first = 0, records = 0, agreeing = 0;
    while (records < LOOKED_AT && text < end) {
        int64_t count;
        const char *next = count_delimiters(text, end, delimiter, &count);
        bool blank = text[strspn(text, " ")] == '\n' || text[strspn(text, " ")] == '\r';
        if (next == NULL && records > 0)
            break; /* cut off */
        if (!blank) {
            first = records == 0 ? count : first;
            agreeing += count == first;
            records++;
        }
        if (next == NULL)
            break;
        text = next;
    }
    return first == 0 ? 0 : (double)agreeing / (double)records;
}

char kl_csv_choose_delimiter(const char *text, const char *end, char point)
{
    static const char candidates[] = "\t;,|";
    double best = 0.5;
    char chosen = '\0';
    for (const char *d = candidates; *d != '\0'; d++) {
        double share = *d == point ? 0 : agreement(text, end, *d);
        if (share > best || (share >= best && chosen == '\0')) {
            best = share;
            chosen = *d;
        }
    }
    return chosen;
}

bool kl_csv_detect(const unsigned char *head, int64_t count)
{
    char text[PEEKED + 2];
    int64_t length = count < PEEKED ? count : PEEKED, skip = count >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (length == 0 || memchr(head, '\0', (size_t)length) != NULL || (head[0] >= 0xfe))
        return false;
    memcpy(text, head, (size_t)length);
    if (length < PEEKED && text[length - 1] != '\n')
        text[length++] = '\n';
    text[length] = '\0';
    const char *end = text + length;
    for (const char *line = text + skip, *next; line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL && line > text + skip)
            break; /* cut off */
        next = stop != NULL ? stop + 1 : end;
        if (is_svmlight(line, next))
            return false;
    }
    return kl_csv_choose_delimiter(text + skip, end, '.') != '\0';
}
