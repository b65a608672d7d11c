//! What Rust and kernels have in common is declared on both sides, and compared when a kernel is compiled.
//!
//! `shared!` declares the Rust side. [`asserts`] turns its sizes and offsets into assertions, which a kernel's file has at
//! its end as `SORTIE_LAYOUTS`. Fields have the same names on both sides.

/// A struct of a kernel, as Rust has it.
#[derive(Debug)]
pub(super) struct Layout {
    /// What the kernel's file calls it.
    pub name: &'static str,
    pub size: usize,
    /// Each field, and where it is.
    pub offsets: &'static [(&'static str, usize)],
}

/// Declares structs that kernels share: `"name in the kernel" struct`. Those with `argument` are passed to kernels by value,
/// the others lie in the device's memory.
macro_rules! shared {
    ($($(#[$about:meta])* $kind:ident $kernel:literal $name:ident {
        $($(#[$field_about:meta])* $field:ident: $type:ty,)*
    })*) => {$(
        $(#[$about])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name {
            $($(#[$field_about])* pub $field: $type,)*
        }

        impl $name {
            pub(in crate::gpu::kernels) const LAYOUT: $crate::gpu::kernels::layout::Layout = $crate::gpu::kernels::layout::Layout {
                name: $kernel,
                size: size_of::<$name>(),
                offsets: &[$((stringify!($field), std::mem::offset_of!($name, $field)),)*],
            };
        }

        shared!(@$kind $name);
    )*};
    (@argument $name:ident) => {
        // SAFETY: a `repr(C)` struct of numbers, whose layout the kernel asserts to be its own.
        unsafe impl sortie_device::Argument for $name {}
    };
    (@memory $name:ident) => {};
}
pub(super) use shared;

/// What a kernel's file asserts of these structs.
pub(super) fn asserts(layouts: &[Layout]) -> String {
    let of_one = |Layout { name, size, offsets }: &Layout| {
        let offsets = offsets.iter().map(move |(field, offset)| {
            format!("static_assert(SIMT_OFFSET_OF({name}, {field}) == {offset}, \"{field} of {name}\");")
        });
        std::iter::once(format!("static_assert(sizeof({name}) == {size}, \"size of {name}\");"))
            .chain(offsets)
            .collect::<String>()
    };
    layouts.iter().map(of_one).collect()
}

/// Fields of a struct: their size, their alignment, and how many there are one after the other.
pub(crate) type Fields = (usize, usize, usize);

/// Numbers of so many bytes.
pub(crate) fn numbers(bytes: usize, count: usize) -> Fields {
    (bytes, bytes, count)
}

/// Bytes of a struct in shared memory that an instance has, with these fields. The kernel asserts that they are as many.
pub(crate) fn struct_bytes(fields: &[Fields]) -> usize {
    let end =
        fields.iter().fold(0usize, |end, (size, align, count)| end.next_multiple_of(*align) + size * count);
    end.next_multiple_of(fields.iter().map(|(_, align, _)| *align).max().unwrap_or(1))
}
