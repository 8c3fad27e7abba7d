#!/usr/bin/python3
"""Reading text: klift against scikit-learn's load_svmlight_file and pandas.read_csv, one thread, interleaved, best of each.

usage: bench/read.py BUILD [FILE.svm ...]   Prints and writes BUILD/bench_read.json: a list of {name, ratio, goal, reached}.
Without files a synthetic one is made; the CSV is made here from random numbers (%.6g, 20 columns).
"""
import json, os, subprocess, sys, tempfile, time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROUNDS = 5


def klift(build, path, options):
    out = subprocess.run([f"{build}/bench/bench_read", path, options, "2"], capture_output=True, text=True, check=True).stdout.split()
    return float(out[0]), int(out[1])


def peer_time(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def compare(name, goal, ours, theirs, size):
    mine, peer = [], []
    for _ in range(ROUNDS):
        mine.append(ours())
        peer.append(peer_time(theirs))
    a, b = min(mine), min(peer)
    row = {"name": name, "ratio": round(b / a, 1), "goal": goal, "reached": b / a >= goal}
    print(f"{name:34s} klift {size / a / 1e6:7.0f} MB/s   peer {size / b / 1e6:6.0f} MB/s   ratio {b / a:6.1f}   goal {goal}")
    return row


def main():
    build, files = sys.argv[1], sys.argv[2:]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            from sklearn.datasets import load_svmlight_file
            import numpy, pandas
        except ImportError as missing:
            print(f"skipped: {missing}; scripts/setup bench installs the peers")
            return
        if not files:
            files = [f"{folder}/friedman.svm"]
            subprocess.run([f"{build}/klift", "generate", "friedman", files[0], "--rows", "100000", "--dim", "20", "-q"], check=True)
        for path in files:
            size = os.path.getsize(path)
            name = "/".join(path.split("/")[-2:])
            rows.append(compare(f"svmlight {name}", 15, lambda: klift(build, path, "")[0], lambda: load_svmlight_file(path), size))
        path = f"{folder}/table.csv"
        numpy.savetxt(path, numpy.random.default_rng(1).standard_normal((200000, 20)), fmt="%.6g", delimiter=",")
        size = os.path.getsize(path)
        rows.append(compare("csv 200,000 x 20", 2, lambda: klift(build, path, "format=csv")[0], lambda: pandas.read_csv(path, header=None), size))
    with open(f"{build}/bench_read.json", "w") as out:
        json.dump(rows, out, indent=1)


main()
