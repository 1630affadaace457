"""What a map says of a point."""

import enum


class Verdict(enum.IntEnum):
    """What a map says of a point: `name` in capitals, `sentence` in words."""

    STABLE = 0
    UNSTABLE = 1
    UNDECIDED = 2
    FAILED = 3
    MISSING = 4

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return {
            Verdict.STABLE: "stable by the criterion",
            Verdict.UNSTABLE: "unstable by the criterion",
            Verdict.UNDECIDED: "the criterion does not tell, or the energy does not balance",
            Verdict.FAILED: "the motion could not be computed to its end",
            Verdict.MISSING: "not computed yet",
        }[self]
