//! The binding, against a real Verilator: a module with every kind of port, built, loaded, driven, and made to fail.

#[macro_use]
mod common;

use std::path::{Path, PathBuf};

use gpurf_blocks::{Declaration, WarpData, erase, field, ports, view, view_mut};
use verilated::{Error, Library, MemoryRequest, Options, PortError, Request, Toolchain};

#[derive(Clone, Debug)]
struct Shape {
    step: u64,
}

impl gpurf_blocks::Shape for Shape {
    fn of(_: &gpurf_blocks::config::Config) -> Self {
        Self { step: 1 }
    }

    fn parameter(&self, _: &str) -> u64 {
        self.step
    }
}

ports! {
    struct In(s: &Shape) {
        /// Wide array.
        wide_i: [WarpData; 2] = field(1024).count(2),
        /// More than 32 bits.
        add_i: u64 = field(33),
        /// Narrow array.
        small_i: [u8; 3] = field(5).count(3),
        /// What to do.
        kind_i: u8 = field(4),
        /// Reset.
        rst_ni: u8 = field(1),
    }
}

ports! {
    struct Out(s: &Shape) {
        /// Wide array, sometimes valid.
        wide_o: [WarpData; 2] = field(1024).count(2).valid_by("wide_valid_o"),
        /// More than 32 bits.
        sum_o: u64 = field(33).early(),
        /// Another width than in the record.
        small_o: [u32; 3] = field(12).count(3),
        /// Valid of the wide array.
        wide_valid_o: u8 = field(1).early(),
    }
}

ports! {
    struct Probe(s: &Shape) {
        /// A net in each instance of a generate block.
        scaled: [u16; 3] = field(12).count(3).each("gen_small[{}].scaled", 1),
        /// A register that shows the seed.
        junk_q: u8 = field(8),
        /// Valid by what comes after it and is a payload itself.
        picked_q: [u8; 3] = field(5).count(3).valid_by("some_q"),
        /// Which of them mean something.
        some_q: u8 = field(3).valid_by("wide_valid_o"),
        /// A register that the RTL does not have.
        missing_q: u8 = field(1),
    }
}

declared!(Toy = "toy", parameters ["Step"], Shape: In => Out, Probe);

fn declaration(step: u64) -> Declaration {
    erase::<Toy>(&Shape { step }).declaration().clone()
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/toy.sv")
}

fn request(step: u64) -> Request {
    let memories = Vec::new();
    let options = Options { optimise: false, ..Options::default() };
    Request {
        declaration: declaration(step),
        memories,
        sources: vec![source()],
        include_dirs: vec![],
        defines: vec![],
        options,
        replaced: Vec::new(),
    }
}

/// The cache of the checkout, which other tests use too: Verilator's headers and its runtime are compiled once.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/verilated")
}

fn tools() -> Toolchain {
    Toolchain::find(&cache()).expect("Verilator and a C++ compiler")
}

/// A record, aligned as records are.
#[repr(align(64))]
struct Record([u8; 4096]);

impl Record {
    fn new(fill: impl FnOnce(&mut In)) -> Self {
        let mut record = Self([0; 4096]);
        let inputs: &mut In = view_mut(&mut record.0);
        inputs.rst_ni = 1;
        fill(inputs);
        record
    }

    fn out(&self) -> &Out {
        view(&self.0[size_of::<In>().next_multiple_of(64)..])
    }

    fn probe(&self) -> &Probe {
        view(&self.0[size_of::<In>().next_multiple_of(64) + size_of::<Out>().next_multiple_of(64)..])
    }
}

/// A loop that assigns registers of an array has to be unrolled. The first of these is within the first limit, the second within the other one, the
/// third within none.
#[test]
fn a_loop_that_has_to_be_unrolled_may_be_longer_than_the_limits() {
    let text = std::fs::read_to_string(source()).unwrap();
    for (registers, bits) in [(8, 1), (48, 1), (48, 4)] {
        let more = format!(
            "  logic [63:0] long_q [{registers}] /*verilator public_flat_rd*/;\n  always_ff @(posedge clk_i)\n    \
             for (int i = 0; i < {registers}; i++) for (int j = 0; j < {bits}; j++)\n      \
             if (kind_i == 4'(j)) long_q[i][j] <= kind_i[0];\nendmodule\n"
        );
        let file = tempfile::Builder::new().suffix(".sv").tempfile().unwrap();
        std::fs::write(file.path(), text.replace("endmodule\n", &more)).unwrap();
        let request = Request { sources: vec![file.path().to_owned()], ..request(5) };
        assert_eq!(tools().check_ports(&request).map_err(|error| error.to_string()), Ok(vec!["missing_q".to_owned()]));
    }
}

/// A change of a file that no key knows would leave the old library in the cache.
#[test]
fn what_is_included_is_in_the_key_or_refused() {
    // Verilator cuts paths at a space where it lists the files that it has read.
    let folder = tempfile::Builder::new().prefix("a folder ").tempdir().unwrap();
    let file = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    let text = std::fs::read_to_string(source()).unwrap();
    let including = |name: &str| {
        let text = text.replace("endmodule\n", &format!("`include \"{name}\"\nendmodule\n"));
        Request { sources: vec![file("toy.sv", &text)], include_dirs: vec![folder.path().join("inc")], ..request(5) }
    };
    let header = file("inc/more.svh", "logic unused_a;\n");
    file("inc/below/more.svh", "logic unused_b;\n");
    tools().check_ports(&including("more.svh")).unwrap();
    let Err(error @ Error::Included { .. }) = tools().check_ports(&including("below/more.svh")) else {
        panic!("a folder that was not named")
    };
    assert!(error.to_string().contains("inc/below/more.svh") && error.to_string().contains("+incdir+"), "{error}");
    // A name like that of Verilator's own program.
    file("inc/below/verilator_more.svh", "logic unused_c;\n");
    let refused = tools().check_ports(&including("below/verilator_more.svh"));
    assert!(matches!(refused, Err(Error::Included { .. })), "{refused:?}");
    // There is such a file in the folder in which the test runs.
    assert!(Path::new("tests/toy.sv").exists());
    let error = tools().check_ports(&including("tests/toy.sv")).unwrap_err().to_string();
    assert!(error.contains("Cannot find include file"), "{error}");

    // A header that changes makes another library.
    let probed = |text: &str| {
        std::fs::write(&header, text).unwrap();
        tools().build(&including("more.svh")).unwrap().absent_names().to_vec()
    };
    assert_eq!(probed("logic unused_a;\n"), ["missing_q"]);
    assert!(probed("logic missing_q;\n").is_empty());
}

/// One cycle with these inputs.
fn cycle(
    instance: &mut verilated::Instance,
    fill: impl FnOnce(&mut In),
) -> (Record, Result<(), verilated::RtlFailure>) {
    let mut record = Record::new(fill);
    let (_, result) = instance.cycles(&mut record.0, 1);
    (record, result)
}

fn reset(instance: &mut verilated::Instance) {
    cycle(instance, |i| i.rst_ni = 0).1.unwrap();
}

#[test]
fn every_kind_of_port_and_probe_is_exchanged() {
    let library = tools().build(&request(5)).unwrap();
    assert_eq!(library.absent_names(), ["missing_q"]);
    assert_eq!(tools().check_ports(&request(5)).unwrap(), ["missing_q"]);
    let mut instance = library.instance(1).unwrap();
    reset(&mut instance);
    cycle(&mut instance, |i| {
        i.add_i = 0x1_0000_0000;
        i.kind_i = 0b1011;
        i.small_i = [1, 2, 3];
        i.wide_i = [WarpData(std::array::from_fn(|l| l as u32)), WarpData([9; 32])];
    })
    .1
    .unwrap();
    let (record, result) = cycle(&mut instance, |i| i.small_i = [31, 0, 7]);
    result.unwrap();
    assert_eq!(record.out().sum_o, 0x1_0000_0005);
    assert_eq!(record.out().small_o, [62, 0, 28]);
    assert_eq!(record.probe().scaled, [62, 0, 28]);
    assert_eq!(record.out().wide_valid_o, 1);
    assert_eq!(record.out().wide_o[0].0[31], 31);
    assert_eq!(record.out().wide_o[1], WarpData([9; 32]));
    assert_eq!((record.probe().some_q, record.probe().picked_q), (0b101, [1, 0, 3]));
    let (record, _) = cycle(&mut instance, |_| {});
    assert_eq!(record.out().wide_valid_o, 0);
    assert_eq!(record.out().wide_o[0], WarpData::ZERO, "a payload that is not valid is not copied");
}

#[test]
fn words_of_a_memory_lie_one_after_another_lowest_bits_first() {
    let deep = MemoryRequest { path: "deep_q".into(), words: 3, bits: 96 };
    let library = tools().build(&Request { memories: vec![deep.clone()], ..request(5) }).unwrap();
    let mut instance = library.instance(1).unwrap();
    reset(&mut instance);
    instance.memory(0).copy_from(&[10, 11, 12, 20, 21, 22, 30, 31, 32]);
    cycle(&mut instance, |i| {
        i.kind_i = 2;
        i.wide_i[1] = WarpData(std::array::from_fn(|l| 100 + l as u32));
    })
    .1
    .unwrap();
    assert_eq!(instance.memory(0).to_vec(), [10, 11, 12, 20, 21, 22, 101, 102, 103]);

    let narrow = Request { memories: vec![MemoryRequest { bits: 95, ..deep }], ..request(5) };
    let Err(error @ Error::Memory { .. }) = tools().build(&narrow) else { panic!("another width") };
    assert!(error.to_string().contains("no memory deep_q of 3 words of 95 bits (it is 3 words of 96 bits)"), "{error}");
}

#[test]
fn models_of_one_name_do_not_run_each_others_code() {
    let tools = tools();
    let [mut one, mut two] = [1, 2].map(|step| tools.build(&request(step)).unwrap().instance(1).unwrap());
    for instance in [&mut one, &mut two] {
        reset(instance);
        cycle(instance, |_| {}).1.unwrap();
    }
    let sums = [one, two].map(|mut i| cycle(&mut i, |_| {}).0.out().sum_o);
    assert_eq!(sums, [1, 2]);
}

#[test]
fn state_that_reset_does_not_set_comes_from_the_seed() {
    let library = tools().build(&request(5)).unwrap();
    let junk = |seed| {
        let mut instance = library.instance(seed).unwrap();
        reset(&mut instance);
        cycle(&mut instance, |_| {}).0.probe().junk_q
    };
    let values: Vec<u8> = (0..16).map(junk).collect();
    assert_eq!(values, (0..16).map(junk).collect::<Vec<_>>());
    let mut distinct = values;
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 8, "{distinct:?}");
}

#[test]
fn failures_of_the_rtl_are_failures_of_the_run() {
    let library = tools().build(&request(5)).unwrap();
    for (kind, fatal, words) in [
        (8, false, "kind eight"),
        (10, false, "the sum is not all ones"),
        (12, false, "kind twelve"),
        (14, false, "$finish"),
    ] {
        let mut instance = library.instance(1).unwrap();
        reset(&mut instance);
        let failure = cycle(&mut instance, |i| i.kind_i = kind).1.unwrap_err();
        assert!(failure.message.contains(words), "{kind}: {failure}");
        assert_eq!(failure.fatal, fatal, "{kind}");
        let after = cycle(&mut instance, |_| {}).1;
        assert_eq!(after.is_ok(), !fatal, "a run goes on behind a failure unless it is fatal");
    }
}

#[test]
fn a_failure_in_one_thread_is_not_seen_in_another() {
    let library = tools().build(&request(5)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let library = library.clone();
            scope.spawn(move || {
                let mut instance = library.instance(thread).unwrap();
                reset(&mut instance);
                for round in 0..500 {
                    let kind = if thread == 0 && round % 2 == 0 { 8 } else { 0 };
                    let result = cycle(&mut instance, |i| i.kind_i = kind).1;
                    assert_eq!(result.is_err(), kind == 8);
                }
            });
        }
    });
}

#[test]
fn other_ports_are_named() {
    let mut request = request(5);
    request.declaration.signals.retain(|s| s.field.name != "kind_i");
    let sum = request.declaration.signals.iter_mut().find(|s| s.field.name == "sum_o").unwrap();
    sum.field.bits = 32;
    let small = request.declaration.signals.iter_mut().find(|s| s.field.name == "small_o").unwrap();
    small.field.name = "tiny_o";
    let Err(Error::Ports { errors, .. }) = tools().check_ports(&request) else { panic!("the ports differ") };
    let name = |e: &PortError| match e {
        PortError::Missing { name, .. } | PortError::Unknown { name, .. } | PortError::Different { name, .. } => {
            name.clone()
        }
    };
    assert_eq!(errors.iter().map(name).collect::<Vec<_>>(), ["sum_o", "tiny_o", "kind_i", "small_o"]);
    assert_eq!(errors[0].to_string(), "port sum_o is an output of 33 bits, expected an output of 32 bits");
}

/// An input that nothing reads is no signal; but the module has it.
#[test]
fn unused_inputs_are_inputs() {
    let mut request = request(5);
    request.declaration.signals.retain(|s| s.field.name != "kind_i");
    request.declaration.unused = vec!["kind_i"];
    tools().check_ports(&request).unwrap();
    request.declaration.unused = vec!["kind_i", "sum_o", "other_i"];
    let Err(Error::Ports { errors, .. }) = tools().check_ports(&request) else { panic!("two of them are no inputs") };
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(errors[0].contains("sum_o") && errors[1].contains("other_i") && errors.len() == 2, "{errors:?}");
}

#[test]
fn a_syntax_error_shows_verilators_message() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toy.sv");
    std::fs::write(&file, std::fs::read_to_string(source()).unwrap().replace("sum_q   <= '0;", "sum_q   <= ;"))
        .unwrap();
    let broken = Request { sources: vec![file], ..request(5) };
    let Err(error) = tools().build(&broken) else { panic!("a syntax error") };
    assert!(error.to_string().contains("toy.sv:34"), "{error}");
}

#[test]
fn one_key_is_built_once_by_several_threads_and_a_killed_build_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // What a killed build leaves: scratch folders, never an entry.
    std::fs::create_dir_all(folder.path().join("lib/.new-killed/half")).unwrap();
    // The headers and the runtime are there.
    let headers = cache().join("headers");
    std::fs::create_dir_all(&headers).unwrap();
    std::os::unix::fs::symlink(headers, folder.path().join("headers")).unwrap();
    let tools = Toolchain::find(folder.path()).unwrap();
    std::thread::scope(|scope| {
        let builds: Vec<_> = (0..3).map(|_| scope.spawn(|| tools.build(&request(7)).map(drop))).collect();
        builds.into_iter().for_each(|b| b.join().unwrap().unwrap());
    });
    let entries = std::fs::read_dir(folder.path().join("lib")).unwrap();
    let models = entries.filter(|e| e.as_ref().unwrap().path().join("model.so").exists()).count();
    assert_eq!(models, 1);
}

#[test]
fn coverage_of_lines_and_toggles_is_written_on_request() {
    let mut with = request(5);
    with.options.coverage = true;
    let mut instance = tools().build(&with).unwrap().instance(1).unwrap();
    reset(&mut instance);
    cycle(&mut instance, |i| i.kind_i = 1).1.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("coverage.dat");
    assert!(instance.write_coverage(&file));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("toy.sv") && text.contains("v_line") && text.contains("v_toggle"), "{text:.300}");
    assert!(!tools().build(&request(5)).unwrap().instance(1).unwrap().write_coverage(&file), "built without");
}

#[test]
fn a_model_by_a_profile_of_itself_is_trained_once_and_does_the_same() {
    let outputs = |library: &Library| -> Vec<Vec<u8>> {
        let mut instance = library.instance(1).unwrap();
        reset(&mut instance);
        let mut outputs = Vec::new();
        for i in 0..200u64 {
            let (record, result) = cycle(&mut instance, |inputs| {
                inputs.add_i = i * 0x1234_5678;
                inputs.kind_i = (i * i / 3) as u8 & 7;
            });
            result.unwrap();
            outputs.push(record.0.to_vec());
        }
        outputs
    };
    // A cache of its own, in which no library is. What libraries are made of is the checkout's.
    let folder = tempfile::tempdir().unwrap();
    for shared in ["headers", "obj"] {
        std::fs::create_dir_all(cache().join(shared)).unwrap();
        std::os::unix::fs::symlink(cache().join(shared), folder.path().join(shared)).unwrap();
    }
    let tools = Toolchain::find(folder.path()).unwrap();
    let mut by_profile = request(5);
    by_profile.options.profile = true;
    let mut runs = 0;
    for _ in 0..2 {
        let library = tools
            .build_trained(&by_profile, |counting| {
                runs += 1;
                outputs(counting);
            })
            .unwrap();
        assert_eq!(outputs(&library), outputs(&self::tools().build(&request(5)).unwrap()));
    }
    assert_eq!(runs, 1, "the second is that of the cache");
    // The model that counts is gone, with its counts.
    let left = std::fs::read_dir(folder.path().join("lib")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.filter(|name| name != "locks").count(), 1);
    // Without the option it is an ordinary build, of which nothing is run.
    tools.build_trained(&request(5), |_| panic!("there is nothing to count")).unwrap();
}

#[test]
fn a_register_can_be_written_and_everything_follows() {
    let mut with = request(5);
    with.options.state = true;
    let mut instance = tools().build(&with).unwrap().instance(1).unwrap();
    reset(&mut instance);
    let sum = (0..instance.state_count()).find(|&i| instance.state(i).name.ends_with("sum_q")).unwrap();
    let mut record = Record::new(|_| {});
    instance.settle(&mut record.0).unwrap();
    assert_eq!(record.out().sum_o, 0);
    instance.state(sum).bytes[0] ^= 4;
    instance.settle_all(&mut record.0).unwrap();
    assert_eq!(record.out().sum_o, 4);
}

#[test]
fn settling_once_changes_nothing_even_with_a_gated_clock() {
    let text = std::fs::read_to_string(source()).unwrap();
    let gated = text
        .replace("logic          valid_q;", "logic          valid_q;\n  wire gated_clk = clk_i & kind_i[1];\n  logic [32:0] gated_q;\n  always_ff @(posedge gated_clk) gated_q <= gated_q + add_i;")
        .replace("sum_q + add_i +", "sum_q + (gated_q ^ add_i) +");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.sv");
    std::fs::write(&path, gated).unwrap();
    for source in [source(), path] {
        let [once, twice] = [true, false].map(|settle_once| {
            let mut request = Request { sources: vec![source.clone()], ..request(1) };
            request.options.settle_once = settle_once;
            let mut instance = tools().build(&request).unwrap().instance(3).unwrap();
            reset(&mut instance);
            let sums = (0..300u64).map(|i| {
                // Some inputs stay for a while: then there is nothing to settle.
                let i = i / 3 * (i % 7).min(2);
                let (record, result) = cycle(&mut instance, |inputs| {
                    inputs.add_i = i * 0x1234_5678;
                    inputs.kind_i = (i * i / 3) as u8 & 7;
                    inputs.small_i = [i as u8 & 31, 3, 1];
                });
                result.unwrap();
                (record.out().sum_o, record.out().small_o)
            });
            sums.collect::<Vec<_>>()
        });
        assert_eq!(once, twice);
    }
}

/// Records one after another.
struct Records {
    lines: Vec<Line>,
    size: usize,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "read as bytes")] [u8; 64]);

impl Records {
    fn new(count: usize) -> Self {
        let size = declaration(1).record_bytes;
        Self { lines: vec![Line([0; 64]); size / 64 * count], size }
    }

    fn from(&mut self, index: usize) -> &mut [u8] {
        // SAFETY: lines are plain bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len() * 64) };
        &mut bytes[index * self.size..]
    }
}

/// What a model does on inputs of which some stay for several cycles; `kind` is that of one of them.
fn expected(library: &verilated::Library, cycles: usize, special: usize, kind: u8) -> Records {
    let mut records = Records::new(cycles);
    for cycle in 0..cycles {
        let inputs: &mut In = view_mut(records.from(cycle));
        inputs.rst_ni = u8::from(cycle > 0);
        inputs.kind_i = if cycle == special { kind } else { (cycle as u8 / 2) & 1 };
        inputs.add_i = cycle as u64 / 3;
        inputs.small_i = [cycle as u8 / 4, 9, 30];
        inputs.wide_i = [WarpData([cycle as u32; 32]), WarpData([!(cycle as u32); 32])];
    }
    let mut instance = library.instance(1).unwrap();
    let (done, _) = instance.cycles(records.from(0), cycles);
    assert_eq!(done, if kind == 0 { cycles } else { special + 1 });
    records
}

#[test]
fn every_difference_stops_the_model_in_front_of_its_edge() {
    const CYCLES: usize = 8;
    let library = tools().build(&request(1)).unwrap();
    let mut records = expected(&library, CYCLES, 0, 0);
    let (declaration, mut actual) = (declaration(1), Records::new(1));
    let follow = |instance: &mut verilated::Instance, records: &mut Records, from: usize, actual: &mut Records| {
        let followed = instance.follow(records.from(from), CYCLES - from, actual.from(0));
        followed.result.unwrap();
        (followed.done, followed.differs)
    };
    assert_eq!(follow(&mut library.instance(1).unwrap(), &mut records, 0, &mut actual), (CYCLES, false));

    let (mut found, mut left_alone) = (0, 0);
    for (index, signal) in declaration.signals.iter().enumerate().filter(|(_, s)| s.role != gpurf_blocks::Role::Input) {
        let field = &signal.field;
        for (cycle, element) in (0..CYCLES).flat_map(|cycle| (0..field.count).map(move |element| (cycle, element))) {
            let counts = declaration.is_valid(records.from(cycle), index, element) && field.name != "missing_q";
            let bit = (cycle * 7 + element) % field.bits as usize;
            let at = field.offset + element * field.elem_bytes + bit / 8;
            records.from(cycle)[at] ^= 1 << (bit % 8);
            let mut instance = library.instance(1).unwrap();
            actual.from(0).fill(0);
            let (done, differs) = follow(&mut instance, &mut records, 0, &mut actual);
            records.from(cycle)[at] ^= 1 << (bit % 8);
            if !counts {
                assert_eq!((done, differs), (CYCLES, false), "{} in cycle {cycle}", field.name);
                left_alone += 1;
                continue;
            }
            assert_eq!((done, differs), (cycle, true), "{} in cycle {cycle}", field.name);
            let [inputs, end] = [declaration.input_bytes, declaration.record_bytes];
            assert_eq!(actual.from(0)[inputs..end], records.from(cycle)[inputs..end], "a sample of that cycle");
            // Whoever finds that it does not count goes on.
            instance.edge().unwrap();
            assert_eq!(follow(&mut instance, &mut records, cycle + 1, &mut actual), (CYCLES - cycle - 1, false));
            found += 1;
        }
    }
    assert!(found > 50 && left_alone > 8, "{found}, {left_alone}");
}

#[test]
fn a_model_follows_with_inputs_of_its_own() {
    let library = tools().build(&request(1)).unwrap();
    let mut records = expected(&library, 4, 0, 0);
    let declaration = declaration(1);
    let (inputs, outputs) = (declaration.input_bytes, declaration.input_bytes + declaration.output_bytes);
    let mut own = Records::new(1);
    let mut instance = library.instance(1).unwrap();
    for cycle in 0..4 {
        own.from(0).fill(0);
        own.from(0)[..inputs].copy_from_slice(&records.from(cycle)[..inputs]);
        let expected = &mut records.from(cycle)[..declaration.record_bytes];
        let wrong = cycle == 3;
        let probe: &mut Probe = view_mut(&mut expected[outputs..]);
        probe.scaled[2] ^= u16::from(wrong);
        let followed = instance.follow_with(own.from(0), expected);
        assert_eq!((followed.done, followed.differs), (usize::from(!wrong), wrong), "cycle {cycle}");
        assert_eq!(own.from(0)[inputs..outputs], expected[inputs..outputs], "outputs of cycle {cycle}");
        let probe: &Probe = view(&own.from(0)[outputs..]);
        assert_eq!(probe.scaled != [0; 3], wrong, "the rest is there where it is wanted");
    }
}

#[test]
fn a_model_that_fails_stops_behind_the_edge() {
    let library = tools().build(&request(1)).unwrap();
    for (kind, words) in [(8, "kind eight"), (12, "kind twelve")] {
        let mut records = expected(&library, 6, 3, kind);
        let mut actual = Records::new(1);
        let mut instance = library.instance(1).unwrap();
        let followed = instance.follow(records.from(0), 6, actual.from(0));
        let failure = followed.result.unwrap_err();
        assert_eq!((followed.done, followed.differs), (4, false));
        assert!(failure.message.contains(words), "{failure}");
        // A difference in the same cycle comes first, the failure with its edge.
        let sum: &mut Out = view_mut(&mut records.from(3)[size_of::<In>().next_multiple_of(64)..]);
        sum.sum_o ^= 1;
        let mut instance = library.instance(1).unwrap();
        let followed = instance.follow(records.from(0), 6, actual.from(0));
        assert!(followed.result.is_ok());
        assert_eq!((followed.done, followed.differs), (3, true));
        assert_eq!(instance.edge().unwrap_err(), failure);
    }
}

#[test]
fn a_cycle_that_does_not_settle_is_the_failing_one() {
    let text = std::fs::read_to_string(source()).unwrap();
    let loops = text
        .replace("logic          valid_q;", "logic          valid_q;\n  // verilator lint_off UNOPTFLAT\n  logic spin;\n  assign spin = kind_i == 4'd9 && !spin;")
        .replace("sum_q + add_i +", "sum_q + add_i + 33'(spin) +");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.sv");
    std::fs::write(&path, loops).unwrap();
    let library = tools().build(&Request { sources: vec![path], ..request(1) }).unwrap();
    let mut records = expected(&library, 6, 0, 0);
    let inputs: &mut In = view_mut(records.from(3));
    inputs.kind_i = 9;
    let mut instance = library.instance(1).unwrap();
    let followed = instance.follow(records.from(0), 6, Records::new(1).from(0));
    let failure = followed.result.unwrap_err();
    assert!(failure.fatal && failure.message.contains("converge"), "{failure}");
    assert_eq!((followed.done, followed.differs), (4, false));
}

ports! {
    struct UnknownIn(s: &Shape) {
        /// Row and branch.
        index_i: u8 = field(2),
        /// Reset.
        rst_ni: u8 = field(1),
    }
}

ports! {
    struct UnknownOut(s: &Shape) {
        /// Row of an array of three.
        read_o: u8 = field(8),
        /// What one of three branches gives.
        chosen_o: u8 = field(8),
    }
}

ports! {
    struct UnknownProbe(s: &Shape) {}
}

declared!(Unknown = "unknown", parameters [], Shape: UnknownIn => UnknownOut, UnknownProbe);

#[test]
fn what_has_no_value_comes_from_the_seed() {
    let unknown = Request {
        declaration: erase::<Unknown>(&Shape { step: 1 }).declaration().clone(),
        sources: vec![source().with_file_name("unknown.sv")],
        ..request(1)
    };
    let library = tools().build(&unknown).unwrap();
    let read = |seed, index| {
        let mut instance = library.instance(seed).unwrap();
        let mut record = Record([0; 4096]);
        instance.cycles(&mut record.0, 1).1.unwrap();
        *view_mut::<UnknownIn>(&mut record.0) = UnknownIn { index_i: index, rst_ni: 1 };
        instance.cycles(&mut record.0, 1).1.unwrap();
        let out: &UnknownOut = view(&record.0[size_of::<UnknownIn>().next_multiple_of(64)..]);
        (out.read_o, out.chosen_o)
    };
    let distinct = |values: Vec<u8>| values.into_iter().collect::<std::collections::BTreeSet<_>>().len();
    for index in 0..3 {
        assert!((0..16).all(|seed| read(seed, index) == (10 + index, 20 + index)), "{index}");
    }
    let (rows, choices): (Vec<u8>, Vec<u8>) = (0..16).map(|seed| read(seed, 3)).unzip();
    assert_eq!((rows.clone(), choices.clone()), (0..16).map(|seed| read(seed, 3)).unzip());
    assert!(distinct(rows.clone()) > 8 && distinct(choices.clone()) > 8, "{rows:?} {choices:?}");
}

ports! {
    struct ConstantsIn(s: &Shape) {
        /// The constant that is added; 0 of 0.
        index_i: u8 = field(2),
        /// Reset.
        rst_ni: u8 = field(1),
    }
}

ports! {
    struct ConstantsOut(s: &Shape) {
        /// Registers that hold what they held after reset.
        kept_o: u8 = field(4),
    }
}

declared!(Constants = "constants", parameters [], Shape: ConstantsIn => ConstantsOut, UnknownProbe);

#[test]
fn a_wide_constant_changes_its_own_register_only() {
    let constants = Request {
        declaration: erase::<Constants>(&Shape { step: 1 }).declaration().clone(),
        sources: vec![source().with_file_name("constants.sv")],
        ..request(1)
    };
    let library = tools().build(&constants).unwrap();
    for index in 0..4 {
        let mut instance = library.instance(1).unwrap();
        let mut record = Record([0; 4096]);
        for rst_ni in [0, 1, 1] {
            *view_mut::<ConstantsIn>(&mut record.0) = ConstantsIn { index_i: index, rst_ni };
            instance.cycles(&mut record.0, 1).1.unwrap();
        }
        let out: &ConstantsOut = view(&record.0[size_of::<ConstantsIn>().next_multiple_of(64)..]);
        let kept = if index == 0 { 0b1111 } else { 0b0111 };
        assert_eq!(out.kept_o, kept, "constant {index}");
    }
}

#[test]
fn a_replaced_source_is_found_by_its_module_whatever_the_files_name() {
    let mut request = Request { sources: vec!["rtl/one.sv".into(), "rtl/two.sv".into()], ..request(1) };
    assert_eq!(request.source_of("one"), Some(Path::new("rtl/one.sv")));
    // A file with another module's name.
    assert!(request.replace("one", Path::new("mine/two.sv")));
    assert_eq!(request.source_of("one"), Some(Path::new("mine/two.sv")));
    assert_eq!(request.source_of("two"), Some(Path::new("rtl/two.sv")));
    assert!(request.replace("two", Path::new("mine/one.sv")) && request.replace("one", Path::new("again.sv")));
    assert!(request.sources.iter().eq(["again.sv", "mine/one.sv"].iter().map(Path::new)), "{:?}", request.sources);
    assert!(!request.replace("three", Path::new("mine/one.sv")));
}
