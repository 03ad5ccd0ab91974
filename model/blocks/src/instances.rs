//! What is compared inside a block that is made of blocks: the nets between them, and their registers.
//!
//! Nothing is declared a second time there. A compound lists its nets by name and type, and its instances. A net has the name of an instance and of a
//! port of it: `tags_evict_mask` is at `evict_mask_o` of `tags`. Width, number of elements, validity, decoding and description are those of the
//! port; where there are several instances, each has its part of the net, one after another. What differs is said with the net:
//!
//! ```text
//! tags_evict_mask: [u32; MAX_PORTS],                                       // as its block declares it
//! tags_op_kill: u8 = always(),                                             // compared even where the port's valid is low
//! evictions_look_match: [u8; MAX_PORTS] = net().valid_by("tag_valid_q"),   // and this only where an instruction is looked up
//! leave: u8 = field(s.ports()),                                            // at no instance: the compound's own
//! ```

use crate::{Block, Field, Net, Ports, Shows, field, intern};

/// Declares the nets of a compound as [`ports!`](crate::ports) declares ports; they need no declaration and no description.
macro_rules! nets {
    ($(#[$meta:meta])* $vis:vis struct $($rest:tt)+) => {
        $crate::ports! {
            @declared
            $(#[$meta])*
            #[allow(missing_docs, reason = "a net is described where its port is declared")]
            $vis struct $($rest)+
        }
    };
}
pub(crate) use nets;

/// A net at a port of an instance, or a register listed as a net: what is not said is as its block declares it.
pub(crate) fn net() -> Field {
    field(0)
}

/// The same, compared in every cycle, even where the port has a valid.
pub(crate) fn always() -> Field {
    net().valid_by(ALWAYS)
}

/// What an always compared net is valid by.
const ALWAYS: &str = "";

/// A port as its net's name has it.
pub fn stem(port: &str) -> &str {
    port.strip_suffix("_o").or(port.strip_suffix("_i")).unwrap_or(port)
}

/// A register, or a net inside an instance: the RTL keeps its name, in the record of the block around it has another one.
pub fn renamed(mut field: Field, name: String) -> Field {
    if field.net == Net::Own {
        field.net = Net::At(field.name);
    }
    field.name = intern(name);
    field
}

/// An instance of a block inside another, or one for each port, bank or collector.
pub(crate) struct Instance {
    name: &'static str,
    /// Path in the RTL; `{}` is the number.
    path: &'static str,
    /// `None`: there is one, without a number.
    count: Option<usize>,
    outputs: Vec<Field>,
    inputs: Vec<Field>,
    registers: Vec<Field>,
    prefixes: Vec<String>,
    names: &'static [(&'static str, &'static str)],
    drivers: &'static [(&'static str, &'static str)],
    /// Offset of the struct of its registers, or of the first one, in the record.
    state: Option<usize>,
    /// Bytes of that struct.
    state_bytes: usize,
    is_compound: bool,
    is_there: bool,
}

impl Instance {
    /// The only one of its name.
    pub(crate) fn one<B: Block>(name: &'static str, path: &'static str, shape: &B::Shape) -> Self {
        Self {
            name,
            path,
            count: None,
            outputs: B::Out::fields(shape),
            inputs: B::In::fields(shape),
            registers: B::Probe::fields(shape),
            prefixes: vec![format!("{name}_")],
            names: &[],
            drivers: &[],
            state: None,
            state_bytes: size_of::<B::Probe>(),
            is_compound: !B::CHILDREN.is_empty(),
            is_there: true,
        }
    }

    /// `count` of them.
    pub(crate) fn each<B: Block>(name: &'static str, path: &'static str, count: usize, shape: &B::Shape) -> Self {
        Self { count: Some(count), ..Self::one::<B>(name, path, shape) }
    }

    /// There in some shapes only.
    pub(crate) fn when(self, there: bool) -> Self {
        Self { is_there: there, ..self }
    }

    /// The names of its nets begin with these, not with its own name.
    pub(crate) fn nets(self, prefixes: &[&str]) -> Self {
        Self { prefixes: prefixes.iter().map(|&prefix| prefix.to_owned()).collect(), ..self }
    }

    /// Nets with other names: each with its port.
    pub(crate) fn named(self, names: &'static [(&'static str, &'static str)]) -> Self {
        Self { names, ..self }
    }

    /// Inputs that are valids, and the nets or ports of other names that drive them.
    pub(crate) fn driven(self, drivers: &'static [(&'static str, &'static str)]) -> Self {
        Self { drivers, ..self }
    }

    /// Its registers are compared: their structs, one for each instance, begin at `offset` of the record.
    pub(crate) fn state(self, offset: usize) -> Self {
        self.state_when(true, offset)
    }

    /// The same where it is there; its nets are compared everywhere.
    pub(crate) fn state_when(self, there: bool, offset: usize) -> Self {
        Self { state: there.then_some(offset), ..self }
    }

    /// Its port, or else its register, that a net of this name is at.
    fn find<'a>(&'a self, fields: &'a [Field], net: &str) -> Option<&'a Field> {
        let named = self.names.iter().find(|(name, _)| *name == net).map(|&(_, port)| stem(port));
        let rests = self.prefixes.iter().filter_map(|prefix| net.strip_prefix(prefix.as_str()));
        named.into_iter().chain(rests).find_map(|rest| fields.iter().find(|field| stem(field.name) == rest))
    }

    /// The name in the record of what says whether something of it means anything: one of the nets, or a register.
    fn valid(&self, name: &'static str, nets: &[Field], number: &str) -> &'static str {
        if let Some((_, driver)) = self.drivers.iter().find(|(input, _)| *input == name) {
            return driver;
        }
        let is_register = self.registers.iter().any(|field| field.name == name);
        if is_register && self.is_compound {
            return name;
        }
        let named = self.names.iter().filter(|(_, port)| *port == name).map(|&(net, _)| net.to_owned());
        let mut names = named.chain(self.prefixes.iter().map(|prefix| format!("{prefix}{}", stem(name))));
        if let Some(net) = names.find_map(|name| nets.iter().find(|net| net.name == name)) {
            return net.name;
        }
        assert!(is_register, "no net is at {name} of {}", self.name);
        intern(format!("{}{number}_{name}", self.name))
    }

    /// Registers that stand in a list of nets.
    fn listed_registers(&self) -> &[Field] {
        if self.state.is_none() && !self.is_compound { &self.registers } else { &[] }
    }

    /// A net at a port, of which each instance has a part, or a register.
    fn complete(&self, net: &Field, port: &Field, nets: &[Field]) -> Field {
        let (parts, elements) = (self.count.unwrap_or(1), if port.array { port.count } else { 1 });
        let mut field = net.clone();
        (field.bits, field.count) = if net.array {
            (port.bits, parts * elements)
        } else {
            assert!(!port.array, "{}: the net is no array, but {} is", net.name, port.name);
            (port.bits * parts as u32, 1)
        };
        let is_register = self.registers.iter().any(|register| register.name == port.name);
        if is_register && net.net == Net::Own {
            let path = intern(format!("{}.{}", self.path, port.name));
            field.net = if self.count.is_some() { Net::Each { path, per: elements } } else { Net::At(path) };
        }
        field.valid_by = match net.valid_by {
            Some(ALWAYS) => None,
            None => port.valid_by.map(|valid| self.valid(valid, nets, "")),
            given => given,
        };
        field.shows = port.shows.map(|shows| Shows {
            register: intern(format!("{}.{}", self.path, shows.register)),
            parts,
            valid: shows.valid.map(|valid| self.valid(valid, nets, "")),
        });
        (field.decode, field.early) = (port.decode, port.early);
        if field.doc.is_empty() {
            field.doc = port.doc;
        }
        field.fits();
        field
    }

    /// The registers of instance `number`.
    fn registers(&self, number: usize, nets: &[Field]) -> Vec<Field> {
        let Some(first) = self.state.filter(|_| self.is_there) else { return Vec::new() };
        let (path, digits) = (self.path.replace("{}", &number.to_string()), self.count.map(|_| number.to_string()));
        let digits = digits.unwrap_or_default();
        let field = |field: &Field| {
            let valid_by = field.valid_by.map(|valid| self.valid(valid, nets, &digits));
            let shows = field
                .shows
                .map(|shows| Shows { valid: shows.valid.map(|valid| self.valid(valid, nets, &digits)), ..shows });
            let field = field.clone().inside(&path, first + number * self.state_bytes);
            let name = format!("{}{digits}_{}", self.name, field.name);
            Field { valid_by, shows, ..if self.is_compound { field } else { renamed(field, name) } }
        };
        self.registers.iter().map(field).collect()
    }
}

/// What is compared inside a compound: `nets`, whose struct is at `offset` of the record, and the registers of `instances`. Of instances with numbers that are
/// listed one after another, those of number 0 come first, then those of number 1.
///
/// # Panics
/// When a net is at no instance and has no declaration.
pub(crate) fn inside(nets: &[Field], offset: usize, instances: &[Instance]) -> Vec<Field> {
    let mut fields: Vec<Field> = nets.iter().filter_map(|net| connected(net, nets, instances)).collect();
    fields.iter_mut().for_each(|field| field.offset += offset);
    for group in instances.chunk_by(|a, b| a.count.is_some() && b.count.is_some()) {
        let most = group.iter().map(|instance| instance.count.unwrap_or(1)).max().unwrap_or(0);
        for number in 0..most {
            let there = group.iter().filter(|instance| number < instance.count.unwrap_or(1));
            fields.extend(there.flat_map(|instance| instance.registers(number, nets)));
        }
    }
    fields
}

/// Registers of a block whose probe looks at no port.
pub(crate) fn record<B: Block>(block: &B, probe: &mut B::Probe) {
    block.probe(&Ports::zeroed(), &Ports::zeroed(), probe);
}

/// A net as a field of the record. `None`: its instance is not there in this shape.
fn connected(net: &Field, nets: &[Field], instances: &[Instance]) -> Option<Field> {
    if net.bits != 0 {
        return Some(net.clone());
    }
    let find = |fields: fn(&Instance) -> &[Field]| {
        instances.iter().filter_map(move |instance| Some((instance, instance.find(fields(instance), net.name)?)))
    };
    let mut drivers = find(|instance| &instance.outputs).chain(find(Instance::listed_registers));
    let driver = drivers.next();
    assert!(drivers.next().is_none(), "{}: at several instances", net.name);
    let found = driver.or_else(|| find(|instance| &instance.inputs).next());
    let (instance, port) = found.unwrap_or_else(|| panic!("{}: at no port of an instance", net.name));
    instance.is_there.then(|| instance.complete(net, port, nets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mrf::{MrfArbiter, MrfCollector, MrfShape, MrfWriteQueue};

    nets! {
        struct Nets(s: &MrfShape) {
            head_entry: [u16; 2],
            own: u8 = field(3),
            head_valid: u8,
            col_src_valid: u8,
            req_bank: [u8; 6],
            head_reg: [u8; 2] = always(),
            head_bank: [u8; 2] = net().valid_by("own"),
            leader_q: [u8; 6] = net().valid_by("own"),
        }
    }

    fn declared(instances: &[Instance]) -> Vec<Field> {
        inside(&Nets::declared(&MrfShape::BASELINE), 64, instances)
    }

    fn instances() -> [Instance; 2] {
        let shape = &MrfShape::BASELINE;
        [
            Instance::each::<MrfWriteQueue>("queue", "gen[{}].u_queue", 2, shape).nets(&[""]),
            Instance::each::<MrfCollector>("collector", "gen[{}].u_collector", 2, shape).nets(&["", "col_"]),
        ]
    }

    #[test]
    fn a_net_is_what_the_ports_at_it_are() {
        let all = declared(&instances());
        let of = |name: &str| all.iter().find(|field| field.name == name).expect("a net of that name");
        let sizes = |name: &str| (of(name).bits, of(name).count, of(name).valid_by);
        assert_eq!(sizes("own"), (3, 1, None));
        assert_eq!(sizes("head_valid"), (2, 1, None), "a bit of each instance");
        assert_eq!(sizes("head_entry"), (6, 2, Some("head_valid")), "an element of each");
        assert_eq!(sizes("col_src_valid"), (6, 1, None), "three bits of each");
        assert_eq!(sizes("req_bank"), (4, 6, Some("col_src_valid")), "three elements of each");
        assert_eq!((sizes("head_reg").2, sizes("head_bank").2), (None, Some("own")), "what is said with the net");
        assert_eq!(of("head_entry").doc, "Entry the head goes to.");
        assert_eq!((of("head_entry").offset, of("head_entry").paths()), (64, vec!["head_entry".to_owned()]));
        let shows = of("head_entry").shows.expect("its port shows a register");
        assert_eq!((shows.register, shows.parts), ("gen[{}].u_queue.entry_q", 2), "one of each instance");
        assert_eq!(of("leader_q").paths(), ["gen[0].u_collector.leader_q", "gen[1].u_collector.leader_q"]);
    }

    #[test]
    fn nets_and_registers_of_an_instance_that_is_not_there_are_not_compared() {
        let [queue, collector] = instances();
        let left = declared(&[queue.when(false), collector]);
        assert_eq!(
            left.iter().map(|field| field.name).collect::<Vec<_>>(),
            ["own", "col_src_valid", "req_bank", "leader_q"]
        );
    }

    #[test]
    fn registers_have_the_name_of_their_instance() {
        let arbiters = Instance::each::<MrfArbiter>("arbiter", "gen[{}].u_arbiter", 2, &MrfShape::BASELINE);
        let all = inside(&[], 64, &[arbiters.state(128)]);
        let names: Vec<_> = all.iter().map(|field| field.name).collect();
        assert_eq!(names, ["arbiter0_rr_q", "arbiter0_turn_q", "arbiter1_rr_q", "arbiter1_turn_q"]);
        assert_eq!(all[2].paths(), ["gen[1].u_arbiter.rr_q"]);
        assert_eq!(all[2].offset - all[0].offset, size_of::<<MrfArbiter as Block>::Probe>());
    }

    #[test]
    #[should_panic(expected = "head_entry: at no port of an instance")]
    fn a_net_at_no_instance_needs_a_declaration() {
        let [_, collector] = instances();
        declared(&[collector]);
    }

    #[test]
    #[should_panic(expected = "at several instances")]
    fn a_net_has_one_driver() {
        let [queue, collector] = instances();
        let [other, _] = instances();
        declared(&[queue, other, collector]);
    }
}
