"""What the benchmarks share: OpenBLAS's core, time, a comparison as a row, the report of all of them."""
import json, os, time


def core():
    flags = open("/proc/cpuinfo").read()
    return "SkylakeX" if "avx512dq" in flags else "Zen" if "AuthenticAMD" in flags and "avx2" in flags else "Haswell" if "avx2" in flags else None


if core():
    os.environ.setdefault("OPENBLAS_CORETYPE", core())  # before numpy loads OpenBLAS, which takes new CPUs for old ones


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def row(name, ratio, goal, klift, peer):
    return {"name": name, "ratio": round(ratio, 4 if ratio < 2 else 3), "goal": goal, "reached": bool(ratio >= goal), "klift": klift, "peer": peer}


def report(rows, path):
    for r in rows:
        print(f"{r['name']:68s} {r['ratio']:9.4f}   goal {r['goal']:6.3f} {'   ' if r['reached'] else 'not'}   {r['klift']:>16s}   {r['peer']}")
    with open(path, "w") as file:
        json.dump(rows, file, indent=1)
