"""What the laboratory's panels mean."""

from __future__ import annotations

from explorer.ui.definitions import BAIK, MAULEN, Definition

LAB = {
    "lab-alignment": Definition(
        title="Alignment",
        what=(
            "How much of each eigenvector $u_j$ of the tokens' covariance $Σ$ the head has learned, step by "
            "step, beside PCA by other means on the same prompts."
        ),
        formulas=(
            "|m·u_1|; frame: ‖M^T u_1‖; several heads: max_r |m_r·u_1|",
            "free W: u_j·Σ W^T u_j; readout: mean |cos| with the prompts’ own directions",
            "Oja: v ← (v + η C v) / ‖v + η C v‖, C the second moment of one prompt",
            "cos^2 → (1 − c/θ^2) / (1 + c/θ) for c = d/L < θ^2, else 0",
        ),
        read=(
            "Thick is the leading direction, thin are the others: 1 and 0 are what PCA would give.",
            "“PCA of one prompt” is the mean of sample PCA on single held-out prompts; the last formula, the "
            "Baik–Ben Arous–Péché limit, is what that tends to for a fixed $Σ = I + θ v v^T$.",
        ),
        misread=(
            "Neither line bounds the head: it sees many prompts, and its references one a step.",
            "The limit says nothing of Wishart prompts, where one prompt's PCA stays below it.",
            "An alignment that stands still below 1 may be $λ$ past the transition, not slow training.",
        ),
        sources=(MAULEN, BAIK),
    ),
    "lab-loss": Definition(
        title="Loss",
        what="The error of the first token's reconstruction over steps, mean over a step's fresh prompts.",
        formulas=(
            "mean ‖X_1 − T(X)_1‖^2",
            "L = ∞: tr Σ − 2λ m^T Σ^2 m + λ^2 (m^T Σ^2 m)(m^T Σ m)",
            "at the best λ = 1/(m^T Σ m): tr Σ − m^T Σ^2 m / m^T Σ m ≥ tr Σ − σ_1",
        ),
        read=(
            "Dashed is the loss of an infinite prompt at $u_1$ and the best $λ$; dotted the same at the "
            "present $λ$.",
            "Everything is in the data's own units.",
        ),
        misread=(
            "The dashed line is a limit, no floor: at finite $L$ a token sees itself, and a softmax head "
            "gets a little below it.",
            "The curve is noisy because each step draws other prompts, not because training wavers.",
        ),
        sources=(MAULEN,),
    ),
    "lab-spectrum": Definition(
        title="Spectrum of Σ, and of W",
        what=(
            "Above, the eigenvalues of the tokens' covariance, whose bars can be dragged while training goes "
            "on; below, the singular values of $W$ with all heads added, times $σ_1$."
        ),
        formulas=(
            "Σ u_j = σ_j u_j, ρ = σ_{min} / σ_1",
            "one head: W = λ m m^T, singular value λ; frame: W = λ M M^T",
            "free W, L = ∞, shared Σ: W → Σ^{−1}",
            "u_1 is the minimum while λ σ_1 ≤ 2(1 + ρ) / (2 + ρ)",
        ),
        read=(
            "Rings are where the singular values of $W$ end at $L = ∞$, where mathematics tells it.",
            "Both spectra are listed by size. Which component a free $W$ learns first, Alignment shows.",
        ),
        misread=(
            "A ring beside a dot pairs sizes, not directions.",
            "Fresh prompts of finite $L$ lead to another $W$ than $Σ^{−1}$.",
            "Of Wishart prompts and of tables the spectrum is over all prompts and cannot be dragged.",
        ),
        sources=(MAULEN,),
    ),
    "lab-map": Definition(
        title="Σ and the learned map",
        what="The covariance over its largest eigenvalue, beside what the heads do to a token, in one scale.",
        formulas=("Σ / σ_1", "x ↦ Σ W^T x, heads added", "m = u_1, λ = 1/σ_1: Σ W^T = u_1 u_1^T"),
        read=(
            "One head that has found $u_1$ leaves the part of $Σ/σ_1$ along $u_1$ and nothing else.",
            "A free $W$ that reproduces every token has the identity on the right.",
        ),
        misread=(
            "The map is that of an infinite prompt; at finite $L$ heads follow it up to sampling only.",
            "Axes are the tokens' own features, not the eigenvectors.",
        ),
        sources=(MAULEN,),
    ),
    "lab-weights": Definition(
        title="One prompt",
        what=(
            "A prompt that is never trained on: across, each token along the learned direction; up, the "
            "weight that the first token, in the ring, gives it."
        ),
        formulas=(
            "softmax_k(λ X_1·m m·X_k), or λ (X_1·m)(m·X_k) / L",
            "like exp(−Σ_k p_k log p_k) equal weights, p_k = |w_k| / Σ_l |w_l|",
        ),
        read=(
            "Softmax weights grow exponentially towards the side of the first token and add up to 1.",
            "Linear weights lie on a straight line and are negative on the other side.",
        ),
        misread=(
            "Of several heads the first is drawn, and it need not be the one that found $u_1$.",
            "For a free $W$ the direction is its top right singular vector, along which weights need not be "
            "in order.",
        ),
        sources=(MAULEN,),
    ),
    "lab-sphere": Definition(
        title="Sphere",
        what=(
            "For $d = 3$: the loss of every direction as colour on the near half of the unit sphere, and the "
            "way that $m$ took over it from its random start."
        ),
        formulas=("tr Σ − 2λ m^T Σ^2 m + λ^2 (m^T Σ^2 m)(m^T Σ m), ‖m‖ = 1",),
        read=(
            "Darkest is least. Filled is the near side, hollow and thin the far side.",
            "Drag, or press the arrow keys, to turn; Home turns back.",
            "Raise $λ$ past the transition, and the darkest place leaves $u_1$ for the smallest eigenvector.",
        ),
        misread=(
            "$m$ and $−m$ are the same head: ending at $−u_1$ is no failure.",
            "The colour is the infinite prompt's loss; the head trains on finite prompts, whose loss is near "
            "to it and not equal.",
        ),
        sources=(MAULEN,),
    ),
    "lab-sweep": Definition(
        title="Sweep",
        what=(
            "Heads trained from scratch over values of one setting, seed by seed; or cos² between $m$ and "
            "the spike over $c = d/n$ and $θ$, with the boundary under which sample PCA finds nothing."
        ),
        formulas=(
            "|m·u_1| after the steps set, mean and range over seeds",
            "cos^2 → (1 − c/θ^2) / (1 + c/θ) for c = d/n < θ^2, else 0",
            "boundary: θ = √c",
        ),
        read=(
            "Dashed grey is sample PCA of one held-out prompt, dotted its limit.",
            "In the phase diagram each head trains on the same $n$ tokens at every step, so that it can be "
            "held against sample PCA on $n$ tokens.",
        ),
        misread=(
            "The band is the range over a few seeds, no interval of confidence.",
            "At finite $d$ the boundary is blurred: cos² near it is neither 0 nor the limit.",
            "A sweep trains at $λ$ as set, also where that is past the transition.",
        ),
        sources=(MAULEN, BAIK),
    ),
}
