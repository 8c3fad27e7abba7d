#!/usr/bin/python3
"""The benchmarks: klift against every peer in one run, in turns, and against what the machine can do.

usage: bench/suite.py BUILD [PART ...]   (make bench PARTS="...")   A part is one of those that --list names, or a module with all of its parts.
Prints every row as it comes and writes BUILD/bench.json after every part: a list of {name, ratio, goal, reached, klift, peer, ...}. A run of all parts starts
afresh; one of some parts replaces their rows and keeps the others. At the end bench/page.py writes docs/benchmarks.md and docs/benchmarks.html.
KLIFT_DATA names the folder of the data sets; what needs one that is not there is skipped, and the run says so. KLIFT_BENCH_QUICK=1 makes everything small, to see
whether it runs (the pages then go to BUILD).
"""
import datetime, importlib, json, os, subprocess, sys, time, traceback

from common import QUICK, limits, say

import page

MODULES = ["engine", "maps", "svm", "ends", "read", "latency", "scaling"]  # sections of the page, in its order; engine and svm are programs of their own
GONE = ("seconds", "amount")  # of rows of bench_engine, which become a share here


def engine(build):
    """What bench_engine prints, with its amounts as shares of the limits of this run."""
    measured, rows = limits(build), []
    with subprocess.Popen([f"{build}/bench/bench_engine"], stdout=subprocess.PIPE, text=True) as program:
        for line in program.stdout:
            row = json.loads(line)
            if "limit" in row:
                row["share"] = round(row["amount"] / row["seconds"] / measured[row["limit"]], 3)
            rows.append({key: value for key, value in row.items() if key not in GONE})
            say(rows[-1])
    if program.returncode:
        raise RuntimeError(f"bench_engine ended with {program.returncode}")
    return rows


def svm(build):
    """bench/svm.py, which has its own report and sets the threads of its peers itself."""
    written = f"{build}/bench_svm.json"
    if os.path.exists(written):
        os.remove(written)
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "svm.py"), build, "adult", "ijcnn1", "covtype", "usps"], env=environment, check=True)
    return json.load(open(written)) if os.path.exists(written) else []


def parts_of(module):
    if module in ("engine", "svm"):
        return {module: globals()[module]}
    try:
        return importlib.import_module(module).PARTS
    except ImportError as missing:
        print(f"skipped: {module}: {missing}; scripts/setup bench installs the peers")
        return {}


def write(path, value):
    with open(f"{path}.tmp", "w") as file:
        json.dump(value, file, indent=1)
    os.replace(f"{path}.tmp", path)


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0].strip()
    except (OSError, IndexError):
        return ""


def versions(build):
    """Of klift, the compiler and the peers; Debian's packages where the peer is a program or a library."""
    found = {"klift": first_line(f"{build}/klift", "version").replace("klift ", ""), "compiler": first_line(os.environ.get("CC", "cc"), "--version")}
    for name in ("numpy", "scipy", "sklearn", "pandas", "xgboost"):
        try:
            found[{"sklearn": "scikit-learn"}.get(name, name)] = importlib.import_module(name).__version__
        except ImportError:
            pass
    for name, package in (("OpenBLAS", "libopenblas0-pthread"), ("LIBSVM", "libsvm-tools"), ("LIBLINEAR", "liblinear-tools")):
        version = first_line("dpkg-query", "-W", "-f", "${Version}", package)
        if version:
            found[name] = version
    return found


def machine(build):
    """Nothing that names this one machine: what it is, what it can do, what ran on it, and the day."""
    info = open("/proc/cpuinfo").read()
    model = next((line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")), "unknown")
    memory = int(open("/proc/meminfo").read().split()[1]) / 2 ** 20
    vectors = "AVX-512" if "avx512f" in info else "AVX2" if "avx2" in info else ""
    system = next((line.split("=", 1)[1].strip('"\n') for line in open("/etc/os-release") if line.startswith("PRETTY_NAME")), "")
    return {"cpu": model, "vectors": vectors, "cores": len(os.sched_getaffinity(0)), "memory": f"{memory:.0f} GB", "system": system, "core": limits(build)["core"],
            "limits": limits(build), "versions": versions(build), "day": datetime.date.today().isoformat(), "quick": QUICK}


def main():
    words = sys.argv[1:]
    known = [(module, name.replace(" ", "-"), function) for module in MODULES for name, function in parts_of(module).items()]
    if not words or words[0].startswith("-"):
        print(__doc__ if words != ["--list"] else "\n".join(f"{module}: {name}" for module, name, _ in known))
        return 0 if words else 2
    build, asked = words[0], words[1:]
    for word in asked:
        if word not in MODULES and all(word != name for _, name, _ in known):
            sys.exit(f"{word}: known are {' '.join(dict.fromkeys(MODULES + [name for _, name, _ in known]))}")
    wanted = [one for one in known if not asked or one[0] in asked or one[1] in asked]
    path, rows, failed = f"{build}/bench.json", [], []
    begun = datetime.datetime.now().isoformat(" ", "minutes")
    if asked and os.path.exists(path):
        rows = json.load(open(path))
    write(f"{build}/bench_machine.json", machine(build))
    for module, name, function in wanted:
        if QUICK and name == "svm" and "svm" not in asked:
            print("skipped: svm: it knows no small sizes; PARTS=svm runs it")
            continue
        print(f"== {module}: {name}", flush=True)
        start = time.perf_counter()
        try:
            new = function(build)
        except (Exception, SystemExit) as error:  # the other parts are still worth their time
            traceback.print_exc()
            print(f"failed: {name}: {error}")
            failed.append(name)
            continue
        for row in new:
            row.update(part=name, section=module, run=begun)
            if name not in ("engine", "svm"):
                say(row)
        places = {(one[0], one[1]): i for i, one in enumerate(known)}
        rows = [row for row in rows if row.get("part") != name] + new
        rows.sort(key=lambda row: places.get((row["section"], row["part"]), len(places)))
        write(path, rows)
        print(f"== {module}: {name}: {time.perf_counter() - start:.0f} s", flush=True)
    page.write(build)
    print(f"{sum(row['reached'] for row in rows)} of {len(rows)} rows reached" + (f"; failed: {' '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
