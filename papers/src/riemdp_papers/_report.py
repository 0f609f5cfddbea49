"""Run a paper's experiments, keep their results, and write figures and a page about them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib
import importlib.util
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy

import riemdp
from riemdp import InvalidParameterError
from riemdp.cli import check_output, opened, write_files
from riemdp_papers._experiment import Experiment, Outcome, Panel, Paper, Row, Settings
from riemdp_papers._images import Found, data_folder, find_sets

#: Keys of the papers, and the modules that hold them.
PAPERS = {
    "reimherr": "_reimherr",
    "utpala": "_utpala",
    "jiang": "_jiang_figures",
    "he": "_he",
    "soto": "_soto",
}
_HEADER = ("", "paper says", "reproduced", "exact", "where they differ, and why")
#: Called with the experiment and the share of it that is done.
Watcher = Callable[[Experiment, float], None]


@dataclass(frozen=True)
class Result:
    """An experiment's outcome and the seconds of CPU that it took when it ran."""

    experiment: Experiment
    outcome: Outcome
    seconds: float


def load_paper(key: str) -> Paper:
    """Return the paper of this key."""
    if key not in PAPERS:
        raise InvalidParameterError(f"paper must be one of {', '.join(PAPERS)}, got {key!r}")
    paper = importlib.import_module(f"riemdp_papers.{PAPERS[key]}").PAPER
    assert isinstance(paper, Paper)
    return paper


def reproduce(paper: Paper, settings: Settings, output: Path, watcher: Watcher) -> Path:
    """Run what has not run yet, write ``<key>.md``, ``figures`` and ``cache``, and return the page.

    An interrupted run goes on where it stopped: each experiment's results are kept as soon as there
    are any, and used again by runs with the same settings, code, libraries and data. It needs
    matplotlib, and images in a folder of image data that is named.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise InvalidParameterError("the figures need matplotlib: pip install 'riemdp[plot]'")
    sets = find_sets(folder) if (folder := data_folder(settings)) else []
    files = [file for found in sets for file in found.files]
    key = _key(settings, sets)
    for place in (output, output / "figures", output / "cache"):
        place.mkdir(parents=True, exist_ok=True)
    page = check_output(output / f"{paper.key}.md", files)
    for experiment in paper.experiments:
        for figure in _figures(output / "figures" / f"{paper.key}-{experiment.name}"):
            check_output(figure, files)
    results = []
    for experiment in paper.experiments:
        name = f"{paper.key}-{experiment.name}"
        result = _run(experiment, settings, key, output / "cache" / f"{name}.json", watcher)
        if result.outcome.panels:
            draw(result.outcome.panels, output / "figures" / name)
        results.append(result)
    text = markdown(paper, settings, results).encode()
    write_files({page: lambda file: file.write(text)})
    return output / f"{paper.key}.md"


def _run(
    experiment: Experiment,
    settings: Settings,
    key: dict[str, object],
    cache: Path,
    watcher: Watcher,
) -> Result:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # if nothing usable is kept
        kept = json.loads(cache.read_text(encoding="utf-8"))
        if kept["key"] == key:
            result = Result(experiment, Outcome.from_json(kept["outcome"]), float(kept["seconds"]))
            watcher(experiment, 1.0)
            return result
    start = time.process_time()
    watcher(experiment, 0.0)
    outcome = experiment.run(settings, functools.partial(watcher, experiment))
    seconds = time.process_time() - start
    content = {"key": key, "seconds": seconds, "outcome": dataclasses.asdict(outcome)}
    # An interrupted write must not look like a result, nor disturb another run in this folder.
    text = json.dumps(content, indent=1).encode()
    write_files({cache: lambda file: file.write(text)})
    watcher(experiment, 1.0)
    return Result(experiment, outcome, seconds)


def _key(settings: Settings, sets: list[Found]) -> dict[str, object]:
    """Return all that kept results depend on."""
    return {
        "version": riemdp.__version__,
        "code": _code_digest(),
        "libraries": [np.__version__, scipy.__version__],
        "quick": settings.quick,
        "seed": settings.seed,
        "data": [[found.name, *map(_digest, found.files)] for found in sets],
    }


def _digest(file: Path) -> str:
    with opened(file) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]


@functools.cache
def _code_digest() -> str:
    """Digest of the sources of both packages: other code may give other results."""
    digest = hashlib.sha256()
    for root in (Path(riemdp.__file__).parent, Path(__file__).parent):
        for path in sorted(root.rglob("*.py")):
            digest.update(str(path.relative_to(root.parent)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def draw(panels: tuple[Panel, ...], stem: Path) -> None:
    """Draw panels side by side into ``<stem>.png`` and ``<stem>.svg``."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    # The same results give the same files.
    with mpl.rc_context({"svg.hashsalt": "riemdp"}):
        figure = Figure(figsize=(4.6 * columns, 3.7 * lines), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(lines, columns, squeeze=False).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            _fill(axes, panel)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        png, svg = map(check_output, _figures(stem))
        write_files(
            {
                png: lambda file: figure.savefig(
                    file, format="png", dpi=120, metadata={"Software": None}
                ),
                svg: lambda file: figure.savefig(file, format="svg", metadata={"Date": None}),
            }
        )


def _figures(stem: Path) -> tuple[Path, Path]:
    return stem.with_suffix(".png"), stem.with_suffix(".svg")


def _fill(axes: object, panel: Panel) -> None:
    from matplotlib.axes import Axes
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    assert isinstance(axes, Axes)
    for index, line in enumerate(panel.lines):
        color, style = f"C{index % 10}", ("-", "--", ":")[index // 10 % 3]
        marker = "o" if len(line.x) <= 40 else ""
        axes.plot(line.x, line.y, style, color=color, marker=marker, ms=3, label=line.label)
        if line.spread:
            y, spread = np.array(line.y), np.array(line.spread)
            low, high = y - spread, y + spread
            if panel.ylog:  # a band to below zero would have no lower edge
                low = np.where(low > 0.0, low, np.where(y > 0.0, 0.5 * y, np.nan))
            axes.fill_between(line.x, low, high, color=color, alpha=0.2, linewidth=0)
    axes.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
    axes.title.set_fontsize("medium")
    axes.set(xscale="log" if panel.xlog else "linear", yscale="log" if panel.ylog else "linear")
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    for axis, wanted in ((axes.xaxis, panel.xlog), (axes.yaxis, panel.ylog)):
        if wanted:
            low, high = axis.get_view_interval()
            few = high < 200.0 * low  # then 2 and 5 get labels as well, else there is no room
            axis.set_minor_locator(LogLocator(subs=(2.0, 5.0) if few else "all", numticks=99))
            axis.set_minor_formatter(plain if few else NullFormatter())
            axis.set_major_formatter(plain)
    axes.legend(fontsize="x-small")


def markdown(paper: Paper, settings: Settings, results: list[Result]) -> str:
    """Return the page on a paper: for each experiment its table, figure and notes."""
    seconds = sum(result.seconds for result in results)
    command = f"riemdp reproduce {paper.key}" + (" --quick" if settings.quick else "")
    parts = [
        f"# {paper.title}",
        paper.citation,
        f"Written by `{command}`, riemdp {riemdp.__version__}: {seconds:.0f} seconds of processor "
        f"time. All noise comes from generators with public seeds (seed {settings.seed}): nothing "
        "drawn here is private. “—” stands where there is no number, “figure only” where the paper "
        "has a picture and no number.",
    ]
    parts.append(
        "This is a quick run, with fewer repeats and sizes than in the paper."
        if settings.quick
        else "This is a full run."
    )
    for result in results:
        outcome, name = result.outcome, f"{paper.key}-{result.experiment.name}"
        parts.append(f"## {result.experiment.title}")
        if outcome.rows:
            parts.append(_table(outcome.rows))
        if outcome.panels:
            parts.append(f"![{result.experiment.title}](figures/{name}.png)")
        parts.extend(outcome.notes)
    return "\n\n".join(parts) + "\n"


def _table(rows: tuple[Row, ...]) -> str:
    lines = [_HEADER, ("---",) * len(_HEADER)]
    for row in rows:
        cells = (row.quantity, row.paper, row.reproduced, row.exact, row.remark)
        first, *middle, remark = (" ".join(cell.replace("|", "\\|").split()) for cell in cells)
        lines.append((first, *(cell or "—" for cell in middle), remark))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
