"""The inputs of a measurement: several for training, and how they compare with the reference."""
