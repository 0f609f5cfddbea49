"""The planner's page, made with Shiny; imported only where that is installed."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from shiny import App, reactive, render, ui

from riemdp._errors import RiemdpError
from riemdp.app._study import BUDGETS, SPACES, USEFUL, Study, Verdict

_COLOURS = {"useful": "#1a7f37", "borderline": "#9a6700", "hopeless": "#b42318"}
_POINTS = 9
_STYLE = """
#verdict { border-left: 6px solid var(--level); padding: .6rem 1rem; background: #f6f8fa; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f8fa; padding: .6rem; }
"""


def page() -> App:
    """Return the page."""
    return App(_layout(), _server)


def _layout() -> Any:
    spaces = {name: each.records for name, each in SPACES.items()}
    budgets = {name: each.title for name, each in BUDGETS.items()}
    controls = ui.sidebar(
        ui.input_select("space", "A record is one of", spaces),
        ui.output_ui("size_input"),
        ui.input_numeric("n", "Number of records, n", 500, min=1, step=50),
        ui.input_numeric("radius", "Radius of the public ball", 1.0, min=0.0, step=0.1),
        ui.input_numeric("means", "Means released together", 1, min=1),
        ui.input_select("budget", "Guarantee", budgets),
        ui.output_ui("parameter_input"),
        ui.input_numeric("effect", "Effect looked for, a distance", 0.3, min=0.0, step=0.05),
        ui.help_text("Distances are geodesic. Public numbers only: no data are asked for."),
        width=330,
        open={"desktop": "open", "mobile": "always-above"},
    )
    return ui.page_sidebar(
        controls,
        ui.head_content(ui.tags.style(_STYLE), ui.tags.link(rel="icon", href="data:,")),
        ui.output_ui("verdict"),
        ui.output_plot("errors", height="340px"),
        ui.h2("Python", class_="h5"),
        ui.output_code("code"),
        ui.h2("Command line", class_="h5"),
        ui.output_code("command"),
        title="Is my data enough?",
        lang="en",
    )


def _server(input: Any, output: Any, session: Any) -> None:  # noqa: A002, ARG001
    @render.ui
    def size_input() -> Any:
        choice = SPACES[input.space()]
        least, first, most = choice.sizes
        if choice.field is None:
            return None
        return ui.input_numeric("size", f"Its {choice.field}", first, min=least, max=most)

    @render.ui
    def parameter_input() -> Any:
        choice = BUDGETS[input.budget()]
        asked = [ui.input_numeric("parameter", choice.parameter, 1.0, min=0.0, step=0.1)]
        if choice.has_delta:
            asked.append(ui.input_numeric("delta", "delta", 1e-6, min=0.0, step=1e-7))
        return ui.TagList(*asked)

    @reactive.calc
    def study() -> Study:
        sized = SPACES[input.space()].field is not None
        delta = input.delta() if BUDGETS[input.budget()].has_delta else 1e-6
        return Study(
            input.space(),
            input.size() if sized else 1,
            input.radius(),
            input.n(),
            input.means(),
            input.budget(),
            input.parameter(),
            input.effect(),
            delta,
        )

    @reactive.calc
    def found() -> Verdict | str:
        try:
            asked: Study = study()
            return asked.verdict()
        except RiemdpError as error:
            return str(error)

    @render.ui
    def verdict() -> Any:
        answer = found()
        if isinstance(answer, str):
            return ui.div(
                ui.h2("Not available", class_="h4"),
                ui.p(answer),
                id="verdict",
                style=f"--level: {_COLOURS['hopeless']}",
            )
        return ui.div(
            ui.h2(answer.level.capitalize(), class_="h4", style="color: var(--level)"),
            *map(ui.p, answer.sentences),
            ui.p(f"Expected noise {answer.noise:.3g}, with {answer.mechanism}."),
            id="verdict",
            style=f"--level: {_COLOURS[answer.level]}",
        )

    @render.plot(alt="Noise against the number of records, with the effect looked for")
    def errors() -> Any:
        if isinstance(found(), str):
            return None
        asked = study()
        ns = tuple(sorted({max(1, round(asked.n * 10 ** (i / 4 - 1))) for i in range(_POINTS)}))
        figure, axes = plt.subplots()
        axes.loglog(ns, asked.curve(ns), "o-", color="#0969da", label="noise of one mean")
        axes.axhline(asked.effect, color="#57606a", label="effect")
        axes.axhline(USEFUL * asked.effect, color="#57606a", linestyle=":", label="a third of it")
        axes.axvline(asked.n, color="#d0d7de", zorder=0)
        axes.set_xlabel("number of records, n")
        axes.set_ylabel("geodesic distance")
        axes.legend(frameon=False, loc="lower left")  # the noise falls from the upper left
        return figure

    @render.code
    def code() -> str:
        return "" if isinstance(found(), str) else study().code

    @render.code
    def command() -> str:
        if isinstance(found(), str):
            return ""
        return study().command or "Balls of several means are for Python alone."
