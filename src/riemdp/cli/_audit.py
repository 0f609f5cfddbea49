"""``riemdp audit``: hold a claim against the outputs of a mechanism."""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import IO, Annotated, Any, TextIO

import numpy as np
import typer

from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._files import write_files
from riemdp.auditing import AuditResult, LearnedScore, tail_delta
from riemdp.auditing import audit as run_audit
from riemdp.cli._audit_spec import AuditSpec, read_spec
from riemdp.cli._failures import is_ours, place
from riemdp.cli._io import check_output
from riemdp.cli._options import MaxNumbersOption
from riemdp.cli._output import describe, print_fields, say_lines, warn, working
from riemdp.privacy import Budget

#: Outputs per data set where the file does not say.
SAMPLES = 4000
_FIGURES = (".png", ".pdf", ".svg")


def audit(
    spec: Annotated[
        Path, typer.Argument(help="What to audit, .toml or .json: see the page on audits.")
    ],
    *,
    samples: Annotated[
        int | None, typer.Option(help="Outputs per data set, instead of the file's.")
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Confidence level, instead of the file's.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed, instead of the file's.")] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the trade-off curves there (.png, .pdf, .svg).")
    ] = None,
    max_numbers: MaxNumbersOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Look for a violation of a claimed guarantee in the outputs of a mechanism.

    SPEC names a mechanism of riemdp or a function of your own, which is imported and run. Exit
    code 1 if the claim is violated. No violation found is no proof of privacy.
    """
    check_output(figure, _FIGURES, (spec,))
    if figure is not None and importlib.util.find_spec("matplotlib") is None:
        raise InvalidParameterError("--figure needs matplotlib: pip install 'riemdp[plot]'")
    with _stdout_on_stderr():
        wanted = read_spec(spec, max_numbers)
    figure_file = check_output(figure, _FIGURES, (spec, *wanted.inputs))
    wanted = replace(
        wanted,
        samples=next(s for s in (samples, wanted.samples, SAMPLES) if s is not None),
        confidence=wanted.confidence if confidence is None else confidence,
        seed=wanted.seed if seed is None else seed,
    )
    with _stdout_on_stderr():
        result = _guarded(_run)(wanted)
    if figure is not None and figure_file is not None:
        kind = figure.suffix.lower().removeprefix(".")
        write_files({figure_file: lambda opened: draw(result, opened, kind)})
    if as_json:
        say_lines(json.dumps(as_table(result, wanted), indent=2))
    else:
        print_result(result, wanted)
    if result.verdict == "violated":
        warn(f"{describe(wanted.claim)} is violated")
        raise typer.Exit(1)


def print_result(result: AuditResult, spec: AuditSpec) -> None:
    """Print the bounds and the verdict."""
    bounds = [("mu", f"at least {result.mu_lower:.6g}")]
    bounds.append(("epsilon", f"at least {result.pure_epsilon_lower:.6g} (pure)"))
    if delta := tail_delta(spec.claim):
        at_delta = result.epsilon_lower(delta)
        bounds.append(("", f"at least {at_delta:.6g} at δ = {delta:.6g}"))
    randomness = "secure generator" if spec.seed is None else f"seed {spec.seed}"
    print_fields(
        [
            ("mechanism", spec.title),
            ("claim", describe(spec.claim)),
            ("neighbours", spec.claim.adjacency),
            ("samples", f"{result.samples} per data set, half of them to certify; {randomness}"),
            ("score", result.score),
            ("confidence", f"{result.confidence:g} for all bounds together"),
            *bounds,
            ("verdict", _verdict(result)),
        ]
    )


def as_table(result: AuditResult, spec: AuditSpec) -> dict[str, Any]:
    """Return the result as plain values; an infinite bound is the text "inf"."""
    delta = tail_delta(spec.claim)
    return {
        "mechanism": spec.title,
        "claim": _plain(spec.claim),
        "samples": result.samples,
        "confidence": result.confidence,
        "score": result.score,
        "seed": spec.seed,
        "mu_lower": _number(result.mu_lower),
        "pure_epsilon_lower": _number(result.pure_epsilon_lower),
        "epsilon_lower": {"delta": delta, "epsilon": _number(result.epsilon_lower(delta))},
        "events": [
            {
                "threshold": _number(event.event.threshold),
                "strict": event.event.strict,
                "reverse": event.event.reverse,
                "false_positive_rate_upper": event.fpr,
                "false_negative_rate_upper": event.fnr,
            }
            for event in result.events
        ],
        "verdict": result.verdict,
    }


def draw(result: AuditResult, opened: IO[bytes], kind: str) -> None:
    """Draw :meth:`AuditResult.plot` into a file.

    Written without pyplot, so that no window and no global state is involved.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    result.plot(figure.add_subplot())
    figure.savefig(opened, format=kind)


def _run(spec: AuditSpec) -> AuditResult:
    generator = None if spec.seed is None else np.random.default_rng(spec.seed)
    assert spec.samples is not None  # filled in by the command
    is_function = spec.score is not None and not isinstance(spec.score, LearnedScore)
    options: dict[str, Any] = {
        "samples": spec.samples,
        "confidence": spec.confidence,
        "score": _guarded(spec.score) if is_function else spec.score,
        "generator": generator,
    }
    mechanism = spec.mechanism
    if callable(mechanism) and not hasattr(mechanism, "sample"):
        mechanism = _guarded(mechanism)
        options |= {"users": spec.users, "neighbour_users": spec.neighbour_users}
    with working(f"Drawing {spec.samples} outputs on each data set"):
        return run_audit(mechanism, spec.dataset, spec.neighbour, spec.claim, **options)


def _guarded(function: Any) -> Any:
    """Turn the errors of a user's function into ours, without their text, which may hold data.

    ``sys.exit`` in a script is one of them: its exit code would pass for a verdict. Errors that
    riemdp raised by itself keep their text.
    """

    @functools.wraps(function, updated=())
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if isinstance(error, RiemdpError) and is_ours(error):
                raise
            raise InvalidParameterError(
                f"the audited function failed at {place(error)}: {type(error).__name__}"
            ) from None

    return call


def _stdout_on_stderr() -> redirect_stdout[TextIO]:
    """Send what an audited script prints to stderr: it is not part of the result."""
    return redirect_stdout(sys.stderr)


def _verdict(result: AuditResult) -> str:
    if result.verdict == "violated":
        wrong = 1.0 - result.confidence
        return f"VIOLATED (wrong with probability at most {wrong:.3g})"
    return "consistent: no violation found, which is no proof that there is none"


def _plain(claim: Budget) -> dict[str, Any]:
    return {"definition": type(claim).__name__} | {
        key: value for key, value in vars(claim).items() if not key.startswith("_")
    }


def _number(value: float) -> float | str:
    return float(value) if math.isfinite(value) else str(value)
