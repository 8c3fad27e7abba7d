/*
 * factor_body.h - Cholesky factorisation and solves over tiles for one kind of number; factor.c includes it for double,
 * factor32.c for float, each after defining REAL, TILES, MATRIX_AT, FACTOR, SOLVE, LEFT, WIDTH, FORWARD, BELOW, ABOVE and subtract_block.
 *   for k: L_kk = chol(A_kk);  L_ik = A_ik L_kk^-T (i > k);  A_ij -= L_ik L_jk' (i >= j > k)
 * The pool's tasks of one step are halves of L_ik, which leave them packed for the updates, and then the tiles A_ij, of which the first is the next
 * one on the diagonal and is factored at once, while the others are still updated. Inside a tile everything is blocked by 64 and built on one
 * packed product. The last tile is padded by an identity, so that every tile is full.
 */
enum { BLOCK = 64, GROUP = KL_MICRO_GROUP };

typedef struct work {
    TILES *a;
    int64_t step, failed; /* failed: a column, or -1 */
    REAL *scratch;        /* per worker */
    REAL *left, *right;   /* (count, panels_of): L_ik of the present step for both sides of a product */
} work;

static int64_t scratch_of(int64_t edge)
{
    return 2 * (edge + KL_MICRO_WIDEST) * edge;
}

/* Room for the panels of a tile. */
static int64_t panels_of(int64_t edge)
{
    return (edge + KL_MICRO_WIDEST) * edge;
}

/* Rows of a row-major operand (m, k) in panels of `width` rows: (m / width, k, width); missing ones are zero. */
static void pack(int64_t m, int64_t k, const REAL *a, int64_t stride, int64_t width, REAL *panel)
{
    enum { STEP = 8 }; /* divides k; so many columns at a time: what is written stays in the first cache */
    for (int64_t i = 0; i < m; i += width)
        for (int64_t p = 0; p < k; p += STEP)
            for (int64_t r = 0; r < width; r++)
                for (int64_t q = p; q < p + STEP; q++)
                    panel[i * k + q * width + r] = i + r < m ? a[(i + r) * stride + q] : 0;
}

/* c (m, n) -= a b', of panels */
static void subtract_packed(const kl_micro *micro, int64_t m, int64_t n, int64_t k, const REAL *a, const REAL *b, REAL *c, int64_t stride)
{
    int64_t left = micro->LEFT, width = micro->WIDTH, band = BLOCK / left * left;
    for (int64_t top = 0; top < m; top += band) /* whose operand stays in the second cache while all columns pass by */
        for (int64_t j = 0; j < n; j += width)
            for (int64_t i = top; i < m && i < top + band; i += left)
                subtract_block(micro, k, a + i * k, b + j * k, m - i, n - j, c + i * stride + j, stride);
}

/* c (m, n) -= a (m, k) b (n, k)' */
static void subtract(int64_t m, int64_t n, int64_t k, const REAL *a, const REAL *b, REAL *c, int64_t stride, REAL *scratch)
{
    const kl_micro *micro = kl_micro_get();
    if (k == 0 || m == 0)
        return;
    int64_t left = micro->LEFT, width = micro->WIDTH;
    REAL *packed = scratch, *right = scratch + (m + left - 1) / left * left * k;
    pack(m, k, a, stride, left, packed);
    pack(n, k, b, stride, width, right);
    subtract_packed(micro, m, n, k, packed, right, c, stride);
}

/* x (m, n) := x l^-T for a small lower triangular l (n, n): GROUP rows at a time, transposed, by forward substitution */
static void divide_block(int64_t m, int64_t n, const REAL *l, REAL *x, int64_t stride)
{
    REAL columns[BLOCK * GROUP];
    for (int64_t i = 0; i < m; i += GROUP) {
        for (int64_t j = 0; j < n; j++)
            for (int64_t g = 0; g < GROUP; g++)
                columns[j * GROUP + g] = x[(i + g) * stride + j];
        kl_micro_get()->FORWARD(n, l, stride, columns);
        for (int64_t j = 0; j < n; j++)
            for (int64_t g = 0; g < GROUP; g++)
                x[(i + g) * stride + j] = columns[j * GROUP + g];
    }
}

/* Unblocked Cholesky of the leading n columns; the column that fails, or -1. */
static int64_t factor_block(int64_t n, REAL *a, int64_t stride)
{
    for (int64_t j = 0; j < n; j++) {
        REAL pivot = a[j * stride + j];
        for (int64_t p = 0; p < j; p++)
            pivot -= a[j * stride + p] * a[j * stride + p];
        if (!(pivot > 0) || !isfinite(pivot))
            return j;
        pivot = (REAL)sqrt((double)pivot);
        a[j * stride + j] = pivot;
        for (int64_t i = j + 1; i < n; i++) {
            REAL sum = a[i * stride + j];
            for (int64_t p = 0; p < j; p++)
                sum -= a[i * stride + p] * a[j * stride + p];
            a[i * stride + j] = sum / pivot;
        }
    }
    return -1;
}

static int64_t factor_tile(REAL *a, int64_t edge, REAL *scratch)
{
    for (int64_t b = 0; b < edge; b += BLOCK) {
        int64_t width = edge - b < BLOCK ? edge - b : BLOCK, below = edge - b;
        subtract(below, width, b, a + b * edge, a + b * edge, a + b * edge + b, edge, scratch);
        int64_t failed = factor_block(width, a + b * edge + b, edge);
        if (failed >= 0)
            return b + failed;
        divide_block(below - width, width, a + b * edge + b, a + (b + width) * edge + b, edge);
    }
    return -1;
}

/* Some rows of L_ik, two tasks a tile. */
static klift_status divide_task(void *context, int64_t index, int worker)
{
    work *w = context;
    int64_t edge = w->a->edge, k = w->step, i = k + 1 + index / 2, half = edge / 2 / GROUP * GROUP, rows = index % 2 == 0 ? half : edge - half;
    REAL *scratch = w->scratch + worker * scratch_of(edge);
    const REAL *l = MATRIX_AT(w->a, k, k);
    REAL *x = MATRIX_AT(w->a, i, k) + (index % 2 == 0 ? 0 : half * edge);
    for (int64_t b = 0; b < edge; b += BLOCK) {
        int64_t width = edge - b < BLOCK ? edge - b : BLOCK;
        subtract(rows, width, b, x, l + b * edge, x + b, edge, scratch);
        divide_block(rows, width, l + b * edge + b, x + b, edge);
    }
    return KLIFT_OK;
}

/* L_ik in panels, for one side of a product or the other. */
static klift_status pack_task(void *context, int64_t index, int worker)
{
    work *w = context;
    int64_t edge = w->a->edge, i = w->step + 1 + index / 2;
    (void)worker;
    if (index % 2 == 0)
        pack(edge, edge, MATRIX_AT(w->a, i, w->step), edge, kl_micro_get()->LEFT, w->left + i * panels_of(edge));
    else
        pack(edge, edge, MATRIX_AT(w->a, i, w->step), edge, kl_micro_get()->WIDTH, w->right + i * panels_of(edge));
    return KLIFT_OK;
}

static void factor_diagonal(work *w, int64_t k, int worker)
{
    int64_t failed = factor_tile(MATRIX_AT(w->a, k, k), w->a->edge, w->scratch + worker * scratch_of(w->a->edge));
    if (failed >= 0)
        w->failed = k * w->a->edge + failed;
}

static klift_status update_task(void *context, int64_t index, int worker)
{
    work *w = context;
    int64_t edge = w->a->edge, k = w->step, row = 0;
    while ((row + 1) * (row + 2) / 2 <= index)
        row++;
    int64_t i = k + 1 + row, j = k + 1 + index - row * (row + 1) / 2;
    subtract_packed(kl_micro_get(), edge, edge, edge, w->left + i * panels_of(edge), w->right + j * panels_of(edge), MATRIX_AT(w->a, i, j), edge);
    if (index == 0)
        factor_diagonal(w, k + 1, worker);
    return KLIFT_OK;
}

/* Ones on the diagonal behind the matrix: the padding factors to itself. */
static void pad(TILES *a)
{
    REAL *last = MATRIX_AT(a, a->count - 1, a->count - 1);
    for (int64_t r = a->n - (a->count - 1) * a->edge; r < a->edge; r++)
        last[r * a->edge + r] = 1;
}

klift_status FACTOR(TILES *a, klift_run *run, int64_t *failed)
{
    work w = {.a = a, .failed = -1};
    int64_t panels = a->count > 1 ? a->count * panels_of(a->edge) : 0, scratch = kl_run_threads(run) * scratch_of(a->edge);
    REAL *own = NULL;
    klift_status status = KLIFT_OK;
    *failed = -1;
    if (a->count == 0)
        return KLIFT_OK;
    if (run == NULL)
        KL_GO(kl_new_bare(&own, scratch + 2 * panels, sizeof *own, "the factorisation"));
    else /* factors come in rows, and fresh pages cost more than what is done to them */
        KL_GO(kl_run_scratch(run, KL_SCRATCH_FACTOR, (scratch + 2 * panels) * (int64_t)sizeof *w.scratch, &w.scratch));
    w.scratch = run == NULL ? own : w.scratch;
    w.left = w.scratch + scratch;
    w.right = w.left + panels;
    pad(a);
    factor_diagonal(&w, 0, 0);
    for (w.step = 0; w.step + 1 < a->count && w.failed < 0; w.step++) {
        int64_t left = a->count - 1 - w.step;
        KL_GO(kl_run_parallel(run, 2 * left, divide_task, &w));
        KL_GO(kl_run_parallel(run, 2 * left, pack_task, &w));
        KL_GO(kl_run_parallel(run, left * (left + 1) / 2, update_task, &w));
    }
    *failed = w.failed;
done:
    kl_free(own);
    return status;
}

typedef struct solving {
    const TILES *a;
    int64_t m;
    REAL *b;         /* (n, m) */
    REAL *columns;   /* per worker: (padded n, GROUP) */
} solving;

static void forward(const TILES *a, int64_t first_tile, REAL *x)
{
    int64_t edge = a->edge;
    for (int64_t i = first_tile; i < a->count; i++) {
        for (int64_t j = first_tile; j < i; j++)
            kl_micro_get()->BELOW(edge, edge, MATRIX_AT(a, i, j), edge, x + j * edge * GROUP, x + i * edge * GROUP);
        kl_micro_get()->FORWARD(edge, MATRIX_AT(a, i, i), edge, x + i * edge * GROUP);
    }
}

/* x (edge, GROUP) := l^-T x with a tile on the diagonal: blocks of rows from the last one up */
static void backward_tile(int64_t edge, const REAL *l, REAL *x)
{
    int64_t end = edge;
    for (int64_t top = (edge - 1) / BLOCK * BLOCK; top >= 0; end = top, top -= BLOCK) {
        for (int64_t r = end - 1; r >= top; r--) {
            for (int g = 0; g < GROUP; g++)
                x[r * GROUP + g] /= l[r * edge + r];
            for (int64_t p = top; p < r; p++)
                for (int g = 0; g < GROUP; g++)
                    x[p * GROUP + g] -= l[r * edge + p] * x[r * GROUP + g];
        }
        kl_micro_get()->ABOVE(end - top, top, l + top * edge, edge, x + top * GROUP, x);
    }
}

/* The transposed diagonal, then x_j -= L_ij' x_i, from the last tile up */
static void backward(const TILES *a, REAL *x)
{
    int64_t edge = a->edge;
    for (int64_t i = a->count - 1; i >= 0; i--) {
        REAL *xi = x + i * edge * GROUP;
        backward_tile(edge, MATRIX_AT(a, i, i), xi);
        for (int64_t j = 0; j < i; j++)
            kl_micro_get()->ABOVE(edge, edge, MATRIX_AT(a, i, j), edge, xi, x + j * edge * GROUP);
    }
}

static klift_status solve_task(void *context, int64_t index, int worker)
{
    solving *s = context;
    int64_t n = s->a->n, padded = s->a->count * s->a->edge, first = index * GROUP;
    int64_t width = s->m - first < GROUP ? s->m - first : GROUP;
    REAL *x = s->columns + worker * padded * GROUP;
    for (int64_t r = 0; r < padded; r++)
        for (int g = 0; g < GROUP; g++)
            x[r * GROUP + g] = r < n && g < width ? s->b[r * s->m + first + g] : 0;
    forward(s->a, 0, x);
    backward(s->a, x);
    for (int64_t r = 0; r < n; r++)
        for (int g = 0; g < width; g++)
            s->b[r * s->m + first + g] = x[r * GROUP + g];
    return KLIFT_OK;
}

static klift_status over_columns(const TILES *a, int64_t tasks, kl_task task, solving *s, klift_run *run)
{
    KL_TRY(kl_new(&s->columns, kl_run_threads(run) * a->count * a->edge * GROUP, sizeof *s->columns, "a triangular solve"));
    klift_status status = kl_run_parallel(run, tasks, task, s);
    kl_free(s->columns);
    return status;
}

klift_status SOLVE(const TILES *a, int64_t m, REAL *b, klift_run *run)
{
    solving s = {.a = a, .m = m, .b = b};
    return over_columns(a, (m + GROUP - 1) / GROUP, solve_task, &s, run);
}
