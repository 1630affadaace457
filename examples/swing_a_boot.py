"""What does swinging a boot feel like to its hinge?

Kane's babyboot: a plate turns freely about the rod it hangs on. Its Lagrangian takes a page by
hand; here the machine is its two bodies, said in a few lines, and every body and joint can be asked
what it does. A frictionless hinge passes on force and moment, but no moment along its axis.
"""

import jax
import numpy as np

import diffmech as dm

ROD = dm.parts.RigidBody(0.01, [5e-6, 5e-6, 0.0])  # [kg], [kg m²] about the mass centre
PLATE = dm.parts.RigidBody(0.1, [2.5e-4, 0.5e-4, 2e-4])
HINGE_TO_ROD, HINGE_TO_PLATE = 0.075, 0.20  # of the mass centres [m]


def boot(q, t, params):
    """The rod hangs from a hinge along x, the plate turns about the rod's axis z."""
    swing = dm.joint("hinge", dm.joints.revolute("x", q[0]))
    turn = dm.joint("bearing", swing @ dm.joints.revolute("z", q[1], at=[0, 0, -HINGE_TO_PLATE]))
    return {
        "rod": params["rod"].at(swing @ dm.joints.fixed([0, 0, -HINGE_TO_ROD])),
        "plate": params["plate"].at(turn),
        "gravity": dm.parts.Gravity(9.81),
    }


def main() -> None:
    machine = dm.machine(boot, {"qA": "rad", "qB": "rad"}, {"rod": ROD, "plate": PLATE})
    by_hand = dm.systems.babyboot()

    # The same equations of motion as those of the Lagrangian found by hand?
    states = np.random.default_rng(1).uniform(-3, 3, (200, 2, 2))  # [rad], [rad/s]
    ours, theirs = (
        np.asarray(jax.vmap(lambda x, s=system: dm.acceleration(s, x[0], x[1]))(states))
        for system in (machine, by_hand)
    )
    gap = np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs))
    print(f"accelerations at 200 random states: {gap:.0e} from those of the Lagrangian by hand\n")

    run = dm.simulate(machine, *by_hand.starts["chaotic"], duration=2.0)
    hinge, bodies = run.reactions()["hinge"], run.bodies()
    print(f"{'':8}{'hinge force [N]':^24}{'moment [mN m]':^24}{'T [mJ]':^16}{'H_x [g m²/s]':^16}")
    print(f"{'t [s]':8}{'x':>8}{'y':>8}{'z':>8}{'x':>8}{'y':>8}{'z':>8}", end="")
    print(f"{'rod':>8}{'plate':>8}{'rod':>8}{'plate':>8}")
    rod, plate = bodies["rod"], bodies["plate"]
    turning = [body.angular_momentum([0.0, 0.0, 0.0]) for body in (rod, plate)]  # about the hinge
    for i in range(0, len(run.ts), 100):
        row = [*hinge.force[i], *(1e3 * hinge.moment[i])]
        row += [1e3 * rod.kinetic[i], 1e3 * plate.kinetic[i], *(1e3 * H[i, 0] for H in turning)]
        print(f"{run.ts[i]:<8.1f}" + "".join(f"{x:8.2f}" for x in row))

    total = rod.kinetic + plate.kinetic
    balance = np.max(np.abs(total - run.energies.kinetic)) / np.max(total)
    along = np.max(np.abs(hinge.moment[:, 0])) / np.max(np.abs(hinge.moment))
    print(f"\nkinetic energies of the bodies add up to the machine's to {balance:.0e}")
    print(f"moment along the hinge: {along:.0e} of the largest across it")
    assert gap < 1e-12
    assert balance < 1e-12
    assert along < 1e-12


if __name__ == "__main__":
    main()
