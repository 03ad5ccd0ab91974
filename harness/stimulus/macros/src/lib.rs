//! `#[cover]`: collects the coverage points of a block from the code that recognises them.

use std::collections::HashMap;

use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

/// Stands before the `impl` that recognises the situations of a block. Every `point!` in it, at any depth, declares one
/// coverage point and counts it where its condition holds:
///
/// ```ignore
/// #[cover]
/// impl QueueCover {
///     const PORTS: [&str; 2] = ["0", "1"];
///
///     fn new(shape: &QueueShape, _: &Config) -> Self {
///         Self { shape: *shape }
///     }
///
///     fn observe(&mut self, i: &QueueIn, o: &QueueOut, p: &QueueProbe, points: &mut Points) {
///         let full = usize::from(p.count_q) == self.shape.places;
///         point!("a result waits for a place", i.push_i == 1 && full);
///         point!("two results come at once", i.push_i == 3, given = self.shape.ports == 2);
///         for port in 0..self.shape.ports {
///             point!("port {PORTS[port]} is stopped", i.stop_i >> port & 1 == 1);
///         }
///     }
/// }
/// ```
///
/// * `point!(name, condition)`: in every run the condition has to hold often enough. A point in a branch that is never
///   taken is declared nonetheless, and counts as missed.
/// * `given = ...`: an expression of `self` as `new` makes it. The point is required only if the expression is true;
///   otherwise it is left out. `#[given(...)]` before a function or a block applies to all points in it.
/// * `{LIST[index]}` in a name: one point for each word of `LIST`, a constant of the same `impl`.
///
/// A name is declared once: a second `point!` of that name is an error. The function around a `point!` needs a
/// parameter `points`. From all this the macro generates the block's implementation of `Cover`.
#[proc_macro_attribute]
pub fn cover(_: TokenStream, item: TokenStream) -> TokenStream {
    expand(item).unwrap_or_else(|(message, span)| {
        let error: TokenStream = format!("compile_error!({message:?});").parse().expect("an error is Rust");
        error.into_iter().map(|token| with_span(token, span)).collect()
    })
}

/// The message of an error, and its location.
type Error = (String, Span);

fn with_span(mut token: TokenTree, span: Span) -> TokenTree {
    token.set_span(span);
    token
}

fn rust(text: &str) -> Result<TokenStream, Error> {
    text.parse().map_err(|_| (format!("{text} is no Rust"), Span::call_site()))
}

fn group(delimiter: Delimiter, tokens: impl IntoIterator<Item = TokenTree>) -> TokenTree {
    Group::new(delimiter, tokens.into_iter().collect()).into()
}

/// The points that an `impl` declares.
#[derive(Default)]
struct Points {
    /// Lists of words for `{LIST[index]}` in names, by the name of the list: constants of the `impl`.
    lists: HashMap<String, Vec<String>>,
    /// Names and their `given` conditions, in the order of the points' numbers.
    declared: Vec<(String, Option<TokenStream>)>,
}

fn expand(item: TokenStream) -> Result<TokenStream, Error> {
    let mut item: Vec<TokenTree> = item.into_iter().collect();
    let Some(TokenTree::Group(body)) = item.pop() else {
        return Err(("#[cover] stands before an impl".into(), Span::call_site()));
    };
    let name: TokenStream = item.iter().skip_while(|token| token.to_string() != "impl").skip(1).cloned().collect();
    let mut points = Points::default();
    points.find_lists(body.stream());
    let types = observed(body.stream())
        .ok_or(("#[cover] needs `fn observe` with inputs, outputs and probes".to_owned(), body.span()))?;
    item.push(group(Delimiter::Brace, points.count(body.stream(), &None)?));

    let mut list = TokenStream::new();
    for (name, given) in points.declared {
        let name: TokenTree = Literal::string(&name).into();
        match given {
            None => list.extend(rust(&format!("Some({name}),"))?),
            Some(given) => {
                list.extend([group(Delimiter::Parenthesis, given)]);
                list.extend(rust(&format!(".then_some({name}),"))?);
            }
        }
    }
    let [inputs, outputs, probe] = types;
    let mut cover = rust(&format!(
        "type In = {inputs}; type Out = {outputs}; type Probe = {probe};
        fn new(shape: &<{inputs} as gpurf_blocks::Ports>::Shape, config: &gpurf_blocks::config::Config) -> Self {{
            {name}::new(shape, config)
        }}
        fn observe(&mut self, i: &{inputs}, o: &{outputs}, p: &{probe}, points: &mut crate::Points) {{
            {name}::observe(self, i, o, p, points)
        }}
        fn points(&self) -> Vec<Option<&'static str>>"
    ))?;
    cover.extend([group(Delimiter::Brace, rust("vec!")?.into_iter().chain([group(Delimiter::Bracket, list)]))]);
    let mut all: TokenStream = item.into_iter().collect();
    all.extend(rust(&format!("impl crate::Cover for {name}"))?);
    all.extend([group(Delimiter::Brace, cover)]);
    Ok(all)
}

/// The types of the parameters of `observe`: inputs, outputs and probes.
fn observed(body: TokenStream) -> Option<[TokenStream; 3]> {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let is_observe = |pair: &[TokenTree]| pair[0].to_string() == "fn" && pair[1].to_string() == "observe";
    let place = tokens.windows(2).position(is_observe)?;
    let TokenTree::Group(parameters) = tokens.get(place + 2)? else { return None };
    let mut types = split(parameters.stream()).into_iter().skip(1).map(|parameter| {
        let after = parameter.into_iter().skip_while(|token| token.to_string() != "&");
        after.skip(1).collect::<TokenStream>()
    });
    Some([types.next()?, types.next()?, types.next()?])
}

/// The parts between commas.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => parts.push(Vec::new()),
            token => parts.last_mut().expect("there is one").push(token),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The text of a string literal.
fn text(token: &TokenTree) -> Option<String> {
    let text = token.to_string();
    Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

/// Whether an attribute is `#[given(...)]`.
fn is_given(attribute: &Group) -> bool {
    attribute.stream().into_iter().next().is_some_and(|name| name.to_string() == "given")
}

fn misplaced(span: Span) -> Error {
    ("#[given(condition)] stands before a function or a block".to_owned(), span)
}

/// The conjunction of those conditions that are present.
fn and(first: Option<TokenStream>, then: Option<TokenStream>) -> Option<TokenStream> {
    match (first, then) {
        (Some(first), Some(then)) => Some(first.into_iter().chain(rust("&&").ok()?).chain(then).collect()),
        (first, then) => first.or(then),
    }
}

impl Points {
    /// Collects the constants `const NAME: [&str; n] = ["...", ...];`.
    fn find_lists(&mut self, body: TokenStream) {
        let tokens: Vec<TokenTree> = body.into_iter().collect();
        for (place, _) in tokens.iter().enumerate().filter(|(_, token)| token.to_string() == "const") {
            let end = tokens[place..].iter().position(|token| token.to_string() == ";").unwrap_or_default();
            if let (Some(name), Some(TokenTree::Group(words))) = (tokens.get(place + 1), tokens[place..][..end].last())
            {
                let words = split(words.stream()).iter().filter_map(|word| text(&word[0])).collect();
                self.lists.insert(name.to_string(), words);
            }
        }
    }

    /// Returns the code with every `point!` replaced by code that counts it. `given` is the condition that applies to
    /// all of them.
    fn count(&mut self, tokens: TokenStream, given: &Option<TokenStream>) -> Result<Vec<TokenTree>, Error> {
        let mut out = Vec::new();
        // The additional condition of the next block, and the location of its attribute.
        let mut block: Option<(TokenStream, Span)> = None;
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = &tokens[..];
        while let [token, after @ ..] = rest {
            rest = after;
            match (token, after) {
                (TokenTree::Ident(name), [TokenTree::Punct(mark), TokenTree::Group(arguments), after @ ..])
                    if name.to_string() == "point" && mark.as_char() == '!' =>
                {
                    out.extend(self.point(name.span(), arguments.stream(), given)?);
                    rest = after;
                }
                (TokenTree::Punct(mark), [TokenTree::Group(attribute), after @ ..])
                    if mark.as_char() == '#' && is_given(attribute) =>
                {
                    let condition = attribute.stream().into_iter().nth(1).ok_or(misplaced(attribute.span()))?;
                    block = Some((condition.into(), attribute.span()));
                    rest = after;
                }
                (TokenTree::Group(inner), _) => {
                    let besides = if inner.delimiter() == Delimiter::Brace { block.take() } else { None };
                    let given = and(given.clone(), besides.map(|(condition, _)| condition));
                    let counted = self.count(inner.stream(), &given)?;
                    out.push(with_span(group(inner.delimiter(), counted), inner.span()));
                }
                (TokenTree::Punct(end), _) if end.as_char() == ';' && block.is_some() => break,
                _ => out.push(token.clone()),
            }
        }
        block.map_or(Ok(out), |(_, span)| Err(misplaced(span)))
    }

    /// Declares the points of one `point!`, and returns the code that counts them.
    fn point(
        &mut self,
        span: Span,
        arguments: TokenStream,
        outer: &Option<TokenStream>,
    ) -> Result<Vec<TokenTree>, Error> {
        let fail = |message: &str| (message.to_owned(), span);
        let parts = split(arguments);
        let (name, condition, given) = match &parts[..] {
            [name, condition] => (name, condition, None),
            [name, condition, given] if given[0].to_string() == "given" => {
                (name, condition, Some(group(Delimiter::Parenthesis, given.iter().skip(2).cloned()).into()))
            }
            _ => return Err(fail("point!(name, condition) or point!(name, condition, given = condition)")),
        };
        let name = text(&name[0]).ok_or(fail("the name of a point is a string"))?;
        let given = and(outer.clone(), given);
        let first = self.declared.len();
        let (index, count, names) = match name.split_once('{') {
            None => (rust("0")?, "1".to_owned(), vec![name]),
            Some((before, rest)) => {
                let wrong = || fail("in braces stands LIST[index], of a constant of this impl");
                let (place, after) = rest.split_once('}').ok_or_else(wrong)?;
                let (list, index) = place.strip_suffix(']').and_then(|p| p.split_once('[')).ok_or_else(wrong)?;
                let words = self.lists.get(list).ok_or_else(wrong)?;
                let names = words.iter().map(|word| format!("{before}{word}{after}")).collect();
                (rust(index)?, format!("Self::{list}.len()"), names)
            }
        };
        for name in &names {
            if self.declared.iter().any(|known| known.0 == *name) {
                return Err((format!("{name:?} is declared already"), span));
            }
        }
        self.declared.extend(names.into_iter().map(|name| (name, given.clone())));
        let mut arguments = rust(&format!("{first}..{first} + {count},"))?;
        arguments.extend(index);
        arguments.extend(rust(",")?);
        arguments.extend(condition.iter().cloned());
        let call = [Ident::new("points", span).into()].into_iter().chain(rust(".count")?);
        Ok(call.chain([group(Delimiter::Parenthesis, arguments)]).collect())
    }
}
