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
    "AbstractCriterion": "analysis",
    "AbstractPart": "model",
    "AbstractReducer": "ensemble",
    "AbstractSystem": "model",
    "Alignment": "analysis",
    "Assembly": "simulation",
    "Axis": "analysis",
    "BandEdges": "analysis",
    "Bifurcation": "analysis",
    "BodyState": "motion",
    "Cache": "_cache",
    "Comparison": "identification",
    "Crosscheck": "derivation",
    "Crossings": "ensemble",
    "Damper": "model",
    "DerivationCheck": "derivation",
    "Diagnosis": "simulation",
    "Disagreement": "derivation",
    "Edge": "analysis",
    "Energy": "motion",
    "EnergyError": "ensemble",
    "Ensemble": "ensemble",
    "Equations": "derivation",
    "Event": "simulation",
    "Explicit": "model",
    "FirstTime": "ensemble",
    "Fit": "identification",
    "Floquet": "analysis",
    "ForcesAlong": "identification",
    "Ftle": "analysis",
    "GaussLegendre4": "simulation",
    "GaussLegendre6": "simulation",
    "Gravity": "model",
    "Growth": "ensemble",
    "Hold": "model",
    "Holonomic": "model",
    "ImplicitMidpoint": "simulation",
    "Instant": "ensemble",
    "Largest": "ensemble",
    "Last": "ensemble",
    "Leaves": "analysis",
    "Lyapunov": "analysis",
    "MeanGrowth": "analysis",
    "Megno": "ensemble",
    "Multipliers": "analysis",
    "Neighbours": "ensemble",
    "OrbitFamily": "analysis",
    "Particle": "model",
    "Path": "simulation",
    "PeriodicOrbit": "analysis",
    "Pfaffian": "model",
    "Pose": "geometry",
    "RESULTS": "_results",
    "Reaction": "motion",
    "Record": "identification",
    "Recorded": "model",
    "Report": "simulation",
    "RigidBody": "model",
    "Sali": "ensemble",
    "Samples": "ensemble",
    "Section": "analysis",
    "SimulationError": "simulation",
    "Smallest": "ensemble",
    "Spread": "analysis",
    "Spring": "model",
    "StabilityMap": "analysis",
    "Status": "_results",
    "Structure": "identification",
    "System": "model",
    "Tournament": "simulation",
    "Trajectory": "simulation",
    "Tumble": "analysis",
    "Tuning": "_tuning",
    "Variational": "simulation",
    "Verdict": "analysis",
    "Violations": "motion",
    "acceleration": "motion",
    "action": "simulation",
    "action_gradient": "simulation",
    "angular_momentum": "motion",
    "as_array": "_checks",
    "assemble": "simulation",
    "band_edges": "analysis",
    "baumgarte": "motion",
    "between": "ensemble",
    "bias": "motion",
    "bifurcation": "analysis",
    "body_states": "motion",
    "cache": "_cache",
    "chained": "geometry",
    "check_derivation": "derivation",
    "compare": "identification",
    "compare_frictions": "identification",
    "constraint_forces": "motion",
    "continue_orbit": "analysis",
    "crosscheck": "derivation",
    "doctor": "simulation",
    "energy": "motion",
    "equations": "derivation",
    "fit": "identification",
    "fixed": "geometry",
    "floquet": "analysis",
    "force": "model",
    "force_curl": "motion",
    "forces_along": "identification",
    "hamilton_equations": "motion",
    "hamiltonian": "motion",
    "identifiable": "identification",
    "inverse_dynamics": "motion",
    "joint": "model",
    "load": "simulation",
    "load_fit": "identification",
    "load_map": "analysis",
    "lyapunov": "analysis",
    "machine": "model",
    "mass_centre": "motion",
    "mass_condition": "motion",
    "mass_matrix": "motion",
    "methods": "simulation",
    "momentum": "motion",
    "motion_between": "simulation",
    "multipliers": "motion",
    "penalty": "motion",
    "periodic_orbit": "analysis",
    "planar": "geometry",
    "poincare": "analysis",
    "power": "motion",
    "prismatic": "geometry",
    "reactions": "motion",
    "read_records": "identification",
    "return_times": "analysis",
    "revolute": "geometry",
    "save": "simulation",
    "simulate": "simulation",
    "spherical": "geometry",
    "stability_map": "analysis",
    "torque": "model",
    "tournament": "simulation",
    "tune_cpu": "_tuning",
    "universal": "geometry",
    "velocity": "motion",
    "violations": "motion",
    "winding_number": "analysis",
    "zoom": "analysis",
}
_ROOMS = (
    "analysis",
    "derivation",
    "ensemble",
    "geometry",
    "identification",
    "model",
    "motion",
    "simulation",
    "systems",
    "testing",
    "viz",
)

__all__ = [*sorted([*_HOMES, *_ROOMS]), "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:
    from . import (
        analysis as analysis,
        derivation as derivation,
        geometry as geometry,
        identification as identification,
        model as model,
        motion as motion,
        simulation as simulation,
        systems as systems,
        testing as testing,
        viz as viz,
    )
    from ._cache import (
        Cache as Cache,
        cache as cache,
    )
    from ._checks import (
        as_array as as_array,
    )
    from ._results import (
        RESULTS as RESULTS,
        Status as Status,
    )
    from ._tuning import (
        Tuning as Tuning,
        tune_cpu as tune_cpu,
    )
    from .analysis import (
        AbstractCriterion as AbstractCriterion,
        Alignment as Alignment,
        Axis as Axis,
        BandEdges as BandEdges,
        Bifurcation as Bifurcation,
        Edge as Edge,
        Floquet as Floquet,
        Ftle as Ftle,
        Leaves as Leaves,
        Lyapunov as Lyapunov,
        MeanGrowth as MeanGrowth,
        Multipliers as Multipliers,
        OrbitFamily as OrbitFamily,
        PeriodicOrbit as PeriodicOrbit,
        Section as Section,
        Spread as Spread,
        StabilityMap as StabilityMap,
        Tumble as Tumble,
        Verdict as Verdict,
        band_edges as band_edges,
        bifurcation as bifurcation,
        continue_orbit as continue_orbit,
        floquet as floquet,
        load_map as load_map,
        lyapunov as lyapunov,
        periodic_orbit as periodic_orbit,
        poincare as poincare,
        return_times as return_times,
        stability_map as stability_map,
        winding_number as winding_number,
        zoom as zoom,
    )
    from .derivation import (
        Crosscheck as Crosscheck,
        DerivationCheck as DerivationCheck,
        Disagreement as Disagreement,
        Equations as Equations,
        check_derivation as check_derivation,
        crosscheck as crosscheck,
        equations as equations,
    )
    from .ensemble import (
        AbstractReducer as AbstractReducer,
        Crossings as Crossings,
        EnergyError as EnergyError,
        Ensemble as Ensemble,
        FirstTime as FirstTime,
        Growth as Growth,
        Instant as Instant,
        Largest as Largest,
        Last as Last,
        Megno as Megno,
        Neighbours as Neighbours,
        Sali as Sali,
        Samples as Samples,
        Smallest as Smallest,
        between as between,
        ensemble as ensemble,
    )
    from .geometry import (
        Pose as Pose,
        chained as chained,
        fixed as fixed,
        planar as planar,
        prismatic as prismatic,
        revolute as revolute,
        spherical as spherical,
        universal as universal,
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
        load_fit as load_fit,
        read_records as read_records,
    )
    from .model import (
        AbstractPart as AbstractPart,
        AbstractSystem as AbstractSystem,
        Damper as Damper,
        Explicit as Explicit,
        Gravity as Gravity,
        Hold as Hold,
        Holonomic as Holonomic,
        Particle as Particle,
        Pfaffian as Pfaffian,
        Recorded as Recorded,
        RigidBody as RigidBody,
        Spring as Spring,
        System as System,
        force as force,
        joint as joint,
        machine as machine,
        torque as torque,
    )
    from .motion import (
        BodyState as BodyState,
        Energy as Energy,
        Reaction as Reaction,
        Violations as Violations,
        acceleration as acceleration,
        angular_momentum as angular_momentum,
        baumgarte as baumgarte,
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
        penalty as penalty,
        power as power,
        reactions as reactions,
        velocity as velocity,
        violations as violations,
    )
    from .simulation import (
        Assembly as Assembly,
        Diagnosis as Diagnosis,
        Event as Event,
        GaussLegendre4 as GaussLegendre4,
        GaussLegendre6 as GaussLegendre6,
        ImplicitMidpoint as ImplicitMidpoint,
        Path as Path,
        Report as Report,
        SimulationError as SimulationError,
        Tournament as Tournament,
        Trajectory as Trajectory,
        Variational as Variational,
        action as action,
        action_gradient as action_gradient,
        assemble as assemble,
        doctor as doctor,
        load as load,
        methods as methods,
        motion_between as motion_between,
        save as save,
        simulate as simulate,
        tournament as tournament,
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
