#!/usr/bin/env python3
"""draw.py - the pictures of docs/kernels: K against distance, one SVG per kernel, from Python's standard library alone.

    python3 docs/kernels/draw.py            writes the pictures beside this file; the same bytes every time
"""
import math
import os

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 260, 44, 12, 12, 40
COLOURS = ("#1b5e9e", "#c0392b", "#2e7d32")


def matern(nu, t):
    """t = sqrt(2 nu) r / length; the closed forms that src/kernel/matern.c has."""
    return {0.5: 1.0, 1.5: 1 + t, 2.5: 1 + t + t * t / 3}[nu] * math.exp(-t)


def shared_bits(x, y):
    return 0 if y == 0 else (x * math.log2(1 + y / x) + y * math.log2(1 + x / y)) / 2


PRODUCT = "<x, y>"  # these axes run from -1: what rows of length 1 can have

# name: (what the x axis is, its end, lowest and highest K, [(legend, K of x)])
PICTURES = {
    "gaussian": ("distance |x - y|", 3, 0, 1, [
        (f"gamma={g:g}", lambda r, g=g: math.exp(-g * r * r)) for g in (0.25, 1, 4)]),
    "laplacian": ("sum of |x_i - y_i|", 3, 0, 1, [
        (f"gamma={g:g}", lambda r, g=g: math.exp(-g * r)) for g in (0.5, 1, 2)]),
    "cauchy": ("|x - y|, one column", 3, 0, 1, [
        (f"gamma={g:g}", lambda r, g=g: 1 / (1 + (g * r) ** 2)) for g in (0.5, 1, 2)]),
    "matern": ("distance |x - y|, length=1", 3, 0, 1, [
        (f"nu={n:g}", lambda r, n=n: matern(n, math.sqrt(2 * n) * r)) for n in (0.5, 1.5, 2.5)]),
    "compose": ("distance |x - y|, gamma=1", 3, 0, 8, [
        (f"sigma={s:g}", lambda r, s=s: math.exp(math.exp(-r * r) / s ** 2)) for s in (0.7, 1, 1.5)]),
    "linear": ("y, one column", 3, 0, 3, [
        (f"x={x:g}", lambda y, x=x: x * y) for x in (0.25, 0.5, 1)]),
    "intersection": ("y, one column", 3, 0, 3, [
        (f"x={x:g}", lambda y, x=x: min(x, y)) for x in (0.5, 1, 2)]),
    "chi2": ("y, one column", 3, 0, 3, [
        (f"x={x:g}", lambda y, x=x: 2 * x * y / (x + y)) for x in (0.5, 1, 2)]),
    "jensen-shannon": ("y, one column", 3, 0, 3, [
        (f"x={x:g}", lambda y, x=x: shared_bits(x, y)) for x in (0.5, 1, 2)]),
    "poly": (PRODUCT, 1, -1, 8, [
        (f"degree={r:d}", lambda t, r=r: (t + 1) ** r) for r in (1, 2, 3)]),
    "exp": (PRODUCT, 1, 0, 8, [
        (f"sigma={s:g}", lambda t, s=s: math.exp(t / s ** 2)) for s in (0.7, 1, 1.5)]),
    "vovk": (PRODUCT, 1, -1, 8, [
        (f"degree={p:d}", lambda t, p=p: sum(t ** n for n in range(p))) for p in (2, 4, 8)]),
    "vovk-infinite": (PRODUCT, 1, 0, 8, [
        (f"scale={c:g}", lambda t, c=c: 1 / (1 - t / c)) for c in (1.2, 2, 4)]),
    "series": (PRODUCT, 1, -1, 8, [
        ("series:" + ",".join(f"{a:g}" for a in c), lambda t, c=c: sum(a * t ** n for n, a in enumerate(c)))
        for c in ((1, 1, 0.5), (0, 0, 4), (1, 0, 0, 0, 6))]),
    "sigmoid": (PRODUCT, 1, -1, 1, [
        (f"gamma={g:g}, offset={o:g}", lambda t, g=g, o=o: math.tanh(g * t + o)) for g, o in ((0.5, 0), (1, 0), (1, 1))]),
}


def draw(name):
    label, end, low, high, curves = PICTURES[name]
    begin, steps = (-end, 4) if label == PRODUCT else (0, end)
    across = lambda x: LEFT + (WIDTH - LEFT - RIGHT) * (x - begin) / (end - begin)
    label = label.replace("<", "&lt;").replace(">", "&gt;")
    down = lambda k: TOP + (HEIGHT - TOP - BOTTOM) * (high - k) / (high - low)
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="12">',
            f"<title>{name}: K against {label}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']
    for i in range(5):
        k = low + (high - low) * i / 4
        text.append(f'<path d="M{LEFT} {down(k):.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>'
                    f'<text x="{LEFT - 6}" y="{down(k) + 4:.1f}" text-anchor="end">{k:g}</text>')
    for x in (begin + (end - begin) * i / steps for i in range(steps + 1)):
        text.append(f'<path d="M{across(x):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#dddddd"/>'
                    f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:g}</text>')
    text.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{label}</text>')
    for i, (legend, curve) in enumerate(curves):
        points = " ".join(f"{across(x):.1f},{down(curve(x)):.1f}" for x in (begin + (end - begin) * p / 60 for p in range(61)))
        left, top = (LEFT + 20, TOP + 18 + 18 * i) if label == "y, one column" or begin < 0 else (WIDTH - 120, TOP + 18 + 18 * i)
        text.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[i]}" stroke-width="2"/>'
                    f'<path d="M{left} {top}h22" stroke="{COLOURS[i]}" stroke-width="2"/>'
                    f'<text x="{left + 28}" y="{top + 4}">{legend}</text>')
    return "\n".join(text + ["</svg>", ""])


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for picture in PICTURES:
        with open(os.path.join(here, picture + ".svg"), "w", encoding="ascii", newline="\n") as file:
            file.write(draw(picture))
