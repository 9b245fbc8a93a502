"""A caption to paste under a figure: what each panel shows, of what, under which parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import Any

from explorer import __version__
from explorer.params import ENTERS
from explorer.ui.pages import definition_of
from explorer.views.picture import Picture

WHERE = {
    "keys": "",
    "pixels": "; it enters at the image, which the model read again",
    "text": "; it enters at the text, which the model read again",
    "attack": "; it enters at the image, which the model read again",
}
TARGETS = {"loss": "the model's loss", "output": "this head's output"}


def caption(views: Sequence[Picture]) -> str:
    """Return one paragraph; with several panels these are lettered in reading order."""
    if not views:
        return ""
    told = [f"{view.title}: {_plain(definition_of(view).what)}" for view in views]
    if len(told) > 1:
        told = [f"({letter}) {text}" for letter, text in zip(ascii_lowercase, told, strict=False)]
    origin = views[0].provenance()
    return " ".join((*told, *_setting(origin.source, origin.params), _made_with(origin.computed)))


def _plain(text: str) -> str:
    """Return the first sentence of a definition, its formulas as plain text."""
    first = re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]
    return first.replace("$", "").replace("^*", "*").replace("{", "").replace("}", "")


def _setting(source: str, params: Mapping[str, Any]) -> list[str]:
    where = [f"{name} {params[name]}" for name in ("layer", "head") if name in params]
    of = f"{', '.join((source, *where))}."
    if "form" in params and "level" in params:
        return [of, _contamination(params), _pursuit(params)]
    others = {name: value for name, value in params.items() if name not in ("layer", "head")}
    listed = ", ".join(f"{name} {value}" for name, value in _flat(others))
    return [of, f"Setting: {listed}."] if listed else [of]


def _flat(params: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield names and values without those that are empty, groups opened."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif isinstance(value, list | tuple):
            if told := [item for item in value if item not in (None, "")]:
                yield name, " ".join(map(_plainly, told))
        elif value not in (None, ""):
            yield name, _plainly(value)


def _plainly(value: Any) -> str:
    """Return a setting as a person would type it: 4, not 4.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _contamination(params: Mapping[str, Any]) -> str:
    if not params["level"]:
        return "Nothing is contaminated."
    kind = params["contamination"]
    words = [f"Contamination: {kind}, level {params['level']:g}"]
    if kind in ("sparse", "tokens", "replace"):
        words.append(f"magnitude {params['magnitude']:g} σ")
    if ENTERS[kind] == "attack":
        words.append(f"against {TARGETS[params['target']]}")
    if kind == "pgd":
        words.append(f"{params['steps']} steps")
    words.append(f"seed {params['seed']}")
    return f"{', '.join(words)}{WHERE[ENTERS[kind]]}."


def _pursuit(params: Mapping[str, Any]) -> str:
    chosen = [
        f"{symbol} = {params[name]:g}" if params[name] is not None else f"{symbol} by default"
        for symbol, name in (("λ", "lam"), ("μ", "mu"))
    ]
    return (
        f"RPC-Attention: the {params['form']} form, {params['queries']} queries, {', '.join(chosen)}, "
        f"{params['iterations']} iterations."
    )


def _made_with(computed: str) -> str:
    return f"Made with Gramscope {__version__}" + (f" ({computed})." if computed else ".")
