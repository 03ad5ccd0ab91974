//! Descriptions of launches in manifests, on kernels that need them: the oracle's results are those of the references.

use std::collections::BTreeSet;
use std::fs;

use gpurf_compiler::{AddressBits, Compiled, Feature, Module, Options, Schedule};
use gpurf_isa::Image;
use gpurf_kernels::{Case, LAUNCH, folder};
use gpurf_launch::{BufferId, Manifest};
use gpurf_oracle::host::{OracleEngine, Printed, Session, named};

fn load(name: &str) -> Case {
    Case::load(name).unwrap_or_else(|error| panic!("{error}"))
}

/// The code of the kernels that a manifest launches.
fn compiled(name: &str, options: &Options) -> Compiled {
    let case = load(name);
    let text = fs::read_to_string(folder().join(format!("{name}.ptx"))).expect("PTX lies beside the source");
    let module = Module::parse(&text, name).unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<&str> = module.kernels().map(|(name, _)| name).collect();
    let of = |kernel: &str| *named("kernel", kernel, &names, |name| name).unwrap_or_else(|error| panic!("{error}"));
    let wanted: BTreeSet<&str> = case.manifest().launches.iter().map(|launch| of(&launch.kernel)).collect();
    module.compile(options, &|name| wanted.contains(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn run(manifest: &Manifest, image: &Image) -> Result<Vec<Vec<u8>>, String> {
    let mut session = Session::new(manifest, image).map_err(|error| error.to_string())?;
    session.run(&mut OracleEngine::default()).map_err(|error| error.to_string())?;
    for row in session.checks().map_err(|error| error.to_string())? {
        assert!(row.ok, "{}: {row:?}", manifest.path.display());
    }
    Ok((0..manifest.buffers.len()).map(|id| session.bytes(BufferId(id))).collect())
}

#[test]
fn every_output_is_checked_and_is_what_the_reference_gives() {
    for kernel in LAUNCH {
        let case = load(kernel.name);
        let outputs = (kernel.reference)(&case);
        let declared: BTreeSet<&str> =
            case.manifest().buffers.iter().filter(|buffer| buffer.output).map(|buffer| buffer.name.as_str()).collect();
        assert_eq!(declared, outputs.iter().map(|output| output.buffer).collect(), "{}", kernel.name);
        for output in outputs {
            let file = folder().join(format!("{}.{}.bin", kernel.name, output.buffer));
            assert_eq!(fs::read(&file).unwrap(), output.bytes, "{}", file.display());
            let checks = |check: &&gpurf_launch::Check| check.expected == file;
            assert_eq!(case.manifest().checks.iter().filter(checks).count(), 1, "{}", file.display());
        }
    }
}

#[test]
fn results_are_those_of_the_references_in_every_order_and_with_addresses_of_32_bits() {
    for kernel in LAUNCH {
        let case = load(kernel.name);
        let orders = Schedule::ALL.map(|schedule| (schedule, AddressBits::Wide));
        for (schedule, address_bits) in orders.into_iter().chain([(Schedule::None, AddressBits::Narrow)]) {
            for registers in [16, 64] {
                let options = Options { registers, schedule, address_bits, ..Options::default() };
                let code = compiled(kernel.name, &options);
                assert_eq!(code.refused, [], "{}", kernel.name);
                run(case.manifest(), &code.image).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
            }
        }
    }
}

/// A manifest with one text replaced, run.
fn changed(name: &str, from: &str, to: &str) -> Result<Vec<Vec<u8>>, String> {
    let path = folder().join(format!("{name}.toml"));
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{name}: {from}");
    // Without the checks: the results are others.
    let text = text.replace(from, to).split("[[check]]").next().unwrap().to_owned();
    let manifest = Manifest::parse(&path, &text).map_err(|error| error.to_string())?;
    run(&manifest, &compiled(name, &Options::default()).image)
}

#[test]
fn arguments_that_do_not_fit_the_kernel_are_refused_before_it_runs() {
    for (name, from, to, expected) in [
        ("launch/particles", ", align = 16", "", "is a struct of 80 bytes, but the parameter has 96"),
        (
            "launch/particles",
            "        { type = \"s32\", value = 200 },\n",
            "",
            "is a struct of 80 bytes, but the parameter",
        ),
        (
            "launch/variables",
            "symbol = \"counts\"\ntype = \"u32\"\nlen = 8",
            "symbol = \"counts\"\ntype = \"u32\"\nlen = 7",
            "its variable `counts` has 32",
        ),
        ("launch/variables", "symbol = \"counts\"", "symbol = \"bounds\"", "a `[[symbol]]` gives its value"),
        ("launch/variables", "\"state::total\"", "\"total_\"", "no variable `total_`; there are `bounds`"),
    ] {
        let error = changed(name, from, to).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_variable_begins_as_the_manifest_has_it() {
    let plain = changed("launch/variables", "symbol = \"counts\"", "symbol = \"counts\"").unwrap();
    let given = "symbol = \"counts\"\ninit = { values = [0, 0, 0, 0, 0, 0, 0, 1000] }";
    let given = changed("launch/variables", "symbol = \"counts\"", given).unwrap();
    let words = |bytes: &[u8]| bytes.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect::<Vec<_>>();
    let (plain, given) = (words(&plain[0]), words(&given[0]));
    assert_eq!(given[0] + 100, plain[0]);
    assert_eq!(given[1..7], plain[1..7]);
    assert_eq!(given[7], plain[7] + 999);
}

#[test]
fn a_kernel_is_refused_with_its_name_and_nothing_else() {
    let text = fs::read_to_string(folder().join("launch/templates.ptx")).unwrap();
    // The kernel in double precision, with an instruction that does not exist.
    let text = text.replace("fma.rn.f64", "frob.rn.f64");
    let module = Module::parse(&text, "templates.ptx").unwrap();
    let all = module.compile(&Options::default(), &|_| true).unwrap();
    assert_eq!(all.image.kernels.len(), 6);
    let [refused] = &all.refused[..] else { panic!("one is refused") };
    assert_eq!(refused.name, "_ZN3app5scaleIdLi3EEEvPT_i");
    assert_eq!(refused.diagnostics.features, BTreeSet::from([Feature::DoublePrecision]));
}

/// The text that the kernels of a manifest print on the oracle, and how they end. A read of an undefined value is a fault.
fn printed(manifest: &Manifest, image: &Image) -> (Printed, Result<(), String>) {
    let mut session = Session::new(manifest, image).unwrap_or_else(|error| panic!("{error}"));
    let ended = session.run(&mut OracleEngine::default().checking_undefined(true));
    (session.printed().clone(), ended.map(|_| ()).map_err(|error| error.to_string()))
}

fn expected(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.txt"))).expect("the text lies beside the kernel")
}

#[test]
fn kernels_print_what_c_prints_in_every_order_of_the_code() {
    let (report, asserts) = (load("launch/report"), load("launch/asserts"));
    for schedule in [Schedule::None, Schedule::Tree, Schedule::Latency] {
        for registers in [16, 64] {
            let options = Options { registers, schedule, ..Options::default() };
            let (found, ended) = printed(report.manifest(), &compiled("launch/report", &options).image);
            assert_eq!(found.text, expected("launch/report"));
            assert_eq!((found.dropped, &found.assertions[..], ended), (0, &[][..], Ok(())));
            let (found, ended) = printed(asserts.manifest(), &compiled("launch/asserts", &options).image);
            assert_eq!(found.assertions.join("\n") + "\n", expected("launch/asserts"));
            assert_eq!((found.text.as_str(), ended), ("", Ok(())));
        }
    }
}

#[test]
fn what_does_not_fit_into_the_buffer_is_counted() {
    let case = load("launch/report");
    let image = compiled("launch/report", &Options::default()).image;
    let all = expected("launch/report");
    let record = image.kernels[0].print_record();
    // A header and seven records.
    let with = |bytes: u32| {
        let text = format!("printf_buffer = {bytes}\n{}", fs::read_to_string(&case.manifest().path).unwrap());
        printed(&Manifest::parse(&case.manifest().path, &text).unwrap(), &image)
    };
    let (found, ended) = with(16 + 7 * record + 3);
    // The oracle runs the first warp first, so that its records are there.
    assert!(!found.text.is_empty() && all.starts_with(&found.text), "{}", found.text);
    assert_eq!(found.text.lines().count(), 7);
    assert_eq!((found.dropped, ended), (all.lines().count() as u64 - 7, Ok(())));
    let text = format!("printf_buffer = 255\n{}", fs::read_to_string(&case.manifest().path).unwrap());
    let error = Manifest::parse(&case.manifest().path, &text).unwrap_err().to_string();
    assert!(error.contains("`printf_buffer` must be from 256 to 1073741824"), "{error}");
}

#[test]
fn a_failed_assertion_is_an_error_with_its_place() {
    let case = load("launch/asserts");
    let image = compiled("launch/asserts", &Options::default()).image;
    let text = fs::read_to_string(&case.manifest().path).unwrap();
    let text = text.split("[fault]").next().unwrap();
    let (found, ended) = printed(&Manifest::parse(&case.manifest().path, text).unwrap(), &image);
    assert_eq!(found.assertions.len(), 2);
    let error = ended.unwrap_err();
    assert!(error.contains("block (1, 1, 0), thread (37, 0, 0): trap 5: an assertion failed"), "{error}");
}

#[test]
fn only_images_that_print_have_buffers_for_it() {
    let names = |name: &str| {
        let image = compiled(name, &Options::default()).image;
        image.symbols.into_iter().map(|symbol| symbol.name).filter(|name| name.ends_with("buffer")).collect::<Vec<_>>()
    };
    assert_eq!(names("launch/report"), ["printf buffer"]);
    assert_eq!(names("launch/asserts"), ["assert buffer"]);
    assert_eq!(names("launch/variables"), [""; 0]);
}
