"""A released value with everything that is public about it."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp import _document
from riemdp._array_fields import ArrayFields
from riemdp._checks import positive, real, real_array, shown
from riemdp._combinations import INFERENCE
from riemdp._described import Described
from riemdp._errors import (
    InvalidParameterError,
    NotOnManifoldError,
    RiemdpError,
    UnsupportedError,
)
from riemdp._part import both_proved
from riemdp._versions import PACKAGES, PATTERN
from riemdp.mechanisms import as_choice, check_mechanism
from riemdp.noise.exact import default_grid
from riemdp.privacy import Budget, check_budget
from riemdp.release import _serialise
from riemdp.release._charging import check_anchor
from riemdp.release._denoise import Denoised, denoised
from riemdp.release._groups import group_guarantee, replacement_guarantee
from riemdp.release._noise_of_value import NoiseOfValue, pure_noise
from riemdp.release._offer import Asked, Offer, computed_sensitivity, doubt, exact_draw
from riemdp.release._pictures import View, draw_release
from riemdp.release._remarks import at_the_boundary, is_noise, rows_of, tell
from riemdp.release._rounded_value import replayed
from riemdp.release._search._steps import Search
from riemdp.release._shrink import gaussian_deviation, shrinkage
from riemdp.release._written import Written
from riemdp.spaces import check_ball
from riemdp.statistics import (
    NamedValues,
    Neighbours,
    ReplaceOne,
    Statistic,
    check_inference,
    check_neighbours,
    check_statistic,
    confidence_region,
    outline,
)

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from riemdp.mechanisms import Mechanism
    from riemdp.privacy import Anchor
    from riemdp.spaces import Ball
    from riemdp.statistics import ConfidenceRegion, Query, ReleasedMoments, Value


@dataclass(frozen=True, eq=False)
class Release(NoiseOfValue, Written, ArrayFields, Described):
    """What may leave the building: the private value, its guarantee, and public numbers.

    It holds nothing private: no exact mean, no count of clipped records, nothing about the run of
    the solver.

    Attributes
    ----------
    value : ndarray, shape (*point_shape,), or NamedValues
        Released point, in the form in which users write points of its space (of planar shapes
        complex landmarks); of statistics with several parts all of them, by name.
    raw : ndarray
        What was released, as a point of the range of the statistic: of a point, the value itself.
    guarantee : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Proved guarantee of the release, the budget that was asked for: of the integers in
        :attr:`rounded`, exactly. It rests on what :attr:`proofs` names; see :attr:`proven`. The
        noise scale is computed in float64, on curved spaces by quadrature, which interval
        arithmetic confirms in dimension 2 and in odd ones only (SECURITY.md, "The calibration").
    mechanism : Mechanism
        Calibrated mechanism; ``mechanism.name`` and ``mechanism.sigma`` name it.
    statistic : Statistic
        What was computed; ``statistic.name`` names it.
    reason : str
        Why this mechanism: free text for people, which :func:`verify` does not check.
    sensitivity : float
        Largest distance between the answers of neighbours, as computed: ``2 tol`` is included. Of
        several queries, that of the last one.
    tol : float
        Public tolerance of the answer.
    ball : Ball
        Public ball to which records were clipped.
    n : int or None
        Number of records, or of people where the guarantee is about these; None where it is
        private. See :attr:`count`.
    neighbours : Neighbours
        Which data sets the guarantee is about: ``ReplaceOne()`` for those of one size that differ
        in one record.
    private : bool
        Whether the noise came from the secure generator. A seeded release is not private.
    stated_proofs : tuple of (str, str or None), optional
        :attr:`proofs` as they were when the value was drawn; by default those of this version.
    stated_versions : tuple of (str, str)
        :attr:`versions`, as pairs.
    rounded : tuple of int
        The noisy answer on its grid, before it was shortened to the ball: normal coordinates
        about its centre, in steps of the grid. Of several queries all answers, one after the other.
    scales : tuple of float, optional
        Scale of the noise of each answer; by default that of the mechanism.
    stated_moves : tuple of (float, float), optional
        Sensitivity and tolerance of each query before the last one; by default recomputed.
    projected : bool
        Whether the draw was projected onto the ball of answers.
    shrunk : bool
        Whether it was shrunk towards the centre of that ball; see :meth:`shrink`.
    search : Search or None
        How the ball was found, if it was found in the records; :attr:`guarantee` is then that of
        the search and of all releases on the ball together.
    anchor : Anchor or None
        Of the charge in a durable ledger that paid for it; None where there was no such account.
    nonce : str
        128 random bits in hex: two releases with equal public numbers have other headers. It is not
        compared.

    Raises
    ------
    InvalidParameterError
        If a field is of another type. Whether numbers belong together is for :func:`verify`.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_mean(points, ball, riemdp.GDP(1.0))
    >>> release.value.shape, release.guarantee, release.n
    ((3,), GDP(mu=1.0), 500)
    >>> round(release.expected_distance, 4)
    0.005
    >>> riemdp.verify(riemdp.Release.from_json(release.to_json())).passed
    True
    """

    value: Any
    guarantee: Budget
    mechanism: Mechanism
    statistic: Statistic
    reason: str
    sensitivity: float
    tol: float
    ball: Ball = field(repr=False)
    n: int | None
    rounded: tuple[int, ...] = field(repr=False)
    neighbours: Neighbours = field(default_factory=ReplaceOne)
    private: bool = True
    stated_proofs: tuple[tuple[str, str | None], ...] | None = field(default=None, repr=False)
    projected: bool = field(default=True, repr=False)
    shrunk: bool = field(default=False, repr=False)
    search: Search | None = field(default=None, repr=False)
    anchor: Anchor | None = field(default=None, repr=False)
    stated_versions: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    scales: tuple[float, ...] = field(default=(), repr=False)
    stated_moves: tuple[tuple[float, float], ...] | None = field(default=None, repr=False)
    nonce: str = field(default_factory=_serialise.new_nonce, compare=False, repr=False)
    raw: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_budget(self.guarantee, "guarantee")
        if isinstance(self.mechanism, type):
            raise InvalidParameterError("mechanism must be a calibrated one, got a class")
        check_mechanism(self.mechanism)
        check_statistic(self.statistic)
        check_ball(self.ball)
        check_neighbours(self.neighbours)
        for name in ("sensitivity", "tol"):
            object.__setattr__(self, name, real(getattr(self, name), name))
        for name in ("private", "projected", "shrunk"):
            _document.flag(getattr(self, name), name)
        _document.text(self.reason, "reason")
        if self.n is not None or self.neighbours.size_is_public:
            if isinstance(self.n, bool) or not isinstance(self.n, (int, np.integer)):
                raise InvalidParameterError(f"n must be an integer, got {shown(self.n)}")
            object.__setattr__(self, "n", int(self.n))
        if self.stated_proofs is not None:
            _check_pairs(self.stated_proofs, "stated_proofs", (str,), (str, type(None)))
        _check_pairs(self.stated_versions, "stated_versions", (str,), (str,))
        _check_versions(self.stated_versions)
        if self.stated_moves is not None:
            _check_pairs(self.stated_moves, "stated_moves", (float,), (float,))
        _serialise.check_nonce(self.nonce)
        _check_rounded(self.rounded)
        if self.search is not None and not isinstance(self.search, Search):
            raise InvalidParameterError("search must be the receipt of a search, or None")
        if self.anchor is not None:
            check_anchor(self.anchor)
        scales = tuple(positive(each, "a scale") for each in self.scales or (self.mechanism.sigma,))
        object.__setattr__(self, "scales", scales)
        given: Any = self.value
        found = self._outcome
        raw = np.array(given.raw if isinstance(given, NamedValues) else _real(given, found))
        raw.flags.writeable = False
        object.__setattr__(self, "raw", raw)
        shown_as: Any = raw  # of another shape it is no value: that is for verify to say
        if found is not None and raw.shape == found.ball.manifold.point_shape:
            if found.parts is not None:
                shown_as = NamedValues(raw, found.parts)
            else:
                shown_as = found.ball.manifold.present(raw)
        object.__setattr__(self, "value", shown_as)

    @classmethod
    def _of_offer(cls, made: Offer, value: Value, **stated: Any) -> Release:
        """Release of an offer, which is not put together again where it has one answer.

        Parameters
        ----------
        made : Offer
            With its draw.
        value : Value
            What the integers lead to.
        **stated
            Fields that do not follow from these.

        Returns
        -------
        Release
        """
        release: Any = cls.__new__(cls)
        release.__dict__["_outcome"] = value
        if len(made.asked) == 1:
            release.__dict__["offer"] = made
        release.__init__(
            value=value.raw,
            mechanism=made.mechanism,
            scales=tuple(each.mechanism.sigma for each in made.asked),
            statistic=made.statistic,
            sensitivity=made.sensitivity,
            tol=made.tol,
            ball=made.ball,
            n=made.n,
            neighbours=made.neighbours,
            projected=made.projected,
            stated_moves=tuple((each.sensitivity, each.tol) for each in made.asked[:-1]),
            **stated,
        )
        found: Release = release
        return found

    @functools.cached_property
    def _outcome(self) -> Value | None:
        """What the integers lead to; None of integers that are none of its answers."""
        try:
            h = shrinkage(self.mechanism, self.offer.answers) if self.shrunk else None
            return replayed(self.offer, self.rounded, self.grid, h=h)
        except (RiemdpError, ArithmeticError, ValueError):
            return None

    @property
    def budget(self) -> Budget:
        """What the value was drawn with: the guarantee, or what a search left of it."""
        return self.guarantee if self.search is None else self.search.release or self.guarantee

    @property
    def sigma(self) -> float:
        """Scale of the noise."""
        return self.mechanism.sigma

    @property
    def grid(self) -> int:
        """Minus the binary logarithm of the step of the public grid of the last answer."""
        return default_grid(self.mechanism.sigma)

    @property
    def adjacency(self) -> str:
        """Name of the relation: ``"replace-one"``, neighbouring data sets differ in one record."""
        return self.neighbours.name

    @functools.cached_property
    def offer(self) -> Offer:
        """What was drawn from: the statistic with its calibrated mechanism."""
        found = outline(self.statistic, self.ball, n=float(self.n or 1))
        if len(found.queries) != len(self.scales):
            raise InvalidParameterError(
                f"scales must be one for each of {len(found.queries)} queries, got "
                f"{len(self.scales)}"
            )
        *early, last = found.queries
        moves = self.stated_moves or tuple(map(self._move, early))
        if len(moves) != len(early):
            raise InvalidParameterError("stated_moves must be one for each query but the last")
        asked = [self._asked(*each) for each in zip(early, self.scales[:-1], moves, strict=True)]
        draw = None
        answers = last.answers(self.ball)
        with contextlib.suppress(UnsupportedError):  # integers are stated that it cannot draw
            draw = exact_draw(self.mechanism, answers)
        asked.append(Asked(last, answers, self.mechanism, self.sensitivity, self.tol, draw))
        return Offer(
            self.statistic,
            self.ball,
            self.n,
            self.neighbours,
            tuple(asked),
            found.value,
            projected=self.projected,
        )

    def _asked(self, query: Query, sigma: float, move: tuple[float, float]) -> Asked:
        """Return a query before the last one with its noise."""
        answers = query.answers(self.ball)
        noise: Any = type(self.mechanism)
        mechanism = noise(answers.manifold, sigma, **as_choice(noise).needed(answers))
        return Asked(query, answers, mechanism, *move)

    def _move(self, query: Query) -> tuple[float, float]:
        """Return sensitivity and tolerance of a query as of this version."""
        metric = self.mechanism.metric
        return computed_sensitivity(
            self.statistic, query, self.ball, self.n, metric, self.neighbours
        )

    @functools.cached_property
    def header(self) -> dict[str, Any]:
        """What was public before a record was read, as the document has it.

        Its digest is :attr:`header_digest`. ``InvalidParameterError`` if a part is not registered.
        """
        return _serialise.header_of(
            self.offer,
            self.guarantee,
            self.reason,
            private=self.private,
            proofs=self.proofs,
            versions=self.versions,
            nonce=self.nonce,
        )

    @property
    def header_digest(self) -> str:
        """SHA-256 of the canonical text of the header, in hex.

        Examples
        --------
        >>> import numpy as np
        >>> import riemdp
        >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
        >>> release = riemdp.private_mean(np.full((500, 2), 0.3), ball, riemdp.GDP(1.0))
        >>> release.header_digest == riemdp.Release.from_json(release.to_json()).header_digest
        True
        """
        return _document.digest(self.header)

    @property
    def proven(self) -> bool:
        """Whether all that the guarantee rests on is proved, as stated and as of this version."""
        return not self.doubt

    @property
    def doubt(self) -> str:
        """Why :attr:`proven` is false, in words; empty where it is true."""
        return doubt(self.known_proofs(), self.proofs)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the value is used, in words.

        Made of public numbers and of what was released. The function that made the release issued
        each text as a :class:`riemdp.PublicWarning`.
        """
        found = []
        if not self.private:
            found.append("the noise was seeded: this release is not private")
        if doubt := self.doubt:
            found.append(f"the guarantee is not proved: {doubt}")
        if self.shrunk:
            found.append(
                "the value was shrunk towards the centre of the ball: it is biased, and its error "
                "has not the law of the noise"
            )
        if pure := pure_noise(self.guarantee, self._answers):
            found.append(pure)
        found += filter(None, (at_the_boundary(self), is_noise(self)))
        return tuple(found)

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        return f"Private {self.statistic.title}", rows_of(self)

    def plot(self, ax: Any = None, *, view: View = "auto") -> Any:
        """Draw the value in its space, or the law of its error.

        Both hold what is public alone: a release that was read from its document has the same
        pictures.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new ones by default.
        view : {"auto", "value", "error"}, default "auto"
            ``"value"``: the released point, and the region about it that the exact one lies in but
            for one release in 20, on the globe for directions in three dimensions and as ellipses
            for 2 x 2 and 3 x 3 matrices. Where the law of that distance is not known, the region
            reaches as far as is expected at most, and the title says so. That is about the noise:
            neither clipping nor sampling is in it. ``"error"``: how probable it is that the error
            stays under each distance, with the expected one. ``"auto"``: the value where its space
            has a picture, else the error.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        UnsupportedError
            If matplotlib is not installed, the space has no picture, or the law is not known.
        InvalidParameterError
            If an argument is outside its domain.

        Examples
        --------
        >>> import numpy as np, riemdp
        >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
        >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (50, 2)))
        >>> release = riemdp.private_mean(points, ball, riemdp.GDP(1.0))
        >>> release.plot(view="error").get_ylabel()
        'probability of at most that'
        """
        return draw_release(self, ax, view)

    @property
    def proofs(self) -> dict[str, str | None]:
        """Where the claims that the guarantee rests on are proved, by the part that makes them.

        A note of this repository (``"docs/proofs/..."``), a paper or a URL; None where nobody
        says, and then :attr:`proven` is false.
        """
        stated = self.stated_proofs
        return self.known_proofs() if stated is None else dict(stated)

    @property
    def versions(self) -> dict[str, str]:
        """Versions of riemdp and of the libraries that the value was drawn with, by name.

        As they are stated: nothing recomputes them. Empty of releases that state none.
        """
        return dict(self.stated_versions)

    def known_proofs(self) -> dict[str, str | None]:
        """Return :attr:`proofs` as of this version.

        Returns
        -------
        dict of str to (str or None)
        """
        found = self.offer.proofs(self.guarantee)
        return found if self.search is None else both_proved(found, self.search.proofs())

    def group(self, size: int) -> Budget:
        """Return what the release guarantees to groups: data sets that differ in so many records.

        Records that are correlated, as those of a household are, tell of each other. Who wants to
        be protected with everything that the records of others say of them needs the guarantee for
        all records that depend on theirs: that of groups of so many. Under add-remove so many are
        added or removed; where the guarantee is about people, so many people are meant.

        Parameters
        ----------
        size : int
            Number of records, or of people; at least 1.

        Returns
        -------
        Budget
            Of the definition of :attr:`guarantee` (an ``ApproxDP`` at its delta), rounded up; its
            adjacency says of what. From what is proved of the noise at so many times the
            sensitivity, or at the diameter of the ball of answers where that is less: with
            Gaussian noise so many times mu.

        Raises
        ------
        InvalidParameterError
            If ``size`` is not a positive integer.
        UnsupportedError
            If the definition has no such size, or the ball was found in the records.

        References
        ----------
        docs/proofs/neighbours.md
        """
        return group_guarantee(self, size)

    def replace_one(self) -> Budget:
        """Return what a release under add-remove guarantees when a record is replaced.

        The same noise at the distance that a replaced record moves an answer: with Gaussian noise
        on the sum of vectors in a ball of radius r with ``weight`` times their number,
        ``2 mu / sqrt(1 + weight^2)``. It is at most the guarantee for one record that is removed
        and another record that is added. For people it is at least :attr:`guarantee`, because a
        person may have no record before. There is no way back: where the number of records is
        public, it is not protected at all.

        Returns
        -------
        Budget
            Of the definition of :attr:`guarantee`, rounded up, about ``"replace-one"`` data sets
            (``"replace-user"``, where people are added or removed).

        Raises
        ------
        UnsupportedNeighboursError
            If the release is not one under add-remove.

        References
        ----------
        docs/proofs/neighbours.md
        """
        return replacement_guarantee(self)

    def shrink(self) -> Release:
        """Shrink the value towards the centre of the public ball, where noise exceeds signal.

        Positive-part James-Stein: the noisy coordinates y, before projection, are multiplied by
        ``(1 - h / |y|^2)_+`` with ``h = 1 / E |noise|^-2``. It costs no privacy. The mean squared
        error is at most that of the noise wherever the exact answer lies, and far less where that
        is near the centre; :attr:`mean_square_bound` bounds it. The value is biased towards the
        centre: do not average shrunk releases, and do not classify by distances to them.

        Returns
        -------
        Release
            With ``shrunk=True``, which its document says too.

        Raises
        ------
        UnsupportedError
            If the number of records is private, the mechanism does not add its noise to
            coordinates in a uniform direction (as tangent and wrapped mechanisms do, and all on
            flat spaces), the dimension is under 3
            (Gaussian noise) or 4, or there were several queries.
        InvalidParameterError
            If it is shrunk already.

        References
        ----------
        docs/proofs/shrinkage.md
        """
        if self.shrunk:
            raise InvalidParameterError("this release is shrunk already; once is enough")
        answers = self._answers
        if len(self.scales) != 1:
            raise UnsupportedError(
                f"the {self.statistic.name} asks several queries; releases of one can be shrunk"
            )
        if self.offer.last.query.sums:
            raise UnsupportedError(
                "sums with their number are no value that shrinkage brings nearer to the centre: "
                "both would be shortened alike; release under replace-one"
            )
        h = shrinkage(self.mechanism, answers)
        return self._shrunk(replayed(self.offer, self.rounded, self.grid, h=h).raw)

    def _shrunk(self, value: Any) -> Release:
        found = dataclasses.replace(self, value=value, shrunk=True)
        return tell(found, but=self.warnings)

    def denoise(self, method: Literal["wiener"] = "wiener", *, grid: ArrayLike) -> Denoised:
        """Estimate a field of means with less noise, where neighbours are alike.

        Of a release on a power of a space whose copies are voxels, with Gaussian noise that is
        added to coordinates: on flat spaces, of log-Euclidean matrices in their logarithms; with a
        tangent mechanism in normal coordinates about the centre, which should then have the same
        point in every copy. The cosine transform of the coordinates is shrunk towards the centre,
        in shells of equal wavelength, each by the share of the signal in it: what is left of its
        mean square after the noise, whose variance is public. It costs no privacy.

        On flat spaces and full arrays, of at least four numbers, the squared error summed over
        voxels is on average at most that of the noise, wherever the means lie; it is far less where
        they vary slowly about the centre. The result is biased, most in what varies fast: means of
        regions, and inference, are for the release itself.

        Parameters
        ----------
        method : {"wiener"}, default "wiener"
        grid : array_like of int
            Shape of the array of voxels, in the order (C order) of the copies; or, where they do
            not fill an array, their coordinates, of shape (copies, axes).

        Returns
        -------
        Denoised
            Value and what it was computed from; the release stays as it is.

        Raises
        ------
        InvalidParameterError
            If an argument is outside its domain.
        UnsupportedError
            If the space is no power, the noise is not Gaussian or not added to coordinates,
            there were several queries or a private number of records, or the release was shrunk.

        References
        ----------
        docs/proofs/denoising.md
        """
        return tell(denoised(self, method, grid), but=self.warnings)

    def confidence_region(
        self,
        level: float = 0.95,
        *,
        method: Literal["ellipsoid", "directional", "distribution-free"] = "ellipsoid",
    ) -> ConfidenceRegion:
        """Region for the mean of the law that the records come from, at no cost of privacy.

        Sampling and noise are both in it. It is about the mean of the *clipped* records' normal
        coordinates about the base (``release.value.base``): on flat spaces their Fréchet mean.

        Parameters
        ----------
        level : float, default 0.95
            Probability that it covers that mean: under 1, asymptotically in the number of records
            but for the last of the methods.
        method : {"ellipsoid", "directional", "distribution-free"}, default "ellipsoid"
            See :func:`riemdp.statistics.confidence_region`.

        Returns
        -------
        ConfidenceRegion
            Its ``note`` says what the level rests on.

        Raises
        ------
        UnsupportedError
            If no matrix of second moments was released, the draw was projected or shrunk, or its
            noise is not Gaussian.
        UnsupportedBallError
            If the base was released too, from records of a public ball of half the injectivity
            radius or more.
        InvalidParameterError
            If ``level`` or ``method`` is outside its domain.
        InsufficientSamplesError
            If there is one record only.

        References
        ----------
        docs/proofs/confidence-regions.md
        """
        return confidence_region(self.released_moments(), level, method=method)

    def released_moments(self) -> ReleasedMoments:
        """Return the mean with its second moments, as inference takes them.

        See :meth:`confidence_region` for releases that have none: ``UnsupportedError``.
        """
        if self.n is None:
            raise UnsupportedError(str(INFERENCE))
        moments = None if self._outcome is None else self._outcome.moments
        if moments is None:
            raise UnsupportedError(
                f"the {self.statistic.title} comes without the second moments that say how far "
                'records spread; release private_moments(..., second="matrix")'
            )
        if self.projected or self.shrunk:
            raise UnsupportedError(
                "inference needs the draw as it was, and this one was projected or shrunk; "
                'release with project="auto", and without shrink()'
            )
        if self.search is not None and self.search.ball != self.ball:
            check_inference(self.search.ball)
        gaussian_deviation(self.mechanism, self._answers)  # no other noise will do
        found = moments(self.n)
        # A ball that was found is a release about the same records.
        return found if self.search is None else dataclasses.replace(found, released_base=True)

    def _document(self) -> dict[str, Any]:
        return _serialise.to_document(self)

    @classmethod
    def _of_document(cls, document: Any) -> Self:
        return cls(**_serialise.from_document(document))


def _real(value: Any, found: Value | None) -> NDArray[np.float64]:
    """Return a value as users see it, or as it was computed, as real numbers."""
    if found is not None:
        with contextlib.suppress(NotOnManifoldError):
            return found.ball.manifold.read(value)
    return real_array(value, "value")  # which says what is wrong with it


def _check_rounded(rounded: object) -> None:
    """Raise ``InvalidParameterError`` for what no draw on a grid returns."""
    if not isinstance(rounded, tuple) or not set(map(type, rounded)) <= {int}:
        raise InvalidParameterError("rounded must be a tuple of integers")


def _check_versions(stated: tuple[tuple[str, str], ...]) -> None:
    """Refuse versions of anything that draws no value, and texts that are no versions."""
    for name, version in stated:
        if name not in PACKAGES or not re.fullmatch(PATTERN, version):
            raise InvalidParameterError(
                f"versions must be version numbers of {', '.join(PACKAGES)}, got "
                f"{shown(name)}: {shown(version)}"
            )


def _check_pairs(
    pairs: object, name: str, first: tuple[type, ...], second: tuple[type, ...]
) -> None:
    rows = pairs if isinstance(pairs, tuple) else (None,)
    for row in rows:
        if not (
            isinstance(row, tuple)
            and len(row) == 2
            and isinstance(row[0], first)
            and isinstance(row[1], second)
        ):
            raise InvalidParameterError(f"{name} is not what a document would state")
