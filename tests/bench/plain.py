"""Plain transcriptions of the formulas: the denominators of performance ratios."""

import math

import torch


def pap(k, v, n_iter, lam, tau, width):
    """Published PAP, symmetric, softmax materialised. k, v (H, N, D); returns the last L (H, N, D)."""
    mu = k.shape[1] * width / (4 * k.abs().sum((-1, -2), keepdim=True))
    low, y = torch.zeros_like(k), torch.zeros_like(k)
    for _ in range(n_iter):
        s = k - low + y / mu
        s = torch.sign(s) * torch.relu(s.abs() - lam * mu)
        c = k - s - y / mu
        low = ((c @ c.mT) * tau).softmax(-1) @ v
        y = y + mu * (k - low - s)
    return low


def four_sdpa(k, v, tau):
    """The fewest attention products that four iterations need."""
    for _ in range(4):
        out = torch.nn.functional.scaled_dot_product_attention(k[None], k[None], v[None], scale=tau)[0]
    return out


def update_kernels(q, k, v, tau, basis):
    """What an update of one head cannot do without: q, k, v (N, D), basis (N, r) the previous vectors."""
    sdpa = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=tau)[0]
    s = (k @ k.mT) * tau
    lse = s.logsumexp(-1, keepdim=True)
    x = s - lse - lse.mT
    g = torch.expm1(x - x.max())
    m = g.mean(-1, keepdim=True)
    g = g - m - m.mT + m.mean(-2, keepdim=True)
    if k.shape[0] <= 256:
        eig = torch.linalg.eigh(g)
    else:
        y, _ = torch.linalg.qr(g @ basis)
        w, u = torch.linalg.eigh(y.mT @ (g @ y))
        eig = w, y @ u
    return sdpa, eig, four_sdpa(k[None], v[None], tau)


def gamma_differences(k, columns):
    """Mean and deviation of |gamma_i - gamma_j| by the double loop over pairs. k (N, D), columns (N, r)."""
    n, d = k.shape
    raw = torch.exp(k @ k.T / math.sqrt(d))
    g = raw.sum(1, keepdim=True)
    one = torch.ones(n, n, dtype=k.dtype) / n
    kp = raw / (g @ g.T)
    kc = kp - one @ kp - kp @ one + one @ kp @ one
    gamma = (kc @ columns) / columns
    out = []
    for c in range(columns.shape[1]):
        absolute, relative = [], []
        for i in range(n):
            for j in range(i + 1, n):
                diff = (gamma[i, c] - gamma[j, c]).abs()
                absolute.append(diff)
                relative.append(diff / torch.maximum(gamma[i, c].abs(), gamma[j, c].abs()))
        absolute, relative = torch.stack(absolute), torch.stack(relative)
        out.append((absolute.mean(), absolute.std(), relative.mean(), relative.std()))
    return out
