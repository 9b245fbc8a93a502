"""What every panel means: its formulas, how to read it, how not to, and where it comes from.

Formulas are in the notation of `explorer.ui.formula`; in prose they stand between $ signs.
"""

from __future__ import annotations

from dataclasses import dataclass

TEO = "Teo and Nguyen, arXiv 2406.13762"
SARITAS = "Sarıtaş and Yıldız, arXiv 2505.07908"
CANDES = "Candès, Li, Ma and Wright, Robust principal component analysis?, 2011"
MAULEN = "Maulen-Soto and Boyer, arXiv 2605.18315"
BAIK = "Baik, Ben Arous and Péché, Phase transition of the largest eigenvalue, 2005; Paul, 2007"
SCHOENEMANN = "Schönemann, A generalized solution of the orthogonal Procrustes problem, 1966"


@dataclass(frozen=True, slots=True)
class Definition:
    """One page of help.

    Attributes
    ----------
    title : str
    what : str
        What is shown.
    formulas : tuple of str
    read, misread : tuple of str
        How to read it, and how not to.
    sources : tuple of str
    """

    title: str
    what: str
    formulas: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    misread: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


SYMBOLS = (
    (
        "q_i, k_j, v_j",
        "Queries, keys and values of one head: rows of $Q (N, D)$, $K (N, D)$ and $V (N, D_v)$.",
    ),
    ("τ", "The model's own scaling of the scores, $1/√D$ unless the model says otherwise."),
    ("k(x, y) = exp(τ x·y)", "The kernel; its feature map before normalisation is $φ̂$."),
    ("g(x) = Σ_j k(x, k_j)", "The sum over the keys that the query may see: softmax's denominator."),
    ("φ(x) = φ̂(x)/g(x)", "The feature map. $φ̃$ is $φ$ less its mean over the keys."),
    ("H = I − 1 1^T/N", "Centring."),
    ("K̃ = H K_φ H", "The centred Gram matrix of the keys in feature space."),
    (
        "a_d, γ_d",
        "Eigenvectors and eigenvalues of $K̃$, largest first; the entry of largest size is positive.",
    ),
    ("u_d", "Principal axes in feature space, $Σ_j a_{jd} φ̃(k_j)$, of unit length."),
    ("V^*", "The values that kernel PCA prescribes."),
    (
        "L, S",
        "What principal attention pursuit splits the keys into: a part made by attention, a sparse rest.",
    ),
    ("λ, μ", "The penalty on $S$, and the step of the multiplier $Y$."),
    (
        "f",
        "The level of contamination: a share of entries, tokens, pixels or words; noise over the deviation "
        "of $K$ or over the pixels' range; a blur in pixels; or the budget $ε$ of an attack.",
    ),
)

DEFINITIONS = {
    "attention": Definition(
        title="Attention",
        what=(
            "Row $i$ says how query $i$ spreads its attention over the keys; each row adds up to 1. The "
            "chooser shows it for softmax, for RPC, their difference, what contamination changed, or the "
            "Gram matrix of the keys, whose eigenvectors are the principal axes. Hatched cells are hidden"
            " by the mask."
        ),
        formulas=(
            "A_{ij} = softmax_j(τ q_i·k_j) = exp(τ q_i·k_j) / Σ_l exp(τ q_i·k_l)",
            "RPC: softmax(τ C C^T), symmetric; softmax(τ Q C^T), asymmetric",
            "K̃ = H K_φ H, (K_φ)_{ij} = k(k_i, k_j) / (g(k_i) g(k_j))",
        ),
        read=(
            "A bright column is a key that many queries read: a sink, often the first or a special token.",
            "A difference is signed and its colours are symmetric about 0: RPC less softmax, or "
            "contaminated less clean.",
            "A mark at a token's label says that an entry of it is contaminated.",
        ),
        misread=(
            "A large weight says where the head reads from, not that the token matters for the model's "
            "answer.",
            "With symmetric queries the map shown is $softmax(τ K K^T)$, as in the RPC authors' models; "
            "the head's own map, from its own queries, is “the model's own”.",
        ),
        sources=(TEO,),
    ),
    "spectrum": Definition(
        title="Key-Gram spectrum",
        what=(
            "The eigenvalues of the centred Gram matrix of the keys in feature space, with each axis's "
            "share of the variance, and the chosen eigenvectors over the tokens."
        ),
        formulas=(
            "K̃ a_d = γ_d a_d, γ_1 ≥ γ_2 ≥ …",
            "share of axis d: γ_d / Σ_e γ_e",
            "shown only if γ_d > eps · N · ‖K_φ‖",
        ),
        read=(
            "The scale is log₁₀: one unit down is ten times less variance.",
            "A few components with most of the variance: in feature space the keys lie near a plane.",
            "$a_d$ over the tokens says which tokens an axis sets apart from which others.",
            "Crossed vectors are not identifiable: their eigenvalues are closer than rounding can tell "
            "apart, and any rotation among them is as good.",
        ),
        misread=(
            "Nothing is shown under the tolerance, where rounding decides: the rank is a numerical one, "
            "in the precision in use.",
            "A simple spectrum says something of the keys. It does not say that the learned values follow"
            " it.",
            "For a masked head the spectrum is of the keys that one query sees, which the panel names.",
        ),
        sources=(
            TEO,
            SARITAS,
        ),
    ),
    "projection": Definition(
        title="Queries in feature space",
        what=(
            "Each query on two principal axes of the clean keys, and where attention over the "
            "contaminated keys takes it: filled is clean, hollow is contaminated, a line joins the two."
        ),
        formulas=(
            "⟨φ(q_i), u_d⟩ = Σ_j softmax_j(τ q_i·k_j) V^*_{jd}",
            "V^*_{jd} = (a_{jd} − mean_j a_{jd}) / g(k_j), a_d^T K̃ a_d = 1",
            "‖φ(q_i)‖^2 = exp(τ q_i·q_i) / g(q_i)^2",
        ),
        read=(
            "Queries near each other attend alike, as far as these axes tell.",
            "Draw around points with the lasso, or with Shift and a drag, to select them in every panel.",
            "3-D shows a third axis and turns by a drag or the arrow keys; Home turns back. It is the same "
            "scatter seen from a side, without perspective: it needs no OpenGL, and exports as any picture.",
            "A long line is a token whose attention output, with the prescribed values, contamination "
            "moves far.",
            "The identity of the first line is exact: kernel PCA prescribes the values $V^*$, and "
            "attention with them is the projection.",
        ),
        misread=(
            "That attention with $V^*$ is a projection does not say that the learned $V$ is $V^*$: that "
            "is the open question, and the evidence page measures it.",
            "Distances count along the axes shown only, and an axis whose eigenvalue nearly equals "
            "its neighbour's may turn freely.",
            "The hollow point is not a projection on axes of the contaminated keys: these would be other "
            "axes.",
            "With a mask the identity holds for the one query named, and for no other.",
        ),
        sources=(
            TEO,
            SARITAS,
        ),
    ),
    "input": Definition(
        title="Input",
        what=(
            "The text or the image that the model reads, with the colour of one number behind each token. A "
            "contaminated image stands beside the clean one, and words that contamination changed are "
            "underlined."
        ),
        formulas=(
            "attention of query i: A_{i1}, …, A_{iN}; to key j: A_{1j}, …, A_{Nj}",
            "K̃ a_d = γ_d a_d",
            "contamination: ‖k'_j − k_j‖ / rms ‖k‖; output error: ‖h_i − h_{clean,i}‖ / rms ‖h_{clean}‖",
        ),
        read=(
            "Select a token to see where it looks, or who looks at it: the row or the column of the map that "
            "the attention panel shows. Of several tokens the mean is drawn, of none that of all queries.",
            "Drag over a span of text, or a rectangle of patches, to select it in every panel. The arrows "
            "move from token to token, and space selects.",
        ),
        misread=(
            "Attention says where the head reads from, not what decides the model's answer.",
            "The sign of an eigenvector is a convention; those of an unidentifiable one mean little.",
            "Over an image the colours mix with grey: they are the colour bar's at full blend only.",
        ),
        sources=(TEO,),
    ),
    "outputs": Definition(
        title="Outputs under contamination",
        what=(
            "How far the head's output moves from its clean output, for softmax and for RPC: against the "
            "level of contamination, token by token, and the pursuit's residual over its iterations."
        ),
        formulas=(
            "e_{softmax}(f) = ‖h_{softmax}(f) − h_{softmax}(0)‖ / ‖h_{softmax}(0)‖",
            "e_{RPC}(f) = ‖h_{RPC}(f) − h_{RPC}(0)‖ / ‖h_{RPC}(0)‖",
            "S ← shrink(K − L + Y/μ, t), L ← softmax(τ C C^T) V, Y ← Y + μ(K − L − S)",
            "published: t = λμ, C = K − S − Y/μ; pcp: t = λ/μ, C = K − S + Y/μ",
        ),
        read=(
            "The breakdown point is the first level from which RPC stays worse than softmax.",
            "The band is the range over seeds; every crossing of the two curves is marked.",
            "“Flatters” is said where RPC is ahead somewhere, and nowhere nearer to softmax's clean output "
            "than the mean of the values is.",
            "The residual $‖K − L − S‖/‖K‖$ says how much of the keys $L$ and $S$ leave unexplained.",
        ),
        misread=(
            "RPC near its own clean output is no merit by itself: an output that ignores the data never "
            "moves. So RPC is drawn against softmax's clean output too, with uniform attention, which "
            "nothing moves, and softmax on clipped keys, the cheap remedy, as references.",
            "The pursuit is not guaranteed to converge, and often does not: a rising residual is no fault"
            " of the drawing.",
            "A model trained with softmax was not trained for RPC; this is one head's output, not the "
            "model's answer.",
        ),
        sources=(
            TEO,
            CANDES,
        ),
    ),
    "decomposition": Definition(
        title="K ≈ L + S",
        what=(
            "How the contaminated keys $K′$ are taken apart, token by token and feature by feature, in the "
            "keys' own units: left the truth, in the middle $S$ and $L$ of RPC's principal attention pursuit "
            "after the iteration that the slider chooses, right those of exact principal component pursuit."
        ),
        formulas=(
            "PAP: S ← shrink(K′ − L + Y/μ, t), L ← softmax(τ C C^T) V",
            "exact PCP: min ‖L‖_* + λ‖S‖_1 with K′ = L + S, λ = 1/√max(N, D)",
            "precision = |S ∩ hit| / |S|, recall = |S ∩ hit| / |hit|",
        ),
        read=(
            "Above, $S$ beside what was really added, in one scale: the same spots in the same colours mean "
            "that it was found.",
            "Below, $L$ beside the clean keys, in one scale.",
            "Where the input was contaminated all keys move: $K′ − K$ shows how far, and $S$ has no score.",
            "Exact PCP runs until its residual is under $10^{-5}$, in the background.",
        ),
        misread=(
            "RPC's $L$ is an attention output: it lives where the values do, and where $V$ is not near $K$ "
            "it cannot look like $K$.",
            "An entry is in $S$ however small it is: a low precision may come from many small entries.",
            "Exact PCP is no upper bound: real keys need not be low-rank plus sparse.",
        ),
        sources=(TEO, CANDES),
    ),
    "support": Definition(
        title="What S finds",
        what=(
            "Precision and recall of the support of $S$ after the last iteration, over $λ$ at the present "
            "contamination; the residual by iteration; $μ$ and the threshold $t$ in the keys' units."
        ),
        formulas=(
            "precision = |S ∩ hit| / |S|, recall = |S ∩ hit| / |hit|",
            "μ = N W / (4 ‖K′‖_1)",
            "published: t = λμ; pcp: t = λ/μ",
            "residual: ‖K′ − L − S‖ / ‖K′‖",
        ),
        read=(
            "Small $λ$: everything is in $S$, recall is 1 and precision is the contaminated share, which is "
            "chance. Large $λ$: nothing is.",
            "The vertical line is the $λ$ in use; in the residuals it is the iteration whose $L$ and $S$ are "
            "shown.",
            "Filled circles are the clean keys, hollow ones the contaminated keys.",
        ),
        misread=(
            "A small residual does not say that $S$ is right, only that $L + S$ is near $K′$.",
            "The residual need not fall: the pursuit is not guaranteed to converge.",
        ),
        sources=(TEO, CANDES),
    ),
    "phase": Definition(
        title="Which attention does better",
        what=(
            "For each $λ$ and each level of contamination, how many times further softmax's output moves "
            "than RPC's, as the mean of log₁₀ over five seeds. Where the contamination enters at the input, "
            "the model reads it again at ten levels, over three seeds (one where nothing is drawn)."
        ),
        formulas=(
            "log_{10} (e_{softmax}(f) / e_{RPC}(f))",
            "e_{softmax}(f) = ‖h_{softmax}(f) − h_{softmax}(0)‖ / ‖h_{softmax}(0)‖",
            "e_{RPC}(f): RPC against its own clean output, or against clean softmax",
        ),
        read=(
            "Orange: RPC moves less. Blue: softmax moves less. White: both alike. Where orange gives way "
            "to blue for good along a row is near the breakdown point of its $λ$: not on it, since "
            "logarithms are averaged here, and errors in the curves.",
            "The ring is where level and $λ$ stand; a click on a cell goes there.",
        ),
        misread=(
            "Orange at the smallest $λ$ is no merit: there $S$ takes everything, and an output that ignores "
            "the data never moves. Against softmax's clean output such cells turn blue.",
            "One cell is a mean over seeds; the picture of one seed may differ.",
            "This is one head's output, not the model's answer.",
        ),
        sources=(TEO,),
    ),
    "health": Definition(
        title="Numerical health",
        what=(
            "How far the numbers of this head are from what floating point can hold, for the clean and "
            "for the contaminated keys."
        ),
        formulas=(
            "largest logit: max_i τ k_i·k_i ≥ τ k_i·k_j",
            "half precision overflows where exp(s) > 65504: s > 11.09",
            "tolerance: eps · N · ‖K_φ‖",
        ),
        read=(
            "Everything here is computed in the log domain and in the precision named: a large logit does"
            " no harm. It would in a program that takes exp of raw scores.",
            "An eigenvector is not identifiable where its eigenvalue's gap is within the tolerance: read "
            "the subspace, not the vector.",
        ),
        misread=(
            "Clipped eigenvalues are no defect of the head: a Gram matrix has none below 0, and rounding "
            "makes some of the smallest ones negative.",
            "The ranks for float32 and float16 are what their tolerances would leave of the spectrum "
            "computed here; a computation in them may lose more.",
        ),
        sources=(SARITAS,),
    ),
}
