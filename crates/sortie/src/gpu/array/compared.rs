//! Keys that a GPU can sort by comparison alone.

use bytemuck::Pod;

use crate::gpu::kernels::kind;
use crate::key::{Bits, Code, Number, Transform};
use crate::{Order, TotalOrder};

/// A key that a GPU can sort by comparison alone. It has 4 to 64 bytes, in a multiple of 4. Numbers of 32 to 128 bits
/// and arrays of bytes are such keys; other types supply the comparison themselves.
///
/// ```
/// use sortie::{Order, gpu};
///
/// /// Sorted by its mass, then by its number.
/// #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Peak {
///     number: u32,
///     mass: u32,
/// }
///
/// // SAFETY: a strict weak order of the words of a `Peak`; peaks that compare as equal have the same bits.
/// unsafe impl gpu::Compared for Peak {
///     fn key_compare(order: Order) -> String {
///         let less = if order.descending { ">" } else { "<" };
///         format!(
///             "if (a.words[1] != b.words[1]) return a.words[1] {less} b.words[1];
///              return a.words[0] {less} b.words[0];"
///         )
///     }
/// }
/// ```
///
/// # Safety
///
/// What [`key_compare`](Compared::key_compare) returns becomes part of kernels, and the device runs it as it is. So:
///
/// - It is the body of that one function and does not end or leave it: its braces match.
/// - It reads only the words that both keys have, writes only to its own variables, and calls only functions that do
///   the same. It does not wait for other threads.
/// - It terminates and returns a value, whatever bits the keys have.
/// - It is a strict weak order of all keys, and the same one each time. Kernels use it to find the ends of runs, and
///   with any other relation they could access memory that is not theirs.
/// - [`TOTAL`](Compared::TOTAL) is `true` only if it holds.
pub unsafe trait Compared: Pod {
    /// The body of a function in CUDA C++, `bool key_compare(const Key& a, const Key& b)`, which says whether `a` comes
    /// before `b`.
    ///
    /// A `Key` is an array `words` of 32 bits each. `number<u64>(a, i)` is its i-th number of 64 bits, and
    /// `big_endian(a, i)` its i-th word read with the first byte as the highest. The body is put on one line, so it
    /// must not have `//` comments or preprocessor lines.
    fn key_compare(order: Order) -> String;

    /// Whether keys that compare as equal always have the same bits. If not, they are ordered by their bits, which
    /// takes a second comparison.
    const TOTAL: bool = false;
}

/// The comparison of keys by their codes.
pub(super) fn by_codes<B: Bits>(code: Code, order: Order) -> String {
    if B::WIDTH > 64 {
        // Integers, see `Key::FORM`.
        let sign = if code == Code::Signed { 1u64 << 63 } else { 0 };
        let less = if order.descending { ">" } else { "<" };
        return format!(
            "const u64 above = number<u64>(a, 1) ^ {sign}ull, other_above = number<u64>(b, 1) ^ {sign}ull; \
             if (above != other_above) return above {less} other_above; \
             return number<u64>(a, 0) {less} number<u64>(b, 0);"
        );
    }
    let [flip, nans, top, rotate] = Transform::<B>::new(code, order).numbers();
    let (kind, bits) = (kind(code, order), B::WIDTH);
    format!(
        "constexpr code::Transform transform{{{flip}ull, {nans}ull, {top}ull, {rotate}ull}}; \
         return code::encode<code::{kind}>(number<u{bits}>(a, 0), transform) < \
         code::encode<code::{kind}>(number<u{bits}>(b, 0), transform);"
    )
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        // SAFETY: codes are compared as integers; keys with the same code have the same bits.
        unsafe impl Compared for $t {
            fn key_compare(order: Order) -> String {
                by_codes::<<$t as TotalOrder>::Bits>(<$t as Number>::CODE, order)
            }
            const TOTAL: bool = true;
        }
    )*};
}
// Types narrower than 32 bits are refused when they are to be sorted.
numbers! { u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 }

/// Compared byte by byte, from the first on.
// SAFETY: all words are compared in turn as integers; arrays that compare as equal have the same bits.
unsafe impl<const N: usize> Compared for [u8; N]
where
    [u8; N]: Pod,
{
    fn key_compare(order: Order) -> String {
        let less = if order.descending { ">" } else { "<" };
        format!(
            "SIMT_UNROLL for (u32 i = 0; i < {}; ++i) \
             if (a.words[i] != b.words[i]) return big_endian(a, i) {less} big_endian(b, i); \
             return false;",
            N / 4
        )
    }

    const TOTAL: bool = true;
}
