"""An experiment as a Python program against the part of Gramscope that needs no window."""

from __future__ import annotations

from dataclasses import fields

from explorer import __version__
from explorer.lab.account import described
from explorer.lab.setting import Data, Setting

_TEMPLATE = '''\
"""An experiment of Gramscope {version}: {data}.

Run it with the Python that Gramscope is installed in. It trains from the random start of the seed under this
setting alone: a run in the window whose setting was changed on the way took another path.
"""

from explorer.lab.setting import Data, Setting
from explorer.lab.threads import one_thread
from explorer.lab.trainer import train

setting = {setting}
with one_thread():
    trainer = train(setting, steps={steps})
snapshot = trainer.snapshot()

print("alignment:", trainer.alignment())
print("loss of the last step:", snapshot.curves.loss[-1])
print("infinite-prompt limit at the best λ:", snapshot.limits.loss)
print("transition in λσ_1:", snapshot.limits.critical)
print("sample PCA of one prompt:", snapshot.limits.pca)
# Arrays: snapshot.directions (d, R), snapshot.learned (d, d), snapshot.singular_values (d,),
# snapshot.curves.components (n, d); help(snapshot) names the others.
'''


def script(setting: Setting, steps: int) -> str:
    """Return a program that trains `steps` steps under `setting` and prints the main numbers."""
    return _TEMPLATE.format(
        version=__version__,
        data=described(setting.data).replace("\\", "/").replace('"', "'"),
        setting=_call(setting),
        steps=steps,
    )


def _call(value: Setting | Data) -> str:
    """Return the call that makes a setting, without what is at its default."""
    plain = type(value)()
    parts = []
    for field in fields(value):
        item = getattr(value, field.name)
        if item != getattr(plain, field.name):
            parts.append(f"{field.name}={_call(item) if isinstance(item, Data) else repr(item)}")
    return f"{type(value).__name__}({', '.join(parts)})"
