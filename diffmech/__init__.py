"""diffmech: write a Lagrangian; get the motion, and the reasons to believe it.

    import diffmech as dm

    boot = dm.systems.babyboot()
    motion = dm.simulate(boot, *boot.starts["chaotic"], duration=10)
    print(motion)

Importing this package loads nothing heavy and turns on 64-bit floats in JAX, unless
`JAX_ENABLE_X64` is set already or `DIFFMECH_X64=0` asks for JAX's default.
"""

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

_HOMES = {
    "AbstractSystem": "model",
    "ActionPath": "simulation",
    "Assembly": "assembly",
    "Axis": "maps",
    "BandEdges": "orbits",
    "Bifurcation": "sections",
    "BodyState": "motion",
    "Cache": "tuning",
    "Comparison": "identification",
    "Crosscheck": "crosschecks",
    "DerivationCheck": "derivation",
    "Diagnosis": "assembly",
    "Disagreement": "crosschecks",
    "Energy": "motion",
    "Ensemble": "lanes",
    "Equations": "formulas",
    "Event": "simulation",
    "Explicit": "model",
    "Fit": "identification",
    "Floquet": "orbits",
    "ForcesAlong": "identification",
    "Hold": "model",
    "Holonomic": "model",
    "Lyapunov": "chaos",
    "MapEdge": "maps",
    "OrbitFamily": "orbits",
    "PeriodicOrbit": "orbits",
    "Pfaffian": "model",
    "Plane": "sections",
    "PoincareSection": "sections",
    "RESULTS": "_results",
    "Reaction": "motion",
    "Record": "identification",
    "Recorded": "model",
    "Report": "simulation",
    "SimulationError": "simulation",
    "StabilityMap": "maps",
    "Status": "_results",
    "Strobe": "sections",
    "Structure": "identification",
    "Surface": "sections",
    "System": "model",
    "Tournament": "simulation",
    "Trajectory": "simulation",
    "Tuning": "tuning",
    "Verdict": "maps",
    "Violations": "motion",
    "acceleration": "motion",
    "action": "simulation",
    "action_gradient": "simulation",
    "angular_momentum": "motion",
    "as_array": "_checks",
    "assemble": "assembly",
    "band_edges": "orbits",
    "bias": "motion",
    "bifurcation": "sections",
    "body_states": "motion",
    "cache": "tuning",
    "check_derivation": "derivation",
    "compare": "identification",
    "compare_frictions": "identification",
    "constraint_forces": "motion",
    "continue_orbit": "orbits",
    "crosscheck": "crosschecks",
    "doctor": "assembly",
    "energy": "motion",
    "ensemble": "lanes",
    "equations": "formulas",
    "fit": "identification",
    "floquet": "orbits",
    "force_curl": "motion",
    "forces_along": "identification",
    "hamilton_equations": "motion",
    "hamiltonian": "motion",
    "identifiable": "identification",
    "inverse_dynamics": "motion",
    "joint": "model",
    "load": "_load",
    "lyapunov": "chaos",
    "machine": "model",
    "mass_centre": "motion",
    "mass_condition": "motion",
    "mass_matrix": "motion",
    "methods": "simulation",
    "momentum": "motion",
    "motion_between": "simulation",
    "multipliers": "motion",
    "periodic_orbit": "orbits",
    "poincare": "sections",
    "power": "motion",
    "reactions": "motion",
    "read_records": "identification",
    "return_times": "sections",
    "simulate": "simulation",
    "stability_map": "maps",
    "tournament": "simulation",
    "tune_cpu": "tuning",
    "velocity": "motion",
    "violations": "motion",
    "winding_number": "sections",
    "zoom": "maps",
}
_ROOMS = (
    "assembly",
    "chaos",
    "criteria",
    "crosschecks",
    "derivation",
    "formulas",
    "geometry",
    "identification",
    "joints",
    "lanes",
    "maps",
    "model",
    "motion",
    "orbits",
    "parts",
    "reducers",
    "scalars",
    "sections",
    "simulation",
    "solvers",
    "systems",
    "testing",
    "tuning",
    "viz",
)

__all__ = [*sorted([*_HOMES, *_ROOMS]), "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:
    from . import (
        assembly as assembly,
        chaos as chaos,
        criteria as criteria,
        crosschecks as crosschecks,
        derivation as derivation,
        formulas as formulas,
        geometry as geometry,
        identification as identification,
        joints as joints,
        lanes as lanes,
        maps as maps,
        model as model,
        motion as motion,
        orbits as orbits,
        parts as parts,
        reducers as reducers,
        scalars as scalars,
        sections as sections,
        simulation as simulation,
        solvers as solvers,
        systems as systems,
        testing as testing,
        tuning as tuning,
        viz as viz,
    )
    from ._checks import (
        as_array as as_array,
    )
    from ._load import (
        load as load,
    )
    from ._results import (
        RESULTS as RESULTS,
        Status as Status,
    )
    from .assembly import (
        Assembly as Assembly,
        Diagnosis as Diagnosis,
        assemble as assemble,
        doctor as doctor,
    )
    from .chaos import (
        Lyapunov as Lyapunov,
        lyapunov as lyapunov,
    )
    from .crosschecks import (
        Crosscheck as Crosscheck,
        Disagreement as Disagreement,
        crosscheck as crosscheck,
    )
    from .derivation import (
        DerivationCheck as DerivationCheck,
        check_derivation as check_derivation,
    )
    from .formulas import (
        Equations as Equations,
        equations as equations,
    )
    from .identification import (
        Comparison as Comparison,
        Fit as Fit,
        ForcesAlong as ForcesAlong,
        Record as Record,
        Structure as Structure,
        compare as compare,
        compare_frictions as compare_frictions,
        fit as fit,
        forces_along as forces_along,
        identifiable as identifiable,
        read_records as read_records,
    )
    from .lanes import (
        Ensemble as Ensemble,
        ensemble as ensemble,
    )
    from .maps import (
        Axis as Axis,
        MapEdge as MapEdge,
        StabilityMap as StabilityMap,
        Verdict as Verdict,
        stability_map as stability_map,
        zoom as zoom,
    )
    from .model import (
        AbstractSystem as AbstractSystem,
        Explicit as Explicit,
        Hold as Hold,
        Holonomic as Holonomic,
        Pfaffian as Pfaffian,
        Recorded as Recorded,
        System as System,
        joint as joint,
        machine as machine,
    )
    from .motion import (
        BodyState as BodyState,
        Energy as Energy,
        Reaction as Reaction,
        Violations as Violations,
        acceleration as acceleration,
        angular_momentum as angular_momentum,
        bias as bias,
        body_states as body_states,
        constraint_forces as constraint_forces,
        energy as energy,
        force_curl as force_curl,
        hamilton_equations as hamilton_equations,
        hamiltonian as hamiltonian,
        inverse_dynamics as inverse_dynamics,
        mass_centre as mass_centre,
        mass_condition as mass_condition,
        mass_matrix as mass_matrix,
        momentum as momentum,
        multipliers as multipliers,
        power as power,
        reactions as reactions,
        velocity as velocity,
        violations as violations,
    )
    from .orbits import (
        BandEdges as BandEdges,
        Floquet as Floquet,
        OrbitFamily as OrbitFamily,
        PeriodicOrbit as PeriodicOrbit,
        band_edges as band_edges,
        continue_orbit as continue_orbit,
        floquet as floquet,
        periodic_orbit as periodic_orbit,
    )
    from .sections import (
        Bifurcation as Bifurcation,
        Plane as Plane,
        PoincareSection as PoincareSection,
        Strobe as Strobe,
        Surface as Surface,
        bifurcation as bifurcation,
        poincare as poincare,
        return_times as return_times,
        winding_number as winding_number,
    )
    from .simulation import (
        ActionPath as ActionPath,
        Event as Event,
        Report as Report,
        SimulationError as SimulationError,
        Tournament as Tournament,
        Trajectory as Trajectory,
        action as action,
        action_gradient as action_gradient,
        methods as methods,
        motion_between as motion_between,
        simulate as simulate,
        tournament as tournament,
    )
    from .tuning import (
        Cache as Cache,
        Tuning as Tuning,
        cache as cache,
        tune_cpu as tune_cpu,
    )

    __version__: str


def _turn_on_float64() -> None:
    if "JAX_ENABLE_X64" in os.environ or os.environ.get("DIFFMECH_X64", "1") == "0":
        return
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", True)
    else:
        # Through the environment, so that importing diffmech does not import JAX.
        os.environ["JAX_ENABLE_X64"] = "1"


_turn_on_float64()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("diffmech")
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
