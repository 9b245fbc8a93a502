"""What the evidence page's panels mean."""

from __future__ import annotations

from explorer.ui.definitions import SARITAS, SCHOENEMANN, TEO, Definition

BOTH = (TEO, SARITAS)
V_STAR = "V^*_{jd} = (a_{jd} − mean_j a_{jd}) / g(k_j)"
Z = "z = (x − mean of the null) / deviation of the null"
OVERLAP = "overlap: mean_d cos^2 θ_d, θ_d between the column spaces of H V and H V^*; by chance D_v/(N − 1)"

EVIDENCE = {
    "evidence_map": Definition(
        title="V against V*",
        what=(
            "Every query head: how well its learned values $V$ agree with the values $V^*$ that kernel PCA "
            "of its keys prescribes, or how far that is from a null."
        ),
        formulas=(V_STAR, OVERLAP, "CKA = ‖V^T H V^*‖^2 / (‖V^T H V‖ ‖V^{*T} H V^*‖)", Z),
        read=(
            "$z$ is positive where $V$ is closer to $V^*$ than the null.",
            "A dot marks heads that differ from the null at a false discovery rate of 5 % over heads.",
        ),
        misread=(
            "A measure as it stands means nothing without a null.",
            "Being above shuffled tokens is not being $V^*$: any linear map of the same tokens is related to "
            "the keys too, so look at the random projection.",
        ),
        sources=BOTH,
    ),
    "evidence_heads": Definition(
        title="Heads against the null",
        what="Each head's measure beside the middle 95 % of its null, and the z-scores of all heads.",
        formulas=(Z, "p = (1 + draws at least as far) / (1 + draws)"),
        read=(
            "The dashed curve is what heads would show if the null were all there is: deviation 1.",
            "A histogram wider than the curve and centred on 0 says that heads differ from the null both "
            "ways, which no mean shows.",
        ),
        misread=(
            "Heads of one model are not independent; key heads that serve several query heads count once.",
            "A few heads outside of their bars are expected: of all heads 5 % by chance.",
        ),
        sources=BOTH,
    ),
    "evidence_norms": Definition(
        title="Norms, log₁₀",
        what=(
            "Each head by the mean squared norm of its queries in feature space and of its outputs: filled "
            "the learned output, hollow the projection on the true axes."
        ),
        formulas=(
            "‖φ(q_i)‖^2 = exp(τ q_i·q_i) / g(q_i)^2",
            "projection error: 1/N Σ_i (‖φ(q_i)‖^2 − ‖h_i‖^2)",
            "true axes: h_{id} = ⟨φ(q_i), u_d⟩; published form: h_i the learned output",
        ),
        read=(
            "Hollow points cannot lie above the diagonal: a projection is no longer than what it projects.",
            "Far from the diagonal the paper's error is the larger norm and nothing else; above it, it is "
            "negative.",
        ),
        misread=(
            "A small error on the true axes says that the axes hold the queries, not that $V$ is $V^*$.",
            "The scale is log₁₀: one unit is a factor of ten in the squared norm.",
        ),
        sources=BOTH,
    ),
    "evidence_gamma": Definition(
        title="γ by component",
        what=(
            "Whether $γ$ is one number for all tokens, as it is for an eigenvector: for the columns "
            "recovered from the learned values, solid, and for the eigenvectors themselves, dashed."
        ),
        formulas=(
            "γ_i = (K̃ a)_i / a_i",
            "â_{jd} = g(k_j) V_{jd}",
            "mean over pairs of |γ_i − γ_j| / max(|γ_i|, |γ_j|)",
        ),
        read=(
            "0 is an eigenvector. The line is the median over heads, the band 10 to 90 %.",
            "The accent line is the chosen head.",
        ),
        misread=(
            "The dashed line only checks the solver: it says nothing of the claim.",
            "$γ$ sees every map of the values, so a spread does not rule out $V^*$ up to a rotation.",
        ),
        sources=BOTH,
    ),
    "evidence_pair": Definition(
        title="V beside V*",
        what=(
            "The chosen head's learned values beside the prescribed ones: a row a token, a column an axis."
        ),
        formulas=(
            V_STAR,
            "min over scale s and rotation R of ‖s V R − V^*‖",
            "error as drawn: ‖V − V^*‖ / ‖V^*‖",
        ),
        read=("Both are over the largest entry of $V^*$, in one scale.",),
        misread=(
            "A rotation has $D_v(D_v − 1)/2$ free numbers: with few tokens it makes any $V$ look like $V^*$, "
            "so likeness here is no evidence without a null.",
            "The head's output projection may undo a rotation, so unlikeness without one proves little too.",
        ),
        sources=(*BOTH, SCHOENEMANN),
    ),
    "evidence_series": Definition(
        title="Along training",
        what="Errors, norms, overlap and $z$ over the checkpoints of one training: mean over heads.",
        formulas=("projection error: 1/N Σ_i (‖φ(q_i)‖^2 − ‖h_i‖^2)", OVERLAP, Z),
        read=("Bars are the deviation over heads. The step is what folder, name or place says.",),
        misread=(
            "The error with the learned output is a difference of norms that grow or shrink by themselves: "
            "one that falls does not show that $V$ becomes $V^*$. Overlap against the nulls would.",
            "The error on the true axes is a property of queries and keys alone.",
        ),
        sources=BOTH,
    ),
    "evidence_inputs": Definition(
        title="Over inputs",
        what="The same figures by layer: mean over inputs of the mean over the layer's heads.",
        formulas=("standard error: deviation over inputs / √n", OVERLAP, Z),
        read=("A bar says how well the mean over inputs is known. With one input there are none.",),
        misread=(
            "A standard error does not say how much inputs differ.",
            "Inputs that resemble each other make it too small.",
        ),
        sources=BOTH,
    ),
}
