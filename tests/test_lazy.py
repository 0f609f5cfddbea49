"""What is loaded when somebody first asks for it, whatever else was loaded before."""

from __future__ import annotations

import ast
import importlib
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import riemdp
from riemdp import PureDP, Sphere, _lazy
from riemdp._lazy import lazy_entries, lazy_names
from riemdp.noise import Family, family, has_family, rule
from riemdp.noise import _rules as _noise_rules
from riemdp.privacy import PrivacyCurve, PureCurve, _rules
from riemdp.privacy._composed import worst_curve
from riemdp.statistics.curved import _solver_of_space
from riemdp.statistics.curved._solver_of_space import FlatAverage

PACKAGE = Path(riemdp.__file__).parent
#: Packages whose names are found lazily.
LAZY = sorted(
    path.parent.relative_to(PACKAGE.parent).as_posix().replace("/", ".")
    for path in PACKAGE.rglob("__init__.py")
    if "lazy_names(" in path.read_text(encoding="utf-8")
)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules and a package, none of which is loaded yet."""
    folder = tmp_path / "tests_lazy"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "_one.py").write_text("ONE = object()\nfrom tests_lazy import TWO\n")
    (folder / "_two.py").write_text("TWO = object()\n")
    (folder / "inner" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("tests_lazy")
    module.__getattr__, module.__dir__ = lazy_names(
        vars(module), {"_one": "ONE", "_two": "TWO MISSING", "inner": ""}
    )
    yield module
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests_lazy"]:
        del sys.modules[name]


def loaded():
    return {name.removeprefix("tests_lazy.") for name in sys.modules if "tests_lazy." in name}


def test_a_name_loads_its_module_and_stays(package):
    assert {"ONE", "TWO", "inner"} <= set(dir(package))
    assert dir(package) == sorted(dir(package))
    assert loaded() == set()
    two = package.TWO
    assert loaded() == {"_two"}
    assert vars(package)["TWO"] is two is sys.modules["tests_lazy._two"].TWO
    assert package.ONE is sys.modules["tests_lazy._one"].ONE
    assert loaded() == {"_one", "_two"}
    assert package.inner is sys.modules["tests_lazy.inner"]


def test_a_name_that_does_not_exist_gives_the_usual_errors(package):
    for name in ("THREE", "_three", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"module 'tests_lazy' has no attribute '{name}'"):
            getattr(package, name)
    with pytest.raises(ImportError, match="cannot import name 'THREE' from 'tests_lazy'"):
        exec("from tests_lazy import THREE")
    with pytest.raises(AttributeError, match="MISSING"):  # of its module
        package.MISSING  # noqa: B018


def test_entries_are_loaded_for_a_class_and_its_bases(monkeypatch):
    seen = []
    monkeypatch.setattr(_lazy, "import_module", seen.append)
    adding, asking = lazy_entries("some.package", {"_a": "Base Other", "_b": "Derived"})
    base = type("Base", (), {})
    derived = type("Derived", (base,), {})
    for load in (asking, adding):
        seen.clear()
        load(base)
        load(derived)
        load(type("Unknown", (), {}))
        assert seen == ["some.package._a", "some.package._b", "some.package._a"]
    asking(derived)  # which has been seen to
    assert len(seen) == 3
    adding(derived)
    assert len(seen) == 5


def test_a_module_that_cannot_be_loaded_is_tried_again(monkeypatch):
    def fail(name):
        raise ImportError(name)

    monkeypatch.setattr(_lazy, "import_module", fail)
    base = type("Base", (), {})
    _, asking = lazy_entries("some.package", {"_a": "Base"})
    for _ in range(2):
        with pytest.raises(ImportError, match=r"some\.package\._a"):
            asking(base)


def described(source, package):
    """Where type checkers, and where programs, find the names of a package: two mappings."""
    typed, running = {}, {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            for each in node.body:
                home = each.module.removeprefix(f"{package}.")
                names = [alias.name for alias in each.names if alias.name[0] != "_"]
                typed |= dict.fromkeys(names, home)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lazy_names":
            homes = ast.literal_eval(node.args[1])
            running |= {name: home for home, names in homes.items() for name in names.split()}
    return typed, running


@pytest.mark.parametrize("name", LAZY)
def test_type_checkers_see_the_names_that_programs_find(name):
    package = importlib.import_module(name)
    typed, running = described(Path(package.__file__).read_text(encoding="utf-8"), name)
    assert typed.pop("FloatArray", "_points") == "_points"  # a type alone
    assert typed == running
    assert set(running) <= set(package.__all__) <= set(dir(package))
    for public in package.__all__:
        getattr(package, public)


def test_a_difference_is_seen():
    source = """
        if TYPE_CHECKING:
            from some._home import A, B
            from some._other import C
        else:
            __getattr__, __dir__ = lazy_names(globals(), {"_home": "A", "_other": "B C"})
    """
    typed, running = described(textwrap.dedent(source), "some")
    assert typed == {"A": "_home", "B": "_home", "C": "_other"}
    assert running == {"A": "_home", "B": "_other", "C": "_other"}
    assert len(LAZY) >= 10


def test_all_names_come_with_a_star():
    namespace = {}
    exec("from riemdp import *", namespace)
    assert set(riemdp.__all__) <= set(namespace)
    assert not {"spaces", "nothing"} & set(namespace)


def imported(path):
    """Modules that a package imports from, or as a whole."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


@pytest.mark.parametrize(
    ("table", "entries"),
    [
        (
            _noise_rules,
            {(cls, found.__module__) for (_, cls), found in _noise_rules._rules.items()},
        ),
        (
            _solver_of_space,
            {(cls, type(found).__module__) for cls, found in _solver_of_space._solvers.items()},
        ),
        (_rules, {(PrivacyCurve, _rules._compositions[PrivacyCurve].__module__)}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_table_loads_all_that_fills_it(table, entries, monkeypatch):
    """Each entry is in the table's module, or in one that is loaded for its class."""
    seen = []
    monkeypatch.setattr(_lazy, "import_module", seen.append)
    reached = {name for path in PACKAGE.rglob("__init__.py") for name in imported(path)}
    assert entries
    for cls, module in entries:
        seen.clear()
        table._before_asking.__wrapped__(cls)
        assert module in {*seen, table.__name__}, cls
        assert set(seen) <= reached, "nothing says to tools that read the sources who imports it"


class Flat(Family):
    """Noise of somebody else."""

    law = None


def again():
    _solver_of_space.register_solver(Sphere, FlatAverage())


ASKS = {
    "family": (_noise_rules, lambda: family("laplace", Sphere(2)), Sphere),
    "has_family": (_noise_rules, lambda: has_family("laplace", Sphere(2)), Sphere),
    "is_isotropic": (_noise_rules, lambda: _noise_rules.is_isotropic(Sphere(2)), Sphere),
    "rule": (_noise_rules, lambda: rule("laplace", Sphere)(Flat), Sphere),
    "mean_solver": (_solver_of_space, lambda: _solver_of_space.mean_solver(Sphere(2)), Sphere),
    "space_solver": (_solver_of_space, lambda: _solver_of_space.space_solver(Sphere(2)), Sphere),
    "is_solved": (_solver_of_space, lambda: _solver_of_space.is_solved(Sphere(2)), Sphere),
    "average": (_solver_of_space, lambda: _solver_of_space.average(Sphere(2)), Sphere),
    "register_solver": (_solver_of_space, again, Sphere),
    "implied": (_rules, lambda: worst_curve(PureDP(1.0)), PrivacyCurve),
    "composes": (_rules, lambda: _rules.composes(PrivacyCurve), PrivacyCurve),
    "together": (_rules, lambda: PureCurve(1.0).self_compose(2), PrivacyCurve),
}


@pytest.mark.parametrize("ask", ASKS)
def test_a_table_is_filled_before_it_is_asked_or_added_to(ask, monkeypatch):
    table, asked, cls = ASKS[ask]

    def load(kind):
        assert kind is cls
        raise LoadedError

    class LoadedError(Exception):
        """What is asked for comes first."""

    monkeypatch.setattr(_noise_rules, "_rules", {})
    adds = ask in ("rule", "register_solver")
    monkeypatch.setattr(table, "_before_adding" if adds else "_before_asking", load)
    with pytest.raises(LoadedError):
        asked()


def rules_of(source):
    """Names of classes in each call that fills a table of the definitions, and those defined."""
    tree = ast.parse(source)
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in calls:
        function = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if function in ("conversion", "angle_conversion", "composition"):
            named = {getattr(each, "id", "") for each in call.args}
            yield named | ({"RaoDP"} if function == "angle_conversion" else set()), defined


@pytest.mark.parametrize("path", sorted((PACKAGE / "privacy").glob("_*.py")), ids=lambda p: p.stem)
def test_a_rule_of_a_definition_is_in_the_file_of_one_that_it_is_about(path):
    """Who asks for a rule holds both classes, so that it is there, whatever else is not."""
    for named, defined in rules_of(path.read_text(encoding="utf-8")):
        late = path.stem in ("_compose", "_composed") and "PrivacyCurve" in named
        assert late or named & defined, named


def test_a_rule_elsewhere_is_seen():
    source = "class A: ...\n@conversion(A, B)\ndef f(): ...\n@_rules.conversion(B, C)\ndef g(): ..."
    assert [bool(named & defined) for named, defined in rules_of(source)] == [True, False]


FRESH = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def fresh(code, *arguments):
    """What a process prints that has imported nothing of the library before."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=FRESH,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_nobody_takes_a_name_of_this_library_before_it_is_loaded():
    found = fresh(
        """
        import sys
        from riemdp import InvalidParameterError, Part, register
        from riemdp._part import borrowed, is_registered, lookup
        def made(name, module):
            own = {"__module__": module, "proof": "a paper"}
            return type(name, (Part,), own, sort="manifold")
        for name, home, module in (
            ("SPDPower", "_spd_power", "riemdp.spaces._spd_power"),
            ("SPDLogCholesky", "_spd_log_cholesky", "riemdp.elsewhere"),
            ("Torus", "_torus", "lab"),
        ):
            assert f"riemdp.spaces.{home}" not in sys.modules
            try:
                register(made(name, module))
            except InvalidParameterError:
                print("refused", lookup(name).__module__)
        assert "riemdp.spaces._hyperbolic" not in sys.modules
        print(*borrowed(made("Hyperbolic", "lab")()), is_registered(made("Rotations", "lab")()))
        """
    )
    homes = ["spd_power", "spd_log_cholesky", "torus"]
    expected = [word for home in homes for word in ("refused", f"riemdp.spaces._{home}")]
    assert found == [*expected, "Hyperbolic", "False"]


def test_threads_find_names_at_once():
    found = fresh(
        """
        import sys, threading
        import riemdp
        sys.setswitchinterval(1e-6)
        names = ["Rotations", "PureDP", "convert", "SPDPower", "compose", "KLDP", "noise", "RDP"]
        assert not set(names) & set(vars(riemdp))
        start, found = threading.Barrier(4), [[], [], [], []]
        def work(own, order):
            start.wait(30)
            own.extend(getattr(riemdp, name) for name in order)
            own.append(riemdp.noise.family("laplace", riemdp.Rotations()).proof)
        orders = names, names[::-1], names, names[4:] + names[:4]
        threads = [threading.Thread(target=work, args=each) for each in zip(found, orders)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        print(*(len(set(map(id, own)) ^ set(map(id, found[0]))) for own in found), len(found[3]))
        """
    )
    assert found == ["0", "0", "0", "0", "9"]


PRIVATE_MEAN = """
    import numpy as np
    def released(private_mean, PureDP, Ball, manifold, **options):
        ball = Ball(manifold, manifold.origin, 0.4)
        points = np.broadcast_to(manifold.origin, (30, *manifold.origin.shape))
        generator = np.random.default_rng(5)
        return private_mean(points, ball, PureDP(1.0), generator=generator, **options)
"""
ORDERS = {
    "one by one": """
        from riemdp.spaces import Rotations
        from riemdp import private_mean
        from riemdp.privacy import PureDP
        from riemdp import Ball
    """,
    "backwards": "from riemdp import Ball, private_mean, PureDP, Rotations",
    "private modules": """
        from riemdp.release._private_mean import private_mean
        from riemdp.spaces._rotations import Rotations
        from riemdp.privacy._pure import PureDP
        from riemdp.spaces._ball import Ball
    """,
    "audits": """
        from riemdp.auditing import audit
        from riemdp import *
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_imports_does_not_matter(order):
    code = textwrap.dedent(PRIVATE_MEAN) + textwrap.dedent(ORDERS[order])
    use = "print(released(private_mean, PureDP, Ball, Rotations()).value.tobytes().hex())"
    namespace = {}
    exec(code, namespace)
    here = namespace["released"](
        riemdp.private_mean, riemdp.PureDP, riemdp.Ball, riemdp.Rotations()
    )
    assert fresh(code + "\n" + use) == [here.value.tobytes().hex()]


WORKED = (riemdp.Rotations(), riemdp.Torus(2), riemdp.SPDAffineInvariant(2))
SPACE = riemdp.Product(riemdp.Sphere(2), riemdp.SPDAffineInvariant(2))
CHECKED = "print(*(f'{each.name}:{each.passed}' for each in verify(release).checks))"


@pytest.mark.slow
def test_documents_and_pickles_are_read_first_of_all(tmp_path):
    namespace = {}
    exec(textwrap.dedent(PRIVATE_MEAN), namespace)
    release = namespace["released"](riemdp.private_mean, riemdp.PureDP, riemdp.Ball, SPACE)
    text, pickled = tmp_path / "release.json", tmp_path / "release.pickle"
    text.write_text(release.to_json(), encoding="utf-8")
    pickled.write_bytes(pickle.dumps(release))
    checked = [f"{each.name}:{each.passed}" for each in riemdp.verify(release).checks]
    same = "print(release.to_json() == open(sys.argv[1], encoding='utf-8').read())"
    read = f"""
        import sys
        from riemdp.release import Release
        release = Release.from_json(open(sys.argv[1], encoding="utf-8").read())
        {same}
        from riemdp import verify
        {CHECKED}
    """
    unpickle = f"""
        import pickle, sys
        release = pickle.load(open(sys.argv[2], "rb"))
        {same}
        from riemdp import verify
        {CHECKED}
    """
    for code in (read, unpickle):
        assert fresh(code, str(text), str(pickled)) == ["True", *checked]


@pytest.mark.slow
def test_workers_load_what_they_need():
    """Of pools whose processes start afresh: the function is all that they are sent."""
    expected = [str(family("laplace", manifold)) for manifold in WORKED]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert [str(each) for each in pool.map(partial(family, "laplace"), WORKED)] == expected
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(2)(joblib.delayed(family)("laplace", each) for each in WORKED)
    assert [str(each) for each in found] == expected


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process for each name is made by fork")
def test_each_name_can_be_the_first_one_asked_for():
    packages = map(importlib.import_module, LAZY)
    named = [f"{each.__name__}:{public}" for each in packages for public in each.__all__]
    failed = fresh(
        """
        import importlib, os, sys
        import numpy, scipy.special, json, logging, subprocess, zipfile  # what takes long
        for each in sys.argv[1:]:
            package, _, name = each.partition(":")
            child = os.fork()
            if child == 0:
                try:
                    getattr(importlib.import_module(package), name)
                    os._exit(0)
                finally:
                    os._exit(1)
            if os.waitpid(child, 0)[1] != 0:
                print(each)
        """,
        *named,
        "riemdp:nothing",
    )
    assert failed == ["riemdp:nothing"]
