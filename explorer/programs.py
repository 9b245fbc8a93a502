"""What the figures of each page compute, as the lines of a copied program that are the page's own."""

from __future__ import annotations

from explorer.answers import Exchange
from explorer.asked import Asked
from explorer.comparison import Reference
from explorer.params import Params
from explorer.script import HEAD, Program, call, opening, together, using
from explorer.session import Origin

OVERVIEW = Program(
    {"explorer.overview": ("Overviewer",), "explorer.quantities": ("QUANTITIES",)},
    """\
*_, overview = Overviewer()(params, source)  # the last one has every layer

for key, quantity in QUANTITIES.items():
    print(quantity.name + ":", quantity.meaning)
    print(overview.table(key))  # (layers, heads)
# Small maps: overview.of_layer(layer).maps (heads, m, m).
""",
)
"""Every head, a number each."""

_COMPARE = """\
pinned_source = {source}
pinned_params = {params}
*_, pinned = Evaluator()(pinned_params, pinned_source)  # the last one is complete
*_, result = Evaluator()(params, source)

for row in rows(pinned, result):
    print(f"{{row.name}}: {{row.pinned:.4g}} pinned, {{row.present:.4g}} now, {{row.difference:+.4g}}")
if why_no_difference(pinned, result):
    print(why_no_difference(pinned, result))
else:
    print("largest difference of the maps:", abs(difference(pinned, result)).max())
# Both have the same arrays: map (N, N), clean.log10_values (m,), projection.queries (N, 2).
"""

_ROBUSTNESS = """\
*_, result = Evaluator()(params, source)  # the last one is complete
*_, sweep = sweeps(head_of(result), params)
*_, pcp = exact(head_of(result), params)
*_, phase = {phase}

print("residual ‖K − L − S‖/‖K‖ by iteration:", result.pursuit.residuals)
print("precision and recall of S:", result.pursuit.precision, result.pursuit.recall)
print("exact PCP:", pcp.iteration, "iterations, residual", pcp.residual)
print("λ and levels of the diagram:", phase.lams, phase.levels)
print("log10(e_softmax / e_RPC), above 0: RPC moves less:", phase.own)  # (λ, levels)
# Arrays: pcp.low and pcp.sparse (N, D), sweep.lams, sweep.precision and sweep.recall (m,).
"""

_MODEL = """\
exchange = {exchange}
predictor = Predictor(source)
*_, answers = predictor.predict(params, exchange, {place})  # the last one has every answer
*_, curve = predictor.curve(params.but(level=0.0), exchange, {place})

print(answers.question)
for (contaminated, exchanged), answer in answers.answers.items():
    print("contaminated," if contaminated else "clean,", answers.exchange if exchanged else "softmax")
    print("   ", dict(zip(answer.names, answer.probabilities)), answer.truth, answer.cosine)
print(curve.measure, "over", curve.levels)
print(curve.softmax, curve.exchanged)  # (seeds, levels)
"""

_EVIDENCE = """\
work = plan(source, {origin}, params, {asked})
*_, findings = measure(work, {{}})  # the last one is complete
values = pair(source, params)  # V and V* of one head

print("\\n".join(findings.sentences))
print("overlap of V and V*:", findings.measure("overlap"))  # (layers, heads)
for null in findings.whole.nulls():
    print("z of it against", null, findings.score(null, "overlap", "z"))
# Arrays: findings.gamma("learned"), findings.projection(name), values.learned (N, Dv), values.stars["axes"].
"""


def compare(reference: Reference) -> Program:
    """Return what the present picture is compared with a pinned one by."""
    source, uses = opening(reference.origin)
    params = reference.result.params
    own = {"explorer.comparison": ("difference", "rows", "why_no_difference")}
    return Program(
        together(HEAD.uses, uses, using(params), own), _COMPARE.format(source=source, params=call(params))
    )


def robustness(params: Params) -> Program:
    """Return what takes the keys apart, and draws who does better over λ and level."""
    own = {"explorer.robustness": ("exact", "head_of", "sweeps")}
    if params.key_kind is None:
        phase = "input_phase_maps(source, params)"
        diagram = {"explorer.phase_inputs": ("input_phase_maps",)}
    else:
        phase = f"phase_maps(result.head, {params.key_kind!r}, params)"
        diagram = {"explorer.robustness": ("phase_maps",)}
    return Program(together(HEAD.uses, own, diagram), _ROBUSTNESS.format(phase=phase))


def model(exchange: Exchange, place: int | None) -> Program:
    """Return what asks a model; `place` is the token that is masked, of a masked language model."""
    uses = {"explorer.answers": ("Exchange",), "explorer.predictions": ("Predictor",)}
    return Program(uses, _MODEL.format(exchange=repr(exchange), place=place))


def evidence(origin: Origin, asked: Asked) -> Program:
    """Return what measures V against V* and the nulls."""
    uses = {
        "explorer.asked": ("Asked",),
        "explorer.evidence": ("measure", "pair", "plan"),
        "explorer.session": ("Origin",),
    }
    made = {} if origin.recipe is None else {"explorer.models.recipes": ("Recipe",)}
    return Program(together(uses, made), _EVIDENCE.format(origin=call(origin), asked=call(asked)))
