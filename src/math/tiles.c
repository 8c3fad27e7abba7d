/*
 * tiles.c - storage and update of tiled symmetric matrices.
 *   tile (i, j) += sum_r w_r (z_r - c)_i (z_r - c)_j'
 * Strips of columns are packed into panels, once for all tiles that need them; a small block of sums stays in registers over the chunk and is then
 * added to the float64 tile. Up to KL_TILES_EXACT columns all of it is float64: the products of float32 features are
 * then exact, and neither the cut into shards nor a lambda near 1e-10 shows (docs/decisions.md). Beyond, float32 over
 * 512 rows: half the time, and errors of 1e-8 of G. With a step, rows are whole numbers of it and their sums exact (whole.h): half of that time.
 */
#include "math/tiles.h"

#include "base/memory.h"
#include "math/micro.h"

#include <string.h>

/* Rows packed and summed at once, of float64 and of float32, and rows of a tile whose operand stays in the second cache while all columns pass by. */
enum { PACKED64 = 256, PACKED32 = 512, BAND = 128 };

static int64_t edge_for(int64_t n)
{
    return n >= KL_TILE ? KL_TILE : (n + 15) / 16 * 16;
}

static int64_t bytes_for(int64_t n, int64_t edge)
{
    int64_t count = n == 0 ? 0 : (n + edge - 1) / edge, size;
    if (n > INT32_MAX || kl_multiply(count * (count + 1) / 2, edge * edge * (int64_t)sizeof(double), &size))
        return INT64_MAX;
    return size;
}

int64_t kl_tiles_bytes(int64_t n)
{
    return bytes_for(n, edge_for(n));
}

static klift_status make(kl_tiles *tiles, int64_t n, int64_t edge)
{
    *tiles = (kl_tiles){.n = n, .edge = edge < edge_for(n) ? edge : edge_for(n)};
    tiles->count = n == 0 ? 0 : (n + tiles->edge - 1) / tiles->edge;
    return kl_new_bare(&tiles->value, bytes_for(n, tiles->edge), 1, "the tiles of the statistics");
}

klift_status kl_tiles_new_bare(kl_tiles *tiles, int64_t n)
{
    return make(tiles, n, edge_for(n));
}

static klift_status zero_task(void *context, int64_t task, int worker)
{
    const kl_tiles *tiles = context;
    (void)worker;
    memset(tiles->value + task * tiles->edge * tiles->edge, 0, (size_t)(tiles->edge * tiles->edge) * sizeof *tiles->value);
    return KLIFT_OK;
}

klift_status kl_tiles_new_of(kl_tiles *tiles, int64_t n, int64_t edge, klift_run *run)
{
    KL_TRY(make(tiles, n, edge));
    klift_status status = kl_run_parallel(run, tiles->count * (tiles->count + 1) / 2, zero_task, tiles);
    if (status != KLIFT_OK)
        kl_tiles_clear(tiles);
    return status;
}

klift_status kl_tiles_new(kl_tiles *tiles, int64_t n, klift_run *run)
{
    return kl_tiles_new_of(tiles, n, edge_for(n), run);
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

/* What rows are packed as: float64, float32, or pairs of whole numbers. */
typedef enum { EXACT, SINGLE, WHOLE } form;

static form form_of(const kl_tiles *tiles, const kl_tile_rows *rows)
{
    return tiles->step > 0 && rows->weight == NULL ? WHOLE : tiles->n <= KL_TILES_EXACT ? EXACT : SINGLE;
}

static int64_t size_of(form as)
{
    return (int64_t)(as == EXACT ? sizeof(double) : as == SINGLE ? sizeof(float) : sizeof(int16_t));
}

static int64_t packed_rows(form as)
{
    return as == EXACT ? PACKED64 : as == SINGLE ? PACKED32 : KL_WHOLE_ROWS;
}

/* Values of a packed panel: a little more than its rows need, or all panels would want the same places in the cache. */
static int64_t panel_length(form as, int64_t width)
{
    return packed_rows(as) * width + 16 * (as == WHOLE ? 2 : 1);
}

static int64_t panels_of(int64_t edge, int64_t width)
{
    return (edge + width - 1) / width;
}

/* Values of the packed left operand; the right one stands behind it. */
static int64_t left_side(const kl_tiles *tiles, form as)
{
    int64_t width = as == EXACT ? kl_micro_get()->left64 : kl_micro_get()->left32;
    return panels_of(tiles->edge, width) * panel_length(as, width);
}

static int64_t right_side(const kl_tiles *tiles, form as)
{
    int64_t width = as == EXACT ? kl_micro_get()->width64 : kl_micro_get()->width32;
    return panels_of(tiles->edge, width) * panel_length(as, width);
}

/* Bytes of one strip of columns over the rows packed at once, both operands. */
static int64_t strip_bytes(const kl_tiles *tiles, form as)
{
    return (left_side(tiles, as) + right_side(tiles, as)) * size_of(as);
}

int64_t kl_tiles_packed(const kl_tiles *tiles, int64_t rows)
{
    form as = tiles->n <= KL_TILES_EXACT ? EXACT : SINGLE; /* whole numbers need less */
    return (rows + packed_rows(as) - 1) / packed_rows(as) * tiles->count * strip_bytes(tiles, as);
}

static void *strip_at(const kl_tiles *tiles, form as, void *packed, int64_t from, int64_t strip)
{
    return (unsigned char *)packed + (from / packed_rows(as) * tiles->count + strip) * strip_bytes(tiles, as);
}

/* A part of a row; where the row four behind it will stand is asked for, because so many places apart are more than a CPU foresees. */
static inline void put(void *out, const void *part, int64_t bytes)
{
    __builtin_prefetch((char *)out + 4 * bytes, 1);
    memcpy(out, part, (size_t)bytes);
}

/* What of z is packed two rows later. */
static inline void ask_for(const kl_tile_rows *rows, int64_t at, int64_t first, int64_t there)
{
    const float *z = rows->z + rows->index[at + 2 < rows->count ? at + 2 : at] * rows->stride + first;
    for (int64_t c = 0; c < there; c += 16)
        __builtin_prefetch(z + c);
}

/* A row's part of every panel of `width` columns. */
static inline void deal(int64_t width, const kl_tiles *tiles, const float *line, float *out)
{
    for (int64_t c = 0; c < tiles->edge; c += width, out += panel_length(SINGLE, width))
        put(out, line + c, width * (int64_t)sizeof *out);
}

/* Columns first .. first+edge-1 of rows from .. from+count-1, for both sides: left (edge / height, panel_length), which carries the weights, and right
 * (edge / width, panel_length). Columns beyond n are zero. */
static inline void pack_by(int64_t height, int64_t width, const kl_tiles *tiles, const kl_tile_rows *rows, int64_t from, int64_t count, int64_t first, float *left, float *right)
{
    int64_t there = tiles->n - first < tiles->edge ? tiles->n - first : tiles->edge;
    const float *shift = rows->shift + first;
    float line[KL_TILE + KL_MICRO_WIDEST] = {0}; /* a row in one piece first: long loops are fast ones */
    for (int64_t r = 0; r < count; r++) {
        int64_t row = rows->index[from + r];
        const float *z = rows->z + row * rows->stride + first;
        ask_for(rows, from + r, first, there);
        for (int64_t c = 0; c < there; c++)
            line[c] = kl_tiles_rounded(tiles, z[c], shift[c]);
        deal(width, tiles, line, right + r * width);
        float weight = rows->weight != NULL ? (float)rows->weight[row] : 1.0f;
        for (int64_t c = 0; rows->weight != NULL && c < there; c++)
            line[c] *= weight;
        deal(height, tiles, line, left + r * height);
    }
}

/* By name, so that the compiler knows the lengths of the innermost loops. */
static void pack(const kl_micro *micro, const kl_tiles *tiles, const kl_tile_rows *rows, int64_t from, int64_t count, int64_t first, float *left, float *right)
{
    if (micro->left32 == 14 && micro->width32 == 32)
        pack_by(14, 32, tiles, rows, from, count, first, left, right);
    else if (micro->left32 == 6 && micro->width32 == 16)
        pack_by(6, 16, tiles, rows, from, count, first, left, right);
    else
        pack_by(micro->left32, micro->width32, tiles, rows, from, count, first, left, right);
}

/* Rows as whole numbers, two and two; the last one of an odd number has zeros beside it. Two rows at a time: pairs in one piece, then the panels of both sides. */
static void pack_whole(const kl_micro *micro, const kl_tiles *tiles, const kl_tile_rows *rows, int64_t from, int64_t count, int64_t first, int16_t *left, int16_t *right)
{
    int64_t there = tiles->n - first < tiles->edge ? tiles->n - first : tiles->edge, height = micro->left32, width = micro->width32;
    const float *shift = rows->shift + first, inverse = 1 / tiles->step;
    int16_t pair[2 * (KL_TILE + KL_MICRO_WIDEST)] = {0};
    for (int64_t r = 0; r < count; r += 2) {
        const float *z = rows->z + rows->index[from + r] * rows->stride + first, *y = r + 1 < count ? rows->z + rows->index[from + r + 1] * rows->stride + first : shift;
        for (int64_t c = 0; c < there; c++) {
            pair[2 * c] = (int16_t)(int32_t)kl_whole_round((z[c] - shift[c]) * inverse);
            pair[2 * c + 1] = (int16_t)(int32_t)kl_whole_round((y[c] - shift[c]) * inverse);
        }
        for (int64_t c = 0, at = r * width; c < tiles->edge; c += width, at += panel_length(WHOLE, width))
            put(right + at, pair + 2 * c, 2 * width * (int64_t)sizeof *pair);
        for (int64_t c = 0, at = r * height; c < tiles->edge; c += height, at += panel_length(WHOLE, height))
            put(left + at, pair + 2 * c, 2 * height * (int64_t)sizeof *pair);
    }
}

/* A tile is two tasks, bands above and bands below, so that no thread waits long for the last one: where a half begins and ends. */
static int64_t from_of(int half, int64_t edge, int64_t band)
{
    return half == 0 ? 0 : (edge / 2 + band / 2) / band * band;
}

static int64_t to_of(int half, int64_t edge, int64_t band)
{
    return half == 0 ? from_of(1, edge, band) : edge;
}

static void add_block(const kl_micro *micro, const kl_tiles *tiles, form as, int64_t count, const void *a, const void *b, double *c, int64_t stride)
{
    if (as == WHOLE)
        micro->add16((count + 1) / 2, a, b, (double)tiles->step * (double)tiles->step, c, stride);
    else
        micro->add32(count, a, b, c, stride);
}

/* A block that reaches over the last row or column of its tile, by a copy. */
static void add_part(const kl_micro *micro, const kl_tiles *tiles, form as, int64_t count, const void *a, const void *b, int64_t height, int64_t width, double *c)
{
    double copy[KL_MICRO_LEFT * KL_MICRO_WIDEST] = {0};
    add_block(micro, tiles, as, count, a, b, copy, micro->width32);
    for (int64_t r = 0; r < height; r++)
        for (int64_t k = 0; k < width; k++)
            c[r * tiles->edge + k] += copy[r * micro->width32 + k];
}

/* SINGLE and WHOLE */
static void update_single(const kl_tiles *tiles, form as, int64_t i, int64_t j, int half, int64_t count, const unsigned char *left, const unsigned char *right, kl_late *late)
{
    const kl_micro *micro = kl_micro_get();
    int64_t edge = tiles->edge, height = micro->left32, width = micro->width32, band = BAND / height * height;
    int64_t high = panel_length(as, height) * size_of(as), wide = panel_length(as, width) * size_of(as); /* bytes of a panel */
    bool waits = as == SINGLE && micro->add_late != NULL;
    double *tile = kl_tiles_at(tiles, i, j);
    for (int64_t top = from_of(half, edge, band), last = to_of(half, edge, band), end; top < last; top = end) {
        end = last - top < band + band / 2 ? last : top + band; /* a short rest would have all columns pass by for itself */
        for (int64_t c = 0; c < edge; c += width) {
            int64_t r = i == j && c > top ? c / height * height : top, across = edge - c < width ? edge - c : width; /* a diagonal tile is needed below its diagonal only */
            const unsigned char *a = left + r / height * high, *b = right + c / width * wide;
            for (; r < end; r += height, a += high) {
                int64_t rows = end - r < height ? end - r : height;
                if (waits && across == width)
                    micro->add_late(rows, count, (const float *)(const void *)a, (const float *)(const void *)b, tile + r * edge + c, edge, late);
                else if (rows == height && across == width)
                    add_block(micro, tiles, as, count, a, b, tile + r * edge + c, edge);
                else
                    add_part(micro, tiles, as, count, a, b, rows, across, tile + r * edge + c);
            }
        }
    }
}

static inline void deal_exact(int64_t width, const kl_tiles *tiles, const double *line, double *out)
{
    for (int64_t c = 0; c < tiles->edge; c += width, out += panel_length(EXACT, width))
        put(out, line + c, width * (int64_t)sizeof *out);
}

/* pack_by in float64. */
static inline void pack_exact_by(int64_t height, int64_t width, const kl_tiles *tiles, const kl_tile_rows *rows, int64_t from, int64_t count, int64_t first, double *left, double *right)
{
    int64_t there = tiles->n - first < tiles->edge ? tiles->n - first : tiles->edge;
    const float *shift = rows->shift + first;
    double line[KL_TILE + KL_MICRO_WIDEST] = {0};
    for (int64_t r = 0; r < count; r++) {
        int64_t row = rows->index[from + r];
        const float *z = rows->z + row * rows->stride + first;
        for (int64_t c = 0; c < there; c++)
            line[c] = (double)z[c] - (double)shift[c];
        for (int64_t c = 0; tiles->step != 0 && c < there; c++) /* weighted rows of whole numbers */
            line[c] = kl_tiles_centred(tiles, z[c], shift[c]);
        deal_exact(width, tiles, line, right + r * width);
        for (int64_t c = 0; rows->weight != NULL && c < there; c++)
            line[c] *= rows->weight[row];
        deal_exact(height, tiles, line, left + r * height);
    }
}

static void pack_exact(const kl_micro *micro, const kl_tiles *tiles, const kl_tile_rows *rows, int64_t from, int64_t count, int64_t first, double *left, double *right)
{
    if (micro->left64 == 8 && micro->width64 == 16)
        pack_exact_by(8, 16, tiles, rows, from, count, first, left, right);
    else
        pack_exact_by(micro->left64, micro->width64, tiles, rows, from, count, first, left, right);
}

static void update_exact(const kl_tiles *tiles, int64_t i, int64_t j, int half, int64_t count, const double *left, const double *right)
{
    const kl_micro *micro = kl_micro_get();
    int64_t edge = tiles->edge, height = micro->left64, width = micro->width64;
    double *tile = kl_tiles_at(tiles, i, j);
    for (int64_t top = from_of(half, edge, BAND / 2); top < to_of(half, edge, BAND / 2); top += BAND / 2)
        for (int64_t c = 0; c < edge; c += width)
            for (int64_t r = i == j && c > top ? c : top; r < edge && r < top + BAND / 2; r += height)
                micro->add64(count, left + r / height * panel_length(EXACT, height), right + c / width * panel_length(EXACT, width), 1, tile + r * edge + c, edge);
}

/* A strip of the rows that are packed at once. */
static void pack_some(const kl_tiles *tiles, const kl_tile_rows *rows, int64_t strip, int64_t from, void *packed)
{
    const kl_micro *micro = kl_micro_get();
    form as = form_of(tiles, rows);
    int64_t most = packed_rows(as), side = left_side(tiles, as), count = rows->count - from < most ? rows->count - from : most, first = strip * tiles->edge;
    void *at = strip_at(tiles, as, packed, from, strip);
    if (as == EXACT)
        pack_exact(micro, tiles, rows, from, count, first, at, (double *)at + side);
    else if (as == SINGLE)
        pack(micro, tiles, rows, from, count, first, at, (float *)at + side);
    else
        pack_whole(micro, tiles, rows, from, count, first, at, (int16_t *)at + side);
}

void kl_tiles_pack(const kl_tiles *tiles, const kl_tile_rows *rows, int64_t strip, void *packed)
{
    for (int64_t from = 0; from < rows->count; from += packed_rows(form_of(tiles, rows)))
        pack_some(tiles, rows, strip, from, packed);
}

void kl_tiles_update(const kl_tiles *tiles, int64_t i, int64_t j, int half, const kl_tile_rows *rows, void *packed)
{
    form as = form_of(tiles, rows);
    int64_t most = packed_rows(as), side = left_side(tiles, as);
    kl_late late = {.rows = 0};
    for (int64_t from = 0; from < rows->count; from += most) {
        int64_t count = rows->count - from < most ? rows->count - from : most;
        const void *left = strip_at(tiles, as, packed, from, i), *right = strip_at(tiles, as, packed, from, j);
        if (as == EXACT)
            update_exact(tiles, i, j, half, count, left, (const double *)right + side);
        else
            update_single(tiles, as, i, j, half, count, left, (const unsigned char *)right + side * size_of(as), &late);
    }
    if (late.rows > 0)
        kl_micro_get()->late(&late);
}

typedef struct addition {
    const kl_tiles *tiles;
    const kl_tile_rows *rows;
    void *packed;
} addition;

static klift_status pack_task(void *context, int64_t task, int worker)
{
    const addition *a = context;
    (void)worker;
    pack_some(a->tiles, a->rows, task % a->tiles->count, task / a->tiles->count * packed_rows(form_of(a->tiles, a->rows)), a->packed);
    return KLIFT_OK;
}

static klift_status update_task(void *context, int64_t task, int worker)
{
    const addition *a = context;
    int64_t i = 0, tile = task / 2;
    (void)worker;
    while ((i + 1) * (i + 2) / 2 <= tile)
        i++;
    kl_tiles_update(a->tiles, i, tile - i * (i + 1) / 2, (int)(task % 2), a->rows, a->packed);
    return KLIFT_OK;
}

klift_status kl_tiles_add(const kl_tiles *tiles, const kl_tile_rows *rows, void *packed, klift_run *run)
{
    addition a = {tiles, rows, packed};
    int64_t most = packed_rows(form_of(tiles, rows));
    KL_TRY(kl_run_parallel(run, (rows->count + most - 1) / most * tiles->count, pack_task, &a));
    return kl_run_parallel(run, tiles->count * (tiles->count + 1), update_task, &a);
}
