#!/usr/bin/python3
"""The engine: products, factors, maps, transforms and a whole training, each against its peer in one interleaved run.

usage: bench/engine.py BUILD [engine|maps|polynomial|sphere|training]   Prints and writes BUILD/bench_engine.json: a list of {name, ratio, goal, reached, klift, peer}.
KLIFT_DATA names the folder with mnist/ (its four IDX files) for the training; without it that row is skipped.
"""
import ctypes, json, os, subprocess, sys, time

from common import report, row, timed

ROUNDS = 5


class Batch(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int64), ("rows", ctypes.c_int64), ("columns", ctypes.c_int64), ("dense", ctypes.c_void_p), ("stride", ctypes.c_int64),
                ("start", ctypes.c_void_p), ("column", ctypes.c_void_p), ("value", ctypes.c_void_p), ("target", ctypes.c_void_p), ("targets", ctypes.c_int64),
                ("label", ctypes.c_void_p), ("weight", ctypes.c_void_p)]


class Klift:
    """Just enough of klift.h to fit a map without data and apply it to an array."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.run = ctypes.c_void_p()
        self.check(self.lib.klift_run_new(ctypes.byref(self.run)))
        self.check(self.lib.klift_run_set(self.run, b"threads", b"2"))

    def check(self, status):
        if status:
            self.lib.klift_error.restype = ctypes.c_char_p
            sys.exit(self.lib.klift_error().decode())

    def map(self, **settings):
        spec, made = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.lib.klift_spec_new(ctypes.byref(spec)))
        for key, value in settings.items():
            self.check(self.lib.klift_spec_set(spec, key.encode(), str(value).encode()))
        self.check(self.lib.klift_map_fit(spec, None, None, ctypes.byref(made)))
        self.lib.klift_spec_free(spec)
        return made

    def apply(self, made, x, z):
        batch = Batch(size=ctypes.sizeof(Batch), rows=x.shape[0], columns=x.shape[1], dense=x.ctypes.data, stride=x.shape[1])
        self.check(self.lib.klift_map_apply(made, ctypes.byref(batch), ctypes.c_void_p(z.ctypes.data), ctypes.c_int64(z.shape[1]), self.run))


def best_of(works):
    best = [1e300] * len(works)
    for _ in range(ROUNDS):
        for i, work in enumerate(works):
            best[i] = min(best[i], timed(work))
    return best


def engine(build):
    out = subprocess.run([f"{build}/bench/bench_engine"], capture_output=True, text=True)
    print(out.stderr, end="")
    return [json.loads(line) for line in out.stdout.splitlines()]


def maps(build):
    try:
        import numpy
        from sklearn.kernel_approximation import RBFSampler
    except ImportError as missing:
        print(f"skipped: RBFSampler: {missing}; scripts/setup bench installs it")
        return []
    klift = Klift(f"{os.path.abspath(build)}/libklift.so")
    x = numpy.random.default_rng(1).standard_normal((10000, 784), dtype=numpy.float32)
    z = numpy.ones((10000, 4096), numpy.float32)
    sampler = RBFSampler(gamma=0.01, n_components=4096, random_state=1).fit(x)
    made = klift.map(map="orthogonal", kernel="gaussian:gamma=0.01", dim=784, features=4096)
    assert sampler.transform(x[:2]).dtype == numpy.float32
    reused, fresh, peer = best_of([lambda: klift.apply(made, x, z), lambda: klift.apply(made, x, numpy.empty((10000, 4096), numpy.float32)), lambda: sampler.transform(x)])
    said = f"{peer * 1e3:.1f} ms RBFSampler"
    return [row("orthogonal 10,000 x 784 -> 4096, reused buffer", peer / reused, 15, f"{reused * 1e3:.1f} ms", said),
            row("orthogonal 10,000 x 784 -> 4096, fresh memory", peer / fresh, 8, f"{fresh * 1e3:.1f} ms", said)]


def dense_maclaurin(numpy, degree, columns, features):
    """The same features as klift's structured maclaurin by dense products: (s + 1)^degree, complex signs, so many of each degree as a_n."""
    from math import comb
    weights = [comb(degree, n) for n in range(degree + 1)]
    counts = [max(1, round(features // 2 * w / sum(weights[1:]))) for w in weights]
    random = numpy.random.default_rng(2)
    longest_first = [n for n in range(degree, 0, -1) for _ in range(counts[n])][:features // 2]
    slots = []
    for j in range(1, degree + 1):  # factor j is needed by the features of at least that degree, which come first
        codes = random.integers(0, 4, (columns, sum(n >= j for n in longest_first)))
        signs = numpy.where(codes & 2, -1, 1).astype(numpy.float32)
        slots.append((numpy.where(codes & 1, 0, signs).astype(numpy.float32), numpy.where(codes & 1, signs, 0).astype(numpy.float32)))

    def work(x):
        z = numpy.ones((len(x), len(longest_first)), numpy.complex64)
        for re, im in slots:
            factor = numpy.empty((len(x), re.shape[1]), numpy.complex64)
            factor.real, factor.imag = x @ re, x @ im
            z[:, :re.shape[1]] *= factor
        return z
    return work


def polynomial(build):
    try:
        import numpy
        from sklearn.kernel_approximation import PolynomialCountSketch
    except ImportError as missing:
        print(f"skipped: PolynomialCountSketch: {missing}; scripts/setup bench installs it")
        return []
    klift = Klift(f"{os.path.abspath(build)}/libklift.so")
    known = subprocess.run([f"{build}/klift", "list", "maps"], capture_output=True, text=True, check=True).stdout
    x = numpy.random.default_rng(1).standard_normal((2000, 784), dtype=numpy.float32)
    x /= numpy.linalg.norm(x, axis=1, keepdims=True)
    z = numpy.ones((2000, 4096), numpy.float32)
    sketch = PolynomialCountSketch(degree=7, gamma=1, coef0=1, n_components=4096, random_state=1).fit(x)
    goals = {"tensor-sketch": 100, "tree": 80}
    made = {name: klift.map(map=name, kernel="poly:degree=7,offset=1", dim=784, features=4096) for name in goals}
    works = [lambda name=name: klift.apply(made[name], x, z) for name in goals] + [lambda: sketch.transform(x)]
    *ours, peer = best_of(works)
    rows = [row(f"{name} degree 7, 2,000 x 784 -> 4096", peer / took, goal, f"{took * 1e3:.1f} ms", f"{peer * 1e3:.0f} ms PolynomialCountSketch")
            for (name, goal), took in zip(goals.items(), ours)]
    if "maclaurin" in known:
        products = dense_maclaurin(numpy, 7, 784, 4096)
        structured = klift.map(map="maclaurin:projection=hadamard,h01=false", kernel="poly:degree=7,offset=1", dim=784, features=4096)
        took, peer = best_of([lambda: klift.apply(structured, x, z), lambda: products(x)])
        rows.append(row("maclaurin by transforms, degree 7, 2,000 x 784 -> 4096", peer / took, 12, f"{took * 1e3:.1f} ms", f"{peer * 1e3:.0f} ms numpy, dense products"))
    return rows


def sphere(build):
    """The fit of spherical's radii, which must be no matter for any width and degree: two features, so that hardly anything else is made."""
    if "spherical" not in subprocess.run([f"{build}/klift", "list", "maps"], capture_output=True, text=True, check=True).stdout:
        return []
    klift, rows = Klift(f"{os.path.abspath(build)}/libklift.so"), []
    for columns in (2, 784, 10000):
        took = max(min(timed(lambda: klift.map(map="spherical", kernel=f"poly:degree={degree}", dim=columns, features=2)) for _ in range(ROUNDS))
                   for degree in (1, 3, 10, 40))
        rows.append(row(f"spherical's fit, degrees 1 to 40, {columns:,} columns", 0.1 / took, 1, f"{took * 1e3:.1f} ms", "100 ms allowed"))
    return rows


def training(build):
    folder = os.path.join(os.environ.get("KLIFT_DATA", ""), "mnist")
    if not os.path.exists(f"{folder}/train-images-idx3-ubyte"):
        print("skipped: MNIST training: set KLIFT_DATA to the folder that holds mnist/")
        return []
    rows = []
    files = [f"{folder}/train-images-idx3-ubyte", "--labels", f"{folder}/train-labels-idx1-ubyte"]
    command = [f"{build}/klift", "train", *files, "--kernel", "gaussian:gamma=1.5", "--prepare", "unit", "--features", "4096", "--map", "orthogonal",
               "--task", "classify", "-q", "--json", "-o", f"{build}/bench.klift"]
    ours, bare, search = 1e300, 1e300, 0
    for _ in range(3):
        start = time.perf_counter()
        said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        took = time.perf_counter() - start
        if took < ours:
            ours, search = took, said["seconds"]["search"]
        limits = subprocess.run([f"{build}/bench/bench_engine", "training", "60000", "784", "4096"], capture_output=True, text=True, check=True).stdout.split()
        bare = min(bare, float(limits[0]) + float(limits[1]))
    options = subprocess.run([f"{build}/bench/bench_read", files[0], "", "3"], capture_output=True, text=True, check=True).stdout.split()
    reading = 2 * float(options[0])  # the survey and the training each read the file once
    rows.append(row("MNIST 4096 training, bare sgemm + ssyrk and reading", (bare + reading / 1.6) / ours, 1 / 1.6, f"{ours:.2f} s", f"{bare:.2f} s + {reading:.2f} s reading"))
    rows.append(row("MNIST 4096 training, rest over lambda search", (ours - search) / search, 2, f"{search:.2f} s search", f"{ours - search:.2f} s rest"))
    return rows


def main():
    build, rows = sys.argv[1], []
    for part in [engine, maps, polynomial, sphere, training]:
        if len(sys.argv) < 3 or sys.argv[2] == part.__name__:
            rows += part(build)
    report(rows, f"{build}/bench_engine.json")


main()
