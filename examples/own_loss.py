"""Can I use a loss of my own?

A pendulum with friction is filmed for 4 s; one frame in ten is read wrongly, by up to 1 rad.
Cauchy's loss hardly listens to such frames:

    Σ ln(1 + (measured − computed)² / (2 σ)²)

The library need not know it: `jax.grad` goes backwards through a run, so that any function of a
motion can be made small, in length, friction and start at once; here by optax's Adam. `dm.fit`
with a robust loss of its own (Huber's) finds the same pendulum, and how sure that is.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

import diffmech as dm

NOISE = 0.01  # σ [rad]
TS = np.linspace(0.0, 4.0, 61)  # [s]
STEPS = 120  # of the optimiser
TOLERANCE = 1e-7  # far below the noise
TRUTH = {"length": 0.8, "friction": 0.3}


def lagrangian(q, qd, t, params):  # per unit of mass [m²/s²]
    return 0.5 * (params["length"] * qd[0]) ** 2 + 9.81 * params["length"] * jnp.cos(q[0])


def dissipation(q, qd, t, params):
    return 0.5 * params["friction"] * (params["length"] * qd[0]) ** 2


def filmed(pendulum):
    """Four seconds from 60°, at rest, with noise and frames that were read wrongly [rad]."""
    rng = np.random.default_rng(0)
    run = dm.simulate(pendulum.with_params(TRUTH), [np.pi / 3], ts=TS)
    wrong = (rng.random(len(TS)) < 0.1) * rng.uniform(-1.0, 1.0, len(TS))
    return np.asarray(run.qs[:, 0]) + NOISE * rng.normal(size=len(TS)) + wrong


def main() -> None:
    ruler = {"length": 0.75, "friction": 0.1}
    pendulum = dm.System(lagrangian, {"theta": "rad"}, ruler, dissipation=dissipation,
                         units={"length": "m", "friction": "1/s"}, name="pendulum")  # fmt: skip
    angles = filmed(pendulum)

    def loss(x):
        machine = pendulum.with_params(length=x["length"], friction=x["friction"])
        run = dm.simulate(machine, x["angle"], x["rate"], ts=TS, rtol=TOLERANCE, atol=TOLERANCE)
        return jnp.sum(jnp.log1p(((angles - run.qs[:, 0]) / (2 * NOISE)) ** 2))

    adam = optax.adam(optax.cosine_decay_schedule(0.03, STEPS))

    @jax.jit
    def step(x, state):
        value, slope = jax.value_and_grad(loss)(x)
        move, state = adam.update(slope, state, x)
        return optax.apply_updates(x, move), state, value

    x = {**ruler, "angle": angles[:1], "rate": np.zeros(1)}
    x = {name: jnp.asarray(value, float) for name, value in x.items()}  # so it compiles once
    state, values = adam.init(x), np.zeros(STEPS)
    for i in range(STEPS):
        x, state, values[i] = step(x, state)
    record = dm.Record(TS, angles[:, None], ("theta",), name="film")
    fit = dm.fit(pendulum, record, [*TRUTH], loss="huber", noise=NOISE)
    print(f"own loss from {values[0]:.1f} to {values[-1]:.4f} in {STEPS} steps\n\n{fit}\n")
    for name, truth in TRUTH.items():
        mine, theirs, error = float(x[name]), fit[name], fit.error(name)
        print(f"{name:8} {mine:.4f} by Cauchy, {theirs:.4f} ± {error:.4f} by Huber, true {truth}")
        assert fit.converged
        assert abs(mine - theirs) < 2 * error, "two robust losses, one pendulum"
        assert abs(mine - truth) < 4 * error
    assert np.ptp(values[-10:]) < 1e-3, "the loss has settled"


if __name__ == "__main__":
    main()
