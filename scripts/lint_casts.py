#!/usr/bin/env python3
"""Finds size casts that widen a sum: `33'(a + b)` of two 32-bit operands.

    lint_casts.py [-I DIR]... source.sv ...

IEEE 1800 can be read in two ways here. Verilator and slang perform the addition in the cast's width, so that it keeps its carry; other tools add in
32 bits, the operands' width, and lose the carry. Casting the operands instead is unambiguous: `33'(a) + 33'(b)`.

Needs pyosys (scripts/bootstrap.sh --mutants). slang determines the self-determined width of each operand: in a copy of the sources, each such cast
has a form that is an error if the operand is narrower than the cast. Every module is elaborated at its default parameters.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

# Operators whose result changes if they are evaluated in more bits; that of `&`, `|`, `^` and comparisons does not.
ARITHMETIC = re.compile(r"\+|-|\*|<<|~(?!\^)")
CAST = re.compile(r"(?:(?<![\w.'$])([A-Za-z_]\w*|\d+)|(\)))'\(")
# Casts with these names are not size casts.
KINDS = {"signed", "unsigned", "const", "string", "void", "real", "shortreal"}


def closing(text, opening):
    """The position of the bracket that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text)


def outside_brackets(text):
    """The text without what is in brackets, because that is evaluated in a width of its own; text in plain parentheses is kept, as it is not."""
    out, at = [], 0
    while at < len(text):
        if text[at] in "[{" or text[at] == "(" and re.search(r"[\w']$", text[:at]):
            at = closing(text, at)
        out.append(text[at])
        at += 1
    return "".join(out)


def without_comments(text):
    blank = lambda found: re.sub(r"[^\n]", " ", found.group())
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", blank, text, flags=re.S)


def marked(text):
    """The source with casts of arithmetic marked, and the number of such casts. Line numbers are unchanged."""
    plain, changes = without_comments(text), []
    for cast in CAST.finditer(plain):
        opening = cast.end() - 1
        operand = plain[opening + 1 : closing(plain, opening)]
        if cast.group(1) in KINDS or not ARITHMETIC.search(outside_brackets(operand)):
            continue
        if cast.group(1):
            start = cast.start(1)
        else:
            start = next(at for at in range(cast.start(), -1, -1) if plain[at] == "(" and closing(plain, at) == cast.start())
        size = plain[start : cast.end() - 2]
        if size.endswith("_t"):
            size = f"$bits({size})"
        # If the operand is narrower than the cast, the size is 0, which is an error at this line.
        wide = f"($bits({operand.strip()}) >= ({size}) ? ({size}) : 0)"
        changes.append((start, cast.end() - 2, " ".join(wide.split())))
    for start, end, wide in sorted(changes, reverse=True):
        text = text[:start] + wide + text[end:]
    return text, len(changes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-I", action="append", default=[])
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        count, command = 0, ["read_slang", "--ast-compilation-only", "--diag-json", f"{folder}/found.json"]
        for include in args.I:
            command += ["-I", include]
        names = {}
        for source in args.sources:
            text, casts = marked(open(source).read())
            count += casts
            copy = os.path.join(folder, f"{len(names)}.sv")
            names[os.path.basename(copy)] = source
            open(copy, "w").write(text)
            command.append(copy)
        # Yosys ends the process at an error.
        program = f"from pyosys import libyosys; libyosys.Design().run_pass({' '.join(command)!r})"
        subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = json.load(open(f"{folder}/found.json"))
        errors = [one for one in found if one["severity"] in ("error", "fatal")]
        for error in errors:
            file, line = error.get("location", "slang:").split(":")[:2]
            widens = error["code"] == "ValueMustBePositive"
            what = "the cast widens the sum in it: cast the operands" if widens else error["message"]
            print(f"{names.get(os.path.basename(file), file)}:{line}: {what}", file=sys.stderr)
    if errors:
        sys.exit(1)
    print(f"{count} casts of arithmetic, none of which widens it")


if __name__ == "__main__":
    main()
