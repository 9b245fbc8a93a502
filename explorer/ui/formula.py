"""Sets formulas as rich text: variables in italics, indices and exponents in their place."""

from __future__ import annotations

import html
import re

_PART = re.compile(
    r"""
    (?P<script>[_^](?:\{(?P<group>[^{}]*)\}|(?P<one>\w[̃̂′]?|\*)))   # a_j, a_{jd}, V^*
    | (?P<word>[^\W\d_]{2,}(?![̃̂]))                                        # softmax, exp, mean
    | (?P<letter>[^\W\d_][̃̂]?)                                             # k, φ, K̃
    | (?P<rest>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_UPRIGHT = set("ΣΠ")


def formula(text: str) -> str:
    """Return a formula in HTML as Qt's labels and browsers draw it.

    Single letters become italic, longer words (softmax, exp) stay upright. `_` lowers and `^` raises the
    letter or the {group} that follows, in which pairs of letters are italic too:
    ``V^*_{jd} = (a_{jd} − mean_j a_{jd}) / g(k_j)``.
    """
    return "".join(_set(match) for match in _PART.finditer(text))


def strong(html_: str) -> str:
    """Return HTML in the shipped semi-bold: <b> asks for a weight that is not shipped, and is smeared."""
    return f'<span style="font-weight: 600">{html_}</span>'


def _set(match: re.Match[str]) -> str:
    if match["script"]:
        tag = "sub" if match["script"][0] == "_" else "sup"
        inner = match["group"] if match["group"] is not None else match["one"]
        pair = len(inner) == 2 and inner.isalpha()
        return f"<{tag}>{f'<i>{inner}</i>' if pair else formula(inner)}</{tag}>"
    if match["letter"] and match["letter"] not in _UPRIGHT:
        return f"<i>{match['letter']}</i>"
    return html.escape(match[0], quote=False)


def prose(text: str) -> str:
    """Return prose in HTML, with what stands between $ signs set as a formula."""
    parts = text.split("$")
    return "".join(formula(part) if i % 2 else html.escape(part, quote=False) for i, part in enumerate(parts))
