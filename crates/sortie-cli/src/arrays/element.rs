//! The types of elements.

use bytemuck::Pod;
use half::f16;
use rayon::prelude::*;
use sortie::Key;

/// A type that arrays hold.
pub trait Element: Key + Pod {
    /// The one element that stands for all that NumPy takes as equal to this.
    fn level(self) -> Self;
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Element for $t {
            fn level(self) -> Self { self }
        }
    )*};
}
integers!(u8, u16, u32, u64, i8, i16, i32, i64);

macro_rules! floats {
    ($($t:ty: $zero:expr),*) => {$(
        impl Element for $t {
            fn level(self) -> Self {
                if self.is_nan() { <$t>::NAN } else if self == $zero { $zero } else { self }
            }
        }
    )*};
}
floats!(f16: f16::ZERO, f32: 0.0, f64: 0.0);

/// A generic function for the elements of a kind.
macro_rules! of_kind {
    ($kind:expr, $($of:ident)::+) => {
        match $kind {
            Kind::Bool | Kind::U8 => $($of)::+::<u8>,
            Kind::U16 => $($of)::+::<u16>,
            Kind::U32 => $($of)::+::<u32>,
            Kind::U64 => $($of)::+::<u64>,
            Kind::I8 => $($of)::+::<i8>,
            Kind::I16 => $($of)::+::<i16>,
            Kind::I32 => $($of)::+::<i32>,
            Kind::I64 => $($of)::+::<i64>,
            Kind::F16 => $($of)::+::<half::f16>,
            Kind::F32 => $($of)::+::<f32>,
            Kind::F64 => $($of)::+::<f64>,
        }
    };
}
pub(super) use of_kind;

/// Makes elements that NumPy takes as equal the same: -0.0 becomes 0.0, and there is one NaN.
///
/// NumPy's stable argsort leaves them in their order, where sortie tells them apart.
pub fn level<T: Element>(elements: &mut [T]) {
    elements.par_iter_mut().with_min_len(1 << 16).for_each(|element| *element = element.level());
}
