"""Log-log line plots as SVG, written by hand: panels two by two, one legend."""
import math

COLOURS = ["#1b6ca8", "#c8553d", "#2f8f5b", "#8e5ea2", "#b8860b", "#008b8b", "#d1497e", "#555555",
           "#6a8f00", "#4b4bc8", "#a0522d", "#20a0c0", "#c03030", "#707030", "#9467bd", "#17a070", "#e08020"]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 400, 340, 52, 34, 44  # of a panel
DASHES = ["", ' stroke-dasharray="6 3"', ' stroke-dasharray="2 2"']  # eight colours tell lines apart well


def dash(colour):
    return DASHES[COLOURS.index(colour) // 8]


def decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def power(exponent):
    return f'10<tspan baseline-shift="super" font-size="8">{exponent}</tspan>'


def panel(title, lines, colours, x_label, y_label, y_range):
    """lines: {name: [(x, y)]}; the elements of one panel."""
    points = [p for line in lines.values() for p in line]
    x_low, x_high = decades([p[0] for p in points])
    y_low, y_high = y_range
    width, height = WIDTH - LEFT - 16, HEIGHT - TOP - BOTTOM

    def at(x, y):
        return (LEFT + (math.log10(x) - x_low) / (x_high - x_low) * width,
                TOP + height - (math.log10(y) - y_low) / (y_high - y_low) * height)

    out = [f'<text x="{LEFT}" y="20" font-weight="bold">{title}</text>',
           f'<rect x="{LEFT}" y="{TOP}" width="{width}" height="{height}" fill="none" stroke="#888"/>']
    for e in range(x_low, x_high + 1):
        x, _ = at(10 ** e, 10 ** y_low)
        out.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + height}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{TOP + height + 16}" text-anchor="middle">{power(e)}</text>')
    for e in range(y_low, y_high + 1):
        _, y = at(10 ** x_low, 10 ** e)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + width}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{power(e)}</text>')
    out.append(f'<text x="{LEFT + width / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{x_label}</text>')
    out.append(f'<text transform="translate(12,{TOP + height / 2:.0f}) rotate(-90)" '
               f'text-anchor="middle">{y_label}</text>')
    for name, line in sorted(lines.items()):
        where = [at(x, y) for x, y in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in where)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colours[name]}" stroke-width="1.6"{dash(colours[name])}>'
                   f"<title>{name}</title></polyline>")
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colours[name]}"/>' for x, y in where]
    return out


def write(path, panels, x_label, y_label):
    """panels: {title: {name: [(x, y)]}}; those without points are left out."""
    panels = {t: {n: p for n, p in lines.items() if p} for t, lines in panels.items()}
    panels = {t: lines for t, lines in panels.items() if lines}
    if not panels:
        return
    names = sorted({n for lines in panels.values() for n in lines})
    colours = {n: COLOURS[i % len(COLOURS)] for i, n in enumerate(names)}
    y_range = decades([y for lines in panels.values() for p in lines.values() for _, y in p])
    across = min(2, len(panels))
    total, height = WIDTH * across + 130, HEIGHT * ((len(panels) + across - 1) // across)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height}" '
           f'font-family="sans-serif" font-size="11">', f'<rect width="{total}" height="{height}" fill="white"/>']
    for i, (title, lines) in enumerate(panels.items()):
        out.append(f'<g transform="translate({i % across * WIDTH},{i // across * HEIGHT})">')
        out += panel(title, lines, colours, x_label, y_label, y_range) + ["</g>"]
    for i, name in enumerate(names):
        x, y = WIDTH * across + 6, TOP + 8 + 17 * i
        out.append(f'<line x1="{x}" y1="{y}" x2="{x + 18}" y2="{y}" stroke="{colours[name]}" '
                   f'stroke-width="2.4"{dash(colours[name])}/>')
        out.append(f'<text x="{x + 24}" y="{y + 4}">{name}</text>')
    with open(path, "w") as f:
        f.write("\n".join(out + ["</svg>"]) + "\n")
