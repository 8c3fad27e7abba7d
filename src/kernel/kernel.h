/*
 * kernel.h - the interface of kernels. A kernel knows itself and offers what it has; a map asks for what it needs, so
 * that a new kernel works with every map that fits and a new map with every kernel that fits.
 * One file per kernel family, one line in kernel_list.h. Call order: new, fit (resolves auto), then const and shared.
 * A kernel may be made of two others, compose(exp, gaussian): new makes and owns them.
 */
#ifndef KL_KERNEL_H
#define KL_KERNEL_H

#include "base/param.h"
#include "data/survey.h"
#include "math/random.h"

/* What a kernel can offer. */
enum {
    KL_LINEAR = 1,    /* it is the inner product itself */
    KL_SERIES = 2,    /* Maclaurin coefficients of a function of <x, y>: log_coefficient() */
    KL_SPECTRUM = 4,  /* draws from its spectral density: frequency() */
    KL_RADIAL = 8,    /* on rows of length 1 it is a function of <x, y> alone: value() of any such pair is its profile */
    KL_SIGNATURE = 16,/* additive: a spectrum per column, of the logarithm: quantile() */
    KL_SCALAR = 32,   /* a series of a kernel with a spectrum or a signature: outer and inner */
    KL_ROTATION = 64, /* its spectral density is rotation-invariant: spread() */
    KL_POWER = 128    /* it is (gamma <x, y> + offset)^degree: power() */
};

/* What rows a kernel or a map is for; 0: all. */
enum { KL_UNIT_NORM = 1, KL_NON_NEGATIVE = 2 };

/* Two rows as doubles, with their products. */
typedef struct kl_pair {
    int64_t n;
    const double *x, *y; /* (n) */
    double xy, xx, yy;
} kl_pair;

typedef struct kl_power {
    int64_t degree;
    double gamma, offset;
} kl_power;

typedef struct kl_kernel kl_kernel;

enum { KL_KERNEL_PANEL = 16 };

typedef struct kl_kernel_type kl_kernel_type;
struct kl_kernel_type {
    const char *name, *summary;
    const kl_param *params;
    unsigned offers;
    unsigned domain; /* of the rows: 0, KL_NON_NEGATIVE */
    bool indefinite; /* not positive definite: K of a set of rows may have negative eigenvalues */
    /* (optional) takes two kernels in parentheses, outer and inner: the type that a kernel of these has, which may offer less. NULL
     * with a message when they do not go together */
    const kl_kernel_type *(*compose)(const kl_kernel *outer, const kl_kernel *inner);
    /* (optional) what the ranges of single parameters cannot say */
    klift_status (*check)(const kl_kernel *kernel);
    /* (optional) sets parameters that are words (auto, search) from the prepared sample */
    klift_status (*fit)(kl_kernel *kernel, const kl_survey *survey);
    /* K(scale x, scale y) */
    double (*value)(const kl_kernel *kernel, const kl_pair *pair, double scale);
    /* (optional, at most one of the three) K of many pairs at once; block.c asks, and falls back on value.
     * as a function of squared distances: k (count) from s (count), s >= 0; k may be s */
    void (*of_distances)(const kl_kernel *kernel, int64_t count, const double *s, double *k);
    double (*decay)(const kl_kernel *kernel); /* (optional, with of_distances) its rate, when it is e^(-rate s): decay.h has that in float32 */
    /* as a function of products: from xy (count), |x|^2 and |y|^2 (count); k may be xy */
    void (*of_products)(const kl_kernel *kernel, int64_t count, const double *xy, double xx, const double *yy, double *k);
    /* coordinate by coordinate: k (KL_KERNEL_PANEL) of x (n) and the rows of a panel, y (n, KL_KERNEL_PANEL) */
    void (*of_panel)(const kl_kernel *kernel, int64_t n, const double *x, const float *y, double *k);
    /* KL_SPECTRUM: w (n), frequency number `row` of `rows`, in radians: E cos(w.(x-y)) = (K(x, y) - constant) / height, the mean over
     * the rows too where their laws differ */
    void (*frequency)(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows, int64_t n, double *w);
    /* KL_ROTATION: such a frequency is spread() times a standard normal vector */
    double (*spread)(const kl_kernel *kernel, const kl_random *from, uint32_t row, int64_t rows);
    double (*constant)(const kl_kernel *kernel);                      /* (optional) what no wave has; without it 0 */
    double (*height)(const kl_kernel *kernel);                        /* (optional) K(0) - constant; without it 1 */
    /* (optional) where rows have laws of their own: the mean of (E cos(w_row.(x-y)))^2 over them; without it all are alike */
    double (*mean_square)(const kl_kernel *kernel, const kl_pair *pair, int64_t rows);
    /* (optional) E cos(w1.d) cos(w2.d), d = x - y, for two frequencies of one block of `block` orthogonal directions */
    double (*block_moment)(const kl_kernel *kernel, const kl_pair *pair, int64_t block);
    /* KL_SERIES: K(x, y) = p(|x|^2) f(<x, y>) p(|y|^2), f(t) = sum of a_n t^n, a_n >= 0.
     * log a_n, -INFINITY where it is 0: a_n itself may be too large or too small for a double where a_n t^n is not */
    double (*log_coefficient)(const kl_kernel *kernel, int64_t n);
    int64_t (*degree)(const kl_kernel *kernel);                       /* (optional) the last n with a_n > 0; without it there is none */
    double (*radius)(const kl_kernel *kernel);                        /* (optional) f(t) is for |t| below it; without it for every t */
    double (*log_prefactor)(const kl_kernel *kernel, double square);  /* (optional) log p(square); without it p = 1 */
    /* KL_SIGNATURE: K(x, y) = sum of k(x_i, y_i), k(x, y) = sqrt(x y) E cos(l ln(x / y)): k of x and y above 0, the density and the
     * quantiles of |l| */
    double (*of_column)(double x, double y);
    double (*law)(const kl_kernel *kernel, double l);
    double (*quantile)(const kl_kernel *kernel, double u);
    /* KL_POWER */
    kl_power (*power)(const kl_kernel *kernel);
};

struct kl_kernel {
    const kl_kernel_type *type;
    kl_kernel *outer, *inner; /* owned: the kernels in parentheses, or NULL */
    kl_value value[KL_PARAMS_MAX];
};

klift_status kl_kernel_new(const char *text, kl_kernel **kernel);
klift_status kl_kernel_copy(const kl_kernel *kernel, kl_kernel **copy);
void kl_kernel_free(kl_kernel *kernel);
klift_status kl_kernel_fit(kl_kernel *kernel, const kl_survey *survey);
/* The first parameter that still is a word and not a choice: KLIFT_USAGE when the kernel was not fitted. */
klift_status kl_kernel_ready(const kl_kernel *kernel);
/* The kernel, or the one inside it, that has a parameter given as `search`, and its number; NULL when there is none. */
kl_kernel *kl_kernel_searched(kl_kernel *kernel, int64_t *param);
void kl_kernel_name(const kl_kernel *kernel, kl_text *text);  /* without parameters: compose(exp, gaussian) */
void kl_kernel_print(const kl_kernel *kernel, kl_text *text); /* canonical form */
void kl_pair_set(kl_pair *pair, int64_t n, const double *x, const double *y);
double kl_kernel_value(const kl_kernel *kernel, const kl_pair *pair);

const kl_kernel_type *kl_kernel_type_at(int64_t index); /* NULL at the end */
const char *kl_kernel_name_at(int64_t index, const void *context);

double kl_pair_distance(const kl_pair *pair); /* |x - y|, from the differences: no cancellation */

/* domain.c: what rows it is for. The survey's, when it is fitted; and any others, prepared, whose columns messages count from `base` */
unsigned kl_domain_of(const kl_kernel *kernel);
klift_status kl_domain_check(const kl_kernel *kernel, const kl_survey *survey);
klift_status kl_domain_check_rows(const kl_kernel *kernel, const kl_batch *rows, int64_t base);

/* expansion.c: what is common to kernels with a series */
int64_t kl_expansion_degree(const kl_kernel *kernel); /* the last n with a_n > 0, or -1 when there is none */
double kl_expansion_radius(const kl_kernel *kernel);  /* INFINITY when every product will do */
/* K(x, y) from the products alone, for a kernel that offers KL_SERIES */
double kl_expansion_value(const kl_kernel *kernel, double xy, double xx, double yy);
/* Rows up to this length lie inside the radius and have values that float32 features can carry. */
klift_status kl_expansion_check(const kl_kernel *kernel, double norm_max);

/* bandwidth.c: median distance of pairs of sample rows, Euclidean or (taxicab) the sum of absolute differences */
klift_status kl_bandwidth_median(const kl_survey *survey, bool taxicab, double *distance);
/* mean Euclidean distance of the same pairs */
klift_status kl_bandwidth_mean(const kl_survey *survey, double *distance);

#endif
