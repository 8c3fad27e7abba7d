/* number.h - decimal numbers in and out, the same bytes in every locale. */
#ifndef KL_NUMBER_H
#define KL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    KL_NUMBER_OK,
    KL_NUMBER_NOT,       /* not a decimal number */
    KL_NUMBER_NAN,       /* nan, inf, infinity in any case */
    KL_NUMBER_TOO_LARGE  /* overflows a double */
} kl_number_kind;

/* Parses [+-]digits[.digits][e[+-]digits] at text, not beyond end; *after is the first unread byte. */
kl_number_kind kl_number_read(const char *text, const char *end, double *value, const char **after);
/* The whole of the NUL-terminated text is one finite number. */
bool kl_number_parse(const char *text, double *value);

enum { KL_NUMBER_ROOM = 32 };
/* Shortest decimal that reads back as the same double (or float); returns its length. */
int kl_number_print(double value, char out[KL_NUMBER_ROOM]);
int kl_number_print_float(float value, char out[KL_NUMBER_ROOM]);

#endif
