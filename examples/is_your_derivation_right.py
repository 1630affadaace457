"""Is your derivation right?

A plate spins freely about the rod it hangs on. Somebody has derived its equations by hand, with an
angular momentum balance about the hinge and one of the plate about the rod,

    (I₁ + I_x cos² qB + I_y sin² qB) qA'' = 2 (I_x − I_y) sin qB cos qB qA' qB' − w sin qA
    I_z qB'' = −(I_x − I_y) sin qB cos qB qA'²

and six students have copied them, each with a slip of the pen. All equations are compared with
those that follow from the Lagrangian, at a hundred random states with random masses, lengths and
inertias: any combination of right equations is right, and of a wrong one it is told which term is
the mistake.
The same can be asked on the command line: `diffmech check babyboot derivation.txt`.
"""

import diffmech as dm

RIGHT = """
I1 = IA + mA*LA^2 + mB*LB^2         # about the hinge
w = (mA*LA + mB*LB)*g
qA''*(I1 + IBx*cos(qB)^2 + IBy*sin(qB)^2) = 2*(IBx - IBy)*sin(qB)*cos(qB)*qA'*qB' - w*sin(qA)
qB'' = -sin(qB)*cos(qB)*qA'^2*(IBx - IBy)/IBz
"""
SLIPS = {  # what is changed, and what must be said of it
    "Ada": (" = 2*(IBx", " = -2*(IBx", "sign of the Coriolis term qA' qB' in equation 1"),
    "Ben": (" = 2*(IBx", " = (IBx", "factor 2 missing in the Coriolis term qA' qB' in equation 1"),
    "Cleo": ("IBy)/IBz", "IBy)/IBx", "qB'' is multiplied by IBx where IBz belongs in equation 2"),
    "Dan": (" + mB*LB^2", "", "a term with qA'' is missing in equation 1: qA''*LB^2*mB"),
    "Eve": ("- w*sin", "+ w*sin", "sign of the gravity term in equation 1"),
    "Finn": ("*qA'^2*", "*qA'*qB'*", "qB' where qA' belongs in the centrifugal term qA'^2"),
}


def hinge_balance(q, qd, qdd, t, params):
    """Another form: the sum of both equations, and half their difference."""
    inertia, rest = dm.mass_matrix(boot, q, params=params), dm.bias(boot, q, qd, params=params)
    one, two = inertia @ qdd + rest
    return [one + two, (one - two) / 2]


boot = dm.systems.babyboot()


def main() -> None:
    print(dm.check_derivation(boot, RIGHT), "\n")
    dm.testing.assert_derivation(boot, RIGHT)
    dm.testing.assert_derivation(boot, hinge_balance)

    credits = {}
    for name, (old, new, said) in SLIPS.items():
        check = dm.check_derivation(boot, RIGHT.replace(old, new))
        wrong = [one for one in check.equations if not one.right]
        print(f"{name:<6}credit {check.credit:.2f}  {wrong[0].guess}")
        assert not check.right
        assert len(wrong) == 1, "the other equation is right"
        assert said in wrong[0].guess
        credits[name] = check.credit
    assert all(0.5 < credit < 1 for credit in credits.values())

    # One equation is not enough, however right it is.
    alone = dm.check_derivation(boot, RIGHT[: RIGHT.index("qB'' =")])
    assert alone.equations[0].right
    assert not alone.right
    print("\n" + "\n".join(alone.remarks))


if __name__ == "__main__":
    main()
