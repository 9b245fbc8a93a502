"""A figure's numbers as a Python program against the part of Gramscope that needs no window."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from explorer import __version__
from explorer.models.recipes import Recipe
from explorer.params import Params
from explorer.session import Origin

_TEMPLATE = '''\
"""The numbers of a figure of Gramscope {version}: {name}.

Run it with the Python that Gramscope is installed in.
"""

from explorer.analysis import Evaluator
{imports}

source = {source}
params = {params}
*_, result = Evaluator()(params, source)  # the last one is complete

print("rank of the key Gram matrix:", result.moved.rank)
print("log10 of its largest eigenvalues:", result.moved.log10_values[:8])
if result.errors is not None:
    print("error of softmax, ‖h − h_clean‖/‖h_clean‖:", result.errors.softmax)
    print("error of RPC against its own clean output:", result.errors.rpc)
    print("error of RPC against softmax's clean output:", result.errors.rpc_to_softmax)
if result.curves is not None:
    print("RPC becomes worse than softmax:", result.curves.outcome, result.curves.breakdown)
# Arrays: result.map (N, N), result.clean.vectors (N, m), result.projection.queries (N, 2),
# result.errors.softmax_by_token (N,), result.curves.mean["rpc"]; help(result) names the others.
'''


def script(origin: Origin, params: Params, name: str) -> str:
    """Return a program that computes what is on screen and prints its main numbers.

    Parameters
    ----------
    origin : Origin
        Where the source comes from.
    params : Params
        What is set; those at their defaults are left out.
    name : str
        What the source is called.
    """
    make, imports = _source(origin)
    used = "Input, Params" if params.input != Params().input else "Params"
    lines = sorted([imports, f"from explorer.params import {used}"])
    return _TEMPLATE.format(
        version=__version__,
        name=" ".join(name.split()).replace("\\", "/").replace('"', "'"),
        imports="\n".join(lines),
        source=make,
        params=_call(params),
    )


def _source(origin: Origin) -> tuple[str, str]:
    if origin.recipe is not None:
        plain = origin.recipe.values == "rotation"
        make, module = ("SyntheticSource", "synthetic") if plain else ("source_of", "controls")
        call = f"{make}({_call(origin.recipe)})"
        modules = {"recipes": "Recipe", module: make}
        return call, "\n".join(f"from explorer.models.{key} import {name}" for key, name in modules.items())
    if origin.paths:
        paths: Any = origin.paths[0] if len(origin.paths) == 1 else list(origin.paths)
        heads = "" if origin.heads is None else f", heads={origin.heads}"
        return f"open_path({paths!r}{heads})", "from explorer.models.open import open_path"
    return "sample_source()", "from explorer.models.digits import sample_source"


def _call(value: Params | Recipe) -> str:
    """Return the call that makes a dataclass, without what is at its default."""
    plain = type(value)()
    changed = {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if getattr(value, field.name) != getattr(plain, field.name)
    }
    return f"{type(value).__name__}({', '.join(f'{key}={item!r}' for key, item in changed.items())})"
