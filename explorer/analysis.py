"""One picture from parameters and a source: the only place that orders the mathematics."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from explorer import stages
from explorer.curves import CurveJob, InputCurves, KeyCurves
from explorer.devices import choose
from explorer.errors import Stopped, TakesLong
from explorer.health import score_health
from explorer.input_notes import input_notes
from explorer.maps import attention_map
from explorer.maths.gram import Eigenpairs, Gram, key_gram
from explorer.maths.outputs import Outputs
from explorer.maths.outputs import errors as output_errors
from explorer.models.base import Capture, Head, ShouldStop, Source, never
from explorer.pace import duration
from explorer.params import Change, Input, Params
from explorer.reread import Places, Reread, contaminated, reread, seen
from explorer.result import Bools, Result, ScoreHealth, Spectrum


class Memo:
    """Keeps the last few values of each stage by what they were made from."""

    def __init__(self, size: int = 2) -> None:
        self._size = size
        self._kept: dict[str, OrderedDict[Hashable, Any]] = {}

    def get(self, stage: str, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the value of `stage` for `key`, made once."""
        if key not in self._kept.get(stage, ()):
            self.put(stage, key, make())
        self._kept[stage].move_to_end(key)
        return self._kept[stage][key]

    def put(self, stage: str, key: Hashable, value: Any) -> None:
        """Keep a value, in place of an older one."""
        kept = self._kept.setdefault(stage, OrderedDict())
        kept[key] = value
        kept.move_to_end(key)
        if len(kept) > self._size:
            kept.popitem(last=False)


@dataclass(frozen=True, eq=False)
class _Scene:
    """Everything of one request before it becomes numbers to draw."""

    params: Params
    source: Source
    capture: Capture
    read: Capture
    """Of the input as it was read: contaminated, or `capture` itself."""
    head: Head
    positions: NDArray[np.int64]
    query: int | None
    clean: stages.Clean
    clean_outputs: Outputs
    moved: stages.Moved
    outputs: Outputs
    gram: Gram
    pairs: Eigenpairs
    health: ScoreHealth
    inputs: int
    place: Hashable
    spectral: Hashable


class Evaluator:
    """Evaluates requests, and keeps what later ones reuse: a λ change needs no forward pass and no Gram."""

    def __init__(self) -> None:
        self._turn_to(None)

    def _turn_to(self, source: Source | None) -> None:
        self._source = source
        self._memo = Memo()
        self._curves = Memo(size=8)
        self._warm: tuple[Hashable, torch.Tensor] | None = None

    def __call__(
        self, params: Params, source: Source, should_stop: ShouldStop = never, agreed: float = math.inf
    ) -> Iterator[Result]:
        """Yield the picture as soon as it is there, then what makes it exact and complete.

        Parameters
        ----------
        agreed : float
            Seconds that an attack, and that the response curves, may take. Curves that take longer are left
            where they can be taken up again.

        Yields
        ------
        Result
            First of the level asked for, its contaminated eigenvectors warm-started where the exact ones
            are dear; then with exact ones; then with growing response curves. The last one is `final`.

        Raises
        ------
        GramscopeError
            What the person can mend: an input that does not suit, a device that is not there.
        TakesLong
            An attack takes longer than is agreed.
        Stopped
            If `should_stop` said so in the middle of something.
        """
        if source is not self._source:
            self._turn_to(source)
        begin = time.perf_counter()
        scene = self._scene(params, source, should_stop, agreed)
        job = self._job(scene)
        result = replace(self._result(scene, begin), curves=job.curves, final=scene.pairs.exact and job.done)
        yield result
        if not scene.pairs.exact and not should_stop():
            result = replace(result, moved=self._exact_spectrum(scene), final=job.done)
            yield result
        while not job.done and not should_stop():
            job.advance(should_stop)
            curves = job.curves
            assert curves is not None
            waits = curves.seconds is not None and curves.seconds > agreed
            yield replace(result, curves=replace(curves, waits=waits), final=job.done or waits)
            if waits:
                return

    def _scene(self, p: Params, source: Source, should_stop: ShouldStop, agreed: float) -> _Scene:
        memo = self._memo
        device = choose(p.device)
        stages.use_threads()
        at = (p.layer, p.input, device)
        capture = memo.get("capture", at, lambda: source.capture([p.layer], p.input, device, should_stop))
        whole = capture.head(p.layer, p.head)
        place: Hashable = (*at, p.head, p.query)
        head = memo.get("head", place, lambda: _head(whole, p.query))
        stages.use_threads(head.k.shape[0])
        _check(should_stop)
        at_clean = (place, p.queries)
        clean = memo.get("clean", at_clean, lambda: stages.clean(head, p.queries == "symmetric"))
        _check(should_stop)
        query, positions = seen(whole, p.query)
        read = capture
        if p.change is None:
            strength: Hashable = () if p.level == 0 else (p.contamination, p.level, p.magnitude, p.seed)
            hit: Hashable = (strength, p.contaminate_values)
            moved = memo.get("moved", (at_clean, hit), lambda: _move(clean, p))
        else:
            strength = hit = p.change
            self._refuse_long(p.change, (p.input, device), source, should_stop, agreed)
            read = memo.get("read", (at, hit), lambda: contaminated(source, p, p.layer, device, should_stop))
            again = _again(p, read, positions)
            moved = memo.get(
                "moved", (at_clean, hit), lambda: stages.moved_by_input(again, p.queries == "symmetric")
            )
            query = again.query
        how = (at_clean, p.form, p.lam, p.mu, p.iterations)
        clean_outputs = memo.get("clean outputs", how, lambda: stages.attend(head, clean.queries, p))
        outputs = clean_outputs
        if not moved.still:
            outputs = memo.get("outputs", (how, hit), lambda: stages.attend(moved.head, moved.queries, p))
        spectral: Hashable = (place, strength)
        gram, pairs = memo.get("moved gram", spectral, lambda: self._moved_gram(place, moved, clean))
        return _Scene(
            params=p, source=source, capture=capture, read=read, head=head, positions=positions, query=query,
            clean=clean, clean_outputs=clean_outputs, moved=moved, outputs=outputs, gram=gram, pairs=pairs,
            health=memo.get("health", place, lambda: score_health(head, whole.k.dtype)),
            inputs=memo.get("inputs", p.input.files, lambda: source.count(p.input)),
            place=place, spectral=spectral,
        )  # fmt: skip

    def _refuse_long(
        self, change: Change, at: tuple[Input, torch.device], source: Source, should_stop: ShouldStop,
        agreed: float,
    ) -> None:  # fmt: skip
        """Raise where an attack takes too long, by the time of one pass through the whole model."""
        if not change.passes or agreed == math.inf:
            return

        def one_pass() -> float:
            begin = time.perf_counter()
            source.capture([source.layers - 1], *at, should_stop)
            return time.perf_counter() - begin

        seconds = change.passes * self._memo.get("pass", at, one_pass)
        if seconds > agreed:
            many = "one gradient" if change.steps == 1 else f"{change.steps} gradients"
            raise TakesLong(f"This attack takes {duration(seconds)}: {many} through the whole model.")

    def _moved_gram(
        self, place: Hashable, moved: stages.Moved, clean: stages.Clean
    ) -> tuple[Gram, Eigenpairs]:
        if moved.still:
            return clean.gram, clean.pairs
        gram = key_gram(moved.head.k, moved.head.scale)
        if moved.head.k.shape[0] <= stages.CHEAP or moved.kept is not None:
            return gram, stages.solve(gram)
        if self._warm is None or self._warm[0] != place:
            self._warm = (place, clean.pairs.leading(stages.LEADING).vectors)
        pairs = stages.solve(gram, self._warm[1])
        self._warm = (place, pairs.vectors)
        return gram, pairs

    def _exact_spectrum(self, scene: _Scene) -> Spectrum:
        pairs = stages.solve(scene.gram)
        self._warm = (scene.place, pairs.leading(stages.LEADING).vectors)
        self._memo.put("moved gram", scene.spectral, (scene.gram, pairs))
        return stages.moved_spectrum(scene.gram, pairs, scene.clean, scene.moved)

    def _job(self, scene: _Scene) -> CurveJob:
        p = scene.params
        what = (scene.place, p.but(level=0.0, variant="softmax", axes=(0, 1), centred=False))
        return self._curves.get("curves", what, lambda: _curves(scene))

    def _result(self, scene: _Scene, begin: float) -> Result:
        p, clean, moved = scene.params, scene.clean, scene.moved
        values, title, formula = attention_map(p, clean, moved, scene.outputs.rpc, scene.gram)
        norms = clean.errors
        touched = moved.touched.cpu().numpy()
        left = None if moved.kept is None else moved.kept.cpu().numpy()
        return Result(
            params=p,
            source=scene.source.name,
            tokens=moved.head.tokens,
            positions=scene.positions if left is None else scene.positions[left],
            query=scene.query,
            contaminated=touched,
            image=scene.read.image,
            grid=scene.capture.grid,
            map=values,
            map_title=title,
            map_formula=formula,
            clean=stages.clean_spectrum(clean, moved),
            moved=stages.moved_spectrum(scene.gram, scene.pairs, clean, moved),
            projection=stages.projection(clean, moved, p),
            errors=stages.errors(scene.clean_outputs, scene.outputs, moved),
            pursuit=stages.pursuit(moved, scene.clean_outputs, scene.outputs, p),
            curves=None,
            log10_norm_phi=float(norms.log_phi) / stages.LN10,
            log10_norm_output=float(norms.log_output) / stages.LN10,
            log10_error_axes=float(norms.log_error_axes) / stages.LN10,
            log10_error_learned=float(norms.log_error_learned) / stages.LN10,
            error_learned_negative=bool(norms.learned_negative),
            plain_kernel=scene.head.plain_kernel,
            length=len(scene.capture.tokens),
            inputs=scene.inputs,
            captured_bytes=sum(heads.bytes for heads in scene.capture.layers.values()),
            text=scene.read.text,
            clean_text=scene.capture.text,
            clean_image=scene.capture.image,
            clean_tokens=scene.head.tokens,
            changed=touched if p.key_kind is None else np.zeros_like(touched),
            clean_changed=_clean_changed(scene, touched, left),
            device=clean.head.k.device.type,
            dtype=str(clean.head.k.dtype).removeprefix("torch."),
            milliseconds=(time.perf_counter() - begin) * 1e3,
            final=False,
            notes=_notes(scene),
            health=scene.health,
            decomposition=stages.decomposition(clean, moved, scene.outputs.rpc),
            head=scene.head,
            moved_head=moved.head,
        )


def _check(should_stop: ShouldStop) -> None:
    if should_stop():
        raise Stopped


def _head(whole: Head, query: int | None) -> Head:
    stages.room_for(whole, query)
    return stages.prepare(whole, query)


def _move(clean: stages.Clean, p: Params) -> stages.Moved:
    """Contaminate the keys; contamination of the input at level 0 leaves all as it is."""
    return stages.leave(clean) if p.key_kind is None else stages.move(clean, p.key_kind, p)


def _again(p: Params, read: Capture, positions: Places) -> Reread:
    return reread(read, p.layer, p.head, p.query, positions)


def _curves(scene: _Scene) -> CurveJob:
    p, clean = scene.params, scene.clean
    if p.key_kind is not None:
        return KeyCurves(clean, p.key_kind, p)
    device = clean.head.k.device

    def errors_at(at: Params, should_stop: ShouldStop) -> dict[str, torch.Tensor]:
        if at.change is None:
            return output_errors(scene.clean_outputs, scene.clean_outputs)
        again = _again(at, contaminated(scene.source, at, at.layer, device, should_stop), scene.positions)
        stages.use_threads(clean.head.k.shape[0])
        moved = stages.moved_by_input(again, at.queries == "symmetric")
        outputs = stages.attend(moved.head, moved.queries, at)
        return output_errors(stages.comparable(scene.clean_outputs, moved), outputs)

    return InputCurves(errors_at, p)


def _clean_changed(scene: _Scene, touched: Bools, left: Places | None) -> Bools:
    """Return which tokens of the clean head are others in the contaminated input, or gone."""
    changed = np.ones(len(scene.positions), dtype=np.bool_)
    if scene.params.key_kind is not None:
        return ~changed
    changed[slice(None) if left is None else left] = touched
    return changed


def _notes(scene: _Scene) -> tuple[str, ...]:
    head, notes = scene.head, list(dict.fromkeys((*scene.capture.notes, *scene.read.notes)))
    notes += input_notes(scene.params, scene.capture, scene.read, scene.positions, scene.moved)
    heads = scene.capture.layers[scene.params.layer]
    if scene.query is not None:
        token = scene.capture.tokens[scene.query].text
        notes.append(
            f"A masked head: everything is as the query “{token}” (token {scene.query}) sees it, and "
            "V* projects for that query exactly, for no other."
        )
    if heads.q.shape[0] != heads.k.shape[0]:
        notes.append(f"Query head {head.index} is served by key head {head.kv_index} of {heads.k.shape[0]}.")
    if not head.plain_kernel:
        what = "caps its scores" if head.softcap is not None else "adds a position bias to its scores"
        notes.append(f"This head {what}: its kernel is not exp(τ x·y), and the Gram panels leave that out.")
    reason = stages.why_no_pursuit(head)
    if reason:
        notes.append(reason)
    if scene.params.queries == "asymmetric":
        whose = "clean" if scene.params.key_kind else "own"
        notes.append(f"Asymmetric RPC, an extension: the head's {whose} queries attend to the pursued keys.")
    return tuple(notes)
