//! Keys whose order is that of another key: reversed ones, those of the standard library, and the types of callers.

use std::cmp::{Ordering, Reverse};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::types::first_eight;
use super::{Form, Order, TotalOrder, sealed};

/// Makes a type a key, which is in the order of the key that it returns.
///
/// All functions then take items of the type: sorts, selections, searches, merges, and tuples and options of it. Items with equal
/// keys are equal. A sort of items alone may change their order; [`sort_by_key`](crate::sort_by_key), argsorts and sorts of
/// pairs keep it.
///
/// The key is computed for each comparison of items whose first bits are equal, so it should cost little: a field, or a tuple of
/// fields, borrowed if they are strings. [`sort_by_cached_key`](crate::sort_by_cached_key) computes each key once.
///
/// ```
/// use std::cmp::Reverse;
///
/// use sortie::KeyBy;
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct City {
///     country: String,
///     people: u64,
/// }
///
/// impl KeyBy for City {
///     type Key<'a> = (&'a str, Reverse<u64>);
///
///     fn key(&self) -> Self::Key<'_> {
///         (&self.country, Reverse(self.people))
///     }
/// }
///
/// let city = |country: &str, people| City { country: country.into(), people };
/// let mut cities = [city("Peru", 3), city("Chad", 1), city("Peru", 9)];
/// sortie::sort(&mut cities);
/// assert_eq!(cities, [city("Chad", 1), city("Peru", 9), city("Peru", 3)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "Sortie does not define an order for `{Self}`",
    note = "`KeyBy` makes a type of yours a key; `sort_by_key` sorts by a key computed from items, and `sort_by` by a comparison"
)]
pub trait KeyBy: Send + Sync {
    /// The key, which may borrow from the item.
    type Key<'a>: TotalOrder
    where
        Self: 'a;

    /// The key of this item: always the same.
    fn key(&self) -> Self::Key<'_>;
}

impl<T: KeyBy> sealed::Sealed for T {}
impl<T: KeyBy> TotalOrder for T {
    type Bits = u8;
    const FORM: Form = Form::Wide;
    // The constants of a key that may borrow cannot be asked for.
    const PREFIX_BITS: u32 = 64;
    const IS_PREFIX: bool = false;
    #[inline]
    fn compare(&self, other: &Self, order: Order) -> Ordering {
        self.key().compare(&other.key(), order)
    }
    #[inline]
    fn prefix(&self, order: Order) -> u64 {
        self.key().prefix(order)
    }
}

/// In the other direction. NaNs and `None` go where the order says, as in both directions.
impl<K: TotalOrder> sealed::Sealed for Reverse<K> {}
impl<K: TotalOrder> TotalOrder for Reverse<K> {
    type Bits = u8;
    const FORM: Form = Form::Wide;
    const PREFIX_BITS: u32 = K::PREFIX_BITS;
    const IS_PREFIX: bool = K::IS_PREFIX;
    #[inline]
    fn compare(&self, other: &Self, order: Order) -> Ordering {
        self.0.compare(&other.0, reversed(order))
    }
    #[inline]
    fn prefix(&self, order: Order) -> u64 {
        self.0.prefix(reversed(order))
    }
    #[inline]
    fn is_recovered(order: Order) -> bool {
        K::is_recovered(reversed(order))
    }
    #[inline]
    fn of_prefix(prefix: u64, order: Order) -> Option<Self> {
        K::of_prefix(prefix, reversed(order)).map(Reverse)
    }
}

#[inline]
fn reversed(order: Order) -> Order {
    Order { descending: !order.descending, ..order }
}

/// Types in the order of a key that has all of their value.
macro_rules! in_order_of {
    ($($t:ty as $key:ty: $to:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl TotalOrder for $t {
            type Bits = u8;
            const FORM: Form = Form::Wide;
            const PREFIX_BITS: u32 = <$key>::PREFIX_BITS;
            const IS_PREFIX: bool = <$key>::IS_PREFIX;
            #[inline]
            fn compare(&self, other: &Self, order: Order) -> Ordering {
                order.direct(self.cmp(other))
            }
            #[inline]
            fn prefix(&self, order: Order) -> u64 {
                let key: $key = $to(*self);
                key.prefix(order)
            }
        }
    )*};
}
in_order_of! {
    Duration as (u64, u32): |x: Duration| (x.as_secs(), x.subsec_nanos());
    SystemTime as (i64, u32): since_epoch;
    Ipv4Addr as u32: u32::from;
    Ipv6Addr as u128: u128::from;
    IpAddr as (bool, u128): |x: IpAddr| match x {
        // All of one kind before all of the other.
        IpAddr::V4(address) => (false, u128::from(u32::from(address)) << 96),
        IpAddr::V6(address) => (true, u128::from(address)),
    };
}

/// The whole seconds since 1970, and the nanoseconds after them.
fn since_epoch(time: SystemTime) -> (i64, u32) {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (after.as_secs() as i64, after.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            match before.subsec_nanos() {
                0 => (-(before.as_secs() as i64), 0),
                nanos => (-(before.as_secs() as i64) - 1, 1_000_000_000 - nanos),
            }
        }
    }
}

/// Paths by their components, as in the standard library.
macro_rules! paths {
    ($($t:ty),*) => {$(
        impl sealed::Sealed for $t {}
        impl TotalOrder for $t {
            type Bits = u8;
            const FORM: Form = Form::Wide;
            const PREFIX_BITS: u32 = 64;
            const IS_PREFIX: bool = false;
            fn compare(&self, other: &Self, order: Order) -> Ordering {
                order.direct(self.cmp(other))
            }
            fn prefix(&self, order: Order) -> u64 {
                first_of_path(self) ^ if order.descending { u64::MAX } else { 0 }
            }
        }
    )*};
}
paths!(&Path, PathBuf);

/// The first bytes of a path: whether it is absolute, the kind of the first component after that, and six bytes of it. A path that
/// ends before has zeros.
fn first_of_path(path: &Path) -> u64 {
    let mut components = path.components();
    let first = components.next();
    let (kind, component) = match first {
        None => return 0,
        Some(Component::Prefix(_)) => return 1 << 56,
        Some(Component::RootDir) => (2, components.next()),
        relative => (3, relative),
    };
    let (next, name) = match component {
        Some(Component::CurDir) => (1, &b""[..]),
        Some(Component::ParentDir) => (2, &b""[..]),
        Some(Component::Normal(name)) => (3, name.as_encoded_bytes()),
        None | Some(Component::Prefix(_) | Component::RootDir) => (0, &b""[..]),
    };
    kind << 56 | next << 48 | first_eight(name) >> 16
}
