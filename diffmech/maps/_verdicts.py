"""What is said of a point of a map."""

import enum


class Verdict(enum.IntEnum):
    """What is said of a point of a map."""

    STABLE = 0
    UNSTABLE = 1
    UNDECIDED = 2
    FAILED = 3
    MISSING = 4

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return {
            Verdict.STABLE: "it behaves",
            Verdict.UNSTABLE: "it does not",
            Verdict.UNDECIDED: "the criterion does not tell, or the energy does not balance",
            Verdict.FAILED: "the motion could not be computed to its end",
            Verdict.MISSING: "not computed yet",
        }[self]
