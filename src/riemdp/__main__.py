"""``python -m riemdp``."""

from riemdp.cli import main

main()
