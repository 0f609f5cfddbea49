"""What no release combines, and why: the texts of errors, and a table of the documentation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Combination:
    """Two options that no release takes together.

    Attributes
    ----------
    what, beside : str
        The two, in Markdown.
    why : str
        The reason, which every error about them states.
    instead : str
        What to do.
    """

    what: str
    beside: str
    why: str
    instead: str

    def __str__(self) -> str:
        return f"{self.why}; {self.instead}"


_PRIVATE_NUMBER = 'a private number: `adjacency="add-remove"`, or `users=` without `people=`'

NO_SUM = Combination(
    "a Fréchet mean on a curved space, or `DirectVariance`",
    _PRIVATE_NUMBER,
    "it is no function of sums over the records, so that nothing is known of it when records are "
    "added or removed",
    "use replace-one neighbours, with a public n (of people: people=...), or a statistic of sums, "
    'such as Variance() or the tangent mean: private_mean, mechanism="tangent-gaussian"',
)
WEIGHTS_HAVE_PLACES = Combination(
    "public `weights=`",
    f"{_PRIVATE_NUMBER}; or people",
    "public weights belong to places in the data, and these data sets have no places in common",
    "let weights be as private as the records, private_weights=True, or release for replace-one "
    "neighbours",
)
LABELS_HAVE_PLACES = Combination(
    "public class sizes, or a public design",
    'everything but `adjacency="replace-point"`',
    "public class sizes and designs do not protect labels and covariates, which belong to places "
    "in the data",
    'leave out sizes, or the design, or release with adjacency="replace-point"',
)
USERS_OF_RECORDS = Combination(
    "`users=`",
    "an `adjacency=` that is about records",
    "the guarantee is about records, so that whose record each is does not count",
    "leave out users, or ask for a guarantee about people",
)
PEOPLE_OF_RECORDS = Combination(
    "`people=` or `contribution=`",
    "a guarantee about records",
    "people=... and contribution=... are about people, and the guarantee is about records",
    "say whose record each is, users=..., or leave out people and contribution",
)
N_OF_PEOPLE = Combination(
    "`n=`",
    "`users=`",
    "n is a number of records, and the guarantee is about people",
    "leave out n, and state the number of people, where it is public, as people=...",
)
STATED_IS_PRIVATE = Combination(
    "`n=`, `people=` or a manifest",
    '`adjacency="add-remove"`',
    "the number of records, or of people, is private",
    "leave it out, or release under replace-one",
)
PEOPLE_IN_CHUNKS = Combination(
    "`users=`",
    "an iterator, and chunks without `by_person=True`",
    "the records of a person may be in several chunks, so that a guarantee about people needs all "
    "records at once, or chunks of which nobody is in two",
    "give each chunk its users: Chunks(parts, by_person=True), Records(points, users=...); or make "
    "one record of each person's first, and leave out users, people and contribution; or give an "
    "array",
)
PEOPLE_WEIGH = Combination(
    "`users=`",
    "weights of records",
    "weights of records do not say what people weigh",
    "leave out weights and private_weights, or let people count for as many records as they have, "
    "up to contribution=...",
)
LABELS_WEIGH = Combination(
    "`contribution=` over 1",
    "labels, covariates",
    "a person may have several labels or covariates, and a mean with weights sees one point of "
    "each",
    "leave out contribution",
)
PEOPLE_NEED_A_CENTRE = Combination(
    "`users=`",
    "a whole space in place of a ball",
    "a whole space has no centre about which the records of a person could be averaged",
    "choose a ball, or release what needs none, such as private_directional_summary",
)
WEIGHTS_ON_A_BALL = Combination(
    "weights, or `contribution=` over 1",
    '`method="adaptive"`',
    "a mean with weights, or of people who count for more records than one, is released on a "
    "public ball",
    'leave out method="adaptive"',
)
NO_WEIGHTS = Combination(
    "weights that come with the records",
    "`private_weights=False`; classes, lines",
    "it is not said whether the weights are public, and labels and covariates have none",
    "say private_weights=True where they are as private as the points, and give public ones as an "
    "argument, weights=...; or leave them out",
)
WEIGHTS_OF_GROUPS = Combination(
    "weights",
    "`private_means`",
    "groups take no weights",
    "leave them out, or release each group with private_mean",
)
SEARCH = Combination(
    'a search: `method="adaptive"`, `private_ball`',
    '`contribution` over 1, `adjacency="replace-point"`, `Groups(m)`; `release.group(g)`',
    "what a search for a ball costs is known for records, and for people who count alike",
    "release on the public ball, or under another relation",
)
SEARCH_IN_GROUPS = Combination(
    "`private_means`",
    '`method="adaptive"`',
    "a search would be one for each group, and the ball of all groups is one",
    'use method="refined", whose noise follows the spread too, or private_mean for each group',
)
FOUND_ELSEWHERE = Combination(
    "a ball that was found",
    "a release under another adjacency",
    "the ball was found with a budget of another adjacency",
    'search under the adjacency of the release: private_mean(..., method="adaptive"), or '
    "private_ball with the same adjacency, users and people",
)
NEEDS_ALL = Combination(
    "a search; `private_means`; a Fréchet mean where no number of passes is known",
    "chunks, an iterator",
    "this needs all records at once, and these come in chunks",
    "give an array, or a memory map of one",
)
READ_ONCE = Combination(
    'means in steps, medians, `base="recentred"`, Fréchet means, `riemdp.check`',
    "an iterator",
    "an iterator can be read once, and this takes more passes",
    "give a function that returns a new one: Chunks(function, n=...)",
)
BESIDE_CHUNKS = Combination(
    "`weights=`, or an array of labels or covariates",
    "chunks whose sizes are not stated",
    "arrays beside chunks are for chunks of public sizes",
    "state the sizes, Chunks(parts, n=..., sizes=...)",
)
SEVERAL_GROUPS = Combination(
    "`private_means`",
    "`Groups(m)`",
    "neighbours may differ in several groups, so that the groups' guarantees add up",
    "ask for neighbours that differ in one record or one person, or release each group by itself",
)
NO_WAY_BACK = Combination(
    "`release.replace_one()`",
    "a public number of records, or of people",
    "a guarantee about data sets of one public size says nothing about those of another size",
    'release with adjacency="add-remove", from which one under replace-one follows',
)
INFERENCE = Combination(
    "regions, tests",
    _PRIVATE_NUMBER,
    "regions and tests are known for a public number of records",
    "release under replace-one, where that may be public",
)

COMBINATIONS = tuple(found for found in vars().copy().values() if isinstance(found, Combination))
