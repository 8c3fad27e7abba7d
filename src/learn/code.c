/*
 * code.c - error-correcting output codes M (classes x bits, signs) of Dietterich and Bakiri (1995), Allwein et al. (2000). Least squares
 * are linear in their targets, so with S the scores of the class indicators, F = S M are those of the bits: nothing is trained anew.
 *   soft: argmin_k |F - M_k|^2 = argmax_k F.M_k       hamming: argmax_k sign(F).M_k
 * identity 2 I - 1; random and balanced (classes / 2 ones per column): of up to 200 draws the one with the largest least distance;
 * hadamard: the first rows of the matrix of order P, the least power of 2 above the classes, distance P / 2; exhaustive: every
 * column but complements, distance 2^(classes - 2). Constant columns, which say nothing, are left out. Where M M' = alpha I + beta 11'
 * (identity, hadamard, exhaustive) soft decoding is one class against the rest.
 * Call order: kl_code_new or kl_code_load, kl_code_apply once, kl_code_scores per row, kl_code_clear.
 */
#include "learn/code.h"

#include "base/memory.h"
#include "math/random.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"none", "identity", "random", "balanced", "hadamard", "exhaustive"};
static const char *const decode_names[] = {"soft", "hamming"};

enum { DRAWS = 200, PAIRS_OF_DRAWS = 200 * 1000 * 1000, BITS_PER_DOUBLING = 50 };

static int64_t doublings(int64_t classes) /* ceil(log2 classes) */
{
    int64_t count = 0;
    while (INT64_C(1) << count < classes)
        count++;
    return count;
}

static int64_t order_of(int64_t classes) /* of the Hadamard matrix */
{
    return INT64_C(1) << doublings(classes + 1);
}

/* Columns of H_P that are constant over the first rows: those of the bits that no row has. */
static bool constant_over(int64_t column, int64_t classes)
{
    return column % (INT64_C(1) << doublings(classes)) == 0;
}

static bool drawn(kl_code_kind kind)
{
    return kind == KL_CODE_RANDOM || kind == KL_CODE_BALANCED;
}

static int64_t own_bits(kl_code_kind kind, int64_t classes)
{
    if (kind == KL_CODE_IDENTITY)
        return classes;
    if (kind == KL_CODE_EXHAUSTIVE)
        return (INT64_C(1) << (classes - 1)) - 1;
    if (drawn(kind))
        return BITS_PER_DOUBLING * doublings(classes);
    int64_t bits = 0;
    for (int64_t j = 1; j < order_of(classes); j++)
        bits += !constant_over(j, classes);
    return bits;
}

static klift_status choose_bits(kl_code_kind kind, int64_t classes, int64_t bits, int64_t *chosen)
{
    const char *name = kl_code_name(kind);
    long long k = classes, given = bits;
    if (classes < 2)
        return kl_fail(KLIFT_DATA, "code=%s needs at least two classes, the rows have %lld; leave code out", name, k);
    if (kind == KL_CODE_EXHAUSTIVE && classes > KL_CODE_MOST_EXHAUSTIVE)
        return kl_fail(KLIFT_USAGE, "code=exhaustive is for at most %d classes, the rows have %lld; say code=random or code=hadamard", KL_CODE_MOST_EXHAUSTIVE, k);
    *chosen = bits == 0 ? own_bits(kind, classes) : bits;
    if (*chosen < doublings(classes))
        return kl_fail(KLIFT_USAGE, "bits=%lld are too few to tell %lld classes apart, code=%s needs at least %lld; leave bits out, or say more", given, k, name, (long long)doublings(classes));
    if (!drawn(kind) && *chosen != own_bits(kind, classes))
        return kl_fail(KLIFT_USAGE, "code=%s of %lld classes has %lld bits, not bits=%lld; leave bits out, or say code=random", name, k, (long long)own_bits(kind, classes), given);
    if (*chosen > KL_CODE_MOST_BITS)
        return kl_fail(KLIFT_USAGE, "code=%s of %lld classes has %lld bits, the most are %d; say code=random", name, k, (long long)*chosen, KL_CODE_MOST_BITS);
    return KLIFT_OK;
}

static void fill(kl_code *code)
{
    int64_t bit = 0;
    for (int64_t column = code->kind == KL_CODE_IDENTITY ? 0 : 1; bit < code->bits; column++) {
        if (code->kind == KL_CODE_HADAMARD && constant_over(column, code->classes))
            continue;
        for (int64_t k = 0; k < code->classes; k++) {
            int8_t *sign = &code->sign[k * code->bits + bit];
            if (code->kind == KL_CODE_IDENTITY)
                *sign = k == column ? 1 : -1;
            else if (code->kind == KL_CODE_HADAMARD)
                *sign = __builtin_parityll((unsigned long long)(k & column)) ? -1 : 1;
            else
                *sign = k > 0 && column >> (k - 1) & 1 ? -1 : 1;
        }
        bit++;
    }
}

typedef struct drawing {
    float *sign;    /* (classes) of a random column */
    int32_t *place; /* (classes) of a balanced one */
} drawing;

/* One matrix; constant columns are drawn again from the next row of numbers. */
static void draw(kl_code *code, const kl_random *from, const drawing *d)
{
    int64_t k = code->classes, bit = 0;
    for (uint32_t row = 0; bit < code->bits; row++) {
        int64_t ones = 0;
        if (code->kind == KL_CODE_BALANCED) {
            kl_random_permutation(from, row, k, d->place);
            for (int64_t i = 0; i < k; i++)
                d->sign[d->place[i]] = i < k / 2 ? 1 : -1;
        } else
            kl_random_signs(from, row, k, d->sign);
        for (int64_t i = 0; i < k; i++) {
            code->sign[i * code->bits + bit] = d->sign[i] > 0 ? 1 : -1;
            ones += d->sign[i] > 0;
        }
        bit += ones > 0 && ones < k;
    }
}

static int64_t difference(const int8_t *a, const int8_t *b, int64_t bits)
{
    int64_t count = 0;
    for (int64_t j = 0; j < bits; j++)
        count += a[j] != b[j];
    return count;
}

/* The least distance; no more than `enough` when it is not above that: a draw that cannot win is soon left. */
static int64_t distance_above(const kl_code *code, int64_t enough)
{
    int64_t least = code->bits;
    for (int64_t i = 1; i < code->classes; i++)
        for (int64_t j = 0; j < i; j++) {
            int64_t d = difference(code->sign + i * code->bits, code->sign + j * code->bits, code->bits);
            least = d < least ? d : least;
            if (least <= enough)
                return least;
        }
    return least;
}

static klift_status draw_best(kl_code *code, uint64_t seed)
{
    kl_code trial = *code;
    drawing d = {0};
    int64_t best = 0, k = code->classes, most = k > 1000 ? PAIRS_OF_DRAWS / k / k : DRAWS;
    klift_status status;
    trial.sign = NULL;
    KL_GO(kl_new(&trial.sign, k * code->bits, sizeof *trial.sign, "a code"));
    KL_GO(kl_new(&d.sign, k, sizeof *d.sign, "a code"));
    KL_GO(kl_new(&d.place, k, sizeof *d.place, "a code"));
    for (uint32_t t = 0; t == 0 || t < most; t++) {
        kl_random from = {seed, t, KL_DRAW_CODE};
        draw(&trial, &from, &d);
        int64_t distance = distance_above(&trial, best);
        if (distance > best) {
            int8_t *kept = code->sign;
            code->sign = trial.sign;
            trial.sign = kept;
            best = distance;
        }
    }
    if (best == 0)
        status = kl_fail(KLIFT_USAGE, "with bits=%lld two of the %lld classes have the same bits in every draw of code=%s; say more bits", (long long)code->bits,
                         (long long)k, kl_code_name(code->kind));
done:
    kl_free(trial.sign);
    kl_free(d.sign);
    kl_free(d.place);
    return status;
}

const char *kl_code_name(kl_code_kind kind)
{
    return kind_names[kind];
}

const char *kl_decode_name(kl_decode decode)
{
    return decode_names[decode];
}

klift_status kl_code_new(kl_code_kind kind, int64_t classes, int64_t bits, uint64_t seed, kl_code *code)
{
    int64_t size;
    *code = (kl_code){.kind = kind, .classes = classes};
    KL_TRY(choose_bits(kind, classes, bits, &code->bits));
    if (kl_multiply(classes, code->bits, &size))
        return kl_fail(KLIFT_MEMORY, "no memory for a code of %lld classes and %lld bits; say fewer bits", (long long)classes, (long long)code->bits);
    KL_TRY(kl_new(&code->sign, size, sizeof *code->sign, "a code"));
    klift_status status = KLIFT_OK;
    if (drawn(kind))
        status = draw_best(code, seed);
    else
        fill(code);
    if (status != KLIFT_OK)
        kl_code_clear(code);
    return status;
}

int64_t kl_code_distance(const kl_code *code)
{
    return distance_above(code, -1);
}

/* F_j = sum_k M_kj s_k, and s_k = (f_k + 1) / 2 by the scores f on the -1/+1 scale; of two classes f_0 = -f_1. */
void kl_code_values(const kl_code *code, const double *score, double *value)
{
    bool two = code->classes == 2;
    for (int64_t j = 0; j < code->bits; j++) {
        value[j] = 0;
        for (int64_t k = 0; k < code->classes; k++) {
            double half = 0.5 * code->sign[k * code->bits + j];
            value[j] += half + (two && k == 0 ? -half : half) * score[two ? 0 : k];
        }
    }
}

klift_status kl_code_apply(const kl_code *code, int64_t features, double **w, double **b)
{
    double *coded = NULL, *offset = NULL;
    bool two = code->classes == 2;
    int64_t size;
    klift_status status;
    if (kl_multiply(code->bits, features, &size))
        return kl_fail(KLIFT_MEMORY, "no memory for the weights of %lld bits; say fewer bits", (long long)code->bits);
    KL_GO(kl_new(&coded, size, sizeof *coded, "the weights"));
    KL_GO(kl_new(&offset, code->bits, sizeof *offset, "the weights"));
    for (int64_t j = 0; j < code->bits; j++)
        for (int64_t k = 0; k < code->classes; k++) {
            double half = 0.5 * code->sign[k * code->bits + j], factor = two && k == 0 ? -half : half;
            const double *line = *w + (two ? 0 : k * features);
            for (int64_t p = 0; p < features; p++)
                coded[j * features + p] += factor * line[p];
        }
    kl_code_values(code, *b, offset);
    kl_free(*w);
    kl_free(*b);
    *w = coded;
    *b = offset;
    return KLIFT_OK;
done:
    kl_free(coded);
    kl_free(offset);
    return status;
}

/* How far the bits agree with those of a class: 1 where all do, -1 where none does. */
static double agreement(const kl_code *code, const double *value, int64_t class)
{
    const int8_t *sign = code->sign + class * code->bits;
    double sum = 0;
    for (int64_t j = 0; j < code->bits; j++)
        sum += sign[j] * (code->decode == KL_DECODE_SOFT ? value[j] : (value[j] > 0) - (value[j] < 0));
    return sum / (double)code->bits;
}

void kl_code_scores(const kl_code *code, const double *value, double *score)
{
    if (code->classes == 2) {
        score[0] = (agreement(code, value, 1) - agreement(code, value, 0)) / 2;
        return;
    }
    for (int64_t k = 0; k < code->classes; k++)
        score[k] = agreement(code, value, k);
}

void kl_code_save(const kl_code *code, kl_record_writer *to)
{
    kl_record_put_u32(to, (uint32_t)code->kind);
    kl_record_put_u32(to, (uint32_t)code->decode);
    kl_record_put_i64(to, code->bits);
    for (int64_t k = 0; k < code->classes; k++)
        for (int64_t j = 0; j < code->bits; j += 32) {
            uint32_t word = 0;
            for (int64_t i = j; i < code->bits && i < j + 32; i++)
                word |= (uint32_t)(code->sign[k * code->bits + i] > 0) << (i - j);
            kl_record_put_u32(to, word);
        }
}

static klift_status load_signs(kl_code *code, kl_record_reader *from)
{
    for (int64_t k = 0; k < code->classes; k++)
        for (int64_t j = 0; j < code->bits; j += 32) {
            int64_t used = code->bits - j < 32 ? code->bits - j : 32;
            uint32_t word;
            KL_TRY(kl_record_get_u32(from, &word));
            if (used < 32 && word >> used != 0)
                return kl_record_damaged("its code has bits beyond the last one");
            for (int64_t i = 0; i < used; i++)
                code->sign[k * code->bits + j + i] = word >> i & 1 ? 1 : -1;
        }
    return KLIFT_OK;
}

typedef struct coded_class {
    const int8_t *sign;
    int64_t bits;
} coded_class;

static int by_signs(const void *a, const void *b)
{
    const coded_class *left = a, *right = b;
    return memcmp(left->sign, right->sign, (size_t)left->bits);
}

/* Sorted, so that the many classes of a damaged file do not take their square in time. */
static klift_status check_apart(const kl_code *code)
{
    coded_class *order;
    klift_status status = KLIFT_OK;
    KL_TRY(kl_new(&order, code->classes, sizeof *order, "a code"));
    for (int64_t k = 0; k < code->classes; k++)
        order[k] = (coded_class){code->sign + k * code->bits, code->bits};
    qsort(order, (size_t)code->classes, sizeof *order, by_signs);
    for (int64_t k = 1; k < code->classes && status == KLIFT_OK; k++)
        if (by_signs(&order[k - 1], &order[k]) == 0)
            status = kl_record_damaged("two of its classes have the same code");
    kl_free(order);
    return status;
}

klift_status kl_code_load(kl_code *code, int64_t classes, kl_record_reader *from)
{
    uint32_t kind, decode;
    *code = (kl_code){.classes = classes};
    KL_TRY(kl_record_get_u32(from, &kind));
    KL_TRY(kl_record_get_u32(from, &decode));
    if (kind == KL_CODE_NONE || kind > KL_CODE_EXHAUSTIVE || decode > KL_DECODE_HAMMING)
        return kl_record_damaged("its code is of no known kind");
    KL_TRY(kl_record_get_i64(from, 1, KL_CODE_MOST_BITS, &code->bits));
    code->kind = (kl_code_kind)kind;
    code->decode = (kl_decode)decode;
    if (classes < 2 || (from->end - from->at) / 4 / ((code->bits + 31) / 32) < classes)
        return kl_record_damaged("its code and its classes do not agree");
    KL_TRY(kl_new(&code->sign, classes * code->bits, sizeof *code->sign, "a code"));
    KL_TRY(load_signs(code, from));
    return check_apart(code);
}

void kl_code_clear(kl_code *code)
{
    kl_free(code->sign);
    *code = (kl_code){0};
}
