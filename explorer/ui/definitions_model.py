"""What the panels of whole models, and of two pictures beside each other, mean."""

from __future__ import annotations

from explorer.ui.definitions import SARITAS, TEO, Definition

RPC = "RPC: L ← softmax(τ C C^T) V in the chosen layers, in place of softmax(τ Q K^T) V"

MODEL = {
    "predictions": Definition(
        title="What the model says",
        what=(
            "The same question to the model four times: with softmax and with the attention chosen, on the "
            "clean and on the contaminated input."
        ),
        formulas=(
            "p_c = exp(z_c) / Σ_l exp(z_l), z the logits",
            "no head: cos(e, e_{clean})",
            RPC,
        ),
        read=(
            "Bars are probabilities of classes or tokens; where the model has no head, the cosine with clean "
            "softmax's embedding.",
            "› marks what is true, where it is known.",
            "Contaminated keys are hit in the same places in every head, each by its own deviation.",
        ),
        misread=(
            "A checkpoint trained with softmax was not trained for RPC: that RPC answers worse then says "
            "nothing against RPC as a way to train.",
            "A probability is the model's own number, not how often it is right.",
        ),
        sources=(TEO,),
    ),
    "predictions_curve": Definition(
        title="The answer under contamination",
        what="One number of the model's answer over the level of contamination, for both attentions.",
        formulas=("p_{true}(f), or p_{said}(f), or cos(e(f), e_{softmax}(0))", RPC),
        read=(
            "Lines are means and bands the range over three seeds; where nothing is drawn, of one.",
            "Where the truth is not known, it is the probability of what clean softmax says.",
        ),
        misread=(
            "It is one input's answer, not the model's accuracy: many inputs are needed for that.",
            "The chosen attention starts low where the checkpoint was not trained for it: compare how the "
            "curves fall, and where they start.",
        ),
        sources=(TEO,),
    ),
    "study": Definition(
        title="Accuracy under contamination",
        what="The share of labelled images that models name rightly, over the contamination of their pixels.",
        formulas=(
            "accuracy(f) = share of images i with argmax_c p_c(x_i, f) = y_i",
            "FGSM: x + ε sign(∇_x loss); PGD: such steps, kept within ε of x",
        ),
        read=(
            "Line: mean over training seeds, contamination seeds and images. Band: range over models trained "
            "with other seeds. Whiskers: deviation over contamination seeds within one model.",
            "Dotted is always giving the commonest class.",
        ),
        misread=(
            "One model's curve is not its architecture's: the band shows how much another training seed "
            "moves it, and a few seeds show little of that.",
            "Each model meets attacks of its own, and a gradient that is hard to follow makes a model look "
            "robust.",
        ),
        sources=(TEO,),
    ),
    "compare-maps": Definition(
        title="Maps beside each other",
        what="The pinned map, the present one, and the present less the pinned.",
        formulas=("A_{ij} = softmax_j(τ q_i·k_j)", "A_{present} − A_{pinned}"),
        read=(
            "Maps of one kind share a scale; the difference has colours symmetric about 0.",
            "Hatched is where tokens differ, and no difference has a meaning.",
        ),
        misread=("A difference of two heads' maps compares what they read, not what they write.",),
        sources=(TEO,),
    ),
    "compare-projection": Definition(
        title="Projections beside each other",
        what="The queries on two principal axes of the clean keys, pinned and present.",
        formulas=("⟨φ(q_i), u_d⟩ = Σ_j softmax_j(τ q_i·k_j) V*_{jd}",),
        read=(
            "Each symbol is what attention over the keys as they are now returns with V* of the clean keys.",
            "Of the same clean keys both planes have one scale, and the pinned symbols lie behind.",
        ),
        misread=(
            "Of other clean keys the axes are others, whatever their numbers: only the shapes of the two "
            "clouds can be set side by side, not their places.",
        ),
        sources=(TEO,),
    ),
    "compare-spectrum": Definition(
        title="Spectra in one plot",
        what="The eigenvalues of the centred Gram matrix of the keys, pinned and present.",
        formulas=("K̃ a_d = γ_d a_d, γ_1 ≥ γ_2 ≥ …", "shown only if γ_d > eps · N · ‖K_φ‖"),
        read=(
            "Hollow and dashed is pinned, full is present.",
            "Each is of its own keys, contaminated where its level says so, and ends at its own tolerance.",
        ),
        misread=("Equal spectra do not say that the axes are the same.",),
        sources=(TEO,),
    ),
    "compare-numbers": Definition(
        title="Numbers of both",
        what="Each number that stands for a whole picture: pinned, present, and present less pinned.",
        formulas=(
            "e_{softmax}(f) = ‖h_{softmax}(f) − h_{softmax}(0)‖ / ‖h_{softmax}(0)‖",
            "e_{RPC}(f) = ‖h_{RPC}(f) − h_{RPC}(0)‖ / ‖h_{RPC}(0)‖",
            "residual: ‖K − L − S‖ / ‖K‖",
        ),
        read=("A dash stands where a head does not allow the number.",),
        misread=(
            "Errors are relative to each head's own clean output: equal errors of two heads need not be "
            "equally large.",
            "A difference of two settings of one seed is one draw, not an average.",
        ),
        sources=(TEO, SARITAS),
    ),
}
