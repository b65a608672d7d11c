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

/// Makes elements that NumPy takes as equal the same: -0.0 becomes 0.0, and there is one NaN.
///
/// NumPy's stable argsort leaves them in their order, where sortie tells them apart.
pub fn level<T: Element>(elements: &mut [T]) {
    elements.par_iter_mut().with_min_len(1 << 16).for_each(|element| *element = element.level());
}
