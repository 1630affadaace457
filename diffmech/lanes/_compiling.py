"""How long JAX has been tracing and compiling, by its own count."""

from functools import cache

import jax.monitoring

_KINDS = ("jaxpr_to_mlir_module_duration", "backend_compile_duration")
_TRACING = "jaxpr_trace_duration"


class _Count:
    """Seconds so far. Traces nest, so that only the longest since the last compilation counts."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._trace = 0.0

    def hear(self, event: str, duration_secs: float, **_: str | int) -> None:
        if event.endswith(_TRACING):
            self._trace = max(self._trace, duration_secs)
        elif event.endswith(_KINDS):
            self.seconds += duration_secs + self._trace
            self._trace = 0.0


@cache
def _count() -> _Count:
    count = _Count()
    jax.monitoring.register_event_duration_secs_listener(count.hear)
    return count


def compiling_seconds() -> float:
    """Seconds of tracing and compiling in this process since the first call of this function."""
    return _count().seconds
