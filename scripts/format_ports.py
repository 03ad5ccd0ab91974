"""Formats the fields inside of `ports! { ... }` (model/blocks/src/ports.rs), which rustfmt does not format.

    format_ports.py            formats model/, harness/ and tests/
    format_ports.py --check    names the places that are not formatted; exits with 1 if there are any

A field, `name: type = declaration,`, becomes a statement, `let name: type = declaration;`, rustfmt formats a file of such
statements at the same depth, and they become fields again. `let ` takes four columns, so a line has at most 116 columns instead of 120.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN = re.compile(r"^( *)ports! \{$")
HEAD = re.compile(r"^ *(?:pub(?:\([a-z]+\))? )?struct \w+\(.*\) \{$")
OPEN, CLOSE = "([{", ")]}"


def blocks(lines):
    """For each declaration: its first line of fields, the line after the last one, and the depth of the macro."""
    for number, line in enumerate(lines):
        begin = BEGIN.match(line)
        if not begin:
            continue
        indent = begin.group(1)
        head = next((n for n in range(number + 1, len(lines)) if HEAD.match(lines[n])), None)
        inner = indent + "    "
        if head is None or not lines[head].startswith(inner):
            continue
        end = next(n for n in range(head + 1, len(lines)) if lines[n].startswith(inner + "}"))
        if end > head + 1:
            yield head + 1, end, len(indent) // 4


def statements(lines):
    """Fields as statements: each comma at the end of a field becomes a semicolon, each field begins with `let`."""
    result, depth, fresh = [], 0, True
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("//") or stripped.startswith("#["):
            result.append(line)
            continue
        code, text, at = [], line, 0
        while at < len(text):
            char = text[at]
            if text.startswith("//", at):
                code.append(text[at:])
                break
            if char == '"':
                stop = at + 1
                while text[stop] != '"':
                    stop += 2 if text[stop] == "\\" else 1
                code.append(text[at : stop + 1])
                at = stop + 1
                continue
            if fresh and not char.isspace():
                code.append("let ")
                fresh = False
            if char in OPEN:
                depth += 1
            elif char in CLOSE:
                depth -= 1
            if char == "," and depth == 0:
                code.append(";")
                fresh = True
            else:
                code.append(char)
            at += 1
        result.append("".join(code))
    if not fresh:
        result[-1] += ";"
    return result


def fields(lines, indent):
    """Statements as fields."""
    result = list(lines)
    begins = [n for n, line in enumerate(result) if line.startswith(indent + "let ")]
    own = re.compile(re.escape(indent) + r"(?:let |///|//|#\[)")
    for begin in begins:
        end = next((n for n in range(begin + 1, len(result)) if own.match(result[n]) or not result[n].strip()), len(result)) - 1
        result[begin] = indent + result[begin][len(indent) + 4 :]
        code, mark, comment = result[end].partition("; //")
        result[end] = code + ", //" + comment if mark else re.sub(r";$", ",", result[end])
    return result


def formatted(jobs):
    """The fields of all declarations as rustfmt lays them out."""
    text = []
    for number, (lines, depth) in enumerate(jobs):
        text += [f"mod block{number} {{"] + ["mod inner {"] * depth + ["fn fields() {"]
        text += statements(lines) + ["}"] * (depth + 2)
    command = ["rustfmt", "--edition", "2024", "--config-path", str(ROOT), "--emit", "stdout"]
    run = subprocess.run(command, input="\n".join(text) + "\n", text=True, capture_output=True)
    if run.returncode:
        sys.exit(f"format_ports: rustfmt failed\n{run.stderr}")
    out, results = run.stdout.splitlines(), []
    for number, (_, depth) in enumerate(jobs):
        start = out.index(f"mod block{number} {{") + depth + 2
        indent = "    " * (depth + 2)
        end = next(n for n in range(start, len(out)) if out[n] == indent[4:] + "}")
        results.append(fields(out[start:end], indent))
    return results


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    texts, jobs, places = {}, [], []
    for tree in ("model", "harness", "tests"):
        for path in sorted((ROOT / tree).rglob("*.rs")):
            lines = path.read_text().split("\n")
            found = list(blocks(lines))
            if found:
                texts[path] = lines
            for first, end, depth in found:
                jobs.append((lines[first:end], depth))
                places.append((path, first, end))
    wrong = [place + (new,) for place, (old, _), new in zip(places, jobs, formatted(jobs), strict=True) if old != new]
    for path, first, _, _ in wrong:
        if check:
            print(f"{path.relative_to(ROOT)}:{first + 1}: run scripts/format_ports.py")
    if check:
        sys.exit(1 if wrong else 0)
    # From the end of a file, so that the line numbers of earlier declarations stay valid.
    for path, first, end, new in reversed(wrong):
        texts[path][first:end] = new
    for path in {path for path, *_ in wrong}:
        path.write_text("\n".join(texts[path]))
    print(f"{len(wrong)} of {len(jobs)} declarations formatted")


if __name__ == "__main__":
    main()
