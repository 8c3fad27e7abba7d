/*
 * test_keep.c - the state of every learner with passes: a training that is stopped at any moment and taken up by a new learner ends in
 * the bits of one that was not stopped, whatever the threads before and after, and however often; a state that is damaged, cut,
 * another learner's or of other sizes is refused. A handful of moments of each; every one of them with KLIFT_KEEP_ALL=1 (a minute).
 */
#include "base/memory.h"
#include "learn/learner.h"
#include "linear.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 200, COLUMNS = 6, AT_MOST = 64 /* a multiple of the rows at which a pass may be cut */, STOPS = 9 };

typedef struct kind {
    const char *learner;
    int classes; /* 0: numbers */
    double c;
    const char *path; /* of C */
    bool search, probability, sparse, damage; /* damage: its state is also spoilt */
    int at_most;
    double holdout; /* share of the rows; it ends when a pass was no better */
} kind;

static const kind kinds[] = {
    {"sgd:passes=3", 3, 1, NULL, false, false, false, true, AT_MOST, 0},
    {"sgd:passes=3,average=false,loss=logistic", 2, 1, NULL, false, false, true, false, AT_MOST, 0},
    {"sgd:passes=2,step=pegasos,project=true", 2, 1, NULL, false, false, false, false, AT_MOST, 0},
    {"sgd:passes=20", 3, 1, NULL, false, false, false, true, AT_MOST, 0.3},
    {"sgd:passes=20", 0, 1, NULL, false, false, true, false, AT_MOST, 0.2},
    {"sgd:passes=3,loss=huber", 0, 1, NULL, false, false, false, false, AT_MOST, 0},
    {"logistic", 3, 10, NULL, false, false, false, true, 128, 0},
    {"logistic:classes=one-vs-rest", 3, 1, NULL, false, false, true, false, AT_MOST, 0},
    {"logistic:passes=40,tolerance=1e-9", 2, 1e5, NULL, false, false, false, false, AT_MOST, 0},
    {"svm:loss=hinge,tolerance=0.02", 2, 3, NULL, false, false, false, false, AT_MOST, 0},
    {"svm:loss=hinge,tolerance=1e-5,passes=30", 3, 3, NULL, false, false, true, false, AT_MOST, 0},
    {"svm:tolerance=0.01", 3, 10, NULL, false, false, false, false, AT_MOST, 0},
    {"svm:tolerance=1e-9", 3, 1e4, NULL, false, false, false, true, ROWS, 0}, /* Newton's method */
    {"svm:loss=epsilon,passes=7", 0, 3, NULL, false, false, false, false, AT_MOST, 0},
    {"svm", 0, 1e3, NULL, false, false, true, false, AT_MOST, 0},
    {"svm:classes=crammer-singer,tolerance=0.02", 3, 1, NULL, false, false, false, true, AT_MOST, 0},
    {"svm:classes=crammer-singer,tolerance=0.05", 2, 1, NULL, false, true, false, false, AT_MOST, 0},
    {"svm:loss=hinge,tolerance=0.02", 2, 1, NULL, true, false, false, false, AT_MOST, 0},
    {"svm", 3, 1, NULL, true, true, false, false, AT_MOST, 0},
    {"svm", 2, 1, "0.1,1,10,100", true, true, false, true, 128, 0},
    {"svm:loss=squared-epsilon,tolerance=0.01", 0, 1, "0.01,1,4", true, false, false, false, AT_MOST, 0},
    {"doubly-stochastic:passes=4", 3, 1, NULL, false, false, false, true, AT_MOST, 0},
    {"doubly-stochastic:passes=5,rows=70,step=0.5", 0, 1, NULL, false, false, false, false, AT_MOST, 0},
    {"doubly-stochastic:passes=3,step=published,rows=200", 2, 1, NULL, false, false, false, false, AT_MOST, 0},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static float x[ROWS * COLUMNS];
static double target[ROWS];
static char label[3][ROWS][2]; /* of 1, 2, 3 classes */

static void make_rows(void)
{
    double sign[ROWS], class[ROWS];
    linear_problem(ROWS, COLUMNS, x, sign, target);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = i % 7 == 0 ? 0 : x[i];
    for (int k = 2; k <= 3; k++) {
        syn_labels(ROWS, COLUMNS, x, k, 0.3, class);
        for (int i = 0; i < ROWS; i++)
            label[k - 1][i][0] = (char)('0' + (int)class[i]);
    }
}

/* ---- whoever keeps ---- */

typedef struct keeper {
    kl_keep keep; /* first: what the learner sees */
    int64_t asked, taken;          /* times that due was asked, and rows taken */
    int64_t stop_asked, stop_taken; /* when the run is stopped; -1: never */
    int64_t kept;
    int warned; /* that nothing is kept */
    klift_run *run;
    kl_record_writer to;
    kl_record_reader from;
} keeper;

static bool due(kl_keep *keep)
{
    keeper *k = (keeper *)keep;
    if (k->asked++ == k->stop_asked)
        klift_run_cancel(k->run);
    return kl_run_check(k->run) != KLIFT_OK;
}

static klift_status begin(kl_keep *keep, kl_record_writer **to)
{
    keeper *k = (keeper *)keep;
    kl_record_clear(&k->to);
    kl_record_begin(&k->to, KL_RECORD_STATS);
    kl_record_open(&k->to, KL_TAG('S', 'T', 'A', 'T'), true);
    *to = &k->to;
    return KLIFT_OK;
}

static klift_status end(kl_keep *keep)
{
    keeper *k = (keeper *)keep;
    k->kept++;
    kl_record_close(&k->to);
    return kl_record_finish(&k->to);
}

static void find(keeper *k, const kl_record_writer *bytes)
{
    uint32_t tag;
    OK(kl_record_check(&k->from, bytes->bytes, bytes->length, KL_RECORD_STATS));
    OK(kl_record_next(&k->from, &tag));
    k->keep.found = &k->from;
}

static int hear(const klift_event *event, void *user)
{
    if (event->kind == KLIFT_EVENT_WARNING && strcmp(event->stage, "checkpoint") == 0)
        ((keeper *)user)->warned++;
    return 0;
}

/* ---- one training ---- */

typedef struct source {
    kl_passes passes;
    csr entries;
    bool sparse;
    keeper *k;
} source;

static klift_status take(kl_passes *passes, const int32_t *index, int64_t count, klift_run *run, kl_row *z)
{
    const source *s = (const source *)passes;
    if (s->k->taken++ == s->k->stop_taken)
        klift_run_cancel(run);
    assert_true(count > 0 && count <= passes->at_most);
    for (int64_t i = 0; i < count; i++) {
        int64_t first = s->entries.start[index[i]];
        z[i] = (kl_row){.count = s->entries.start[index[i] + 1] - first, .column = s->entries.column + first, .value = s->entries.value + first};
        if (!s->sparse)
            z[i] = (kl_row){.count = COLUMNS, .value = x + index[i] * COLUMNS};
    }
    return kl_run_check(run);
}

/* Every half of the columns is a copy. */
static klift_status take_part(kl_passes *passes, const int32_t *index, int64_t count, int64_t part, klift_run *run, const float **z)
{
    static float half[ROWS * COLUMNS / 2];
    kl_row row[ROWS];
    klift_status status = take(passes, index, count, run, row);
    for (int64_t i = 0; i < count; i++)
        memcpy(half + i * COLUMNS / 2, row[i].value + part * COLUMNS / 2, COLUMNS / 2 * sizeof *half);
    *z = half;
    return status;
}

static klift_status train(const kind *how, const char *threads, keeper *k, kl_weights *weights)
{
    kl_learn_spec spec = {.goal = how->classes > 0 ? KL_CLASSIFY : KL_REGRESS, .lambda = NAN, .c = how->path != NULL ? NAN : how->c, .path = how->path, .search_given = how->search, .search = KL_BY_FOLDS,
                          .folds = 3, .rows = ROWS, .probability = how->probability, .holdout = how->holdout, .early_stop = how->holdout > 0, .seed = 5};
    const char *name[ROWS];
    kl_batch rows = {.size = sizeof rows, .rows = ROWS, .columns = COLUMNS, .dense = x, .stride = COLUMNS, .target = target, .targets = 1};
    source s = {.passes = {.rows = ROWS, .features = COLUMNS, .at_most = how->at_most, .take = take, .keep = &k->keep, .parts = 2, .take_part = take_part}, .entries = csr_of(ROWS, COLUMNS, x), .sparse = how->sparse, .k = k};
    kl_learner *learner;
    for (int i = 0; how->classes > 0 && i < ROWS; i++)
        name[i] = label[how->classes - 1][i];
    if (how->classes > 0) {
        rows.target = NULL;
        rows.targets = 0;
        rows.label = name;
    }
    OK(klift_run_new(&k->run));
    OK(klift_run_set(k->run, "threads", threads));
    klift_run_on_event(k->run, hear, k);
    k->keep.due = due;
    k->keep.begin = begin;
    k->keep.end = end;
    OK(kl_learner_new(how->learner, &spec, COLUMNS, k->run, &learner));
    OK(learner->type->observe(learner, &rows));
    klift_status status = learner->type->learn(learner, &s.passes, k->run, weights);
    assert_true(k->keep.found == NULL || status != KLIFT_OK);
    kl_learner_free(learner);
    klift_run_free(k->run);
    k->run = NULL;
    csr_free(&s.entries);
    return status;
}

static void same(const char *what, const void *a, const void *b, size_t bytes, const kind *how, int64_t stop)
{
    if (memcmp(a, b, bytes) != 0)
        fail_msg("%s of %s differs after a stop at %lld", what, how->learner, (long long)stop);
}

static void check_same(const kind *how, int64_t stop, const kl_weights *a, const kl_weights *b)
{
    assert_int_equal(a->outputs, b->outputs);
    same("w", a->w, b->w, (size_t)(a->outputs * COLUMNS) * sizeof *a->w, how, stop);
    same("b", a->b, b->b, (size_t)a->outputs * sizeof *a->b, how, stop);
    same("lambda", &a->lambda, &b->lambda, sizeof a->lambda, how, stop);
    same("the error", &a->cv_error, &b->cv_error, sizeof a->cv_error, how, stop);
    same("the path", a->path, b->path, sizeof a->path, how, stop);
    same("the scale", &a->probability.scale, &b->probability.scale, sizeof(double), how, stop);
    same("the offset", &a->probability.offset, &b->probability.offset, sizeof(double), how, stop);
    assert_true(a->weight == b->weight && a->rows == b->rows && a->cv_rows == b->cv_rows && a->path_points == b->path_points && a->search == b->search);
    assert_true(a->probability.known == b->probability.known && a->probability.rows == b->probability.rows && a->probability.log_loss == b->probability.log_loss);
}

/* ---- */

/* Stopped once, when asked or within a part, and what it goes on to is not stopped any more. */
static void stop_once(const kind *how, int64_t stop, bool within, const keeper *undisturbed, const kl_weights *whole)
{
    int64_t last = (within ? undisturbed->taken : undisturbed->asked) - 1, parts = (ROWS + how->at_most - 1) / how->at_most;
    keeper first = {.stop_asked = within ? -1 : stop, .stop_taken = within ? stop : -1}, second = {.stop_asked = -1, .stop_taken = -1};
    kl_weights weights;
    klift_status status = train(how, stop % 2 == 0 ? "1" : "2", &first, &weights);
    if (status == KLIFT_OK && !within && stop == last) /* after the last part */
        kl_weights_clear(&weights);
    else
        assert_int_equal(status, KLIFT_CANCELLED);
    if (first.kept != 1 && !(first.kept == 0 && within && stop < parts)) /* nothing is known before the first pass of logistic */
        fail_msg("%s, stopped at %lld, kept its state %lld times", how->learner, (long long)stop, (long long)first.kept);
    if (first.kept == 1)
        find(&second, &first.to);
    OK(train(how, stop % 3 == 0 ? "2" : "1", &second, &weights));
    check_same(how, stop, whole, &weights);
    if (first.taken + second.taken > undisturbed->taken + 4 * parts) /* those of a step of Newton's method */
        fail_msg("%s, stopped at %lld of %lld, had %lld parts more to do", how->learner, (long long)stop, (long long)last, (long long)second.taken);
    kl_weights_clear(&weights);
    kl_record_clear(&first.to);
}

/* Stopped again and again, each time a little further. */
static void stop_often(const kind *how, int64_t asked, const kl_weights *whole)
{
    kl_record_writer kept = {0};
    kl_weights weights;
    klift_status status;
    int64_t stops = 0;
    do {
        keeper k = {.stop_asked = 1 + asked / 10, .stop_taken = -1};
        if (kept.bytes != NULL)
            find(&k, &kept);
        status = train(how, stops % 2 == 0 ? "2" : "1", &k, &weights);
        kl_record_clear(&kept);
        kept = k.to;
        assert_true(stops++ < 100);
    } while (status == KLIFT_CANCELLED);
    OK(status);
    check_same(how, -1, whole, &weights);
    kl_weights_clear(&weights);
    kl_record_clear(&kept);
}

static void a_training_that_was_stopped_ends_in_the_same_bits(void **state)
{
    int64_t stops = getenv("KLIFT_KEEP_ALL") != NULL ? INT64_MAX : quick() ? STOPS / 2 : STOPS;
    (void)state;
    make_rows();
    for (int i = 0; i < KINDS; i++) {
        keeper nobody = {.stop_asked = -1, .stop_taken = -1};
        kl_weights whole;
        OK(train(&kinds[i], "1", &nobody, &whole));
        print_message("%s: asked %lld times, rows taken %lld times\n", kinds[i].learner, (long long)nobody.asked, (long long)nobody.taken);
        assert_true(nobody.asked > 4 && nobody.kept == 0 && nobody.warned == 0);
        for (int within = 0; within < 2; within++) {
            int64_t count = within ? nobody.taken : nobody.asked, step = 1 + (count - 1) / stops;
            for (int64_t stop = (i + within) % step; stop < count; stop += step)
                stop_once(&kinds[i], stop, within, &nobody, &whole);
        }
        stop_often(&kinds[i], nobody.asked, &whole);
        kl_weights_clear(&whole);
    }
}

/* With the checksums made anew, so that only what the learner itself checks is left. */
static klift_status train_on(const kind *how, const unsigned char *state_bytes, int64_t count)
{
    kl_record_writer to;
    keeper k = {.stop_asked = -1, .stop_taken = -1};
    kl_weights weights;
    kl_record_begin(&to, KL_RECORD_STATS);
    kl_record_open(&to, KL_TAG('S', 'T', 'A', 'T'), true);
    for (int64_t i = 0; i + 4 <= count; i += 4)
        kl_record_put_u32(&to, (uint32_t)state_bytes[i] | (uint32_t)state_bytes[i + 1] << 8 | (uint32_t)state_bytes[i + 2] << 16 | (uint32_t)state_bytes[i + 3] << 24);
    kl_record_close(&to);
    OK(kl_record_finish(&to));
    find(&k, &to);
    klift_status status = train(how, "1", &k, &weights);
    if (status == KLIFT_OK)
        kl_weights_clear(&weights);
    kl_record_clear(&to);
    return status;
}

static void a_state_that_is_not_whole_is_refused(void **state)
{
    (void)state;
    make_rows();
    for (int i = 0; i < KINDS; i++) {
        keeper k = {.stop_asked = i % 2 + 3, .stop_taken = -1}, view = {0};
        kl_weights weights;
        if (!kinds[i].damage)
            continue;
        assert_int_equal(train(&kinds[i], "1", &k, &weights), KLIFT_CANCELLED);
        find(&view, &k.to);
        int64_t count = view.from.end - view.from.at, refused = 0;
        unsigned char *bytes = k.to.bytes + view.from.at;
        assert_int_equal(count % 4, 0);
        OK(train_on(&kinds[i], bytes, count));
        for (int64_t cut = 0; cut < count; cut += 4 * (1 + count / 100))
            assert_int_equal(train_on(&kinds[i], bytes, cut), KLIFT_MODEL);
        for (int other = 0; other < KINDS; other++)
            if (strcmp(kinds[i].learner, kinds[other].learner) != 0 && kinds[i].learner[1] != kinds[other].learner[1])
                assert_int_equal(train_on(&kinds[other], bytes, count), KLIFT_MODEL);
        for (int64_t at = 0; at < count; at += at < 28 ? 1 : at < 120 ? 7 : 1 + count / 20) { /* no byte makes it crash or go on for ever */
            bytes[at] ^= 0xa5;
            klift_status status = train_on(&kinds[i], bytes, count);
            assert_true(status == KLIFT_OK || status == KLIFT_MODEL || status == KLIFT_FAILED);
            refused += status == KLIFT_MODEL;
            assert_true(at >= 28 || status == KLIFT_MODEL); /* the tag and the sizes */
            bytes[at] ^= 0xa5;
        }
        assert_true(refused > 28);
        kl_record_clear(&k.to);
    }
}

static void references_say_that_nothing_is_kept(void **state)
{
    (void)state;
    make_rows();
    for (int64_t i = 0; kl_learner_type_at(i) != NULL; i++) {
        const char *name = kl_learner_name_at(i, NULL);
        const kind how = {.learner = name, .classes = 2, .c = 1, .at_most = AT_MOST};
        keeper k = {.stop_asked = -1, .stop_taken = -1};
        kl_weights weights;
        if (strncmp(name, "lib", 3) != 0)
            continue;
        OK(train(&how, "1", &k, &weights));
        assert_true(k.asked == 0 && k.kept == 0 && k.warned == 1);
        kl_weights_clear(&weights);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_training_that_was_stopped_ends_in_the_same_bits),
        cmocka_unit_test(a_state_that_is_not_whole_is_refused),
        cmocka_unit_test(references_say_that_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
