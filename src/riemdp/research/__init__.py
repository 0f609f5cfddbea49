"""For reproducing papers, comparing and drawing pictures: nothing is proved of the bits here.

Mechanisms without an exact draw, and draws in float64 of those that have one. Releases are made by
:func:`riemdp.private_mean` and its kin, drawn exactly on a public grid.
"""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.research._conformal import ConformalLaplace
    from riemdp.research._conformal_rejection import ConformalRejection
    from riemdp.research._generalized_gaussian import GeneralizedGaussian
    from riemdp.research._metropolis import Metropolis
    from riemdp.research._private_mean import ResearchRelease, private_mean
    from riemdp.research._public_prior import PublicPriorLaplace
    from riemdp.research._restricted import RestrictedLaplace
    from riemdp.research._sample import sample
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_conformal": "ConformalLaplace",
            "_conformal_rejection": "ConformalRejection",
            "_generalized_gaussian": "GeneralizedGaussian",
            "_metropolis": "Metropolis",
            "_private_mean": "ResearchRelease private_mean",
            "_public_prior": "PublicPriorLaplace",
            "_restricted": "RestrictedLaplace",
            "_sample": "sample",
        },
    )

__all__ = [
    "ConformalLaplace",
    "ConformalRejection",
    "GeneralizedGaussian",
    "Metropolis",
    "PublicPriorLaplace",
    "ResearchRelease",
    "RestrictedLaplace",
    "private_mean",
    "sample",
]
