/*
 * product64.c - both operands packed in panels, 256 columns at a time, blocks by micro.h: what chooses landmarks and
 * whitens them. One thread; callers cut the rows.
 */
#include "math/product64.h"

#include "math/micro.h"

#include <string.h>

enum { PART = 256, BAND = 64, TALLEST = 16 }; /* left64 divides 16 */

static int64_t round_up(int64_t count, int64_t to)
{
    return (count + to - 1) / to * to;
}

int64_t kl_product64_scratch(int64_t m, int64_t n)
{
    const kl_micro *micro = kl_micro_get();
    return (round_up(m, micro->left64) + round_up(n, micro->width64)) * PART * (int64_t)sizeof(double);
}

/* Columns from .. from+k-1 in panels of `width` rows: (rows / width, k, width); missing rows are zero. */
static void pack(kl_matrix64 a, int64_t from, int64_t k, int64_t width, double *panel)
{
    for (int64_t i = 0; i < a.rows; i += width)
        for (int64_t r = 0; r < width; r++) {
            const double *row = a.value + (i + r) * a.stride + from;
            double *out = panel + i * k + r;
            for (int64_t p = 0; p < k; p++)
                out[p * width] = i + r < a.rows ? row[p] : 0;
        }
}

/* A block at the edge of c, by a copy. */
static void add_edge(const kl_micro *micro, int64_t k, const double *a, const double *b, double sign, int64_t rows, int64_t columns, double *c, int64_t stride)
{
    double copy[TALLEST * KL_MICRO_WIDEST] = {0};
    int64_t width = micro->width64;
    for (int64_t i = 0; i < rows; i++)
        memcpy(copy + i * width, c + i * stride, (size_t)columns * sizeof *c);
    micro->add64(k, a, b, sign, copy, width);
    for (int64_t i = 0; i < rows; i++)
        memcpy(c + i * stride, copy + i * width, (size_t)columns * sizeof *c);
}

/* Columns 0 .. k-1 of panels that have room for more. */
static void add_part(kl_packed64 left, kl_packed64 right, int64_t k, double sign, double *c, int64_t stride)
{
    const kl_micro *micro = kl_micro_get();
    int64_t m = left.rows, n = right.rows, height = micro->left64, width = micro->width64;
    for (int64_t top = 0; top < m; top += BAND) /* whose operand stays in a near cache while all columns pass by */
        for (int64_t j = 0; j < n; j += width)
            for (int64_t i = top; i < m && i < top + BAND; i += height) {
                const double *a = left.panel + i * left.room, *b = right.panel + j * right.room;
                int64_t rows = m - i < height ? m - i : height, columns = n - j < width ? n - j : width;
                if (rows == height && columns == width)
                    micro->add64(k, a, b, sign, c + i * stride + j, stride);
                else
                    add_edge(micro, k, a, b, sign, rows, columns, c + i * stride + j, stride);
            }
}

void kl_product64(kl_matrix64 a, kl_matrix64 b, int64_t k, double sign, double *c, int64_t stride, void *scratch)
{
    const kl_micro *micro = kl_micro_get();
    double *left = scratch, *right = left + round_up(a.rows, micro->left64) * PART;
    for (int64_t from = 0; from < k; from += PART) {
        int64_t part = k - from < PART ? k - from : PART;
        pack(a, from, part, micro->left64, left);
        pack(b, from, part, micro->width64, right);
        add_part((kl_packed64){left, a.rows, part}, (kl_packed64){right, b.rows, part}, part, sign, c, stride);
    }
}

void kl_product64_pack(kl_matrix64 b, int64_t k, double *panel)
{
    pack(b, 0, k, kl_micro_get()->width64, panel);
}

void kl_product64_packed(kl_packed64 a, kl_packed64 b, int64_t k, double sign, double *c, int64_t stride)
{
    const kl_micro *micro = kl_micro_get();
    for (int64_t from = 0; from < k; from += PART) {
        kl_packed64 left = {a.panel + from * micro->left64, a.rows, a.room}, right = {b.panel + from * micro->width64, b.rows, b.room};
        add_part(left, right, k - from < PART ? k - from : PART, sign, c, stride);
    }
}
