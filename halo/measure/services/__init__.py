"""Services, programs that do not end by themselves: each trial runs a load against a fresh one."""
