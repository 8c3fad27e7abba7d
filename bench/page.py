#!/usr/bin/python3
"""Writes docs/benchmarks.md and docs/benchmarks.html from BUILD/bench.json and BUILD/bench_machine.json; a small run (KLIFT_BENCH_QUICK) writes them to BUILD only.

usage: bench/page.py BUILD   The page of charts is one file: no script, no font, no picture from elsewhere; light or dark as the reader has it.
"""
import html, json, math, os, re, sys

SECTIONS = {  # module of the suite: heading, what is compared
    "engine": ("Engine",
               "Inner loops against OpenBLAS at the right core, in one process. The bare sgemm of a map is that of its product alone: klift also takes the cosine and the sine "
               "of every value, and writes twice as much. Transforms are held against the additions that registers allow: additions bind them, not memory."),
    "maps": ("Maps",
             "klift_map_apply against the same map in scikit-learn, or in numpy and scipy as one would write it well, float32 on both sides. \"Reused buffer\": klift writes to "
             "memory that it has written to before, as its own trainings do; \"fresh\": to memory from the system every time, as the peers do."),
    "svm": ("Linear SVM on features",
            "The learner svm against LIBLINEAR on the same features, and against LIBSVM with the exact kernel. Objectives of both are computed from their weights."),
    "ends": ("From files to answers",
             "Whole trainings and predictions by the command, its start and its reading included, with the error or accuracy on the test rows beside every time."),
    "read": ("Reading", "Files to rows in memory. klift reads text with two threads; the peers have one, and IDX takes one on both sides."),
    "latency": ("One row at a time",
                "klift_model_predict from a C program that has loaded the model, against a pipeline of scikit-learn in a running process. Medians of many calls."),
    "scaling": ("Cost against size",
                "Whole trainings by the command: ridge at a fixed lambda. A slope is that of log seconds against log size over the larger sizes; 1 is a straight line."),
}

# Why a row does not reach its goal, by the beginning of its name.
REASONS = {
    "CSV, 200,000 x 20": "numpy reads text in C since 1.23, as fast as pandas; the goal was set against numpy before it. By the profile half of klift's time "
                         "are the digits, a fifth the system's copy of the file; both are shared out over the threads, which wait for each other a seventh of it",
    "one row, orthogonal": "three tenths of the time are the six transforms, a quarter the scores, 74 KB of weights as whole numbers from the second cache for every row, a seventh cosines and sines. The peer is four times as fast where its 12.8 MB of weights stay in the third cache as where they come from memory",
    "nystrom 10,000 x 784 -> 2048, against": "both sides are bound by their products, klift's triangular as strmm's is",
    "orthogonal 10,000 x 784 -> 4096, 2 threads": "every row is 16 KB past the caches, and both cores share the way to memory: two processes on a CPU each take 4 % longer than one alone, and no longer when they leave these stores out.",
    "orthogonal 10,000 x 784 -> 4096, reused": "where a core writes 6.6 GB/s past the caches, the 16 KB of a row take it 2.5 us, its transforms and waves 3.2: they hide behind each other in part",
    "orthogonal 10,000 x 784 -> 4096, fresh": "half of the time are pages of the array that the system has yet to give",
    "fourier 10,000 x 8 ->": "bound by what two cores can write past the caches: products and waves are made while the stores drain. On a Zen 5 that was 44 GB/s in some runs and 89 in others, minutes apart, and the ratio with it: decision 90 has all of them",
    "fourier 10,000 x 16 ->": "bound by what two cores can write past the caches: products and waves are made while the stores drain. On a Zen 5 that was 44 GB/s in some runs and 89 in others, minutes apart, and the ratio with it: decision 90 has all of them",
    "fourier 10,000 x 54 ->": "at what registers allow, products with their waves take seven eighths of the time; waves of a block made beside the products of the next were no faster",
    "fourier 10,000 x 123 ->": "the products are most of the time; waves and writing hide behind them only in part",
    "fourier 10,000 x 256 ->": "the products are most of the time; waves and writing hide behind them only in part",
    "taylor degree 2": "by the profile a third is putting a row's hashed products in order, a seventh each are the products and their columns from a table; numpy's side has the same tables, and is bound by memory: it gains more by a large third cache",
    "tensor-sketch degree 7": "by the profile two fifths are additions to places that the hash decides, as many the transforms",
    "tree degree 7": "leaves and nodes in other orders: by the profile transforms, and values picked one by one from other places, are most of the time",
    **{f"MNIST, 4096 features, {what}": "by the profile four fifths of a training at a fixed lambda are float32 products, at nine tenths of what the registers allow, beside which their sums are added to float64; of the eight lambdas that are tried the five smallest need a factor in float64. Every pair of features once is 1,007 GFLOP: the share of sgemm beside it says what of the time that alone takes"
       for what in ("train + test, fixed", "train + test, lambda", "train + test, exact", "training")},
    "ijcnn1, nystrom 640: train": "LIBSVM needs 7 to 9 s here. Features and the svm's passes take two fifths each, landmarks a seventh of klift's time",
    "ridge statistics, 4096 features, 2 threads": "packing rows and the sums of classes are bound by the memory that both threads share, and take a larger part of the time since the products of one thread take less",
    "ridge statistics, 4096 features, blocks": "products run at nine tenths of what registers allow; rows are packed for both sides of a product, and read once more for the sums of classes, which takes a fourteenth of the time together",
    "statistics of a training": "packing rows and the sums of classes, a fourteenth of the time, are bound by the memory that both threads share; what else keeps it below the 1.98 of products is not known",
    "rows, 4 columns": "10,000,000 rows take seconds, in which a shared machine changes its speed",
    "usps ": "ten outputs of 7291 rows: reading the text twice, features and looks at all rows are a half of the time",
    "adult ": "with one output a sweep is one chain of steps, each of which waits for its row from memory; the second thread has nothing to do",
}


def reason(row):
    known = [text for prefix, text in REASONS.items() if row["name"].startswith(prefix)]
    if row["goal"] and not row["reached"] and row.get("spread", [0, 0])[1] >= row["goal"]:
        known.append("the upper quartile reaches the goal: the machine is shared, and its speed changes from round to round")
    if out_of_reach(row):
        known.append(f"if klift took no longer than the machine's limits say, which were measured in this run, the ratio would be {number(row['most'])}: the goal is out of reach here")
    return ". ".join(text for text in [row.get("note", ""), *known] if text)


def out_of_reach(row):
    return bool(row["goal"]) and not row["reached"] and row.get("most", math.inf) < row["goal"]


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def goal(row):
    return f"{row['goal']:.4g}" if row["goal"] else "none"


def ratio(row):
    return number(row["ratio"]) + (f" ({number(row['spread'][0])} to {number(row['spread'][1])})" if "spread" in row else "")


def share(row):
    if row.get("share") is None:
        return ""
    return f"{100 * row['share']:.{0 if row['share'] >= 0.1 else 1}f} % of {row['limit']}"


def verdict(row):
    return "" if not row["goal"] else "reached" if row["reached"] else f"**not reached** (at most {number(row['most'])} here)" if out_of_reach(row) else "**not reached**"


def peer(row):
    """The peer's figure and its name, apart."""
    found = re.match(r"([\d.]+(?:e[+-]?\d+)? (?:ns|us|ms|s|%)(?:, [\d.]+ MB/s)?) (.*)", row["peer"])
    return found.groups() if found else (row["peer"], "")


def cells(row):
    figure, against = peer(row)
    return [row["name"], against, row["klift"], figure, ratio(row), goal(row), verdict(row), share(row)]


HEAD = ["work", "against", "klift", "peer", "ratio (quartiles)", "goal", "", "of the machine's limit"]


def facts(m):
    limit = m["limits"]
    return [("processor", f"{m['cpu']}, {m['cores']} cores used{', ' + m['vectors'] if m['vectors'] else ''}"), ("memory", m["memory"]), ("system", m["system"]),
            ("OpenBLAS core", f"{m['core'] or 'its own choice'}, forced for every peer that uses it"),
            ("sgemm", f"{limit['sgemm']:.0f} GFLOP/s on two threads, {limit['sgemm1']:.0f} on one (sgemm1)"),
            *([("multiplications with an addition", f"{limit['fused']:.0f} GFLOP/s in registers, {limit['waves']:.1f} 10^9/s cosines and sines in a cache, on two threads")] if "fused" in limit else []),
            ("memory read", f"{limit['memory']:.1f} GB/s on two threads (memory), written past the caches {limit['write']:.1f} GB/s (write)"),
            ("additions", f"{limit['additions']:.0f} 10^9/s float32 on one thread"),
            ("versions", ", ".join(f"{name} {version}" for name, version in m["versions"].items()))]


def intro(rows, m):
    goals = [row for row in rows if row["goal"]]
    beyond = sum(out_of_reach(row) for row in goals)
    beyond = f" {beyond} of the others are beyond what this machine can do, by its limits as measured in this run." if beyond else ""
    runs = {}
    for row in rows:
        parts = runs.setdefault(row.get("run", ""), [])
        parts += [row["part"]] if row["part"] not in parts else []
    order = sorted(runs)
    mixed = [f"Not all rows are of one run: {', '.join(runs[order[0]])} of the first; run again later, whose rows replace those of before, " +
             "; ".join(f"{', '.join(runs[run])} ({run})" for run in order[1:]) + ". The limits of the machine are those of the last."] if len(order) > 1 else []
    return [f"{sum(row['reached'] for row in goals)} of {len(goals)} goals are reached, on {m['day']}.{beyond}",
            "Ratios are the message: the peer's time over klift's, so more is better, and a goal of 20 is \"20 times as fast\". Both sides run in turns in one run on one "
            "machine, klift first, with two threads each unless it is said otherwise; a ratio is the median over rounds of neighbours, repeated until it is known to 2 % "
            "(or for 20 seconds), with its quartiles behind it. Times are medians and belong to this machine. The last column is what klift had of the machine's own "
            "limit, measured in the same run.", *mixed]


COMMANDS = """```sh
# in the source tree
make bench                                # everything: LIBSVM on MNIST alone takes ten minutes
make bench KLIFT_DATA=folder              # the folder of the data sets; without it what needs them is left out
make bench PARTS="read latency"           # some parts; their rows replace those of the last run
make bench KLIFT_BENCH_QUICK=1            # small sizes: whether it runs, not how fast
```"""


def markdown(rows, m):
    yes = lambda text: str(text).replace("|", "\\|")
    out = ["# Benchmarks", "", "<!-- Written by bench/page.py: make bench writes it again. -->", ""]
    for text in intro(rows, m):
        out += [text, ""]
    out += ["[benchmarks.html](benchmarks.html) has the same as charts.", "", COMMANDS, "", "| | |", "|---|---|"]
    out += [f"| {name} | {yes(value)} |" for name, value in facts(m)]
    for section, (title, what) in SECTIONS.items():
        own = [row for row in rows if row["section"] == section]
        if not own:
            continue
        out += ["", f"## {title}", "", what, "", f"`make bench PARTS={section}`", "", "| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
        out += ["| " + " | ".join(yes(cell) for cell in cells(row)) + " |" for row in own]
        told = [f"- {row['name']}: {reason(row) or 'the reason is not known'}." for row in own if not row["reached"] or row.get("note")]
        if told:
            out += ["", "Not reached, and why; or what else is to be said:" if any(not row["reached"] for row in own) else "What else is to be said:", "", *told]
        commands = [f"- {row['name']}: `{row['command']}`" for row in own if "command" in row]
        if commands:
            out += ["", "Commands:", "", *commands]
    return "\n".join(out) + "\n"


# ---- the page of charts ----

STYLE = """
:root{--ground:#fcfcfb;--ink:#1b1b1a;--soft:#5c5b57;--line:#dddcd7;--ours:#2a6fbb;--miss:#c8641b;--none:#8d8c86;--mark:#1b1b1a;--card:#f3f2ee}
@media(prefers-color-scheme:dark){
:root{--ground:#191918;--ink:#ecebe7;--soft:#a5a49e;--line:#3a3936;--ours:#5b9fe3;--miss:#e58b45;--none:#8d8c86;--mark:#ecebe7;--card:#232321}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:70rem;padding:1.5rem 1rem 4rem;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.7rem;margin:.2rem 0 1rem}h2{font-size:1.25rem;margin:2.5rem 0 .3rem}p{max-width:46rem;margin:.5rem 0}.soft,figcaption{color:var(--soft)}
.row{display:grid;grid-template-columns:minmax(0,24rem) minmax(0,1fr) 9.5rem;gap:0 .8rem;align-items:center;padding:.15rem 0;font-size:.9rem}
.row .value{text-align:right;font-variant-numeric:tabular-nums}.row svg{width:100%;height:20px;display:block;overflow:visible}
.axis svg{height:18px}.axis text{fill:var(--soft);font-size:12px}
.ours{fill:var(--ours)}.miss{fill:var(--miss)}.none{fill:var(--none)}
.goal{stroke:var(--mark);stroke-width:2}.one{stroke:var(--line);stroke-width:1}.range{stroke:var(--mark);stroke-width:1;opacity:.55}
.not{color:var(--miss);font-weight:600}
table{border-collapse:collapse;font-size:.85rem;width:100%}th,td{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}
.wide{overflow-x:auto}details{margin:.6rem 0}summary{cursor:pointer;color:var(--soft)}code{font-size:.85em}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));gap:1rem}
figure{margin:0;background:var(--card);border-radius:.5rem;padding:.6rem}figure svg{width:100%;height:auto;display:block}figure text{fill:var(--soft);font-size:11px}
.curve{fill:none;stroke:var(--ours);stroke-width:2}.dot{fill:var(--ours)}
.guide{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 4;fill:none}.grid{stroke:var(--line);stroke-width:1}
.key{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;font-size:.85rem;color:var(--soft);margin:.6rem 0}.key svg{vertical-align:-2px}
@media(max-width:640px){.row{grid-template-columns:minmax(0,1fr) 6.5rem;padding:.35rem 0}.row .name{grid-column:1/-1}.axis .name{display:none}}
"""


def steps(low, high):
    """1, 2 and 5 times powers of ten between them, or the powers alone where those would be many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [a * 10.0 ** p for p in powers for a in (1, 2, 5) if low <= a * 10.0 ** p <= high]
    return fine if len(fine) <= 6 else [10.0 ** p for p in powers if low <= 10.0 ** p <= high]


def strip(row, place, origin):
    """One bar from the origin to the ratio, its quartiles, and the goal."""
    start, end = sorted((place(origin), place(row["ratio"])))
    kind = "miss" if not row["reached"] else "ours" if row["goal"] else "none"
    marks = [f'<line class="one" x1="{place(origin):.2f}%" x2="{place(origin):.2f}%" y1="0" y2="20"/>',
             f'<rect class="{kind}" x="{start:.2f}%" width="{max(end - start, 0.4):.2f}%" y="4" height="12" rx="2"/>']
    if "spread" in row:
        marks.append(f'<line class="range" x1="{place(row["spread"][0]):.2f}%" x2="{place(row["spread"][1]):.2f}%" y1="10" y2="10"/>')
    if row["goal"]:
        marks.append(f'<line class="goal" x1="{place(row["goal"]):.2f}%" x2="{place(row["goal"]):.2f}%" y1="1" y2="19"/>')
    words = html.escape(f"{row['name']}: {ratio(row)}, goal {goal(row)}; {row['klift']} against {row['peer']}")
    return f'<svg role="img" aria-label="{words}"><title>{words}</title>{"".join(marks)}</svg>'


def bars(rows, linear):
    """Rows over one axis: logarithmic about 1, where both take the same time, or for shares of a limit from 0 to 1."""
    values = [value for row in rows for value in [row["ratio"], row["goal"] or 1, *row.get("spread", [])] if value > 0]
    low, high = (0, max(1, *values)) if linear else (min(1, *values) / 1.1, max(1, *values) * 1.1)
    place = (lambda v: 100 * v / high) if linear else (lambda v: 100 * math.log(max(v, low) / low) / math.log(high / low))
    ticks = [0, 0.25, 0.5, 0.75, 1] if linear else steps(low, high)
    anchor = lambda t: "start" if place(t) < 4 else "end" if place(t) > 96 else "middle"
    axis = "".join(f'<text x="{place(t):.2f}%" y="13" text-anchor="{anchor(t)}">{t:g}</text>' for t in ticks)
    out = []
    for row in rows:
        value = f'{number(row["ratio"])} <span class="{"soft" if row["reached"] else "not"}">{"goal " + goal(row) if row["goal"] else "no goal"}</span>'
        out.append(f'<div class="row"><div class="name">{html.escape(row["name"])}</div>{strip(row, place, 0 if linear else 1)}<div class="value">{value}</div></div>')
    return "".join(out) + f'<div class="row axis"><div class="name"></div><svg>{axis}</svg><div></div></div>'


def curve(row):
    """log seconds against log size; the dashed line is straight, of slope 1, through the last point."""
    points, wide, high, left, below, right = row["points"], 360, 230, 46, 30, 22
    xs, ys = [math.log10(x) for x, _ in points], [math.log10(y) for _, y in points]
    x0, x1, y0, y1 = xs[0], xs[-1], math.floor(min(ys)), math.ceil(max(ys) + 1e-9)
    px, py = lambda x: left + (x - x0) / (x1 - x0) * (wide - left - right), lambda y: 8 + (y1 - y) / (y1 - y0) * (high - below - 8)
    marks = []
    for p in range(y0, y1 + 1):
        marks.append(f'<line class="grid" x1="{left}" x2="{wide - right}" y1="{py(p):.1f}" y2="{py(p):.1f}"/>')
        marks.append(f'<text x="{left - 5}" y="{py(p) + 4:.1f}" text-anchor="end">{10.0 ** p:g} s</text>')
    for x, _ in points:
        if len(points) <= 5 or round(math.log10(x), 6) % 1 == 0 or x in (points[0][0], points[-1][0]) or row["axis"] == "classes":
            text = f"10^{round(math.log10(x))}" if x >= 10 ** 4 and round(math.log10(x), 6) % 1 == 0 else f"{x:,}"
            marks.append(f'<text x="{px(math.log10(x)):.1f}" y="{high - below + 18}" text-anchor="middle">{text}</text>')
    guide = max(y0, ys[-1] - (x1 - x0))
    marks.append(f'<path class="guide" d="M{px(x1 - (ys[-1] - guide)):.1f} {py(guide):.1f}L{px(x1):.1f} {py(ys[-1]):.1f}"/>')
    marks.append('<path class="curve" d="M' + "L".join(f"{px(x):.1f} {py(y):.1f}" for x, y in zip(xs, ys)) + '"/>')
    for x, y, (n, seconds) in zip(xs, ys, points):
        marks.append(f'<circle class="dot" cx="{px(x):.1f}" cy="{py(y):.1f}" r="4"><title>{n:,} {row["axis"]}: {seconds:.3g} s</title></circle>')
    words = html.escape(f"{row['name']}: seconds against {row['axis']}, slope {row['slope']:.2f}")
    wanted = f"; goal within {1 - row['goal']:.0%} of 1" if row["goal"] else ""
    missed = "" if row["reached"] else ' <span class="not">not reached</span>'
    return (f'<figure><svg viewBox="0 0 {wide} {high}" role="img" aria-label="{words}">{"".join(marks)}</svg>'
            f'<figcaption>{html.escape(row["name"])}: slope {row["slope"]:.2f}{html.escape(wanted)}{missed}</figcaption></figure>')


def table(rows):
    head = "".join(f"<th>{html.escape(word)}</th>" for word in HEAD)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell).replace('**', '')}</td>" for cell in cells(row)) + "</tr>" for row in rows)
    return f'<details><summary>times, peers and shares of the machine\'s limit</summary><div class="wide"><table><tr>{head}</tr>{body}</table></div></details>'


def charts(rows, m):
    box = lambda kind, words: f'<span><svg width="22" height="12"><rect class="{kind}" width="22" height="12" rx="2"/></svg> {words}</span>'
    key = ('<div class="key">' + box("ours", "goal reached") + box("miss", "not reached") + box("none", "no goal is set") +
           '<span><svg width="10" height="16"><line class="goal" x1="5" x2="5" y1="0" y2="16"/></svg> goal</span>'
           '<span>bars begin at 1, where both sides take the same time; the scale is logarithmic</span></div>')
    out = ['<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
           f"<title>klift: benchmarks</title><style>{STYLE}</style>", "<h1>klift: benchmarks</h1>", *(f"<p>{html.escape(text)}</p>" for text in intro(rows, m)), key]
    for section, (title, what) in SECTIONS.items():
        own = [row for row in rows if row["section"] == section]
        if not own:
            continue
        out.append(f'<h2 id="{section}">{html.escape(title)}</h2><p class="soft">{html.escape(what)}</p>')
        lines, shares = [row for row in own if "points" in row], [row for row in own if "share of" in row["name"]]
        rest = [row for row in own if row not in lines and row not in shares]
        out += [bars(rest, False)] if rest else []
        out += [f'<p class="soft">Shares of what the machine can do:</p>{bars(shares, True)}'] if shares else []
        out += [f'<div class="charts">{"".join(curve(row) for row in lines)}</div>'] if lines else []
        out.append(table(own))
        told = [f"<li>{html.escape(row['name'])}: {html.escape(reason(row) or 'the reason is not known')}.</li>" for row in own if not row["reached"] or row.get("note")]
        out += [f"<details><summary>not reached, and why</summary><ul>{''.join(told)}</ul></details>"] if told else []
    known = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in facts(m))
    out.append(f'<h2>The machine</h2><div class="wide"><table>{known}</table></div>')
    out.append("<p class=soft>Again: <code>make bench</code>; benchmarks.md beside this page has the parts.</p></html>\n")
    return "\n".join(out)


def write(build):
    if not os.path.exists(f"{build}/bench.json"):
        return
    rows, m = json.load(open(f"{build}/bench.json")), json.load(open(f"{build}/bench_machine.json"))
    docs = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs")
    for folder in [build] if m["quick"] else [build, docs]:
        for name, text in (("benchmarks.md", markdown(rows, m)), ("benchmarks.html", charts(rows, m))):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1])
