"""Mechanisms by what a caller may name them with."""

from __future__ import annotations

import inspect
from typing import cast

from riemdp._checks import did_you_mean, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import lookup, offered, registered
from riemdp._part_document import split_text
from riemdp.mechanisms import MECHANISMS, Choice, Mechanism, check_mechanism


def kinds() -> dict[str, type[Mechanism]]:
    """Mechanisms that are compared, by name: those of this library and of other packages."""
    foreign = offered(Mechanism.sort)
    return {**MECHANISMS, **{k: v for k, v in foreign.items() if not inspect.isabstract(v)}}


def named(mechanism: object) -> type[Mechanism] | Choice | Mechanism:
    """Return a mechanism that is given, or the class that is named.

    Parameters
    ----------
    mechanism : str, Mechanism class, Choice or Mechanism
        A name may be followed by what a class leaves to choose, as in ``"mylab.Noise:power=1.5"``.

    Returns
    -------
    type, Choice or Mechanism

    Raises
    ------
    InvalidParameterError
        If it is no mechanism, or none of this name is known.
    """
    if isinstance(mechanism, str):
        if mechanism in MECHANISMS:
            return MECHANISMS[mechanism]
        name, pairs, options = split_text(mechanism)
        if "." not in name and name not in registered(Mechanism.sort):
            known = ["auto", *kinds()]
            raise InvalidParameterError(
                f"unknown mechanism {shown(mechanism)}; {did_you_mean(name, known)}known: "
                f"{', '.join(known)}"
            )
        kind = lookup(name, Mechanism.sort)
        if len(options) < pairs:
            raise InvalidParameterError(f"{shown(mechanism)} names a field twice")
        mechanism = Choice(kind, tuple(options.items())) if pairs else kind
    check_mechanism(mechanism)
    return cast("type[Mechanism] | Choice | Mechanism", mechanism)


def check_accountant(accountant: object) -> None:
    """Refuse what is neither None nor able to be charged."""
    able = callable(getattr(accountant, "spend", None)) and not isinstance(accountant, type)
    if accountant is not None and not able:
        raise InvalidParameterError(
            "accountant must be an object with a method spend(guarantee, label)"
        )
