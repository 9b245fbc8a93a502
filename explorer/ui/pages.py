"""The pages of the help window, as the rich text that Qt draws."""

from __future__ import annotations

import html
from collections.abc import Sequence

from explorer import __version__
from explorer.ui.definitions import CANDES, DEFINITIONS, MAULEN, SARITAS, SYMBOLS, TEO, Definition
from explorer.ui.definitions_evidence import EVIDENCE
from explorer.ui.definitions_heads import HEADS
from explorer.ui.definitions_lab import LAB
from explorer.ui.definitions_model import MODEL
from explorer.ui.formula import formula, prose
from explorer.ui.theme import scheme
from explorer.views.picture import Picture

ALL = DEFINITIONS | HEADS | MODEL | EVIDENCE | LAB
"""By the panels' names, in the order of the pages."""


def definition_of(view: Picture) -> Definition:
    """Return what a panel means."""
    return ALL[view.name]


def definition_page(definition: Definition) -> str:
    """Return a definition with its formulas set."""
    lines = "<br>".join(map(formula, definition.formulas))
    return "".join(
        (
            _heading(definition.title, 1),
            _paragraph(definition.what),
            _block(lines) if lines else "",
            _list("How to read it", definition.read),
            _list("How not to read it", definition.misread),
            _small("Sources: " + "; ".join(definition.sources) + ".") if definition.sources else "",
        )
    )


def symbols_page() -> str:
    """Return the symbols with their meaning."""
    rows = "".join(
        f'<tr><td style="padding: 4px 24px 4px 0; white-space: nowrap">{formula(symbol)}</td>'
        f'<td style="padding: 4px 0">{prose(meaning)}</td></tr>'
        for symbol, meaning in SYMBOLS
    )
    return f'{_heading("Symbols", 1)}<table cellspacing="0">{rows}</table>'


def about_page() -> str:
    """Return what this program is, in a few lines."""
    return "".join(
        (
            _heading(f"Gramscope {__version__}", 1),
            _paragraph(
                "Shows attention as kernel principal component analysis, and what contamination does to "
                "softmax and to RPC-Attention."
            ),
            _paragraph(
                "Papers claim that attention does kernel PCA; a later study says that the claim fails. "
                "Look at your own model."
            ),
            _list("Sources", (TEO, SARITAS, MAULEN, CANDES)),
        )
    )


def _heading(text: str, level: int) -> str:
    below = 16 if level == 1 else 8
    return f'<h{level} style="margin: 0 0 {below}px 0; font-weight: 600">{html.escape(text)}</h{level}>'


def _paragraph(text: str) -> str:
    return f'<p style="margin: 0 0 12px 0; line-height: 130%">{prose(text)}</p>'


def _block(inner: str) -> str:
    return (
        f'<table width="100%" cellspacing="0" cellpadding="12" style="margin: 4px 0 16px 0" '
        f'bgcolor="{scheme().raised}"><tr><td>'
        f'<p style="font-size: 15px; line-height: 160%">{inner}</p></td></tr></table>'
    )


def _list(title: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    lines = "".join(f'<li style="margin: 0 0 6px 0; line-height: 130%">{prose(item)}</li>' for item in items)
    return f'{_heading(title, 3)}<ul style="margin: 0 0 12px 0; -qt-list-indent: 1">{lines}</ul>'


def _small(text: str) -> str:
    return f'<p style="font-size: 11px; color: {scheme().secondary}">{html.escape(text)}</p>'
