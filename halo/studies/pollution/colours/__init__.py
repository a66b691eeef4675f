"""Whether the colours of page frames matter on this machine."""
