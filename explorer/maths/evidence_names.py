"""What the measures of agreement between V and V* are, and the nulls they are set against; no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """One way of comparing learned values V with the values V* that kernel PCA prescribes.

    Attributes
    ----------
    key, label : str
        Name in files, and as a person reads it.
    better : int
        +1 where larger means closer to V*, −1 where smaller does.
    costly : bool
        True where null distributions take fewer draws.
    meaning : str
        What it is and which changes of the values it does not see.
    """

    key: str
    label: str
    better: int
    costly: bool
    meaning: str


def _scaled(key: str, label: str, better: int, costly: bool, meaning: str) -> tuple[Measure, Measure]:
    return (
        Measure(f"{key}_unit", f"{label}, unit-norm eigenvectors", better, costly, meaning),
        Measure(f"{key}_axes", f"{label}, unit axes", better, costly, meaning),
    )


MEASURES: tuple[Measure, ...] = (
    Measure(
        "overlap", "column-space overlap", 1, False,
        "Mean squared cosine of the principal angles between the column spaces of centred V and centred V*: "
        "1 when they agree, Dv/(N − 1) by chance. No invertible map of the values changes it.",
    ),
    Measure(
        "overlap_vectors", "overlap with the eigenvectors", 1, False,
        "The same with the leading eigenvectors a_d in place of V*, whose rows are theirs over g(k_j).",
    ),
    *_scaled(
        "linear_cka", "linear CKA", 1, False,
        "Centred kernel alignment of V and V* with linear kernels. Unchanged by rotation and scale only.",
    ),
    *_scaled(
        "kernel_cka", "kernel CKA", 1, True,
        "Centred kernel alignment with RBF kernels, σ² the median non-zero squared distance. "
        "Unchanged by rotation and scale only.",
    ),
    *_scaled(
        "cosine", "cosine per token", 1, True,
        "Mean over tokens of the cosine of V_j and V*_j as they stand. Any rotation changes it.",
    ),
    *_scaled(
        "cosine_matched", "cosine, best matching", 1, True,
        "Mean cosine under the best one-to-one matching of tokens: high for unrelated values too, since the "
        "matching is free to choose, and the same however tokens are shuffled.",
    ),
    *_scaled(
        "frobenius", "relative error", -1, True,
        "‖V − V*‖ / ‖V‖: nearly 1 whatever V is when V* is small, by scale alone.",
    ),
    *_scaled(
        "frobenius_scaled", "relative error after scaling", -1, True,
        "‖V − sV*‖ / ‖V‖ at the best scale s.",
    ),
    *_scaled(
        "frobenius_procrustes", "relative error after Procrustes", -1, True,
        "‖V − sV*R‖ / ‖V‖ at the best scale s and rotation R.",
    ),
    Measure(
        "gamma_relative", "γ: relative spread", -1, True,
        "Mean over pairs of tokens, then over columns, of |γ_i − γ_j| / max(|γ_i|, |γ_j|) with "
        "γ_i = (K̃â)_i/â_i and â = g V: 0 if the columns are eigenvectors. Any map of the values changes it.",
    ),
    Measure(
        "gamma_angle", "angle of K̃â and â", -1, True,
        "Mean over columns, in degrees: 0 if the columns are eigenvectors.",
    ),
)  # fmt: skip

FAMILIES: dict[str, str] = {
    "kernel_cka": "kernel CKA",
    "cosine": "cosines and matching",
    "frobenius": "relative errors",
    "gamma": "γ test",
}
"""Costly measures that are computed together, by the beginning of their keys."""

BY_KEY = {measure.key: measure for measure in MEASURES}


@dataclass(frozen=True, slots=True)
class Null:
    """What a measure is compared with.

    Attributes
    ----------
    key, label, short : str
        Name in files; as a person reads it in a heading; and within a sentence.
    question : str
        What being above it answers.
    """

    key: str
    label: str
    short: str
    question: str


NULLS: tuple[Null, ...] = (
    Null(
        "permutation", "shuffled tokens", "shuffled tokens",
        "Is there any relation between the tokens' values and the keys' spectrum?",
    ),
    Null(
        "gaussian", "Gaussian values", "independent Gaussian values",
        "Do these values differ from noise with the same column norms?",
    ),
    Null(
        "projection", "random projection of the layer's input", "a random projection of the same tokens",
        "Is the learned value matrix special, or would any linear map of the same tokens do as well?",
    ),
    Null(
        "rotation", "W_V on the randomly rotated input", "the learned W_V on randomly rotated tokens",
        "The same, for a map that keeps the learned singular values.",
    ),
    Null(
        "untrained", "untrained model", "the same architecture untrained",
        "Does training bring the values closer to V* than the architecture alone does?",
    ),
)  # fmt: skip

NULL_BY_KEY = {null.key: null for null in NULLS}
