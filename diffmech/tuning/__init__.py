"""How XLA compiles for this computer: options on trial, and compiled programs kept on disk."""

from ._cache import (
    Cache as Cache,
    cache as cache,
    cache_line as cache_line,
    clear_cache as clear_cache,
    current_cache as current_cache,
)
from ._host import package_version as package_version
from ._tune import (
    Tuning as Tuning,
    current_tuning as current_tuning,
    is_tuned as is_tuned,
    tune_cpu as tune_cpu,
    tuning_line as tuning_line,
)
