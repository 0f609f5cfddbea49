"""A page in the browser that plans a study from public numbers."""

from riemdp.app._serve import serve
from riemdp.app._study import SPACES, Study, Verdict

__all__ = ["SPACES", "Study", "Verdict", "serve"]
