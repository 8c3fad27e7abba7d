"""One row at a time: klift_model_predict from a C program against a pipeline of scikit-learn, 784 columns, 4096 features, 10 classes.

usage: bench/suite.py BUILD latency   In every round the median of many calls of each; the process, the model and the threads are there already on both sides.
"""
import statistics, tempfile, time

from common import Seconds, race, row, run, share_of, size

GOALS = {"orthogonal": 80, "fourier": 3}
COLUMNS, FEATURES, CALLS = 784, size(4096, 512), size(20000, 50)


def pipeline(numpy, x, y):
    """Median seconds of predict() of one row."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    made = make_pipeline(RBFSampler(gamma=0.02 / 255 ** 2, n_components=FEATURES, random_state=1), RidgeClassifier(alpha=1)).fit(x, y)

    def work():
        took = []
        for i in range(CALLS // 5):
            one = x[i % len(x), None]
            start = time.perf_counter()
            made.predict(one)
            took.append(time.perf_counter() - start)
        return Seconds(statistics.median(took))
    return work


def latency(build):
    try:
        import numpy
        import sklearn
    except ImportError as missing:
        print(f"skipped: latency: {missing}; scripts/setup bench installs the peers")
        return []
    rows, random = [], numpy.random.default_rng(1)
    x = numpy.where(random.random((1000, COLUMNS)) < 0.2, random.integers(0, 256, (1000, COLUMNS)), 0).astype(numpy.float32)
    y = random.integers(0, 10, 1000)
    theirs = pipeline(numpy, x, y)
    # What is added at the least: two blocks of three transforms of 1024 values, and the scores; or those weights of the map that meet a value, read once, in GB.
    amounts = {"orthogonal": ("additions", 1e-9 * (6 * 1024 * 10 + 10 * FEATURES)), "fourier": ("memory", 4e-9 * COLUMNS * FEATURES / 2 / 5)}
    with tempfile.TemporaryDirectory() as folder:
        numpy.save(f"{folder}/x.npy", x)
        numpy.save(f"{folder}/y.npy", y)
        for name, goal in GOALS.items():
            model = f"{folder}/{name}"
            run(f"{build}/klift", "train", f"{folder}/x.npy", "--labels", f"{folder}/y.npy", "--kernel", f"gaussian:gamma={0.02 / 255 ** 2:.6g}", "--map", name,
                "--features", FEATURES, "--task", "classify", "--lambda", 0.001, "-q", "-o", model)
            r = race([lambda: Seconds(1e-6 * float(run(f"{build}/bench/bench_latency", model, COLUMNS, CALLS, 2).split()[0])), theirs])
            limit, amount = amounts[name]
            rows.append(row(f"one row, {name} {COLUMNS} -> {FEATURES}, 10 classes", r.ratio(), goal, f"{1e6 * r.seconds[0]:.3g} us",
                            f"{1e6 * r.seconds[1]:.0f} us scikit-learn pipeline", r.spread(), share_of(limit, amount, r.seconds[0]), limit,
                            note="rows like images: four of five values are zero"))
    return rows


PARTS = {"latency": latency}
