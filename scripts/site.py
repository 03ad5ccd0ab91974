#!/usr/bin/env python3
"""Builds the site: the pages as a book by mdBook, the crates' documentation by rustdoc, and a check of every link.

    scripts/site.py MDBOOK OUT       called by scripts/site.sh

docs/SUMMARY.md names the pages, including those outside of docs/. They are copied to OUT/../site-source with the repository's folders,
so that links between pages lead to the same places in the book as in the repository. A link to another file of the
repository, such as a SystemVerilog module, leads to a copy of the file. Finally, every link of the result is checked.
"""

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)

BOOK = """[book]
title = "gpurf"
description = "Reference model and lockstep verification of GPU register files"
language = "en"

[build]
create-missing = false

[output.html]
no-section-label = true
default-theme = "light"
preferred-dark-theme = "ayu"
fold = { enable = true, level = 0 }
additional-css = ["site.css"]
"""

# Wide tables scroll horizontally, and the text uses a wide screen.
STYLE = """:root { --content-max-width: 1000px; }
.content main { overflow-wrap: anywhere; }
.content table { margin: 0; overflow-wrap: normal; }
.content .table-wrapper { overflow-x: auto; }
.content img { max-width: 100%; background: #fff; }
"""


def local(link):
    """The path of a link within the repository, or None."""
    parts = urllib.parse.urlsplit(link)
    return None if parts.scheme or parts.netloc or not parts.path else urllib.parse.unquote(parts.path)


def links(text):
    return [path for path in map(local, LINK.findall(CODE.sub("", text))) if path]


def pages():
    """The summary with paths as in the book, and the pages that it names, as paths from the root of the repository."""
    found = []

    def from_root(match):
        page = os.path.normpath(os.path.join("docs", match[1]))
        found.append(page)
        return f"]({page})"

    return LINK.sub(from_root, (ROOT / "docs/SUMMARY.md").read_text()), found


def crates():
    """The name of each crate and the first sentence of its documentation, in the order of the workspace."""
    metadata = subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, capture_output=True)
    for package in json.loads(metadata.stdout)["packages"]:
        for target in package["targets"]:
            if {"lib", "proc-macro", "bin"} & set(target["kind"]):
                text = pathlib.Path(target["src_path"]).read_text()
                first = re.match(r"(?://! ?.+\n)+", text)
                sentence = " ".join(line[3:].strip() for line in first[0].splitlines()) if first else ""
                yield target["name"].replace("-", "_"), re.split(r"(?<=\.) |: ", sentence)[0].rstrip(".")


def in_book(link, page, names):
    """A link as the book needs it: mdBook names the page of README.md index, and a link to a folder without README.md leads to its first page."""
    path = local(link)
    if path is None:
        return link
    target = os.path.normpath(os.path.join(os.path.dirname(page), path))
    if target in names and os.path.basename(target) == "README.md":
        return link.replace("README.md", "index.md")
    if (ROOT / target).is_dir() and f"{target}/README.md" not in names:
        first = next((name for name in names if name.startswith(f"{target}/")), None)
        return os.path.relpath(first, os.path.dirname(page) or ".") if first else link
    return link


def copy_sources(source):
    summary, names = pages()
    api = ["# Rust crates", "", "| crate | what it is |", "|---|---|"]
    api += [f"| [`{name}`](api/{name}/index.html) | {sentence} |" for name, sentence in crates()]
    (source / "SUMMARY.md").write_text(summary + "\n# Code\n- [Rust crates](crates.md)\n")
    (source / "crates.md").write_text("\n".join(api) + "\n")
    for name in names:
        text = (ROOT / name).read_text()
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(LINK.sub(lambda link, page=name: f"]({in_book(link[1], page, names)})", text))
        for path in links(text):
            other = pathlib.Path(os.path.normpath(ROOT / name / ".." / path))
            if not other.is_relative_to(ROOT) or not other.is_file():
                continue  # a folder has the page of its README; dead links are found at the end
            copy = source / other.relative_to(ROOT)
            if not copy.exists() and str(other.relative_to(ROOT)) not in names:
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(other, copy)


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if value and (key == "id" or (tag, key) == ("a", "name")):
                self.anchors.add(value)
            if value and key in ("href", "src"):
                self.links.append(value)


def dead_links(out, folders):
    """Links of the pages in `folders` of the site that lead to no file, or to no anchor of it."""
    parsed = {}

    def page(path):
        if path not in parsed:
            parsed[path] = Page(path.read_text(errors="replace"))
        return parsed[path]

    dead = []
    for path in sorted(path for folder in folders for path in folder.rglob("*.html")):
        if path.name in ("404.html", "print.html", "toc.html"):
            continue
        for link in page(path).links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or parts.path.endswith(".js"):
                continue
            target = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(parts.path))) if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_relative_to(out) or not target.is_file():
                dead.append(f"{path.relative_to(out)}: {link}")
            elif anchor and target.suffix == ".html" and out / "api" not in target.parents and anchor not in page(target).anchors:
                dead.append(f"{path.relative_to(out)}: {link}: no such heading")
    return dead


def main():
    mdbook, out = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    book = out.parent / "site-source"
    shutil.rmtree(book, ignore_errors=True)
    (book / "src").mkdir(parents=True)
    copy_sources(book / "src")
    (book / "book.toml").write_text(BOOK)
    (book / "site.css").write_text(STYLE)
    subprocess.run([mdbook, "build", "--dest-dir", str(out), str(book)], check=True)
    shutil.copytree(ROOT / "target/doc", out / "api", dirs_exist_ok=True)
    dead = dead_links(out, [folder for folder in out.iterdir() if folder.is_dir() and folder.name != "api"])
    dead += [line for line in dead_links(out, [out]) if "/" not in line.split(":")[0]]
    if dead:
        sys.exit("site: links that lead nowhere:\n" + "\n".join(dead))
    print(f"the site is {out / 'index.html'}")


main()
