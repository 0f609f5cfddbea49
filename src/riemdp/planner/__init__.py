"""A page in the browser that plans a study from public numbers."""

from riemdp.planner._serve import serve
from riemdp.planner._study import SPACES, Study, Verdict

__all__ = ["SPACES", "Study", "Verdict", "serve"]
