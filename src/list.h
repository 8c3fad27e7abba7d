/* list.h - what klift has, from its registries, as JSON. */
#ifndef KL_LIST_H
#define KL_LIST_H

#include "base/text.h"

/* kernels, maps, learners, formats, options, fits, data */
klift_status kl_list(const char *what, kl_text *json);

#endif
