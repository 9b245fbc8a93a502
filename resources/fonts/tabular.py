"""Makes the shipped fonts from Inter's: python tabular.py Inter-*.otf (needs fonttools).

The ten digits become the tabular ones. A PDF keeps the text of a figure only where a glyph is the one that
its character stands for, which glyphs chosen by the OpenType feature "tnum" are not; and what draws rich
text ignores features. The combining tilde, which the font has for small letters only, is raised above
capitals, for K̃. The family gets a name of its own, so that an installed Inter is not taken for it.
"""

import sys
from pathlib import Path

from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

FAMILY = "Gramscope Sans"


def freeze(font: TTFont) -> None:
    """Point the ten digits to the glyphs that "tnum" would replace them by."""
    gsub = font["GSUB"].table
    lookups = {
        index
        for record in gsub.FeatureList.FeatureRecord
        if record.FeatureTag == "tnum"
        for index in record.Feature.LookupListIndex
    }
    replaced = {}
    for index in lookups:
        for subtable in gsub.LookupList.Lookup[index].SubTable:
            replaced.update(getattr(subtable, "ExtSubTable", subtable).mapping)
    for table in font["cmap"].tables:
        digits = {code: replaced[table.cmap[code]] for code in range(ord("0"), ord("9") + 1)}
        others = {code: glyph for code, glyph in table.cmap.items() if glyph not in digits.values()}
        table.cmap = others | digits


def raise_tilde(font: TTFont) -> None:
    """Move the combining tilde up by what capitals are higher than small letters."""
    top = font["CFF "].cff[0]
    name = font.getBestCmap()[0x303]
    up = font["OS/2"].sCapHeight - font["OS/2"].sxHeight
    old = top.CharStrings[name]
    pen = T2CharStringPen(font["hmtx"][name][0], font.getGlyphSet())
    font.getGlyphSet()[name].draw(TransformPen(pen, (1, 0, 0, 1, 0, up)))
    top.CharStrings[name] = pen.getCharString(old.private, old.globalSubrs)


def rename(font: TTFont) -> None:
    """Give the font another family, in its name table and in its outlines."""
    for record in font["name"].names:
        text = str(record)
        if record.nameID in (1, 4, 16):
            record.string = text.replace("Inter", FAMILY)
        elif record.nameID in (3, 6):
            record.string = text.replace("Inter", FAMILY.replace(" ", ""))
    outlines = font["CFF "].cff
    outlines.fontNames = [name.replace("Inter", FAMILY.replace(" ", "")) for name in outlines.fontNames]
    outlines[0].FamilyName, outlines[0].FullName = FAMILY, outlines[0].FullName.replace("Inter", FAMILY)


for name in map(Path, sys.argv[1:]):
    font = TTFont(name)
    freeze(font)
    raise_tilde(font)
    rename(font)
    font.save(Path(__file__).with_name(name.name.replace("Inter", FAMILY.replace(" ", ""))))
