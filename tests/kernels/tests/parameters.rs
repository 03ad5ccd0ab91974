//! Kernels with more than 4 KB of parameters.

use gpurf_compiler::{Options, compile};
use gpurf_kernels::folder;
use gpurf_launch::{BufferId, Manifest};
use gpurf_oracle::host::{OracleEngine, Session};

/// Two kernels that add a word of the parameters to a constant: `large` the last one of its many, `small` its only one.
const SOURCE: &str = "
.version 9.5
.target sm_75
.address_size 64
.const .align 4 .b8 c[8] = {1, 0, 0, 0, 100, 0, 0, 0};
.visible .entry large(.param .u64 out, .param .align 4 .b8 words[32756]) {
    .reg .b32 %r<4>; .reg .b64 %l<2>;
    ld.param.u64 %l0, [out];
    ld.param.u32 %r0, [words+32752];
    ld.const.u32 %r1, [c+4];
    add.u32 %r2, %r0, %r1;
    st.global.u32 [%l0], %r2;
    ret;
}
.visible .entry small(.param .u64 out, .param .u32 word) {
    .reg .b32 %r<4>; .reg .b64 %l<2>;
    ld.param.u64 %l0, [out];
    ld.param.u32 %r0, [word];
    ld.const.u32 %r1, [c];
    add.u32 %r2, %r0, %r1;
    st.global.u32 [%l0+4], %r2;
    ret;
}
";

#[test]
fn a_kernel_may_have_as_many_bytes_of_parameters_as_in_cuda() {
    let image = compile(SOURCE, "k.ptx", &Options::default()).unwrap_or_else(|error| panic!("{error}")).image;
    assert_eq!(image.kernel("large").unwrap().parameter_bytes(), 32_764);
    let manifest = "
source = \"saxpy.ptx\"
buffer = [{ name = \"out\", type = \"u32\", len = 2 }]
[[launch]]
kernel = \"large\"
grid = [1]
block = [1]
args = [{ buffer = \"out\" }, { struct = [{ type = \"u32\", array = [7], count = 8188 }, { type = \"u32\", value = 42 }] }]
[[launch]]
kernel = \"small\"
grid = [1]
block = [1]
args = [{ buffer = \"out\" }, { type = \"u32\", value = 5 }]
";
    let manifest = Manifest::parse(&folder().join("k.toml"), manifest).unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::new(&manifest, &image).unwrap_or_else(|error| panic!("{error}"));
    session.run(&mut OracleEngine::default()).unwrap_or_else(|error| panic!("{error}"));
    let words = [142u32, 6].map(u32::to_le_bytes).concat();
    assert_eq!(session.bytes(BufferId(0)), words);
}

#[test]
fn constants_lie_where_they_did_in_other_programs() {
    let constant_of = |source: &str| {
        let image = compile(source, "k.ptx", &Options::default()).unwrap_or_else(|error| panic!("{error}")).image;
        image.symbol("c").expect("it is there").space
    };
    use gpurf_isa::image::SymbolSpace::Constant;
    assert_eq!(constant_of(SOURCE), Constant { offset: 32_764 });
    assert_eq!(constant_of(&SOURCE.replace("32756", "4088").replace("32752", "4084")), Constant { offset: 4096 });
    assert_eq!(constant_of(&SOURCE.replace("32756", "40").replace("32752", "36")), Constant { offset: 4096 });
}
