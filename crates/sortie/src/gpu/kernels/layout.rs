//! What Rust and the kernels share is declared on both sides. The declarations are compared when a kernel is compiled.
//!
//! `shared!` declares the Rust side. [`asserts`] turns its sizes and offsets into assertions; a kernel's file has them
//! at its end, as `SORTIE_LAYOUTS`. Fields have the same names on both sides.

/// A struct of a kernel, as Rust sees it.
#[derive(Debug)]
pub(super) struct Layout {
    /// Its name in the kernel's file.
    pub name: &'static str,
    pub size: usize,
    /// Each field and its offset.
    pub offsets: &'static [(&'static str, usize)],
}

/// Declares structs that kernels share: `"name in the kernel" struct`. Those marked `argument` are passed to kernels by
/// value; the others are in the device's memory.
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
        // SAFETY: a `repr(C)` struct of numbers; the kernel asserts that it has the same layout.
        unsafe impl sortie_device::Argument for $name {}
    };
    (@memory $name:ident) => {};
}
pub(super) use shared;

/// The assertions of a kernel's file about these structs.
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

/// Consecutive fields of a struct: their size, their alignment, and how many there are.
pub(crate) type Fields = (usize, usize, usize);

/// `count` numbers of this many bytes.
pub(crate) fn numbers(bytes: usize, count: usize) -> Fields {
    (bytes, bytes, count)
}

/// The bytes that an instance's struct with these fields takes in shared memory. The kernel asserts the same number.
pub(crate) fn struct_bytes(fields: &[Fields]) -> usize {
    let end =
        fields.iter().fold(0usize, |end, (size, align, count)| end.next_multiple_of(*align) + size * count);
    end.next_multiple_of(fields.iter().map(|(_, align, _)| *align).max().unwrap_or(1))
}
