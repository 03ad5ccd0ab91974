//! Names of kernels and variables: as in the PTX, or as in the CUDA source.

use cpp_demangle::{DemangleOptions, Symbol};

/// A name of the PTX as it is in the CUDA source, with namespaces, template arguments and types of parameters; a name that is not mangled as it is.
pub fn in_source(name: &str) -> String {
    demangled(name).unwrap_or_else(|| name.to_owned())
}

/// A name of the PTX as it is in the CUDA source; `None` if it is not mangled.
fn demangled(name: &str) -> Option<String> {
    let symbol = Symbol::new(name).ok().filter(|_| name.starts_with("_Z"))?;
    symbol.demangle_with_options(&DemangleOptions::new().no_return_type()).ok()
}

/// A name of the PTX for messages, preceded by its name in the source.
fn shown(name: &str) -> String {
    match demangled(name) {
        Some(source) => format!("`{source}` (`{name}`)"),
        None => format!("`{name}`"),
    }
}

/// Finds the kernel or variable that a manifest names, among items with their names in the PTX. The name is the one in the PTX, or the one in the
/// CUDA source: types of parameters, template arguments and namespaces may be left out as long as only one item matches.
///
/// # Errors
/// When no item matches, or more than one; the text says which.
pub fn named<'a, T>(what: &str, name: &str, all: &'a [T], name_of: fn(&T) -> &str) -> Result<&'a T, String> {
    if let Some(found) = all.iter().find(|thing| name_of(thing) == name) {
        return Ok(found);
    }
    let wanted = normal(name);
    let forms: Vec<Forms> = all.iter().map(|thing| Forms::of(name_of(thing))).collect();
    // A match of the whole name takes precedence over one in a namespace.
    for fits in [Forms::is, Forms::ends_with] {
        let found: Vec<&T> = all.iter().zip(&forms).filter(|(_, forms)| fits(forms, &wanted)).map(|(t, _)| t).collect();
        match found[..] {
            [] => {}
            [only] => return Ok(only),
            _ => {
                let list: Vec<String> = found.iter().map(|thing| shown(name_of(thing))).collect();
                return Err(format!("`{name}` is the name of more than one {what}: use one of {}", list.join(", ")));
            }
        }
    }
    if all.is_empty() {
        return Err(format!("there is no {what} `{name}`: the source has none"));
    }
    let list: Vec<String> = all.iter().map(|thing| shown(name_of(thing))).collect();
    Err(format!("there is no {what} `{name}`; there are {}", list.join(", ")))
}

/// Names that an item may have in the source, without blanks; none if its name is not mangled.
struct Forms {
    /// With types of parameters, without them, and also without the last template arguments.
    whole: Vec<String>,
}

impl Forms {
    fn of(name: &str) -> Self {
        let Some(whole) = demangled(name) else { return Self { whole: Vec::new() } };
        // Items that are local to a file are in an anonymous namespace of the source.
        let whole = normal(&whole.replace("(anonymous namespace)::", ""));
        let plain = whole[..end_of_name(&whole)].to_owned();
        let bare = without_last_arguments(&plain).to_owned();
        Self { whole: vec![whole, plain, bare] }
    }

    fn is(&self, name: &str) -> bool {
        self.whole.iter().any(|form| form == name)
    }

    fn ends_with(&self, name: &str) -> bool {
        let is_whole = |rest: &str| rest.ends_with("::") && !is_open(rest);
        self.whole.iter().any(|form| form.strip_suffix(name).is_some_and(is_whole))
    }
}

/// A name in the form that is compared: without blanks, and with numbers among template arguments without their types, so that `(unsigned int)8` and
/// `8u` are 8.
fn normal(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let begins_number =
            |text: &str| text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit());
        let behind_cast = rest.strip_prefix('(').and_then(|inner| inner.find(['(', ')', ',']).map(|end| &inner[end..]));
        if let Some(number) = behind_cast.and_then(|text| text.strip_prefix(')')).filter(|text| begins_number(text)) {
            rest = number;
            continue;
        }
        let in_word = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if c.is_ascii_digit() && !in_word {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            out.push_str(&rest[..digits]);
            rest = rest[digits..].trim_start_matches(['u', 'U', 'l', 'L']);
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Whether a text ends inside of template arguments, or of a function's types of parameters.
fn is_open(text: &str) -> bool {
    let count = |c: char| text.matches(c).count();
    count('<') > count('>') || count('(') > count(')')
}

/// The index at which the types of a function's parameters begin, or the length if there are none.
fn end_of_name(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth == 0 && at > 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// A name without the template arguments at its end.
fn without_last_arguments(text: &str) -> &str {
    if !text.ends_with('>') {
        return text;
    }
    let mut depth = 0;
    for (at, c) in text.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nvcc mangles them: `scale<float, 3>`, `scale<float, 5>`, `scale<int, 3>`, `app::scale(float*)`, `app::inner::turn<unsigned int>`,
    /// `add(float*, int)`, `add(double*, int)`, a static kernel, one in a namespace without a name, a plain one, `count<8u, -3l, true>`,
    /// `fill<app::Kind>(app::Kind)`, and `k()::counter`, a static variable of a function.
    const NAMES: [&str; 13] = [
        "_Z5scaleIfLi3EEvPT_i",
        "_Z5scaleIfLi5EEvPT_i",
        "_Z5scaleIiLi3EEvPT_i",
        "_ZN3app5scaleEPf",
        "_ZN3app5inner4turnIjEEvPT_",
        "_Z3addPfi",
        "_Z3addPdi",
        "_ZL5tablei",
        "_ZN12_GLOBAL__N_16hiddenEv",
        "plain",
        "_Z5countILj8ELln3ELb1EEvPj",
        "_Z4fillIN3app4KindEEvT_",
        "_ZZ1kvE7counter",
    ];

    fn find(name: &str) -> Result<&'static str, String> {
        named("kernel", name, &NAMES, |name| name).copied()
    }

    #[test]
    fn names_are_those_of_the_ptx_or_of_the_source() {
        for (name, expected) in [
            ("plain", 9),
            ("counter", 12),
            ("k()::counter", 12),
            ("_Z3addPdi", 6),
            ("scale<float, 3>", 0),
            ("scale<float,5>", 1),
            ("scale<int, 3>", 2),
            ("scale<int, 3>(int*, int)", 2),
            ("app::scale", 3),
            ("app::scale(float*)", 3),
            ("scale(float*)", 3),
            ("turn", 4),
            ("turn<unsigned int>", 4),
            ("inner::turn", 4),
            ("app::inner::turn", 4),
            ("app::inner::turn<unsigned int>", 4),
            ("add(double*, int)", 6),
            ("table", 7),
            ("hidden", 8),
            ("count<8, -3, true>", 10),
            ("count<8u, (long)-3, true>", 10),
            ("count<(unsigned int)8, -3L, true>(unsigned int*)", 10),
        ] {
            assert_eq!(find(name), Ok(NAMES[expected]), "{name}");
        }
    }

    #[test]
    fn names_of_several_things_are_refused_with_all_of_them() {
        for (name, words) in [
            ("add", vec!["`add(float*, int)` (`_Z3addPfi`)", "`_Z3addPdi`"]),
            ("scale", vec!["`scale<float, 3>(float*, int)`", "`_Z5scaleIfLi5EEvPT_i`", "`_Z5scaleIiLi3EEvPT_i`"]),
        ] {
            let error = find(name).unwrap_err();
            assert!(error.contains("more than one kernel"), "{error}");
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
            // The kernel in a namespace has another name.
            assert!(!error.contains("app"), "{error}");
        }
        for name in [
            "cale",
            "sub",
            "scale<float>",
            "app",
            "app::",
            "",
            "add(float*)",
            "<",
            "turn<int>",
            "count<8>",
            "count<(8, 3",
            "Kind>(app::Kind)",
            "Kind)",
        ] {
            let error = find(name).unwrap_err();
            assert!(error.starts_with(&format!("there is no kernel `{name}`; there are `scale<")), "{error}");
        }
    }

    #[test]
    fn names_that_cannot_be_read_are_names_too() {
        for name in ["_Z", "_ZN", "_Z5sca", "_ZZZZ", "", "_Z1f(", "\u{e9}"] {
            assert_eq!(named("kernel", name, &[name], |name| name), Ok(&name));
        }
    }
}
