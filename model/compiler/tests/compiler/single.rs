//! 64-bit accesses that are single: which of them take a lock, and that they give the same results as accesses without
//! one.

use crate::common::{Random, compiled_with, fault, run};
use gpurf_compiler::{Options, WideAccesses, compile};
use gpurf_isa::Op;
use gpurf_isa::machine::trap;

const BOTH: [WideAccesses; 2] = [WideAccesses::Strong, WideAccesses::All];

/// A kernel with these statements; %l1 is p0, %l2 is p1, and %r1 is the thread's index.
fn kernel(body: &str) -> String {
    format!(
        ".version 9.5\n.target sm_75\n.address_size 64\n.const .u64 constant[2] = {{1, 2}};\n.visible .entry f(\n\
         .param .u64 p0, .param .u64 p1)\n{{\n.reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %l<20>;\n\
         .reg .f64 %d<4>;\n.shared .align 8 .b8 shared[512];\n.local .align 8 .b8 local[16];\n\
         ld.param.u64 %l1, [p0]; ld.param.u64 %l2, [p1]; mov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// The number of atomic operations in the code: two for each lock that is taken.
fn atomics(source: &str, wide_accesses: WideAccesses) -> usize {
    let image = compiled_with(source, &Options { wide_accesses, ..Options::default() }).image;
    let has_locks = image.symbols.iter().any(|symbol| symbol.name == "atomic locks");
    let found = image.kernels[0].code.iter().filter(|i| matches!(i.op, Op::Atom { .. })).count();
    assert!(has_locks || found == 0 || source.contains("red."), "{source}");
    found
}

#[test]
fn strong_accesses_take_locks() {
    for (text, locks) in [
        ("ld.volatile.global.u64 %l3, [%l1]; st.global.u64 [%l2], %l3;", 1),
        ("ld.relaxed.gpu.global.s64 %l3, [%l1]; st.global.u64 [%l2], %l3;", 1),
        ("ld.acquire.sys.b64 %l3, [%l1]; st.global.u64 [%l2], %l3;", 1),
        ("ld.mmio.relaxed.sys.global.u64 %l3, [%l1]; st.global.u64 [%l2], %l3;", 1),
        ("ld.volatile.global.f64 %d1, [%l1]; st.global.f64 [%l2], %d1;", 1),
        ("st.release.cta.global.u64 [%l1], %l2;", 1),
        ("st.volatile.u64 [%l1+8], %l2;", 1),
        ("st.volatile.shared.u64 [shared], %l2;", 1),
        ("st.relaxed.gpu.global.v2.u64 [%l1], {%l1, %l2};", 2),
        // Accesses of another size, or to memory that no other thread can access.
        ("ld.volatile.global.u32 %r2, [%l1]; st.volatile.global.v2.u32 [%l2], {%r2, %r2};", 0),
        ("st.volatile.local.u64 [local], %l2;", 0),
        ("st.volatile.u64 [local], %l2;", 0),
        ("ld.param.u64 %l3, [p1]; st.local.u64 [local], %l3;", 0),
    ] {
        for wide in [WideAccesses::Strong, WideAccesses::All] {
            // The store of the loaded value is weak.
            let weak = wide == WideAccesses::All && text.contains("; st.global.");
            assert_eq!(atomics(&kernel(text), wide), 2 * (locks + usize::from(weak)), "{text} {wide:?}");
        }
    }
}

#[test]
fn weak_accesses_take_locks_where_all_are_to_be_single() {
    for (text, locks) in [
        ("st.global.u64 [%l1], %l2;", 1),
        ("st.weak.u64 [%l1], %l2;", 1),
        ("ld.global.cv.b64 %l3, [%l1]; st.u64 [%l2], %l3;", 2),
        ("ld.global.v2.u64 {%l3, %l4}, [%l1]; st.global.u32 [%l2], %r1;", 2),
        ("ld.global.nc.u64 %l3, [%l1]; st.shared.u64 [shared], %l3;", 0),
        ("ld.const.u64 %l3, [constant]; st.local.u64 [local], %l3;", 0),
        ("st.u64 [shared], %l2;", 0),
        ("st.global.u32 [%l1], %r1; st.global.v4.u32 [%l1], {%r1, %r1, %r1, %r1};", 0),
    ] {
        let source = kernel(text);
        assert_eq!(atomics(&source, WideAccesses::All), 2 * locks, "{text}");
        assert_eq!(atomics(&source, WideAccesses::Strong), 0, "{text}");
    }
}

#[test]
fn a_file_with_a_single_access_has_all_its_atomic_operations_under_locks() {
    let add = "red.global.add.u64 [%l1], %l2;";
    let code = |source: &str| {
        let image = compiled_with(source, &Options::default()).image;
        let code = image.kernels[0].code.iter();
        code.filter(|i| matches!(i.op, Op::Atom { .. })).count()
    };
    // Two words; or one lock taken and released, and the two words read and written.
    assert_eq!(code(&kernel(add)), 2);
    let other = ".visible .entry g(.param .u64 p)\n{ .reg .b64 %l<3>;\nld.param.u64 %l1, [p];\n\
                 ld.volatile.global.u64 %l2, [%l1]; st.volatile.global.u64 [%l1], %l2; ret; }\n";
    assert_eq!(code(&(kernel(add) + other)), 6);
    assert_eq!(code(&(kernel(add) + &other.replace(".volatile", ""))), 2);
}

#[test]
fn mmio_needs_relaxed() {
    let error = compile(&kernel("ld.mmio.global.u64 %l3, [%l1];"), "f.ptx", &Options::default()).unwrap_err();
    assert!(error.to_string().contains(".mmio needs .relaxed"), "{error}");
}

/// Every thread moves its words with all kinds of access, with and without a guard.
#[test]
fn what_is_loaded_and_stored_is_the_same_with_locks_and_without() {
    const THREADS: u32 = 48;
    let body = "
        setp.lt.u32 %p1, %r1, 37;
        mul.wide.u32 %l3, %r1, 32; add.u64 %l1, %l1, %l3; add.u64 %l2, %l2, %l3;
        mul.wide.u32 %l4, %r1, 8; cvt.u32.u64 %r2, %l4; mov.u32 %r3, shared; add.u32 %r2, %r2, %r3;
        LD.u64 %l5, [%l1];
        @%p1 LD.u64 %l5, [%l1+8];
        LD.v2.u64 {%l6, %l7}, [%l1+16];
        ST.u64 [%l2], %l5;
        @!%p1 ST.u64 [%l2+8], %l6;
        ST.v2.u64 [%l2+16], {%l7, %l5};
        st.SHARED.u64 [%r2], %l6;
        cvt.u64.u32 %l8, %r2; cvta.shared.u64 %l8, %l8;
        ld.GENERIC.u64 %l9, [%l8];
        mov.u64 %l10, local; cvta.local.u64 %l10, %l10;
        st.GENERIC.u64 [%l10+8], %l9; ld.GENERIC.u64 %l11, [%l10+8];
        @%p1 ST.u64 [%l2+8], %l11;";
    let mut random = Random(77);
    let data: Vec<u8> = (0..32 * THREADS).map(|_| random.bits() as u8).collect();
    let result = |[load, store, shared, generic]: [&str; 4]| {
        let body = body.replace("LD.", &format!("ld.{load}."));
        let body = body.replace("ST.", &format!("st.{store}."));
        let body = body.replace("SHARED", shared).replace("GENERIC", generic);
        run(&kernel(&body), 32, std::slice::from_ref(&data), 32 * THREADS as usize, THREADS)
    };
    let plain = result(["global", "global", "shared", "weak"]);
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[8 * at..][..8].try_into().unwrap());
    for thread in 0..THREADS as usize {
        let [first, second, third, fourth] = [0, 1, 2, 3].map(|n| word(&data, 4 * thread + n));
        let chosen = if thread < 37 { second } else { first };
        let expected = [chosen, third, fourth, chosen];
        assert_eq!([0, 1, 2, 3].map(|n| word(&plain, 4 * thread + n)), expected, "thread {thread}");
    }
    for forms in [
        ["volatile.global", "volatile.global", "volatile.shared", "volatile"],
        ["acquire.gpu.global", "release.gpu.global", "relaxed.cta.shared", "relaxed.gpu"],
        ["relaxed.sys", "relaxed.sys", "volatile.shared", "volatile"],
    ] {
        assert_eq!(result(forms), plain, "{forms:?}");
    }
}

#[test]
fn what_is_misaligned_is_still_a_fault() {
    use gpurf_oracle::{FaultKind, Geometry, Launch, Memory, Oracle, Program};
    for text in
        ["ld.volatile.global.u64 %l3, [%l1+4]; st.global.u64 [%l1], %l3;", "st.volatile.global.u64 [%l1+12], %l1;"]
    {
        for wide_accesses in BOTH {
            let options = Options { wide_accesses, ..Options::default() };
            let image = compiled_with(&kernel(text), &options).image;
            let mut memory = Memory::default();
            let buffer = memory.add("buffer", &[0; 64]).unwrap();
            let locks = memory.add("locks", &[0; 4096]).unwrap();
            let [begin, locks] = [buffer, locks].map(|index| u64::from(memory.buffer(index).address()));
            let constant: Vec<u8> = [begin, begin].iter().flat_map(|word| word.to_le_bytes()).collect();
            let mut kernel = image.kernels[0].clone();
            gpurf_oracle::host::relocate(&mut kernel, &|_: &str| Ok::<_, ()>(locks)).unwrap();
            let program = Program::new(&kernel, "f.ptx").unwrap();
            let geometry = Geometry { grid: [1; 3], block: [1; 3], dynamic_shared: 0 };
            let launch = Launch { program: &program, geometry, constant: &constant };
            let fault = Oracle::default().run(&launch, &memory).unwrap_err();
            assert!(matches!(fault.kind, FaultKind::Misaligned { align: 8, .. }), "{text}: {fault}");
        }
    }
}

#[test]
fn atomic_operations_at_misaligned_addresses_are_faults() {
    // The address is that of `s`, but the compiler does not know it.
    let source = |text: &str| {
        format!(
            ".version 9.5\n.target sm_75\n.address_size 64\n.entry k()\n{{\n.reg .b16 %h; .reg .b32 %r<3>; .reg .b64 %l<3>;\n\
             .shared .align 16 .b8 s[64];\nmov.u32 %r1, s; mov.u32 %r0, %tid.x; mad.lo.u32 %r1, %r0, 8, %r1;\n\
             mov.b16 %h, 0x3c00; mov.u64 %l1, 5; cvt.u64.u32 %l2, %r1; cvta.shared.u64 %l2, %l2;\n\
             st.shared.u64 [%r1], %l1; st.shared.u64 [%r1+8], %l1;\n{text}\nret;\n}}\n"
        )
    };
    let text = |operation: &str| fault(&source(operation), &Options::default());
    let found = text("atom.shared.exch.b64 %l0, [%r1+4], %l1; st.shared.u64 [%r1], %l0;");
    assert!(found.contains(trap::reason(trap::MISALIGNED)), "{found}");
    for operation in ["red.shared.add.noftz.f16 [%r1+1], %h;", "red.add.noftz.f16 [%l2+3], %h;"] {
        let found = text(operation);
        assert!(found.contains("is not aligned"), "{operation}: {found}");
    }
    // An aligned operation does not fault, so the fault is that of the trap after it.
    for operation in
        ["red.shared.add.u64 [%r1+8], %l1;", "red.add.u64 [%l2], %l1;", "red.shared.add.noftz.f16 [%r1+2], %h;"]
    {
        let found = text(&format!("{operation} trap;"));
        assert!(found.contains(trap::reason(trap::PROGRAM)), "{operation}: {found}");
    }
}
