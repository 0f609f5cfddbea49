"""Releases of records that workers of a cluster, or processes of a pool, go through.

Dask needs the extra ``riemdp[distributed]``; pools of the standard library and joblib need none.
"""

from riemdp.workers import _dask, _pools  # noqa: F401  they enter their clients
from riemdp.workers._release import private_mean, private_statistic, spread

__all__ = ["private_mean", "private_statistic", "spread"]
