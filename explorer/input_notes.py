"""What must be said of a picture whose contamination enters at the input."""

from __future__ import annotations

from explorer.models.base import Capture
from explorer.params import ENTERS, Params
from explorer.reread import Places
from explorer.stages import Moved


def input_notes(p: Params, clean: Capture, read: Capture, positions: Places, moved: Moved) -> list[str]:
    """Return sentences about what the contamination did to the input, and what is compared with what."""
    if p.change is None:
        return []
    notes = [
        "The contamination enters at the input: queries, keys and values are those of the model's pass over "
        "it, so no entry of the keys is contaminated alone, and S has nothing true to be compared with."
    ]
    if ENTERS[p.contamination] == "text" and not moved.touched.any() and not read.origin:
        why = " No two different words have as many tokens." if p.contamination == "swap" else ""
        notes.append(f"At this level no word is hit.{why}")
    if read.origin:
        notes += _of_deletion(clean, read, positions, moved)
    return notes


def _of_deletion(clean: Capture, read: Capture, positions: Places, moved: Moved) -> list[str]:
    gone = len(clean.tokens) - len(read.tokens)
    notes = [
        f"{gone} of {len(clean.tokens)} tokens are deleted. Each of the others is compared with itself: "
        "its output, its entry of an eigenvector, its place on the axes. The clean spectrum and axes are "
        "those of all tokens: the two spectra belong to matrices of different sizes."
    ]
    if len(positions) and int(positions[-1]) not in read.origin and moved.head.mask is not None:
        token = clean.tokens[int(positions[-1])].text
        notes.append(
            f"The query “{token}” is deleted itself: the view is that of the last token left before."
        )
    return notes
