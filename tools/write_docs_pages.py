"""Write the pages "Benchmarks" and "Reproduction" of the documentation from measured results.

    python tools/write_docs_pages.py benchmarks ROWS.json [ROWS.json ...]
    python tools/write_docs_pages.py reproduction FOLDER

``ROWS.json`` are what ``make bench`` leaves, one for each environment. ``FOLDER`` is the output of
``riemdp reproduce``. No number on these pages is typed by hand.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"

BENCHMARKS = """# Benchmarks

Written by `make bench` ({script}). Both sides of a row were measured in one run; times are medians
of five calls or more, where the row does not say that they were scaled up. Errors are relative,
against 40 digits or more. The end of a row's name says which side was divided by which. A row with
a target says whether it was met; none was left out for missing it.
"""
REPRODUCTION = """# Reproduction

The figures and tables of the five papers, computed again by `riemdp reproduce` (page written
{script}): what the paper says, what its method gives here, and the exact answer. Where these differ
the last column says why; the [errata](errata.md) collect what is wrong in print.

```{{toctree}}
:maxdepth: 1

{pages}
```
"""
SCRIPT = "by `tools/write_docs_pages.py`"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return rows in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def benchmarks(files: list[Path], docs: Path) -> Path:
    """Write one table for each environment."""
    parts = [BENCHMARKS.format(script=SCRIPT)]
    for file in files:
        document = json.loads(file.read_text(encoding="utf-8"))
        rows = document["rows"]
        missed = [row for row in rows if "no" in row[-1]]
        parts.append(f"## {len(rows)} rows: {file.stem}\n")
        parts.append(f"{document['machine']}.\n")
        with_target = sum(bool(row[-2]) for row in rows)
        parts.append(f"{with_target - len(missed)} of {with_target} targets met.\n")
        parts.append(table(document["head"], rows) + "\n")
    page = docs / "benchmarks.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def reproduction(folder: Path, docs: Path) -> Path:
    """Copy the papers' pages with their figures, and write the page above them."""
    pages = sorted(folder.glob("*.md"))
    if not pages:
        raise SystemExit(f"{folder} holds no pages: run riemdp reproduce all --output {folder}")
    target = docs / "reproduction"
    (target / "figures").mkdir(parents=True, exist_ok=True)
    for page in pages:
        shutil.copyfile(page, target / page.name)
    for figure in sorted((folder / "figures").glob("*.png")):
        shutil.copyfile(figure, target / "figures" / figure.name)
    page = docs / "reproduction.md"
    names = "\n".join(f"reproduction/{page.stem}" for page in pages)
    page.write_text(REPRODUCTION.format(script=SCRIPT, pages=names), encoding="utf-8")
    return page


def main() -> None:
    """Write the page that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("page", choices=["benchmarks", "reproduction"])
    parser.add_argument("inputs", nargs="+", type=Path)
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    if options.page == "benchmarks":
        print(benchmarks(options.inputs, options.docs))
    else:
        print(reproduction(options.inputs[0], options.docs))


if __name__ == "__main__":
    main()
