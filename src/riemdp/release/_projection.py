"""Whether a draw is projected onto the public ball of answers: a choice, at no cost of privacy."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp.release._offer import Offer, expected_distance

#: Whether a draw is projected onto the ball of answers; "auto": see :func:`with_projection`.
Project = Literal["auto"] | bool


def check_project(project: object) -> None:
    """Raise ``InvalidParameterError`` for what does not say whether to project."""
    if not (isinstance(project, bool) or is_one_of(project, ("auto",))):
        raise InvalidParameterError(
            f'project must be "auto", True or False, got {shown(project)}; "auto" is the default'
        )


def with_projection(made: Offer, project: Project) -> Offer:
    """Return an offer whose draws are projected onto the ball of answers, or are not.

    ``"auto"`` projects where the noise is shorter than the radius, on spaces that are no product.
    Elsewhere projection would shorten nearly every draw: what is left points in a random direction,
    with a bias that no average over factors or releases takes away. Nor does it where a draw holds
    several quantities, or several are made: ``InvalidParameterError`` if these are to be projected.
    """
    if len(made.asked) > 1:
        if project is True:
            raise InvalidParameterError(
                f"the {made.statistic.title} asks {len(made.asked)} queries, and none of the draws "
                "is projected; leave project out"
            )
        project = False
    if project == "auto":
        answers, far = made.answers, expected_distance(made)
        is_one = made.last.query.projects and len(answers.manifold.factors) == 1
        project = is_one and far is not None and far < answers.reach
    return made if made.projected is project else replace(made, projected=project)
