#!/usr/bin/python3
"""Learner svm against LIBLINEAR on the same features, and against LIBSVM with the exact kernel.

usage: bench/svm.py BUILD [adult|ijcnn1|covtype|usps|ijcnn1-exact|covtype-exact ...]   Prints and writes BUILD/bench_svm.json: a list of {name, ratio, goal, reached, klift, peer}.
KLIFT_DATA names the folder with adult/, ijcnn1/, covtype/ and usps/ as LIBSVM text; what is not there is skipped.

LIBLINEAR: 2048 gaussian features as `klift transform` writes them, its train() timed alone, on one thread, at its default tolerance; klift: the whole command
with two threads, reading and features included. Both objectives are computed here from the weights, in float64. Medians of three rounds, one after the other in each; one round where
LIBLINEAR takes more than half a minute.
klift stops at its default duality gap, and once more ("time to that objective") at the largest of some gaps with which it comes within 0.1 % of LIBLINEAR's objective.
A LIBLINEAR whose objective is not within 0.1 % of klift's runs again with smaller tolerances, once: rows of their own.
LIBSVM: svm-train against klift's nystrom map and svm, one run each.
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before liblinear.so loads it

import ctypes, functools, json, statistics, struct, subprocess, sys, tempfile, time

from common import report, row, timed

try:
    import numpy
    LIBRARY = ctypes.CDLL("liblinear.so.4")
except (ImportError, OSError) as missing:
    print(f"skipped: LIBLINEAR and LIBSVM: {missing}; scripts/setup bench installs it")
    sys.exit(0)

ROUNDS, FEATURES = 3, 2048
SETS = {  # file, columns, gamma, C
    "adult": ("adult/train.svm", 123, 0.0125, 1),
    "ijcnn1": ("ijcnn1/train.svm", 22, 2, 10),
    "covtype": ("covtype/train.binary.svm", 54, 8, 10),
    "usps": ("usps/train.svm", 256, 0.0078125, 10),
}
LOSSES = {"hinge": 3, "squared-hinge": 1}  # LIBLINEAR's -s, both on the dual
GOALS = {"hinge": (8, 0), "squared-hinge": (12, 7)}  # with two threads and with one; the squared hinge is the default of both
EXACT = {  # training and test file, gamma, C, landmarks, least accuracy, least ratio of times or None
    "ijcnn1-exact": ("ijcnn1/train.svm", "ijcnn1/test.svm", 2, 10, "rpcholesky", 0.983, None),
    "covtype-exact": ("covtype/train.binary.svm", "covtype/test.binary.svm", 8, 10, "kmeans++", 0.86, 5),  # of the three kinds the least objective on the training rows
}


class Problem(ctypes.Structure):
    _fields_ = [("l", ctypes.c_int), ("n", ctypes.c_int), ("y", ctypes.c_void_p), ("x", ctypes.c_void_p), ("bias", ctypes.c_double)]


class Parameter(ctypes.Structure):
    _fields_ = [("solver_type", ctypes.c_int), ("eps", ctypes.c_double), ("C", ctypes.c_double), ("nr_weight", ctypes.c_int), ("weight_label", ctypes.c_void_p),
                ("weight", ctypes.c_void_p), ("p", ctypes.c_double), ("init_sol", ctypes.c_void_p)]


class Model(ctypes.Structure):
    _fields_ = [("param", Parameter), ("nr_class", ctypes.c_int), ("nr_feature", ctypes.c_int), ("w", ctypes.POINTER(ctypes.c_double)),
                ("label", ctypes.POINTER(ctypes.c_int)), ("bias", ctypes.c_double)]


PRINT = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class Liblinear:
    """LIBLINEAR 2.30's train() on dense rows with a constant feature of 1 (-B 1)."""

    def __init__(self, z, y):
        self.lib = LIBRARY
        if ctypes.c_int.in_dll(self.lib, "liblinear_version").value != 230:
            sys.exit("liblinear.so.4 is not LIBLINEAR 2.30, whose structures are known here")
        self.lib.train.restype = ctypes.POINTER(Model)
        self.silent = PRINT(lambda words: None)
        self.lib.set_print_string_function(self.silent)
        rows, features = z.shape
        node = numpy.zeros((rows, features + 2), dtype=numpy.dtype([("index", "<i4"), ("value", "<f8")], align=True))
        node["index"][:] = list(range(1, features + 2)) + [-1]
        node["value"][:, :features] = z
        node["value"][:, features] = 1
        self.node, self.y = node, y.astype(numpy.float64)
        self.x = node.ctypes.data + numpy.arange(rows, dtype=numpy.uint64) * numpy.uint64(node.strides[0])
        self.problem = Problem(rows, features + 1, self.y.ctypes.data, self.x.ctypes.data, 1)

    def train(self, solver, c, tolerance):
        """Seconds of train() alone, and its weights (classes, features + 1) by ascending label; two classes: of the larger label."""
        ctypes.CDLL(None).srand(1)
        parameter = Parameter(solver_type=solver, eps=tolerance, C=c, p=0.1)
        start = time.perf_counter()
        model = self.lib.train(ctypes.byref(self.problem), ctypes.byref(parameter))
        took = time.perf_counter() - start
        classes, width = model.contents.nr_class, self.problem.n
        columns = 1 if classes == 2 else classes
        w = numpy.ctypeslib.as_array(model.contents.w, (width, columns)).T.copy()
        label = [model.contents.label[k] for k in range(classes)]
        self.lib.free_and_destroy_model(ctypes.byref(model))
        return took, (w if label[0] > label[1] else -w) if classes == 2 else w[numpy.argsort(label)]


def weights_of(path):
    """(outputs, features + 1) of a model file (docs/model_format.md): the section WGHT has w and b."""
    data = open(path, "rb").read()
    at = 32
    while data[at:at + 4] != b"WGHT":
        at += 24 + struct.unpack_from("<Q", data, at + 8)[0]
    count, = struct.unpack_from("<q", data, at + 24)
    w = numpy.frombuffer(data, "<f8", count, at + 32)
    outputs, = struct.unpack_from("<q", data, at + 32 + 8 * count)
    b = numpy.frombuffer(data, "<f8", outputs, at + 40 + 8 * count)
    return numpy.column_stack([w.reshape(outputs, -1), b])


def objective(loss, c, z, y, w):
    """LIBLINEAR's, B = 1, summed over the outputs of one class against the rest."""
    labels = numpy.unique(y)
    labels = labels[1:] if len(labels) == 2 else labels
    total = (w * w).sum() / 2
    for first in range(0, len(y), 4096):
        f = z[first:first + 4096].astype(numpy.float64) @ w[:, :-1].T + w[:, -1]
        over = numpy.maximum(0, 1 - numpy.where(y[first:first + 4096, None] == labels, 1, -1) * f)
        total += c * (over if loss == "hinge" else over * over).sum()
    return total


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def train_command(build, path, kernel, more, c, model, threads=2):
    return [f"{build}/klift", "train", path, "--kernel", kernel, *more, "-c", c, "--task", "classify", "--threads", threads, "--seed", 1, "-q", "-o", model]


def compare_loss(what, loss, c, peer, train, measure):
    """train(tolerance, cache): klift's command; measure(w): the objective of weights, by default of klift's last model."""
    _, w = peer.train(LOSSES[loss], c, 0.1)
    other, enough = measure(w), None
    for tolerance in (0.1, 0.06, 0.03, 0.02, 0.01, 0.006, 0.003, 0.002):
        train(tolerance)
        if measure() <= 1.001 * other:
            enough = tolerance
            break
    def warm(tolerance, cache="auto"):  # LIBLINEAR finds its features in memory that the machine has given already: klift's is given by a run before, untimed
        train(tolerance, cache)
        return timed(lambda: train(tolerance, cache))

    def once():
        return (warm(0.001), measure(), warm(enough) if enough else 0, warm(0.001, "float32"), measure(), timed(lambda: train(0.001, threads=1)),
                peer.train(LOSSES[loss], c, 0.1)[0])

    rounds = [once()]
    while len(rounds) < (1 if rounds[0][-1] > 30 else ROUNDS):  # a LIBLINEAR that takes so long is hardly disturbed
        rounds.append(once())
    ratios = [r[-1] / r[0] for r in rounds]
    ours, mine, early, wide, unrounded, alone, theirs = [statistics.median(column) for column in zip(*rounds)]
    goals = GOALS[loss]
    rows = [row(f"{what}: objective, LIBLINEAR's over klift's", other / mine, 0.999, f"{mine:.7g}", f"{other:.7g}"),
            row(f"{what}: time", statistics.median(ratios), goals[0], f"{ours:.2f} s", f"{theirs:.2f} s LIBLINEAR", spread=(min(ratios), max(ratios))),
            row(f"{what}: time, 1 thread", theirs / alone, goals[1], f"{alone:.2f} s", f"{theirs:.2f} s LIBLINEAR"),
            row(f"{what}: objective with cache=float32", other / unrounded, 0.999, f"{unrounded:.7g}", f"{other:.7g}"),
            row(f"{what}: time with cache=float32", theirs / wide, 0, f"{wide:.2f} s", f"{theirs:.2f} s LIBLINEAR")]
    if enough:
        rows.append(row(f"{what}: time to that objective", theirs / early, 0, f"{early:.2f} s -e {enough:g}", f"{theirs:.2f} s LIBLINEAR"))
    for tolerance in (0.01, 0.001):
        if other <= 1.001 * mine:
            break
        took, w = peer.train(LOSSES[loss], c, tolerance)
        other = measure(w)
        rows.append(row(f"{what}: time, LIBLINEAR -e {tolerance:g}", took / ours, 0, f"{ours:.2f} s", f"{took:.2f} s, objective {other:.7g}"))
    return rows


def compare_set(build, data, name):
    path, columns, gamma, c = SETS[name]
    path, rows = os.path.join(data, path), []
    with tempfile.TemporaryDirectory() as folder:
        def train(loss, tolerance, cache="auto", threads=2):
            more = ["--map", "orthogonal", "--features", FEATURES, "--dim", columns, "--learner", f"svm:loss={loss},cache={cache}", "-e", tolerance]
            run(*train_command(build, path, f"gaussian:gamma={gamma:g}", more, c, f"{folder}/model", threads))

        def measure(loss, w=None):
            return objective(loss, c, z, y, weights_of(f"{folder}/model") if w is None else w)

        train("hinge", 0.1)  # any model: the features are those of all
        run(f"{build}/klift", "transform", "--model", f"{folder}/model", path, f"{folder}/z.npy", "--output-labels", f"{folder}/y.npy", "-q")
        z, y = numpy.load(f"{folder}/z.npy", mmap_mode="r"), numpy.load(f"{folder}/y.npy").ravel()
        peer = Liblinear(z, y)
        for loss in LOSSES:
            rows += compare_loss(f"{name} {loss}, C = {c:g}", loss, c, peer, functools.partial(train, loss), functools.partial(measure, loss))
    return rows


def compare_exact(build, data, name):
    training, test, gamma, c, landmarks, least, times = EXACT[name]
    training, test, name = os.path.join(data, training), os.path.join(data, test), name.split("-")[0]
    with tempfile.TemporaryDirectory() as folder:
        ours = timed(lambda: run(*train_command(build, training, f"gaussian:gamma={gamma:g}", ["--map", f"nystrom:landmarks={landmarks}", "--features", 4096, "--learner", "svm"], c, f"{folder}/model")))
        accuracy = json.loads(run(f"{build}/klift", "test", f"{folder}/model", test, "--json", "-q"))["accuracy"]
        theirs = timed(lambda: run("svm-train", "-q", "-m", 1000, "-g", gamma, "-c", c, training, f"{folder}/exact"))
        said = run("svm-predict", test, f"{folder}/exact", f"{folder}/out")
    rows = [row(f"{name} nystrom 4096: accuracy", accuracy, least, f"{accuracy:.4f}", said.strip())]
    return rows + ([row(f"{name} nystrom 4096: time", theirs / ours, times, f"{ours:.1f} s", f"{theirs:.1f} s LIBSVM")] if times else [])


def main():
    build, names, data, rows = sys.argv[1], sys.argv[2:] or [*SETS, *EXACT], os.environ.get("KLIFT_DATA", ""), []
    for name in names:
        if name not in SETS and name not in EXACT:
            sys.exit(f"{name}: known are {' '.join([*SETS, *EXACT])}")
        if not os.path.exists(os.path.join(data, (SETS.get(name) or EXACT[name])[0])):
            print(f"skipped: {name}: set KLIFT_DATA to the folder that holds {name.split('-')[0]}/")
            continue
        rows += compare_set(build, data, name) if name in SETS else compare_exact(build, data, name)
    report(rows, f"{build}/bench_svm.json")


main()
