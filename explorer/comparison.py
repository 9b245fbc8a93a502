"""A picture pinned as a reference, and how a later one differs from it; numpy alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from explorer.params import Params
from explorer.result import Array, Result, Spectrum

if TYPE_CHECKING:
    from explorer.session import Origin

WEIGHTS = ("softmax", "rpc", "model")
"""Maps whose rows add up to 1, which can be subtracted from each other."""


@dataclass(frozen=True, eq=False)
class Reference:
    """A pinned picture.

    Attributes
    ----------
    result : Result
        Without the head's tensors and the pursuit's iterations, which are not compared.
    label : str
        Source, place and level.
    origin : Origin
        Where its source can be opened again.
    """

    result: Result
    label: str
    origin: Origin


def pinned(result: Result, origin: Origin) -> Reference:
    """Return `result`, whose source comes from `origin`, as a reference."""
    bare = replace(result, head=None, moved_head=None, decomposition=None)
    return Reference(bare, label_of(result), origin)


def label_of(result: Result) -> str:
    """Return source, layer, head and level, and what else tells one picture from another."""
    p = result.params
    parts = [result.source, f"layer {p.layer} head {p.head}"]
    if p.input.index:
        parts.append(f"input {p.input.index}")
    if result.query is not None:
        parts.append(f"query {result.query}")
    parts.append(_level(p))
    return " · ".join(parts)


def _level(p: Params) -> str:
    if p.level == 0:
        return "clean"
    if p.contamination == "gaussian":
        return f"noise {p.level:.3g} deviations"
    if p.contamination == "blur":
        return f"blur {p.level:.3g} px"
    return f"{p.contamination} {100 * p.level:.3g} %"


def why_no_difference(reference: Result, present: Result) -> str:
    """Return why the two maps cannot be subtracted, in a sentence; empty: they can."""
    before, now = len(reference.map), len(present.map)
    if before != now:
        return (
            f"The pinned picture has {before} tokens and this one {now}: a difference needs the same tokens. "
            "They are shown beside each other."
        )
    one, other = reference.params.variant, present.params.variant
    if one in WEIGHTS and other in WEIGHTS:
        return ""
    if one != other:
        return (
            f"The pinned map is “{one}” and this one “{other}”: they are not of one kind. Choose the same "
            "map in Explore."
        )
    if one == "gram" and reference.map_formula != present.map_formula:
        return "The two Gram matrices are in different powers of ten: read their spectra instead."
    return ""


def same_axes(reference: Result, present: Result) -> bool:
    """Return whether both have the same principal axes: of the same clean keys, which have one spectrum."""
    before, now = reference.clean, present.clean
    return (
        reference.source == present.source
        and np.array_equal(before.log10_values, now.log10_values)
        and (before.vectors.shape != now.vectors.shape or np.array_equal(before.vectors, now.vectors))
    )


def why_not_one_plane(reference: Result, present: Result) -> str:
    """Return why the two projections cannot lie in one plane, in a sentence; empty: they can."""
    before, now = reference.projection, present.projection
    if not same_axes(reference, present):
        return "Other clean keys, other axes: read each plane by itself."
    if before is not None and now is not None and before.axes != now.axes:
        return "They show different principal axes: choose the same."
    if reference.params.centred != present.params.centred:
        return "One has the mean map subtracted: choose the same."
    return ""


def same_tokens(reference: Result, present: Result) -> np.ndarray:
    """Return for each row whether it is the same token in both, by its text and place."""
    words = [[token.text for token in result.tokens] for result in (reference, present)]
    alike = np.array([a == b for a, b in zip(*words, strict=False)], dtype=np.bool_)
    if len(alike) < len(present.map):
        alike = np.ones(len(present.map), np.bool_)
    return alike & (reference.positions == present.positions)


def difference(reference: Result, present: Result) -> Array:
    """Return the present map less the pinned one, (N, N); NaN where tokens differ or a mask hides a key."""
    alike = same_tokens(reference, present)
    return np.where(alike[:, None] & alike[None, :], present.map - reference.map, np.nan)


@dataclass(frozen=True, slots=True)
class Row:
    """One number of both pictures; NaN where there is none."""

    name: str
    pinned: float
    present: float

    @property
    def difference(self) -> float:
        """Present less pinned."""
        return self.present - self.pinned


def rows(reference: Result, present: Result) -> list[Row]:
    """Return every number that stands for a whole picture, of both."""
    before, now = numbers(reference), numbers(present)
    return [Row(name, before[name], now[name]) for name in now]


def numbers(result: Result) -> dict[str, float]:
    """Return the numbers that stand for a whole picture, by name."""
    errors, pursuit, spectrum = result.errors, result.pursuit, result.moved
    missing = math.nan
    return {
        "e_softmax": errors.softmax if errors else missing,
        "e_RPC": errors.rpc if errors else missing,
        "RPC to clean softmax": errors.rpc_to_softmax if errors else missing,
        "uniform attention": errors.uniform if errors else missing,
        "softmax, clipped keys": errors.clipped if errors else missing,
        "residual": float(pursuit.residuals[-1]) if pursuit else missing,
        "precision of S": _or_nan(pursuit.precision if pursuit else None),
        "recall of S": _or_nan(pursuit.recall if pursuit else None),
        "rank": _or_nan(spectrum.rank),
        "effective rank": effective_rank(spectrum),
        "share of the first axis": float(spectrum.share[0]) if len(spectrum.share) else missing,
        "log₁₀ γ₁": float(spectrum.log10_values[0]) if len(spectrum.log10_values) else missing,
        "entropy of the map": entropy(result),
        "largest of the map": float(np.fmax.reduce(result.map, axis=None)) if result.map.size else missing,
        "log₁₀ mean ‖φ(q)‖²": result.log10_norm_phi,
        "log₁₀ mean ‖output‖²": result.log10_norm_output,
        "log₁₀ error on the axes": result.log10_error_axes,
        "log₁₀ |learned error|": result.log10_error_learned,
        "tokens": float(len(result.positions)),
    }


def effective_rank(spectrum: Spectrum) -> float:
    """Return 1/Σ share², over how many axes the variance is spread; NaN where only some axes are known."""
    whole = float(spectrum.share.sum())
    if spectrum.rank is None or whole <= 0:
        return math.nan
    return whole**2 / float(np.square(spectrum.share).sum())


def entropy(result: Result) -> float:
    """Return the mean over queries of the map's entropy over its largest possible; NaN for signed maps."""
    if result.params.variant not in WEIGHTS:
        return math.nan
    seen = np.isfinite(result.map).sum(1)
    weights = np.where(np.isfinite(result.map), result.map, 0.0)
    logs = np.log(np.where(weights > 0, weights, 1.0))
    choosing = seen > 1
    if not choosing.any():
        return math.nan
    return float((-(weights * logs).sum(1)[choosing] / np.log(seen[choosing])).mean())


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)
