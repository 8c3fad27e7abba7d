/*
 * product.c - weights packed once in panels of columns, rows packed some 252 at a time in groups. A part of the rows' columns stays
 * in the second cache while panels pass by it, the same part of a panel in the first while the groups do. Finished sums of
 * some hundred columns are handed on while they are there, so that a map's cosines are written once. The block
 * itself is micro.h's.
 */
#include "math/product.h"

#include "base/memory.h"

#include <string.h>

/* A chunk of 252 rows at once, in whole groups of 14, 6 or 4. */
enum { ROWS = 252, FEW_ROWS = 28, PART = 768, SHORT = 128, WIDE = 2048, LINE = 16 /* floats of a cache line */ };

/* Columns of a row that are finished at a time, whole panels: many of short rows, whose panels are small, so that whoever takes them writes long pieces. */
static int64_t span(int64_t k)
{
    return k <= SHORT ? 1024 : 256;
}

/* Floats of a row of finished sums. */
static int64_t line(int64_t k, int width)
{
    return span(k) + width; /* no power of two: sums of one column would meet in the same places of a cache */
}

static int64_t panel_count(const kl_panels *w)
{
    return (w->n + w->width - 1) / w->width;
}

/* Columns of x that panel q is made of, and where it begins. */
static int64_t depth_of(const kl_panels *w, int64_t panel)
{
    int64_t end = (panel + 1) * w->width;
    return w->lower && end < w->k ? end : w->k;
}

static int64_t place_of(const kl_panels *w, int64_t panel)
{
    return w->lower ? panel * (panel + 1) / 2 * w->width * w->width : panel * w->width * w->k;
}

int64_t kl_panels_bytes(int64_t n, int64_t k)
{
    kl_panels w = {.n = n, .k = k, .width = kl_micro_get()->width32};
    return kl_panels_floats(&w) * (int64_t)sizeof(float);
}

klift_status kl_panels_new(kl_panels *w, int64_t n, int64_t k)
{
    int64_t size;
    *w = (kl_panels){.n = n, .k = k, .width = kl_micro_get()->width32};
    if (kl_multiply(panel_count(w) * w->width, k, &size))
        return kl_fail(KLIFT_MEMORY, "%lld x %lld weights are too many; use fewer features", (long long)n, (long long)k);
    return kl_new(&w->packed, size, sizeof *w->packed, "the map's weights");
}

klift_status kl_panels_new_lower(kl_panels *w, int64_t n)
{
    *w = (kl_panels){.n = n, .k = n, .width = kl_micro_get()->width32, .lower = true};
    return kl_new(&w->packed, kl_panels_floats(w), sizeof *w->packed, "the map's weights");
}

int64_t kl_panels_lower_bytes(int64_t n)
{
    kl_panels w = {.n = n, .k = n, .width = kl_micro_get()->width32, .lower = true};
    return kl_panels_floats(&w) * (int64_t)sizeof(float);
}

int64_t kl_panels_floats(const kl_panels *w)
{
    int64_t last = panel_count(w) - 1;
    return place_of(w, last) + depth_of(w, last) * w->width;
}

float *kl_panels_at(const kl_panels *w, int64_t row, int64_t column)
{
    return &w->packed[place_of(w, row / w->width) + column * w->width + row % w->width];
}

void kl_panels_set(kl_panels *w, int64_t row, const double *values)
{
    for (int64_t j = 0; j < w->k; j++)
        *kl_panels_at(w, row, j) = (float)values[j];
}

void kl_panels_clear(kl_panels *w)
{
    kl_free(w->packed);
    *w = (kl_panels){0};
}

/* Rows packed at once, in whole groups: fewer where their sums are long, and of very long ones, whose panels no cache keeps anyway. */
static int64_t rows_at_once(int64_t k)
{
    int64_t left = kl_micro_get()->left32, most = (k <= SHORT ? FEW_ROWS : k <= WIDE ? ROWS : ROWS * WIDE / k) / left * left;
    return most < left ? left : most;
}

/* Floats of packed rows, and up to where sums begin: with a cache line, as the rows do. */
static int64_t packed_floats(int64_t rows, int64_t k)
{
    return (rows * k + LINE - 1) / LINE * LINE;
}

/* Shorter rows are packed more at a time: the most that any of them take. */
int64_t kl_product_scratch(int64_t k)
{
    int width = kl_micro_get()->width32;
    int64_t own = packed_floats(rows_at_once(k), k) + rows_at_once(k) * line(k, width), few = FEW_ROWS * (SHORT + line(SHORT, width)), wide = ROWS * (WIDE + line(WIDE, width));
    int64_t most = k > SHORT && few > own ? few : own;
    return (k > WIDE && wide > most ? wide : most) * (int64_t)sizeof(float);
}

typedef float four __attribute__((vector_size(16)));

static four load(const float *x)
{
    four v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Six rows, four columns at a time: packing by single values takes as long as a fortieth of the product. */
static int64_t pack_six(int64_t k, const float *x, int64_t stride, float *out)
{
    int64_t p = 0;
    for (; p + 4 <= k; p += 4, out += 24) {
        four a = load(x + p), b = load(x + stride + p), c = load(x + 2 * stride + p), d = load(x + 3 * stride + p), e = load(x + 4 * stride + p), f = load(x + 5 * stride + p);
        four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), ef = __builtin_shufflevector(e, f, 0, 4, 1, 5);
        four second = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        four block[6] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ef, second, 0, 1, 4, 5), __builtin_shufflevector(second, ef, 2, 3, 6, 7)};
        ab = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd = __builtin_shufflevector(c, d, 2, 6, 3, 7), ef = __builtin_shufflevector(e, f, 2, 6, 3, 7);
        second = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        block[3] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        block[4] = __builtin_shufflevector(ef, second, 0, 1, 4, 5);
        block[5] = __builtin_shufflevector(second, ef, 2, 3, 6, 7);
        memcpy(out, block, sizeof block);
    }
    return p;
}

/* Four rows of a group, and two, the same way. */
static void pack_four(int64_t k, const float *x, int64_t stride, int left, float *out)
{
    for (int64_t p = 0; p + 4 <= k; p += 4, out += 4 * left) {
        four a = load(x + p), b = load(x + stride + p), c = load(x + 2 * stride + p), d = load(x + 3 * stride + p);
        four low = __builtin_shufflevector(a, b, 0, 4, 1, 5), high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        four last_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), last_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        four column[4] = {__builtin_shufflevector(low, last_low, 0, 1, 4, 5), __builtin_shufflevector(low, last_low, 2, 3, 6, 7),
                          __builtin_shufflevector(high, last_high, 0, 1, 4, 5), __builtin_shufflevector(high, last_high, 2, 3, 6, 7)};
        for (int q = 0; q < 4; q++)
            memcpy(out + q * left, &column[q], sizeof column[q]);
    }
}

static void pack_two(int64_t k, const float *x, int64_t stride, int left, float *out)
{
    for (int64_t p = 0; p + 4 <= k; p += 4, out += 4 * left) {
        four a = load(x + p), b = load(x + stride + p);
        float pair[8];
        memcpy(pair, &(four[2]){__builtin_shufflevector(a, b, 0, 4, 1, 5), __builtin_shufflevector(a, b, 2, 6, 3, 7)}, sizeof pair);
        for (int q = 0; q < 4; q++)
            memcpy(out + q * left, pair + 2 * q, 2 * sizeof *pair);
    }
}

/* Whole groups, four columns at a time; returns the columns that are done. */
static int64_t pack_group(int64_t k, const float *x, int64_t stride, int left, float *out)
{
    int r = 0;
    if (left == 6)
        return pack_six(k, x, stride, out);
    for (; r + 4 <= left; r += 4)
        pack_four(k, x + r * stride, stride, left, out + r);
    for (; r + 2 <= left; r += 2)
        pack_two(k, x + r * stride, stride, left, out + r);
    return r == left ? k / 4 * 4 : 0;
}

/* Rows in groups of `left`: (count / left, k, left); missing rows of the last group are zero. */
static void pack(int64_t count, int64_t k, int left, const float *x, int64_t stride, float *packed)
{
    for (int64_t i = 0; i < count; i += left) {
        int64_t done = count - i >= left ? pack_group(k, x + i * stride, stride, left, packed + i * k) : 0;
        for (int r = 0; r < left; r++) {
            const float *row = x + (i + r) * stride;
            float *out = packed + i * k + r;
            bool there = i + r < count;
            for (int64_t p = done; p < k; p++)
                out[p * left] = there ? row[p] : 0.0f;
        }
    }
}

static void give(const kl_product_out *to, int64_t row, int64_t column, int64_t count, const float *sums)
{
    if (to->take != NULL)
        to->take(to->context, row, column, count, sums);
    else
        memcpy(to->out + row * to->stride + column, sums, (size_t)count * sizeof *sums);
}

/* Panels of a span against packed rows, straight to out where nobody takes them and nothing is cut off. The rows in parts that
 * stay in the second cache while the panels pass by, a panel's part in the first while the rows do; each part goes on with the
 * sums of the one before. */
static void multiply_span(const kl_panels *w, int64_t panel, int64_t row, int64_t count, const float *packed, float *sums, const kl_product_out *to)
{
    const kl_micro *micro = kl_micro_get();
    int64_t first = panel * w->width, columns = w->n - first < span(w->k) ? w->n - first : span(w->k), from = 0;
    bool direct = to->take == NULL && columns % w->width == 0 && count % micro->left32 == 0;
    float *c = direct ? to->out + row * to->stride + first : sums;
    int64_t stride = direct ? to->stride : line(w->k, w->width);
    do {
        int64_t left = w->k - from, part = left < PART + PART / 2 ? left : PART; /* a short rest goes with the part before it */
        for (int64_t q = panel, j = 0; j < columns; q++, j += w->width) {
            const float *b = w->packed + place_of(w, q) + from * w->width;
            int64_t deep = depth_of(w, q) - from < part ? depth_of(w, q) - from : part;
            for (int64_t r = 0; deep > 0 && r < count; r += micro->left32)
                micro->product32(deep, packed + r * w->k + from * micro->left32, b, from > 0, c + r * stride + j, stride);
        }
        from += part;
    } while (from < depth_of(w, panel + (columns - 1) / w->width));
    for (int64_t r = 0; !direct && r < count; r++) {
        for (int64_t j = 0; j < columns; j += LINE)
            __builtin_prefetch(sums + (r + 2) * stride + j);
        give(to, row + r, first, columns, sums + r * stride);
    }
}

/* Some entries of a row against panels q .. */
static void multiply_row(const kl_panels *w, int64_t q, int64_t row, int64_t count, const int32_t *column, const float *value, const kl_product_out *to)
{
    int64_t panels = panel_count(w), panel_stride = w->k * w->width;
    int here = panels - q < KL_MICRO_PANELS ? (int)(panels - q) : KL_MICRO_PANELS;
    int64_t first = q * w->width, width = w->n - first < here * w->width ? w->n - first : here * w->width;
    float sum[KL_MICRO_PANELS * KL_MICRO_WIDEST];
    kl_micro_get()->sparse32(count, column, value, w->packed + q * panel_stride, panel_stride, here, sum);
    give(to, row, first, width, sum);
}

/* The same of a panel that is as deep as its last column. */
static void multiply_lower_row(const kl_panels *w, int64_t q, int64_t row, int64_t count, const int32_t *column, const float *value, const kl_product_out *to)
{
    float sum[KL_MICRO_WIDEST];
    int64_t first = q * w->width;
    while (count > 0 && column[count - 1] >= depth_of(w, q))
        count--;
    kl_micro_get()->sparse32(count, column, value, w->packed + place_of(w, q), 0, 1, sum);
    give(to, row, first, w->n - first < w->width ? w->n - first : w->width, sum);
}

/* Rows that are far fewer than a group, as sparse ones, their zeros left out: the same sums, bound by reading the weights once instead of by products with rows
 * that are not there. scratch: columns and values of each. */
static void multiply_few(const kl_panels *w, int64_t rows, const float *x, int64_t stride, const kl_product_out *to, void *scratch)
{
    int64_t count[KL_MICRO_LEFT] = {0};
    int32_t *column = scratch;
    float *value = (float *)scratch + rows * w->k;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < w->k; j++) {
            column[i * w->k + count[i]] = (int32_t)j;
            value[i * w->k + count[i]] = x[i * stride + j];
            count[i] += x[i * stride + j] != 0;
        }
    for (int64_t q = 0; q < panel_count(w); q += w->lower ? 1 : KL_MICRO_PANELS)
        for (int64_t i = 0; i < rows; i++)
            (w->lower ? multiply_lower_row : multiply_row)(w, q, i, count[i], column + i * w->k, value + i * w->k, to);
}

/* Floats of a row before its first line, or -1: rows do not all begin alike, or their sums are not made in one part. */
static int64_t cut_of(const kl_panels *w, const kl_pairs *to)
{
    if (to->cosine == NULL || kl_micro_get()->product_pairs == NULL || w->k >= PART + PART / 2 || w->n != to->count || w->n % w->width != 0 || to->stride % LINE != 0)
        return -1;
    return kl_pairs_cut(to->cosine);
}

/* Packed rows in whole groups, from the registers to where their pairs go. */
static void multiply_pairs(const kl_panels *w, int64_t row, int64_t count, const float *packed, float *ends, const kl_pairs *to, int64_t cut)
{
    const kl_micro *micro = kl_micro_get();
    kl_pairs rows = *to;
    rows.cosine += row * to->stride;
    for (int64_t q = 0, j = 0; j < w->n; q++, j += w->width)
        for (int64_t r = 0; r < count; r += micro->left32) {
            kl_pairs group = rows;
            group.cosine += r * to->stride;
            micro->product_pairs(w->k, packed + r * w->k, w->packed + place_of(w, q), &group, j, cut, ends + r * KL_PAIRS_ENDS);
        }
    micro->pairs_ends(count, &rows, cut, ends);
}

void kl_product_dense(const kl_panels *w, int64_t rows, const float *x, int64_t stride, const kl_product_out *to, void *scratch)
{
    const kl_micro *micro = kl_micro_get();
    int64_t most = rows_at_once(w->k), cut = cut_of(w, &to->pairs);
    float *packed = scratch, *sums = packed + packed_floats(most, w->k);
    if (rows * 4 < micro->left32) {
        multiply_few(w, rows, x, stride, to, scratch);
        return;
    }
    for (int64_t i = 0; i < rows; i += most) {
        int64_t count = rows - i < most ? rows - i : most, done = cut < 0 ? 0 : count / micro->left32 * micro->left32;
        pack(count, w->k, micro->left32, x + i * stride, stride, packed);
        if (done > 0)
            multiply_pairs(w, i, done, packed, sums, &to->pairs, cut);
        for (int64_t q = 0; done < count && q < panel_count(w); q += span(w->k) / w->width)
            multiply_span(w, q, i + done, count - done, packed + done * w->k, sums, to);
    }
}

void kl_product_sparse(const kl_panels *w, int64_t rows, const int64_t *start, const int32_t *column, const float *value, const kl_product_out *to)
{
    for (int64_t q = 0; q < panel_count(w); q += KL_MICRO_PANELS)
        for (int64_t i = 0; i < rows; i++)
            multiply_row(w, q, i, start[i + 1] - start[i], start[i] < start[i + 1] ? column + start[i] : NULL, start[i] < start[i + 1] ? value + start[i] : NULL, to);
}
