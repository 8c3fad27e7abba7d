/*
 * bench_number.c - nanoseconds per number: kl_number_read against strtod, kl_number_print against snprintf.
 * By hand, from the top folder:
 *     make && gcc -std=c17 -O3 -D_POSIX_C_SOURCE=200809L -Isrc bench/bench_number.c build/libklift.a -lm -o build/bench_number
 *     build/bench_number
 * The best of 40 rounds over 50000 numbers of each kind, processor time: short rounds find a quiet moment on a busy
 * machine. The C library prints the digits that are always enough.
 */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 50000, ROUNDS = 40, WIDTH = 48 };

static double value[COUNT];
static char text[COUNT][WIDTH];
static volatile double sink;

static uint64_t mix(uint64_t z)
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static double any_bits(uint64_t i)
{
    double x;
    do {
        uint64_t bits = mix(i += UINT64_C(1) << 32);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return x;
}

static double unit(uint64_t i)
{
    return (double)(mix(i) >> 11) * 0x1p-53;
}

static double unit_float(uint64_t i)
{
    return (double)(float)unit(i);
}

static double two_places(uint64_t i)
{
    return (double)(mix(i) % 100000) / 100;
}

static double whole(uint64_t i)
{
    return (double)(mix(i) % 100000);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double read_ours(int i)
{
    double x;
    const char *after;
    kl_number_read(text[i], text[i] + WIDTH, &x, &after); /* inside a longer text, as in a file */
    return x;
}

static double read_library(int i)
{
    return strtod(text[i], NULL);
}

static double print_ours(int i)
{
    char out[KL_NUMBER_ROOM];
    return kl_number_print(value[i], out);
}

static double print_ours_float(int i)
{
    char out[KL_NUMBER_ROOM];
    return kl_number_print_float((float)value[i], out);
}

static double print_library(int i)
{
    char out[64];
    return snprintf(out, sizeof out, "%.17g", value[i]);
}

static double print_library_float(int i)
{
    char out[64];
    return snprintf(out, sizeof out, "%.9g", value[i]);
}

static double time_of(double (*work)(int))
{
    double best = INFINITY;
    for (int r = 0; r < ROUNDS; r++) {
        double start = now(), sum = 0;
        for (int i = 0; i < COUNT; i++)
            sum += work(i);
        sink = sum;
        best = fmin(best, (now() - start) / COUNT);
    }
    return best;
}

/* Texts as klift prints them, or with format; single: printed as floats. */
static void compare(const char *name, double (*draw)(uint64_t), const char *format, bool single)
{
    for (int i = 0; i < COUNT; i++) {
        value[i] = draw((uint64_t)i);
        if (format != NULL)
            snprintf(text[i], WIDTH, format, value[i]);
        else if (single)
            kl_number_print_float((float)value[i], text[i]);
        else
            kl_number_print(value[i], text[i]);
    }
    printf("%-24s %7.1f %7.1f", name, time_of(read_ours), time_of(read_library));
    if (format == NULL)
        printf(" %7.1f %7.1f", time_of(single ? print_ours_float : print_ours), time_of(single ? print_library_float : print_library));
    printf("\n");
}

int main(void)
{
    printf("%-24s %7s %7s %7s %7s\n", "ns per number", "read", "strtod", "print", "%.17g");
    compare("whole < 100000", whole, NULL, false);
    compare("0.00 .. 999.99", two_places, NULL, false);
    compare("0 .. 1", unit, NULL, false);
    compare("0 .. 1, float (%.9g)", unit_float, NULL, true);
    compare("any bits", any_bits, NULL, false);
    compare("any bits as %.18e", any_bits, "%.18e", false);
    compare("any bits as %.30e", any_bits, "%.30e", false);
    return 0;
}
