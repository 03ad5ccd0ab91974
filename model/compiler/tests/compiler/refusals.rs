//! Instructions outside of the subset are refused with their position and the reason; those inside are accepted.

use gpurf_compiler::{Diagnostics, Options, compile};

/// A kernel with this body.
fn kernel(body: &str) -> String {
    format!(
        ".version 9.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p0)\n{{\n.reg .pred %p<4>; .reg .b16 %h<4>; \
         .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %l<8>; .reg .f64 %d<4>; .shared .align 4 .b8 s[64];\n{body}\nret;\n}}\n"
    )
}

fn refused(source: &str) -> Diagnostics {
    match compile(source, "k.ptx", &Options::default()) {
        Ok(_) => panic!("this was accepted:\n{source}"),
        Err(e) => e,
    }
}

#[test]
fn instructions_outside_of_the_subset() {
    for (body, reason) in [
        ("tanh.approx.f64 %d0, %d1;", "this form in double precision"),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 %d0, %d1, %d2, %d3;", "`mma` in double precision"),
        ("add.sat.f64 %d0, %d1, %d2;", ".sat"),
        ("mul.ftz.f64 %d0, %d1, %d2;", ".ftz"),
        ("fma.f64 %d0, %d1, %d2, %d3;", "needs a rounding"),
        ("div.approx.f64 %d0, %d1, %d2;", "needs a rounding"),
        ("rcp.approx.f64 %d0, %d1;", ".approx.ftz"),
        ("rsqrt.rn.f64 %d0, %d1;", "`rsqrt` of .f64"),
        ("sqrt.approx.ftz.f64 %d0, %d1;", "`sqrt` of .f64"),
        ("setp.lt.ftz.f64 %p1, %d0, %d1;", ".ftz"),
        ("setp.lo.f64 %p1, %d0, %d1;", "floats are not compared by .lo"),
        ("cvt.f64.s32 %d0, %r1;", "an integer becomes a float by"),
        ("cvt.rn.s32.f64 %r0, %d1;", "a float becomes an integer by"),
        ("cvt.f32.f64 %f0, %d1;", "a double becomes a float by"),
        ("cvt.rn.f64.f32 %d0, %f1;", "a float becomes a double without rounding"),
        ("cvt.rn.f64.f64 %d0, %d1;", "a double becomes a double by"),
        ("cvt.rzi.ftz.s32.f64 %r0, %d1;", "doubles are not flushed"),
        ("cvt.rn.f64.f16 %d0, %h2;", "a half becomes a double without rounding"),
        ("add.f64 %d0, %d1, 1;", "a float is needed"),
        ("atom.global.min.f64 %d0, [%l1], %d2;", "there is no .min of this type"),
        ("add.bf16 %h0, %h1, %h2;", "bfloat16"),
        ("cvt.f32.bf16 %f0, %h2;", "bfloat16"),
        ("cvt.s32.f16 %r0, %h2;", "becomes an integer by"),
        ("fma.rn.relu.f16 %h0, %h1, %h2, %h3;", ".relu"),
        ("set.eq.f16x2.f16 %r0, %h1, %h2;", "32 bits are needed"),
        ("call.uni (%r1), f, (%r2);", "`f` has no body in this file"),
        ("{ .param .b32 q; st.param.b32 [q], %r1; call.uni vprintf, (q); }", "this call of printf is not"),
        (
            "{ .param .b64 q; st.param.b64 [q], %l1; .param .b64 v; st.param.b64 [v], 0; .param .b32 r; call.uni (r), vprintf, (q, v); }",
            "the format of this printf is not known when the kernel is compiled",
        ),
        (
            "{ .param .b64 q; st.param.b64 [q], 16; .param .b64 r; call.uni (r), malloc, (q); ld.param.b64 %l0, [r]; }",
            "malloc in a kernel is outside of the subset: the device has no heap",
        ),
        ("{ .param .b64 q; st.param.b64 [q], %l1; call.uni free, (q); }", "free in a kernel is outside of the subset"),
        ("mov.u32 %r0, %envreg3;", "`%envreg3` is outside of the subset"),
        (
            "{ .param .b64 q; st.param.b64 [q], %l1; .param .b32 r; call.uni (r), cudaCGSynchronizeGrid, (q); }",
            "synchronisation of a whole grid",
        ),
        ("mov.u64 %l0, k;", "a launch from a kernel (dynamic parallelism)"),
        (
            "{ .param .b64 q; st.param.b64 [q], %l1; .param .b32 r; call.uni (r), __cudaCDP2LaunchDeviceV2, (q); }",
            "a launch from a kernel (dynamic parallelism)",
        ),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%r0}, {%r1}, {%r2}, {%r3};", "tensor"),
        ("tex.2dms.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%l1, {%r1, %r2, %r2, %r2}];", "geometries other than"),
        ("mov.u32 %r0, %clock64;", "`%clock64` has 64 bits, and 32 bits are needed here"),
        ("mov.u32 %r0, %pm0;", "`%pm0` is outside of the subset"),
        ("mov.u32 %r0, %smid;", "%smid"),
        ("redux.sync.add.s32 %r0, %r1, -1;", "sm_75"),
        ("cp.async.ca.shared.global [%r0], [%l1], 4;", "sm_75"),
        ("atom.global.inc.u64 %l0, [%l1], %l2;", "there is no .inc of this type"),
        ("atom.global.min.b64 %l0, [%l1], %l2;", "there is no .min of this type"),
        ("atom.global.add.f16x2 %r0, [%l1], %r2;", "noftz"),
        ("bar.arrive 0, 64;", "bar.arrive"),
        ("bar.sync %r0;", "must be a constant"),
        ("bar.sync 16;", "16 barriers"),
        ("ld.global.v8.b32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%l0];", "v8"),
        ("ld.global.v4.b64 {%l0,%l1,%l2,%l3}, [%l0];", "16 bytes"),
        ("st.const.b32 [%l0], %r1;", "only read"),
        ("prmt.b32.f4e %r0, %r1, %r2, %r3;", "f4e"),
        ("add.rn.s32 %r0, %r1, %r2;", ".rn"),
        ("fma.rn.relu.f32 %f0, %f1, %f2, %f3;", ".relu"),
        ("frob.u32 %r0;", "frob"),
        ("alloca.u64 %l0, 16;", "run time"),
        ("shfl.down.b32 %r0, %r1, 1, 31;", ".sync"),
        ("div.s32 %r0, %r1, 0;", "zero"),
        ("mad.wide.cc.u32 %l0, %r1, %r2, %l3;", "has no carry"),
        ("madc.wide.u32 %l0, %r1, %r2, %l3;", "has no carry"),
        ("cvt.f32.s32 %f0, %r1;", "an integer becomes a float by .rn, .rz, .rm or .rp"),
        ("cvt.rni.f32.s32 %f0, %r1;", "an integer becomes a float by"),
        ("cvt.f16.u32 %h0, %r1;", "an integer becomes a float by"),
        ("cvt.f16.f32 %h0, %f1;", "a float becomes a half by"),
        ("cvt.rn.s32.s32 %r0, %r1;", "without rounding"),
        ("cvt.u32.b32 %r0, %r1;", "a type of bits"),
        ("cvt.rn.f16.b16 %h0, %h1;", "a type of bits"),
        ("setp.lo.s32 %p0, %r1, %r2;", "signed integers are not compared by .lo"),
        ("set.lt.u32.b32 %r0, %r1, %r2;", "bits are compared by .eq and .ne, not by .lt"),
        ("add.NaN.f16 %h0, %h1, %h2;", "`.NaN` of `add`"),
        ("neg.sat.f16 %h0, %h1;", "`.sat` of `neg`"),
        ("max.sat.f16x2 %r0, %r1, %r2;", "`.sat` of `max`"),
        ("tanh.approx.ftz.f16 %h0, %h1;", "`.ftz` of `tanh`"),
        ("cvta.global.u64 %l0, s;", "`s` does not lie in .global"),
        ("cvta.local.u64 %l0, p0;", "`p0` does not lie in .local"),
        ("cvta.to.shared.u64 %l0, s;", "takes a generic address"),
        ("mov.f32 %f0, 1;", "1 is written 1.0 or 0f3F800000"),
        ("add.f32 %f0, %f1, 2;", "a float is needed"),
        ("selp.f32 %f0, -1, %f1, %p0;", "a float is needed"),
        ("setp.lt.f32 %p0, %f1, 3;", "a float is needed"),
        ("cvt.rzi.s32.f32 %r0, 3;", "a float is needed"),
        ("st.global.f32 [%l0], 1;", "a float is needed"),
        ("red.global.add.f32 [%l0], 1;", "a float is needed"),
        ("mov.f64 %d0, 1;", "a float is needed"),
        ("add.f16 %h0, %h1, 1;", "a half is needed"),
        (
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];",
            "`st.async` is not in sm_75",
        ),
    ] {
        let diagnostics = refused(&kernel(body));
        let text = diagnostics.to_string();
        assert!(text.contains(reason), "`{body}` is refused by:\n{text}");
        assert!(text.contains("k.ptx:7:"), "`{body}`: the place is wrong:\n{text}");
        assert_eq!(diagnostics.entries.len(), 1, "`{body}` has more than one complaint:\n{text}");
    }
}

#[test]
fn operands_that_do_not_fit() {
    for (body, reason) in [
        ("add.u32 %r0, %r1, %l2;", "has 64 bits"),
        ("add.u64 %l0, %r1, %l2;", "has 32 bits"),
        ("add.u32 %r0, %r1, %p2;", "predicate"),
        ("add.u32 %r0, %r1;", "3 operands"),
        ("add.u32 %r0, %r1, %r9;", "no register `%r9`"),
        ("add.u32 %r0, %r1, 0x100000000;", "32 bits"),
        ("bra nowhere;", "no label `nowhere`"),
        ("@%r1 bra nowhere;", "not a predicate"),
        ("ld.global.u32 %r0, [%r1];", "64 bits are needed"),
        ("ld.global.u32 %r0, [s];", "does not lie in .global"),
        ("mov.u32 %r0, t;", "not a register"),
        ("lop3.b32 %r0, %r1, %r2, %r3, 256;", "0 to 255"),
        ("x: x: ret;", "twice"),
        ("setp.foo.u32 %p0, %r1, %r2;", "comparison"),
        ("brx.idx %r1, targets;", "branch targets"),
        ("{ .reg .b32 %x<3>; .reg .b64 %x<4>; }", "`%x` is declared twice"),
        ("{ .reg .b32 %x<3>; .reg .b32 %x2; }", "`%x2` is declared twice"),
        ("{ .reg .b32 x; .reg .b64 x; }", "`x` is declared twice"),
        ("{ .shared .b32 x; .shared .b64 x; }", "`x` is declared twice"),
        ("{ .local .b32 x; .param .b64 x; }", "`x` is declared twice"),
    ] {
        let text = refused(&kernel(body)).to_string();
        assert!(text.contains(reason), "`{body}` is refused by:\n{text}");
    }
}

#[test]
fn modules_that_are_no_ptx_or_outside() {
    for (source, reason) in [
        ("", ".version"),
        ("hello", ".version"),
        (".version 1.0\n.target sm_10\n", "version"),
        (".version 9.5\n.target sm_75\n.address_size 32\n", "64 bits only"),
        (
            ".version 9.5\n.target sm_75\n.address_size 64\n.extern .global .u32 x;\n.entry k(){ .reg .b64 %l; mov.u64 %l, x; }",
            ".extern",
        ),
        (".version 9.5\n.target sm_75\n.address_size 64\n.global .texref t;\n", "textures"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.const .b8 x[70000];\n", "65536 bytes"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.global .b64 x[999999999];\n", "bytes"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.global .b8 x[2] = {1, 2, 3};\n", "initial values"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.global .b8 x[2] = {300};\n", "does not fit"),
        (
            ".version 9.5\n.target sm_75\n.address_size 64\n.global .b32 x[2][2] = {{1, 2, 3}, {4}};\n",
            "there are more values in these braces than elements",
        ),
        (".version 9.5\n.target sm_75\n.address_size 64\n.shared .b32 x;\n.shared .b32 x;\n", "`x` is declared twice"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.shared .b32 x;\n.global .b32 x;\n", "`x` is declared twice"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.global .b32 x;\n.shared .b32 x;\n", "`x` is declared twice"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.global .u64 x = y;\n", "no variable `y`"),
        (
            ".version 9.5\n.target sm_75\n.address_size 64\n.entry k(.param .b8 p[32765]) { ret; }",
            "more than 32764 bytes",
        ),
        (
            ".version 9.5\n.target sm_75\n.address_size 64\n.const .b8 x[60000];\n.entry k(.param .b8 p[32764]) { ret; }",
            "the constant variables have more than 36868 bytes",
        ),
        (".version 9.5\n.target sm_75\n.address_size 64\n.entry k() { .shared .b8 s[70000]; ret; }", "shared"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.entry k() { ret; }\n.entry k() { ret; }", "twice"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.entry k() .explicitcluster { ret; }", "clusters"),
        (".version 9.5\n.target sm_75\n.address_size 64\n.entry k() { ret;", "end of the file"),
    ] {
        let text = refused(source).to_string();
        assert!(text.contains(reason), "refused by:\n{text}\n{source}");
    }
}

#[test]
fn what_is_in_the_subset_is_accepted() {
    for body in [
        ".loc 1 2 3\n.pragma \"nounroll\"; mov.u32 %r0, %tid.w; // comment",
        "{ .reg .b32 %r<2>; .reg .pred q; setp.eq.s32 q, %r0, 1; @q mov.u32 %r1, 5; }",
        "mov.b64 {%r0, %r1}, %l0; mov.b64 %l1, {%r1, %r0}; mov.b32 {%h0, %h1}, %r0; mov.b32 %r0, {%h1, %h0};",
        "mov.b64 {_, %r1}, %l0; st.shared.b32 [s+4], %r1;",
        "atom.add.release.gpu.u32 %r0, [%l0], 1; red.relaxed.sys.global.add.u32 [%l0+8], 5; atom.shared.cas.b32 %r1, [s], 1, 2;",
        "atom.global.add.u64 %l0, [%l1], %l2; red.global.xor.b64 [%l1], %l2;",
        "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f0, %f1, %f2, %f3}, [%l0+16]; st.global.cs.v2.b32 [%l1], {%r0, %r1};",
        "ld.acquire.gpu.b32 %r0, [%l0]; st.release.cta.b32 [%l0], %r0; fence.sc.gpu; membar.gl;",
        "L: bra.uni M; M: @%p1 bra L;",
        "t: .branchtargets L, L, M; brx.idx %r0, t; L: mov.u32 %r1, 1; M: ret;",
        "barrier.sync.aligned 3, 64; bar.warp.sync -1; nanosleep.u32 20; activemask.b32 %r0;",
        "vote.sync.any.pred %p0, !%p1, -1; match.all.sync.b64 %r0|%p1, %l0, -1; shfl.sync.up.b32 %r0|%p0, %r1, 1, %r2, -1;",
        "cvta.to.global.u64 %l0, %l1; cvta.shared.u64 %l0, s; isspacep.local %p0, %l0; prefetch.global.L2 [%l0];",
        "bar.red.popc.u32 %r0, 0, %p1; barrier.cta.red.or.aligned.pred %p0, 1, 64, !%p1; bar.red.and.pred %p0, 0, %p1;",
        "trap; brkpt; exit;",
        "barrier.cta.sync.aligned 0; bar.red.popc.u32 %r0, 15, %p1;",
        "{ .local .align 4 .b8 q[16]; prefetch.local.L1 [q]; }",
        "mov.f32 %f0, 0; mov.f32 %f1, 1.5; add.f32 %f2, %f0, 0f3F800000; mov.f64 %d0, 0d3FF0000000000000; st.global.f32 [%l0], -1.0;",
        "setp.eq.b16 %p0, %h1, %h2; setp.hs.u64 %p1, %l1, %l2; set.ne.u32.b32 %r0, %r1, %r2; setp.lt.u32 %p2, %r1, 5;",
        "cvta.param.u64 %l0, p0; cvta.shared.u64 %l1, s+8; cvta.const.u64 %l2, %l0;",
        "{ .reg .b32 %r<2>; .reg .b32 %r1x, r; .reg .pred %q<0>; }",
    ] {
        if let Err(e) = compile(&kernel(body), "k.ptx", &Options::default()) {
            panic!("{e}");
        }
    }
}

#[test]
fn a_reduction_at_a_barrier_needs_a_word_of_shared_memory() {
    let with = |bytes: u32| {
        let variables = format!("{{ .shared .align 4 .b8 big[{bytes}]; st.shared.b32 [big], %r0; ");
        compile(&kernel(&(variables + "bar.red.popc.u32 %r0, 0, %p1; }")), "k.ptx", &Options::default())
    };
    // The kernel itself has another variable of 64 bytes.
    assert!(with(65_468).is_ok());
    let text = with(65_472).unwrap_err().to_string();
    assert!(text.contains("`bar.red` counts in a word of shared memory"), "{text}");
}

#[test]
fn a_diagnostic_shows_the_source() {
    let text = refused(&kernel("mov.u32 %r0, 1;\n\tadd.bf16 \t%h0, %h1, %h2;")).to_string();
    let want = "\n --> k.ptx:8:5\n  |\n8 | \tadd.bf16 \t%h0, %h1, %h2;\n  | \t   ^^^^^";
    assert!(text.ends_with(want), "{text}");
}

#[test]
fn only_so_many_complaints() {
    let text = refused(&kernel(&"frob;\n".repeat(50))).to_string();
    assert!(text.ends_with("(and 30 more)"), "{text}");
}
