//! Listings of small kernels, compared word for word, so that every change of the generated code is noticed.

use gpurf_compiler::{Options, annotate, compile};

fn listing(body: &str) -> String {
    let source = format!(".version 9.5\n.target sm_75\n.address_size 64\n{body}");
    match compile(&source, "k.ptx", &Options { registers: 16, ..Options::default() }) {
        Ok(compiled) => annotate(&source, &compiled),
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn addresses_of_64_bits() {
    let text = listing(
        ".entry k(.param .u64 p)
{
.reg .b32 %r<3>; .reg .b64 %l<4>;
ld.param.u64 %l0, [p];
cvta.to.global.u64 %l1, %l0;
mov.u32 %r0, %tid.x;
mul.wide.s32 %l2, %r0, 4;
add.s64 %l3, %l1, %l2;
ld.global.u32 %r1, [%l3+8];
shl.b32 %r2, %r1, 1;
st.global.u32 [%l3], %r2;
ret;
}
",
    );
    let want = "\
// k: 11 instructions, 4 registers, 0 bytes of local memory, 0 bytes of static shared memory
     7 | ld.param.u64 %l0, [p];
       |         0  LDC.B32.ALIGN8 R2, [RZ] {free=R4}
       |         1  LDC.B32 R3, [RZ+0x4] {free=R5}
     9 | mov.u32 %r0, %tid.x;
       |         2  S2R.TID.X R0 {free=R6}
    10 | mul.wide.s32 %l2, %r0, 4;
       |         3  SHL R1, R0, 0x2 {free=R7}
       |         4  SHR.SIGNED R0, R0, 0x1e {last=a free=R8}
    11 | add.s64 %l3, %l1, %l2;
       |         5  IADD R2, P0, R2, R1, !PT {last=ab lrf_bypass free=R1}
       |         6  IADD R1, PT, R3, R0, P0 {last=ab lrf_bypass free=R3}
    12 | ld.global.u32 %r1, [%l3+8];
       |         7  LD.GLOBAL.B32 R0, [R2:R1+0x8] {free=R9}
    13 | shl.b32 %r2, %r1, 1;
       |         8  SHL R0, R0, 0x1 {last=a deschedule lrf_bypass free=R3}
    14 | st.global.u32 [%l3], %r2;
       |         9  ST.GLOBAL.B32 [R2:R1], R0 {last=abc free=R0}
    15 | ret;
       |        10  EXIT

";
    assert_eq!(text, want, "\n{text}");
}

/// The mnemonics of all loads in a kernel that contains this load.
fn loads(load: &str) -> Vec<String> {
    let text = listing(&format!(
        ".entry k(.param .u64 p)
{{
.reg .b32 %r<5>; .reg .b64 %l<4>; .shared .align 16 .b8 s[64];
ld.param.u64 %l0, [p];
{load};
st.global.u32 [%l0], %r0;
st.global.u32 [%l0+4], %r1;
st.global.u64 [%l0+8], %l1;
ret;
}}
"
    ));
    let words = text.split_whitespace().filter(|word| word.starts_with("LD."));
    words.map(|word| word.trim_start_matches("LD.").to_owned()).collect()
}

#[test]
fn hints_that_name_a_level_behind_the_data_cache_pass_it_by() {
    for hint in ["cg", "cv", "volatile", "relaxed.gpu", "acquire.sys"] {
        // Modifiers of order come before the space, cache hints after it.
        let (front, behind) = if hint.starts_with('c') { ("", hint) } else { (hint, "") };
        let dotted = |word: &str| if word.is_empty() { String::new() } else { format!(".{word}") };
        let (front, behind) = (dotted(front), dotted(behind));
        let load = |space: &str, rest: &str| loads(&format!("ld{front}{space}{behind}{rest}"));
        assert_eq!(load(".global", ".u32 %r0, [%l0]"), ["GLOBAL.B32.BYPASS"], "{hint}");
        assert_eq!(load("", ".u32 %r0, [%l0]"), ["GENERIC.B32.BYPASS"], "{hint}");
        assert_eq!(load(".global", ".s8 %r0, [%l0]"), ["GLOBAL.S8.BYPASS"], "{hint}");
        let two = ["GLOBAL.B32.ALIGN8.BYPASS", "GLOBAL.B32.BYPASS"];
        assert_eq!(load(".global", ".u64 %l1, [%l0]"), two, "{hint}");
        assert_eq!(load(".global", ".v2.u32 {%r0,%r1}, [%l0]"), two, "{hint}");
        let small = load(".global", ".v2.u8 {%r0,%r1}, [%l0]");
        assert_eq!(small, ["GLOBAL.U16.BYPASS"], "{hint}");
        assert_eq!(load(".shared", ".u32 %r0, [s]"), ["SHARED.B32"], "{hint}");
    }
    for hint in ["", ".ca", ".nc", ".cs", ".lu"] {
        assert_eq!(loads(&format!("ld.global{hint}.u32 %r0, [%l0]")), ["GLOBAL.B32"], "{hint}");
    }
    assert_eq!(loads("ld.weak.global.u32 %r0, [%l0]"), ["GLOBAL.B32"]);
}

#[test]
fn branches_and_where_they_meet() {
    let text = listing(
        ".entry k()
{
.reg .b32 %r<3>; .reg .pred %p<4>; .shared .b32 s[64];
mov.u32 %r0, %tid.x;
setp.gt.u32 %p0, %r0, 40;
@%p0 bra END;
setp.gt.u32 %p1, %r0, 20;
@%p1 bra ELSE;
LOOP:
sub.u32 %r0, %r0, 1;
setp.gt.s32 %p2, %r0, 3;
@%p2 bra LOOP;
bra.uni JOIN;
ELSE:
setp.gt.u32 %p3, %r0, 30;
@%p3 bra END;
add.u32 %r0, %r0, 7;
JOIN:
st.shared.u32 [s], %r0;
END:
ret;
}
",
    );
    let want = "\
// k: 14 instructions, 1 registers, 0 bytes of local memory, 256 bytes of static shared memory
     7 | mov.u32 %r0, %tid.x;
       |         0  S2R.TID.X R0 {free=R1}
     8 | setp.gt.u32 %p0, %r0, 40;
       |         1  ISETP.GT.AND P0, R0, 0x28, PT {free=R2}
     9 | @%p0 bra END;
       |         2  @P0 EXIT
    10 | setp.gt.u32 %p1, %r0, 20;
       |         3  ISETP.GT.AND P0, R0, 0x14, PT {free=R3}
    11 | @%p1 bra ELSE;
       |         4  @P0 BRA 9, join 12 {free=R4}
    13 | sub.u32 %r0, %r0, 1;
       |         5  IADD.SUB R0, PT, R0, 0x1, PT {last=a lrf_bypass free=R1}
    14 | setp.gt.s32 %p2, %r0, 3;
       |         6  ISETP.GT.SIGNED.AND P0, R0, 0x3, PT {free=R5}
    15 | @%p2 bra LOOP;
       |         7  @P0 BRA 5, join 12 {free=R6}
       |         8  BRA 12, join none {free=R7}
    18 | setp.gt.u32 %p3, %r0, 30;
       |         9  ISETP.GT.AND P0, R0, 0x1e, PT {free=R1}
    19 | @%p3 bra END;
       |        10  @P0 EXIT
    20 | add.u32 %r0, %r0, 7;
       |        11  IADD R0, PT, R0, 0x7, !PT {last=a lrf_bypass free=R2}
    22 | st.shared.u32 [s], %r0;
       |        12  ST.SHARED.B32 [RZ], R0 {last=c free=R0}
    24 | ret;
       |        13  EXIT

";
    assert_eq!(text, want, "\n{text}");
}
