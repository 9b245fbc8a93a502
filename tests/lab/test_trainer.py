from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.errors import GramscopeError
from explorer.lab.setting import Data, Setting
from explorer.lab.trainer import Trainer, train
from explorer.maths.attention_pca import one_map, population_loss
from explorer.maths.attention_pca_limits import bbp_cosine, transition

SMALL = Setting(batch=16, length=16)


def test_equal_settings_give_equal_numbers():
    one, other = (train(SMALL, 20).snapshot() for _ in range(2))
    np.testing.assert_array_equal(one.directions, other.directions)
    np.testing.assert_array_equal(one.curves.loss, other.curves.loss)
    assert not np.array_equal(train(SMALL.but(seed=1), 20).snapshot().directions, one.directions)


def test_the_first_snapshot_is_the_random_start():
    snapshot = Trainer(SMALL).snapshot()
    assert snapshot.step == 0
    assert len(snapshot.curves.steps) == 1
    assert np.isnan(snapshot.curves.loss[0])
    assert 0 < abs(snapshot.curves.components[0, 0]) < 0.99


def test_what_a_snapshot_holds():
    snapshot = train(SMALL.but(data=Data(d=3)), 5).snapshot()
    np.testing.assert_allclose(snapshot.eigenvalues, [4, 1, 1])
    np.testing.assert_allclose(snapshot.covariance, np.diag([4, 1, 1]))
    assert snapshot.curves.components.shape == (6, 3)
    np.testing.assert_allclose(np.linalg.norm(snapshot.directions[:, 0]), 1, rtol=1e-5)
    np.testing.assert_allclose(snapshot.curves.components[-1], snapshot.directions[:, 0], atol=1e-6)
    assert snapshot.weights.shape == snapshot.projections.shape == (16, 1)
    np.testing.assert_allclose(snapshot.weights.sum(), 1, rtol=1e-5)
    m = snapshot.directions[:, 0]
    np.testing.assert_allclose(snapshot.learned, np.diag([4, 1, 1]) @ np.outer(m, m) / 4, atol=1e-5)
    assert snapshot.limits.loss == pytest.approx(2)
    assert snapshot.limits.bbp == pytest.approx(bbp_cosine(3, 3 / 16))
    assert snapshot.limits.critical == pytest.approx(transition([4, 1, 1]), rel=1e-5)


def test_the_sphere_shows_the_loss():
    snapshot = train(
        Setting(data=Data("drawn", spectrum=(4, 2, 1)), length=None, coupling=0.8), 300
    ).snapshot()
    points = torch.randn(3, 4000, generator=torch.Generator().manual_seed(0)).double()
    points = (points / points.norm(dim=0)).numpy()
    loss = snapshot.sphere.loss(points)
    assert abs(points[0, loss.argmin()]) > 0.99, "smallest at the leading eigenvector"
    leading = snapshot.sphere.loss(np.eye(3)[:, :1])[0]
    assert leading == pytest.approx(snapshot.limits.loss_at_coupling, rel=1e-6)
    assert loss.min() > leading
    covariance = torch.tensor([4.0, 2.0, 1.0]).diag().double()
    for m, found in zip(points.T[:20], loss[:20], strict=True):
        direction = torch.from_numpy(m)[:, None]
        expected, _ = population_loss(covariance, one_map(direction, 0.8 / 4))
        assert found == pytest.approx(float(expected), rel=1e-6)
    assert train(SMALL, 1).snapshot().sphere is None
    assert train(SMALL.but(data=Data(d=3), structure="free"), 1).snapshot().sphere.coupling is None


def test_a_parameter_that_keeps_its_meaning_does_not_restart():
    trainer = train(SMALL, 10)
    before = trainer.learner.maps().clone()
    for changes in (
        {"length": 8}, {"length": None}, {"batch": 4}, {"rate": 0.5}, {"kind": "linear"},
        {"contamination": "sparse"}, {"data": Data(theta=1.0)}, {"data": Data("power")},
        {"data": Data("wishart", degrees=5)}, {"data": Data("per-prompt")},
    ):  # fmt: skip
        assert not trainer.change(trainer.setting.but(**changes)), changes
        torch.testing.assert_close(trainer.learner.maps(), before)
    trainer.step()
    assert trainer.step_count == 11
    assert trainer.snapshot().curves.steps[-1] == 11


def test_the_coupling_acts_at_once():
    trainer = train(SMALL, 3)
    before = trainer.learner.maps().clone()
    trainer.change(SMALL.but(coupling=2.0))
    torch.testing.assert_close(trainer.learner.maps(), 2 * before)


@pytest.mark.parametrize(
    "changes", [{"data": Data(d=4)}, {"seed": 3}, {"structure": "free"}, {"structure": "frame", "rank": 2}]
)
def test_another_shape_or_seed_restarts(changes):
    trainer = train(SMALL, 3)
    assert trainer.change(SMALL.but(**changes))
    assert trainer.step_count == 0


def test_a_table_that_cannot_be_read_changes_nothing():
    trainer = train(SMALL, 3)
    with pytest.raises(GramscopeError):
        trainer.change(SMALL.but(data=Data("rows", path="/nowhere.csv")))
    assert trainer.setting == SMALL
    trainer.step()


def test_the_references_are_pca_of_one_prompt_a_step():
    curves = train(Setting(batch=4), 150).snapshot().curves
    assert curves.pca[-1] > 0.998 > curves.pca[1] > 0.8
    assert curves.oja[-1] > 0.97
    assert curves.oja[1] < 0.9
    assert np.isnan(curves.recovery).all()


def test_a_spike_for_every_prompt_is_read_from_the_outputs():
    snapshot = train(SMALL.but(data=Data("per-prompt"), structure="free"), 5).snapshot()
    assert np.isfinite(snapshot.curves.recovery).all()
    assert np.isnan(snapshot.curves.pca).all()
    assert snapshot.limits.loss is None
    assert snapshot.coupling is None


def test_training_that_runs_away_says_so():
    trainer = Trainer(SMALL.but(structure="free", kind="linear", rate=1e6))
    with pytest.raises(GramscopeError, match="learning rate"):
        for _ in range(50):
            trainer.step()
    assert np.isfinite(trainer.snapshot().learned).all()


def test_contamination_raises_what_the_head_sees_and_lowers_the_transition():
    clean = train(SMALL.but(batch=64), 20).snapshot()
    dirty = train(SMALL.but(batch=64, contamination="sparse"), 20).snapshot()
    assert clean.seen_leading == pytest.approx(4, rel=0.1)
    assert dirty.seen_leading > 8
    assert dirty.limits.critical < 0.6 < clean.limits.critical
    assert dirty.limits.bbp is None


def test_cleaning_brings_back_part_of_the_direction():
    """Sample PCA of one prompt with a twentieth of its entries hit: cleaned, it sees more of the spike."""
    dirty = Setting(contamination="sparse", level=0.05)
    found = {k: Trainer(dirty.but(clean=k > 0, iterations=k or 1)).probe.pca for k in (0, 1, 2)}
    assert found[0] < 0.45 < found[2] < found[1]
    assert found[1] > 0.7


def test_infinite_prompts_are_never_contaminated():
    dirty = train(SMALL.but(length=None, contamination="sparse", clean=True), 3).snapshot()
    clean = train(SMALL.but(length=None), 3).snapshot()
    np.testing.assert_array_equal(dirty.projections, clean.projections)
    assert dirty.limits.pca == clean.limits.pca
