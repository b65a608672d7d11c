//! Array elements: words of the same width while they are moved, numbers of a [`Dtype`] while they are sorted.

use bytemuck::Pod;
use half::f16;
use sortie::dynamic::Dtype;
use sortie_formats::Kind;

/// Calls a generic function with the word type that is as wide as the elements of a kind.
macro_rules! of_width {
    ($kind:expr, $($of:ident)::+) => {
        match $kind.width() {
            1 => $($of)::+::<u8>,
            2 => $($of)::+::<u16>,
            4 => $($of)::+::<u32>,
            8 => $($of)::+::<u64>,
            width => unreachable!("elements of {width} bytes"),
        }
    };
}
pub(crate) use of_width;

/// The library's type for a kind.
pub fn dtype(kind: Kind) -> Dtype {
    match kind {
        Kind::Bool => Dtype::Bool,
        Kind::U8 => Dtype::U8,
        Kind::U16 => Dtype::U16,
        Kind::U32 => Dtype::U32,
        Kind::U64 => Dtype::U64,
        Kind::I8 => Dtype::I8,
        Kind::I16 => Dtype::I16,
        Kind::I32 => Dtype::I32,
        Kind::I64 => Dtype::I64,
        Kind::F16 => Dtype::F16,
        Kind::F32 => Dtype::F32,
        Kind::F64 => Dtype::F64,
        Kind::DateTime | Kind::TimeDelta => Dtype::I64,
    }
}

/// Adds `by` to dates or times, and wraps around. Minus one turns NaT, the least integer, into the greatest, and keeps the order of
/// all others. So NaT comes last in ascending order, as NaNs do. One undoes that.
pub fn rotate<W: Pod>(times: &mut [W], by: i64) {
    bytemuck::cast_slice_mut::<W, i64>(times).iter_mut().for_each(|time| *time = time.wrapping_add(by));
}

/// Makes elements that NumPy treats as equal identical: -0.0 becomes 0.0, and all NaNs become the same one.
///
/// NumPy's stable argsort leaves such elements in their order, while sortie distinguishes them.
pub fn level<W: Pod>(dtype: Dtype, elements: &mut [W]) {
    macro_rules! floats {
        ($float:ty: $zero:expr) => {
            for float in bytemuck::cast_slice_mut::<W, $float>(elements) {
                if float.is_nan() {
                    *float = <$float>::NAN;
                } else if *float == $zero {
                    *float = $zero;
                }
            }
        };
    }
    match dtype {
        Dtype::F16 => floats!(f16: f16::ZERO),
        Dtype::F32 => floats!(f32: 0.0),
        Dtype::F64 => floats!(f64: 0.0),
        _ => {}
    }
}
