"""Single runs of a job: launched, timed, compared, simulated."""
