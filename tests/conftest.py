"""Shared test tools: hypothesis settings and points drawn without the library's own geometry."""

from __future__ import annotations

import gc
import importlib.util
import math
import os
import pkgutil
import platform
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from riemdp import Euclidean, Hyperbolic, Sphere, _compiled, _part, noise, privacy, statistics
from riemdp.kernel import _tiles
from riemdp.noise import _generator, _rules
from riemdp.release import _run
from riemdp.spaces import Manifold
from riemdp.statistics import _answer, _data

#: Parts of other packages, a file each.
PLUGINS = Path(__file__).parent / "plugins"

hypothesis.settings.register_profile(
    "riemdp",
    deadline=None,
    derandomize=True,
    max_examples=12,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],  # how fast a machine is
)
hypothesis.settings.load_profile("riemdp")

# A test that puts a copy of a table in the place of the table, for a while, must not be the one
# that has it filled.
for _package in (privacy, noise, statistics):
    for _module in pkgutil.walk_packages(_package.__path__, f"{_package.__name__}."):
        importlib.import_module(_module.name)

# Next to nothing of what is made while tests are collected is garbage.
gc.set_threshold(100_000, 50, 100)


@pytest.fixture
def projecting(monkeypatch):
    """Have every draw of one answer projected onto the ball, or none."""

    def choose(project):
        _run._kept.cache_clear()
        monkeypatch.setattr(_run, "with_projection", lambda made: replace(made, projected=project))

    return choose


@pytest.fixture(autouse=True)
def _nothing_is_known_yet():
    """What a test changes inside the library must not meet what the test before left known."""
    _rules._kept.cache_clear()
    _run._kept.cache_clear()


def _refuse_a_key():
    raise AssertionError(
        "the secure generator was asked for while tests were collected: parameters that it chose "
        "differ between workers and runs; draw inside the test, or in a fixture"
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing that is drawn from the secure generator may decide which tests there are."""
    fresh, _generator._fresh_key = _generator._fresh_key, _refuse_a_key
    try:
        return (yield)
    finally:
        _generator._fresh_key = fresh


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem():
    """Which of a test's cases `make test` runs; the others are slow.

    ``fast("one", "other")`` names them and ``fast(3)`` spreads three evenly over all. Without
    the marker, cases of several parameters have every value of each among them.
    """
    collected = yield
    found = collected if isinstance(collected, list) else []
    cases = [item for item in found if hasattr(item, "callspec")]
    if cases:
        mark = cases[0].get_closest_marker("fast")
        chosen = _every_value(cases) if mark is None else _marked(cases, *mark.args)
        for item in cases:
            if item.callspec.id not in chosen:
                item.add_marker(pytest.mark.slow)
    return collected


def _marked(cases, *marked):
    names = [item.callspec.id for item in cases]
    if isinstance(marked[0], int):
        spread = np.linspace(0, len(names) - 1, min(marked[0], len(names)))
        return {names[round(place)] for place in spread}
    if unknown := set(marked) - set(names):
        message = f"{cases[0].originalname} has no case {sorted(unknown)}"
        raise pytest.Collector.CollectError(message)
    return set(marked)


def _every_value(cases):
    """Few cases that have every value of every parameter among them."""
    values = {item: {(n, id(v)) for n, v in item.callspec.params.items()} for item in cases}
    missing = set().union(*values.values())
    chosen = set()
    while missing:
        best = max(cases, key=lambda item: len(values[item] & missing))
        chosen.add(best.callspec.id)
        missing -= values[best]
    return chosen


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    """Tests and modules stay until the end: they are searched for garbage once, not twice more."""
    gc.collect()
    gc.freeze()  # any earlier, old versions of hypothesis would be unsure of their examples


def _unit(rng, shape):
    vectors = rng.normal(size=shape)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _random_points(manifold, rng, shape=(), spread=1.0):
    """Points of the manifold, about ``spread`` (over sqrt|curvature|) around a natural origin."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if isinstance(manifold, Euclidean):
        return spread * rng.normal(size=(*shape, manifold.dim))
    if isinstance(manifold, (Sphere, Hyperbolic)):
        k = np.sqrt(abs(manifold.curvature))
        direction = _unit(rng, (*shape, manifold.dim))
        angle = spread * rng.uniform(0.0, 1.0, size=(*shape, 1))
        if isinstance(manifold, Sphere):
            parts = [np.cos(angle), np.sin(angle) * direction]
        else:
            parts = [np.cosh(angle), np.sinh(angle) * direction]
        return np.concatenate(parts, axis=-1) / k
    size = manifold.k
    rotation = np.linalg.qr(rng.normal(size=(*shape, size, size)))[0]
    values = np.exp(spread * rng.uniform(-1.0, 1.0, size=(*shape, size)) / np.sqrt(size))
    matrices = (rotation * values[..., None, :]) @ np.swapaxes(rotation, -1, -2)
    return 0.5 * (matrices + np.swapaxes(matrices, -1, -2))


@pytest.fixture(scope="session")
def random_points():
    """``random_points(manifold, rng, shape, spread)``: points, by elementary formulas."""
    return _random_points


@pytest.fixture
def small_tiles(monkeypatch):
    """Few rows are worked on at a time; the laws look at whole tiles, and whether places are alike.

    Else a question about one record is answered for a thousand, twice.
    """
    monkeypatch.setattr(_tiles, "_ROWS", 16)
    monkeypatch.setattr(_answer, "places_are_alike", lambda *_: True)
    _data._rows_of_our_own.cache_clear()
    yield
    _data._rows_of_our_own.cache_clear()


@pytest.fixture
def holds():
    """Whether a test's p-value exceeds 1e-4, with one retry on a fresh seed."""

    def check(pvalue):
        return any(pvalue(np.random.default_rng(seed)) > 1e-4 for seed in (20211, 20212))

    return check


@pytest.fixture(scope="session")
def bumpy():
    """Class of a manifold of another library: it states a constant curvature, and has no law."""
    own = {name: value for name, value in vars(Sphere).items() if name not in ("name", "proof")}
    own = {name: value for name, value in own.items() if name not in ("__dict__", "__weakref__")}
    return type("Bumpy", (Manifold,), own)


def _plugin(name):
    spec = importlib.util.spec_from_file_location(name, PLUGINS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def rotations():
    """Another package, whose one file adds the rotations of space."""
    return _plugin("rotations")


@pytest.fixture(scope="session")
def compositions():
    """Another package, whose one file adds compositions in a chart."""
    return _plugin("compositions")


@pytest.fixture(scope="session")
def periodic():
    """Another package, whose one file adds boxes with periodic boundaries."""
    return _plugin("periodic")


def _seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def _piece_of_work():
    values = np.random.default_rng(0).random(60_000)
    np.exp(np.sort(values))
    return sum(i * i for i in range(60_000))


def _effort(function, rounds=1):
    collects = gc.isenabled()
    gc.disable()  # what other tests left is not this one's
    try:
        least = math.inf
        for _ in range(rounds):
            before, taken = _seconds(_piece_of_work), _seconds(function)
            least = min(least, taken / max(before, _seconds(_piece_of_work)))
    finally:
        if collects:
            gc.enable()
    return least


@pytest.fixture(scope="session")
def effort():
    """``effort(function, rounds)``: CPU time of a call, the least of some rounds.

    Its unit is a fixed piece of work done before and after, about 5 milliseconds: a slow or busy
    machine takes as much longer for both.
    """
    _piece_of_work()
    return _effort


#: Process 1 of a namespace becomes an image that is resumed twice, as process 1 again: the raw
#: system call runs none of Python's hooks for forks.
_COPIES = """
import ctypes, os, platform, signal, sys, traceback

call = ctypes.PyDLL(None, use_errno=True).syscall  # which keeps the interpreter's lock
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
flags = 0x20000000 | signal.SIGCHLD | (0x10000000 if os.geteuid() else 0)  # namespaces

def resumed(function):
    read, write = os.pipe()
    child = call(number, ctypes.c_ulong(flags), 0, 0, 0, 0)
    if child == 0:
        code = 1
        try:
            os.write(write, function().encode())
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(write)
    if child < 0:
        print("not permitted:", os.strerror(ctypes.get_errno()), file=sys.stderr, flush=True)
        sys.exit(1)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return text

def image():
    made = program()
    assert os.getpid() == 1
    return "|".join(resumed(made) for _ in range(2))

print(resumed(image))
"""


@pytest.fixture(scope="session")
def copies():
    """``copies(code)``: what two copies of a process image answer.

    The code defines ``program``, which runs before the image is copied, and returns a function
    without arguments that returns a text in each copy.
    """

    def of(code):
        if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
            pytest.skip("no raw clone here")
        command = [sys.executable, "-W", "ignore", "-c", code + _COPIES]
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # a clone has one
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, **one},
        )
        if "not permitted" in done.stderr:
            pytest.skip(done.stderr.strip().splitlines()[0])
        assert done.returncode == 0, done.stderr
        first, second = done.stdout.strip().split("|")
        return first, second

    return of


@pytest.fixture(params=[0, 2, 4, 8], ids="{} lanes".format)
def lanes(request, monkeypatch):
    """Kernels with this number of lanes are taken, where there are such; NumPy for 0."""
    if request.param and request.param not in pytest.importorskip("riemdp._lanes").widths():
        pytest.skip("not on this processor")
    monkeypatch.setattr(_compiled, "widest", lambda: request.param)
    return request.param


@pytest.fixture
def registry(monkeypatch):
    """A copy of the parts' registry that a test may add to."""
    monkeypatch.setattr(_part, "_registry", dict(_part._registry))


@pytest.fixture(scope="session")
def random_rotation():
    """``random_rotation(rng, size)``: an orthogonal matrix."""

    def rotation(rng, size):
        return np.linalg.qr(rng.normal(size=(size, size)))[0]

    return rotation


class _Labelled:
    """Rows with labels, which arithmetic aligns by label, as data frames do."""

    def __init__(self, array, labels=None):
        self.array = np.array(array)
        self.labels = np.arange(len(self.array))[::-1] if labels is None else labels

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)

    def __len__(self):
        return len(self.array)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        aligned = [x.array[np.argsort(x.labels)] if isinstance(x, _Labelled) else x for x in inputs]
        result = getattr(ufunc, method)(*aligned, **options)
        return _Labelled(result, np.sort(self.labels)) if np.ndim(result) else result

    def __add__(self, other):
        return np.add(self, other)

    def __sub__(self, other):
        return np.subtract(self, other)

    def __mul__(self, other):
        return np.multiply(self, other)


class _Tensor:
    """An array of another library: NumPy can read it and nothing else works."""

    __array_ufunc__ = None

    def __init__(self, array):
        self.array = np.array(array)
        self.shape = self.array.shape

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        return _Tensor(self.array[index])

    def sum(self, dim=None):
        return self.array.sum(dim)


class _Multiplying(np.ndarray):
    """An array whose ``*`` is a product of matrices."""

    def __mul__(self, other):
        return np.matmul(self, other)

    __rmul__ = __mul__


class _Rows(list):
    """A sequence that is no list to ``type``."""


def _tuples(array):
    return tuple(map(_tuples, array)) if np.ndim(array) else float(array)


def _read_only(array):
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def _strided(array):
    return np.repeat(np.asfortranarray(array)[..., None], 2, axis=-1)[..., 0]


#: Containers that hold the same numbers as an array.
CONTAINERS = {
    "list": lambda array: array.tolist(),
    "list of arrays": list,
    "sequence": _Rows,
    "tuples": _tuples,
    "labelled rows": _Labelled,
    "list of labelled rows": lambda array: [_Labelled(row) for row in array],
    "tensor": _Tensor,
    "matrix class": lambda array: array.view(_Multiplying),
    "memoryview": memoryview,
    "read-only": _read_only,
    "not contiguous": _strided,
    "big-endian": lambda array: array.astype(">f8"),
    "long double": lambda array: array.astype(np.longdouble),
}


@pytest.fixture(params=CONTAINERS, scope="session")
def container(request):
    """``container(array)``: the same numbers in something that is no plain float64 array."""
    return CONTAINERS[request.param]


class _HandsOutMasked:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.ma.masked_array(self.array, dtype=dtype)


def _objects(array):
    rows = np.empty(len(array), dtype=object)
    for i, row in enumerate(array):
        rows[i] = np.ma.masked_array(row)
    return rows


#: What no public function may take for the numbers of an array.
REFUSED = {
    "masked": np.ma.masked_array,
    "mask set": lambda array: (
        np.ma.masked_array(array, mask=np.arange(array.size) == 0)
        if array.ndim == 1
        else np.ma.masked_array(array, mask=np.arange(array.size).reshape(array.shape) == 0)
    ),
    "list of masked": lambda array: [np.ma.masked_array(row) for row in array],
    "tuple of plain and masked": lambda array: (*array[:-1], np.ma.masked_array(array[-1])),
    "nested masked": lambda array: [[np.ma.masked_array(part)] for part in array],
    "masked constant": lambda array: [*array.ravel()[:-1], np.ma.masked],
    "container of masked": _HandsOutMasked,
    "list of containers of masked": lambda array: [_HandsOutMasked(row) for row in array],
    "objects that are masked": _objects,
    "objects": lambda array: array.astype(object),
    "complex": lambda array: array + 0j,
    "booleans": lambda array: array > 0.0,
    "text": lambda array: array.astype(str),
    "dates": lambda array: array.astype("datetime64[s]"),
    "ragged": lambda array: [array.tolist(), []],
    "nothing": lambda array: None,
    "dictionary": lambda array: dict(enumerate(array)),
}


@pytest.fixture(params=REFUSED, scope="session")
def refused(request):
    """``refused(array)``: something that looks like the array and is not to be taken for it."""
    return REFUSED[request.param]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Chromium without a window, which keeps what it loads and says; skips where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver")
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next((path for path in map(shutil.which, names) if path), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no browser with a driver is installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    folder = tmp_path_factory.mktemp("browser")
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={folder}")
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    try:
        found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    except Exception as error:  # of this machine: no test has begun
        pytest.skip(f"the browser does not start: {type(error).__name__}")
    yield found
    found.quit()
