"""Audits: lower bounds on the privacy loss of any mechanism, and checks of what it is made of."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.auditing._audit import audit
    from riemdp.auditing._claims import tail_delta
    from riemdp.auditing._density import DensityAudit, audit_density_ratio
    from riemdp.auditing._events import CertifiedEvent, Event
    from riemdp.auditing._floating_point import LowBitScore, output_grid
    from riemdp.auditing._learned_scores import (
        ClassifierScore,
        FrequencyScore,
        LinearScore,
        NearestNeighbourScore,
    )
    from riemdp.auditing._pairs import (
        extreme_directions,
        footpoint_pair,
        neighbouring_datasets,
        neighbouring_users,
    )
    from riemdp.auditing._result import AuditResult
    from riemdp.auditing._sampler import SamplerAudit, audit_sampler
    from riemdp.auditing._scores import (
        DistanceScore,
        IdentityScore,
        LearnedScore,
        LogLikelihoodRatio,
    )
    from riemdp.auditing._search import WorstPair, search_pair
    from riemdp.auditing._sensitivity import SensitivityAudit, audit_sensitivity
    from riemdp.auditing._streams import StreamAudit, audit_streams, seeded_release_is_marked
    from riemdp.auditing._trade_off import TradeOff, claimed_trade_off
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_audit": "audit",
            "_claims": "tail_delta",
            "_density": "DensityAudit audit_density_ratio",
            "_events": "CertifiedEvent Event",
            "_floating_point": "LowBitScore output_grid",
            "_learned_scores": "ClassifierScore FrequencyScore LinearScore NearestNeighbourScore",
            "_pairs": "extreme_directions footpoint_pair neighbouring_datasets neighbouring_users",
            "_result": "AuditResult",
            "_sampler": "SamplerAudit audit_sampler",
            "_scores": "DistanceScore IdentityScore LearnedScore LogLikelihoodRatio",
            "_search": "WorstPair search_pair",
            "_sensitivity": "SensitivityAudit audit_sensitivity",
            "_streams": "StreamAudit audit_streams seeded_release_is_marked",
            "_trade_off": "TradeOff claimed_trade_off",
        },
    )

__all__ = [
    "AuditResult",
    "CertifiedEvent",
    "ClassifierScore",
    "DensityAudit",
    "DistanceScore",
    "Event",
    "FrequencyScore",
    "IdentityScore",
    "LearnedScore",
    "LinearScore",
    "LogLikelihoodRatio",
    "LowBitScore",
    "NearestNeighbourScore",
    "SamplerAudit",
    "SensitivityAudit",
    "StreamAudit",
    "TradeOff",
    "WorstPair",
    "audit",
    "audit_density_ratio",
    "audit_sampler",
    "audit_sensitivity",
    "audit_streams",
    "claimed_trade_off",
    "extreme_directions",
    "footpoint_pair",
    "neighbouring_datasets",
    "neighbouring_users",
    "output_grid",
    "search_pair",
    "seeded_release_is_marked",
    "tail_delta",
]
