"""PCA by other means on tokens that train the head, one prompt a step: sample PCA so far, and Oja's rule."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.maths.attention_pca_limits import leading_direction, oja_step


class References:
    """What the tokens seen so far would tell without attention.

    Attributes
    ----------
    moment : Tensor, shape (d, d)
        Sum of the steps' second moments.
    steps : int
    oja : Tensor, shape (d,)
    """

    def __init__(self, start: Tensor) -> None:
        self.oja = start
        self.forget()

    def forget(self) -> None:
        """Start sample PCA again, as when the population is another one; Oja's vector stays."""
        self.moment = torch.zeros(len(self.oja), len(self.oja))
        self.steps = 0

    def see(self, moment: Tensor, rate: float) -> None:
        """Take in the second moment (d, d) of a step's first prompt."""
        self.moment = self.moment + moment
        self.steps += 1
        self.oja = oja_step(self.oja, moment, rate)

    def aligned(self, direction: Tensor) -> tuple[float, float]:
        """Return |cos| of sample PCA and of Oja's vector with a unit `direction`."""
        pca = leading_direction(self.moment)
        return float((pca @ direction).abs()), float((self.oja @ direction).abs())


def second_moment(x: Tensor) -> Tensor:
    """Return the mean of x xᵀ over tokens (n, d), shape (d, d)."""
    return x.mT @ x / len(x)
