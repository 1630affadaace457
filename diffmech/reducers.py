"""What an ensemble keeps of each motion: `dm.ensemble(..., reduce=dm.reducers.Largest(...))`."""

from .lanes import (
    AbstractReducer as AbstractReducer,
    AbstractSample as AbstractSample,
    Crossings as Crossings,
    EnergyError as EnergyError,
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
)
