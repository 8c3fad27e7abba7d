"""Feature maps against scikit-learn's, and where it has none against the same map in numpy and scipy as a careful user would write it.

Both sides have two threads, float32 rows and the right core of OpenBLAS. "Reused buffer": klift writes where it wrote before. "Fresh array": into numpy.empty of
each round, whose pages the system has yet to give, as for every output of scikit-learn. The peers written here write into reused memory, as klift does beside them.
Before each race both sides map the same few rows, and z(x).z(y) of both is held against the kernel: a row of the table exists only if the same job is done, agree().
"""
import itertools, math

from common import Race, data_file, milliseconds, most_of, race, row, seconds_of, share_of, size, timed
from arrays import Klift, view

try:
    import numpy, scipy.fft, scipy.linalg, scipy.optimize, scipy.sparse
    from sklearn.datasets import load_svmlight_file
    from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler
    missing = None
except ImportError as problem:
    missing = problem

BLOCK = 2000  # rows of a block in the peers: OpenBLAS packs the weights anew for every product, so that fewer rows are slower, and more are no faster
CHECKED = 64  # rows whose kernel is compared


# ---- the same job? ----

def gaussian(x, gamma):
    x = x.astype(numpy.float64)
    square = (x * x).sum(axis=1)
    return numpy.exp(-gamma * (square[:, None] + square - 2 * x @ x.T))


def polynomial_kernel(x, degree):
    x = x.astype(numpy.float64)
    return (x @ x.T + 1) ** degree


def agree(name, kernel, ours, theirs):
    """A note with what both err by, the mean of |z(x).z(y) - K| over that of K; an error unless these are within a factor 3 or both below 0.1, and no map of another kernel."""
    products = [z.astype(numpy.float64) @ z.astype(numpy.float64).T for z in (ours, theirs)]
    errors = [float(abs((p.toarray() if scipy.sparse.issparse(p) else p) - kernel).mean() / abs(kernel).mean()) for p in products]
    if not max(errors) < 0.6 or not (max(errors) < 3 * min(errors) or max(errors) < 0.1):
        raise RuntimeError(f"{name}: not the same job: klift's features err by {errors[0]:.3g} of the kernel, the peer's by {errors[1]:.3g}")
    return f"mean error of the kernel {errors[0]:.2g}, peer {errors[1]:.2g}"


# ---- rows of the table ----

def limit(seconds, rows, columns, features, gflop=0.0, entries=None):
    """The nearer of the limits: sgemm for products, or memory when x is read once and z written once. entries: of z when it is sparse."""
    written = 4e-9 * rows * features if entries is None else 8e-9 * entries
    memory = [share_of("memory", 4e-9 * rows * columns, seconds), share_of("write", written, seconds)]
    product = share_of("sgemm", gflop, seconds)
    if product is None or None in memory:
        return {}
    return {"share": max(product, sum(memory)), "limit": "sgemm" if product > sum(memory) else "memory"}


def result(name, run, i, goal, peer, shares, note, most=None):
    return row(name, run.ratio(i), goal, milliseconds(run.seconds[i]), f"{milliseconds(run.seconds[-1])} {peer}", spread=run.spread(i), note=note, most=most, **shares)


def unit_rows(rows, columns):
    """Rows of length 1 with no negative value, as pictures and words have: kernels of their products are then of all sizes, not only those of right angles."""
    x = numpy.abs(numpy.random.default_rng(1).standard_normal((rows, columns), dtype=numpy.float32))
    return x / numpy.linalg.norm(x, axis=1, keepdims=True)


def adult(rows):
    """Rows of adult as CSR, or None."""
    path = data_file("adult", "train.svm")
    return path and load_svmlight_file(path, n_features=123, dtype=numpy.float32)[0][:rows]


# ---- Fourier features against RBFSampler ----

def waves(klift, name, rows, columns, features, rounds=None):
    """Reused buffer, fresh array, RBFSampler; and what both err by. With gamma 1 / (2 columns) K of two rows is about 1 / e."""
    x = numpy.random.default_rng(1).standard_normal((rows, columns), dtype=numpy.float32)
    z, gamma = numpy.ones((rows, features), numpy.float32), 0.5 / columns
    sampler = RBFSampler(gamma=gamma, n_components=features, random_state=1).fit(x[:2])
    made, batch, some = klift.map(map=name, kernel=f"gaussian:gamma={gamma!r}", dim=columns, features=features), view(x), x[:CHECKED]
    theirs = sampler.transform(some)
    if theirs.dtype != numpy.float32:
        raise RuntimeError("RBFSampler does not compute in float32: it would be twice as slow as it can be")
    note = agree(f"{name} of {columns} columns", gaussian(some, gamma), klift.apply(made, some, z[:CHECKED]), theirs)
    works = [lambda: klift.apply(made, batch, z), lambda: klift.apply(made, batch, numpy.empty((rows, features), numpy.float32)), lambda: sampler.transform(x)]
    return race(works, rounds), note


def fourier(build):
    """RBFSampler multiplies once and takes the cosine of as many products as there are features; klift cosine and sine of half as many, which is the better map, too."""
    klift, rows, features, made = Klift(build), size(10000, 500), size(2048, 256), []
    for columns, goal in zip((8, 16, 54, 123, 256), (10, 10, 8, 6, 4)):
        run, note = waves(klift, "fourier", rows, columns, features)
        name = f"fourier {rows:,} x {columns} -> {features}"
        product, made_waves, written = ("fused", 1e-9 * rows * columns * features), ("waves", 1e-9 * rows * features), ("write", 4e-9 * rows * features)
        most = most_of(run.seconds[-1], seconds_of(product, made_waves), seconds_of(written))
        if most:
            least = [milliseconds(seconds_of(part)) for part in (product, made_waves, written)]
            note += f"; at the machine's limits the product alone takes {least[0]}, cosines and sines {least[1]}, writing the features {least[2]}"
        for i, into, reach in ((0, "reused buffer", goal), (1, "fresh array", 2)):
            shares = limit(run.seconds[i], rows, columns, features, 1e-9 * rows * columns * features)  # features / 2 directions, 2 operations for each of their coordinates
            made.append(result(f"{name}, {into}", run, i, reach, "RBFSampler", shares, note, most))
    return made


def orthogonal(build):
    """784 columns as in MNIST, and the least ratio of all widths: between powers of two, below them and above them, which the transforms like least."""
    klift, rows, columns, features, made = Klift(build), size(10000, 500), 784, size(4096, 1024), []
    run, note = waves(klift, "orthogonal", rows, columns, features)
    intos = (0, "reused buffer", 18), (1, "fresh array", 9)
    block = 2 ** math.ceil(math.log2(columns))
    added = 1e-9 * rows * 3 * features / 2 * math.log2(block) / 2  # three transforms of every block of directions; the limit is that of one thread
    most = most_of(run.seconds[-1], seconds_of(("additions", added), ("waves", 1e-9 * rows * features)), seconds_of(("write", 4e-9 * rows * features)))
    for i, into, goal in intos:
        made.append(result(f"orthogonal {rows:,} x {columns} -> {features}, {into}", run, i, goal, "RBFSampler", limit(run.seconds[i], rows, columns, features), note, most))
    rows = size(2500, 300)  # an output of 41 MB: malloc keeps blocks up to 32 MB for the next one, and then an array is not fresh
    widths = size((16, 24, 32, 54, 64, 100, 123, 128, 200, 256, 300, 512, 784, 1024, 1500, 2048, 3000, 4096), (16, 24, 123, 256, 300))
    runs = {columns: waves(klift, "orthogonal", rows, columns, features, rounds=7) for columns in widths}
    for i, into, _ in intos:
        worst = min(widths, key=lambda columns: runs[columns][0].ratio(i))
        run, note = runs[worst]
        name = f"orthogonal {rows:,} x 16..4096 -> {features}, {into}: least at {worst} columns"
        made.append(result(name, run, i, 1, "RBFSampler", limit(run.seconds[i], rows, worst, features), note))
        made[-1]["series"] = [[columns, round(runs[columns][0].ratio(i), 3)] for columns in widths]
    return made


# ---- polynomials against PolynomialCountSketch ----

def sketches(klift, what, x, features, degree, goals):
    """tensor-sketch and tree of x, dense or CSR. PolynomialCountSketch gets two threads for its Fourier transforms: it does not ask for them, but scipy lets its caller."""
    rows, columns = x.shape
    z, batch, some = numpy.ones((rows, features), numpy.float32), view(x), x[:CHECKED]
    sketch = PolynomialCountSketch(degree=degree, gamma=1, coef0=1, n_components=features, random_state=1).fit(x[:2])
    by_columns = x.tocsc() if scipy.sparse.issparse(x) else x  # what it makes of CSR first of all: not held against it
    made = {name: klift.map(map=name, kernel=f"poly:degree={degree},offset=1", dim=columns, features=features) for name in goals}
    kernel = polynomial_kernel(some.toarray() if scipy.sparse.issparse(x) else some, degree)
    theirs = sketch.transform(some)
    notes = [agree(f"{name} of degree {degree}, {what}", kernel, klift.apply(made[name], some, z[:CHECKED]), theirs) for name in goals]
    with scipy.fft.set_workers(2):
        run = race([lambda name=name: klift.apply(made[name], batch, z) for name in goals] + [lambda: sketch.transform(by_columns)])
    entries = 2 * x.nnz if scipy.sparse.issparse(x) else rows * columns  # 4 bytes of value, and as many of column, in CSR
    shares = [limit(run.seconds[i], rows, entries / rows, features) for i in range(len(goals))]
    shape = f"degree {degree}, {what} {rows:,} x {columns} -> {features}"
    return [result(f"{name} {shape}", run, i, goals[name], "PolynomialCountSketch", shares[i], notes[i]) for i, name in enumerate(goals)]


def polynomial(build):
    klift, features, made = Klift(build), size(4096, 2048), []
    x = unit_rows(size(2000, 100), 784)
    for degree in (2, 3, 7):
        made += sketches(klift, "dense", x, features, degree, {"tensor-sketch": 120, "tree": 100} if degree == 7 else {"tensor-sketch": 60, "tree": 60})
    x = adult(size(2000, 100))
    if x is None:
        return made
    x = scipy.sparse.diags(1 / numpy.sqrt(x.multiply(x).sum(axis=1).A1)).astype(numpy.float32).dot(x).tocsr()  # unit rows, or (s + 1)^7 is of 10^8
    for degree in (3, 7):
        made += sketches(klift, "adult CSR", x, features, degree, {"tensor-sketch": 100, "tree": 100})
    return made


# ---- maps that scikit-learn does not have, or not well: peers in numpy and scipy ----

def dense_maclaurin(degree, columns, features, seed=2, share=1.0):
    """Random Maclaurin features by dense products, the map of klift's maclaurin: of `share` times (s + 1)^degree without its constant, and a column for that.

    Best practice: features of the most factors come first, so that factor j is one sgemm for all features that have it, and multiplies a prefix in place. Real and
    imaginary parts of the weights are neighbours: the product, seen as complex64, is the factor, and nothing is put together. Scales are in the weights. The first factor is
    written where the features go; for the others memory is taken once. Blocks of rows; no loop is over rows or features. Signs 1, i, -1, -i as in klift: half of the
    weights are zeros, which sgemm makes no use of, but with real signs it takes more than twice the features for the same error (3^7 against 2 2^7 of variance).
    """
    coefficient = [math.comb(degree, n) for n in range(degree + 1)]
    units, random = features // 2 - 1, numpy.random.default_rng(seed)
    counts = [0] + [max(1, int(units * a / sum(coefficient[1:]))) for a in coefficient[1:]]
    counts[degree // 2] += units - sum(counts)
    unit = numpy.repeat(numpy.arange(degree, 0, -1), counts[:0:-1])  # degrees, longest first
    scale = numpy.array([(share * coefficient[n] / counts[n]) ** (0.5 / n) for n in unit], numpy.float32)
    slots = []
    for j in range(1, degree + 1):
        many = int((unit >= j).sum())
        code = random.integers(0, 4, (columns, many), numpy.int8)
        sign = numpy.where(code & 2, -scale[:many], scale[:many])
        slots.append(numpy.stack([numpy.where(code & 1, 0, sign), numpy.where(code & 1, sign, 0)], axis=2).reshape(columns, 2 * many))
    room = numpy.ones(BLOCK * 2 * units, numpy.float32)

    def work(x, z):
        for first in range(0, len(x), BLOCK):
            rows, out = x[first:first + BLOCK], z[first:first + BLOCK]
            numpy.matmul(rows, slots[0], out=out[:, :2 * units])
            product = out[:, :2 * units].view(numpy.complex64)
            for slot in slots[1:]:
                factor = numpy.matmul(rows, slot, out=room[:slot.shape[1] * len(rows)].reshape(len(rows), -1)).view(numpy.complex64)
                product[:, :factor.shape[1]] *= factor
            out[:, 2 * units:] = 1, 0
        return z
    return work


def dense_craft(degree, columns, features, up):
    """klift's craft(maclaurin) by dense products: `up` independent maps of as many features as are kept, added up with signs.

    Best practice: `up` times dense_maclaurin, which see. Scales and signs of the sum are in their weights, which have independent signs anyway. The first copy is made where
    the sum goes; a block of rows is done before the next one; nothing is larger than the output. The constant is added once. klift moreover makes degree 1 exact.
    """
    copies = [dense_maclaurin(degree, columns, features, seed, 1 / up) for seed in range(up)]
    room = numpy.ones((BLOCK, features), numpy.float32)

    def work(x, z):
        for first in range(0, len(x), BLOCK):
            rows, out = x[first:first + BLOCK], z[first:first + BLOCK]
            copies[0](rows, out)
            for copy in copies[1:]:
                out += copy(rows, room[:len(rows)])
            out[:, -2] = 1
        return z
    return work


def sphere_law(degree, columns, points=129, radii=300):
    """Radii of waves and their shares for ((1 + s) / 2)^degree on the unit sphere of so many columns, by non-negative least squares; not timed."""
    z, height = numpy.linspace(0, 2, points), numpy.sqrt(degree) / 2
    radius = numpy.linspace(0, 1.6 * math.sqrt(2) * height * (math.sqrt(columns) + 6) + 1, radii)[1:]
    angle = (numpy.arange(400) + 0.5) / 400 * min(math.pi / 2, math.sqrt(80 / (columns - 2)))
    weight = numpy.cos(angle) ** (columns - 2)
    mean = sum(w * numpy.cos(numpy.outer(z, radius) * u) for w, u in zip(weight / weight.sum(), numpy.sin(angle)))  # E cos(z radius u_1), u uniform on the sphere
    importance = numpy.r_[math.sqrt(30), numpy.full(points - 1, math.sqrt(1 / points))][:, None]
    share = scipy.optimize.nnls(importance * mean, (importance[:, 0] * (1 - z * z / 4) ** degree))[0]
    return radius[share > 0], share[share > 0] / share.sum()


def dense_spherical(degree, columns, features):
    """Waves for (s + 1)^degree on unit rows by a dense product: klift's spherical, with directions from rotations and the same law of radii.

    Best practice: one sgemm of half as many columns as there are features; cosine and sine of it, which numpy has in AVX-512 for float32, written where they go; one scaling
    in place. Blocks of rows, memory for the product that is taken once.
    """
    radius, share = sphere_law(degree, columns)
    count, random = features // 2, numpy.random.default_rng(3)
    rotations = [numpy.linalg.qr(random.standard_normal((columns, columns)))[0] for _ in range(-(-count // columns))]
    place = numpy.searchsorted(numpy.cumsum(share), (numpy.arange(count) + 0.5) / count).clip(max=len(radius) - 1)
    weight = (numpy.hstack(rotations)[:, :count] * radius[random.permutation(place)]).astype(numpy.float32)
    room, scale = numpy.ones((BLOCK, count), numpy.float32), numpy.float32(math.sqrt(2 ** degree / count))

    def work(x, z):
        for first in range(0, len(x), BLOCK):
            rows, out = x[first:first + BLOCK], z[first:first + BLOCK]
            turns = numpy.matmul(rows, weight, out=room[:len(rows)])
            numpy.cos(turns, out=out[:, :count])
            numpy.sin(turns, out=out[:, count:])
            out *= scale
        return z
    return work


def sparse_taylor(gamma, degree, columns, features, widest):
    """Taylor features of the Gaussian kernel as klift makes them by default: degrees 0 and 1 in columns of their own, products of more nonzeros hashed; CSR, columns ascending.

    Best practice: rows as arrays (nonzero, row), filled up with zeros, so that a product of nonzeros is one of whole lines, for all rows of a block at once. Bucket, and sign
    with factor, come from tables by the columns of a product: no hash is computed. Columns of a row are put in order by two transpositions of scipy (CSR to CSC and back,
    a counting sort), then what shares one is added up. That took half as long as sum_duplicates() by itself, and less than scikit-learn's PolynomialFeatures times a sparse
    matrix of signs. Blocks of rows; no loop is over rows.
    """
    random, entries = numpy.random.default_rng(4), 1 + widest
    tables, factor = [], math.sqrt(2 * gamma)
    for k in range(2, degree + 1):
        at = numpy.indices((columns,) * k).reshape(k, -1)
        alike = sum((at[a] == at[b]).astype(int) for a, b in itertools.combinations(range(k), 2))
        times = numpy.choose(numpy.minimum(alike, 3), [1, 2, 4, 6])  # product of the factorials of exponents: no two columns alike, two, or three
        sign = random.choice([-1, 1], columns ** k)
        tables.append((random.integers(1 + columns, features, columns ** k).astype(numpy.int32), (sign * factor ** k / numpy.sqrt(times)).astype(numpy.float32)))
    lines = [numpy.array(list(itertools.combinations_with_replacement(range(widest), k))).T for k in range(2, degree + 1)]
    entries += sum(line.shape[1] for line in lines)
    nonzero = numpy.arange(widest, dtype=numpy.int32)[:, None]

    def block(x):
        rows = x.shape[0]
        at = numpy.minimum(x.indptr[:-1] + nonzero, x.nnz - 1)
        column, x_value = x.indices[at], x.data[at]
        x_value[nonzero >= numpy.diff(x.indptr)] = 0
        value, place = numpy.empty((entries, rows), numpy.float32), numpy.empty((entries, rows), numpy.int32)
        value[0], place[0] = numpy.exp(-gamma * numpy.einsum("ij,ij->j", x_value, x_value)), 0
        first = x_value * value[0]
        numpy.multiply(first, numpy.float32(factor), out=value[1:1 + widest])
        numpy.add(column, 1, out=place[1:1 + widest])
        end = 1 + widest
        for (bucket, signed), line in zip(tables, lines):
            here = slice(end, end + line.shape[1])
            index, product = column[line[0]], numpy.take(first, line[0], axis=0, out=value[here], mode="clip")
            for more in line[1:]:
                index *= columns
                index += column[more]
                product *= x_value[more]
            product *= numpy.take(signed, index, mode="clip")
            numpy.take(bucket, index, out=place[here], mode="clip")
            end = here.stop
        start = numpy.arange(rows + 1, dtype=numpy.int32) * entries
        made = scipy.sparse.csr_matrix((numpy.ascontiguousarray(value.T).ravel(), numpy.ascontiguousarray(place.T).ravel(), start), shape=(rows, features)).tocsc().tocsr()
        made.has_sorted_indices = True
        made.sum_duplicates()
        return made

    step = 1000  # rows of a block: what is sorted should stay in a cache
    return lambda x: scipy.sparse.vstack([block(x[first:first + step]) for first in range(0, x.shape[0], step)], format="csr")


def dense_nystrom(landmarks, gamma, triangular):
    """Nystrom features by two products: K(x, landmarks) for the Gaussian kernel, times the inverse of the Cholesky factor of K(landmarks, landmarks), all in float32.

    Best practice: distances from one sgemm with 2 gamma in the weights, exp in place, blocks of rows, memory taken once. The second product is a full one, as in
    scikit-learn's Nystroem and as numpy has it, or (triangular) scipy's strmm, in place in the output, with half the operations.
    """
    exact = gaussian(landmarks, gamma)
    exact[numpy.diag_indices_from(exact)] += 1e-6
    inverse = scipy.linalg.solve_triangular(numpy.linalg.cholesky(exact), numpy.eye(len(exact)), lower=True).astype(numpy.float32)
    whitening = numpy.asfortranarray(inverse) if triangular else numpy.ascontiguousarray(inverse.T)
    weight, square = numpy.ascontiguousarray(2 * numpy.float32(gamma) * landmarks.T), numpy.float32(gamma) * (landmarks * landmarks).sum(axis=1)
    room = numpy.ones((BLOCK, len(landmarks)), numpy.float32)

    def work(x, z):
        for first in range(0, len(x), BLOCK):
            rows, out = x[first:first + BLOCK], z[first:first + BLOCK]
            k = numpy.matmul(rows, weight, out=out if triangular else room[:len(rows)])
            k -= square
            k -= numpy.float32(gamma) * numpy.einsum("ij,ij->i", rows, rows)[:, None]
            numpy.exp(k, out=k)
            if triangular:
                scipy.linalg.blas.strmm(1, whitening, out.T, lower=1, overwrite_b=1)  # (L^-1 k')' = k L^-1', in columns as Fortran has them
            else:
                numpy.matmul(k, whitening, out=out)
        return z
    return work


def maclaurin_rows(klift, features):
    """The default takes transforms for 784 columns, and only the constant exact: that is projection=hadamard,h01=false. Dense is the peer's own way, to compare with."""
    rows, columns, degree = size(2000, 100), 784, 7
    x, z, kernel = unit_rows(rows, columns), numpy.ones((rows, features), numpy.float32), f"poly:degree={degree},offset=1"
    variants = (("maclaurin (default)", "maclaurin", 12), ("maclaurin by transforms (projection=hadamard, h01=false)", "maclaurin:projection=hadamard,h01=false", 12),
                ("maclaurin by products (projection=dense)", "maclaurin:projection=dense", 0))
    peer, batch, some, works, notes, y = dense_maclaurin(degree, columns, features), view(x), x[:CHECKED], [], [], z.copy()
    for name, spec, _ in variants:
        made = klift.map(map=spec, kernel=kernel, dim=columns, features=features)
        notes.append(agree(name, polynomial_kernel(some, degree), klift.apply(made, some, z[:CHECKED]), peer(some, y[:CHECKED])))
        works.append(lambda made=made: klift.apply(made, batch, z))
    run = race(works + [lambda: peer(x, y)])
    average = sum(n * math.comb(degree, n) for n in range(degree + 1)) / (2 ** degree - 1)  # factors of a feature
    gflop = [0, 0, 2e-9 * rows * columns * features * average]
    shares, shape = [limit(run.seconds[i], rows, columns, features, gflop[i]) for i in range(len(variants))], f"degree {degree}, {rows:,} x {columns} -> {features}"
    return [result(f"{name}, {shape}", run, i, goal, "numpy, dense products", shares[i], notes[i]) for i, (name, _, goal) in enumerate(variants)]


def craft_rows(klift, features):
    rows, columns, degree, up = size(1000, 100), 784, 7, 8
    x, z = unit_rows(rows, columns), numpy.ones((rows, features), numpy.float32)
    peer, batch, some, y = dense_craft(degree, columns, features, up), view(x), x[:CHECKED], z.copy()
    made = klift.map(map=f"craft(maclaurin):up={up}", kernel=f"poly:degree={degree},offset=1", dim=columns, features=features)
    note = agree("craft", polynomial_kernel(some, degree), klift.apply(made, some, z[:CHECKED]), peer(some, y[:CHECKED]))
    run = race([lambda: klift.apply(made, batch, z), lambda: peer(x, y)])
    name, shares = f"craft(maclaurin):up={up}, degree {degree}, {rows:,} x {columns} -> {features}", limit(run.seconds[0], rows, columns, features)
    return [result(name, run, 0, 10, "numpy, dense products", shares, note)]


def spherical_rows(klift, features):
    if not klift.has("spherical"):
        print("skipped: spherical: this klift was built without it")
        return []
    rows, columns, degree = size(10000, 200), 784, 7
    x, z = unit_rows(rows, columns), numpy.ones((rows, features), numpy.float32)
    peer, batch, some, y = dense_spherical(degree, columns, features), view(x), x[:CHECKED], z.copy()
    made = klift.map(map="spherical", kernel=f"poly:degree={degree},offset=1", dim=columns, features=features)
    note = agree("spherical", polynomial_kernel(some, degree), klift.apply(made, some, z[:CHECKED]), peer(some, y[:CHECKED]))
    run = race([lambda: klift.apply(made, batch, z), lambda: peer(x, y)])
    name, shares = f"spherical, degree {degree}, {rows:,} x {columns} -> {features}", limit(run.seconds[0], rows, columns, features)
    return [result(name, run, 0, 4, "numpy, sgemm, cosine and sine", shares, note)]


def taylor_rows(klift, features):
    """CSR to CSR. What klift chooses by default, from the rows: the degree, and hashing into `features` columns."""
    gamma, x = 0.0125, adult(size(20000, 300))
    if x is None:
        return []
    made, batch, some = klift.map(x, map="taylor", kernel=f"gaussian:gamma={gamma}", features=features), view(x), x[:CHECKED]
    degree, widest = int(klift.describe(made)["map"].split("degree=")[1].split(",")[0]), int(numpy.diff(x.indptr).max())
    out, part = klift.room(made, batch), klift.room(made, some)
    if degree not in (2, 3):
        raise RuntimeError(f"taylor: the peer's tables are for degrees 2 and 3, not {degree}")
    peer = sparse_taylor(gamma, degree, x.shape[1], features, widest)
    entries = klift.apply_sparse(made, some, part)
    ours = scipy.sparse.csr_matrix((part[2][:entries], part[1][:entries], part[0]), shape=(CHECKED, features))
    note = agree("taylor", gaussian(some.toarray(), gamma), ours, peer(some))
    run = race([lambda: klift.apply_sparse(made, batch, out), lambda: peer(x)])
    shares = limit(run.seconds[0], x.shape[0], 2 * x.nnz / x.shape[0], features, entries=klift.apply_sparse(made, batch, out))
    return [result(f"taylor degree {degree}, adult CSR {x.shape[0]:,} x {x.shape[1]} -> {features}, CSR", run, 0, 10, "numpy and scipy", shares, note)]


def nystrom_rows(klift):
    rows, columns, landmarks, gamma = size(10000, 300), size(784, 64), size(2048, 128), 1.5
    x = unit_rows(rows, columns)
    z, y, batch, some = numpy.ones((rows, landmarks), numpy.float32), numpy.ones((rows, landmarks), numpy.float32), view(x), x[:CHECKED]
    made = klift.map(x, map="nystrom", kernel=f"gaussian:gamma={gamma}", features=landmarks)
    if klift.columns(made) != landmarks:
        raise RuntimeError(f"nystrom: {klift.columns(made)} landmarks, not {landmarks}: the peer would do more")
    chosen = x[numpy.random.default_rng(5).choice(rows, landmarks, replace=False)]
    full, half = (dense_nystrom(chosen, gamma, triangular) for triangular in (False, True))
    exact, ours = gaussian(some, gamma), klift.apply(made, some, z[:CHECKED])
    notes = [agree("nystrom", exact, ours, peer(some, y[:CHECKED])) for peer in (full, half)]
    name, gflop = f"nystrom {rows:,} x {columns} -> {landmarks}", 2e-9 * rows * landmarks * (columns + landmarks / 2)
    run = race([lambda: klift.apply(made, batch, z), lambda: half(x, y), lambda: full(x, y)])
    shares = limit(run.seconds[0], rows, columns, landmarks, gflop)
    against = Race(run.took[:2])  # the same rounds, the other peer
    return [result(f"{name}, against full products", run, 0, 1.5, "numpy, sgemm and exp", shares, notes[0]),
            result(f"{name}, against a triangular product", against, 0, 1, "scipy, sgemm, exp and strmm", shares, notes[1])]


def others(build):
    klift, features = Klift(build), size(4096, 1024)
    return maclaurin_rows(klift, features) + craft_rows(klift, features) + spherical_rows(klift, features) + taylor_rows(klift, features) + nystrom_rows(klift)


def present(part):
    def run(build):
        if missing:
            print(f"skipped: {part.__name__}: {missing}; scripts/setup bench installs it")
            return []
        return part(build)
    return run


def spherical_fit(build):
    """The fit of spherical's radii, which must be no matter for any width and degree: two features, so that hardly anything else is made."""
    klift, rows = Klift(build), []
    if not klift.has("spherical"):
        return []
    for columns in (2, 784, 10000):
        took = max(min(timed(lambda: klift.map(map="spherical", kernel=f"poly:degree={degree}", dim=columns, features=2)) for _ in range(5)) for degree in (1, 3, 10, 40))
        rows.append(row(f"spherical's fit, degrees 1 to 40, {columns:,} columns", 0.1 / took, 1, f"{took * 1e3:.1f} ms", "100 ms allowed"))
    return rows


PARTS = {"fourier": present(fourier), "orthogonal": present(orthogonal), "polynomial": present(polynomial), "other maps": present(others), "spherical fit": present(spherical_fit)}
