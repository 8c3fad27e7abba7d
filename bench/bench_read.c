/* bench_read.c - reads a data file to its end, through the public header, several times; prints the seconds of the last pass, which finds
 * the file and the memory as a program that reads more than one file does, and the rows.
 * usage: bench_read FILE OPTIONS PASSES */
#include <klift.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    double took = 0;
    long long rows = 0;
    if (argc != 4)
        return 2;
    for (int pass = 0; pass < atoi(argv[3]); pass++) {
        klift_data *data;
        klift_batch batch;
        double start = now();
        if (klift_data_open(argv[1], argv[2], &data) != KLIFT_OK) {
            fprintf(stderr, "%s\n", klift_error());
            return 1;
        }
        rows = 0;
        do {
            if (klift_data_next(data, 4096, &batch) != KLIFT_OK) {
                fprintf(stderr, "%s\n", klift_error());
                return 1;
            }
            rows += batch.rows;
        } while (batch.rows > 0);
        klift_data_free(data);
        took = now() - start;
    }
    printf("%.6f %lld\n", took, rows);
    return 0;
}
