/* learner_list.h - one line per learner. */
#include "learn/reference.h"
LEARNER(ridge)
LEARNER(svm)
LEARNER(logistic)
LEARNER(sgd)
LEARNER(doubly_stochastic)
#ifdef KL_HAS_LIBLINEAR
LEARNER(liblinear)
#endif
#ifdef KL_HAS_LIBSVM
LEARNER(libsvm)
#endif
