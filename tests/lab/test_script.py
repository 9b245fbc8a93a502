from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from explorer.lab.script import script
from explorer.lab.setting import Data, Setting
from explorer.lab.trainer import train


@pytest.mark.parametrize(
    "setting",
    [
        Setting(),
        Setting(length=None, structure="frame", rank=2, data=Data("power", d=4)),
        Setting(contamination="tokens", clean=True, batch=4, data=Data("wishart", degrees=20)),
        Setting(batch=4, data=Data("rows", whiten=True)),
    ],
)
def test_the_program_trains_to_the_same_numbers(
    setting: Setting, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.py"
    path.write_text(script(setting, 2), encoding="utf-8")
    trainer = runpy.run_path(str(path))["trainer"]
    assert trainer.setting == setting
    assert trainer.alignment() == train(setting, 2).alignment()
    assert f"alignment: {trainer.alignment()}" in capsys.readouterr().out


def test_a_path_is_quoted(tmp_path: Path) -> None:
    path = str(tmp_path / "a\\n\"'b.csv")
    text = script(Setting(data=Data("rows", path=path)), 0)
    names = {"Data": Data, "Setting": Setting}
    line = next(line for line in text.splitlines() if line.startswith("setting = "))
    exec(line, names)
    assert names["setting"].data.path == path
    compile(text, "run.py", "exec")
