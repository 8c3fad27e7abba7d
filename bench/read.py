"""Reading: klift against scikit-learn's load_svmlight_file, numpy.loadtxt, pandas.read_csv and a reader of IDX in numpy. klift reads text with two threads, the peers have one.

usage: bench/suite.py BUILD read   The LIBSVM text is that of KLIFT_DATA and one that is made here, the CSV is random numbers (%.6g, 20 columns), IDX is MNIST's images.
klift reads through the public header (bench_read.c), to the last row, in batches; the peers return all rows.
"""
import os, tempfile

from common import DATA, Seconds, data_file, milliseconds, race, row, run, share_of, size

FILES = ["adult/train.svm", "usps/train.svm", "covtype/train.binary.svm", "ijcnn1/train.svm", "cod-rna/test.svm"]


def compare(build, name, path, options, goal, theirs, peer):
    def ours():
        return Seconds(run(f"{build}/bench/bench_read", path, options + (",threads=2" if options else "threads=2"), 2).split()[0])

    r, amount = race([ours, theirs]), os.path.getsize(path) * 1e-9
    speeds = [f"{milliseconds(seconds)}, {amount * 1e3 / seconds:.0f} MB/s" for seconds in r.seconds]
    return row(name, r.ratio(), goal, speeds[0], f"{speeds[1]} {peer}", r.spread(), share_of("memory", amount, r.seconds[0]), "memory")


def read_idx(numpy, path):
    with open(path, "rb") as file:
        data = file.read()
    count = int.from_bytes(data[4:8], "big")
    return numpy.frombuffer(data, numpy.uint8, offset=16).reshape(count, -1).astype(numpy.float32)


def read(build):
    try:
        import numpy, pandas
        from sklearn.datasets import load_svmlight_file
    except ImportError as missing:
        print(f"skipped: reading: {missing}; scripts/setup bench installs the peers")
        return []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        made = f"{folder}/friedman.svm"
        run(f"{build}/klift", "generate", "friedman", made, "--rows", size(100000, 2000), "--dim", 20, "-q")
        files = [(f"friedman, {size('100,000', '2,000')} x 20", made)] + [(name, f"{DATA}/{name}") for name in FILES if DATA and data_file(*name.split("/"))]
        for name, path in files[:size(None, 2)]:
            rows.append(compare(build, f"LIBSVM text, {name}", path, "", 15, lambda: load_svmlight_file(path), "load_svmlight_file"))
        path, count = f"{folder}/table.csv", size(200000, 2000)
        numpy.savetxt(path, numpy.random.default_rng(1).standard_normal((count, 20)), fmt="%.6g", delimiter=",")
        rows.append(compare(build, f"CSV, {count:,} x 20", path, "format=csv", 15, lambda: numpy.loadtxt(path, delimiter=","), "numpy.loadtxt"))
        rows.append(compare(build, f"CSV, {count:,} x 20, pandas", path, "format=csv", 2, lambda: pandas.read_csv(path, header=None), "pandas.read_csv"))
    images = data_file("mnist", size("train-images-idx3-ubyte", "t10k-images-idx3-ubyte"))
    if images:
        rows.append(compare(build, "IDX, images of MNIST", images, "format=idx", 1, lambda: read_idx(numpy, images), "numpy.frombuffer and astype"))
    return rows


PARTS = {"read": read}
