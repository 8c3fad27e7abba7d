/* nearest.c - Levenshtein distance over a short list of names. */
#include "nearest.h"

#include <string.h>

enum { LONGEST = 40 };

static int distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    int row[LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int shorter = row[j - 1] < row[j] ? row[j - 1] : row[j];
            diagonal = row[j];
            row[j] = change < shorter + 1 ? change : shorter + 1;
        }
    }
    return row[m];
}

const char *nearest(const char *typed, const char *const *names)
{
    const char *best = NULL;
    int least = 2 + (int)strlen(typed) / 3; /* one slip in short names, a few in long ones */
    for (; *names != NULL; names++) {
        int d = distance(typed, *names);
        if (d < least) {
            least = d;
            best = *names;
        }
    }
    return best;
}
