"""The random source of real releases: ChaCha20 with a key from the operating system."""

from __future__ import annotations

import functools
import os
import weakref
from typing import Any, NoReturn, TypeAlias, final

import numpy as np

from riemdp._errors import InvalidParameterError

#: Leading axes of what is drawn; None for a single draw.
Size: TypeAlias = int | tuple[int, ...] | None
#: Source of randomness; None for a secure generator with a key of its own.
Source: TypeAlias = np.random.Generator | None


def _refuse(what: str) -> NoReturn:
    raise TypeError(
        f"a secure generator cannot be {what}: its key would leave the process and the noise "
        "could be removed; call riemdp.secure_generator() where it is needed"
    )


def _refusing(what: str) -> Any:
    """Make a method that refuses, whatever it is given."""

    def method(*_: object, **__: object) -> NoReturn:
        _refuse(what)

    return method


def _refuse_change(*_: object, **__: object) -> NoReturn:
    raise TypeError(
        "a secure generator cannot be subclassed or patched: its draws would no longer be known to "
        "be secure; use riemdp.secure_generator() as it is, or numpy.random.default_rng(seed) in "
        "a test, which marks releases as not private"
    )


class _Sealed(type):
    """A class whose attributes cannot be set: a patched method would draw from elsewhere."""

    __setattr__ = __delattr__ = _refuse_change


@final
class SecureGenerator(np.random.Generator, metaclass=_Sealed):
    """A NumPy generator on ChaCha20 (20 rounds) whose 256-bit key comes from the system.

    It has every method of :class:`numpy.random.Generator`. It cannot be seeded, pickled or copied:
    whoever holds its key can remove the noise from everything it has drawn. Nor can it be
    subclassed or patched, so that what carries its name draws as it does.

    As an argument it stands for the operating system: the library draws from new generators, each
    with a key of its own (:func:`resolve_generator`), and never from this one. If you draw from it
    yourself, its key lasts as long as the object. A fork replaces the key in the child. The library
    cannot see a raw ``clone``, a restored container or a copied virtual machine, and both copies
    then draw the same numbers: make a new generator for each draw.
    """

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        self._renew()

    __init_subclass__ = __setattr__ = __delattr__ = _refuse_change

    def spawn(self, n_children: int) -> list[SecureGenerator]:  # type: ignore[override]
        """Return independent generators, each with its own key from the operating system."""
        return [SecureGenerator() for _ in range(n_children)]

    __reduce__ = __reduce_ex__ = __getstate__ = _refusing("pickled or copied")
    __setstate__ = _refusing("set")
    __copy__ = __deepcopy__ = _refusing("copied")

    def _renew(self) -> None:
        # A new bit generator brings a new lock too: a thread that was not forked may hold the old.
        own = _fresh_bit_generator()
        super().__init__(own)
        _OWN[self] = own


def secure_generator() -> SecureGenerator:
    """Return a new secure generator, with a fresh key from the operating system.

    Returns
    -------
    SecureGenerator

    Examples
    --------
    >>> import riemdp
    >>> generator = riemdp.secure_generator()
    >>> generator.normal(size=3).shape
    (3,)
    """
    return SecureGenerator()


def resolve_generator(generator: Source) -> np.random.Generator:
    """Return what one draw reads its bits from; call it right before the draw.

    Parameters
    ----------
    generator : numpy.random.Generator or None
        Source of randomness. Draws from anything but a :class:`SecureGenerator` are not private.

    Returns
    -------
    numpy.random.Generator
        A new secure generator, with a fresh key from the operating system, for None and for a
        :class:`SecureGenerator`; any other generator itself.

    Raises
    ------
    InvalidParameterError
        If ``generator`` is something else, such as a seed or a ``RandomState``.
    """
    source = source_of(generator)
    return SecureGenerator() if source is None else source


def source_of(generator: Source) -> Source:
    """Return None for a secure generator, which each draw makes for itself; any other one itself.

    Parameters
    ----------
    generator : numpy.random.Generator or None

    Returns
    -------
    numpy.random.Generator or None

    Raises
    ------
    InvalidParameterError
        See :func:`resolve_generator`.
    """
    if generator is not None and not isinstance(generator, np.random.Generator):
        raise InvalidParameterError(
            f"generator must be a numpy.random.Generator or None, got {type(generator).__name__}; "
            "leave it out for a private release, or pass numpy.random.default_rng(seed) in a test"
        )
    return None if generator is None or is_secure(generator) else generator


def is_secure(generator: np.random.Generator) -> bool:
    """Whether draws from this generator may carry a privacy guarantee.

    Parameters
    ----------
    generator : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    bool
        True for a :class:`SecureGenerator` that draws from the key it was made with. False for
        every other generator: seedable ones, whatever class they claim to be of, and a secure one
        that was given another bit generator.
    """
    return type(generator) is SecureGenerator and generator.bit_generator is _OWN.get(generator)


def _fresh_bit_generator() -> np.random.BitGenerator:
    keyed, sealed = _bit_generator_classes()
    bit_generator = keyed(key=_fresh_key(), rounds=20)
    bit_generator.__class__ = sealed  # ChaCha's own constructor seeds through what is closed now
    return bit_generator  # type: ignore[no-any-return]


def _fresh_key() -> int:
    return int.from_bytes(os.urandom(_KEY_BYTES), "little")


@functools.cache
def _bit_generator_classes() -> tuple[Any, Any]:
    """ChaCha20 that takes its key, and the same thing closed."""
    import randomgen

    class KeyedChaCha(randomgen.ChaCha):  # type: ignore[misc]
        """ChaCha, as a Python class."""

    class SecureChaCha(randomgen.ChaCha):  # type: ignore[misc]
        """ChaCha20 that keeps its key: no seeding, no pickling, no copying, no reading of state.

        Of its attributes only those are left that a generator draws through.
        """

        __init__ = _refusing("seeded")
        __setattr__ = _refusing("seeded, set, moved or read out")
        __reduce__ = __reduce_ex__ = __getstate__ = _refusing("pickled or copied")
        __setstate__ = _refusing("set")

        def __getattribute__(self, name: str) -> Any:
            if name in _DRAWS_THROUGH or (_is_special(name) and name not in _STATE_METHODS):
                return super().__getattribute__(name)
            _refuse("seeded, set, moved or read out")

    return KeyedChaCha, SecureChaCha


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _after_fork_in_child() -> None:
    for generator in list(_OWN):
        generator._renew()


#: Length of the key.
_KEY_BYTES = 32
#: What numpy.random.Generator takes from its bit generator.
_DRAWS_THROUGH = frozenset({"capsule", "lock"})
#: Special methods of Cython classes that read or set the state.
_STATE_METHODS = frozenset({"__reduce_cython__", "__setstate_cython__"})

#: Every generator made here, and the bit generator it was given.
_OWN: weakref.WeakKeyDictionary[SecureGenerator, np.random.BitGenerator] = (
    weakref.WeakKeyDictionary()
)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
