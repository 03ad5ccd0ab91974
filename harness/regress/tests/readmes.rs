//! The READMEs of `model/`, `harness/` and `scripts/` list what is there, in the order of dependence. Pages have lines of at most 120
//! columns and plain words, and their links lead to files and headings that exist.

#[path = "common/files.rs"]
mod files;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use files::files;
use gpurf_regress::Project;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// The names in the first column of a README's table.
fn listed(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap_or_default().to_owned()).collect()
}

/// The folders that hold a crate, below `folder` and its crates, as a README names them.
fn crates(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.path().join("Cargo.toml").is_file() {
            let name = format!("{prefix}{}/", entry.file_name().to_string_lossy());
            crates(&entry.path(), &name, found);
            found.insert(name);
        }
    }
}

/// The package's name, and those of the packages that it depends on outside tests.
fn package(manifest: &Path) -> (String, Vec<String>) {
    let text = std::fs::read_to_string(manifest).unwrap();
    let name = text.lines().find_map(|line| line.strip_prefix("name = ")).unwrap().trim_matches('"').to_owned();
    let section = text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = section.take_while(|line| !line.starts_with('['));
    let uses = lines.filter_map(|line| line.split(['.', ' ', '=']).next()).map(str::to_owned);
    (name, uses.collect())
}

#[test]
fn every_crate_is_listed_below_those_it_uses() {
    let root = Project::find().root;
    for part in ["model", "harness"] {
        let folder = root.join(part);
        let mut there = BTreeSet::new();
        crates(&folder, "", &mut there);
        let rows = listed(&folder);
        assert_eq!(rows.iter().cloned().collect::<BTreeSet<_>>(), there, "{part}/README.md and the crates of {part}/");
        let packages: Vec<_> = rows.iter().map(|row| package(&folder.join(row).join("Cargo.toml"))).collect();
        for (index, (name, uses)) in packages.iter().enumerate() {
            let below = packages[index..].iter().find(|(other, _)| uses.contains(other));
            assert_eq!(below, None, "{part}/README.md: {name} stands above a crate that it uses");
        }
    }
}

#[test]
fn every_script_is_listed() {
    let folder = Project::find().root.join("scripts");
    let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let is_script = |name: &String| name.ends_with(".sh") || name.ends_with(".py");
    let there: BTreeSet<String> = names.map(|name| name.to_string_lossy().into_owned()).filter(is_script).collect();
    let rows: BTreeSet<String> = listed(&folder).into_iter().collect();
    assert_eq!(rows, there, "scripts/README.md and the scripts");
}

/// Numbers of the lines of prose that are longer than 120 columns. A row of a table and a line of code cannot be broken,
/// nor can a line that is one piece of code.
fn long_lines(text: &str) -> Vec<usize> {
    let mut code = false;
    let mut long = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        let one_piece = line.trim().starts_with('`') && line.matches('`').count() <= 2;
        if !code && !one_piece && !line.trim_start().starts_with('|') && line.chars().count() > 120 {
            long.push(number);
        }
    }
    long
}

#[test]
fn prose_has_lines_of_120_columns() {
    let root = Project::find().root;
    let pages = files(&root, &["md"], &[]);
    assert!(pages.len() > 50, "{}", pages.len());
    let mut long = Vec::new();
    for file in pages {
        let lines = long_lines(&std::fs::read_to_string(&file).unwrap());
        long.extend(lines.iter().map(|line| format!("{}:{line}", file.strip_prefix(&root).unwrap().display())));
    }
    assert!(long.is_empty(), "longer than 120 columns:\n{}", long.join("\n"));
}

#[test]
fn a_long_line_is_found_in_prose_only() {
    let long = "word ".repeat(30);
    let text = format!("{long}\n| {long} |\n```\n{long}\n```\n- {long}\n`{long}`\n");
    assert_eq!(long_lines(&text), [1, 6]);
}

/// Phrases that readers had to decode, and that plain words have replaced: "no warp" for `nobody`, "continues" for `goes on`, "diverge" for
/// `they part`. Each is in lower case, with one space between two words.
const RIDDLES: &[&str] = &[
    "anybody",
    "broken on purpose",
    "comes to its end",
    "everybody",
    "for want of",
    "goes on",
    "goes on with",
    "gone on with",
    "hangs on",
    "in which cycle they part",
    "makes room",
    "nobody",
    "one behind the other",
    "somebody",
    "they part",
    "thrown away",
    "told apart",
    "who gets",
    "who waits",
    "who writes",
];

/// The words of a page's prose in lower case, each with the place of its text in the page. A punctuation mark is a word, and a full stop
/// stands for code and for the end of a paragraph or a cell, so that no phrase extends over them.
fn words(page: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut code = false;
    for (event, range) in Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code = true,
            Event::End(TagEnd::CodeBlock) => code = false,
            Event::Text(text) if !code => {
                let mut word = String::new();
                for c in text.chars().chain([' ']) {
                    if c.is_alphanumeric() || c == '\'' {
                        word.extend(c.to_lowercase());
                        continue;
                    }
                    if !word.is_empty() {
                        found.push((std::mem::take(&mut word), range.start));
                    }
                    if !c.is_whitespace() {
                        found.push((c.to_string(), range.start));
                    }
                }
            }
            Event::SoftBreak
            | Event::HardBreak
            | Event::Start(Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. })
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Image) => {}
            _ => found.push((".".to_owned(), range.start)),
        }
    }
    found
}

/// The riddles in a page, each with the number of the line in which it begins.
fn riddles(page: &str) -> Vec<(usize, &'static str)> {
    let words = words(page);
    let mut found = Vec::new();
    for &phrase in RIDDLES {
        let parts: Vec<&str> = phrase.split(' ').collect();
        for window in words.windows(parts.len()) {
            if window.iter().map(|(word, _)| word.as_str()).eq(parts.iter().copied()) {
                found.push((1 + page[..window[0].1].matches('\n').count(), phrase));
            }
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn prose_has_plain_words() {
    let root = Project::find().root;
    let mut found = Vec::new();
    for file in files(&root, &["md"], &[]) {
        let riddles = riddles(&std::fs::read_to_string(&file).unwrap());
        let name = file.strip_prefix(&root).unwrap().display();
        found.extend(riddles.iter().map(|(line, phrase)| format!("{name}:{line}: {phrase}")));
    }
    assert!(found.is_empty(), "say it in plain words:\n{}", found.join("\n"));
}

/// Words that plain words have replaced in the sources too: in comments, documentation and messages.
const NO_ONE: &[&str] = &["anybody", "everybody", "nobody", "somebody", "told apart"];

#[test]
fn sources_have_plain_words() {
    let root = Project::find().root;
    let mut found = Vec::new();
    for file in files(&root, &["rs"], &[]) {
        if file.ends_with("tests/readmes.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for (line, number) in text.lines().zip(1..) {
            let words: String =
                line.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
            let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
            let phrases = NO_ONE.iter().filter(|phrase| words.contains(&format!(" {phrase} ")));
            found.extend(
                phrases.map(|phrase| format!("{}:{number}: {phrase}", file.strip_prefix(&root).unwrap().display())),
            );
        }
    }
    assert!(found.is_empty(), "say it in plain words:\n{}", found.join("\n"));
}

/// Descriptions of ports, nets and registers have to be understood alone: a failure report prints them.
#[test]
fn ports_are_described_by_more_than_a_pronoun() {
    let pronouns = ["Its", "Their", "Whose", "Which", "Who", "For whom"];
    let root = Project::find().root;
    let mut found = Vec::new();
    let mut ports = 0;
    for file in files(&root.join("model"), &["rs"], &[]) {
        let text = std::fs::read_to_string(&file).unwrap();
        for block in text.split("\nports! {").skip(1) {
            let block = block.split("\n}").next().unwrap_or_default();
            for line in block.lines().filter_map(|line| line.trim_start().strip_prefix("/// ")) {
                ports += 1;
                let words = line.split_whitespace().count();
                if words <= 3 && pronouns.iter().any(|pronoun| line.starts_with(&format!("{pronoun} ")))
                    || words == 1 && pronouns.contains(&line.trim_end_matches('.'))
                {
                    found.push(format!("{}: {line}", file.strip_prefix(&root).unwrap().display()));
                }
            }
        }
    }
    assert!(ports > 1000, "{ports}");
    assert!(found.is_empty(), "a report would print:\n{}", found.join("\n"));
}

#[test]
fn a_riddle_is_found_in_prose_only() {
    let text = "Nobody waits. A run *goes\non*,\nthat is nobody's.\n\n`nobody` goes `x` on, goes. On\n\n```\nnobody\n```\n\n\
                | a run goes | on |\n|---|---|\n| `goes on` | what goes on with |\n";
    assert_eq!(riddles(text), [(1, "goes on"), (1, "nobody"), (13, "goes on"), (13, "goes on with")]);
}

/// The target of each link and picture of a page.
fn links(text: &str) -> Vec<String> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES);
    let targets = events.filter_map(|event| match event {
        Event::Start(Tag::Link { link_type: LinkType::Inline | LinkType::Reference, dest_url, .. })
        | Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    targets.collect()
}

/// The anchors of a page's headings: lower case, a hyphen for each space, without punctuation.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
            Event::End(TagEnd::Heading(_)) => {
                let words = heading.take().unwrap_or_default().to_lowercase();
                let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
                found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
            }
            _ => {}
        }
    }
    found
}

/// What is wrong with the links of a page, if anything.
fn dead_links(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let is_dead = |link: &String| {
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if path.is_empty() { page.to_owned() } else { page.parent().unwrap().join(path) };
        !target.exists()
            || !anchor.is_empty() && std::fs::read_to_string(&target).is_ok_and(|text| !anchors(&text).contains(anchor))
    };
    let local = links(&text).into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:"));
    local.filter(is_dead).map(|link| format!("{}: {link}", page.display())).collect()
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let root = Project::find().root;
    let dead: Vec<_> = files(&root, &["md"], &[]).iter().flat_map(|page| dead_links(page)).collect();
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    let text = "# A `b`, C\n[here](#a-b-c) [there](page.md) [web](https://example.com)\n[gone](#d) [lost](lost.md)\n![x](x.svg)\n";
    std::fs::write(&page, text).unwrap();
    let dead: Vec<_> = dead_links(&page).iter().map(|dead| dead.rsplit(' ').next().unwrap().to_owned()).collect();
    assert_eq!(dead, ["#d", "lost.md", "x.svg"]);
}

/// The pages that a summary of the book names, in their order.
fn summary(docs: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    links(&text).iter().map(|link| docs.join(link).canonicalize().unwrap_or_else(|e| panic!("{link}: {e}"))).collect()
}

#[test]
fn the_book_has_every_page_once_and_no_link_out_of_it() {
    let root = Project::find().root.canonicalize().unwrap();
    let docs = root.join("docs");
    let listed = summary(&docs);
    let book: BTreeSet<&PathBuf> = listed.iter().collect();
    assert_eq!(listed.len(), book.len(), "docs/SUMMARY.md names a page twice");
    let pages = files(&docs, &["md"], &[]).into_iter().filter(|page| !page.ends_with("SUMMARY.md"));
    let absent: Vec<_> = pages.filter(|page| !book.contains(page)).collect();
    assert!(absent.is_empty(), "docs/SUMMARY.md has no line for {absent:?}");
    // A link to a page that is not in the book would show the page's source. A link to a folder leads to its README.
    let mut outside = Vec::new();
    for page in &listed {
        for link in links(&std::fs::read_to_string(page).unwrap()) {
            let path = link.split('#').next().unwrap_or_default();
            let Ok(target) = page.parent().unwrap().join(path).canonicalize() else { continue };
            let target = if target.join("README.md").is_file() { target.join("README.md") } else { target };
            let in_folder = || target.is_dir() && listed.iter().any(|page| page.starts_with(&target));
            let is_page = target.is_dir() || target.extension().is_some_and(|ending| ending == "md");
            if !path.is_empty() && is_page && !book.contains(&target) && !in_folder() {
                outside.push(format!("{}: {link}", page.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    assert!(outside.is_empty(), "links to what docs/SUMMARY.md does not have:\n{}", outside.join("\n"));
}
