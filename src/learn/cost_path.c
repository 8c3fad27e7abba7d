/* cost_path.c - see cost_path.h. auto: 2^-5, 2^-3, ..., 2^11, the steps of LIBSVM's grid; a search leaves them when they get worse or take
 * more than 50 passes. */
#include "learn/cost_path.h"

#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define FORM "write values of C joined by commas, such as 0.1,1,10, or auto, or none"

static klift_status add(kl_cost_path *path, const char *item)
{
    double c;
    int64_t at = 0;
    if (!kl_number_parse(item, &c) || !isfinite(c) || !(c > 0))
        return kl_fail(KLIFT_USAGE, "path: '%.60s' is not a number above 0; " FORM, item);
    while (at < path->count && path->c[at] < c)
        at++;
    if (at < path->count && path->c[at] == c)
        return KLIFT_OK;
    if (path->count == KL_COSTS_MAX)
        return kl_fail(KLIFT_USAGE, "path has more than %d values of C; give fewer", KL_COSTS_MAX);
    memmove(path->c + at + 1, path->c + at, (size_t)(path->count - at) * sizeof path->c[0]);
    path->c[at] = c;
    path->count++;
    return KLIFT_OK;
}

klift_status kl_cost_path_read(const char *text, kl_cost_path *path)
{
    char *copy = NULL;
    klift_status status = KLIFT_OK;
    bool automatic = strcmp(text, "auto") == 0;
    *path = (kl_cost_path){.passes = automatic ? 50 : INT64_MAX};
    for (int k = -5; automatic && k <= 11; k += 2)
        path->c[path->count++] = ldexp(1, k);
    if (automatic || strcmp(text, "none") == 0)
        return KLIFT_OK;
    KL_TRY(kl_copy_text(&copy, text));
    for (char *item = copy, *end; item != NULL && status == KLIFT_OK; item = end) {
        end = strchr(item, ',');
        if (end != NULL)
            *end++ = '\0';
        status = add(path, item);
    }
    kl_free(copy);
    return status;
}

klift_status kl_cost_path_check(const char *text)
{
    kl_cost_path path;
    return kl_cost_path_read(text, &path);
}
