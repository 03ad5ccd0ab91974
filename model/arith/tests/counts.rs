//! How many instructions the sequences take. The limits are their present lengths, so that a change which makes one
//! longer fails.

use gpurf_arith::float::Relation;
use gpurf_arith::mufu::Function;
use gpurf_arith::sequence::{self, IntRelation, Machine, Pair};
use gpurf_arith::{IntType, Mode, Rounding};

const NEAREST: Rounding = Rounding::NearestEven;
const ZERO: Rounding = Rounding::TowardZero;

/// Counts the instructions of a machine with fused negation and a carry in every multiply-add.
#[derive(Default)]
struct Count {
    /// Instructions outside branches and on their usual sides.
    usual: usize,
    /// Instructions on the rare sides of branches.
    rare: usize,
    in_rare: bool,
}

impl Count {
    fn one<T: Default>(&mut self) -> T {
        *(if self.in_rare { &mut self.rare } else { &mut self.usual }) += 1;
        T::default()
    }
}

#[rustfmt::skip]
impl Machine for Count {
    type Value = ();
    type Predicate = ();
    fn constant(&mut self, _: u32) {}
    fn fadd(&mut self, (): (), (): (), _: Mode) { self.one() }
    fn fmul(&mut self, (): (), (): (), _: Mode) { self.one() }
    fn ffma(&mut self, (): (), (): (), (): (), _: Mode) { self.one() }
    fn fnma(&mut self, (): (), (): (), (): (), _: Mode) { self.one() }
    fn mufu(&mut self, _: Function, (): (), _: bool) { self.one() }
    fn fset(&mut self, _: Relation, (): (), (): (), _: bool) { self.one() }
    fn negate(&mut self, (): ()) { self.one() }
    fn absolute(&mut self, (): ()) { self.one() }
    fn int_to_float(&mut self, (): (), _: bool, _: Rounding) { self.one() }
    fn float_to_int(&mut self, (): (), _: bool, _: Rounding) { self.one() }
    fn iadd(&mut self, (): (), (): ()) { self.one() }
    fn isub(&mut self, (): (), (): ()) { self.one() }
    fn iadd_carry(&mut self, (): (), (): (), _: Option<()>) -> ((), ()) { self.one() }
    fn isub_carry(&mut self, (): (), (): (), _: Option<()>) -> ((), ()) { self.one() }
    fn imad(&mut self, (): (), (): (), (): ()) { self.one() }
    fn imul_hi(&mut self, (): (), (): ()) { self.one() }
    fn imad_hi(&mut self, (): (), (): (), (): ()) { self.one() }
    fn imad_carry(&mut self, _: bool, (): (), (): (), (): (), _: Option<()>) -> ((), ()) { self.one() }
    fn lop3(&mut self, (): (), (): (), (): (), _: u8) { self.one() }
    fn not(&mut self, (): ()) { self.one() }
    fn shift_left(&mut self, (): (), (): ()) { self.one() }
    fn shift_right(&mut self, (): (), (): (), _: bool) { self.one() }
    fn funnel_left(&mut self, (): (), (): (), (): ()) { self.one() }
    fn funnel_right(&mut self, (): (), (): (), (): ()) { self.one() }
    fn leading_zeros(&mut self, (): ()) { self.one() }
    fn iset(&mut self, _: IntRelation, _: bool, (): (), (): ()) { self.one() }
    fn iset_and(&mut self, _: IntRelation, _: bool, (): (), (): (), (): ()) { self.one() }
    fn select(&mut self, (): (), (): (), (): ()) { self.one() }
    fn both(&mut self, (): (), (): ()) { self.one() }
    fn either(&mut self, (): (), (): ()) { self.one() }
    fn branch<const N: usize>(
        &mut self,
        (): (),
        then: impl FnOnce(&mut Self) -> [(); N],
        otherwise: impl FnOnce(&mut Self) -> [(); N],
    ) -> [(); N] {
        then(self);
        self.in_rare = true;
        let values = otherwise(self);
        self.in_rare = false;
        values
    }
}

#[test]
fn instruction_counts() {
    type Sequence = fn(&mut Count, Pair<()>);
    #[rustfmt::skip]
    let sequences: [(&str, Sequence, [usize; 2]); 51] = [
        ("div.rn.f32", |m, _| sequence::divide(m, (), (), Mode::IEEE), [17, 74]),
        ("div.rn.ftz.f32", |m, _| sequence::divide(m, (), (), Mode::FTZ), [17, 77]),
        ("rcp.rn.f32", |m, _| sequence::reciprocal(m, (), Mode::IEEE), [8, 74]),
        ("sqrt.rn.f32", |m, _| sequence::square_root(m, (), Mode::IEEE), [9, 13]),
        ("div.full.f32", |m, _| sequence::divide_full(m, (), (), false), [9, 0]),
        ("div.approx.f32", |m, _| sequence::divide_approximate(m, (), (), false), [5, 3]),
        ("div.approx.ftz.f32", |m, _| sequence::divide_approximate(m, (), (), true), [2, 0]),
        ("div.u32, rem.u32", |m, _| { sequence::divide_unsigned(m, (), ()); }, [17, 0]),
        ("div.s32, rem.s32", |m, _| { sequence::divide_signed(m, (), ()); }, [28, 0]),
        ("div.u64, rem.u64", |m, x| { sequence::divide_unsigned_64(m, x, x); }, [76, 0]),
        ("div.s64, rem.s64", |m, x| { sequence::divide_signed_64(m, x, x); }, [95, 0]),
        ("cvt.rn.f32.u64", |m, x| sequence::float_from_unsigned_64(m, x, Rounding::NearestEven), [17, 0]),
        ("cvt.rn.f32.s64", |m, x| sequence::float_from_signed_64(m, x, Rounding::NearestEven), [25, 0]),
        ("cvt.rzi.u64.f32", |m, _| { sequence::unsigned_64_from_float(m, (), Rounding::TowardZero, false); }, [24, 0]),
        ("cvt.rzi.s64.f32", |m, _| { sequence::signed_64_from_float(m, (), Rounding::TowardZero, false); }, [30, 0]),
        ("cvt.rn.f64.s64", |m, x| { sequence::double_from_signed_64(m, x, NEAREST); }, [30, 0]),
        ("cvt.rn.f64.u64", |m, x| { sequence::double_from_unsigned_64(m, x, NEAREST); }, [24, 0]),
        ("cvt.f64.s32", |m, _| { sequence::double_from_signed(m, ()); }, [12, 0]),
        ("cvt.f64.u32", |m, _| { sequence::double_from_unsigned(m, ()); }, [8, 0]),
        ("cvt.f64.f32", |m, _| { sequence::double_from_float(m, (), false); }, [21, 0]),
        ("cvt.rn.f32.f64", |m, x| sequence::float_from_double(m, x, Mode::IEEE), [35, 0]),
        ("cvt.rzi.s32.f64", |m, x| sequence::integer_from_double(m, x, IntType::S32, ZERO), [18, 0]),
        ("cvt.rni.s32.f64", |m, x| sequence::integer_from_double(m, x, IntType::S32, NEAREST), [29, 0]),
        ("cvt.rzi.u32.f64", |m, x| sequence::integer_from_double(m, x, IntType::U32, ZERO), [17, 0]),
        ("cvt.rzi.s64.f64", |m, x| { sequence::integer_64_from_double(m, x, true, ZERO); }, [28, 0]),
        ("cvt.rni.s64.f64", |m, x| { sequence::integer_64_from_double(m, x, true, NEAREST); }, [39, 0]),
        ("cvt.rzi.u64.f64", |m, x| { sequence::integer_64_from_double(m, x, false, ZERO); }, [25, 0]),
        ("cvt.rni.f64.f64", |m, x| { sequence::double_integral(m, x, NEAREST); }, [32, 0]),
        ("cvt.rzi.f64.f64", |m, x| { sequence::double_integral(m, x, ZERO); }, [22, 0]),
        ("cvt.rmi.f64.f64", |m, x| { sequence::double_integral(m, x, Rounding::Down); }, [30, 0]),
        ("add.rn.f64", |m, x| { sequence::double_add(m, x, x, NEAREST); }, [92, 0]),
        ("add.rz.f64", |m, x| { sequence::double_add(m, x, x, ZERO); }, [86, 0]),
        ("add.rm.f64", |m, x| { sequence::double_add(m, x, x, Rounding::Down); }, [94, 0]),
        ("mul.rn.f64", |m, x| { sequence::double_multiply(m, x, x, NEAREST); }, [115, 0]),
        ("mul.rm.f64", |m, x| { sequence::double_multiply(m, x, x, Rounding::Down); }, [118, 0]),
        ("fma.rn.f64", |m, x| { sequence::double_fma(m, x, x, x, NEAREST); }, [229, 0]),
        ("fma.rm.f64", |m, x| { sequence::double_fma(m, x, x, x, Rounding::Down); }, [231, 0]),
        ("div.rn.f64", |m, x| { sequence::double_divide(m, x, x, NEAREST); }, [162, 0]),
        ("sqrt.rn.f64", |m, x| { sequence::double_square_root(m, x, NEAREST); }, [99, 0]),
        ("rcp.approx.ftz.f64", |m, x| { sequence::double_reciprocal_approximate(m, x); }, [20, 0]),
        ("rsqrt.approx.ftz.f64", |m, x| { sequence::double_reciprocal_root_approximate(m, x); }, [25, 0]),
        ("min.f64, max.f64", |m, x| { sequence::double_minimum(m, x, x); }, [23, 0]),
        ("setp.lt.f64", |m, x| sequence::double_compare(m, Relation::Less, x, x), [21, 0]),
        ("setp.eq.f64", |m, x| sequence::double_compare(m, Relation::Equal, x, x), [15, 0]),
        ("setp.nan.f64", |m, x| sequence::double_compare(m, Relation::Unordered, x, x), [7, 0]),
        ("cvt.f32.f16", |m, _| sequence::float_from_half(m, ()), [9, 0]),
        ("cvt.rn.f16.f32", |m, _| sequence::half_from_float(m, (), Rounding::NearestEven), [20, 0]),
        ("cvt.rz.f16.f32", |m, _| sequence::half_from_float(m, (), Rounding::TowardZero), [18, 0]),
        ("add.f16", |m, _| sequence::half_add(m, (), ()), [39, 0]),
        ("mul.f16", |m, _| sequence::half_multiply(m, (), ()), [39, 0]),
        ("fma.rn.f16", |m, _| sequence::half_fma(m, (), (), ()), [57, 0]),
    ];
    let counted = sequences.map(|(name, sequence, limit)| {
        let mut count = Count::default();
        sequence(&mut count, Pair { low: (), high: () });
        println!("{name}: {} usual, {} rare", count.usual, count.rare);
        (name, [count.usual, count.rare], limit)
    });
    for (name, counted, limit) in counted {
        assert_eq!(counted, limit, "{name}");
    }
}
