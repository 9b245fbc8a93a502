from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF

from explorer.views.hatch import diagonals


@pytest.mark.parametrize("box", [QRectF(0, 0, 50, 20), QRectF(-7.3, 3.1, 12, 90), QRectF(1e4, 5, 6, 6)])
def test_diagonals_stay_inside_and_keep_their_distance(box: QRectF) -> None:
    lines = list(diagonals(box, 6.0))
    assert len(lines) == pytest.approx((box.width() + box.height()) / 6, abs=1)
    for line in lines:
        for point in (line.p1(), line.p2()):
            assert box.adjusted(-1e-9, -1e-9, 1e-9, 1e-9).contains(point)
        assert (line.x1() + line.y1()) % 6 == pytest.approx(0, abs=1e-6) or (
            (line.x1() + line.y1()) % 6 == pytest.approx(6, abs=1e-6)
        )
        assert line.x1() + line.y1() == pytest.approx(line.x2() + line.y2())
