"""Mechanisms by what a caller may name them with."""

from __future__ import annotations

import inspect
from typing import cast

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._part import lookup, offered
from riemdp.mechanisms import MECHANISMS, Mechanism, check_mechanism


def kinds() -> dict[str, type[Mechanism]]:
    """Mechanisms that are compared, by name: those of this library and of other packages."""
    foreign = offered(Mechanism.sort)
    return {**MECHANISMS, **{k: v for k, v in foreign.items() if not inspect.isabstract(v)}}


def named(mechanism: object) -> type[Mechanism] | Mechanism:
    """Return a mechanism that is given, or the class that is named.

    Parameters
    ----------
    mechanism : str, Mechanism class or Mechanism

    Returns
    -------
    type or Mechanism

    Raises
    ------
    InvalidParameterError
        If it is no mechanism, or none of this name is known.
    """
    if isinstance(mechanism, str):
        if mechanism in MECHANISMS:
            return MECHANISMS[mechanism]
        if "." not in mechanism:
            known = ", ".join(kinds())
            raise InvalidParameterError(
                f"unknown mechanism {shown(mechanism)}; known: auto, {known}"
            )
        mechanism = lookup(mechanism, Mechanism.sort)
    check_mechanism(mechanism)
    return cast("type[Mechanism] | Mechanism", mechanism)


def check_accountant(accountant: object) -> None:
    """Refuse what is neither None nor able to be charged."""
    able = callable(getattr(accountant, "spend", None)) and not isinstance(accountant, type)
    if accountant is not None and not able:
        raise InvalidParameterError(
            "accountant must be an object with a method spend(guarantee, label)"
        )
