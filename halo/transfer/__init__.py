"""Transfers a profile of one build to another build of the same source, by debug information."""

from halo.transfer.transfer import Carried, carry_over

__all__ = ["Carried", "carry_over"]
