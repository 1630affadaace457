"""Machines of the same proportions: their numbers in other units of mass, length and time."""

from typing import Any

import jax
import numpy as np

from .._units import dimension
from ..model import AbstractSystem, parameter_names, parameter_units


def has_known_units(system: AbstractSystem) -> bool:
    """Whether all parameters can be turned into other units."""
    return all(dimension(unit) is not None for unit in parameter_units(system).values())


def in_other_units(
    system: AbstractSystem, params: Any, count: int, rng: np.random.Generator, change: float
) -> Any:
    """Parameters of machines of the same proportions, shape (count, ...) each.

    A number of dimension kgᵃ mᵇ sᶜ is multiplied by μᵃ λᵇ τᶜ, with μ, λ, τ drawn for every machine
    within 1 ± `change`.
    """
    units = parameter_units(system)
    scales = rng.uniform(1 - change, 1 + change, (count, 3))
    leaves, structure = jax.tree.flatten(params)
    many = []
    for name, leaf in zip(parameter_names(params), leaves, strict=True):
        powers = np.array(dimension(units[name]), float)
        factor = np.prod(scales**powers, axis=1)
        many.append(np.multiply.outer(factor, np.asarray(leaf)))
    return jax.tree.unflatten(structure, many)
