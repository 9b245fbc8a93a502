"""A study as a Python program against the part of Gramscope that needs no window."""

from __future__ import annotations

from dataclasses import fields

from explorer import __version__
from explorer.study.plan import Setting

_TEMPLATE = '''\
"""A study of Gramscope {version}: how accurate classifiers stay under contamination.

Run it with the Python that Gramscope is installed in. It computes everything anew, which may take a while.
"""

from explorer.study.plan import Model, Setting, Swap
from explorer.study.run import steps
from explorer.study.table import cells, comparisons
from explorer.study.words import sentences

models = (
{models}
)
setting = Setting(models{others})
*_, last = steps(setting)  # the last one has every unit

for cell in cells(last.answers):
    print(cell.row, cell.kind, cell.level, cell.mean)  # level NaN: the mean over all levels but 0
print("\\n".join(sentences(comparisons(last.answers))))
# Right or wrong, image by image: last.answers.right.
'''


def script(setting: Setting) -> str:
    """Return a program that makes a study and prints its accuracies and what the comparisons say."""
    others = [(field.name, getattr(setting, field.name), field.default) for field in fields(setting)[1:]]
    return _TEMPLATE.format(
        version=__version__,
        models="\n".join(f"    {model!r}," for model in setting.models),
        others="".join(f", {name}={value!r}" for name, value, plain in others if value != plain),
    )
