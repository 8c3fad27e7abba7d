/* metrics.h - prints what klift_model_test found, for people and for programs. */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H

#include <stdio.h>

void metrics_print(const char *test, FILE *to);
/* {"rows":..,"error":..,"accuracy":..,"seconds":..} or rmse, relative_rmse, r2; no line end */
void metrics_json(const char *test, double seconds, FILE *to);

#endif
