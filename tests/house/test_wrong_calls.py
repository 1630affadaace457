"""Things of another kind than a function takes get a sentence, in every room."""

from ..simulation.test_bad_input import run_python


def test_wrong_types_get_a_sentence_without_type_checking() -> None:
    out = run_python(
        """
        import diffrax, jax, jax.numpy as jnp, diffmech as dm
        boot = dm.systems.babyboot()
        record = dm.Record([0, 1, 2], [[0, 0], [0, 1], [1, 1]], ("qA", "qB"))
        run = dm.simulate(boot, [0, 0], duration=0.1, samples=2)
        calls = [
            lambda: dm.simulate("boot", [0, 0], duration=1),
            lambda: dm.simulate(boot, None, duration=1),
            lambda: dm.simulate(boot, [0, 0], duration="long"),
            lambda: dm.simulate(boot, [0, 0], duration=1, method=8),
            lambda: dm.simulate(boot, [0, 0], duration=1, method=diffrax.Tsit5),
            lambda: dm.simulate(boot, [0, 0], duration=1, events=[1]),
            lambda: dm.System("L", ("x",)),
            lambda: dm.System(lambda q, qd, t, p: qd @ qd, 3),
            lambda: dm.Event(lambda q, qd, t, p: q[0], direction="up"),
            lambda: dm.mass_matrix(dm.Explicit(lambda q, qd, t, p: q, ("x",)), [0.0]),
            lambda: dm.System(lambda q, qd, t, p: qd @ qd, ("x",), {"m": "heavy"}),
            lambda: dm.simulate(boot, [0, 0], duration=1, params="heavy"),
            lambda: dm.System(lambda q, qd, t, p: qd @ qd, ("x",), starts={"a": [1, 2, 3]}),
            lambda: dm.System(lambda q, qd, t, p: qd @ qd, ("x",), starts=[1, 2]),
            lambda: boot.with_params([1, 2]),
            lambda: dm.action(boot, [1, 2]),
            lambda: dm.action_gradient(boot, dm.ActionPath(0.0, 1.0, [[0.0], [0.1], [0.2]], 2)),
            lambda: dm.motion_between(boot, [0, 0], [1, 1], 1.0, guess="straight"),
            lambda: dm.ensemble(boot, [0, 0], duration=1, reduce=dm.reducers.Largest(3)),
            lambda: dm.compare(3),
            lambda: dm.load(3),
            lambda: dm.read_records(3),
            lambda: dm.continue_orbit(3, "mB", [1.0]),
            lambda: dm.return_times(record),
            lambda: dm.zoom(record, {"qA": (0, 1)}),
            lambda: dm.viz.phase(3),
            lambda: dm.viz.paths(run, ax=3),
            lambda: dm.lyapunov(boot, [0, 0], duration=1, seed="a"),
            lambda: dm.simulate(boot, [0, 0], duration=1, dt=0.01, rtol=1e-9),
            lambda: dm.ensemble(boot, [0, 0], duration=1, dt=0.01, atol=1e-9),
            lambda: dm.simulate(boot, [0, 0], ts=[]),
            lambda: dm.System(lambda q, qd, t, p: p["m"] * qd @ qd, ("x",)),
            lambda: dm.System(lambda q, qd, t, p: "a", ("x",)),
            lambda: dm.Record([0, 1, 2], [[0], [0], [1]], ("qA",), weights=[1]),
            lambda: jax.jit(lambda x: dm.fit(boot, record, "mB", guess={"mB": x}))(1.0),
            lambda: jax.jit(
                lambda x: dm.stability_map(boot, {"qA": x}, dm.criteria.Tumble("qB", 1.5), 1.0)
            )(jnp.arange(3.0)),
            lambda: jax.jit(lambda n: dm.simulate(boot, [0, 0], duration=1, samples=n).qs)(3),
            lambda: dm.viz.bands(3),
            lambda: dm.viz.areas(run),
            lambda: dm.viz.stability(run),
            lambda: dm.viz.fit(run),
            lambda: dm.viz.fit_residuals(run),
            lambda: dm.viz.correlations(None),
            lambda: dm.viz.tournament(3),
            lambda: dm.viz.edge_slopes(3),
            lambda: dm.viz.save_figure(3, "x.png"),
            lambda: dm.viz.overview(run, figure=3),
            lambda: dm.viz.overlay(run, run, labels=("a",)),
            lambda: dm.mass_centre([1]),
            lambda: dm.mass_centre({}),
            lambda: dm.angular_momentum({}, about=[0, 0]),
            lambda: dm.joints.revolute("x", "a"),
            lambda: dm.joints.planar(1, 2, "z"),
            lambda: dm.parts.Gravity("g"),
            lambda: run.save(None),
            lambda: dm.cache(folder=3),
            lambda: dm.joint("a", 3),
            lambda: dm.Event(3),
        ]
        for call in calls:
            try:
                call()
                print("no error")
            except ValueError as error:
                print(error)
        """
    )
    expected = [
        "`system` must be a `System` or an `Explicit`, but is a str",
        "`q0` must have shape (2,) = (qA, qB), but",
        "`duration` must be a number, but",
        "`method` must be a name or a Diffrax solver",
        "`method` must be a name or a Diffrax solver",
        "`events` must map names to conditions",
        "`lagrangian` must be a function of (q, qd, t, params), but is 'L'",
        "`coordinates` must be",
        "`direction` must be 'rising', 'falling' or None, but is 'up'",
        "the mass matrix needs a Lagrangian",
        "parameter `m` must be numbers, but",
        "parameter `params` must be numbers, but",
        "`starts['a']` must be a pair (q0, qd0), coordinates and rates, but is [1, 2, 3]",
        "`starts` must map names to pairs (q0, qd0)",
        "`with_params` must be given values by path, such as with_params(mB=0.2)",
        "`path` must be an `ActionPath`, such as `ActionPath.along(run)`, but is [1, 2]",
        "`path` must have coordinates of shape (points, 2) = (..., qA, qB), but has shape (3, 1)",
        "`guess` must be an `ActionPath`, such as `ActionPath.along(run)`, but is 'straight'",
        "`reduce['largest']` must be a function of (q, qd, t, params), but is 3",
        "`fits` must be results of `fit`, by name or in a list, but is a int",
        "`path` must be the path of a file, but is a int",
        "`path` must be the path of a CSV file, but is a int",
        "`orbit` must be what `periodic_orbit` returns, but is a int",
        "`section` must be what `poincare` returns, but is a Record",
        "`record` must be what `stability_map` returns, but is a Record",
        "`run` must be what `simulate` returns, but is a int",
        "`ax` must be axes of matplotlib, but is a int",
        "`seed` must be a whole number, at least 0, but is 'a'",
        "`rtol` must be left out where `dt` is given",
        "`atol` must be left out where `dt` is given",
        "`ts` must ",
        "`lagrangian` (<lambda>.<locals>.<lambda>) raised TypeError when tried on arrays of the "
        "declared shapes: tuple indices must be integers or slices, not str (no `params` are ",
        "`lagrangian` (<lambda>.<locals>.<lambda>) must return a real float array, but returns str",
        "record 'record': `weights` must have shape (3, 1) or (3,), but has shape (1,)",
        "`fit` must be called outside of `jit`, `grad` and `vmap`: ",
        "the values of axis `qA` must be plain numbers, not traced ones",
        "`samples` must be a whole number, at least 2, but is traced",
        "`record` must be what `stability_map` returns, but is a int",
        "`record` must be what `stability_map` returns, but is a Trajectory",
        "`record` must be what `stability_map` returns, but is a Trajectory",
        "`record` must be what `fit` returns, but is a Trajectory",
        "`record` must be what `fit` returns, but is a Trajectory",
        "`record` must be what `fit` returns, but is a NoneType",
        "`record` must be what `tournament` returns, but is a int",
        "`record` must be what `band_edges` returns, but is a int",
        "`figure` must be a Figure or Axes of matplotlib, but is a int",
        "`figure` must be a Figure of matplotlib, but is a int",
        "`labels` must be two texts, one for each run, but are 1",
        "`bodies` must be states of bodies by name, as `body_states` gives them, but is a list",
        "`bodies` must be states of bodies by name, as `body_states` gives them, but is empty",
        "`bodies` must be states of bodies by name, as `body_states` gives them, but is empty",
        "`angle` must be a number, but 'a' is not numeric",
        "`angle` must be a number, but 'z' is not numeric",
        "`strength` must be a number, but 'g' is not numeric",
        "`path` must be the path of a file, but is a NoneType",
        "`folder` must be the path of a folder, but is a int",
        "`pose` must be a `Pose`, such as `revolute` gives, but is a int",
        "`condition` must be a function of (q, qd, t, params), but is 3",
    ]
    lines = out.strip().splitlines()
    assert len(lines) == len(expected), out
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start), line
