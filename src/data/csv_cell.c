/* csv_cell.c - what a cell holds: a number, nothing, text, or digits that somebody grouped. */
#include "data/csv.h"

#include "base/number.h"
#include "data/plain_number.h"

#include <string.h>

static kl_csv_cell trim(const kl_csv_cell *cell)
{
    kl_csv_cell inner = *cell;
    while (inner.begin < inner.end && *inner.begin == ' ')
        inner.begin++;
    while (inner.begin < inner.end && inner.end[-1] == ' ')
        inner.end--;
    return inner;
}

bool kl_csv_is_missing(const kl_csv_cell *cell)
{
    static const char *const words[] = {"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"};
    kl_csv_cell inner = cell->quoted ? trim(cell) : *cell;
    size_t length = (size_t)(inner.end - inner.begin);
    for (size_t i = 0; length <= 4 && i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && memcmp(words[i], inner.begin, length) == 0)
            return true;
    return false;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* 3,14 or 1,234,567.8 when the point is a point; the other way round when it is a comma. Dates are not of this form. */
static bool is_grouped(const char *p, const char *end, char point)
{
    char other = point == ',' ? '.' : ',';
    p += p < end && (*p == '+' || *p == '-');
    const char *q = skip_digits(p, end);
    if (q == p || q == end || *q != other)
        return false;
    const char *rest = skip_digits(q + 1, end);
    if (rest > q + 1 && rest == end)
        return true;
    bool threes = q - p <= 3;
    while (threes && q < end && *q == other) {
        rest = skip_digits(q + 1, end);
        threes = rest - q == 4;
        q = rest;
    }
    return threes && (q == end || (*q == point && skip_digits(q + 1, end) == end));
}

kl_csv_kind kl_csv_classify(char point, const kl_csv_cell *cell, double *value)
{
    char copy[64];
    const char *after;
    if (kl_csv_is_missing(cell))
        return KL_CELL_MISSING;
    kl_csv_cell inner = cell->quoted ? trim(cell) : *cell;
    const char *begin = inner.begin, *end = inner.end;
    if (point == ',') {
        int64_t length = end - begin;
        if (length > (int64_t)sizeof copy)
            return KL_CELL_TEXT;
        for (int64_t i = 0; i < length; i++)
            copy[i] = begin[i] == ',' ? '.' : begin[i] == '.' ? ',' : begin[i];
        begin = copy;
        end = copy + length;
    }
    kl_number_kind kind = kl_number_read(begin, end, value, &after);
    if (kind == KL_NUMBER_NOT || after != end)
        return is_grouped(inner.begin, inner.end, point) ? KL_CELL_GROUPED : KL_CELL_TEXT;
    return kind == KL_NUMBER_OK ? KL_CELL_NUMBER : kind == KL_NUMBER_NAN ? KL_CELL_NOT_FINITE : KL_CELL_TOO_LARGE;
}

kl_csv_kind kl_csv_kind_of(char point, const kl_csv_cell *cell)
{
    double value;
    if (!cell->quoted && kl_plain_number(cell->begin, false, point, &value) == cell->end)
        return KL_CELL_NUMBER;
    return kl_csv_classify(point, cell, &value);
}
