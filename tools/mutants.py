"""Mutation score of the modules that privacy rests on, with cosmic-ray's mutations.

    python tools/mutants.py [--all | --sample N] [--seed S] [--only PART] [--tests PATH ...]
                            [--workers W] [--output DIR]

cosmic-ray lists and makes the mutations. This script draws a sample with a fixed seed, chooses the
tests of a mutant by coverage (those that run its line, the mirrored test file first, quick ones
first), runs them in forked processes on copies of the tree, and reports the score per package with
every survivor. A run that was stopped is taken up by the same command. docs/mutants.md explains.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import hashlib
import importlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("privacy", "kernel", "statistics", "mechanisms", "release")
EXTRA = ("src/riemdp/noise/_generator.py",)
#: Fewest mutants drawn from a module.
LEAST = 5
#: Seconds of tests that a mutant gets, as measured without it; the quickest come first.
BUDGET = 60.0
#: A test that takes ten seconds and five times as long as it should has failed: seconds of
#: processor time, and ten times as many by the clock, which other work on the machine lengthens.
GRACE, SLOWER, CLOCK = 10.0, 5.0, 10.0
MEMORY = 8 * 2**30
#: Tests that may fail under coverage on a busy machine (those of time): they then kill nothing.
MOST_FAILED = 5
#: Tests that may kill a mutant; the first look at classes without running anything of them.
ALWAYS = ("tests/test_immutable.py", "tests/test_signatures.py")
SUITE = [
    *(f"tests/{name}" for name in PACKAGES), "tests/noise/test_generator.py", "tests/test_laws.py",
    *ALWAYS,
]  # fmt: skip
#: Bit operators in place of arithmetic raise TypeError on floats, so any test kills them: counting
#: them would raise the score for nothing.
NOT_DRAWN = re.compile(
    r"core/ReplaceBinaryOperator_(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)_(RShift|LShift|BitOr|BitAnd|BitXor)"
    r"|core/ReplaceUnaryOperator_.*Invert"
)
#: Numbers that say how much work is done and in which pieces, not what comes out: iteration limits,
#: sizes of chunks, blocks, caches and grids. One more or less changes nothing that can be tested
#: for but time. So does a cache that is left out.
WORK = {
    "core/NumberReplacer": re.compile(
        r"\s*for _ in range\(|.*\bused >= \d+:$|@functools\.lru_cache|_?LARGEST_EXACT_NET = "
        r"|_(\w*CHUNK\w*|MAX_PASSES|MOST_\w+|ROUNDS|PRODUCT|BLOCK|CELLS|HALVINGS) = "
    ),
    "core/RemoveDecorator": re.compile(r"@functools\.(lru_)?cache\b"),
}
#: Imported once, before the forks; riemdp itself must not be.
PRELOADED = ["dp_accounting", "flint", "hypothesis", "mpmath", "numpy", "pandas", "pytest"]
PRELOADED += ["randomgen", "sklearn"]
PRELOADED += [f"scipy.{name}" for name in ("integrate", "linalg", "optimize", "special", "stats")]


@dataclass(frozen=True)
class Mutant:
    """One mutation as cosmic-ray names it: an operator and which of its occurrences."""

    module: str
    operator: str
    occurrence: int
    line: int
    where: str

    @property
    def name(self) -> str:
        """Unique as long as the module does not change."""
        return f"{self.module}:{self.operator}:{self.occurrence}"


@dataclass
class Result:
    """What became of a mutant."""

    mutant: Mutant
    old: str
    new: str
    source: str
    outcome: str
    tests: int
    reaching: int
    killer: str = ""


@dataclass(frozen=True)
class Stage:
    """Tests that run together; slow ones, which have no durations, until the time is over."""

    names: list[str]
    slow: bool = False


@dataclass
class Job:
    """A mutant under test: what is left to run, and in which copy of the tree."""

    mutant: Mutant
    code: str
    stages: list[Stage]
    reaching: int
    slow: bool = False  # what runs now
    ran: int = 0
    slot: int = -1
    log: Path = field(default_factory=Path)


# --- what is drawn -----------------------------------------------------------------------------


def modules() -> list[str]:
    """Return the modules that privacy rests on, relative to the root."""
    found = (path for name in PACKAGES for path in (ROOT / "src/riemdp" / name).glob("*.py"))
    return sorted([str(path.relative_to(ROOT)) for path in found] + list(EXTRA))


def package(module: str) -> str:
    """Return the name that a module is counted under."""
    return "generator" if module in EXTRA else Path(module).parent.name


def all_mutants(only: str = "") -> list[Mutant]:
    """Return what cosmic-ray would mutate, without ``NOT_DRAWN`` and ``WORK``, in a fixed order."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path
    from cosmic_ray.ast.ast_query import ASTQuery
    from cosmic_ray.plugins import get_operator, operator_names

    kinds = {name: get_operator(name) for name in operator_names() if not NOT_DRAWN.fullmatch(name)}
    operators = {name: kind() for name, kind in kinds.items() if not kind.arguments()}
    mutants = []
    for module in (name for name in modules() if only in name):
        seen: Counter[str] = Counter()
        lines = (ROOT / module).read_text(encoding="utf-8").splitlines()
        for node in ast_nodes(get_ast_from_path(Path(module))):
            for name, operator in operators.items():
                for start, _ in operator.mutation_positions(node):
                    where = ASTQuery(node).get_definition_name() or "module"
                    if not is_work(name, lines[start[0] - 1]):
                        mutants.append(Mutant(module, name, seen[name], start[0], where))
                    seen[name] += 1
    return sorted(mutants, key=lambda mutant: mutant.name)


def is_work(operator: str, line: str) -> bool:
    """Whether a mutation of a line changes the amount of work alone: see ``WORK``."""
    return operator in WORK and WORK[operator].match(line) is not None


@functools.cache
def mutated(mutant: Mutant, source: str) -> str | None:
    """Return the module with the mutation, or None where there is none."""
    import cosmic_ray.plugins
    from cosmic_ray.mutating import mutate_code

    operator = cosmic_ray.plugins.get_operator(mutant.operator)()
    return mutate_code(source, operator, mutant.occurrence)


class _Bare(ast.NodeTransformer):
    """What a program computes: without annotations, and without what messages say."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = ast.Constant(0)
        self.generic_visit(node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Constant:  # noqa: ARG002
        return ast.Constant("")

    def visit_If(self, node: ast.If) -> ast.AST:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return ast.Pass()  # imports for annotations
        self.generic_visit(node)
        return node


def differs(source: str, code: str | None) -> bool:
    """Whether a mutation gives a program, and another one but for annotations and messages."""
    if code is None:
        return False
    try:
        trees = [ast.dump(_Bare().visit(ast.parse(text))) for text in (source, code)]
    except SyntaxError:
        return False
    return trees[0] != trees[1]


def shares(sizes: dict[str, int], wanted: int) -> dict[str, int]:
    """Return how many to draw from each stratum: in proportion, at least ``LEAST``."""
    total = sum(sizes.values())
    drawn = {
        name: min(size, max(LEAST, round(wanted * size / total))) for name, size in sizes.items()
    }
    for name in sorted(sizes, key=lambda name: drawn[name] - sizes[name]):  # most left first
        missing = wanted - sum(drawn.values())
        drawn[name] += min(max(missing, 0), sizes[name] - drawn[name])
    return drawn


def sample(mutants: list[Mutant], wanted: int, seed: int) -> list[Mutant]:
    """Draw from every module; what is no other program is replaced by the next one."""
    strata = defaultdict(list)
    for mutant in mutants:
        strata[mutant.module].append(mutant)
    counts = shares({name: len(found) for name, found in strata.items()}, wanted)
    chosen = []
    for name in sorted(strata):
        order = strata[name]
        random.Random(f"{seed} {name}").shuffle(order)
        source = (ROOT / name).read_text(encoding="utf-8")
        taken: list[Mutant] = []
        for mutant in order:
            if len(taken) == counts[name]:
                break
            if differs(source, mutated(mutant, source)):
                taken.append(mutant)
        chosen += taken
    return chosen


# --- which tests run ---------------------------------------------------------------------------


def statement_lines(tree: ast.Module, line: int) -> range | None:
    """Return the lines of the innermost statement about a line, None outside functions.

    Of a compound statement only those before its body: what runs if the statement is reached.
    """
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    statements = {
        node
        for function in functions
        for part in function.body
        for node in ast.walk(part)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    }
    if not statements:
        return None
    inner = min(statements, key=lambda node: (node.end_lineno or node.lineno) - node.lineno)
    last = inner.end_lineno or inner.lineno
    if body := getattr(inner, "body", None):
        last = max(inner.lineno, body[0].lineno - 1)
    return range(inner.lineno, last + 1) if line <= last else range(line, line + 1)


class Tests:
    """Durations of the tests, and which of them run a line."""

    def __init__(self, directory: Path) -> None:
        from coverage import CoverageData

        self.seconds: dict[str, float] = json.loads((directory / "durations.json").read_text())
        self.slow: list[str] = json.loads((directory / "slow.json").read_text())
        self.data = CoverageData(str(directory / "coverage"))
        self.data.read()

    def by_time(self) -> list[str]:
        """Return all tests, the quickest first."""
        return sorted(self.seconds, key=lambda name: (self.seconds[name], name))

    def reaching(self, module: str, line: int) -> set[str]:
        """Return the tests that run a statement; outside functions, anything of the module."""
        contexts = self.data.contexts_by_lineno(str(ROOT / module))
        tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
        lines = statement_lines(tree, line)
        names = {
            name.rpartition("|")[0]
            for at, found in contexts.items()
            if lines is None or at in lines
            for name in found
        }
        return {name for name in names if name in self.seconds}

    def stages(self, module: str, line: int, budget: float) -> tuple[list[Stage], int]:
        """Return tests in the order of running, and how many run the statement.

        First those of the mirrored file that do, then others that do, then the rest of that file,
        which may have been served from a cache when coverage was measured, and ``ALWAYS``; at
        last the slow ones of that file.
        """
        path = Path(module)
        mirrored = f"tests/{path.parent.name}/test_{path.stem.lstrip('_')}.py::"
        reaching = self.reaching(module, line)
        first = {name for name in reaching if name.startswith(mirrored)}
        rest = {name for name in self.seconds if name.startswith((mirrored, *ALWAYS))} - reaching
        stages, left = [], budget
        for group in (first, reaching - first, rest):
            stage = []
            for name in sorted(group, key=lambda name: (self.seconds[name], name)):
                if left <= 0.0:
                    break
                stage.append(name)
                left -= self.seconds[name]
            if stage:
                stages.append(Stage(stage))
        if slow := [name for name in self.slow if name.startswith(mirrored)]:
            stages.append(Stage(slow, slow=True))
        return stages, len(reaching)


def measure(directory: Path, workers: int) -> None:
    """Run the tests once, recording how long each takes and what it runs."""
    import pytest

    seconds: dict[str, float] = defaultdict(float)
    failed = set()

    class Record:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            seconds[report.nodeid] += report.duration
            if report.outcome == "failed":
                failed.add(report.nodeid)

    arguments = ["-q", "-m", "not slow", "-n", str(workers), "-p", "no:cacheprovider"]
    arguments += ["--dist", "loadfile", "--cov=riemdp", "--cov-context=test", "--cov-report="]
    os.environ["COVERAGE_FILE"] = str(directory / "coverage")
    code = int(pytest.main([*arguments, *SUITE], plugins=[Record()]))
    if code not in (0, 1) or len(failed) > MOST_FAILED:
        raise SystemExit(f"too many tests fail without mutations (pytest returned {code})")
    for name in sorted(failed):
        print(f"fails without mutations, and will not be run: {name}")
        del seconds[name]
    (directory / "durations.json").write_text(json.dumps(seconds, indent=0))

    slow: list[str] = []

    class Collect:
        def pytest_collection_finish(self, session: pytest.Session) -> None:
            slow.extend(item.nodeid for item in session.items)

    pytest.main(["-q", "-q", "--collect-only", "-m", "slow", *SUITE], plugins=[Collect()])
    (directory / "slow.json").write_text(json.dumps(slow, indent=0))


# --- running ------------------------------------------------------------------------------------


def _limit(seconds: float) -> None:
    """Let the system end this process if what comes takes longer."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, CLOCK * seconds)


def _run_tests(tree: Path, stage: Stage, seconds: dict[str, float], log: Path) -> None:
    """Run tests in this process, a fork, and leave it: 0 if all pass. A test too slow kills it."""
    import pytest

    rank = {name: position for position, name in enumerate(stage.names)}

    class Choose:
        killer = ""

        def pytest_sessionstart(self) -> None:
            import hypothesis

            phases = [
                hypothesis.Phase.explicit,
                hypothesis.Phase.generate,
            ]  # nobody reads a failure
            hypothesis.settings.register_profile(
                "mutants", hypothesis.settings.get_profile("riemdp"), phases=phases
            )
            hypothesis.settings.load_profile("mutants")

        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            items[:] = sorted(
                (item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid]
            )

        def pytest_runtest_logstart(self, nodeid: str) -> None:
            self.killer = nodeid
            log.with_suffix(".test").write_text(nodeid)
            if not stage.slow:
                _limit(GRACE + SLOWER * seconds.get(nodeid, BUDGET))

    code = 3
    try:
        with log.open("w") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        os.setsid()
        os.chdir(tree)
        os.environ["PYTHONPATH"] = str(tree / "src")
        sys.path.insert(0, str(tree / "src"))
        sys.dont_write_bytecode = True
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        _limit(BUDGET if stage.slow else 2.0 * GRACE)
        files = sorted({name.partition("::")[0] for name in stage.names})
        options = ["-x", "-q", "--tb=short", "--no-header"]
        options += ["-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:xdist"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what preload() imported
        code = int(pytest.main([*options, *files], plugins=[Choose()]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class Runner:
    """Forks a process per mutant, at most one per copy of the tree."""

    def __init__(self, tests: Tests, workers: int) -> None:
        self.tests = tests
        self.scratch = Path(tempfile.mkdtemp(prefix="riemdp-mutants-"))
        self.whole = self.scratch / "whole"
        self.trees = [self.scratch / str(slot) for slot in range(workers)]
        for tree in (self.whole, *self.trees):
            for name in ("src", "tests", "tools", "docs", "examples", "benchmarks"):
                shutil.copytree(ROOT / name, tree / name)
            for path in ROOT.glob("*"):
                if path.is_file():
                    shutil.copy2(path, tree)
        self.running: dict[int, Job] = {}

    def free(self) -> list[int]:
        """Return the copies in which nothing runs."""
        return sorted(set(range(len(self.trees))) - {job.slot for job in self.running.values()})

    def start(self, job: Job, slot: int) -> None:
        """Run the next stage of a job."""
        tree, stage = self.trees[slot], job.stages.pop(0)
        (tree / job.mutant.module).write_text(job.code, encoding="utf-8")
        job.slot, job.log = slot, self.scratch / f"{slot}.log"
        job.log.with_suffix(".test").write_text("")
        job.ran += len(stage.names)
        job.slow = stage.slow
        pid = os.fork()
        if not pid:
            _run_tests(tree, stage, self.tests.seconds, job.log)
        self.running[pid] = job

    def wait(self) -> tuple[Job, str]:
        """Return a job whose stage has ended, and how: passed, killed, timeout or error."""
        while True:
            pid, status = os.wait()
            if pid in self.running:
                break
        job = self.running.pop(pid)
        shutil.copy2(self.whole / job.mutant.module, self.trees[job.slot] / job.mutant.module)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # what the tests left behind
        if os.WIFSIGNALED(status):
            late = os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF)
            if late and job.slow:
                return job, "passed"  # as far as they came
            return job, "timeout" if late else "killed"
        code = os.WEXITSTATUS(status)
        return job, {0: "passed", 1: "killed"}.get(code, "error")

    def close(self) -> None:
        """Remove the copies."""
        shutil.rmtree(self.scratch, ignore_errors=True)


def preload() -> None:
    """Import what the tests will, so that a fork need not."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def changed_lines(old: str, new: str) -> tuple[str, str]:
    """Return the lines that differ, joined."""
    before, after = old.splitlines(), new.splitlines()
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return " ".join(map(str.strip, before)), " ".join(map(str.strip, after))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def run(
    mutants: list[Mutant], directory: Path, tests: Tests, workers: int, retry: bool = False
) -> list[Result]:
    """Test mutants, writing each result as it comes; those known are not run again.

    With ``retry`` survivors are, with the tests there are now.
    """
    file = directory / "results.jsonl"
    known = {result.mutant.name: result for result in read(file)}
    sources = {name: (ROOT / name).read_text(encoding="utf-8") for name in modules()}
    current = {name: _digest(text) for name, text in sources.items()}
    results, waiting = [], []
    for mutant in mutants:
        before = known.get(mutant.name)
        again = before is not None and retry and before.outcome == "survived"
        if before is not None and before.source == current[mutant.module] and not again:
            results.append(before)
            continue
        waiting.append(mutant)

    def note(job: Job, outcome: str, killer: str = "") -> None:
        source = sources[job.mutant.module]
        lines = changed_lines(source, job.code)
        result = Result(job.mutant, *lines, _digest(source), outcome, job.ran, job.reaching, killer)
        results.append(result)
        with file.open("a", encoding="utf-8") as output:
            output.write(json.dumps(asdict(result)) + "\n")
        lost = sum(r.outcome == "survived" for r in results)
        print(
            f"{len(results)}/{len(mutants)}, {lost} survived: {outcome} {job.mutant.name}",
            flush=True,
        )

    runner = Runner(tests, workers)
    try:
        quickest = {name.partition("::")[0]: name for name in reversed(tests.by_time())}
        _check(runner, sorted(quickest.values()), "a test that should kill mutants")
        while waiting or runner.running:
            while waiting and runner.free():
                mutant = waiting.pop(0)
                code = mutated(mutant, sources[mutant.module])
                assert code is not None
                job = Job(mutant, code, *tests.stages(mutant.module, mutant.line, BUDGET))
                if retry:  # the others have passed before
                    job.stages.sort(key=lambda stage: not stage.slow)
                if job.stages:
                    runner.start(job, runner.free()[0])
                else:
                    note(job, "survived")
            if runner.running:
                job, outcome = runner.wait()
                if outcome == "passed" and job.stages:
                    runner.start(job, job.slot)
                elif outcome == "passed":
                    note(job, "survived")
                else:
                    note(job, outcome, job.log.with_suffix(".test").read_text())
        killers = sorted({result.killer for result in results} - {""})
        _check(runner, killers, "a test that killed mutants")
        print(f"the {len(killers)} tests that killed mutants pass without them")
    finally:
        for pid in runner.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        runner.close()
    return results


def _check(runner: Runner, names: list[str], what: str) -> None:
    """Run tests without a mutation: they have to pass."""
    module = modules()[0]
    code = (ROOT / module).read_text(encoding="utf-8")
    if names:
        runner.start(Job(Mutant(module, "none", 0, 1, ""), code, [Stage(names)], len(names)), 0)
        job, outcome = runner.wait()
        if outcome != "passed":
            raise SystemExit(f"{what} fails without them:\n{job.log.read_text()[-3000:]}")


# --- reporting ----------------------------------------------------------------------------------


def read(file: Path) -> list[Result]:
    """Return the results of earlier runs, the latest of each mutant."""
    if not file.exists():
        return []
    rows: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()]
    results = [Result(**{**row, "mutant": Mutant(**row["mutant"])}) for row in rows]
    return list({result.mutant.name: result for result in results}.values())


def report(results: list[Result]) -> str:
    """Return the score per package and the survivors, in Markdown."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        for name in (package(result.mutant.module), "all"):
            counts[name][result.outcome] += 1
    lines = ["| package | mutants | killed | of these timed out | survived | score |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    for name in sorted(counts, key=lambda name: (name == "all", name)):
        found = counts[name]
        total, lost = sum(found.values()), found["survived"]
        score = f"{100.0 * (total - lost) / total:.1f} %"
        cells = name, total, total - lost, found["timeout"], lost, score
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| survivor | line | becomes | tests run / reaching |", "|---|---|---|---|"]
    for result in sorted(results, key=lambda r: (r.mutant.module, r.mutant.line)):
        if result.outcome == "survived":
            where = f"{Path(result.mutant.module).stem}.{result.mutant.where}"
            cells = where, f"`{result.old}`", f"`{result.new}`", f"{result.tests}/{result.reaching}"
            lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="every mutant instead of a sample")
    parser.add_argument("--sample", type=int, default=620, help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, default=ROOT / "mutants_output")
    parser.add_argument("--only", default="", help="only modules whose path contains this")
    parser.add_argument("--tests", nargs="+", default=SUITE, help="only these tests")
    parser.add_argument("--measured", action="store_true", help="keep the coverage of the last run")
    parser.add_argument("--retry", action="store_true", help="run survivors again")
    options = parser.parse_args()
    SUITE[:] = options.tests
    os.chdir(ROOT)
    directory = options.output.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    if not (options.measured and (directory / "durations.json").exists()):
        if pid := os.fork():  # riemdp must not be imported here
            if os.waitpid(pid, 0)[1]:
                raise SystemExit("the tests do not pass without mutations")
        else:
            try:
                measure(directory, options.workers)
                os._exit(0)
            finally:
                os._exit(1)
    preload()
    mutants = all_mutants(options.only)
    print(f"{len(mutants)} mutants in {len({mutant.module for mutant in mutants})} modules")
    chosen = sample(mutants, len(mutants) if options.all else options.sample, options.seed)
    results = run(chosen, directory, Tests(directory), options.workers, options.retry)
    text = report(results)
    (directory / "report.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
