/*
 * svmlight_plain.h - what of a row needs no other look: a label that is a number, entries whose columns ascend below the
 * limit and whose values are finite. Plain numbers are converted up to eight digits at a time inside one 64-bit word; all
 * others go through kl_number_read and give the same bits. The loops accept or step aside; they write no message, and
 * what they leave is svmlight.c's to read. Text ends with a newline and has padding behind it.
 */
#ifndef KL_SVMLIGHT_PLAIN_H
#define KL_SVMLIGHT_PLAIN_H

#include "base/number.h"
#include "data/plain_number.h"
#include "data/svmlight.h"

#include <math.h>

/* Behind a label that is a number, or NULL. */
static inline const char *kl_svmlight_plain_label(const char *p, const char *end, double *value)
{
    const char *after = kl_plain_number(p, false, '.', value);
    if (after != NULL && kl_svmlight_ends(*after))
        return after;
    bool number = kl_number_read(p, end, value, &after) == KL_NUMBER_OK && kl_svmlight_ends(*after);
    return number && !kl_plain_loses_digits(p, after) ? after : NULL;
}

/* The value of an entry, of any form. */
static inline const char *kl_svmlight_any_value(const char *p, const char *end, double *value)
{
    const char *after;
    if (kl_number_read(p, end, value, &after) != KL_NUMBER_OK || !kl_svmlight_ends(*after) || fabs(*value) >= KL_FLOAT_LIMIT)
        return NULL;
    *value = (double)(float)*value; /* 0 when a float cannot tell it from that */
    return after;
}

/* Adds entries as long as they are plain; the first byte, no blank, that begins no such entry. */
static inline const char *kl_svmlight_plain_entries(const char *p, const char *end, const kl_svmlight_rules *rules, kl_svmlight_entries *row)
{
    int64_t last = row->last, n = row->count;
    const int64_t base = rules->base, limit = rules->limit;
    const bool keep = rules->keep;
    int32_t *columns = row->column;
    float *values = row->value;
    for (;;) {
        p = kl_svmlight_skip_blanks(p);
        const char *q = p;
        uint64_t index = 0;
        for (unsigned digit; (digit = (unsigned)*q - '0') < 10; q++)
            index = index * 10 + digit; /* wraps round beyond 19 digits, but then it is not used */
        if (*q != ':' || q == p || q > p + 9)
            break;
        int64_t column = (int64_t)index - base;
        if (column <= last || column >= limit)
            break;
        double value, other; /* the address of the first stays here, so that it can be in a register */
        const char *after = kl_plain_number(q + 1, true, '.', &value);
        if (after == NULL || !kl_svmlight_ends(*after)) {
            after = kl_svmlight_any_value(q + 1, end, &other);
            if (after == NULL)
                break;
            value = other;
        }
        columns[n] = (int32_t)column;
        values[n] = (float)value;
        n += (value != 0) | keep; /* zeros say nothing: a row's content is its nonzeros */
        last = column;
        p = after;
    }
    row->last = last;
    row->count = n;
    return p;
}

#endif
