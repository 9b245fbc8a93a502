"""The verdict in words: each sentence cites its numbers and says no more than they do."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, inf, isnan, log10

from explorer.maths.evidence_names import BY_KEY, NULL_BY_KEY, NULLS
from explorer.maths.evidence_scores import Score, Spread, Standing

COMPARED = {"above": "more than", "level": "no more than", "below": "less than"}
DECISIVE = ("permutation", "projection")
"""The nulls that the conclusion is drawn from."""
NOT_TESTED = "Whether a random linear map of the same tokens would do as well is not tested: {reason}."


def number(x: float) -> str:
    """Write a figure with the digits it deserves, and a true minus sign."""
    text = f"{x:.0f}" if abs(x) >= 100 else f"{x:.1f}" if abs(x) >= 10 else f"{x:.2f}"
    if 0 < abs(x) < 0.095:
        text = f"{x:#.2g}"
    return text.replace("-", "−")


def plus_minus(mean: float, std: float) -> str:
    """Write a mean and its deviation to the same decimals, two figures of the deviation at most."""
    digits = max(0, -floor(log10(std))) if 5e-7 < std < inf else 2
    digits = min(digits + (digits < 2), 6)
    return f"{round(mean, digits) + 0.0:.{digits}f} ± {std:.{digits}f}".replace("-", "−")


def _against(short: str, score: Score) -> str:
    spread = plus_minus(score.mean, score.std)
    if score.standing == "unknown":
        return f"not told from {short} ({spread})"
    compared = COMPARED[score.standing]
    if score.standing == "level" and abs(score.z) >= 2:
        compared = f"not clearly {'more' if score.z > 0 else 'less'} than"
    p = score.p if score.z > 0 else score.p_below
    return f"{compared} {short} ({spread}, z = {number(score.z)}, p = {p:.2g})"


def verdict_on_head(
    measures: Mapping[str, float], scores: Mapping[str, Mapping[str, Score]], missing: Mapping[str, str]
) -> str:
    """Say what the numbers of one head say.

    Parameters
    ----------
    measures : mapping of str to float
        By key of `evidence_names.MEASURES`.
    scores : mapping of str to mapping of str to Score
        By null, then by measure; nulls that were not drawn are absent.
    missing : mapping of str to str
        Why a null could not be drawn, a clause for the end of a sentence.
    """
    overlap = {null: found["overlap"] for null, found in scores.items() if "overlap" in found}
    compared = [_against(null.short, overlap[null.key]) for null in NULLS if null.key in overlap]
    if isnan(measures["overlap"]):
        return "No overlap is defined: the values, or V*, are the same for every token."
    sentences = [
        f"Column-space overlap {measures['overlap']:.3f}: {', '.join(compared) or 'no null was drawn'}."
    ]
    if compared:
        sentences += [_draws(overlap), _conclusion(overlap, missing, "These values")]
        sentences += _by_other_measures(overlap, scores, "these values are")
    sentences += [_linear_cka(measures, scores), _entry_by_entry(measures)]
    return " ".join(sentences)


def _draws(found: Mapping[str, Score] | Mapping[str, Spread]) -> str:
    """Say how many draws there were, and what they can tell."""
    names = {null.key: null.short for null in NULLS}
    by_count: dict[int, list[str]] = {}
    for null, figures in found.items():
        by_count.setdefault(figures.draws, []).append(names[null])
    most = max(by_count, key=lambda count: len(by_count[count]))
    least = max(_least_p(figures) for figures in found.values() if figures.draws == most)
    text = f"{most} {'draw' if most == 1 else 'draws'} each, so that p is at least {least:.2g}"
    rest = [f"{count} of {', '.join(whose)}" for count, whose in by_count.items() if count != most]
    return f"({'; '.join([text, *rest])}.)"


def _least_p(found: Score | Spread) -> float:
    return found.smallest_p if isinstance(found, Spread) else 1 / (1 + found.draws)


def _standing(found: Score | Spread | None) -> Standing:
    return "unknown" if found is None else found.standing


def _why_unknown(found: Score | Spread) -> str:
    """Say why a null decides nothing, a clause for the end of a sentence."""
    if found.constant:
        return "every draw gives the same figure, as any values do where tokens are few; take a longer input"
    if found.needed:
        return f"{found.draws} draws do not suffice; at least {found.needed} are needed"
    return "the figures are not defined"


def _conclusion(
    found: Mapping[str, Score] | Mapping[str, Spread], missing: Mapping[str, str], subject: str
) -> str:
    """Say what the two decisive nulls allow: shuffled tokens, and a random map of the same tokens."""
    permutation, projection = found.get("permutation"), found.get("projection")
    shuffled, projected = _standing(permutation), _standing(projection)
    if permutation is None:
        return "Nothing can be said without shuffled tokens to compare with."
    if isinstance(permutation, Spread) and permutation.heads == 1:
        return (
            "Nothing can be said over heads: one head is no distribution. Its own verdict says what there is."
        )
    if shuffled == "unknown":
        return f"Nothing can be said of overlap yet: against shuffled tokens, {_why_unknown(permutation)}."
    clearly = "not clearly more" if permutation.leaning else "no more"
    if shuffled == "below":
        return (
            f"{subject} lie farther from the column space of V* than those of shuffled tokens, against the "
            "claim."
        )
    related = shuffled == "above"
    no = f"no {'clear ' if permutation.leaning else ''}evidence in this overlap"
    if projected == "unknown":
        start = (
            f"{subject} are related to the spectrum of the keys."
            if related
            else f"{no.capitalize()} of a relation between the tokens' values and the spectrum of the keys."
        )
        reason = missing.get("projection", "") if projection is None else _why_unknown(projection)
        return f"{start} {NOT_TESTED.format(reason=reason or 'it was not drawn')}"
    if related and projected == "above":
        rotated = _standing(found.get("rotation"))
        but = ", though not clearly than one with the learned singular values" if rotated == "level" else ""
        return (
            f"{subject} lie closer to the column space of V* than those of shuffled tokens and than a random "
            f"linear map of the same tokens{but}, up to an invertible map of the values, which overlap "
            "cannot see."
        )
    if related:
        leaning = projection is not None and projection.leaning
        relation = "not clearly more than" if leaning else COMPARED[projected]
        evidence = "no clear evidence" if leaning else "no evidence"
        return (
            f"{subject} are related to the spectrum of the keys, but {relation} a random linear map of the "
            f"same tokens would be: {evidence} that the learned value matrix makes them V*."
        )
    if projected == "above":
        return (
            f"{subject} overlap with V* more than a random linear map of the same tokens, yet {clearly} than "
            f"shuffled tokens: {no} of a relation between the tokens' values and the keys' "
            "spectrum."
        )
    if projected == "below":
        return (
            f"{subject} overlap with V* {clearly} than those of shuffled tokens, and less than a random "
            f"linear map of the same tokens: {no} that they are V*."
        )
    return f"{no.capitalize()} that {subject[0].lower()}{subject[1:]} have anything to do with V*."


def _by_other_measures(
    overlap: Mapping[str, Score] | Mapping[str, Spread],
    others: Mapping[str, Mapping[str, Score]] | Mapping[str, Mapping[str, Spread]],
    subject: str,
) -> list[str]:
    """Say which measures place values above a decisive null where overlap does not; at most one sentence."""
    parts = []
    for null in DECISIVE:
        if null not in overlap or overlap[null].standing == "above":
            continue
        best: dict[str, tuple[float, str]] = {}
        families = set()
        for key, found in others.get(null, {}).items():
            label = BY_KEY[key].label
            family = label.split(",")[0]
            if key != "overlap":
                families.add(family)
            if found.standing == "above":
                z = found.mean_z if isinstance(found, Spread) else found.z
                best[family] = max(best.get(family, (z, label)), (z, label))
        if best:
            mean = "mean " if isinstance(overlap[null], Spread) else ""
            listed = "; ".join(f"{label}, {mean}z = {number(z)}" for z, label in best.values())
            count = f"{len(best)} of {len(families)}"
            parts.append(f"than {NULL_BY_KEY[null].short} ({count}: {listed})")
    return [f"By other measures {subject} closer to V* {' and '.join(parts)}."] if parts else []


def _linear_cka(measures: Mapping[str, float], scores: Mapping[str, Mapping[str, Score]]) -> str:
    keys = {"linear_cka_unit": "unit-norm eigenvectors", "linear_cka_axes": "unit axes"}
    parts = []
    for key, scaling in keys.items():
        found = {null: by_measure[key] for null, by_measure in scores.items() if key in by_measure}
        z = [f"{null.short} z = {number(found[null.key].z)}" for null in NULLS if null.key in found]
        against = f" ({'; '.join(z)})" if z else ""
        parts.append(f"{number(measures[key])} with {scaling}{against}")
    return f"Linear CKA is {' and '.join(parts)}."


def _entry_by_entry(measures: Mapping[str, float]) -> str:
    cosine = max(measures["cosine_unit"], measures["cosine_axes"])
    return (
        f"Entry by entry: mean cosine {number(cosine)} in the better scaling, and γ differs between tokens "
        f"by {number(measures['gamma_relative'])} of the larger on average (V* itself gives 1 and 0)."
    )


def sentences_on_heads(
    overlap: Mapping[str, Spread],
    missing: Mapping[str, str],
    others: Mapping[str, Mapping[str, Spread]] | None = None,
) -> list[str]:
    """Say what the overlaps of many heads say together: null by null, then the conclusion.

    Parameters
    ----------
    overlap : mapping of str to Spread
        Of column-space overlap, by null.
    missing : mapping of str to str
        Why a null could not be drawn, a clause for the end of a sentence.
    others : mapping of str to mapping of str to Spread, or None
        Of the other measures, by null, then by measure.
    """
    if not overlap:
        return ["No null was drawn: nothing can be said."]
    parts = [_distribution(null.short, overlap[null.key]) for null in NULLS if null.key in overlap]
    conclusion = _conclusion(overlap, missing, "On average these heads' values")
    projection = overlap.get("projection")
    if projection is not None and projection.discoveries and projection.discoveries_below:
        conclusion += " Heads differ both ways: the average does not stand for each of them."
    conclusion = " ".join([conclusion, *_by_other_measures(overlap, others or {}, "they are on average")])
    return [*parts, _draws(overlap), conclusion]


def verdict_on_heads(overlap: Mapping[str, Spread], missing: Mapping[str, str]) -> str:
    """Return `sentences_on_heads` as one text."""
    return " ".join(sentences_on_heads(overlap, missing))


def _distribution(short: str, spread: Spread) -> str:
    def share(count: int) -> str:
        return f"{count} ({100 * count / spread.heads:.0f} %)"

    if not spread.heads:
        return f"Column-space overlap against {short}: z is not defined for any head."
    if spread.heads == 1:
        return f"Column-space overlap against {short}: z {number(spread.mean_z)} of one head."
    return (
        f"Column-space overlap against {short}: mean z {number(spread.mean_z)} over {spread.heads} heads, "
        f"spread {number(spread.std_z)}; {share(spread.above)} above 3 and {share(spread.below)} below −3; "
        f"at a false discovery rate of 5 %, {spread.discoveries} above and {spread.discoveries_below} below"
        f"{_power(spread)}."
    )


def _power(spread: Spread) -> str:
    """Say what so few draws could not have found, where there are heads that they may have missed."""
    sides = (spread.at_floor, spread.discoveries), (spread.at_floor_below, spread.discoveries_below)
    missed = any(beyond and not found for beyond, found in sides)
    if spread.constant or spread.together <= 1 or not (missed or not any(found for _, found in sides)):
        return ""
    if spread.together > spread.heads:
        return f" ({spread.draws} draws can find none)"
    return f" ({spread.draws} draws find only {spread.together} heads or more together, above or below)"
