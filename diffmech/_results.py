"""How a run can end. The members' values are the messages a user reads."""

import enum
from typing import TYPE_CHECKING, Any, TypeAlias

import diffrax


class RESULTS(diffrax.RESULTS):  # pyright: ignore[reportGeneralTypeIssues]
    """Diffrax's outcomes, and those only a mechanical run can have."""

    singular_mass_matrix = (
        "the mass matrix is singular, so the accelerations are not determined: a body without "
        "mass or inertia, a kinetic term left out, or coordinates at a pole (gimbal lock). Use "
        "other coordinates there, or give the part a mass"
    )
    non_finite_motion = (
        "the motion stopped being finite: a function of the system returned NaN or infinity. "
        "Check divisions, square roots and logarithms in it near this state"
    )
    step_too_small = (
        "the step size shrank to round-off: the motion blows up in finite time, its coordinates "
        "reach a pole, or a force jumps. If damped parts make the equations stiff instead, an "
        "implicit method such as 'Kvaerno5' may pass"
    )
    not_finite_from_the_start = (
        "a number of the start, the sample times or the parameters is NaN or infinite"
    )
    event_not_a_number = (
        "the condition of an event is NaN, so it is not known whether it happens: check divisions, "
        "square roots and logarithms in it near this state"
    )
    interrupted = "stopped by the user; what was computed up to there is kept"


# Equinox makes the members at run time; a static checker takes them for strings.
if TYPE_CHECKING:
    Result: TypeAlias = Any
else:
    Result: TypeAlias = RESULTS


def choose(condition: Any, this: Result, other: Result) -> Result:
    """`this` where the (possibly traced) condition holds, else `other`."""
    return RESULTS.where(condition, this, other)


def failure_of(result: Result) -> Result:
    """Diffrax's smallest step is our step that shrank to round-off."""
    return choose(result == RESULTS.dt_min_reached, RESULTS.step_too_small, result)


def message(result: Result) -> str:
    """The sentence behind a result that is not traced, without its full stop."""
    if same(result, RESULTS.max_steps_reached):
        return (
            "it needs more steps than `max_steps` allows: raise `max_steps`, shorten the run, "
            "loosen the tolerance or lengthen `dt`, or, if damped parts make the equations stiff, "
            "try `method='Kvaerno5'`"
        )
    return (RESULTS[result] or "it ran to the end").rstrip(".")


# Of all members, Diffrax's too. Equinox's enumerations say how many members they have, but do not
# list them.
_NAMES = tuple(RESULTS._name_to_item)  # pyright: ignore[reportAttributeAccessIssue]


def same(result: Result, *others: Result) -> bool:
    """Whether a result that is not traced is one of `others`."""
    return any(bool(result == other) for other in others)


def name_of(result: Result) -> str:
    """The name of a member, for files; `result_named` turns it back."""
    return next((name for name in _NAMES if same(result, getattr(RESULTS, name))), "internal_error")


def result_named(name: str) -> Result:
    """The member of that name."""
    return getattr(RESULTS, name) if name in _NAMES else RESULTS.internal_error


class Status(enum.IntEnum):
    """How one lane of an ensemble ended; `sentence` says it in words."""

    OK = 0
    EVENT = 1
    MAX_STEPS = 2
    NON_FINITE = 3
    STEP_TOO_SMALL = 4
    SINGULAR = 5
    BAD_INPUT = 6
    INTERRUPTED = 7

    @property
    def sentence(self) -> str:
        """The message of the outcome."""
        if self is Status.BAD_INPUT:
            return "a number of its start or parameters is not finite, or it breaks the constraints"
        if self is Status.EVENT:
            return "it ended early because a reducer was done"
        members = {
            Status.OK: RESULTS.successful,
            Status.MAX_STEPS: RESULTS.max_steps_reached,
            Status.NON_FINITE: RESULTS.non_finite_motion,
            Status.STEP_TOO_SMALL: RESULTS.step_too_small,
            Status.SINGULAR: RESULTS.singular_mass_matrix,
            Status.INTERRUPTED: RESULTS.interrupted,
        }
        return message(members[self])
