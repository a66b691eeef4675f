"""Transfers a profile of one build to another build of the same source, by debug information."""

from halo.record.transfer.steps import recorded_calls
from halo.record.transfer.transfer import Carried, carry_over, recorded_module

__all__ = ["Carried", "carry_over", "recorded_calls", "recorded_module"]
