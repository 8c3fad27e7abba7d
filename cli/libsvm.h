/* libsvm.h - LIBSVM's short flags: the ones that mean the same, and what to use instead of the others. */
#ifndef CLI_LIBSVM_H
#define CLI_LIBSVM_H

#include "options.h"

/* -s, -t, -d, -g, -r, -c, -w, -b and -v as settings of the spec. */
klift_status libsvm_apply(const options *given, klift_spec *spec);
/* Whether --probability or -b 1 was said, of train and predict alike. */
klift_status libsvm_probability(const options *given, bool *wanted);
/* A sentence for a flag of LIBSVM that klift does not have; NULL when LIBSVM has none either. */
const char *libsvm_instead(char letter);

#endif
