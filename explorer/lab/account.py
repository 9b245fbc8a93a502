"""What the present experiment is, in formulas with its numbers put in, and what is known about it.

Formulas are in the notation of `explorer.ui.formula`; in prose they stand between $ signs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.lab.setting import IN_CONTEXT, Data, Setting
from explorer.lab.snapshot import SAME, Snapshot, has_gap


@dataclass(frozen=True, slots=True)
class Account:
    """What a person is told about the present experiment.

    Attributes
    ----------
    formulas : tuple of str
        The head, and what its loss is held against, with numbers.
    proved, measured : str
    warnings : tuple of str
    """

    formulas: tuple[str, ...]
    proved: str
    measured: str
    warnings: tuple[str, ...]


def account(snapshot: Snapshot) -> Account:
    """Return what there is to say of a moment of training."""
    return Account(
        (_head(snapshot), *_limits(snapshot)),
        _proved(snapshot),
        _measured(snapshot),
        tuple(_warnings(snapshot)),
    )


def described(data: Data) -> str:
    """Return in a few words where the tokens come from."""
    nu = "∞" if data.degrees is None else str(data.degrees)
    table = data.path.replace("\\", "/").rpartition("/")[2] or "digits of scikit-learn"
    return {
        "spiked": f"N(0, I + θvvᵀ), d = {data.d}, θ = {data.theta:g}",
        "power": f"N(0, Σ), σ_j ∝ j^−{data.exponent:g}, d = {data.d}",
        "flat": f"N(0, I), d = {data.d}",
        "drawn": f"N(0, Σ), spectrum drawn by hand, d = {len(data.spectrum)}",
        "wishart": f"Wishart prompts, common spike, d = {data.d}, ν = {nu}, θ = {data.theta:g}",
        "per-prompt": f"a spike of its own in every prompt, d = {data.d}, ν = {nu}, θ = {data.theta:g}",
        "rows": f"rows of {table}{', whitened' if data.whiten else ''}",
        "covariance": f"N(0, Σ) with Σ from {table}",
    }[data.family]


def number(value: float) -> str:
    """Return a number in three or four figures, in the notation of formulas."""
    digits, _, power = f"{value:.4g}".replace("-", "−").partition("e")
    return f"{digits} × 10^{{{power.replace('+', '').replace('−0', '−').lstrip('0')}}}" if power else digits


def _head(snapshot: Snapshot) -> str:
    """Return the head with λ and L as numbers, in the data's own units."""
    setting = snapshot.setting
    length, rank = setting.length, snapshot.directions.shape[1]
    if snapshot.coupling is None:
        score, infinite = "X_l·W X_k", "Σ W^T x"
    else:
        lam = number(snapshot.coupling / snapshot.scale)
        score, infinite = {
            "one": (f"{lam} X_l·m m·X_k", f"{lam} Σ m m^T x"),
            "heads": (f"{lam} X_l·m_r m_r·X_k", f"{lam} Σ ({_outer_products(rank)}) x"),
            "frame": (f"{lam} X_l·M M^T X_k", f"{lam} Σ M M^T x, M^T M = I, {rank} columns"),
        }[setting.structure]
    if length is None:
        return f"T(x) = {infinite}, softmax and linear alike at L = ∞"
    heads = f"Σ_{{r=1}}^{{{rank}}} " if setting.structure == "heads" else ""
    if setting.kind == "softmax":
        return f"T(X)_l = {heads}Σ_{{k=1}}^{{{length}}} softmax_k({score}) X_k"
    return f"T(X)_l = {heads}1/{length} Σ_{{k=1}}^{{{length}}} ({score}) X_k"


def _outer_products(rank: int) -> str:
    terms = [f"m_{r} m_{r}^T" for r in sorted({1, 2, rank}) if r <= rank]
    return " + … + ".join((terms[0], terms[-1])) if rank > 2 else " + ".join(terms)


def _limits(snapshot: Snapshot) -> list[str]:
    setting, limits = snapshot.setting, snapshot.limits
    total, scale = float(snapshot.eigenvalues.sum()), snapshot.scale
    infinite = "L = ∞, clean" if setting.corrupts else "L = ∞"
    parts = []
    if setting.structure == "one" and setting.data.family not in IN_CONTEXT:
        best = f"tr Σ − σ_1 = {number(total)} − {number(scale)} = {number(total - scale)}"
        parts.append(f"at the best λ, {infinite}: {best}")
    elif limits.loss is not None:
        what = "W" if setting.structure == "free" else "λ"
        parts.append(f"at the best {what}, {infinite}: {number(limits.loss)}")
    if limits.loss_at_coupling is not None and snapshot.coupling is not None:
        parts.append(f"at λσ_1 = {number(snapshot.coupling)}: {number(limits.loss_at_coupling)}")
    lines = ["; ".join(parts)] if parts else []
    if limits.critical is not None:
        lines.append(_transition(snapshot, limits.critical))
    return lines


def _transition(snapshot: Snapshot, critical: float) -> str:
    if _is_plain(snapshot.setting):
        ratio = number(float(snapshot.eigenvalues[-1]) / snapshot.scale)
        rule = f"λσ_1 ≤ 2(1 + ρ)/(2 + ρ) = {number(critical)}, ρ = σ_{{min}}/σ_1 = {ratio}"
    else:
        rule = f"λσ_1 ≤ {number(critical)}, over the covariances that this head sees"
    return f"u_1 is the minimum while {rule}"


def _is_plain(setting: Setting) -> bool:
    """Return whether the transition is that of Σ itself."""
    plain = setting.kind == "softmax" and not setting.corrupts
    return setting.data.family not in IN_CONTEXT and (setting.length is None or plain)


def _proved(snapshot: Snapshot) -> str:
    setting, family = snapshot.setting, snapshot.setting.data.family
    if setting.corrupts:
        return "nothing for contaminated or cleaned prompts."
    if setting.structure == "free":
        return _proved_of_free(snapshot)
    if family == "per-prompt":
        return "nothing that helps: one fixed direction cannot follow a spike that changes."
    if setting.structure != "one":
        return (
            "at $L = ∞$, the loss and its gradient in closed form; not what several directions converge to."
        )
    if family == "wishart":
        return (
            "the population loss of these covariances; that a common spike is learned in context, at a small "
            "enough $λ$ (Maulen-Soto and Boyer)."
        )
    if family == "rows":
        return (
            "the closed form at $L = ∞$ for a linear head, which sees $Σ$ alone; for a softmax head only of "
            "Gaussian tokens, which rows of a table are not."
        )
    exact = (
        "the closed form at $L = ∞$, its minimum at $±u_1$ for the best $λ$, and the transition in $λ$ "
        "(Maulen-Soto and Boyer)"
    )
    return exact + ("." if setting.length is None else "; at finite $L$ it is the limit, and no floor.")


def _proved_of_free(snapshot: Snapshot) -> str:
    family, values = snapshot.setting.data.family, snapshot.eigenvalues
    if family in IN_CONTEXT:
        return "in the linear form, $W ∝ I$ read out is sample PCA of each prompt, identically."
    best = "the pseudo-inverse $W = Σ^+$" if values[-1] < SAME * values[0] else "$W = Σ^{-1}$"
    gaussian = " (softmax: Gaussian ones)" if family == "rows" else ""
    return f"for a shared $Σ$ at $L = ∞$, {best} reproduces every token{gaussian}."


def _measured(snapshot: Snapshot) -> str:
    setting = snapshot.setting
    found = "how far this run gets from its random start, at this batch and learning rate"
    if setting.length is not None:
        found += f", and what $L = {setting.length}$ does to it"
    if snapshot.limits.bbp is not None:
        found += "; the Baik–Ben Arous–Péché limit holds for sample PCA of one prompt as $d$ and $L$ grow"
    return found + "."


def _warnings(snapshot: Snapshot) -> list[str]:
    data, values = snapshot.setting.data, snapshot.eigenvalues
    found = []
    if snapshot.setting.structure != "free":
        if data.family == "per-prompt":
            found.append(
                "A fixed direction cannot follow a spike of its own in every prompt: choose a free W."
            )
        elif snapshot.setting.structure == "frame" and snapshot.setting.rank >= len(values):
            found.append("The frame spans the whole space: its alignment is 1 whatever it learns.")
        elif not has_gap(values, snapshot.directions.shape[1]):
            found.append(_tie(snapshot.directions.shape[1]))
        elif _is_past(snapshot):
            found.append(_tilt(snapshot))
    if snapshot.setting.wants_corruption and not snapshot.setting.corrupts:
        found.append(
            "At $L = ∞$ the loss is in closed form, of clean tokens: contamination and cleaning change "
            "nothing. Choose a finite $L$."
        )
    if values[-1] < SAME * values[0] and data.family not in IN_CONTEXT:
        rank = int(np.sum(values > SAME * values[0]))
        found.append(f"$Σ$ is singular (rank {rank} of {len(values)}): the minimiser is not unique.")
    return found


def _tie(sought: int) -> str:
    leads = "no direction leads" if sought == 1 else f"no {sought} directions lead"
    return f"The eigenvalues $σ_{{{sought}}}$ and $σ_{{{sought + 1}}}$ are equal: {leads}."


def _is_past(snapshot: Snapshot) -> bool:
    critical, coupling = snapshot.limits.critical, snapshot.coupling
    if critical is None or coupling is None or snapshot.setting.learn_coupling:
        return False
    return coupling > critical * (1 + 1e-6)


def _tilt(snapshot: Snapshot) -> str:
    coupling, critical = snapshot.coupling or 0.0, snapshot.limits.critical or 0.0
    tilts = "towards the smallest eigenvector" if _is_plain(snapshot.setting) else "away from it"
    return (
        f"$λσ_1 = {number(coupling)}$ is past the transition at ${number(critical)}$: $u_1$ is no longer the "
        f"minimum, and $m$ tilts {tilts}. Lower λ."
    )
