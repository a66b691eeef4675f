"""A profile of one build carried over to another build of the same source, by debug information."""

from halo.transfer.carrying import Carried, carry_over

__all__ = ["Carried", "carry_over"]
