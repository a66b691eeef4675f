"""Output files: their destination, atomic writes, and temporary folders."""
