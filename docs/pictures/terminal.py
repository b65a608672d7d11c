#!/usr/bin/env python3
"""Runs the commands below with the `sortie` of the PATH, in an empty folder, and draws what they print as terminal.svg."""

import html
import pathlib
import subprocess
import tempfile

COMMANDS = [
    "seq 5000000 | sortie sort -R -o shuffled.txt",
    "du -h shuffled.txt",
    "sortie sort -n -S 16M --stats shuffled.txt -o sorted.txt",
    "LC_ALL=C sort -n shuffled.txt | cmp - sorted.txt && echo the same bytes as GNU sort",
]

# In pixels. A browser's monospace fonts are at most 0.61 times as wide as high.
FONT = 13
LINE = 19
MARGIN = 16
PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" \
font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="{font}">
<style>text {{ fill: #d8d8d8; white-space: pre; }} .typed {{ fill: #f5963c; }}</style>
<rect width="100%" height="100%" rx="8" fill="#1c1c1c"/>
{lines}</svg>
"""


def record():
    """Each line on the terminal, and whether a person typed it."""
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            yield f"$ {command}", True
            run = subprocess.run(
                ["bash", "-o", "pipefail", "-c", command],
                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
            )
            for line in run.stdout.expandtabs().splitlines():
                yield line.rstrip(), False


def draw(lines):
    texts = ""
    for row, (line, typed) in enumerate(lines):
        kind = ' class="typed"' if typed else ""
        texts += f'<text x="{MARGIN}" y="{MARGIN + FONT + row * LINE}"{kind}>{html.escape(line)}</text>\n'
    width = 2 * MARGIN + round(max(len(line) for line, _ in lines) * FONT * 0.61)
    return PICTURE.format(width=width, height=2 * MARGIN + LINE * len(lines), font=FONT, lines=texts)


pathlib.Path(__file__).with_name("terminal.svg").write_text(draw(list(record())))
