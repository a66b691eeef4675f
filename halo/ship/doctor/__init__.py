"""Checks programs for everything that makes the runtime useless or dangerous for them.

Static checks inspect the program's file, its libraries as the loader finds them, and the
environment. With `Case.run` the program runs once at the end, to observe which libraries it opens
and how their symbols are bound. docs/reliability.md lists the hazards.
"""

from halo.ship.doctor.examination import Case, examine_program
from halo.ship.doctor.finding import Finding, Weight

__all__ = ["Case", "Finding", "Weight", "examine_program"]
