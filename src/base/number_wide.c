/* number_wide.c - the table of powers of ten, once in the program. */
#include "base/number_wide.h"

const kl_wide kl_powers_of_ten[KL_POWER_HIGH - KL_POWER_LOW + 1] = {
#include "base/number_powers.h"
};
