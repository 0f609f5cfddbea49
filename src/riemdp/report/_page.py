"""The page around a report: one file, no script, no request, legible on a phone and on paper."""

from __future__ import annotations

import base64
import hashlib

from riemdp.report._markup import Markup, escaped, joined, tag

_STYLE = """
:root { color-scheme: light; --ink: #1c2330; --soft: #5a6474; --line: #d8dde5; --link: #1f5fa8; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 54rem; color: var(--ink);
  background: #fff; font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-bottom: .25rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { margin: .5rem 0; }
.lead { color: var(--soft); margin-bottom: 1rem; }
.box { border-left: .35rem solid; padding: .55rem .9rem; margin: .7rem 0; }
.good { border-color: #2b7a3d; background: #eef7f0; }
.bad { border-color: #b3261e; background: #fdeeec; }
.note { border-color: #b7791f; background: #fdf6e7; }
.big { font-size: 1.3rem; font-weight: 650; }
dl { display: grid; grid-template-columns: minmax(9rem, 14rem) 1fr; gap: .35rem 1rem;
  margin: .5rem 0; }
dt { color: var(--soft); }
dd { margin: 0; }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
td:last-child { overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; }
.numbers td { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85rem;
  white-space: nowrap; overflow-wrap: normal; }
.numbers td:last-child { overflow-wrap: normal; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .88em; }
.beside { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
.beside > * { flex: 1 1 17rem; min-width: 0; }
.picture { max-width: 19rem; }
.frame { fill: none; stroke: var(--line); }
.guess { fill: none; stroke: #98a2b3; stroke-dasharray: 4 4; }
.curve { fill: none; stroke: var(--link); stroke-width: 2; }
.dot { fill: var(--link); }
.tick { font-size: 11px; fill: var(--soft); text-anchor: end; }
.below, .axis { text-anchor: middle; }
.axis { font-size: 12px; fill: var(--ink); }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .88rem; }
@media (max-width: 34rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  .box, .picture, tr, dt, dd { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; }
  .numbers td { white-space: normal; }
}
"""


def page(title: str, *children: object) -> str:
    """Return the whole page, of markup and of texts that are escaped.

    Its policy lets a browser load nothing, run nothing and apply this style only, whatever the
    texts in it are.
    """
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = (
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{escaped(policy)}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="referrer" content="no-referrer">'),
        tag("title", title),
        tag("style", Markup(_STYLE)),
    )
    lines = Markup("\n").join(["<!DOCTYPE html>", '<html lang="en">', tag("head", *head)])
    body = tag("body", tag("main", joined(children)))
    return f"{lines}\n{body}\n</html>\n"
