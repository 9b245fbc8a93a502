"""The report as one HTML page that needs nothing else: figures inside, no scripts, no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from explorer.maths.evidence_names import MEASURES, NULL_BY_KEY
from explorer.report.figures import beside_draws, scale_key, z_histogram, z_map
from explorer.report.figures_parts import (
    errors_figure,
    gamma_figure,
    norms_figure,
    sample_figures,
    series_figures,
    spectrum_figure,
)
from explorer.report.page_tables import heads_table, health_table, measures_table
from explorer.report.page_words import parameters_in_words
from explorer.report.style import STYLE
from explorer.report.whole import Whole, versions

QUESTION = "Are the values of attention heads what kernel PCA of their keys prescribes?"
METHOD = (
    "V* is the value matrix with which attention is the projection of a query onto the principal axes of the "
    "keys in feature space (Teo and Nguyen, arXiv 2406.13762, disputed by Sarıtaş and Yıldız, arXiv "
    "2505.07908). It has two scalings: unit-norm eigenvectors, as the study's script takes them, and unit "
    "axes, with which attention with V* is that projection. Each measure of agreement between the learned V "
    "and V* is compared with its distribution under values that mean nothing. z is the distance from that "
    "distribution's mean in its deviations, positive where V is closer to V* than the null; p is by rank, in "
    "sentences on the side on which V lies; the false discovery rate over heads is Benjamini and Hochberg's. "
    "Key heads that serve several query heads count once. Over several inputs a head's z is its mean and its "
    "p twice the mean of its p. All is computed from logarithms, in double precision where a device has it, "
    "without eigenvalues under the rounding error. Standardised keys are each token's key over its features, "
    "minus its mean, by its unbiased deviation, as in the study's script."
)


def page(whole: Whole) -> str:
    """Return the page."""
    body = "".join(_sections(whole))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(whole.name)}: evidence for kernel PCA</title><style>{STYLE}</style></head>"
        f"<body>{_hatch()}{body}</body></html>\n"
    )


def _hatch() -> str:
    return (
        '<svg width="0" height="0" style="position:absolute"><defs><pattern id="hatch" width="6" height="6" '
        'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect width="6" height="6" fill="#9AA3AD"/><rect width="2" height="6" fill="#C9CED4"/>'
        "</pattern></defs></svg>"
    )


def _sections(whole: Whole) -> Iterable[str]:
    heads = len(whole.heads())
    yield (
        f"<h1>{escape(whole.name)}</h1><p class='quiet'>{QUESTION}<br>{heads} heads · {whole.samples} "
        f"{'input' if whole.samples == 1 else 'inputs'} · {whole.created} · "
        f"Gramscope {versions()['gramscope']}</p>"
    )
    yield _incomplete(whole)
    *parts, conclusion = whole.sentences
    yield f"<p class='conclusion'>{escape(conclusion)}</p>{_list(parts)}"
    yield _list(
        [f"{NULL_BY_KEY[null].label}: not drawn, {reason}." for null, reason in whole.missing().items()]
    )
    yield _list(whole.notes())
    if len(whole.checkpoints) > 1:
        caption = (
            f"Mean over {heads} heads, bars the deviation over heads. The verdict and all below are of the "
            "last step."
        )
        yield _section("Along training", caption, _row(series_figures(whole)))
    if whole.samples > 1:
        caption = f"Mean over the heads of a layer, bars its standard error over n = {whole.samples} inputs."
        yield _section("Over inputs", caption, _row(sample_figures(whole)))
    yield from _against_nulls(whole)
    yield from _parts(whole)
    yield _section("Numerical health", "", health_table(whole))
    yield _section("Head by head", "", f"<details><summary>All heads</summary>{heads_table(whole)}</details>")
    yield _section("How this was computed", METHOD, _parameters(whole))


def _incomplete(whole: Whole) -> str:
    missing = len(whole.units) - len(whole.records) - len(whole.failures)
    text = (
        f"<p class='failed'>{missing} of {len(whole.units)} parts are not computed yet.</p>"
        if missing
        else ""
    )
    failed = [f"{done.unit.name}: {done.failure}" for done in whole.failures]
    return text + (
        f"<p class='failed'>{len(failed)} of {len(whole.units)} parts failed:</p>{_list(failed)}"
        if failed
        else ""
    )


def _against_nulls(whole: Whole) -> Iterable[str]:
    nulls = whole.nulls()
    maps = [z_map(whole, null) for null in nulls if null in ("permutation", "projection")]
    caption = (
        "Column-space overlap of V and V*, by layer and head. Rest the pointer on a cell for its numbers."
    )
    yield _section("Layers and heads", caption, _row(maps) + scale_key())
    caption = (
        "z of column-space overlap over heads. The dashed curve is what heads would show if the null were "
        "all there is; hairlines at ±3."
    )
    yield _section("Distribution over heads", caption, _row([z_histogram(whole, null) for null in nulls]))
    entries = {"point observed": "V itself"} | {
        null: f"{NULL_BY_KEY[null].short}, middle 95 % of draws"
        for null in nulls
        if null in ("permutation", "projection")
    }
    entries["reference"] = "chance, Dv/(N − 1)"
    legend = "".join(
        f"<span class='entry'><i class='key {kind}'></i>{escape(words)}</span>"
        for kind, words in entries.items()
    )
    yield _section(
        "Each head beside its draws",
        "",
        f"<figure>{beside_draws(whole)}<figcaption>{legend}</figcaption></figure>",
    )
    yield _section(
        "Every measure",
        "Mean ± deviation over heads; then for each null the mean z ± its spread, and under it heads above 3 "
        "/ below −3 · heads above / below at a false discovery rate of 5 %.",
        measures_table(whole),
    )


def _parts(whole: Whole) -> Iterable[str]:
    legend = (
        "Left: how much γ_i = (K̃a)_i/a_i differs between tokens, <i class='key observed'></i>for the columns "
        "recovered from the learned V, <i class='key solver'></i>for the eigenvectors themselves, a check of "
        "the solver. Right: eigenvalues of K̃, <i class='key keys'></i>keys as they are, "
        "<i class='key standardised'></i>standardised. Lines are medians over heads, bands 10 to 90 %."
    )
    figures = _row([gamma_figure(whole), spectrum_figure(whole)])
    yield _section("γ and eigenvalues by component", "", f"{figures}<figcaption>{legend}</figcaption>")
    legend = (
        "The paper's error compares the norms of the queries in feature space with those of the "
        "<i class='key point observed'></i>learned output (hollow: the error is negative); on the "
        "<i class='key point true'></i>true axes it lies between 0 and mean ‖φ(q)‖². Dashed: equal norms."
    )
    figures = _row([norms_figure(whole), errors_figure(whole)])
    yield _section("Norms and projection errors", "", f"{figures}<figcaption>{legend}</figcaption>")


def _parameters(whole: Whole) -> str:
    made_by = ", ".join(f"{name} {version}" for name, version in versions().items())
    items = [*parameters_in_words(whole), f"Computed by {made_by}"]
    meanings = [
        f"{measure.label}: {measure.meaning}" for measure in MEASURES if not measure.key.endswith("_axes")
    ]
    return f"{_list(items)}<details><summary>What the measures are</summary>{_list(meanings)}</details>"


def _section(title: str, caption: str, content: str) -> str:
    note = f"<p class='quiet'>{escape(caption)}</p>" if caption else ""
    return f"<section><h2>{escape(title)}</h2>{note}{content}</section>"


def _row(pictures: Sequence[str]) -> str:
    return f"<div class='row'>{''.join(f'<figure>{each}</figure>' for each in pictures)}</div>"


def _list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>" if items else ""
