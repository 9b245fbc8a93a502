"""Trains attention heads to reconstruct tokens, step by step; a setting may change between steps."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.errors import GramscopeError
from explorer.lab import learners
from explorer.lab.benchmarks import benchmarks
from explorer.lab.corruption import corrupt
from explorer.lab.history import History
from explorer.lab.landscape import Landscape
from explorer.lab.probe import Probe
from explorer.lab.prompts import open_prompts
from explorer.lab.references import References, second_moment
from explorer.lab.setting import Setting
from explorer.lab.snapshot import Curves, Snapshot
from explorer.maths import attention_pca as pca

RESTARTING = ("structure", "rank", "seed")
LARGEST_STEP = 1e4
MOST_NUMBERS = 2**25
COUPLING = ("coupling", "learn_coupling")
LIMITING = (
    "data", "kind", "structure", "rank", "length",
    "contamination", "level", "magnitude", "clean", "iterations",
)  # fmt: skip


class Trainer:
    """One run. Equal settings from the start give equal numbers.

    Attributes
    ----------
    setting : Setting
    prompts : Prompts
    learner : Learner
    step_count : int
    """

    def __init__(self, setting: Setting) -> None:
        self.restart(setting)

    def restart(self, setting: Setting) -> None:
        """Begin again at a random start.

        Raises
        ------
        GramscopeError
            If the setting's data cannot be had or a step would be too large; then nothing changed.
        """
        prompts = open_prompts(setting.data)
        _check_size(setting, prompts.d)
        self.prompts, self.setting = prompts, setting
        self.step_count = 0
        self._generator = torch.Generator().manual_seed(setting.seed)
        self.learner = learners.start(setting, self.prompts.d, self._generator)
        self._references = References(_unit(self.prompts.d, self._generator))
        self._history = History(self.prompts.d + 5)
        self._prepare()
        self._record(float("nan"))

    def change(self, setting: Setting) -> bool:
        """Go on under another setting where the parameters keep their meaning, else begin again.

        Returns
        -------
        bool
            Whether it began again: another d, structure, number of heads or seed.

        Raises
        ------
        GramscopeError
            As `restart`; then nothing changed.
        """
        old = self.setting
        prompts = self.prompts if setting.data == old.data else open_prompts(setting.data)
        _check_size(setting, prompts.d)
        if prompts.d != self.prompts.d or _differ(old, setting, RESTARTING):
            self.restart(setting)
            return True
        self.setting, self.prompts = setting, prompts
        if isinstance(self.learner, learners.Directions) and _differ(old, setting, COUPLING):
            self.learner.coupling = setting.coupling
        if _differ(old, setting, LIMITING):
            self._references.forget()
            self._prepare()
        return False

    def _prepare(self) -> None:
        """Draw what the pictures of this setting are held against."""
        self._variances = torch.from_numpy(self.prompts.eigenvalues / self.prompts.scale).float()
        self.probe = Probe(self.prompts, self.setting)
        self._benchmarks = benchmarks(self.prompts, self.setting, self.probe.pca)
        self._landscape = Landscape(self.prompts) if self.prompts.d == 3 else None

    def step(self) -> None:
        """Draw fresh prompts, descend once, and show the first of them to the references.

        Raises
        ------
        GramscopeError
            If the step would be absurdly large, or no number; the parameters stay as they were.
        """
        loss, gradient, moment = self._evaluate()
        if not float(gradient.abs().max()) * self.setting.rate < LARGEST_STEP:
            raise GramscopeError(
                f"Training ran away after {self.step_count} steps. Lower the learning rate, then press Reset."
            )
        self.learner.step(gradient, self.setting)
        self._references.see(moment, self.setting.rate)
        self.step_count += 1
        if self._history.wants(self.step_count):
            self._record(float(loss) * self.prompts.scale)

    def _evaluate(self) -> tuple[Tensor, Tensor, Tensor]:
        setting, w = self.setting, self.learner.maps()
        if setting.length is None:
            covariance = self.prompts.covariances(setting.batch, self._generator)
            loss, gradient = pca.population_loss(covariance, w)
            return loss, gradient, covariance if covariance.ndim == 2 else covariance.mean(0)
        x, _ = self.prompts.sample(setting.batch, setting.length, self._generator)
        x = corrupt(x, setting, self.prompts, self._generator)
        loss, gradient = pca.prompt_loss(setting.kind, x, w)
        return loss, gradient, second_moment(x[0])

    def _record(self, loss: float) -> None:
        seen = (float("nan"),) * 2
        if self._references.steps and self.prompts.has_direction:
            seen = self._references.aligned(self.prompts.basis[:, 0])
        recovery = self.recovery() if self.reads_out else float("nan")
        self._history.add([self.step_count, loss, *seen, recovery, *self._components().tolist()])

    def _components(self) -> Tensor:
        return self.learner.components(self.prompts.basis, self._variances)

    @property
    def reads_out(self) -> bool:
        """Whether the direction is read from the outputs: a free W, or a spike of its own in every prompt."""
        return self.setting.structure == "free" or not self.prompts.has_direction

    def recovery(self) -> float:
        """Return the mean |cos| of the readout of held-out prompts with their own directions."""
        return self.probe.recovery(self.setting.kind, self.learner.maps())

    def alignment(self) -> float:
        """Return how well the direction is found: |m·u_1|, or `recovery` where the outputs tell it."""
        return self.recovery() if self.reads_out else float(self._components()[0].abs())

    def snapshot(self) -> Snapshot:
        """Return this moment, to be drawn."""
        prompts, maps = self.prompts, self.learner.maps()
        total, directions = maps.sum(0), self.learner.directions()
        coupling = self.learner.coupling
        return Snapshot(
            setting=self.setting,
            step=self.step_count,
            curves=self._curves(),
            eigenvalues=prompts.eigenvalues,
            covariance=prompts.covariance.numpy() * prompts.scale,
            learned=(prompts.covariance.float() @ total.mT).numpy(),
            directions=(prompts.basis.mT @ directions).numpy(),
            singular_values=torch.linalg.svdvals(total).numpy(),
            weights=self.probe.weights(self.setting.kind, maps),
            projections=self.probe.projections(directions),
            coupling=coupling,
            scale=prompts.scale,
            seen_leading=self._seen_leading(),
            limits=self._benchmarks.limits(coupling),
            sphere=None if self._landscape is None else self._landscape.at(coupling),
        )

    def _seen_leading(self) -> float:
        seen = self._references
        if not seen.steps:
            return float("nan")
        return float(torch.linalg.eigvalsh(seen.moment)[-1]) / seen.steps * self.prompts.scale

    def _curves(self) -> Curves:
        rows = self._history.rows()
        steps, loss, sample_pca, oja, recovery = rows[:, :5].T
        return Curves(steps, loss, rows[:, 5:], sample_pca, oja, recovery)


def _check_size(setting: Setting, d: int) -> None:
    numbers = setting.batch * d * (d if setting.length is None else setting.length)
    if numbers > MOST_NUMBERS:
        raise GramscopeError(
            f"A step would need prompts of {numbers:,} numbers; {MOST_NUMBERS:,} are possible. Lower the "
            "batch, L or d."
        )


def _differ(old: Setting, new: Setting, names: tuple[str, ...]) -> bool:
    return any(getattr(old, name) != getattr(new, name) for name in names)


def _unit(d: int, generator: torch.Generator) -> Tensor:
    direction = torch.randn(d, generator=generator)
    return direction / torch.linalg.vector_norm(direction)


def train(setting: Setting, steps: int) -> Trainer:
    """Return a trainer after `steps` steps."""
    trainer = Trainer(setting)
    for _ in range(steps):
        trainer.step()
    return trainer
