"""Whether a draw is projected onto the public ball of answers, at no cost of privacy."""

from __future__ import annotations

from dataclasses import replace

from riemdp.release._offer import Offer, expected_distance


def with_projection(made: Offer) -> Offer:
    """Return an offer whose one draw is projected where that makes it better.

    That is where the noise is shorter than the radius, on spaces that are no product. Elsewhere
    projection would shorten nearly every draw: what is left points in a random direction, with a
    bias that no average over factors or releases takes away.
    """
    answers, far = made.answers, expected_distance(made)
    is_one = len(made.asked) == 1 and len(answers.manifold.factors) == 1
    projected = is_one and made.last.query.projects and far is not None and far < answers.reach
    return made if made.projected is projected else replace(made, projected=projected)
