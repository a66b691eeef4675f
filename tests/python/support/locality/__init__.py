"""A slow replay of object traces, for the figures of `halo study locality`."""
