//! Reading types, values, and the contents of buffers and symbols.

use std::ops::Range;

use toml::de::DeValue;

use crate::document::{Document, Fields, Node};
use crate::init::check_size;
use crate::values::Values;
use crate::{Address, Init, ManifestError, Scalar, Type};

/// Where a buffer may begin: above the addresses that a null pointer with an offset reaches.
const ADDRESSES: Range<i128> = 1 << 24..1 << 32;
/// Alignment of buffers, as of CUDA's allocator.
const ALIGNMENT: u32 = 256;

/// The declaration of a buffer or a symbol. Addresses among its initial values are read when all buffers are known.
pub(crate) struct Data {
    pub name: String,
    pub ty: Type,
    pub len: u64,
    pub init: Init,
    pub output: bool,
    pub address: Option<u32>,
    pub symbol: Option<String>,
}

/// Characters of a name in CUDA's sources, beside letters and digits.
const CUDA_NAME: &str = "_.$:<>,()*&[]~ -";

/// Reads a buffer, or a symbol, which is never an output.
pub(crate) fn read_buffer(
    document: Document,
    node: &Node,
    what: &'static str,
    may_be_output: bool,
) -> Result<Data, ManifestError> {
    let keys = ["name", "type", "len", "init", "output", "address", "symbol"];
    let fields = document.fields(node, what, if may_be_output { &keys } else { &keys[..4] })?;
    let name_node = fields.required(document, "name")?;
    let name = document.string(name_node, "a name")?.to_owned();
    // The name of a buffer becomes the name of a file.
    let fits = |c: char| c.is_alphanumeric() || "_-.$".contains(c);
    if may_be_output && (name.is_empty() || !name.chars().all(fits) || name.starts_with('.')) {
        return Err(document.error(name_node.span(), "a name may have letters, digits and _ - . $, but no leading dot"));
    }
    if !may_be_output {
        check_variable(document, name_node)?;
    }
    let symbol = fields.get("symbol").map(|node| check_variable(document, node)).transpose()?;
    if let (Some(_), Some(address)) = (&symbol, fields.get("address")) {
        return Err(document.error(address.span(), "a variable lies where the loader puts it: it has no `address`"));
    }
    let ty = read_type(document, fields.required(document, "type")?)?;
    let values = fields.get("init").and_then(|init| init.get_ref().get("values"));
    let len = match (fields.get("len"), values.and_then(|values| values.get_ref().as_array())) {
        (Some(node), _) => document.integer(node, "len", 0..i128::from(u64::MAX) + 1)? as u64,
        (None, Some(values)) => values.len() as u64,
        (None, None) => fields.required(document, "len").map(|_| 0)?,
    };
    let unsaid = if symbol.is_some() { Init::Source } else { Init::Zero };
    let init = match fields.get("init") {
        Some(node) if !has_addresses(node) => read_init(document, node, &name, ty, len)?,
        Some(_) => Init::Zero,
        None => unsaid,
    };
    let output = match fields.get("output") {
        Some(node) => node.get_ref().as_bool().ok_or_else(|| document.expected(node, "true or false"))?,
        None => false,
    };
    let address = match fields.get("address") {
        Some(node) => {
            let address = document.integer(node, "an address", ADDRESSES)? as u32;
            if !address.is_multiple_of(ALIGNMENT) {
                return Err(document.error(node.span(), format!("an address is a multiple of {ALIGNMENT}")));
            }
            Some(address)
        }
        None => None,
    };
    Ok(Data { name, ty, len, init, output, address, symbol })
}

/// The name of a variable of the CUDA source.
fn check_variable(document: Document, node: &Node) -> Result<String, ManifestError> {
    let name = document.string(node, "the name of a variable")?;
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || CUDA_NAME.contains(c)) {
        let message =
            "the name of a variable is as in the CUDA source, such as `filter` or `app::filter`, or as in the PTX";
        return Err(document.error(node.span(), message));
    }
    Ok(name.to_owned())
}

/// Whether an `init` may have addresses: [`read_init_with_addresses`] then reads it.
fn has_addresses(init: &Node) -> bool {
    let is_table = |node: &Node| node.get_ref().is_table();
    let values = init.get_ref().get("values").and_then(|values| values.get_ref().as_array());
    let has = |key: &str| init.get_ref().get(key).is_some();
    has("addresses") || has("struct") || has("array") || values.is_some_and(|values| values.iter().any(is_table))
}

/// The initial values of a buffer or symbol if there may be addresses among them; `None` otherwise.
pub(crate) fn read_init_with_addresses(
    values: &Values,
    node: &Node,
    ty: Type,
    len: u64,
) -> Result<Option<Init>, ManifestError> {
    let document = values.document;
    let Some(init) = node.get_ref().get("init").filter(|init| has_addresses(init)) else { return Ok(None) };
    let size = len.saturating_mul(ty.size() as u64);
    let keys = ["values", "addresses", "struct", "array", "type", "align", "count"];
    let fields = document.fields(init, "`init` with addresses", &keys)?;
    if let Some(list) = fields.get("values") {
        document.fields(init, "`init`", &["values"])?;
        let nodes = document.array(list, "an array of values")?;
        if nodes.len() as u64 != len {
            let message = format!("the buffer has {len} elements, but {} values", nodes.len());
            return Err(document.error(list.span(), message));
        }
        return values.addresses(nodes, ty).map(|layout| Some(Init::Layout(layout)));
    }
    if let Some(node) = fields.get("addresses") {
        document.fields(init, "`init`", &["addresses"])?;
        return read_addresses(values, node, ty, len).map(Some);
    }
    let layout = values.layout(init)?;
    if layout.size() != size {
        let message = format!("this has {} bytes, but the buffer has {size}", layout.size());
        return Err(document.error(init.span(), message));
    }
    Ok(Some(Init::Layout(layout)))
}

/// Reads `addresses = { buffer, offset, step }`: the addresses of elements of another buffer, one after the other.
fn read_addresses(values: &Values, node: &Node, ty: Type, len: u64) -> Result<Init, ManifestError> {
    let document = values.document;
    let fields = document.fields(node, "`addresses`", &["buffer", "offset", "step"])?;
    if ty != Type::U64 {
        return Err(document.error(node.span(), format!("an address is a value of u64, not of {}", ty.name())));
    }
    let buffer = values.buffer(fields.required(document, "buffer")?)?;
    let target = &values.buffers[buffer.0];
    let element = target.ty.size() as u64;
    let end = i128::from(target.len) + 1;
    let offset = fields.get("offset").map_or(Ok(0), |node| document.integer(node, "offset", 0..end))?;
    let step_node = fields.required(document, "step")?;
    let step = document.integer(step_node, "step", 0..end)?;
    let last = offset + step * i128::from(len.saturating_sub(1));
    if last >= end {
        let message = format!(
            "the last of {len} addresses is that of element {last} of `{}`, which has {}",
            target.name, target.len
        );
        return Err(document.error(step_node.span(), message));
    }
    let first = Address { buffer, offset: offset as u64 * element };
    Ok(Init::Addresses { first, step: step as u64 * element })
}

/// Reads the name of a type.
pub(crate) fn read_type(document: Document, node: &Node) -> Result<Type, ManifestError> {
    let name = document.string(node, "a type")?;
    Type::ALL.into_iter().find(|ty| ty.name() == name).ok_or_else(|| {
        let names = Type::ALL.map(Type::name).join(", ");
        document.error(node.span(), format!("`{name}` is not a type; the types are {names}"))
    })
}

/// Reads a value of a type.
pub(crate) fn read_scalar(document: Document, node: &Node, ty: Type) -> Result<Scalar, ManifestError> {
    if !ty.is_float() {
        let (low, high) = ty.range();
        let what = format!("a value of {}", ty.name());
        return Ok(Scalar::from_integer(ty, document.integer(node, &what, low..high + 1)?));
    }
    let value = document.number(node, &format!("a value of {}", ty.name()))?;
    let infinite_text = matches!(node.get_ref(), DeValue::Float(float) if float.as_str().contains("inf"));
    // Not from the double, so that it is rounded only once.
    let narrow = match node.get_ref() {
        DeValue::Float(float) => float.as_str().parse().unwrap_or(value as f32),
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().unwrap_or(value as f32),
        DeValue::Integer(_) => document.integer(node, "a value", i128::MIN..i128::MAX)? as f32,
        _ => value as f32,
    };
    let overflows = if ty == Type::F32 { narrow.is_infinite() } else { value.is_infinite() };
    if overflows && !infinite_text {
        return Err(document.error(node.span(), format!("the value is too large for {}", ty.name())));
    }
    Ok(if ty == Type::F32 { Scalar::from_f32(narrow) } else { Scalar::from_f64(value) })
}

fn read_init(document: Document, node: &Node, name: &str, ty: Type, len: u64) -> Result<Init, ManifestError> {
    let what = "`init`: \"zero\", \"iota\", { random = .. }, { file = .. }, { values = .. }, { addresses = .. }, { struct = .. } or { array = .. }";
    if let DeValue::String(text) = node.get_ref() {
        return match text.as_ref() {
            "zero" => Ok(Init::Zero),
            "iota" => Ok(Init::Iota),
            other => Err(document.error(node.span(), format!("unknown `init` `{other}`; expected {what}"))),
        };
    }
    let fields = document.fields(node, what, &["random", "file", "values"])?;
    match (fields.get("random"), fields.get("file"), fields.get("values")) {
        (Some(random), None, None) => read_random(document, random, ty),
        (None, Some(file), None) => {
            let path = document.resolve(document.string(file, "the path of a file")?);
            // A size beyond all limits is refused elsewhere.
            check_size(&path, name, len.saturating_mul(ty.size() as u64))
                .map_err(|error| document.error(file.span(), format!("init: {error}")))?;
            Ok(Init::File(path))
        }
        (None, None, Some(values)) => {
            let nodes = document.array(values, "an array of values")?;
            if nodes.len() as u64 != len {
                let message = format!("`{name}` has {len} elements, but {} values", nodes.len());
                return Err(document.error(values.span(), message));
            }
            Ok(Init::Values(nodes.iter().map(|node| read_scalar(document, node, ty)).collect::<Result<_, _>>()?))
        }
        _ => Err(document.error(node.span(), format!("expected exactly one key in {what}"))),
    }
}

fn read_random(document: Document, node: &Node, ty: Type) -> Result<Init, ManifestError> {
    let fields: Fields = document.fields(node, "`random`", &["seed", "min", "max"])?;
    let seed_node = fields.required(document, "seed")?;
    let seed = document.integer(seed_node, "seed", 0..i128::from(u64::MAX) + 1)? as u64;
    let min = read_scalar(document, fields.required(document, "min")?, ty)?;
    let max_node = fields.required(document, "max")?;
    let max = read_scalar(document, max_node, ty)?;
    let ordered = if ty.is_float() {
        min.as_f64() <= max.as_f64() && (max.as_f64() - min.as_f64()).is_finite()
    } else {
        min.as_integer() <= max.as_integer()
    };
    if !ordered {
        return Err(document.error(max_node.span(), "min is at most max, and both and their difference are finite"));
    }
    Ok(Init::Random { seed, min, max })
}
