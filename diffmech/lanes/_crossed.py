"""The function of a section: its zeros are what motions cross."""

from abc import abstractmethod

import equinox as eqx

from .._typing import Params, Scalar, Truth, Vector


class AbstractCrossed(eqx.Module):
    """f(q, q̇, t, params), a number that is zero on a section, as `crossings` takes it.

    Written for one motion with ordinary arrays; q and q̇ of shape (n,).
    """

    @abstractmethod
    def __call__(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
        """f at a state."""

    @abstractmethod
    def pace(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
        """How often f must be looked at [1/s]: steps are at most 1/pace long; 0 leaves them."""

    def counts(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> Truth | bool:
        """Whether a zero at this state lies on the section; by default all do."""
        del q, qd, t, params
        return True


def all_count(crossed: AbstractCrossed) -> bool:
    """Whether its class leaves it at that all zeros count."""
    return type(crossed).counts is AbstractCrossed.counts
