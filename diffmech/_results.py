"""How a run can end. The members' values are the messages a user reads."""

import diffrax


class RESULTS(diffrax.RESULTS):  # pyright: ignore[reportGeneralTypeIssues]
    """Diffrax's outcomes, and those only a mechanical run can have."""

    singular_mass_matrix = (
        "the mass matrix is singular, so the accelerations are not determined: a body without "
        "mass or inertia, or coordinates at a pole (gimbal lock). Use other coordinates there, or "
        "give the part a mass"
    )
    non_finite = (
        "the motion stopped being finite: a function of the system returned NaN or infinity. "
        "Check divisions, square roots and logarithms in it near this state"
    )
    step_too_small = (
        "the step size shrank to round-off: the motion blows up in finite time, or a force jumps. "
        "If the equations are stiff instead, try `method='Kvaerno5'`"
    )
    interrupted = "stopped by the user; what was computed up to there is kept"
