"""Executables and processes: ELF files, the proof of alignment, allocators."""
