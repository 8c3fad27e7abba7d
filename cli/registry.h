/* registry.h - what the library's registries hold (klift_list), printed for people. */
#ifndef CLI_REGISTRY_H
#define CLI_REGISTRY_H

#include "klift.h"
#include "page.h"

/* Names, summaries, parameters with defaults and ranges, and the kernels a map fits. A failure is reported. */
klift_status registry_print(page *p, const char *what);

#endif
