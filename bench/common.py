"""What the benchmarks share: OpenBLAS's core, time, races, limits of the machine, a comparison as a row, the report of all of them.

A part of the suite is a module with PARTS = {"name": function(build) -> [row, ...]}; bench/suite.py runs them.
KLIFT_BENCH_QUICK=1 makes every size and number of rounds small: whether it all runs, not how fast.
"""
import json, math, os, statistics, subprocess, sys, time

QUICK = os.environ.get("KLIFT_BENCH_QUICK", "0") not in ("", "0")
DATA = os.environ.get("KLIFT_DATA", "")


def core():
    flags = open("/proc/cpuinfo").read()
    return "SkylakeX" if "avx512dq" in flags else "Zen" if "AuthenticAMD" in flags and "avx2" in flags else "Haswell" if "avx2" in flags else None


if core():
    os.environ["OPENBLAS_CORETYPE"] = core()  # before numpy loads OpenBLAS, which takes new CPUs for old ones; whatever the environment says, the peers get the right one
os.environ.pop("OPENBLAS_L2_SIZE", None)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")  # as many as klift gets


class Seconds(float):
    """What a work returns that has timed itself: a program whose start does not count."""


def timed(function):
    start = time.perf_counter()
    own = function()
    return own if isinstance(own, Seconds) else time.perf_counter() - start


def size(full, quick):
    return quick if QUICK else full


def data_file(*parts):
    """A file of KLIFT_DATA, or None after a message."""
    path = os.path.join(DATA, *parts)
    if DATA and os.path.exists(path):
        return path
    print(f"skipped: {parts[0]}: set KLIFT_DATA to the folder that holds {'/'.join(parts)}")
    return None


def run(*command, **more):
    """What a command writes to its standard output; its words and the end of everything when it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(str(word) for word in command)}\n{done.stderr}")
    return done.stdout


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third


class Race:
    """took[i]: seconds of work i in every round. The last work is the peer."""

    def __init__(self, took):
        self.took, self.rounds = took, len(took[0])
        self.seconds = [statistics.median(column) for column in took]
        self.quartiles = [quartiles(column) for column in took]

    def ratios(self, i=0):
        return [peer / ours for ours, peer in zip(self.took[i], self.took[-1])]

    def ratio(self, i=0):
        return statistics.median(self.ratios(i))

    def spread(self, i=0):
        return quartiles(self.ratios(i))

    def known(self, i=0):
        """Standard error of the median ratio, as a part of it, from its quartiles: a round that was disturbed does not count for more than another."""
        first, third = self.spread(i)
        return 0.93 * (third - first) / self.rounds ** 0.5 / self.ratio(i)


def race(works, rounds=None, again=None):
    """Works in turns, klift's first and the peer last, after a round that does not count; again() is called before each, untimed.

    A moment passes before each: OpenBLAS's threads look for work for some 30 ms behind a product, on the cores of whoever is next. What takes less than 20 ms, on
    either side, is repeated for as long in a round, as whoever has many rows does: the first call behind a rest waits until the system has woken the second core.
    At least 5 rounds, then more until the median ratio of neighbours, which a busy machine disturbs least, is known to 2 %: at most 40, or 20 s (but 3 rounds).
    Where one round takes more than 20 s there is nothing to warm: the first one counts, and there are `rounds` of them (3 where not given).
    """
    def once(repeats):
        took = []
        for work, count in zip(works, repeats):
            if again:
                again()
            time.sleep(0 if QUICK else 0.05)
            took.append(timed(work) if count == 1 else sum(timed(work) for _ in range(count)) / count)
        return took

    first = once([1] * len(works))
    repeats = [1 if again or QUICK or isinstance(took, Seconds) else max(1, math.ceil(0.02 / took)) for took in first]
    if QUICK:
        rounds = 1 if rounds == 1 else 3
    long = sum(first) > 20 or rounds == 1
    took = [first] if long else []
    least, most = (rounds, rounds) if rounds else (3, 3) if long else (5, 40)
    start = time.perf_counter()
    while len(took) < most:
        took.append(once(repeats))
        now = Race(list(zip(*took)))
        spent = not rounds and time.perf_counter() - start > 20
        if len(took) >= (3 if spent else least) and (spent or all(now.known(i) < 0.02 for i in range(len(works) - 1))):
            break
    return Race(list(zip(*took)))


def milliseconds(seconds):
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s" if seconds < 100 else f"{seconds:.0f} s"


def row(name, ratio, goal, klift, peer, spread=None, share=None, limit=None, command=None, note=None, part=None, most=None):
    """ratio: higher is better, reached from goal on (0: none is set). share: of the machine's limit, "sgemm", "memory" or "additions", in this run. most: what the ratio
    would be if klift took no longer than these limits say that a part of its work must take."""
    made = {"name": name, "ratio": round(ratio, 4 if ratio < 2 else 3), "goal": goal, "reached": bool(not goal or ratio >= goal), "klift": klift, "peer": peer}
    if spread:
        made["spread"] = [round(value, 4 if value < 2 else 3) for value in spread]
    if share is not None:
        made["share"], made["limit"] = round(share, 3), limit
    if most is not None:
        made["most"] = round(most, 3)
    return made | {key: value for key, value in (("command", command), ("note", note), ("part", part)) if value}


LIMITS = {}


def limits(build):
    """GFLOP/s of a bare sgemm on two threads and on one, and of two that multiply and add in registers, GB/s of two threads that read and that write past the caches, 10^9 additions/s of one thread, and 10^9/s of
    two that make cosines and sines of what is in a cache."""
    if not LIMITS:
        LIMITS.update(json.loads(run(f"{build}/bench/bench_engine", "limits")))
    return LIMITS


def share_of(limit, amount, seconds):
    """The part of a limit that amount (GFLOP, GB, 10^9 additions) in so many seconds is; None before limits() was called."""
    return amount / seconds / LIMITS[limit] if limit in LIMITS else None


def most_of(peer, *seconds):
    """The ratio of a work that takes as long as the longest of these, which run beside each other; None where a limit is not known."""
    return None if None in seconds else peer / max(seconds)


def seconds_of(*parts):
    """Of parts (limit, amount) one after the other, at the machine's limits; None before limits() was called."""
    return sum(amount / LIMITS[limit] for limit, amount in parts) if all(limit in LIMITS for limit, _ in parts) else None


def say(r):
    spread = f"[{r['spread'][0]:.4g} .. {r['spread'][1]:.4g}]" if "spread" in r else ""
    share = f"{100 * r['share']:.0f} % of {r['limit']}" if r.get("share") is not None else ""
    reached = "   " if r["reached"] else "not"
    print(f"{r['name']:68s} {r['ratio']:9.4f} {spread:20s}  goal {r['goal']:6.3f} {reached}   {r['klift']:>16s}   {r['peer']}   {share}", flush=True)


def report(rows, path):
    for r in rows:
        say(r)
    with open(path, "w") as file:
        json.dump(rows, file, indent=1)
