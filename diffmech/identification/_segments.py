"""Records cut into segments, and their samples dealt out to them."""

from typing import NamedTuple

import numpy as np

from ._record import Record


class Segments(NamedTuple):
    """Segments of all records, one after the other; L of them.

    Attributes:
        record: which record each belongs to, shape (L,).
        start, end: [s], shape (L,); a segment ends where the next one of its record starts.
    """

    record: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def windows(self, length: int) -> np.ndarray:
        """Stretches of at most `length` neighbouring segments of one record, shape (W, length).

        Indices of segments; −1 fills up stretches that are shorter.
        """
        rows = []
        for record in np.unique(self.record):
            here = np.flatnonzero(self.record == record)
            length_here = min(length, len(here))
            for first in range(0, len(here), length_here):
                part = here[first : first + length_here]
                rows.append(np.pad(part, (0, length - len(part)), constant_values=-1))
        return np.array(rows)

    @property
    def longest(self) -> int:
        """The largest number of segments of one record."""
        return int(np.max(np.bincount(self.record)))


class Dealt(NamedTuple):
    """Samples by segment: K entries each, of which some stay empty.

    Attributes:
        times: [s], shape (L, K), increasing; NaN where empty.
        values, weights: what was measured, and 1/σ for each, shape (L, K, c); the weight is 0
            where nothing was.
    """

    times: np.ndarray
    values: np.ndarray
    weights: np.ndarray


def cut(records: tuple[Record, ...], length: float, before: float, after: float) -> Segments:
    """Cut records into segments of about `length` [s]; `before` and `after` are added to each."""
    owner, starts, ends = [], [], []
    for i, record in enumerate(records):
        first, last = float(record.ts[0]) - before, float(record.ts[-1]) + after
        count = max(round((last - first) / length), 1)
        edges = np.linspace(first, last, count + 1)
        edges[1:-1] = _on_samples(edges[1:-1], record.ts)
        edges = np.unique(edges)
        owner += [i] * (len(edges) - 1)
        starts += list(edges[:-1])
        ends += list(edges[1:])
    return Segments(np.array(owner), np.array(starts), np.array(ends))


def _on_samples(edges: np.ndarray, ts: np.ndarray) -> np.ndarray:
    """Each moved to the nearest sample, where the state is known best."""
    i = np.clip(np.searchsorted(ts, edges), 1, len(ts) - 1)
    return np.where(edges - ts[i - 1] < ts[i] - edges, ts[i - 1], ts[i])


def deal(
    records: tuple[Record, ...],
    segments: Segments,
    noise: np.ndarray,
    delays: np.ndarray | None = None,
    samples: int = 0,
) -> Dealt:
    """Give every sample to the segment that it falls into; `noise` is σ of each channel, (c,).

    A channel with a delay δ shows what was δ earlier: its samples are at t − δ. Every segment has
    room for `samples` at least.
    """
    channels = len(noise)
    delays = np.zeros(channels) if delays is None else delays
    groups = [np.flatnonzero(delays == delay) for delay in np.unique(delays)]
    parts = []
    for r, record in enumerate(records):
        of_record = np.flatnonzero(segments.record == r)
        starts, last = segments.start[of_record], segments.end[of_record[-1]]
        measured = np.asarray(record.values)
        weights = np.ones_like(measured) if record.weights is None else np.asarray(record.weights)
        for group in groups:
            values, sizes = np.zeros_like(measured), np.zeros_like(measured)
            here = np.isfinite(measured[:, group])
            values[:, group] = np.where(here, measured[:, group], 0.0)
            sizes[:, group] = np.where(here, weights[:, group] / noise[group], 0.0)
            times = np.clip(np.asarray(record.ts) - delays[group[0]], starts[0], last)
            nth = np.searchsorted(starts, times, "right") - 1
            lane = of_record[np.clip(nth, 0, len(of_record) - 1)]
            seen = np.any(here, axis=1)
            parts.append((lane[seen], times[seen], values[seen], sizes[seen]))
    lanes, times, values, sizes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.lexsort((times, lanes))
    lanes, times, values, sizes = lanes[order], times[order], values[order], sizes[order]
    counts = np.bincount(lanes, minlength=len(segments.start))
    within = np.arange(len(lanes)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (len(counts), max(int(np.max(counts)), samples))
    dealt = Dealt(np.full(shape, np.nan), *np.zeros((2, *shape, channels)))
    dealt.times[lanes, within] = times
    dealt.values[lanes, within] = values
    dealt.weights[lanes, within] = sizes
    return dealt
