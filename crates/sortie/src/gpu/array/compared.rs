//! Keys that a GPU sorts by comparison alone.

use bytemuck::Pod;

use crate::gpu::kernels::kind;
use crate::key::{Bits, Code, Number, Transform};
use crate::{Order, TotalOrder};

/// A key that a GPU sorts by comparison alone, of 4 to 64 bytes and a multiple of 4: numbers of 32 to 128 bits, arrays of
/// bytes, and any type that supplies the comparison itself.
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
/// // SAFETY: a strict weak order, by words that a `Peak` has; peaks of which neither goes before the other are the same bits.
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
/// What [`key_compare`](Compared::key_compare) returns becomes part of kernels, and the device runs it as it stands:
///
/// - It is the body of that function alone, which nothing in it ends or leaves: each brace in it is closed, and none more.
/// - It reads the words that both keys have and nothing else, writes to nothing but its own variables, and calls nothing
///   that does. It waits for no other thread.
/// - It ends, and returns a value, whatever bits the keys have.
/// - It is a strict weak order of all keys, and the same one each time. Kernels find the ends of runs by it, so that with
///   any other they may leave their memory.
/// - [`TOTAL`](Compared::TOTAL) is `true` only where it holds.
pub unsafe trait Compared: Pod {
    /// The body of a function in CUDA C++, `bool key_compare(const Key& a, const Key& b)`: whether `a` goes before `b`.
    ///
    /// A `Key` is an array `words` of 32 bits each; `number<u64>(a, i)` is its i-th number of 64 bits, `big_endian(a, i)`
    /// its i-th word whose first byte is the highest. It becomes one line: it has no `//` comment and no line of the
    /// preprocessor.
    fn key_compare(order: Order) -> String;

    /// Whether keys of which neither goes before the other have the same bits. If not, they come out in an order of their
    /// bits, which takes a second comparison.
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
// What is narrower than 32 bits is refused when it is to be sorted.
numbers! { u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 }

/// By their bytes, from the first on.
// SAFETY: all words are compared in turn as integers; what differs nowhere has the same bits.
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
