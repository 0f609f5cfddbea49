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
    with a bias that no average over factors or releases takes away. Nor does it where the statistic
    says that draws hold several quantities.

    ``InvalidParameterError`` if several answers are asked for, and ``project`` is not what their
    statistic does.
    """
    projects = made.statistic.projects
    if made.steps != 1:
        if project is not projects and project != "auto":
            if projects is False:
                raise InvalidParameterError(
                    f"the {made.statistic.name} takes {made.steps} answers, none of which is "
                    "projected; leave project out"
                )
            raise InvalidParameterError(
                f"the {made.statistic.name} takes {made.steps} answers, each of them projected "
                "onto their public ball before the next is asked for; leave project out"
            )
        return made if made.projected is projects else replace(made, projected=projects)
    if project == "auto" and not projects:
        project = False
    if project == "auto":
        answers = made.statistic.answers(made.ball)
        far = expected_distance(made)
        project = len(answers.manifold.factors) == 1 and far is not None and far < answers.reach
    return made if made.projected is project else replace(made, projected=project)
