"""Fits made by hand, for tests of what is done with them: no program is compiled."""

from typing import Any

import numpy as np

import diffmech as dm
from diffmech.identification._whiteness import whiteness

SCALE = [30.0, 0.1]


def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """L = 1/2 m ẋ² − 1/2 k x²  [J]."""
    del t
    return 0.5 * params["mass"] * qd[0] ** 2 - 0.5 * params["stiffness"] * q[0] ** 2


def dissipation(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """D = 1/2 c ẋ²  [W]."""
    del q, t
    return 0.5 * params["friction"] * qd[0] ** 2


def oscillator(law: Any = lagrangian, **params: float) -> dm.System:
    return dm.System(
        law,
        {"x": "m"},
        {"mass": 1.0, "stiffness": 30.0, "friction": 0.1, **params},
        dissipation=dissipation,
        units={"mass": "kg", "stiffness": "N/m", "friction": "N s/m"},
        ranges={"friction": (0.0, 10.0)},
        name="oscillator",
    )


def swing(amplitude: float, *, stiffness: float = 40.0, friction: float = 0.2) -> Any:
    """x(t) of a damped swing from rest of a mass of 1 kg, up to friction²."""

    def x(ts: Any) -> Any:
        rate, decay = np.sqrt(stiffness - 0.25 * friction**2), 0.5 * friction
        return (
            amplitude * np.exp(-decay * ts) * (np.cos(rate * ts) + decay / rate * np.sin(rate * ts))
        )

    return x


def record_of(amplitude: float, name: str, seed: int, *, count: int = 81, **more: Any) -> dm.Record:
    """A noisy swing of four seconds with a gap."""
    ts = np.linspace(0.0, 4.0, count)
    values = swing(amplitude)(ts) + 0.01 * np.random.default_rng(seed).normal(size=count)
    values[10:13] = np.nan
    return dm.Record(ts, {"x": values}, name=name, **more)


def made_fit(
    *,
    error: float = 0.0,
    held_error: float = 0.0,
    unknowns: int = 6,
    seed: int = 0,
    held: bool = True,
    **changes: Any,
) -> dm.Fit:
    """A fit as `fit` returns it; the model is off by `error` [m] everywhere, alternating."""
    records = (
        record_of(1.0, "first", seed, noise=0.01, inputs={"pull": np.linspace(0, 1, 81)}),
        record_of(2.0, "second", seed + 1, count=61, weights=np.linspace(0.5, 1, 61)),
    )
    kept = (record_of(1.5, "third", seed + 2),) if held else ()

    def model(amplitude: float, record: dm.Record, off: float) -> Any:
        values = (
            swing(amplitude)(record.ts)[:, None] + off * (-1.0) ** np.arange(len(record))[:, None]
        )
        return np.where(np.isnan(record.values), np.nan, values)

    computed = tuple(model(a, r, error) for a, r in zip((1.0, 2.0), records, strict=True))
    misses = [(r.values - c) / 0.01 for r, c in zip(records, computed, strict=True)]
    covariance = np.array([[0.018**2, 1e-5], [1e-5, 0.0027**2]])
    rows = np.eye(3)
    rows[:2, :2] = np.linalg.cholesky(np.linalg.inv(covariance / np.outer(SCALE, SCALE))).T
    fields: dict[str, Any] = {
        "system": oscillator(stiffness=40.02, friction=0.203),
        "names": ("stiffness", "friction"),
        "values": np.array([40.02, 0.203]),
        "errors": np.array([0.018, 0.0027]),
        "units": ("N/m", "N s/m"),
        "covariance": covariance,
        "unknown": np.zeros((0, 2)),
        "limited": (),
        "rows": rows,
        "limits": np.array([[0.0, 1.0, 0.0]]),  # friction does not push
        "starts": np.array([[1.0, 0.0], [2.0, 0.0]]),
        "records": records,
        "computed": computed,
        "held": kept,
        "predicted": tuple(model(1.5, record, held_error) for record in kept),
        "noise": np.array([0.01]),
        "noise_given": np.array([True]),
        "chi2": float(sum(np.nansum(miss**2) for miss in misses)),
        "count": sum(int(np.sum(np.isfinite(r.values))) for r in records),
        "unknowns": unknowns,
        "condition": 45.6789,
        "jump": 1.25e-12,
        "converged": True,
        "whiteness": whiteness(misses),
        "profiles": {"stiffness": (39.98, np.inf)},
        "settings": {"loss": "squares", "unknown": "refuse", "words": "all are determined",
                     "rtol": 1e-9, "segment": 0.1 + 0.2, "segments": 26, "parting_rate": np.inf,
                     "guesses": 1, "first_guess": True, "scale": SCALE, "steps": 3},
    }  # fmt: skip
    return dm.Fit(**{**fields, **changes})
