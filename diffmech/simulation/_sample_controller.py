"""Steps that end on samples.

The interpolants that come with Runge-Kutta methods are ten to ten thousand times less accurate
than their steps when the steps are long. So a step that would pass a sample ends on one, and one
that leaves samples behind is shortened: the numbers a user sees are then as good as the steps.
"""

from typing import Any

import diffrax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._checks import is_traced
from .._typing import AnyArray

MOST_PASSED = 4  # samples a single step may cover
_SHORTENED = 2 / 3  # of the step it could take; interpolation errors fall by (2/3)⁸ = 1/26
_SUCCESS: Any = diffrax.RESULTS.successful
_CLIPPED = 0.999  # a step below this part of the proposed one was cut short


class LandOnSamples(diffrax.AbstractStepSizeController):
    """A step-size controller whose steps end on sample times wherever they would pass any.

    Its state is the inner controller's, the step that it proposed before landing, and the index
    of the first sample ahead. After a landing the proposed step is taken up again.
    """

    controller: diffrax.AbstractStepSizeController
    padded_ts: AnyArray  # the samples, then `MOST_PASSED` times infinity

    @classmethod
    def over(cls, controller: diffrax.AbstractStepSizeController, ts: AnyArray) -> "LandOnSamples":
        """Around `controller`, for the increasing sample times `ts`."""
        array = jnp if is_traced(ts) else np
        beyond = np.full(MOST_PASSED, np.inf, ts.dtype)
        return cls(controller, array.concatenate([ts, beyond]))

    def wrap(self, direction: Any) -> "LandOnSamples":
        # Samples are given forwards, and `simulate` runs forwards only.
        return LandOnSamples(self.controller.wrap(direction), self.padded_ts)

    def init(
        self,
        terms: Any,
        t0: Any,
        t1: Any,
        y0: AnyArray,
        dt0: Any,
        args: Any,
        func: Any,
        error_order: Any,
    ) -> tuple[Any, Any]:
        first, inner = self.controller.init(terms, t0, t1, y0, dt0, args, func, error_order)
        ahead = jnp.asarray(1, jnp.int32)  # the sample 0 is the start
        return self._land(t0, first - t0, ahead), (inner, first - t0, ahead)

    def _land(self, t: Any, step: Any, ahead: AnyArray) -> Any:
        """The end of the next step."""
        window = lax.dynamic_slice(self.padded_ts, (ahead,), (MOST_PASSED,))
        passed = jnp.sum(window <= t + _SHORTENED * step)
        target = window[jnp.maximum(passed, 1) - 1]
        return jnp.where(window[0] <= t + step, target, t + step)

    def adapt_step_size(
        self,
        t0: Any,
        t1: Any,
        y0: AnyArray,
        y1_candidate: AnyArray,
        args: Any,
        y_error: Any,
        error_order: Any,
        controller_state: Any,
    ) -> tuple[Any, Any, Any, Any, Any, Any]:
        inner, proposed, ahead = controller_state
        keep, t, next_t, made_jump, inner, result = self.controller.adapt_step_size(
            t0, t1, y0, y1_candidate, args, y_error, error_order, inner
        )
        step = next_t - t
        landed = keep & (t1 - t0 < _CLIPPED * proposed)
        step = jnp.where(landed, jnp.maximum(step, proposed), step)
        window = lax.dynamic_slice(self.padded_ts, (ahead,), (MOST_PASSED,))
        ahead = ahead + jnp.sum(window <= t).astype(jnp.int32)
        # A step may be tiny because it landed; only a failed one that is tiny is so for good.
        unrecoverable: Any = diffrax.RESULTS.dt_min_reached
        # Nor does NaN recover.
        result = diffrax.RESULTS.where(jnp.isfinite(step), result, unrecoverable)
        result = diffrax.RESULTS.where(keep, _SUCCESS, result)
        return keep, t, self._land(t, step, ahead), made_jump, (inner, step, ahead), result
