"""Tolerances of the tests, each with its reason. Relative unless said otherwise."""

# A few hundred roundings: sums of some dozen terms, a linear solve of condition up to ~100.
ROUND_OFF = 1e-12

# Condition numbers up to ~1e3 and differences of large terms on random states of long chains.
CHAIN_ROUND_OFF = 1e-11

# Richardson-extrapolated central differences with steps near 1e-3 in float64.
FINITE_DIFFERENCE = 1e-7

# Convergence orders, measured over a resolved range of steps.
ORDER = 0.15

# The spread between published runs of the babyboot at 10 s: qA, qB [deg], rates [rad/s].
PUBLISHED_QA_DEG = 2e-6
PUBLISHED_QB_DEG = 2e-5
PUBLISHED_RATE = 1e-6
