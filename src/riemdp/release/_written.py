"""Releases as text and as files."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from riemdp import _document
from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._files import check_output, write_files
from riemdp.release import _container, _serialise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

#: What the parser, or arrays of odd shape, may raise.
_MALFORMED = (ValueError, TypeError, ArithmeticError, RecursionError)


class Written(ABC):
    """What is written as a document, and read from one."""

    @abstractmethod
    def _document(self) -> dict[str, Any]:
        """Return all that is written of it."""

    @classmethod
    @abstractmethod
    def _of_document(cls, document: Any) -> Self:
        """Return what a document tells of."""

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical document, in hex: by it the release is known.

        Canonical is JSON in UTF-8 with sorted keys, no spaces, and the shortest digits that give
        each float. Files may be laid out as they like.
        """
        return _document.digest(self._document())

    def to_json(self) -> str:
        """Return the release as JSON; floats come back bit by bit.

        Returns
        -------
        str

        Raises
        ------
        InvalidParameterError
            If the mechanism does not belong to the ball of the release, a part is not
            registered, or a number is not finite.
        """
        document = self._document()
        try:
            return json.dumps(document, indent=2, allow_nan=False)
        except ValueError:
            raise _serialise.not_finite(document) from None

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a release that :meth:`to_json` wrote.

        It is not verified: see :func:`verify`.

        Every key has to be there, once, with a value of its type, and no other key.

        Parameters
        ----------
        text : str

        Returns
        -------
        Release

        Raises
        ------
        InvalidParameterError
            If the text is no release; also every error of the objects in it.
        """
        _check_document(text)
        with malformed():
            document = _document.load(text)
            if _container.is_certificate(document):
                raise InvalidParameterError(
                    "this is a certificate, whose arrays are in the file beside it: read it with "
                    "Release.load(path)"
                )
            return cls._of_document(document)

    def files(self, path: str | Path, *, container: bool | None = None) -> dict[Path, bytes]:
        """Return what :meth:`save` writes, by path.

        See :meth:`save` for the arguments, and for names and numbers that are refused.
        """
        document = self._document()
        least = _container.SMALL if container is None else 0 if container else math.inf
        try:
            return _container.files_of(document, Path(path), least)
        except ValueError as error:
            if isinstance(error, RiemdpError):
                raise
            raise _serialise.not_finite(document) from None

    def save(
        self, path: str | Path, *, container: bool | None = None, overwrite: bool = False
    ) -> tuple[Path, ...]:
        """Write the release to a file; a large one to two, a certificate and its arrays.

        A certificate is the JSON of the release without its long lists of numbers. It names the
        ``.npz`` that has them, ``name.npz`` beside ``name.json``, with its SHA-256; the two belong
        together. Nothing is pickled.

        Parameters
        ----------
        path : str or Path
            Ends in ``.json``.
        container : bool, optional
            Whether lists of numbers go into an ``.npz``. By default those of more than 10,000.
        overwrite : bool, default False
            Whether files of these names are replaced, and a release with them that was paid for.

        Returns
        -------
        tuple of Path
            What was written.

        Raises
        ------
        InvalidParameterError
            If the files are there already, cannot be written or have other names, and as
            :meth:`to_json` does.
        OSError
            If writing fails; all files are as they were then.

        See Also
        --------
        load : the inverse, bit by bit.
        verify : takes the path of a certificate too.
        """
        contents = self.files(path, container=container)
        targets = {check_output(each): content for each, content in contents.items()}
        if not overwrite and (there := [each for each in targets if each.exists()]):
            raise InvalidParameterError(
                f"{there[0].name} is there already, and a release may be paid for only once: name "
                "another file, or say overwrite=True"
            )
        write = {each: functools.partial(_write, text) for each, text in targets.items()}
        write_files(write, new=not overwrite)
        return tuple(contents)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a release that :meth:`save` wrote, or the JSON of :meth:`to_json` in a file.

        It is not verified, see :func:`verify`; but arrays that are not those of the certificate
        are refused.

        Parameters
        ----------
        path : str or Path
            Of the certificate; its arrays are read from its own folder only.

        Returns
        -------
        Release

        Raises
        ------
        InvalidParameterError
            If it is no release, or the file of its arrays is missing, damaged or another one.
        OSError
            If the file cannot be opened.
        """
        return cls.load_with_container(path)[0]

    @classmethod
    def load_with_container(cls, path: str | Path) -> tuple[Self, str | None]:
        """Read what :meth:`load` does, and say what was found beside the certificate.

        That is the name and the SHA-256 of the file of arrays; None where the release is in one
        file. See :meth:`load` for the path and the errors.
        """
        with malformed():
            document, container = _container.read_document(Path(path))
            return cls._of_document(document), container


@contextlib.contextmanager
def malformed(what: str = "a release written by Release.to_json") -> Iterator[None]:
    """Say that something is no release, in whichever way the objects in it fail."""
    try:
        yield
    except (RiemdpError, OSError):
        raise
    except _MALFORMED as error:
        raise InvalidParameterError(f"this is not {what} ({type(error).__name__})") from None


def _check_document(text: object) -> None:
    """Refuse a path, which is easily taken for what stands there."""
    named = isinstance(text, str) and len(text) < 4096 and text.lower().endswith(".json")
    if isinstance(text, os.PathLike) or named:
        raise InvalidParameterError(
            "from_json reads the text of a release, which starts with {; of the path of a file it "
            "is Release.load(path)"
        )


def _write(content: bytes, file: IO[bytes]) -> None:
    file.write(content)
