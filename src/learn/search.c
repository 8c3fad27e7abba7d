/*
 * search.c - lambda by cross-validation from the statistics; reads no data.
 *   regression      held-out squared error, exact:  SSE_f = q_f + n_f b^2 + w'G_f w - 2 w'B_f - 2 b T_f + 2 b w'S_f
 *   classification  0/1 error of the kept rows, each scored by the model of the folds it is not in
 *   gcv             n RSS / (n - df)^2, df = 1 + D - lambda n trace((Gc + lambda n I)^-1)
 * Lambdas lie on the grid spread * 10^(-j/2), spread = trace(Gc)/n: from 1e-4 by decades in both directions until two in a
 * row are no better than the best so far (0/1 errors have local minima); for few features a look at 1e-10 and on from
 * there when it is better; then the half decades beside the best. Ties go to the largest lambda.
 */
#include "learn/ridge.h"

#include "base/memory.h"
#include "math/row.h"

#include <math.h>

/* From this share of the spread on a float32 factor is good enough: its errors, some 1e-7 of the largest eigenvalue, are
 * then far below lambda. Only where the statistics are float32 sums too. */
static const double SINGLE = 0.9e-5;

enum { START = 8, DECADE = 2, PATIENCE = 2, FAR = 20, LAST = 24, CHUNK = 256 };

/* The kept rows in the order of their sets. */
typedef struct kept {
    kl_rows rows;
    int64_t *truth; /* (rows) column of Y */
    int64_t *first; /* (sets + 1) */
    float *z;       /* (rows, features), or NULL */
    double *w, *b;  /* (outputs, features), (outputs): the model of the present lambda on plain z */
} kept;

typedef struct search_state {
    kl_ridge *r;
    kl_search search;
    const kl_lift *lift;
    klift_run *run;
    double spread;
    bool known[LAST + 1];
    double error[LAST + 1], choice[LAST + 1]; /* reported, and minimised */
    int64_t cv_rows;
    kept kept;
    double *tried; /* (rows of r->held, outputs): scores at the present lambda; NULL: not wanted */
} search_state;

/* Sets whose rows are scored: the first ones. */
static int tested_sets(const search_state *st)
{
    return st->search == KL_BY_HOLDOUT ? 1 : st->r->s->sets;
}

/* ---- regression ---- */

/* Held-out squared error of one output on set f, the model without f being in r. */
static double held_out_sse(const kl_ridge *r, int f, int64_t o, const double *gw)
{
    const kl_fold *fold = &r->s->fold[f];
    int64_t t = r->column[o];
    double b = r->b[o], sse = fold->target_square[t] + fold->weight * b * b - 2 * b * fold->target_sum[t];
    for (int64_t p = 0; p < r->s->features; p++) {
        double w = r->w[p * r->outputs + o];
        sse += w * (gw[p * r->outputs + o] - 2 * fold->cross[t][p] + 2 * b * fold->sum[p]);
    }
    return sse > 0 ? sse : 0;
}

/* Sum of squares of column t about its mean, all sets. */
static double total_square(const kl_statistics *s, int64_t t)
{
    double square = 0, sum = 0;
    for (int f = 0; f < s->sets; f++) {
        square += s->fold[f].target_square[t];
        sum += s->fold[f].target_sum[t];
    }
    return square - sum * sum / kl_ridge_weight(s, -1);
}

static klift_status add_squares(search_state *st, int f, double *sse, double *gw)
{
    const kl_ridge *r = st->r;
    KL_TRY(kl_tiles_multiply(&r->s->fold[f].gram, r->outputs, r->w, gw, st->run));
    for (int64_t o = 0; o < r->outputs; o++)
        sse[o] += held_out_sse(r, f, o, gw);
    return KLIFT_OK;
}

/* ---- classification ---- */

typedef struct scoring {
    const search_state *st;
    int64_t from, to; /* of the kept rows */
    float *z;         /* per worker: (CHUNK, features), when they are not there */
    double *wrong;    /* per chunk */
} scoring;

static klift_status gather_kept(search_state *st, kept *k)
{
    const kl_statistics *s = st->r->s;
    kl_batch all = kl_rows_view(&s->kept.rows);
    KL_TRY(kl_new(&k->truth, all.rows, sizeof *k->truth, "kept rows"));
    KL_TRY(kl_new(&k->first, s->sets + 1, sizeof *k->first, "kept rows"));
    KL_TRY(kl_new(&k->w, s->features * st->r->outputs, sizeof *k->w, "kept rows"));
    KL_TRY(kl_new(&k->b, st->r->outputs, sizeof *k->b, "kept rows"));
    for (int f = 0; f < s->sets; f++) {
        for (int64_t i = 0; i < all.rows; i++)
            if (kl_statistics_set_of(s, kl_statistics_key(&all, i, all.label[i])) == f) {
                k->truth[k->rows.rows] = kl_names_find(&s->targets.classes, all.label[i]);
                KL_TRY(kl_rows_add(&k->rows, &all, i, 1));
            }
        k->first[f + 1] = k->rows.rows;
    }
    return KLIFT_OK;
}

static klift_status lift_task(void *context, int64_t task, int worker)
{
    const search_state *st = context;
    int64_t features = st->r->s->features, first = task * CHUNK, left = st->kept.rows.rows - first;
    kl_batch all = kl_rows_view(&st->kept.rows), part = kl_batch_part(&all, first, left < CHUNK ? left : CHUNK);
    return st->lift->apply(st->lift->user, &part, st->kept.z + first * features, features, worker);
}

static klift_status keep_features(search_state *st)
{
    int64_t rows = st->kept.rows.rows, features = st->r->s->features;
    if (rows * features > KL_RIDGE_KEPT)
        return KLIFT_OK;
    KL_TRY(kl_new_bare(&st->kept.z, rows * features, sizeof *st->kept.z, "features of kept rows"));
    return kl_run_parallel(st->run, (rows + CHUNK - 1) / CHUNK, lift_task, st);
}

/* The column of Y that the model gives z; next: the row that comes behind it. */
static int64_t decide(const kl_ridge *r, const kept *k, const float *z, const float *next, double *score)
{
    int64_t features = r->s->features, best = 0;
    kl_row row = {.count = features, .value = z}, later = {.count = features, .value = next};
    kl_row_dots(&row, &later, features, r->outputs, k->w, features, score);
    for (int64_t o = 0; o < r->outputs; o++)
        score[o] += k->b[o];
    if (r->outputs == 1)
        return score[0] > 0.5 ? r->column[0] : 1 - r->column[0];
    for (int64_t o = 1; o < r->outputs; o++)
        if (score[o] > score[best])
            best = o;
    return r->column[best];
}

static klift_status score_task(void *context, int64_t task, int worker)
{
    const scoring *sc = context;
    const search_state *st = sc->st;
    int64_t features = st->r->s->features, first = sc->from + task * CHUNK, left = sc->to - first, count = left < CHUNK ? left : CHUNK;
    kl_batch all = kl_rows_view(&st->kept.rows), part = kl_batch_part(&all, first, count);
    float *z = st->kept.z != NULL ? st->kept.z + first * features : sc->z + worker * CHUNK * features;
    double *own = NULL;
    KL_TRY(kl_new(&own, st->r->outputs, sizeof *own, "scores"));
    klift_status status = st->kept.z != NULL ? KLIFT_OK : st->lift->apply(st->lift->user, &part, z, features, worker);
    for (int64_t i = 0; status == KLIFT_OK && i < count; i++) {
        double *score = st->tried != NULL ? st->tried + (first + i) * st->r->outputs : own;
        if (decide(st->r, &st->kept, z + i * features, z + (i + 1 < count ? i + 1 : i) * features, score) != st->kept.truth[first + i])
            sc->wrong[task] += part.weight[i];
    }
    kl_free(own);
    return status;
}

static klift_status add_wrong(search_state *st, int f, double *wrong, double *weight)
{
    kl_batch view = kl_rows_view(&st->kept.rows);
    scoring sc = {.st = st, .from = st->kept.first[f], .to = st->kept.first[f + 1]};
    int64_t chunks = (sc.to - sc.from + CHUNK - 1) / CHUNK;
    klift_status status = KLIFT_OK;
    kl_ridge_plain(st->r, st->kept.w, st->kept.b);
    if (st->kept.z == NULL)
        KL_GO(kl_new_bare(&sc.z, kl_run_threads(st->run) * CHUNK * st->r->s->features, sizeof *sc.z, "features of kept rows"));
    KL_GO(kl_new(&sc.wrong, chunks, sizeof *sc.wrong, "kept rows"));
    KL_GO(kl_run_parallel(st->run, chunks, score_task, &sc));
    for (int64_t c = 0; c < chunks; c++)
        *wrong += sc.wrong[c];
    for (int64_t i = sc.from; i < sc.to; i++)
        *weight += view.weight[i];
    st->cv_rows += sc.to - sc.from;
done:
    kl_free(sc.z);
    kl_free(sc.wrong);
    return status;
}

/* ---- one lambda ---- */

/* Error of the folds' models: mean squared error per target, or the share of wrong kept rows. */
static klift_status try_folds(search_state *st, double lambda, double *error, double *choice)
{
    kl_ridge *r = st->r;
    const kl_statistics *s = r->s;
    int tested = tested_sets(st);
    double *sse = NULL, *gw = NULL, wrong = 0, weight = 0, held = 0;
    klift_status status = KLIFT_OK;
    KL_GO(kl_new(&sse, r->outputs, sizeof *sse, "the search"));
    KL_GO(kl_new(&gw, s->features * r->outputs, sizeof *gw, "the search"));
    st->cv_rows = 0;
    for (int f = 0; f < tested; f++) {
        if (!(s->fold[f].weight > 0))
            continue;
        r->single = s->features > KL_TILES_EXACT && lambda >= SINGLE * st->spread;
        KL_GO(kl_ridge_model(r, f, lambda, st->run));
        held += s->fold[f].weight;
        KL_GO(s->goal == KL_REGRESS ? add_squares(st, f, sse, gw) : add_wrong(st, f, &wrong, &weight));
    }
    *error = *choice = 0;
    if (s->goal == KL_CLASSIFY)
        *error = *choice = weight > 0 ? wrong / weight : NAN;
    for (int64_t o = 0; s->goal == KL_REGRESS && o < r->outputs; o++) {
        double square = total_square(s, r->column[o]);
        *error += sse[o] / held / (double)r->outputs;
        *choice += square > 0 ? sse[o] / square : 0; /* targets of different scales count alike */
    }
done:
    kl_free(sse);
    kl_free(gw);
    return status;
}

static klift_status try_gcv(search_state *st, double lambda, double *error)
{
    kl_ridge *r = st->r;
    const kl_statistics *s = r->s;
    double n = kl_ridge_weight(s, -1), trace, rss = 0, *gw = NULL;
    klift_status status = KLIFT_OK;
    KL_GO(kl_new(&gw, s->features * r->outputs, sizeof *gw, "the search"));
    KL_GO(kl_ridge_model(r, -1, lambda, st->run));
    KL_GO(kl_tiles_inverse_trace(&r->a, st->run, &trace));
    KL_GO(kl_tiles_multiply(&s->fold[0].gram, r->outputs, r->w, gw, st->run));
    for (int64_t o = 0; o < r->outputs; o++)
        rss += held_out_sse(r, 0, o, gw); /* the rows are their own held-out set: the training residual */
    double free_rows = n - 1 - (double)s->features + lambda * n * trace;
    *error = free_rows > 0 ? n * rss / (free_rows * free_rows) / (double)r->outputs : INFINITY;
done:
    kl_free(gw);
    return status;
}

static klift_status try_lambda(search_state *st, double lambda, double *error, double *choice)
{
    if (st->search != KL_BY_GCV)
        return try_folds(st, lambda, error, choice);
    KL_TRY(try_gcv(st, lambda, error));
    *choice = *error;
    return KLIFT_OK;
}

/* ---- scores for probabilities ---- */

/* A place for every kept row that will be scored. */
static klift_status gather_held(search_state *st, const kl_names *classes)
{
    kl_batch rows = kl_rows_view(&st->kept.rows);
    int64_t tested = st->kept.first[tested_sets(st)];
    for (int64_t i = 0; i < tested; i++)
        KL_TRY(kl_held_add(st->r->held, NULL, kl_names_find(classes, rows.label[i]), rows.weight[i]));
    return kl_new(&st->tried, st->r->held->score_room, sizeof *st->tried, "scores");
}

/* After a lambda that is the best so far: its scores go to held, and their place is free for the next one tried. */
static void keep_scores(search_state *st)
{
    double *scores = st->tried;
    if (scores == NULL)
        return;
    st->tried = st->r->held->score;
    st->r->held->score = scores;
}

/* ---- the walk over the grid ---- */

static double grid(const search_state *st, int j)
{
    return st->spread * pow(10, -0.5 * j);
}

static int best_so_far(const search_state *st)
{
    int best = -1;
    for (int j = 0; j <= LAST; j++) /* small j is large lambda: ties stay there */
        if (st->known[j] && (best < 0 || st->choice[j] < st->choice[best]))
            best = j;
    return best;
}

static klift_status visit(search_state *st, int j)
{
    if (j < 0 || j > LAST || st->known[j])
        return KLIFT_OK;
    KL_TRY(try_lambda(st, grid(st, j), &st->error[j], &st->choice[j]));
    if (isnan(st->choice[j]))
        return kl_fail(KLIFT_DATA, "no row could be held out: too few rows for cross-validation; say lambda=NUMBER");
    st->known[j] = true;
    if (best_so_far(st) == j)
        keep_scores(st);
    return kl_run_progress(st->run, "search", 0, 0, st->error[j]);
}

/* A larger lambda whose 0/1 error is far above the best's (six standard errors): an even larger one need not be tried. */
static bool is_hopeless(const search_state *st, int j, int step)
{
    int best = best_so_far(st);
    double rows = (double)st->cv_rows, error = fmax(st->error[best], 1 / fmax(rows, 1));
    return step < 0 && j != best && rows > 0 && st->error[j] - st->error[best] > 6 * sqrt(error * (1 - error) / rows);
}

/* Decades from one in one direction, until PATIENCE of them in a row have not become the best. */
static klift_status go(search_state *st, int from, int step)
{
    for (int j = from + step, misses = 0; j >= 0 && j <= LAST && misses < PATIENCE; j += step) {
        KL_TRY(visit(st, j));
        misses = best_so_far(st) == j ? 0 : misses + 1;
        if (is_hopeless(st, j, step))
            break;
    }
    return KLIFT_OK;
}

static klift_status walk(search_state *st)
{
    KL_TRY(visit(st, START));
    KL_TRY(go(st, START, -DECADE));
    KL_TRY(go(st, START, DECADE));
    if (st->r->s->features <= KL_TILES_EXACT) { /* one look at the far end, which costs little here: a kernel that is far too wide needs it */
        KL_TRY(visit(st, FAR));
        if (best_so_far(st) == FAR) {
            KL_TRY(go(st, FAR, -DECADE));
            KL_TRY(go(st, FAR, DECADE));
        }
    }
    int best = best_so_far(st);
    KL_TRY(visit(st, best - 1));
    return visit(st, best + 1);
}

/* Fills weights by the search, or by one lambda that was given. */
static klift_status choose(search_state *st, double lambda, kl_weights *weights)
{
    if (!isnan(lambda)) {
        double choice;
        KL_TRY(try_lambda(st, lambda, &weights->cv_error, &choice));
        keep_scores(st);
        weights->path[weights->path_points++] = (kl_path_point){lambda, weights->cv_error};
        weights->cv_rows = st->cv_rows;
        return KLIFT_OK;
    }
    if (!(st->spread > 0))
        return kl_fail(KLIFT_DATA, "all rows have the same features: there is nothing to learn; say lambda=NUMBER to train a constant");
    KL_TRY(walk(st));
    int best = best_so_far(st);
    weights->lambda = grid(st, best);
    weights->cv_error = st->error[best];
    weights->cv_rows = st->cv_rows;
    for (int j = LAST; j >= 0; j--)
        if (st->known[j])
            weights->path[weights->path_points++] = (kl_path_point){grid(st, j), st->error[j]};
    return KLIFT_OK;
}

klift_status kl_ridge_search(kl_ridge *r, kl_search search, double lambda, const kl_lift *lift, klift_run *run, kl_weights *weights)
{
    search_state st = {.r = r, .search = search, .lift = lift, .run = run, .spread = kl_ridge_spread(r->s)};
    klift_status status = KLIFT_OK;
    if (r->s->goal == KL_CLASSIFY && search != KL_BY_GCV) {
        KL_GO(gather_kept(&st, &st.kept));
        KL_GO(keep_features(&st));
        if (r->held != NULL)
            KL_GO(gather_held(&st, &weights->classes));
    }
    KL_GO(choose(&st, lambda, weights));
    for (int64_t i = 0; r->held != NULL && i < r->held->rows * r->outputs; i++)
        r->held->score[i] = 2 * r->held->score[i] - 1; /* the -1/+1 scale of the model */
done:
    kl_free(st.tried);
    kl_rows_clear(&st.kept.rows);
    kl_free(st.kept.truth);
    kl_free(st.kept.first);
    kl_free(st.kept.z);
    kl_free(st.kept.w);
    kl_free(st.kept.b);
    return status;
}
