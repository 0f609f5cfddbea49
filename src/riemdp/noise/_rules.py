"""Where noise is known: which family is that of a kind on a class of manifolds."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from riemdp._errors import UnsupportedManifoldError
from riemdp._lazy import lazy_entries
from riemdp._part import changes, is_own, made_known
from riemdp._potential import Kind, potential
from riemdp.spaces import Manifold

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.noise._family import Family

F = TypeVar("F", bound="type[Family]")

_rules: dict[tuple[str, type[Manifold]], type[Family]] = {}
_before_adding, _before_asking = lazy_entries(
    "riemdp.noise",
    {
        "_spaces": "FlatManifold Sphere Hyperbolic",
        "_affine_invariant_family": "SPDAffineInvariant",
        "_pushed": "Quotient DiscreteQuotient",
        "_aligned": "Aligned",
        "_independent": "Product CurvedPower",
    },
)


def rule(kinds: str | tuple[str, ...], *spaces: type[Any]) -> Callable[[F], F]:
    """Say that a family is the noise of these kinds on these spaces, and on their subclasses.

    A subclass of a concrete space counts as unproven there: a changed space is another one.

    Parameters
    ----------
    kinds : str or tuple of str
        ``"laplace"`` or ``"gaussian"``.
    *spaces : type
        Classes of manifolds.

    Returns
    -------
    callable
        Decorator of a :class:`Family`.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.noise import rule
    >>> decorate = rule("laplace", riemdp.Euclidean)  # then: @decorate above the class of a family
    """

    def decorate(found: F) -> F:
        for kind in (kinds,) if isinstance(kinds, str) else kinds:
            potential(kind)
            for space in spaces:
                _before_adding(space)
                _rules[kind, space] = found
        made_known()
        return found

    return decorate


def has_family(kind: Kind, manifold: Manifold) -> bool:
    """Whether :func:`family` knows noise of this kind on a space.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : Manifold

    Returns
    -------
    bool
    """
    return _owner(kind, manifold) is not None


def is_isotropic(manifold: Manifold) -> bool:
    """Whether a rule says that a space is a space form: flat, spherical or hyperbolic."""
    owner = _owner("laplace", manifold)
    return owner is not None and _rules["laplace", owner].is_isotropic


def family(kind: Kind, manifold: Manifold) -> Family:
    """Return the noise of one kind on a space, by the rule of the nearest class.

    Whatever numbers a manifold states, no law is inferred from them.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : Manifold

    Returns
    -------
    Family

    Raises
    ------
    UnsupportedManifoldError
        If there is no rule.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.noise import family
    >>> round(family("gaussian", riemdp.Euclidean(3)).curve(2.0, 1.0).mu(), 12)
    0.5
    """
    owner = _owner(kind, manifold)
    if owner is None:
        raise no_law(kind, manifold)
    found = _rules[kind, owner]
    if is_own(found) and is_own(type(manifold)) and not manifold.inside:
        return _kept(found, kind, manifold, changes())
    return found(kind, manifold)


@functools.lru_cache(maxsize=64)
def _kept(found: type[Family], kind: Kind, manifold: Manifold, _changes: int) -> Family:
    """Keep it with what is worked out of it, for as long as no table has changed."""
    return found(kind, manifold)


def is_of_changed_space(kind: Kind, manifold: Manifold) -> bool:
    """Whether no rule names the class of a space, nor an abstract one that it is made from."""
    owner = _owner(kind, manifold)
    return owner is not type(manifold) and not inspect.isabstract(owner)


def _owner(kind: Kind, manifold: Manifold) -> type[Manifold] | None:
    """Nearest class with a rule."""
    _before_asking(type(manifold))
    return next((cls for cls in type(manifold).__mro__ if (kind, cls) in _rules), None)


def no_law(kind: str, manifold: Manifold) -> UnsupportedManifoldError:
    """Say that no law is known, and what works instead."""
    return UnsupportedManifoldError(
        f"no {kind} law is known on {manifold}, and none is inferred from its curvature: a space "
        "has one where a rule (riemdp.noise.rule) says so. Noise in a tangent space "
        'needs none: "tangent-gaussian" and "tangent-laplace" and, about certified Fréchet means, '
        '"wrapped-gaussian" and "wrapped-laplace"'
    )
