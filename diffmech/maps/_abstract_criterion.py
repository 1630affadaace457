"""What a criterion is: the protocol that every one follows, and its defaults."""

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import numpy as np

from .._suggest import quoted, suggestion
from ..lanes import AbstractReducer
from ..model import AbstractSystem
from ._verdicts import Verdict


class CriterionWords(NamedTuple):
    """What a map says of its criterion; kept in its file, where the criterion itself is not.

    Attributes:
        measures: the label of the measured number on an axis, with its unit.
        stable: what "stable" means by it; "" if it does not say.
        range: of the measured number, as pictures show it; None means from the least to the
            largest there is.
    """

    measures: str = ""
    stable: str = ""
    range: tuple[float, float] | None = None


class AbstractCriterion(eqx.Module):
    """When a motion counts as stable: one number of every motion, and a verdict on it.

    A map starts the `copies` of each point, keeps of each motion what the `reducers` keep, makes
    one number of that by `measure`, and a `Verdict` of the number by `judge`. Three methods must
    be written, the rest has a default:

        reducers(system) -> {name: reducer}       what is kept of each motion
        measure(values, duration) -> (points,)    the number; leaves of values: (points, k, ...)
        judge(measured, duration) -> (points,)    as `Verdict`, such as `by_limits` gives

        copies(system) -> (k, 2n)      starts at each point, as (δq, δq̇) from it; the point alone
        word                           its name in records and files; the class's in small letters
        measures                       label of the number on an axis, with its unit; the word
        sentence                       what "stable" means by it; ""
        value_range(duration)          (low, high) of the number in pictures; None: as it comes
        describe() -> {name: value}    what tells it from others of its class; its fields
        from_words(words, system, number)    as `word:name=text` says; fields that are numbers

    One of your own:

        class Climbs(dm.criteria.AbstractCriterion):
            height: float  # [m]
            measures = "largest height [m]"

            def reducers(self, system):
                return {"top": dm.reducers.Largest(lambda q, qd, t, params: -jnp.cos(q[0]))}

            def measure(self, values, duration):
                return values["top"][:, 0]

            def judge(self, measured, duration):
                return dm.criteria.by_limits(measured, self.height, self.height)

    One of the library is a file beside these, and a line in `criteria.CATALOGUE`.
    """

    word: ClassVar[str] = ""
    measures: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "word" not in cls.__dict__:
            cls.word = cls.__name__.lower()

    def copies(self, system: AbstractSystem) -> np.ndarray:
        """Starts at each point, as (δq, δq̇) from it, shape (k, 2n); by default the point alone."""
        return np.zeros((1, 2 * system.n))

    @abstractmethod
    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """What is kept of each motion, by name; a name must have no blank in it."""

    @abstractmethod
    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """A number for each point, shape (points,), of what was kept, shape (points, k, ...)."""

    @abstractmethod
    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """A `Verdict` for each number, shape (points,)."""

    @property
    def sentence(self) -> str:
        """What "stable" means by it, to be read after that word; "" says nothing."""
        return ""

    def value_range(self, duration: float) -> tuple[float, float] | None:
        """The range of the number in pictures; None means from the least to the largest."""
        del duration
        return None

    def describe(self) -> dict[str, Any]:
        """Numbers and texts that tell it from others of its class, as JSON can hold them.

        Maps are resumed only with an equal description. By default the fields that are not None.
        """
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }

    @classmethod
    def from_words(
        cls, words: Mapping[str, str], system: AbstractSystem, number: Callable[..., float]
    ) -> "AbstractCriterion":
        """The criterion that `word:name=text,name=text` asks for.

        `number(text, name, unit, rate=False)` reads a quantity in the SI unit that it should have,
        "1" for a pure number. By default every field that is a `float` may be given, as such.

        Raises:
            ValueError: a name that is unknown, or one that is missing.
        """
        del system
        names = [field.name for field in dataclasses.fields(cls) if field.type is float]
        for name in words:
            require_known(name, f"number of {cls.word}", names)
        return cls(**{name: number(text, name, "1") for name, text in words.items()})


def described(criterion: AbstractCriterion) -> dict[str, Any]:
    """Its word and its description: equal criteria have equal ones."""
    return {"criterion": criterion.word, **criterion.describe()}


def words_of(criterion: AbstractCriterion, duration: float) -> CriterionWords:
    """What a map of motions of `duration` [s] says of its criterion."""
    label = criterion.measures or criterion.word
    return CriterionWords(label, criterion.sentence, criterion.value_range(duration))


def by_limits(measured: np.ndarray, stable: float, unstable: float) -> np.ndarray:
    """Stable up to one number, unstable from another on, undecided between, and where it is NaN.

        STABLE: x ≤ stable,   UNSTABLE: x ≥ unstable,   UNDECIDED: all else

    Args:
        measured: x, shape (points,), in any unit.
        stable, unstable: the two numbers, in the same unit. Where both hold, it is UNSTABLE: give
            `stable` ≤ `unstable`.

    Returns:
        A `Verdict` for each, as whole numbers of 8 bits, shape (points,).
    """
    verdicts = np.full(measured.shape, Verdict.UNDECIDED, np.int8)
    verdicts[measured <= stable] = Verdict.STABLE
    verdicts[measured >= unstable] = Verdict.UNSTABLE
    return verdicts


def require_known(name: str, kind: str, options: Iterable[str]) -> None:
    """Refuse a name that is not among the valid ones."""
    options = list(options)
    if name not in options:
        raise ValueError(f"there is no {kind} {quoted(name)}.{suggestion(name, options)}")
