/*
 * factor32.c - the factorisation in float32 (factor_body.h): half the time, for the lambdas of a search that are large
 * enough for it; what the search chooses is solved in float64.
 */
#include "math/tiles.h"

#include "base/memory.h"
#include "math/micro.h"

#include <math.h>

#define REAL float
#define TILES kl_tiles32
#define MATRIX_AT kl_tiles32_at
#define FACTOR kl_tiles32_factor
#define SOLVE kl_tiles32_solve
#define LEFT left32
#define WIDTH width32
#define FORWARD forward32
#define BELOW below32
#define ABOVE above32

float *kl_tiles32_at(const kl_tiles32 *tiles, int64_t i, int64_t j)
{
    return tiles->value + (i * (i + 1) / 2 + j) * tiles->edge * tiles->edge;
}

/* c -= a' b with a block that may reach over the last row or column, by way of a copy: product32 only adds. */
static void subtract_block(const kl_micro *micro, int64_t k, const float *a, const float *b, int64_t height, int64_t breadth, float *c, int64_t stride)
{
    float sum[KL_MICRO_LEFT * KL_MICRO_WIDEST];
    int64_t width = micro->width32, rows = height < micro->left32 ? height : micro->left32, columns = breadth < width ? breadth : width;
    micro->product32(k, a, b, false, sum, width);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t q = 0; q < columns; q++)
            c[r * stride + q] -= sum[r * width + q];
}

#include "math/factor_body.h"
