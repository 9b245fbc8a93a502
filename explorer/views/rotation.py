"""Three axes seen from a side that a person turns: an orthographic picture, in numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
PER_PIXEL = 0.01
STEP = np.pi / 36


class Rotation:
    """How three axes lie before the eye.

    Attributes
    ----------
    matrix : ndarray, shape (3, 3)
        Row 0 points to the right, row 1 up, row 2 to the eye; orthonormal.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Look a little from the right and from above."""
        self.matrix = np.eye(3)
        self.turn(-np.pi / 6, np.pi / 9)

    def turn(self, right: float, down: float) -> None:
        """Turn the scene by so many radians to the right and down, as a hand on a globe does."""
        c, s = np.cos(right), np.sin(right)
        about_up = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        c, s = np.cos(down), np.sin(down)
        about_right = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        q, r = np.linalg.qr(about_right @ about_up @ self.matrix)
        self.matrix = q * np.sign(np.diag(r))

    def flat(self, points: Array) -> Array:
        """Return where points are seen.

        Parameters
        ----------
        points : ndarray, shape (…, 3)

        Returns
        -------
        ndarray, shape (…, 2)
            To the right and up, in the points' own unit: distances across the view are true.
        """
        return np.asarray(points @ self.matrix[:2].T)


def ball(points: Array) -> tuple[Array, float]:
    """Return the middle of the finite points, (3,), and how far the farthest one lies from it; 1 for none.

    Parameters
    ----------
    points : ndarray, shape (…, 3)
    """
    points = points.reshape(-1, 3)
    points = points[np.isfinite(points).all(1)]
    if not len(points):
        return np.zeros(3), 1.0
    middle = (points.min(0) + points.max(0)) / 2
    return middle, float(np.linalg.norm(points - middle, axis=1).max()) or 1.0
