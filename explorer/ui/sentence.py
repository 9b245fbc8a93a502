"""The one sentence of truth under the panels."""

from __future__ import annotations

from explorer.result import Result


def number(value: float) -> str:
    """Return an error with the three digits it deserves, zeros too."""
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:#.3g}".rstrip(".") if value else "0"


def sentence(result: Result) -> str:
    """Say in words how softmax and RPC stand at this level, with their numbers."""
    errors, p = result.errors, result.params
    if errors is None:
        return result.notes[0] if result.notes else "This head has no output to compare."
    if p.level == 0:
        if errors.rpc_to_softmax != errors.rpc_to_softmax:
            return "Nothing is contaminated."
        return (
            "Nothing is contaminated. On clean data RPC's output differs from softmax's by "
            f"{number(errors.rpc_to_softmax)} of its norm."
        )
    if errors.rpc != errors.rpc:
        return f"Softmax's output moves by {number(errors.softmax)} of its norm; RPC is not defined here."
    s, r = errors.softmax, errors.rpc
    if number(r) == number(s):
        verdict = f"RPC and softmax are as far from their clean outputs ({number(r)})"
    else:
        side = "closer to" if r < s else "further from"
        verdict = f"RPC is {side} its own clean output than softmax is ({number(r)} against {number(s)})"
    left = len(result.tokens)
    if left < len(result.clean_tokens):
        verdict = f"Over the {left} tokens that are left, {verdict}"
    away = f"from softmax's clean output RPC is {number(errors.rpc_to_softmax)} away"
    if errors.uniform <= errors.rpc_to_softmax:
        away += f", no nearer than the mean of the values ({number(errors.uniform)}), which ignores the keys"
    return f"{verdict}; {away}."


def small_print(result: Result) -> str:
    """Return how long the computation took, where and in which precision, and what the heads take up."""
    state = "" if result.final else " · working"
    kept = f"heads {result.captured_bytes / 2**20:.1f} MiB"
    return f"{result.milliseconds:.0f} ms · {result.device.upper()} {result.dtype} · {kept}{state}"
