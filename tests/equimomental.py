"""A machine of two bodies with every kind of load, and its motion from point masses by differences.

A sleigh with a skate slides in the plane; it carries an arm on a skew hinge that is driven, and the
arm a plate on another. In the library they are bodies with poses; here each is six particles with
the same mass and moments, at positions in NumPy. There is no ω, no Lagrangian and no JAX in it.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

import diffmech as dm

MASSES = (1.3, 0.7, 0.4)
MOMENTS = np.array([[0.02, 0.05, 0.06], [0.03, 0.011, 0.025], [0.004, 0.007, 0.009]])
ARM_AXIS, PLATE_AXIS = np.array([0.3, 1.0, 0.4]), np.array([-1.0, 0.2, 0.7])
ARM_AT, ELBOW = np.array([0.2, 0.1, 0.3]), np.array([0.1, -0.2, 0.5])
ARM_CENTRE, PLATE_CENTRE = np.array([0.05, 0.1, 0.25]), np.array([0.3, 0.0, 0.1])
SKATE = np.array([0.25, 0.0, 0.0])  # on the sleigh, edge along its x
WEIGHT = np.array([1.0, -2.0, -9.0])  # a slope [m/s^2]
NAIL = np.array([0.5, 0.4, 1.0])
TIP = np.array([0.3, 0.2, 0.1])  # of the plate
STEP = 1e-2


def _drive(t: Any) -> Any:
    return 0.3 * np.sin(2.0 * t) if isinstance(t, float) else 0.3 * jnp.sin(2.0 * t)


def _parts(q: Any, t: Any, params: Any) -> dict[str, Any]:
    sleigh = dm.joints.planar(q[0], q[1], q[2])
    arm = dm.joint("shoulder", sleigh @ dm.joints.revolute(ARM_AXIS, q[3] + _drive(t), at=ARM_AT))
    plate = dm.joint("elbow", arm @ dm.joints.revolute(PLATE_AXIS, q[4], at=ELBOW))
    bodies = [dm.parts.RigidBody(m, i) for m, i in zip(MASSES, MOMENTS, strict=True)]
    return {
        "tied": dm.parts.Spring(30.0, 0.4).between(plate.point(TIP), NAIL),
        "sleigh": bodies[0].at(sleigh),
        "arm": bodies[1].at(arm @ dm.joints.fixed(ARM_CENTRE)),
        "plate": bodies[2].at(plate @ dm.joints.fixed(PLATE_CENTRE)),
        "slope": dm.parts.Gravity(WEIGHT),
        "loose": dm.parts.Spring(11.0).between(sleigh, plate.point(TIP)),
        "stay": dm.parts.Damper(0.8, 0.3).between(sleigh.point(TIP), plate.point(TIP)),
        "drag": dm.parts.Damper(0.2, quadratic=0.5).on(arm.point(TIP)),
        "rub": dm.parts.Damper(0.1, coulomb=0.2, smoothing=0.5).turning(sleigh, plate),
        "air": dm.parts.Damper(0.05).turning(arm),
        "hinge": dm.parts.Spring(4.0, 0.3).across(q[4]),
        "twist": dm.parts.Spring(3.0).twisting(sleigh, arm),
        "brake": dm.parts.Damper(0.4).across(q[3]),
        "jet": dm.parts.force(plate.direction([0.5, 1.0, 2.0]), at=plate.point(TIP)),
        "motor": dm.parts.torque(arm.direction([0.2, 0.1, 0.6]), on=plate, against=arm),
    }


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def _sixth(function: Callable[[float], np.ndarray], step: float = STEP) -> np.ndarray:
    """The derivative at zero by differences of sixth order."""
    terms = [
        w * (function(k * step) - function(-k * step))
        for k, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
    ]
    return (terms[0] + terms[1] + terms[2]) / step


def _edge(q: Any, xp: Any) -> Any:
    """(−sin θ, cos θ)·d/dt (x + R s) = −ẋ sin θ + ẏ cos θ + 0.25 θ̇ = 0: the row of the skate."""
    zero = 0.0 * q[0]
    return xp.stack([-xp.sin(q[2]), xp.cos(q[2]), zero + SKATE[0], zero, zero])


class SkewSleigh:
    """The machine twice: as a `System` of bodies, and as particles."""

    def __init__(self) -> None:
        self.system = dm.machine(
            _parts,
            {"x": "m", "y": "m", "theta": "rad", "phi": "rad", "psi": "rad"},
            constraints={"skate": dm.Pfaffian(lambda q, t, p: _edge(q, jnp))},
            forces=lambda q, qd, t, p: jnp.array([jnp.sin(t), 0.0, -0.3 * qd[2], 0.0, q[3]]),
            name="skew sleigh",
        )

    def frames(self, q: np.ndarray, t: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """Origin and rotation of sleigh, arm and plate."""
        sleigh = np.array([q[0], q[1], 0.0]), _turn(np.array([0.0, 0.0, 1.0]), q[2])
        arm = sleigh[0] + sleigh[1] @ ARM_AT, sleigh[1] @ _turn(ARM_AXIS, q[3] + _drive(t))
        plate = arm[0] + arm[1] @ ELBOW, arm[1] @ _turn(PLATE_AXIS, q[4])
        return [sleigh, arm, plate]

    def particles(self, q: np.ndarray, t: float) -> np.ndarray:
        """Eighteen points, √(3 s/m) from the mass centres along the body axes, s = ∫ x² dm."""
        points = []
        offsets = np.zeros(3), ARM_CENTRE, PLATE_CENTRE
        for (origin, turn), centre, m, i in zip(
            self.frames(q, t), offsets, MASSES, MOMENTS, strict=True
        ):
            arms = np.diag(np.sqrt(3 * (0.5 * np.sum(i) - i) / m))
            points += [origin + turn @ (centre + side * arm) for arm in arms for side in (1, -1)]
        return np.array(points)

    def marks(self, q: np.ndarray, t: float) -> np.ndarray:
        """Points that loads act on: sleigh's origin and tip, arm's tip, plate's tip; rotations."""
        frames = self.frames(q, t)
        tips = [origin + turn @ TIP for origin, turn in frames]
        return np.concatenate([frames[0][0], *tips, *(turn.ravel() for _, turn in frames)])

    def along(self, look: Any, q: np.ndarray, qd: np.ndarray, t: float) -> np.ndarray:
        """The rate of what is looked at on the way q + s q̇, t + s."""
        pace = max(1.0, float(np.max(np.abs(qd))))
        return _sixth(lambda s: look(q + s * qd, t + s), STEP / pace)

    def columns(self, look: Any, q: np.ndarray, t: float) -> np.ndarray:
        """Its slopes along each coordinate."""
        return np.array([_sixth(lambda s, e=e: look(q + s * e, t)) for e in np.eye(5)])

    def loads(self, q: np.ndarray, qd: np.ndarray, t: float) -> np.ndarray:
        """Generalised forces but weight."""
        at, rate = self.marks(q, t), self.along(self.marks, q, qd, t)
        slopes = self.columns(self.marks, q, t)
        origin, deck, _, tip = at[:12].reshape(4, 3)
        _, deck_rate, elbow_rate, tip_rate = rate[:12].reshape(4, 3)
        moved = slopes[:, :12].reshape(5, 4, 3)
        turns, turn_rates = at[12:].reshape(3, 3, 3), rate[12:].reshape(3, 3, 3)

        def omega(change: np.ndarray, b: int) -> np.ndarray:
            spin = change @ turns[b].T
            return np.array([spin[2, 1], spin[0, 2], spin[1, 0]])

        spins = [omega(turn_rates[b], b) for b in range(3)]
        spun = np.array(
            [[omega(s, b) for b, s in enumerate(row.reshape(3, 3, 3))] for row in slopes[:, 12:]]
        )

        def push(force: np.ndarray, point: int) -> np.ndarray:
            return moved[:, point] @ force

        gap = tip - NAIL
        pull = -30.0 * (np.linalg.norm(gap) - 0.4) * gap / np.linalg.norm(gap)
        stay = (tip - deck) / np.linalg.norm(tip - deck)
        pace = stay @ (tip_rate - deck_rate)
        rub = -(0.8 + 0.3 * abs(pace)) * pace * stay
        speed = np.linalg.norm(elbow_rate)
        slip = spins[2] - spins[0]
        grip = -(0.1 + 0.2 / np.sqrt(slip @ slip + 0.25)) * slip
        motor = turns[1] @ np.array([0.2, 0.1, 0.6])
        jet = turns[2] @ np.array([0.5, 1.0, 2.0])
        total = push(pull + jet + rub - 11.0 * (tip - origin), 3)
        total = total - push(rub, 1) + push(11.0 * (tip - origin), 0)
        total = total + push(-(0.2 + 0.5 * speed) * elbow_rate, 2)
        total = total + (spun[:, 2] - spun[:, 0]) @ grip - 0.05 * spun[:, 1] @ spins[1]
        total = total + (spun[:, 2] - spun[:, 1]) @ motor
        own = np.array([np.sin(t), 0.0, -0.3 * qd[2], 0.0, q[3]])
        own[4] -= 4.0 * (q[4] - 0.3)
        # The arm is turned against the sleigh by φ + drive, but for whole turns, about one axis.
        turned = (q[3] + _drive(t) + np.pi) % (2 * np.pi) - np.pi
        own[3] -= 0.4 * qd[3] + 3.0 * turned
        return total + own

    def acceleration(self, q: np.ndarray, qd: np.ndarray, t: float) -> np.ndarray:
        """q̈ of particles that move without work of what holds them, and of the skate."""
        masses = np.repeat(np.array(MASSES) / 6, 6)
        slopes = self.columns(self.particles, q, t)
        still = self.along(lambda q, t: self.along(self.particles, q, qd, t), q, qd, t)
        mass = np.einsum("ipc,p,jpc->ij", slopes, masses, slopes)
        force = self.loads(q, qd, t) - np.einsum("ipc,p,pc->i", slopes, masses, still - WEIGHT)
        row = _edge(q, np)
        drift = -qd[2] * (qd[0] * np.cos(q[2]) + qd[1] * np.sin(q[2]))
        matrix = np.block([[mass, -row[:, None]], [row[None], np.zeros((1, 1))]])
        return np.linalg.solve(matrix, np.append(force, -drift))[:5]
