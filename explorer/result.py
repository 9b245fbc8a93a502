"""What an evaluation gives: numpy arrays with their meaning, ready to be drawn, exported or compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.detail import Decomposition
from explorer.params import Params

if TYPE_CHECKING:
    from explorer.models.base import Head, Token

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KernelHealth:
    """How far the kernel of one set of keys is from what floating point can hold.

    Attributes
    ----------
    largest_logit : float
        max_i τ k_i·k_i, which no τ k_i·k_j exceeds: the logarithm of the kernel's largest value.
    over_half : int
        Tokens with τ k·k above 11.09, whose kernel value half precision cannot hold (65504).
    rank_single, rank_half : int or None
        Eigenvalues of K̃ that the tolerance eps·N·‖K_φ‖ of float32 and of float16 would leave; None where
        only the leading ones were computed.
    clipped : int or None
        Eigenvalues that rounding made negative; they are taken as 0.
    gaps : ndarray, shape (m,)
        Distance of γ_d to its nearer neighbour over the tolerance in use, of the eigenvectors shown; at
        1 and under their vectors are not identifiable.
    """

    largest_logit: float
    over_half: int
    rank_single: int | None
    rank_half: int | None
    clipped: int | None
    gaps: Array


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenpairs of the centred key Gram matrix K̃ (mathematics: K̃ a_d = γ_d a_d).

    Attributes
    ----------
    log10_values : ndarray, shape (r,)
        log₁₀ γ_d, descending, those above the numerical tolerance only.
    share : ndarray, shape (r,)
        γ_d over the trace of K̃.
    vectors : ndarray, shape (N, m)
        The first m unit eigenvectors a_d, the entry of largest magnitude positive.
    identifiable : ndarray of bool, shape (m,)
        False where the gap to a neighbour is below the tolerance: any rotation of those is as good.
    log10_tolerance : float
        log₁₀ of eps·N·‖K_φ‖, under which nothing is shown.
    rank : int or None
        How many eigenvalues are above the tolerance; None when only the leading ones were computed.
    exact : bool
        False for the warm-started vectors of a drag.
    health : KernelHealth or None
    """

    log10_values: Array
    share: Array
    vectors: Array
    identifiable: Bools
    log10_tolerance: float
    rank: int | None
    exact: bool
    health: KernelHealth | None = None


@dataclass(frozen=True, eq=False)
class Projection:
    """Positions on two principal axes of the *clean* keys, each (N, 2), in units of 10^log10_unit.

    Attributes
    ----------
    queries : ndarray, shape (N, 2)
        ⟨φ(q_i), u_d⟩, which is attention with the prescribed values V*, exactly.
    keys : ndarray, shape (N, 2)
        ⟨φ(k_j), u_d⟩.
    moved_queries : ndarray, shape (N, 2)
        What attention over the contaminated keys returns with the same V*, in place of the projection.
    moved_keys : ndarray, shape (N, 2)
        ⟨φ(k'_j), u_d⟩: the contaminated keys on the same axes.
    axes : (int, int)
        The principal axes, from 0.
    log10_unit : float
        The common power of ten taken out.
    leading : ndarray, shape (4, N, m), or None
        The same four on all leading axes that are known, in the same unit.
    """

    queries: Array
    keys: Array
    moved_queries: Array
    moved_keys: Array
    axes: tuple[int, int]
    log10_unit: float
    leading: Array | None = None

    def in_unit(self, exponent: int) -> Projection:
        """Return the same positions in units of 10^`exponent`."""
        factor = 10.0 ** (self.log10_unit - exponent)
        return Projection(
            self.queries * factor, self.keys * factor, self.moved_queries * factor, self.moved_keys * factor,
            self.axes, float(exponent), None if self.leading is None else self.leading * factor,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Errors:
    """Relative errors of the head's output, ‖h − h_ref‖ / ‖h_ref‖ over all tokens.

    Attributes
    ----------
    softmax, rpc : float
        Contaminated against the same attention's own clean output.
    rpc_to_softmax : float
        Contaminated RPC against the clean *softmax* output.
    uniform, clipped : float
        References: the mean of the values, and softmax on clipped keys, against the clean softmax output.
    softmax_by_token, rpc_by_token : ndarray, shape (N,)
        ‖h_i − h_ref,i‖ over the root mean square of ‖h_ref,i‖, so that their root mean square is the error.
    """

    softmax: float
    rpc: float
    rpc_to_softmax: float
    uniform: float
    clipped: float
    softmax_by_token: Array
    rpc_by_token: Array


@dataclass(frozen=True, eq=False)
class Pursuit:
    """How principal attention pursuit went on the contaminated keys.

    Attributes
    ----------
    residuals, clean_residuals : ndarray, shape (iterations,)
        ‖K − L − S‖ / ‖K‖ after each iteration; nothing guarantees that it falls.
    lam, mu, threshold : float
        λ, μ and the shrinkage threshold t in the keys' units.
    cut : float
        Share of the entries of K above the threshold in the last S.
    precision, recall : float or None
        Of the support of S against the truly contaminated entries; None without contamination.
    """

    residuals: Array
    clean_residuals: Array
    lam: float
    mu: float
    threshold: float
    cut: float
    precision: float | None
    recall: float | None


Outcome = Literal["never", "at once", "at a level", "unknown"]


@dataclass(frozen=True, eq=False)
class Curves:
    """Errors over contamination levels; mean over seeds with the seeds' range.

    Attributes
    ----------
    levels : ndarray, shape (m,)
    mean, low, high : mapping of str to ndarray, shape (m,)
        By name: "softmax", "rpc", "rpc_to_softmax", "uniform", "clipped"; NaN where not computed yet.
    seeds : int
        How many seeds have gone into it, of `seeds_wanted`.
    outcome : str
        When RPC becomes worse than softmax for good: "never", "at once", "at a level".
    breakdown : float or None
        The level of it, for "at a level".
    crossings : tuple of float
        Every level at which the two mean curves cross.
    seconds : float or None
        How long what is missing will take, where that can be told.
    waits : bool
        Whether that is so long that a person is asked first.
    """

    levels: Array
    mean: Mapping[str, Array]
    low: Mapping[str, Array]
    high: Mapping[str, Array]
    seeds: int
    seeds_wanted: int
    outcome: Outcome
    breakdown: float | None
    crossings: tuple[float, ...]
    seconds: float | None = None
    waits: bool = False


@dataclass(frozen=True, eq=False)
class ScoreHealth:
    """How far a head's own clean attention is from what floating point can hold.

    Attributes
    ----------
    captured : str
        The precision in which the source gave the head.
    largest : float
        The largest score, among pairs that the mask lets see each other.
    over_half : float
        Share of those pairs whose exp(score) half precision cannot hold: scores above 11.09.
    """

    captured: str
    largest: float
    over_half: float


@dataclass(frozen=True, eq=False)
class Result:
    """One picture.

    Attributes
    ----------
    params : Params
        What was asked.
    source : str
        The name of where it comes from.
    tokens : tuple of Token
        The N tokens that the picture is of: all, or those that the query token sees.
    positions : ndarray of int, shape (N,)
        Their places in the input.
    query : int or None
        For a masked head, the place (in the input) of the query whose view this is.
    contaminated : ndarray of bool, shape (N,)
        Tokens of which an entry of the key, or the word or patch of the input, was contaminated.
    image : ndarray of uint8, shape (H, W, 3), or None
        What the model saw: contaminated where the contamination enters at the input.
    grid
        As in `explorer.models.base.Capture`.
    map : ndarray, shape (N, N)
        The map that `params.variant` names; row i is query i. NaN where masked.
    map_title, map_formula : str
        What it is, in words and as a formula.
    clean, moved : Spectrum
        Of the clean and of the contaminated keys.
    projection, errors, pursuit
        None where this head does not allow it; `notes` says why.
    curves : Curves or None
        None until computed.
    log10_norm_phi, log10_norm_output : float
        log₁₀ of the mean squared norm of φ(q_i), and of the head's learned output.
    log10_error_axes, error_learned_negative, log10_error_learned
        The projection error on the true axes, and the paper's form, whose sign can be negative.
    notes : tuple of str
        Sentences that must be read with the picture.
    length : int
        Tokens of the whole input.
    inputs : int
        How many inputs there are to choose from: lines of a file, images of a folder, samples.
    captured_bytes : int
        Memory of the captured layer's heads.
    text : str
        The text that was read, contaminated or not; empty for other inputs.
    clean_text : str
        The text before contamination.
    clean_image : ndarray of uint8, shape (H, W, 3), or None
        The image before contamination.
    clean_tokens : tuple of Token
        The tokens of the clean head: more than `tokens` where words are deleted.
    changed : ndarray of bool, shape (N,)
        Tokens whose word or patch of the *input* was contaminated.
    clean_changed : ndarray of bool, shape (len(clean_tokens),)
        Tokens of the clean input that are others now, or gone.
    health : ScoreHealth or None
    decomposition : Decomposition or None
        None where RPC is not defined for this head.
    head : Head or None
        The clean head, as tensors, for whoever computes more of it on demand.
    moved_head : Head or None
        The head as it is contaminated.
    device, dtype : str
    milliseconds : float
        Time of the computation (not of the painting).
    final : bool
        False for a drag's preview, and while curves are still being computed.
    """

    params: Params
    source: str
    tokens: tuple[Token, ...]
    positions: NDArray[np.int64]
    query: int | None
    contaminated: Bools
    image: NDArray[np.uint8] | None
    grid: tuple[int, int] | None
    map: Array
    map_title: str
    map_formula: str
    clean: Spectrum
    moved: Spectrum
    projection: Projection | None
    errors: Errors | None
    pursuit: Pursuit | None
    curves: Curves | None
    log10_norm_phi: float
    log10_norm_output: float
    log10_error_axes: float
    log10_error_learned: float
    error_learned_negative: bool
    plain_kernel: bool
    device: str
    dtype: str
    milliseconds: float
    final: bool
    notes: tuple[str, ...] = field(default=())
    length: int = 0
    inputs: int = 1
    captured_bytes: int = 0
    text: str = ""
    clean_text: str = ""
    clean_image: NDArray[np.uint8] | None = None
    clean_tokens: tuple[Token, ...] = ()
    changed: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    clean_changed: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    health: ScoreHealth | None = None
    decomposition: Decomposition | None = None
    head: Head | None = None
    moved_head: Head | None = None

    @property
    def is_moved(self) -> bool:
        """Whether keys are hit, or a contaminated input was read: then tokens that nothing hit move too."""
        return self.params.change is not None or bool(self.contaminated.any())
