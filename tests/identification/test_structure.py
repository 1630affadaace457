"""What equations of motion determine: the rank of the sensitivities, and the same in words."""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech.identification import named_numbers
from diffmech.model import length_field
from diffmech.motion import acceleration_of

from ..by_tape import by_arrays
from ..conftest import random_states
from ..tolerances import ROUND_OFF

# machine -> (free numbers, how many combinations of them are determined, by hand)
MACHINES: dict[str, tuple[tuple[str, ...], int]] = {
    "babyboot": (("IA", "IBx", "IBy", "IBz", "mA", "LA", "mB", "LB", "g"), 3),
    "double_pendulum": (("masses", "lengths", "gravity"), 3),
    "n_link": (("masses", "inertias", "lengths", "centres", "gravity"), 7),
    "heavy_top": (("top.mass", "top.inertia", "height", "gravity"), 3),
    "cart_pole": (
        ("cart.mass", "pole.mass", "pole.inertia", "track", "hinge", "length", "gravity", "push"),
        10,
    ),
    "spring_pendulum": (("bob.mass", "spring", "damper", "gravity"), 7),
}
_PARTS = {
    "track": ("track.viscous", "track.quadratic", "track.coulomb"),
    "hinge": ("hinge.viscous", "hinge.quadratic", "hinge.coulomb"),
    "spring": ("spring.stiffness", "spring.rest"),
    "damper": ("damper.viscous", "damper.quadratic", "damper.coulomb", "damper.smoothing"),
}


def free_of(name: str) -> list[str]:
    return [path for word in MACHINES[name][0] for path in _PARTS.get(word, (word,))]


@cache
def felt(name: str) -> dm.System:
    """The machine with every friction at work, and a smoothing width that is seen."""
    system = getattr(dm.systems, name)()
    if name == "cart_pole":
        frictions = dict.fromkeys((*_PARTS["track"], *_PARTS["hinge"], "push"), 0.1)
        return system.with_params(frictions)
    if name == "spring_pendulum":
        frictions = dict(zip(_PARTS["damper"], (0.2, 0.1, 0.3, 0.5), strict=True))
        return system.with_params(frictions)
    return system


@cache
def found(name: str) -> dm.Structure:
    return dm.identifiable(felt(name), free_of(name))


def log_slopes(function: Any, numbers: np.ndarray) -> np.ndarray:
    """∂f/∂ log p of f(numbers of many lanes) -> (lanes, k), by five points: shape (k, p)."""
    p, step = len(numbers), 1e-3
    shifts = step * np.eye(p)[:, None, :] * np.array([-2, -1, 1, 2])[None, :, None]
    values = function((numbers * np.exp(shifts)).reshape(-1, p)).reshape(p, 4, -1)
    return np.einsum("pik,i->kp", values, np.array([1, -8, 8, -1])) / (12 * step)


def rank_of(matrix: np.ndarray) -> int:
    norms = np.linalg.norm(matrix, axis=0)
    return int(np.linalg.matrix_rank(matrix / np.where(norms > 1e-6, norms, np.inf), tol=1e-5))


@pytest.mark.parametrize("name", MACHINES)
def test_the_rank_is_that_of_the_fisher_information_at_other_states(name: str) -> None:
    """JᵀJ of accelerations, all measured alike, has the rank of J: by differences, elsewhere."""
    system, lanes = felt(name), 25
    numbers = named_numbers(system.params, free_of(name))
    q, qd, _ = random_states(system.n, lanes, seed=11)

    def accelerations(many: np.ndarray) -> np.ndarray:
        count = len(many)
        params = numbers.put(system.params, np.repeat(many, lanes, axis=0))
        batch = (np.tile(q, (count, 1)), np.tile(qd, (count, 1)), np.zeros(count * lanes), params)
        qdd = by_arrays(lambda *state: acceleration_of(system.laws, *state), *batch)
        return qdd.reshape(count, -1)

    slopes = log_slopes(accelerations, numbers.read(system.params))
    assert rank_of(slopes) == found(name).rank == MACHINES[name][1]
    unseen = slopes @ found(name).null_space
    assert np.max(np.abs(unseen)) < 1e-8 * np.max(np.abs(slopes)), "nothing changes along them"


def evaluated(text: str, params: Any, numbers: Any, many: np.ndarray) -> np.ndarray:
    """An expression of parameters in Python's words, for many values of the free numbers."""
    batch = numbers.put(params, many)
    results = []
    for i in range(len(many)):
        one = jax.tree.map(lambda leaf, i=i: leaf[i], batch)
        words = {"sqrt": np.sqrt, "sin": np.sin, **vars(one)}
        results.append(eval(text.replace("^", "**"), {"__builtins__": {}}, words))  # our own text
    return np.array(results)


@pytest.mark.parametrize("name", MACHINES)
def test_what_is_said_to_be_determined_is_all_that_is_and_no_more(name: str) -> None:
    system, said = felt(name), found(name)
    numbers = named_numbers(system.params, free_of(name))
    here = numbers.read(system.params)

    def expressions(many: np.ndarray) -> np.ndarray:
        return np.stack(
            [evaluated(text, system.params, numbers, many) for text in said.determined], axis=1
        )

    np.testing.assert_allclose(expressions(here[None])[0], said.values, rtol=ROUND_OFF)
    slopes = log_slopes(expressions, here)
    slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
    assert np.linalg.matrix_rank(slopes, tol=1e-4) == said.rank, "they are independent"
    assert np.max(np.abs(slopes @ said.null_space)) < 1e-8, "they do not change unseen"


def test_the_babyboot_determines_three_combinations_of_nine_numbers() -> None:
    said, system = found("babyboot"), felt("babyboot")
    assert said.words == (
        "only (IBx - IBy)/IBz, g*(LA*mA + LB*mB)/IBz and (IBy + IA + LA^2*mA + LB^2*mB)/IBz are "
        "determined; masses scale out"
    )
    numbers = named_numbers(system.params, free_of("babyboot"))
    published = (
        "(IA + mA*LA^2 + mB*LB^2 + IBx)/(IBx - IBy)",
        "(mA*LA + mB*LB)*g/(IBx - IBy)",
        "(IBx - IBy)/IBz",
    )
    for text in published:
        slope = log_slopes(
            lambda many, text=text: evaluated(text, system.params, numbers, many)[:, None],
            numbers.read(system.params),
        )
        assert np.max(np.abs(slope @ said.null_space)) < 1e-8 * np.max(np.abs(slope))


WORDS = {
    "double_pendulum": (
        "only masses[0]/masses[1], lengths[1]/lengths[0] and gravity/lengths[0] are determined; "
        "a common factor of lengths[0], lengths[1] and gravity scales out; masses scale out"
    ),
    "heavy_top": (
        "only (top.inertia[0] - top.inertia[1])/top.inertia[2], top.mass*height*gravity/"
        "top.inertia[2] and (top.inertia[0] + top.mass*height^2)/top.inertia[2] are determined; "
        "masses scale out"
    ),
    "spring_pendulum": (
        "spring.rest, damper.smoothing and gravity are determined, of the others only "
        "spring.stiffness/bob.mass, damper.viscous/bob.mass, damper.quadratic/bob.mass and "
        "damper.coulomb/bob.mass; masses scale out"
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_what_cannot_be_known_is_said_in_words(name: str) -> None:
    assert found(name).words == WORDS[name]


def test_frictions_of_zero_are_judged_as_if_they_were_felt() -> None:
    said = dm.identifiable(dm.systems.spring_pendulum(), free_of("spring_pendulum"))
    assert said.words == WORDS["spring_pendulum"]
    assert said.rank == 7
    assert said.values[said.determined.index("damper.coulomb/bob.mass")] == 0


def test_fixed_parameters_make_the_free_ones_known() -> None:
    spring = dm.identifiable(
        dm.systems.spring_pendulum(), ("spring.stiffness", "spring.rest", "gravity")
    )
    assert spring.all_determined
    assert spring.words == "all 3 free parameters are determined"
    assert spring.null_space.shape == (3, 0)
    boot = dm.identifiable(dm.systems.babyboot(), ("LA", "mA", "IA"))
    assert boot.determined == ("LA*mA", "IBy + IA + LA^2*mA + LB^2*mB")
    assert dm.identifiable(dm.systems.pendulum(), "length").words == "length is determined"


def test_a_parameter_that_does_nothing_is_named() -> None:
    said = found("n_link")
    assert "lengths[2] does nothing" in said.words
    assert dm.identifiable(dm.systems.pendulum(), ("mass",)).words == (
        "nothing is determined; mass does nothing"
    )


def oscillator(force: Any, **params: float) -> dm.System:
    """1/2 m x'^2, and a force."""
    return dm.System(
        lambda q, qd, t, p: 0.5 * p["m"] * qd[0] ** 2,
        {"x": "m"},
        {"m": 1.3, **params},
        forces=lambda q, qd, t, p: jnp.stack([force(q[0], qd[0], p)]),
    )


def test_a_smoothing_width_is_named_singly() -> None:
    rubbing = oscillator(
        lambda x, v, p: -p["k"] * x - p["mu"] * jnp.tanh(v / p["width"]), k=4.0, mu=0.5, width=0.2
    )
    said = dm.identifiable(rubbing, ("m", "k", "mu", "width"))
    assert said.determined == ("width", "k/m", "mu/m")
    assert said.mirrors == ("(mu, width) and (-mu, -width) give the same motion",)
    assert said.words == (
        "width is determined, of the others only k/m and mu/m; "
        "a common factor of m, k and mu scales out"
    )


def test_two_widths_of_which_only_the_ratio_counts() -> None:
    spring = oscillator(lambda x, v, p: -p["k"] * jnp.tanh(p["a"] * x / p["b"]), k=4, a=2, b=3)
    said = dm.identifiable(spring, ("a", "b"))
    assert said.determined == ("a/b",)
    assert said.mirrors == (), "that both may change sign is said already"


def test_a_sum_inside_of_a_function_is_found() -> None:
    spring = oscillator(lambda x, v, p: -jnp.tanh((p["a"] + p["b"]) * x), a=2, b=3)
    assert dm.identifiable(spring, ("a", "b")).determined == ("a + b",)


def test_special_values_do_not_hide_what_others_show() -> None:
    """At a = 1 the force does not change with a to first order; anywhere else it does."""
    spring = oscillator(lambda x, v, p: -p["k"] * x - (p["a"] - 1) ** 2 * x**3, k=4, a=1)
    said = dm.identifiable(spring, ("k", "a"))
    assert said.all_determined
    assert np.min(said.singular_values) > 0.1


def test_mirror_solutions_are_named() -> None:
    even = oscillator(lambda x, v, p: -p["k"] * x + p["a"] ** 2, k=4.0, a=0.3)
    assert dm.identifiable(even, ("k", "a")).mirrors == ("a and -a give the same motion",)
    both = oscillator(lambda x, v, p: -(p["a"] + p["b"]) * x - p["a"] * p["b"] * x**3, a=1.0, b=2.0)
    said = dm.identifiable(both, ("a", "b"))
    assert said.all_determined
    assert said.mirrors == ("a and b exchanged give the same motion",)


class Length(eqx.Module):
    length: Any = length_field()


def test_mirror_images_that_no_machine_has_are_left_out() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * qd[0] ** 2 - 0.5 * p.length**2 * q[0] ** 2

    assert dm.identifiable(dm.System(lagrangian, {"x": "m"}, Length(2.0)), "length").mirrors == ()


def test_constraints_tell_lengths_that_accelerations_do_not() -> None:
    said = dm.identifiable(dm.systems.double_pendulum_absolute(), ("masses", "lengths", "gravity"))
    assert said.words == (
        "lengths[0], lengths[1] and gravity are determined, of the others only "
        "masses[0]/masses[1]; masses scale out"
    )
    # x ẍ + y ÿ = −ẋ² − ẏ² does not know the length, x² + y² = length² does.
    dae = dm.identifiable(dm.systems.pendulum_dae(), ("mass", "length", "gravity"))
    assert dae.determined == ("length", "gravity")
    ball = dm.identifiable(dm.systems.rolling_ball(), ("mass", "radius", "slope", "gravity"))
    assert ball.words == (
        "radius is determined, of the others only gravity*sin(slope); mass does nothing"
    )


def test_equations_without_a_lagrangian_are_read_as_they_are() -> None:
    explicit = dm.Explicit(
        lambda q, qd, t, p: -p["k"] / p["m"] * q - p["c"] * qd,
        {"x": "m"},
        {"k": 2.0, "m": 0.5, "c": 0.1},
    )
    assert dm.identifiable(explicit, ("k", "m", "c")).determined == ("c", "k/m")
    sum_of_quotients = dm.Explicit(
        lambda q, qd, t, p: -(p["k"] / p["m"] + p["b"]) * q,
        {"x": "m"},
        {"k": 2.0, "m": 0.5, "b": 0.1},
    )
    assert dm.identifiable(sum_of_quotients, ("k", "m", "b")).determined == ("(k + b*m)/m",)


def test_where_there_are_no_words_the_unseen_changes_are_printed() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        # Eigenvalues have no scalar form; only the sum a + b is seen.
        stiffness = jnp.array([[p["a"] + p["b"], 0.3], [0.3, 1.0]])
        largest = jnp.linalg.eigvalsh(stiffness)[1]
        return 0.5 * qd[0] ** 2 - 0.5 * largest * q[0] ** 2

    said = dm.identifiable(dm.System(lagrangian, {"x": "m"}, {"a": 1.0, "b": 2.0}), ("a", "b"))
    assert said.rank == 1
    assert said.words.startswith("1 combination is determined of 2 parameters, without short words")
    assert "the equations do not change along a: +1, b: -0.5 (relative)" in said.words


def test_long_equations_are_read_with_the_numbers_of_what_is_fixed() -> None:
    machine = dm.systems.double_pendulum_3d()
    free = ("lower.mass", "upper.mass", "lower.inertia", "upper.inertia[0]")
    said = dm.identifiable(machine, free)
    assert said.rank == 4
    assert said.determined[:2] == ("upper.mass/lower.mass", "lower.inertia[1]/lower.mass")
    assert len(said.determined) == 4


def test_words_do_not_hang_on_the_seed() -> None:
    pendulum = dm.systems.double_pendulum()
    others = [dm.identifiable(pendulum, free_of("double_pendulum"), seed=seed) for seed in (1, 2)]
    assert {one.words for one in others} == {WORDS["double_pendulum"]}
    again = dm.identifiable(pendulum, free_of("double_pendulum"), seed=1)
    np.testing.assert_array_equal(again.singular_values, others[0].singular_values)


def test_a_structure_prints_itself() -> None:
    text = str(found("spring_pendulum"))
    assert "7 of 8" in text
    assert "mirror      damper.smoothing and -damper.smoothing give the same motion" in text


@pytest.mark.parametrize(
    ("free", "message"),
    [
        (("length", "lenght"), "Did you mean 'length'"),
        (("mass", "mass"), "must name every number once"),
        ((), "names none"),
        (("length[1]",), "has shape"),
    ],
)
def test_wrong_names_are_refused_in_a_sentence(free: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dm.identifiable(dm.systems.pendulum(), free)
