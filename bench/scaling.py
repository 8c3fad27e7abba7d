"""Cost against rows, columns, features, classes and threads: whole trainings by the command, ridge at a fixed lambda, on arrays (NPY) that are made here.

usage: bench/suite.py BUILD scaling   In rounds over all sizes; times are medians. The slope is that of log seconds against log size, least squares, over the larger
sizes: 1 is a straight line through the origin. The ratio of the row for rows is 1 - |slope - 1|; the others have no goal, their ratio is the slope.
"""
import json, math, os, statistics, tempfile, time

from common import Seconds, milliseconds, race, row, run, share_of, size

ROUNDS = 5


def slope(points):
    x, y = [math.log(n) for n, _ in points], [math.log(seconds) for _, seconds in points]
    return statistics.linear_regression(x, y).slope


def train(build, folder, name, *options):
    """Seconds of the command, the process included, and what it says about them."""
    files, start = [f"{folder}/{name}.npy", "--labels", f"{folder}/{name}.labels.npy"], time.perf_counter()
    said = run(f"{build}/klift", "train", *files, "--lambda", 1e-4, "-q", "--json", "-o", f"{folder}/model", *options)
    return time.perf_counter() - start, json.loads(said)["seconds"]


def rows_of(numpy, folder, name, rows, columns, classes=2):
    """Written some at a time: 10^7 rows need not be in memory. Classes by the sign, or the size, of a sum of the columns."""
    random, many = numpy.random.default_rng(1), 10 ** 6
    x = numpy.lib.format.open_memmap(f"{folder}/{name}.npy", "w+", numpy.float32, (rows, columns))
    y = numpy.lib.format.open_memmap(f"{folder}/{name}.labels.npy", "w+", numpy.int64, (rows,))
    for first in range(0, rows, many):
        part = random.standard_normal((min(many, rows - first), columns), dtype=numpy.float32)
        x[first:first + len(part)] = part
        level = part[:, :4].sum(axis=1) / min(columns, 4) ** 0.5  # nearly of variance 1
        y[first:first + len(part)] = numpy.clip((level + 2) / 4 * classes, 0, classes - 1).astype(numpy.int64)
    x.flush()
    y.flush()


def measure(sizes, work):
    """[(size, median seconds)], the sizes in turns so that a busy minute does not fall on one of them alone."""
    took = {n: [] for n in sizes}
    for _ in range(size(ROUNDS, 1)):
        for n in sizes:
            took[n].append(work(n))
    return [(n, statistics.median(took[n])) for n in sizes]


def line(name, axis, points, last, what, goal=0, share=None):
    """A row of points that a chart is drawn of; the slope is that of the `last` ones."""
    found, ends = slope(points[-last:]), [f"{milliseconds(seconds)} at {n:,}" for n, seconds in (points[0], points[-1])]
    made = row(name, 1 - abs(found - 1) if goal else found, goal, f"slope {found:.3f}", f"{what}; {', '.join(ends)}", share=share, limit="memory")
    return made | {"axis": axis, "points": [[n, round(seconds, 6)] for n, seconds in points], "slope": round(found, 4)}


def over_rows(build, numpy, folder):
    counts = size([10 ** 4, 3 * 10 ** 4, 10 ** 5, 3 * 10 ** 5, 10 ** 6, 3 * 10 ** 6, 10 ** 7], [1000, 10 ** 4, 10 ** 5])
    for n in counts:
        rows_of(numpy, folder, f"rows{n}", n, 4)
    points = measure(counts, lambda n: train(build, folder, f"rows{n}", "--features", 64, "--task", "classify")[0])
    for n in counts:
        os.remove(f"{folder}/rows{n}.npy")
        os.remove(f"{folder}/rows{n}.labels.npy")
    # The survey and the training each read every row once.
    return line("rows, 4 columns, 64 features", "rows", points, 3, "a straight line has slope 1", 0.95, share_of("memory", 2e-9 * 16 * points[-1][0], points[-1][1]))


def over_columns(build, numpy, folder, rows):
    made = []
    columns = size([16, 64, 256, 1024, 4096], [16, 64])
    for d in columns:
        rows_of(numpy, folder, f"columns{d}", rows, d)
    for name in ("fourier", "orthogonal"):
        points = measure(columns, lambda d: train(build, folder, f"columns{d}", "--map", name, "--features", 1024, "--task", "classify")[0])
        made.append(line(f"columns, {name}, {rows:,} rows, 1024 features", "columns", points, 3, "the statistics do not depend on the columns, the map does"))
    return made


def over_features(build, numpy, folder, rows):
    rows_of(numpy, folder, "features", rows, 32)
    points = measure(size([256, 512, 1024, 2048, 4096], [64, 128]), lambda features: train(build, folder, "features", "--features", features, "--task", "classify")[0])
    return line(f"features, {rows:,} rows, 32 columns", "features", points, 3, "the statistics are quadratic, the solution cubic in the features")


def over_classes(build, numpy, folder, rows):
    classes = size([2, 4, 8, 16, 32, 64], [2, 4])
    for k in classes:
        rows_of(numpy, folder, f"classes{k}", rows, 32, k)
    points = measure(classes, lambda k: train(build, folder, f"classes{k}", "--features", 1024, "--task", "classify")[0])
    return line(f"classes, {rows:,} rows, 1024 features", "classes", points, 3, "one matrix serves all classes: nearly none")


def over_threads(build, folder, rows):
    """The stage alone in which blocks are mapped and summed: 2 threads against 1."""
    features = size(4096, 256)

    def stage(threads):
        return Seconds(train(build, folder, "features", "--map", "orthogonal", "--features", features, "--task", "classify", "--threads", threads)[1]["statistics"])
    r = race([lambda: stage(2), lambda: stage(1)])
    return row(f"statistics of a training, {rows:,} rows, {features} features, 2 threads against 1", r.ratio(), 1.85,
               milliseconds(r.seconds[0]), f"{milliseconds(r.seconds[1])} 1 thread", r.spread(), share_of("sgemm", 1e-9 * rows * features * features, r.seconds[0]), "sgemm")


def scaling(build):
    try:
        import numpy
    except ImportError as missing:
        print(f"skipped: scaling: {missing}; scripts/setup bench installs it")
        return []
    rows = size(20000, 1000)
    with tempfile.TemporaryDirectory() as folder:
        return [over_rows(build, numpy, folder), *over_columns(build, numpy, folder, rows), over_features(build, numpy, folder, rows),
                over_classes(build, numpy, folder, rows), over_threads(build, folder, rows)]


PARTS = {"scaling": scaling}
