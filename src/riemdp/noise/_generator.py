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
#: Source of randomness; None for this process's secure generator.
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
    subclassed or patched, so that what carries its name draws as it does. After a fork the child
    process draws from a fresh key. Usually obtained through :func:`secure_generator`.
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
        _OWN[self] = os.getpid(), own


def secure_generator() -> SecureGenerator:
    """Return this process's secure generator, created at the first call.

    Returns
    -------
    SecureGenerator
        One instance per process; a forked child gets its own, with a fresh key.

    Examples
    --------
    >>> import riemdp
    >>> generator = riemdp.secure_generator()
    >>> generator.normal(size=3).shape
    (3,)
    """
    pid = os.getpid()
    generator = _PER_PROCESS.get(pid)
    if generator is None:
        # Threads may get here at once; setdefault, one step to them, gives all of them one.
        generator = _PER_PROCESS.setdefault(pid, SecureGenerator())
        for other in set(_PER_PROCESS) - {pid}:
            _PER_PROCESS.pop(other, None)
    return generator


def resolve_generator(generator: Source) -> np.random.Generator:
    """Return the generator itself, or this process's secure one for None.

    Parameters
    ----------
    generator : numpy.random.Generator or None
        Source of randomness. Draws from anything but a :class:`SecureGenerator` are not private.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    InvalidParameterError
        If ``generator`` is something else, such as a seed or a ``RandomState``.
    """
    if generator is None:
        return secure_generator()
    if not isinstance(generator, np.random.Generator):
        raise InvalidParameterError(
            f"generator must be a numpy.random.Generator or None, got {type(generator).__name__}; "
            "leave it out for a private release, or pass numpy.random.default_rng(seed) in a test"
        )
    if type(generator) is SecureGenerator and _maker(generator) not in (None, os.getpid()):
        generator._renew()  # a fork that ran no hooks left the parent's key
    return generator


def is_secure(generator: np.random.Generator) -> bool:
    """Whether draws from this generator may carry a privacy guarantee.

    Parameters
    ----------
    generator : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    bool
        True for a :class:`SecureGenerator` that this process made and that draws from the key it
        was made with. False for every other generator: seedable ones, whatever class they claim
        to be of, and a secure one that was given another bit generator.
    """
    return type(generator) is SecureGenerator and _maker(generator) == os.getpid()


def _maker(generator: SecureGenerator) -> int | None:
    """Process that keyed a generator, None unless it draws from the bit generator made here."""
    pid, own = _OWN.get(generator, (None, None))
    return pid if own is not None and generator.bit_generator is own else None


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
    _PER_PROCESS.clear()
    for generator in list(_OWN):
        generator._renew()


#: Length of the key.
_KEY_BYTES = 32
#: What numpy.random.Generator takes from its bit generator.
_DRAWS_THROUGH = frozenset({"capsule", "lock"})
#: Special methods of Cython classes that read or set the state.
_STATE_METHODS = frozenset({"__reduce_cython__", "__setstate_cython__"})

#: Every generator made here: the process that keyed it, and the bit generator it was given.
_OWN: weakref.WeakKeyDictionary[SecureGenerator, tuple[int, np.random.BitGenerator]] = (
    weakref.WeakKeyDictionary()
)
_PER_PROCESS: dict[int, SecureGenerator] = {}

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
