"""What a comparison of answers is of, in words that claim no more than it shows."""

from __future__ import annotations

from explorer.answers import ATTENTIONS, Exchange, layers_in_words
from explorer.maths.rpc import default_lambda
from explorer.models.base import Source
from explorer.models.digits import DigitsSource
from explorer.params import ENTERS, Params


def lambda_of(p: Params) -> float | None:
    """Return λ as it is set, or the published form's default; that of "pcp" depends on the head."""
    return default_lambda("published", 1, 1) if p.lam is None and p.form == "published" else p.lam


def exchange_in_words(exchange: Exchange, p: Params, source: Source) -> str:
    """Say which attention is where, by which convention."""
    words = ATTENTIONS[exchange.attention]
    if exchange.attention == "rpc":
        lam = (
            "its default"
            if p.lam is None and p.form == "pcp"
            else f"{p.lam or default_lambda(p.form, 1, 1):g}"
        )
        step = "" if p.mu is None else f", μ = {p.mu:g}"
        words += f" ({p.form}, {p.queries}, λ = {lam}{step}, {p.iterations} iterations)"
    elif exchange.attention == "scaled":
        words += f" (s = {exchange.s:g}, the same for all heads)"
    elif exchange.attention == "pcp":
        words += f" ({p.queries})"
    return f"{words} in {layers_in_words(exchange.layers, source.layers)}"


def contamination_in_words(exchange: Exchange, p: Params, source: Source) -> str:
    """Say what is contaminated and where; empty: nothing is."""
    if p.level == 0:
        return ""
    level = f"{p.level:.3g} px" if p.contamination == "blur" else f"{100 * p.level:.3g} %"
    if ENTERS[p.contamination] == "attack":
        raised = "the model's loss" if p.target == "loss" else f"head {p.head} of layer {p.layer}"
        how = "raising" if p.target == "loss" else "moving"
        return f"the input, by {p.contamination.upper()} on the model as it is, {how} {raised}, ε = {level}"
    if ENTERS[p.contamination] != "keys":
        return f"the input ({p.contamination}, {level})"
    what = "keys and values" if p.contaminate_values else "keys"
    where = layers_in_words(exchange.layers, source.layers)
    return f"the {what} of every head in {where} ({p.contamination}, {level})"


def hidden_keys_in_words(source: Source, exchange: Exchange, p: Params) -> tuple[str, ...]:
    """Say that a pursuit in the model reads keys that a query does not see; empty where there are none."""
    mask = source.facts.get("mask", "none")
    if not mask.startswith("causal") or not (exchange.attention == "pcp" or _takes_mu(exchange, p)):
        return ()
    what = "μ is taken over" if exchange.attention == "rpc" else "The low-rank part is that of"
    said: tuple[str, ...] = (
        f"{what} all keys, hidden ones too (mask: {mask}): what an earlier token says depends on later keys.",
    )
    if "sliding" in mask:
        said += ("So a head differs from the same one on the other pages, which take what the query sees.",)
    return said


def _takes_mu(exchange: Exchange, p: Params) -> bool:
    return exchange.attention == "rpc" and p.mu is None


def trained_with(source: Source, exchange: Exchange, p: Params) -> str:
    """Say which attention the checkpoint was trained with, and what the comparison is worth therefore."""
    chosen = ATTENTIONS[exchange.attention]
    if isinstance(source, DigitsSource) and source.pursuit is not None:
        return _trained_with_rpc(source, exchange, p, *source.pursuit)
    if isinstance(source, DigitsSource) and source.symmetric:
        return (
            f"This checkpoint was trained with symmetric softmax: its queries are its keys{_stranger(chosen)}"
        )
    if source.symmetric:
        return (
            "This checkpoint has no queries but its keys: it was trained with symmetric attention or RPC, "
            "and does not say which."
        )
    own = "scaled attention" if "scaled attention" in source.facts.get("family", "") else "softmax"
    return f"This checkpoint was trained with {own}{_stranger(chosen, own)}"


def _trained_with_rpc(
    source: DigitsSource, exchange: Exchange, p: Params, lam: float, iterations: int
) -> str:
    how = f"published, symmetric, λ = {lam:g}, {iterations} iterations"
    own = f"This checkpoint was trained with RPC ({how}) in all layers"
    if exchange.attention != "rpc":
        return f"{own}: both columns show it as it was not trained."
    wanted = p.lam if p.lam is not None else default_lambda(p.form, 1, 1)
    same = (p.form, p.queries, wanted, p.mu, p.iterations) == (
        "published",
        "symmetric",
        lam,
        None,
        iterations,
    )
    if same and len(exchange.layers) == source.layers:
        return f"{own}, and RPC here is just that; softmax is the stranger."
    return f"{own}. What is set here is another RPC: it answers as it was trained only with these."


def _stranger(chosen: str, own: str = "symmetric softmax") -> str:
    if chosen == own:
        return "."
    return f", not for {chosen}: what it says with {chosen}, it says untrained."
