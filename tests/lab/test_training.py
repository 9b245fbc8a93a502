"""What training must reach, from random starts."""

from __future__ import annotations

import pytest
import torch

from explorer.lab.probe import Probe
from explorer.lab.setting import Data, Setting
from explorer.lab.trainer import train
from explorer.maths.attention_pca import attend, readout
from explorer.maths.attention_pca_limits import transition

KINDS = ("softmax", "linear")
TABLE = Data("drawn", spectrum=(4, 2, 1, 1, 0.5))


@pytest.mark.parametrize("length", [64, 512])
@pytest.mark.parametrize("kind", KINDS)
def test_every_seed_finds_the_leading_eigenvector(kind, length):
    """d = 10, θ = 3, λ = 1/σ_1, fixed Σ, ten seeds: |m·u_1| at least 0.99 in all."""
    found = [
        train(Setting(kind=kind, length=length, batch=64, rate=0.05, seed=seed), 400).alignment()
        for seed in range(10)
    ]
    assert min(found) >= 0.99, found


@pytest.mark.parametrize("kind", KINDS)
def test_the_common_spike_is_found_in_context(kind):
    """ν = 20, L = 64, 800 steps, λ under the transition of these covariances."""
    setting = Setting(data=Data("wishart", degrees=20), kind=kind, batch=64, coupling=0.5)
    for seed in range(3):
        trainer = train(setting.but(seed=seed), 800)
        assert trainer.snapshot().limits.critical > 0.5
        assert trainer.alignment() >= 0.99


def test_past_the_transition_of_wishart_prompts_the_linear_head_misses_the_spike():
    setting = Setting(data=Data("wishart", degrees=20), kind="linear", batch=64, coupling=1.0)
    trainer = train(setting, 800)
    assert trainer.snapshot().limits.critical < 1
    assert 0.8 < trainer.alignment() < 0.97


@pytest.mark.parametrize(("share", "expected"), [(0.97, 1.0), (1.2 / 1.0588, 0.934), (2 / 1.0588, 0.701)])
def test_infinite_prompts_on_both_sides_of_the_transition(share, expected):
    """Spectrum 4, 2, 1, 1, 0.5: transition at λσ_1 = 1.0588; the tilt is the closed form's."""
    setting = Setting(data=TABLE, length=None, coupling=share * transition(TABLE.spectrum), rate=0.1)
    found = [train(setting.but(seed=seed), 1500).alignment() for seed in range(3)]
    assert found == pytest.approx([expected] * 3, abs=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_finite_prompts_on_both_sides_of_the_transition(kind):
    setting = Setting(data=TABLE, kind=kind, length=256, batch=64, rate=0.1)
    below = train(setting.but(coupling=0.7), 500)
    beyond = train(setting.but(coupling=2.0), 500)
    assert below.snapshot().limits.critical > 0.9 > below.setting.coupling
    assert below.alignment() > 0.99
    assert beyond.alignment() < 0.8
    assert beyond.snapshot().directions[:, 0][-1] ** 2 > 0.3, "tilts towards the smallest eigenvector"


@pytest.mark.parametrize("kind", KINDS)
def test_a_free_matrix_follows_every_prompts_own_spike_and_a_rank_one_head_does_not(kind):
    """θ = 3, d = 10, L = 64, 200 new prompts: within 0.02 of sample PCA's mean cosine."""
    setting = Setting(data=Data("per-prompt"), kind=kind, structure="free", batch=64, rate=0.1)
    free = train(setting, 600)
    start = train(setting, 0)
    one = train(setting.but(structure="one"), 600)
    probe = Probe(free.prompts, setting.but(seed=77), count=200)
    maps = {
        name: trainer.learner.maps() for name, trainer in (("free", free), ("start", start), ("one", one))
    }
    found = {name: probe.recovery(kind, w) for name, w in maps.items()}
    assert found["free"] >= probe.pca - 0.02
    assert found["one"] < probe.pca - 0.2
    assert not torch.allclose(maps["free"], maps["start"], atol=0.1), "it was trained, not set"
    cosines = (readout(attend(kind, probe.x, maps["free"])) * probe.directions).sum(1).abs()
    assert cosines.mean().item() == pytest.approx(found["free"], abs=1e-5)


@pytest.mark.parametrize("structure", ["heads", "frame"])
def test_several_directions_span_the_leading_subspace(structure):
    data = Data("drawn", spectrum=(4, 3.5, 3, 0.5, 0.4, 0.3))
    trainer = train(Setting(data=data, structure=structure, rank=3, length=None, rate=0.2), 1500)
    m = trainer.learner.directions()
    q = torch.linalg.qr(m)[0]
    shares = (trainer.prompts.basis.mT @ q).square().sum(1)
    assert shares[:3].min() > 0.99
    if structure == "frame":
        torch.testing.assert_close(m.mT @ m, torch.eye(3), atol=1e-5, rtol=0)


def test_a_learned_coupling_reaches_the_best_one():
    trainer = train(Setting(length=None, coupling=0.3, learn_coupling=True), 400)
    assert trainer.learner.coupling == pytest.approx(1, abs=1e-3)
    assert trainer.alignment() > 0.9999
    assert trainer.snapshot().curves.loss[-1] == pytest.approx(9, abs=1e-3)


def test_digits():
    trainer = train(Setting(data=Data("rows"), length=None, coupling=0.8, rate=0.3), 1500)
    assert trainer.prompts.d == 64
    assert trainer.alignment() > 0.99
    assert train(Setting(data=Data("rows", whiten=True), length=None), 1).prompts.d == 61
