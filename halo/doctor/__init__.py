"""What the doctor knows of programs: all that keeps the runtime from helping, or is dangerous.

A program is looked at without running it: its file, its libraries as the loader finds them, the
environment. `Case.run` allows one run at the end, which shows what no file can: what the program
opens as it runs, and what that is bound to. docs/reliability.md lists the hazards.
"""

from halo.doctor.examination import Case, examine_program
from halo.doctor.finding import Finding, Weight

__all__ = ["Case", "Finding", "Weight", "examine_program"]
