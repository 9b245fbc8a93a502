"""A figure's numbers as a Python program against the part of Gramscope that needs no window."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from explorer import __version__
from explorer.params import Params
from explorer.session import Origin

Uses = Mapping[str, tuple[str, ...]]
"""What is imported, by module."""

_TEMPLATE = '''\
"""The numbers of a figure of Gramscope {version}: {name}.

Run it with the Python that Gramscope is installed in.
"""

{imports}

source = {source}
params = {params}
{body}'''


@dataclass(frozen=True)
class Program:
    """What a kind of figure computes of `source` and `params`.

    Attributes
    ----------
    uses : mapping of str to tuple of str
    body : str
        The lines.
    """

    uses: Uses
    body: str


HEAD = Program(
    {"explorer.analysis": ("Evaluator",)},
    """\
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
""",
)
"""One head, as Explore shows it."""


def script(origin: Origin, params: Params, name: str, program: Program = HEAD) -> str:
    """Return a program that computes what is on screen and prints its main numbers.

    Parameters
    ----------
    origin : Origin
        Where the source comes from.
    params : Params
        What is set; those at their defaults are left out.
    name : str
        What the source is called.
    program : Program
        What is computed of the source.
    """
    source, uses = opening(origin)
    return _TEMPLATE.format(
        version=__version__,
        name=" ".join(name.split()).replace("\\", "/").replace('"', "'"),
        imports=_imports(uses, using(params), program.uses),
        source=source,
        params=call(params),
        body=program.body,
    )


def opening(origin: Origin) -> tuple[str, Uses]:
    """Return the call that opens a source, and what it uses."""
    if origin.recipe is not None:
        plain = origin.recipe.values == "rotation"
        make, module = ("SyntheticSource", "synthetic") if plain else ("source_of", "controls")
        uses = {"explorer.models.recipes": ("Recipe",), f"explorer.models.{module}": (make,)}
        return f"{make}({call(origin.recipe)})", uses
    if origin.paths:
        paths: Any = origin.paths[0] if len(origin.paths) == 1 else list(origin.paths)
        heads = "" if origin.heads is None else f", heads={origin.heads}"
        return f"open_path({paths!r}{heads})", {"explorer.models.open": ("open_path",)}
    return "sample_source()", {"explorer.models.digits": ("sample_source",)}


def using(params: Params) -> Uses:
    """Return what the call that makes `params` uses."""
    return {"explorer.params": ("Params",) if params.input == Params().input else ("Input", "Params")}


def call(value: Any) -> str:
    """Return the call that makes a dataclass, without what is at its default."""
    plain = type(value)()
    changed = {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if getattr(value, field.name) != getattr(plain, field.name)
    }
    return f"{type(value).__name__}({', '.join(f'{key}={item!r}' for key, item in changed.items())})"


def together(*parts: Uses) -> Uses:
    """Return everything that the parts use."""
    names: dict[str, set[str]] = defaultdict(set)
    for uses in parts:
        for module, some in uses.items():
            names[module].update(some)
    return {module: tuple(sorted(some)) for module, some in sorted(names.items())}


def _imports(*parts: Uses) -> str:
    return "\n".join(f"from {module} import {', '.join(some)}" for module, some in together(*parts).items())
