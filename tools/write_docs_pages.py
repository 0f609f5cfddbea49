"""Write the documentation's pages of measured results: benchmarks, reproduction, theorems.

    python tools/write_docs_pages.py benchmarks ROWS.json [ROWS.json ...]
    python tools/write_docs_pages.py reproduction FOLDER
    python tools/write_docs_pages.py theorems
    python tools/write_docs_pages.py combinations

``ROWS.json`` are what ``make bench`` leaves, one for each environment. ``FOLDER`` is the output of
``riemdp reproduce``. The theorems' numbers are computed on the way. No number on these pages is
typed by hand.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"

BENCHMARKS = """# Benchmarks

Written by `make bench` ({script}). Both sides of a row were measured in one run; times are medians
of five calls or more, where the row does not say that they were scaled up. Errors are relative,
against 40 digits or more. The end of a row's name says which side was divided by which. A row with
a target says whether it was met; none was left out for missing it, and what could not be measured
in an environment is named below its table.

The libraries run with their defaults except for the tolerance, each from its own starting point;
our means check their input and certify their error in the time shown. A chain's time is that of one
draw, which needs a burn-in of its own; “one of so many draws” is our time for as many draws about
one point, divided by their number.
"""
REPRODUCTION = """# Reproduction

The figures and tables of the five papers, computed again by `riemdp reproduce` (page written
{script}): what the paper says, what its method gives here, and the exact answer. Where these differ
the last column says why; the [errata](errata.md) collect what is wrong in print, and the
[theorems](theorems.md) are gone through one by one.

```{{toctree}}
:maxdepth: 1

{pages}
```
"""
THEOREMS = """# Theorems

Every numbered statement of the five papers that claims something (page written {script}): what it
says, whether it is true, where that is shown, and a figure that shows it, computed when the page
was written. Where a statement needs a correction the right version stands in brackets. “True with a
correction” covers the statement itself, or the proof or text around it that the row names: what is
meant holds once that is mended. “Sharper here” is a true statement with a better constant, or with
more than the paper says. The [errata](errata.md) are the list of what is wrong in print.
"""
SCRIPT = "by `tools/write_docs_pages.py`"
#: Around the table that is written into a page of other text.
BEGIN = "<!-- written by tools/write_docs_pages.py combinations -->"
END = "<!-- end -->"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return rows in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def benchmarks(files: list[Path], docs: Path) -> Path:
    """Write one table for each environment."""
    parts = [BENCHMARKS.format(script=SCRIPT)]
    for file in files:
        document = json.loads(file.read_text(encoding="utf-8"))
        rows = document["rows"]
        missed = [row for row in rows if "no" in row[-1]]
        parts.append(f"## Environment {file.stem}: {len(rows)} rows\n")
        parts.append(f"{document['machine']}.\n")
        with_target = sum(bool(row[-2]) for row in rows)
        parts.append(f"{with_target - len(missed)} of {with_target} targets met.\n")
        parts.append(table(document["head"], rows) + "\n")
        if document["skipped"]:
            parts.append("Not measured here:\n")
            parts.append("\n".join(f"- {skipped}" for skipped in document["skipped"]) + "\n")
    page = docs / "benchmarks.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def reproduction(folder: Path, docs: Path) -> Path:
    """Copy the papers' pages with their figures, and write the page above them."""
    from riemdp_papers import PAPERS

    pages = [folder / f"{key}.md" for key in PAPERS]
    if missing := [page.name for page in pages if not page.exists()]:
        raise SystemExit(
            f"{folder} lacks {', '.join(missing)}: run riemdp reproduce all --output {folder}"
        )
    target = docs / "reproduction"
    shutil.rmtree(target, ignore_errors=True)  # figures of experiments that are gone
    (target / "figures").mkdir(parents=True)
    for page in pages:
        shutil.copyfile(page, target / page.name)
        for figure in re.findall(r"\]\((figures/[^)]+)\)", page.read_text(encoding="utf-8")):
            shutil.copyfile(folder / figure, target / figure)
    page = docs / "reproduction.md"
    names = "\n".join(f"reproduction/{key}" for key in PAPERS)
    page.write_text(REPRODUCTION.format(script=SCRIPT, pages=names), encoding="utf-8")
    return page


def theorems(docs: Path) -> Path:
    """Write one table for each paper, and count what its statements are."""
    from riemdp_papers import PAPERS
    from riemdp_papers._report import load_paper
    from riemdp_papers._theorems import STATUSES
    from riemdp_papers._theorems import theorems as all_rows

    parts = [THEOREMS.format(script=SCRIPT)]
    for key in PAPERS:
        if not (rows := [row for row in all_rows() if row.paper == key]):
            continue
        parts.append(f"## {load_paper(key).citation.rstrip('.')}\n")
        counts = {status: sum(row.status == status for row in rows) for status in STATUSES}
        counted = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        parts.append(f"{len(rows)} rows: {counted.replace(', sharper', ' and sharper')}.\n")
        parts.append(table(["theorem", "status", "where", "number"], [row.cells() for row in rows]))
        parts.append("")
    page = docs / "theorems.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def combinations(docs: Path) -> Path:
    """Write the table of what no release combines into the page that tells of neighbours."""
    from riemdp._combinations import COMBINATIONS

    rows = [[row.what, row.beside, row.why, row.instead] for row in COMBINATIONS]
    page = docs / "whom_it_protects.md"
    text = page.read_text(encoding="utf-8")
    found = table(["option", "not beside", "because", "instead"], rows)
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{found}\n\n{END}{after}", encoding="utf-8")
    return page


def main() -> None:
    """Write the page that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("page", choices=["benchmarks", "reproduction", "theorems", "combinations"])
    parser.add_argument("inputs", nargs="*", type=Path)
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    if bool(options.inputs) == (options.page in ("theorems", "combinations")):
        parser.error("benchmarks and reproduction need their inputs, the other pages take none")
    if options.page == "theorems":
        print(theorems(options.docs))
    elif options.page == "combinations":
        print(combinations(options.docs))
    elif options.page == "benchmarks":
        print(benchmarks(options.inputs, options.docs))
    else:
        print(reproduction(options.inputs[0], options.docs))


if __name__ == "__main__":
    main()
