"""The library through ctypes: just enough of klift.h to fit a map, with data or without, and to apply it to numpy arrays and scipy's CSR matrices.

Nothing is copied on the way in or out, so that what is timed is the library: view()s of rows are made before a race, outputs are the caller's.
"""
import ctypes, json, os

USAGE = 2  # klift_status: what klift_map_apply_sparse answers when it is asked how much room it needs


class Batch(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int64), ("rows", ctypes.c_int64), ("columns", ctypes.c_int64), ("dense", ctypes.c_void_p), ("stride", ctypes.c_int64),
                ("start", ctypes.c_void_p), ("column", ctypes.c_void_p), ("value", ctypes.c_void_p), ("target", ctypes.c_void_p), ("targets", ctypes.c_int64),
                ("label", ctypes.c_void_p), ("weight", ctypes.c_void_p)]


def view(x):
    """Rows as klift sees them, of a float32 array (rows contiguous) or a float32 CSR matrix with ascending columns; a view stays as it is."""
    if isinstance(x, Batch):
        return x
    import numpy
    if x.dtype != numpy.float32:
        raise TypeError(f"rows of {x.dtype}; klift takes float32")
    made = Batch(size=ctypes.sizeof(Batch), rows=x.shape[0], columns=x.shape[1])
    if isinstance(x, numpy.ndarray):
        if x.strides[1] != 4:
            raise TypeError("the values of a row are not neighbours")
        made.dense, made.stride, made.kept = x.ctypes.data, x.strides[0] // 4, x
    else:
        x.sort_indices()
        start, column = x.indptr.astype(numpy.int64), x.indices.astype(numpy.int32, copy=False)
        made.start, made.column, made.value, made.kept = start.ctypes.data, column.ctypes.data, x.data.ctypes.data, (start, column, x.data)
    return made


class Klift:
    """libklift.so of a build. Maps are handles that live as long as the process."""

    def __init__(self, build):
        self.library, self.runs = ctypes.CDLL(os.path.join(os.path.abspath(build), "libklift.so")), {}
        self.library.klift_error.restype = self.library.klift_version.restype = ctypes.c_char_p

    def check(self, status):
        if status:
            raise RuntimeError(self.library.klift_error().decode())

    def run(self, threads):
        """One per number of threads: its pool of threads stays alive between calls, as in any program that calls twice."""
        if threads not in self.runs:
            made = self.runs[threads] = ctypes.c_void_p()
            self.check(self.library.klift_run_new(ctypes.byref(made)))
            self.check(self.library.klift_run_set(made, b"threads", str(threads).encode()))
        return self.runs[threads]

    def map(self, rows=None, threads=2, **settings):
        """A map fitted to rows; without them dim=COLUMNS must be among the settings."""
        spec, data, made = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.library.klift_spec_new(ctypes.byref(spec)))
        for key, value in settings.items():
            self.check(self.library.klift_spec_set(spec, key.encode(), str(value).encode()))
        if rows is not None:
            rows = view(rows)
            self.check(self.library.klift_data_view(ctypes.byref(rows), ctypes.byref(data)))
        self.check(self.library.klift_map_fit(spec, data, self.run(threads), ctypes.byref(made)))
        self.library.klift_data_free(data)
        self.library.klift_spec_free(spec)
        return made

    def columns(self, made):
        """Features that a map really has: some have fewer or more than they were asked for."""
        n_in, n_out = ctypes.c_int64(), ctypes.c_int64()
        self.check(self.library.klift_map_size(made, ctypes.byref(n_in), ctypes.byref(n_out)))
        return n_out.value

    def said(self, function, of):
        """What a function of the library says about something, from its JSON."""
        needed = ctypes.c_int64()
        self.check(function(of, None, ctypes.c_int64(0), ctypes.byref(needed)))
        text = ctypes.create_string_buffer(needed.value + 1)
        self.check(function(of, text, ctypes.c_int64(needed.value + 1), ctypes.byref(needed)))
        return json.loads(text.value)

    def describe(self, made):
        return self.said(self.library.klift_map_describe, made)

    def has(self, name):
        """Whether the library was built with a map."""
        return any(one["name"] == name for one in self.said(self.library.klift_list, b"maps"))

    def apply(self, made, x, z, threads=2):
        """z (rows, features), float32, rows contiguous."""
        self.check(self.library.klift_map_apply(made, ctypes.byref(view(x)), ctypes.c_void_p(z.ctypes.data), ctypes.c_int64(z.strides[0] // 4), self.run(threads)))
        return z

    def room(self, made, x):
        """Empty start, column and value for apply_sparse of these rows."""
        import numpy
        rows, needed = view(x), ctypes.c_int64()
        start = numpy.zeros(rows.rows + 1, numpy.int64)
        status = self.library.klift_map_apply_sparse(made, ctypes.byref(rows), ctypes.c_void_p(start.ctypes.data), None, None, ctypes.c_int64(0), ctypes.byref(needed), None)
        if status != USAGE or needed.value == 0:
            self.check(status)
        return start, numpy.zeros(needed.value, numpy.int32), numpy.zeros(needed.value, numpy.float32)

    def apply_sparse(self, made, x, out, threads=2):
        """Entries written to out, as room() makes it: start, column, value."""
        needed = ctypes.c_int64()
        at, room = [ctypes.c_void_p(array.ctypes.data) for array in out], ctypes.c_int64(len(out[1]))
        self.check(self.library.klift_map_apply_sparse(made, ctypes.byref(view(x)), *at, room, ctypes.byref(needed), self.run(threads)))
        return needed.value
