/* cost_path.h - values of C to choose from, smallest first: none, auto or a list such as 0.1,1,10. */
#ifndef KL_COST_PATH_H
#define KL_COST_PATH_H

#include "base/error.h"

#include <stdint.h>

enum { KL_COSTS_MAX = 32 };

typedef struct kl_cost_path {
    int64_t count;  /* 0: none */
    int64_t passes; /* a C that takes more is the last one tried */
    double c[KL_COSTS_MAX]; /* ascending, each once */
} kl_cost_path;

klift_status kl_cost_path_read(const char *text, kl_cost_path *path);
klift_status kl_cost_path_check(const char *text);

#endif
