/* learner_list.h - one line per learner. */
LEARNER(ridge)
LEARNER(svm)
