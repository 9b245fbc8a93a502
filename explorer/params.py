"""Everything a person can set about the picture, frozen; no torch, so that the window can open before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

KeyKind = Literal["sparse", "tokens", "gaussian", "replace"]
PixelKind = Literal["pixel noise", "salt and pepper", "blur", "occlusion"]
TextKind = Literal["swap", "mask", "delete"]
AttackKind = Literal["fgsm", "pgd"]
Contamination = Literal[KeyKind, PixelKind, TextKind, AttackKind]
Entry = Literal["keys", "pixels", "text", "attack"]
Target = Literal["loss", "output"]
Form = Literal["published", "pcp"]
Queries = Literal["symmetric", "asymmetric"]
Variant = Literal["softmax", "rpc", "difference", "change", "gram", "model"]

ENTERS: dict[Contamination, Entry] = {
    **dict.fromkeys(get_args(KeyKind), "keys"),
    **dict.fromkeys(get_args(PixelKind), "pixels"),
    **dict.fromkeys(get_args(TextKind), "text"),
    **dict.fromkeys(get_args(AttackKind), "attack"),
}
"""Where each kind enters: at one head's keys, or at the model's input, which is then read again."""

LEVEL_MAX: dict[Contamination, float] = {
    "sparse": 0.5, "tokens": 0.5, "gaussian": 2.0, "replace": 0.5,
    "pixel noise": 0.5, "salt and pepper": 0.5, "blur": 8.0, "occlusion": 0.5,
    "swap": 0.5, "mask": 0.5, "delete": 0.5,
    "fgsm": 0.25, "pgd": 0.25,
}  # fmt: skip
"""How far the slider goes: a share of entries, tokens, pixels, area or words; "gaussian": the noise's
deviation over the data's; "pixel noise": its deviation, and attacks: the budget ε, both in units of the full
range of a pixel; "blur": the deviation of the kernel in pixels."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is done to an input before a model reads it.

    Attributes
    ----------
    kind : str
        Any kind that does not enter at the keys.
    level : float
        In the kind's own unit, see `LEVEL_MAX`; at 0 the input stays as it is, bit for bit.
    seed : int
        Of whatever is drawn: the same seed, the same change.
    target : str
        What an attack raises: the model's own "loss", or how far a head's "output" moves.
    steps : int
        Of "pgd".
    layer, head : int
        Whose output is attacked.
    """

    kind: Contamination
    level: float
    seed: int = 0
    target: Target = "loss"
    steps: int = 10
    layer: int = 0
    head: int = 0

    @property
    def passes(self) -> int:
        """About how many passes through the model it costs before it is read; a gradient costs three."""
        return {"fgsm": 4, "pgd": 3 * self.steps + 1}.get(self.kind, 0)


@dataclass(frozen=True, slots=True)
class Input:
    """What is fed to a model.

    Attributes
    ----------
    text : str
        The text itself, for a source that reads text; empty: use `path` or the built-in sample.
    path : str
        A file (image, tensor, text with a line each) or a folder of images; empty: a built-in sample.
    index : int
        Which line, image or built-in sample, counted through all files.
    more : tuple of str
        Files that follow `path`, of its kind.
    change : Change or None
        What is done to it before it is read; None: it is clean.
    """

    text: str = ""
    path: str = ""
    index: int = 0
    more: tuple[str, ...] = ()
    change: Change | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """All files, none for a text or a built-in sample."""
        return (self.path, *self.more) if self.path and not self.text else ()


@dataclass(frozen=True, slots=True)
class Params:
    """One request, whole: equal parameters and equal source give the same numbers.

    Attributes
    ----------
    layer, head : int
        True numbers in the checkpoint, from 0.
    query : int or None
        The query token whose visible keys form the Gram of a masked head; None: the last token.
    input : Input
        What the model reads, clean.
    contamination, level, seed
        What happens to the head's keys (`explorer.maths.contamination`) or to the input, as `ENTERS` says;
        `level` is in the kind's own unit, see `LEVEL_MAX`.
    magnitude, contaminate_values
        Of kinds that enter at the keys.
    target, steps
        Of attacks, see `Change`.
    form, queries, lam, mu, iterations
        Principal attention pursuit (`explorer.maths.rpc`); None for `lam` and `mu` means the form's default.
    variant : str
        Which map the attention panel shows.
    axes : (int, int)
        The principal axes of the projection panel, from 0.
    centred : bool
        Whether projections subtract the mean map.
    device : str
        "auto", "cpu", "cuda" or "mps".
    """

    layer: int = 0
    head: int = 0
    query: int | None = None
    input: Input = Input()
    contamination: Contamination = "sparse"
    level: float = 0.0
    magnitude: float = 10.0
    seed: int = 0
    contaminate_values: bool = False
    target: Target = "loss"
    steps: int = 10
    form: Form = "published"
    queries: Queries = "symmetric"
    lam: float | None = None
    mu: float | None = None
    iterations: int = 4
    variant: Variant = "softmax"
    axes: tuple[int, int] = (0, 1)
    centred: bool = False
    device: str = "auto"

    def but(self, **changes: Any) -> Params:
        """Return a copy with `changes`."""
        return replace(self, **changes)

    @property
    def key_kind(self) -> KeyKind | None:
        """What happens to the head's keys; None where the contamination enters at the input."""
        return cast(KeyKind, self.contamination) if ENTERS[self.contamination] == "keys" else None

    @property
    def is_drawn(self) -> bool:
        """Whether anything of the contamination is drawn at random."""
        return self.contamination != "blur" and not (self.contamination == "fgsm" and self.target == "loss")

    @property
    def change(self) -> Change | None:
        """What is done to the input; None where nothing is, or the contamination enters at the keys."""
        entry = ENTERS[self.contamination]
        if entry == "keys" or self.level == 0:
            return None
        change = Change(self.contamination, self.level, self.seed)
        if entry != "attack":
            return change
        change = replace(change, target=self.target, steps=self.steps if self.contamination == "pgd" else 1)
        return change if self.target == "loss" else replace(change, layer=self.layer, head=self.head)
