"""Tolerances of the tests, each with its reason. Relative unless said otherwise."""

# A few roundings of numbers of size 1: entries of a rotation, a formula in two spellings.
EXACT = 1e-14

# Some dozen roundings: products of rotations, their rates, an angle reduced to a period.
COMPOSED = 1e-13

# A few hundred roundings: sums of some dozen terms, a linear solve of condition up to ~100.
ROUND_OFF = 1e-12

# Condition numbers up to ~1e3 and differences of large terms on random states of long chains.
CHAIN_ROUND_OFF = 1e-11

# Sums of products of numbers that are right to `CHAIN_ROUND_OFF`: normal equations, covariances,
# moments of inertia.
OF_SQUARES = 1e-10

# Richardson-extrapolated central differences with steps near 1e-3 in float64.
FINITE_DIFFERENCE = 1e-7

# Convergence orders, measured over a resolved range of steps.
ORDER = 0.15

# The spread between published runs of the babyboot at 10 s: qA, qB [deg], rates [rad/s].
PUBLISHED_QA_DEG = 2e-6
PUBLISHED_QB_DEG = 2e-5
PUBLISHED_RATE = 1e-6
