#!/usr/bin/env python3
"""Writes app/view's colour map tables as C: make-colormaps.py OUT.c

Every map is drawn in OKLab, where equal steps look equal. Diverging: blue, the background's own colour at zero (entry
128), orange; both arms have the same lightness at the same distance, entry 0 repeats entry 1. Sequential: one way in
lightness from the background's side to the other. No map comes near the boundary's colour (near-black on light, white on
dark), so a line is never the colour of a value.
"""
import math
import sys


def to_linear(lightness, chroma, hue):
    a = chroma * math.cos(math.radians(hue))
    b = chroma * math.sin(math.radians(hue))
    l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)


def encode(x):
    x = min(max(x, 0.0), 1.0)
    return round(255 * (12.92 * x if x <= 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055))


def colour(lightness, chroma, hue):
    """The colour, with as much of its chroma as sRGB can show."""
    while chroma > 0 and not all(-1e-6 <= x <= 1 + 1e-6 for x in to_linear(lightness, chroma, hue)):
        chroma -= 0.001
    r, g, b = (encode(x) for x in to_linear(lightness, max(chroma, 0), hue))
    return r << 24 | g << 16 | b << 8 | 0xff


def diverging(neutral_lightness, neutral, end_lightness, blue, orange):
    table = [0] * 256
    for i in range(-127, 128):
        t = abs(i) / 127
        chroma, hue = blue if i < 0 else orange
        lightness = neutral_lightness + (end_lightness - neutral_lightness) * t
        table[128 + i] = colour(lightness, chroma * t ** 0.9, hue) if i else neutral
    table[0] = table[1]
    return table


def sequential(first, last):
    table = []
    for i in range(256):
        t = i / 255
        (l0, c0, h0), (l1, c1, h1) = first, last
        bulge = 4 * t * (1 - t)  # hue turns on the way: give the middle the chroma it can carry
        table.append(colour(l0 + (l1 - l0) * t, c0 + (c1 - c0) * t + 0.04 * bulge, h0 + (h1 - h0) * t))
    return table


TABLES = [
    diverging(0.990, 0xfcfcfcff, 0.545, (0.150, 256), (0.150, 48)),
    diverging(0.250, 0x222222ff, 0.690, (0.145, 256), (0.140, 62)),
    sequential((0.970, 0.015, 190), (0.390, 0.130, 285)),
    sequential((0.270, 0.050, 285), (0.880, 0.090, 175)),
]


def main():
    with open(sys.argv[1], 'w', encoding='utf-8', newline='\n') as out:
        out.write('/* Made by data/make-colormaps.py. */\n#include "view/colormap-table.h"\n\n')
        out.write('const TmColor tm_colormap_table[TM_N_COLORMAPS][256] = {\n')
        for table in TABLES:
            out.write('  {\n')
            for i in range(0, 256, 8):
                out.write('    ' + ' '.join('0x%08x,' % c for c in table[i:i + 8]) + '\n')
            out.write('  },\n')
        out.write('};\n')


main()
