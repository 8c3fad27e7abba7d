/* describe.h - the library's JSON in memory of our own. Failures are reported; *json is NULL then, free() otherwise. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include "klift.h"

klift_status describe_list(const char *what, char **json);
klift_status describe_doctor(klift_run *run, char **json);
klift_status describe_model(const klift_model *model, char **json);
/* These two read all rows, so the room is guessed and the work repeated only if it was too small. */
klift_status describe_test(const klift_model *model, klift_data *data, klift_run *run, char **json);
klift_status describe_data(klift_data *data, klift_run *run, char **json);

#endif
