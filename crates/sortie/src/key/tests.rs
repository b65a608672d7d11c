//! Codes are bijections that agree with a plain definition of the order; prefixes never contradict it.

use std::any::type_name;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use half::{bf16, f16};
use proptest::prelude::*;

use super::types::first_eight;
use super::*;

/// Every order there is.
fn all_orders() -> Vec<Order> {
    let mut orders = Vec::new();
    for descending in [false, true] {
        for nans in [Nans::Last, Nans::First, Nans::EqualLast, Nans::EqualFirst] {
            for nulls in [Nulls::Last, Nulls::First] {
                orders.push(Order { descending, nans, nulls });
            }
        }
    }
    orders
}

fn orders() -> impl Strategy<Value = Order> {
    proptest::sample::select(all_orders())
}

/// The order of keys, defined as plainly as possible.
pub(super) trait Plain: TotalOrder {
    fn plain(&self, other: &Self, order: Order) -> Ordering;
}

macro_rules! plain_ord {
    ($($t:ty),*) => {$(
        impl Plain for $t {
            fn plain(&self, other: &Self, order: Order) -> Ordering {
                if order.descending { other.cmp(self) } else { self.cmp(other) }
            }
        }
    )*};
}
plain_ord!(
    NonZero<u8>,
    NonZero<u16>,
    NonZero<u32>,
    NonZero<u64>,
    NonZero<u128>,
    NonZero<usize>,
    NonZero<i8>,
    NonZero<i16>,
    NonZero<i32>,
    NonZero<i64>,
    NonZero<i128>,
    NonZero<isize>,
    Box<str>,
    Arc<str>,
    Cow<'_, str>,
    Box<[u8]>,
    Arc<[u8]>,
    Cow<'_, [u8]>,
    OsString,
    &OsStr,
    &Path,
    PathBuf,
    Duration,
    SystemTime,
    Ipv4Addr,
    Ipv6Addr,
    IpAddr,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    bool,
    char,
    String,
    Vec<u8>,
    [u8; 3],
    [u8; 11]
);

macro_rules! plain_float {
    ($($t:ty),*) => {$(
        impl Plain for $t {
            fn plain(&self, other: &Self, order: Order) -> Ordering {
                let nan_last = matches!(order.nans, Nans::Last | Nans::EqualLast);
                match (self.is_nan(), other.is_nan()) {
                    (true, true) if matches!(order.nans, Nans::EqualLast | Nans::EqualFirst) => Ordering::Equal,
                    // Positive ones from the bits of infinity upwards, then negative ones from high bits down to those
                    // of minus infinity.
                    (true, true) => self.is_sign_negative().cmp(&other.is_sign_negative()).then_with(|| {
                        let ordering = self.to_bits().cmp(&other.to_bits());
                        if self.is_sign_negative() { ordering.reverse() } else { ordering }
                    }),
                    (true, false) => if nan_last { Ordering::Greater } else { Ordering::Less },
                    (false, true) => if nan_last { Ordering::Less } else { Ordering::Greater },
                    (false, false) => {
                        // Equal numbers of different sign are the zeros; -0.0 is the smaller one.
                        let signs = other.is_sign_negative().cmp(&self.is_sign_negative());
                        let ascending = self.partial_cmp(other).unwrap().then(signs);
                        if order.descending { ascending.reverse() } else { ascending }
                    }
                }
            }
        }
    )*};
}
plain_float!(f16, bf16, f32, f64);

impl<K: Plain> Plain for Reverse<K> {
    fn plain(&self, other: &Self, order: Order) -> Ordering {
        self.0.plain(&other.0, Order { descending: !order.descending, ..order })
    }
}

/// A type of a caller, whose key borrows from it.
#[derive(Debug, Clone)]
struct Named(String, u8);

impl KeyBy for Named {
    type Key<'a> = (&'a str, Reverse<u8>);
    fn key(&self) -> Self::Key<'_> {
        (&self.0, Reverse(self.1))
    }
}

impl Plain for Named {
    fn plain(&self, other: &Self, order: Order) -> Ordering {
        self.0.plain(&other.0, order).then(Reverse(self.1).plain(&Reverse(other.1), order))
    }
}

impl<K: Plain> Plain for Option<K> {
    fn plain(&self, other: &Self, order: Order) -> Ordering {
        let rank = |key: &Self| key.is_none() == (order.nulls == Nulls::Last);
        match (self, other) {
            (Some(a), Some(b)) => a.plain(b, order),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

impl<A: Plain, B: Plain> Plain for (A, B) {
    fn plain(&self, other: &Self, order: Order) -> Ordering {
        self.0.plain(&other.0, order).then(self.1.plain(&other.1, order))
    }
}

impl<A: Plain, B: Plain, C: Plain> Plain for (A, B, C) {
    fn plain(&self, other: &Self, order: Order) -> Ordering {
        self.0.plain(&other.0, order).then(self.1.plain(&other.1, order)).then(self.2.plain(&other.2, order))
    }
}

/// `compare` agrees with the plain order, and the prefix does not contradict it.
fn agrees<K: Plain + Debug>(a: &K, b: &K, order: Order) {
    let plain = a.plain(b, order);
    assert_eq!(a.compare(b, order), plain, "{a:?} with {b:?}, {order:?}");
    let prefixes = a.prefix(order).cmp(&b.prefix(order));
    assert!(prefixes == Ordering::Equal || prefixes == plain, "prefixes of {a:?} and {b:?}, {order:?}");
    if K::IS_PREFIX {
        assert_eq!(prefixes, plain, "the prefixes are whole: {a:?} and {b:?}, {order:?}");
    }
    if K::PREFIX_BITS < 64 {
        assert!(K::IS_PREFIX);
        assert_eq!(a.prefix(order) << K::PREFIX_BITS, 0, "{a:?} has more prefix than it says");
    }
}

/// Keys of random bits.
pub(super) fn is_a_fixed_key<K: Plain + Number + Debug>() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut draw = || loop {
        let high = K::Bits::from_low(random.u64(..)).shl(K::Bits::WIDTH - 8);
        if let Some(key) = K::from_bits(K::Bits::from_low(random.u64(..)).xor(high)) {
            return key;
        }
    };
    for _ in 0..100 {
        let (a, b) = (draw(), draw());
        assert_eq!(as_bits(&[a])[0], a.to_bits(), "the engines sort {a:?} by other bits than its own");
        for order in all_orders() {
            agrees(&a, &b, order);
            code_is_a_bijection(a, order);
        }
    }
}

/// A type that is new in the table of `key/types.rs` needs a [`Plain`] order above.
#[test]
fn every_fixed_key_is_tested() {
    types::FIXED_KEYS.iter().for_each(|test| test());
}

fn code_is_a_bijection<K: Number + Debug>(key: K, order: Order) {
    let transform = Transform::<K::Bits>::new(K::CODE, order);
    let (bits, code) = (key.to_bits(), transform.encode(key.to_bits()));
    assert_eq!(transform.decode(code), bits, "{key:?}, {order:?}");
    assert_eq!(transform.encode(transform.decode(bits)), bits, "code {bits:?}, {order:?}");
    assert_eq!(K::from_bits(bits).map(K::to_bits), Some(bits));
    let mut bytes = Vec::new();
    code.push_be(&mut bytes);
    assert_eq!(K::Bits::read_be(&bytes), Some(code));
}

/// Checks every pattern of 16 bits: sorted plainly, the codes are 0, 1, 2, ...
fn all_patterns<K: Number + Plain + Debug>(from_bits: impl Fn(u16) -> K) {
    for order in all_orders() {
        let nans = if order.nans.are_first() { Nans::First } else { Nans::Last };
        let mut keys: Vec<K> = (0..=u16::MAX).map(&from_bits).collect();
        keys.sort_by(|a, b| a.plain(b, Order { nans, ..order }));
        let transform = Transform::<K::Bits>::new(K::CODE, order);
        for (i, pair) in keys.windows(2).enumerate() {
            assert_eq!(transform.encode(pair[0].to_bits()).low(), i as u64, "{:?}, {order:?}", pair[0]);
            code_is_a_bijection(pair[0], order);
            agrees(&pair[0], &pair[1], order);
            agrees(&pair[1], &pair[0], order);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn every_f16() {
    all_patterns(f16::from_bits);
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn every_bf16() {
    all_patterns(bf16::from_bits);
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn every_i16() {
    all_patterns(|bits| bits as i16);
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn every_u16() {
    all_patterns(|bits| bits);
}

#[test]
fn slices_are_coded_in_rank() {
    for order in all_orders() {
        let transform = Transform::<u32>::new(f32::CODE, order);
        let keys = [f32::NAN, -0.0, 1.5, f32::NEG_INFINITY].map(f32::to_bits);
        let mut codes = keys;
        transform.encode_slice(&mut codes);
        assert_eq!(codes, keys.map(|bits| transform.encode(bits)));
        transform.decode_slice(&mut codes);
        assert_eq!(codes, keys);
    }
    assert!(Transform::<u64>::new(Code::Unsigned, Order::default()).is_identity());
    assert!(!Transform::<u64>::new(Code::Signed, Order::default()).is_identity());
}

#[test]
fn bits_that_are_no_bool_are_refused() {
    assert_eq!(bool::from_bits(2), None);
    assert_eq!(u16::read_be(&[1]), None);
}

/// A strategy for bits that often yields extreme numbers, zeros, infinities and NaNs of every width.
macro_rules! edgy {
    ($bits:ty) => {
        prop_oneof![
            any::<$bits>(),
            (any::<u16>(), 0..<$bits>::BITS).prop_map(|(x, by)| (x as $bits).rotate_right(by)),
            (any::<i8>(), 0u32..16).prop_map(|(x, by)| (x as $bits).rotate_right(by)),
        ]
    };
}

macro_rules! properties {
    ($($name:ident: $keys:expr;)*) => {
        proptest! {$(
            #[test]
            fn $name(a in $keys, b in $keys, order in orders()) {
                agrees(&a, &b, order);
                agrees(&a, &a, order);
            }
        )*}
    };
}

macro_rules! number_properties {
    ($($name:ident: $bits:ty, $make:expr;)*) => {
        proptest! {$(
            #[test]
            fn $name(a in edgy!($bits).prop_map($make), b in edgy!($bits).prop_map($make), order in orders()) {
                agrees(&a, &b, order);
                agrees(&Some(a), &None, order);
                agrees(&Some(a), &Some(b), order);
                agrees(&(a, b), &(a, a), order);
                agrees(&(Some(a), b, true), &(None, b, false), order);
                code_is_a_bijection(a, order);
            }
        )*}
    };
}
number_properties! {
    u8s: u8, |x| x;
    u32s: u32, |x| x;
    u64s: u64, |x| x;
    u128s: u128, |x| x;
    usizes: u64, |x| x as usize;
    i8s: u8, |x| x as i8;
    i32s: u32, |x| x as i32;
    i64s: u64, |x| x as i64;
    i128s: u128, |x| x as i128;
    isizes: u64, |x| x as isize;
    f32s: u32, f32::from_bits;
    f64s: u64, f64::from_bits;
    bools: u8, |x| x & 1 == 1;
    non_zeros: u32, |x| NonZero::new(x | 1).unwrap();
    signed_non_zeros: u64, |x| NonZero::new(x as i64 | 1).unwrap();
}

fn short_bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![Just(0u8), Just(0xff), any::<u8>()], 0..12)
}

fn short_string() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[\0ab]{0,10}").unwrap()
}

fn addresses() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        edgy!(u32).prop_map(|bits| IpAddr::V4(bits.into())),
        edgy!(u128).prop_map(|bits| IpAddr::V6(bits.into()))
    ]
}

/// Times before and after 1970, some with whole seconds.
fn times() -> impl Strategy<Value = SystemTime> {
    let nanos = prop_oneof![Just(0u32), Just(1), Just(999_999_999), 0u32..1_000_000_000];
    let since = (0u64..3, nanos).prop_map(|(secs, nanos)| Duration::new(secs, nanos));
    (any::<bool>(), since).prop_map(|(is_after, by)| {
        if is_after { SystemTime::UNIX_EPOCH + by } else { SystemTime::UNIX_EPOCH - by }
    })
}

fn paths() -> impl Strategy<Value = PathBuf> {
    proptest::string::string_regex("[./a!~\0]{0,9}").unwrap().prop_map(PathBuf::from)
}

properties! {
    boxed_strings: short_string().prop_map(Box::<str>::from);
    shared_strings: short_string().prop_map(Arc::<str>::from);
    owned_strings: short_string().prop_map(Cow::<str>::Owned);
    boxed_bytes: short_bytes().prop_map(Box::<[u8]>::from);
    shared_bytes: short_bytes().prop_map(Arc::<[u8]>::from);
    owned_bytes: short_bytes().prop_map(Cow::<[u8]>::Owned);
    strings_of_the_system: short_string().prop_map(OsString::from);
    paths_by_components: paths();
    durations: (edgy!(u64), 0u32..1_000_000_000).prop_map(|(secs, nanos)| Duration::new(secs, nanos));
    times_of_the_system: times();
    addresses_of_both_kinds: addresses();
    addresses_of_32_bits: edgy!(u32).prop_map(Ipv4Addr::from);
    addresses_of_128_bits: edgy!(u128).prop_map(Ipv6Addr::from);
    reversed_numbers: edgy!(u32).prop_map(|bits| Reverse(f32::from_bits(bits)));
    reversed_strings: short_string().prop_map(Reverse);
    mixed_directions: (0u8..2, (0u16..3).prop_map(Reverse), proptest::option::of(0i32..2).prop_map(Reverse));
    types_of_callers: (short_string(), 0u8..3).prop_map(|(name, number)| Named(name, number));
    vecs: short_bytes();
    strings: short_string();
    arrays_of_3: any::<[u8; 3]>();
    arrays_of_11: any::<[u8; 11]>();
    optional_strings: proptest::option::of(short_string());
    nested_options: proptest::option::of(proptest::option::of(any::<bool>()));
    string_then_number: (short_string(), any::<u8>());
    number_then_string: (0u8..2, short_string());
    optional_number_then_string: (proptest::option::of(0u8..2), short_string());
    floats_and_bytes: (0u16..4, proptest::sample::select(vec![f32::NAN, -f32::NAN, 0.0, -0.0]), any::<[u8; 3]>());
    wide_then_narrow: (proptest::sample::select(vec![0u128, 1, 1 << 64, u128::MAX]), 0u8..2);
    nested_tuples: ((0u16..2, 0i32..2), 0u64..2);
}

proptest! {
    /// If the first fields are equal, the others decide.
    #[test]
    fn six_fields(a in any::<[bool; 6]>(), b in any::<[bool; 6]>(), order in orders()) {
        let tuple = |x: [bool; 6]| (x[0], x[1], x[2], x[3], x[4], x[5]);
        let expected = if order.descending { b.cmp(&a) } else { a.cmp(&b) };
        prop_assert_eq!(tuple(a).compare(&tuple(b), order), expected);
        prop_assert_eq!(tuple(a).prefix(order).cmp(&tuple(b).prefix(order)), expected);
    }
}

/// References, which no strategy makes.
#[test]
fn borrowed_paths_and_strings_of_the_system() {
    let texts = ["", "/", "a", "/a", "a/b", "a.b", "a/", "../a", "./a", "a//b", "b"];
    for (a, b) in texts.iter().flat_map(|a| texts.map(|b| (*a, b))) {
        for order in all_orders() {
            agrees(&Path::new(a), &Path::new(b), order);
            agrees(&OsStr::new(a), &OsStr::new(b), order);
        }
    }
}

#[test]
fn narrow_prefixes_of_strings_are_filled_with_zeros() {
    assert_eq!(first_eight(b"\x01\x02"), 0x0102_0000_0000_0000);
    assert_eq!(first_eight(b""), 0);
    assert_eq!(first_eight(b"\x01\x02\x03\x04\x05\x06\x07\x08\x09"), 0x0102_0304_0506_0708);
}

/// For every key of 16 bits and the codes around every point where the order of some key type breaks.
#[test]
fn a_filter_of_bits_finds_the_keys_up_to_a_code() {
    fn check<K: TotalOrder<Bits = u16>>(order: Order) {
        let transform = Transform::<u16>::comparing(K::FORM.code(), order);
        let breaks = [0, transform.top, transform.rotate, transform.nans, u16::SIGN, u16::MAX];
        let near =
            breaks.into_iter().flat_map(|code| (0..5).map(move |i| code.wrapping_add(i).wrapping_sub(2)));
        let codes: HashSet<u16> = (0..=u16::MAX).map(|bits| transform.encode(bits)).collect();
        for code in near.chain((0..u16::MAX).step_by(1021)).filter(|code| codes.contains(code)) {
            let up_to = transform.up_to(code);
            for bits in 0..=u16::MAX {
                let (found, expected) = (up_to.contains(bits), transform.encode(bits) <= code);
                assert_eq!(found, expected, "{bits:#x} up to {code:#x}, {order:?}, {}", type_name::<K>());
            }
        }
    }
    for order in all_orders() {
        check::<u16>(order);
        check::<i16>(order);
        check::<f16>(order);
        check::<bf16>(order);
    }
}
