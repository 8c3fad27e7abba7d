/*
 * tiles.c - storage and update of tiled symmetric matrices.
 *   tile (i, j) += sum_r w_r (z_r - c)_i (z_r - c)_j'
 * Rows are packed a chunk at a time into panels; a small block of sums stays in registers over the chunk and is then
 * added to the float64 tile. Up to KL_TILES_EXACT columns all of it is float64: the products of float32 features are
 * then exact, and neither the cut into shards nor a lambda near 1e-10 shows (docs/decisions.md). Beyond, float32 over
 * 64 rows: half the time, and errors of 1e-8 of G.
 */
#include "math/tiles.h"

#include "base/memory.h"
#include "math/micro.h"

enum { CHUNK = 64 };

static int64_t edge_for(int64_t n)
{
    return n >= KL_TILE ? KL_TILE : (n + 15) / 16 * 16;
}

int64_t kl_tiles_bytes(int64_t n)
{
    int64_t edge = edge_for(n), count = n == 0 ? 0 : (n + edge - 1) / edge, size;
    if (n > INT32_MAX || kl_multiply(count * (count + 1) / 2, edge * edge * (int64_t)sizeof(double), &size))
        return INT64_MAX;
    return size;
}

klift_status kl_tiles_new(kl_tiles *tiles, int64_t n)
{
    *tiles = (kl_tiles){.n = n, .edge = edge_for(n)};
    tiles->count = n == 0 ? 0 : (n + tiles->edge - 1) / tiles->edge;
    return kl_new(&tiles->value, kl_tiles_bytes(n), 1, "the tiles of the statistics");
}

void kl_tiles_clear(kl_tiles *tiles)
{
    kl_free(tiles->value);
    *tiles = (kl_tiles){0};
}

double *kl_tiles_at(const kl_tiles *tiles, int64_t i, int64_t j)
{
    return tiles->value + (i * (i + 1) / 2 + j) * tiles->edge * tiles->edge;
}

double kl_tiles_get(const kl_tiles *tiles, int64_t row, int64_t column)
{
    if (column > row)
        return kl_tiles_get(tiles, column, row);
    int64_t e = tiles->edge;
    return kl_tiles_at(tiles, row / e, column / e)[row % e * e + column % e];
}

int64_t kl_tiles_update_scratch(const kl_tiles *tiles)
{
    return 2 * CHUNK * tiles->edge * (int64_t)(tiles->n <= KL_TILES_EXACT ? sizeof(double) : sizeof(float));
}

/* Columns first .. first+edge-1 of rows from .. from+count-1, in panels of `width`: (edge / width, count, width).
 * Columns beyond n are zero; weighted when the operand carries the weight. */
static void pack(const kl_tiles *tiles, const kl_tile_rows *rows, int64_t from, int64_t count, int64_t first, int64_t width, bool weighted, float *panel)
{
    for (int64_t r = 0; r < count; r++) {
        int64_t row = rows->index[from + r];
        const float *z = rows->z + row * rows->stride;
        float weight = weighted && rows->weight != NULL ? (float)rows->weight[row] : 1.0f;
        for (int64_t c = 0; c < tiles->edge; c += width) {
            float *out = panel + c * count + r * width;
            for (int64_t k = 0; k < width; k++) {
                int64_t column = first + c + k;
                out[k] = column < tiles->n ? (z[column] - rows->shift[column]) * weight : 0.0f;
            }
        }
    }
}

static void update_single(const kl_tiles *tiles, int64_t i, int64_t j, const kl_tile_rows *rows, int64_t from, int64_t count, float *scratch)
{
    const kl_micro *micro = kl_micro_get();
    int64_t edge = tiles->edge;
    float *left = scratch, *right = scratch + CHUNK * edge;
    double *tile = kl_tiles_at(tiles, i, j);
    pack(tiles, rows, from, count, i * edge, micro->left, true, left);
    pack(tiles, rows, from, count, j * edge, micro->width32, false, right);
    for (int64_t c = 0; c < edge; c += micro->width32)
        for (int64_t r = i == j ? c : 0; r < edge; r += micro->left) /* a diagonal tile is needed below its diagonal only */
            micro->add32(count, left + r * count, right + c * count, tile + r * edge + c, edge);
}

static void pack_exact(const kl_tiles *tiles, const kl_tile_rows *rows, int64_t from, int64_t count, int64_t first, int64_t width, bool weighted, double *panel)
{
    for (int64_t r = 0; r < count; r++) {
        int64_t row = rows->index[from + r];
        const float *z = rows->z + row * rows->stride;
        double weight = weighted && rows->weight != NULL ? rows->weight[row] : 1.0;
        for (int64_t c = 0; c < tiles->edge; c += width)
            for (int64_t k = 0; k < width; k++) {
                int64_t column = first + c + k;
                panel[c * count + r * width + k] = column < tiles->n ? ((double)z[column] - (double)rows->shift[column]) * weight : 0.0;
            }
    }
}

static void update_exact(const kl_tiles *tiles, int64_t i, int64_t j, const kl_tile_rows *rows, int64_t from, int64_t count, double *scratch)
{
    const kl_micro *micro = kl_micro_get();
    int64_t edge = tiles->edge;
    double *left = scratch, *right = scratch + CHUNK * edge, *tile = kl_tiles_at(tiles, i, j);
    pack_exact(tiles, rows, from, count, i * edge, micro->left, true, left);
    pack_exact(tiles, rows, from, count, j * edge, micro->width64, false, right);
    for (int64_t c = 0; c < edge; c += micro->width64)
        for (int64_t r = i == j ? c : 0; r < edge; r += micro->left)
            micro->add64(count, left + r * count, right + c * count, 1, tile + r * edge + c, edge);
}

void kl_tiles_update(const kl_tiles *tiles, int64_t i, int64_t j, const kl_tile_rows *rows, void *scratch)
{
    for (int64_t from = 0; from < rows->count; from += CHUNK) {
        int64_t count = rows->count - from < CHUNK ? rows->count - from : CHUNK;
        if (tiles->n <= KL_TILES_EXACT)
            update_exact(tiles, i, j, rows, from, count, scratch);
        else
            update_single(tiles, i, j, rows, from, count, scratch);
    }
}
