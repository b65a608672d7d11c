//! The calls that are measured, and the types of their keys.

use rand::SeedableRng;

use super::key::GridKey;
use crate::distributions::{Rng, power_law};
use crate::measured::Facts;

macro_rules! key_types {
    ($($key:ident: $t:ty;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum KeyType {
            $($key,)*
        }

        impl KeyType {
            pub const ALL: &[KeyType] = &[$(KeyType::$key),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(KeyType::$key => <$t as GridKey>::NAME,)*
                }
            }

            pub fn bytes(self) -> usize {
                match self {
                    $(KeyType::$key => size_of::<$t>(),)*
                }
            }
        }
    };
}

key_types! {
    U8: u8;
    U16: u16;
    U32: u32;
    U64: u64;
    U128: u128;
    I8: i8;
    I16: i16;
    I32: i32;
    I64: i64;
    I128: i128;
    F16: half::f16;
    F32: f32;
    F64: f64;
    Pair32: (u32, u32);
    Pair64: (u64, u64);
    Bytes16: [u8; 16];
}

/// Calls a function that is generic over the key with the type of a key.
macro_rules! typed {
    ($key:expr, $function:ident($($argument:expr),*)) => {
        match $key {
            KeyType::U8 => $function::<u8>($($argument),*),
            KeyType::U16 => $function::<u16>($($argument),*),
            KeyType::U32 => $function::<u32>($($argument),*),
            KeyType::U64 => $function::<u64>($($argument),*),
            KeyType::U128 => $function::<u128>($($argument),*),
            KeyType::I8 => $function::<i8>($($argument),*),
            KeyType::I16 => $function::<i16>($($argument),*),
            KeyType::I32 => $function::<i32>($($argument),*),
            KeyType::I64 => $function::<i64>($($argument),*),
            KeyType::I128 => $function::<i128>($($argument),*),
            KeyType::F16 => $function::<half::f16>($($argument),*),
            KeyType::F32 => $function::<f32>($($argument),*),
            KeyType::F64 => $function::<f64>($($argument),*),
            KeyType::Pair32 => $function::<(u32, u32)>($($argument),*),
            KeyType::Pair64 => $function::<(u64, u64)>($($argument),*),
            KeyType::Bytes16 => $function::<[u8; 16]>($($argument),*),
        }
    };
}
pub(super) use typed;

impl KeyType {
    pub fn is_float(self) -> bool {
        matches!(self, KeyType::F16 | KeyType::F32 | KeyType::F64)
    }
}

/// The lengths of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lengths {
    /// [`Lengths::EVEN`] keys in each, or all if there are fewer.
    Even,
    PowerLaw,
}

impl Lengths {
    const EVEN: usize = 1000;

    /// The length, if all have the same.
    pub fn even(self, n: usize) -> Option<usize> {
        let length = Lengths::EVEN.min(n);
        (self == Lengths::Even && n.is_multiple_of(length)).then_some(length)
    }

    /// The start of each segment followed by the end of the last one.
    pub fn offsets(self, n: usize, seed: u64) -> Vec<usize> {
        match self {
            Lengths::Even => (0..n).step_by(Lengths::EVEN).chain([n]).collect(),
            Lengths::PowerLaw => power_law(n, &mut Rng::seed_from_u64(seed)),
        }
    }
}

/// The call. Sorts of keys alone and of segments are unstable, all others stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    Keys(KeyType),
    /// With payloads of this many bytes in another slice.
    Pairs(KeyType, usize),
    Argsort(KeyType),
    /// Elements of this many bytes, by the key in them.
    ByKey(KeyType, usize),
    /// f32 in segments.
    Segments(Lengths),
    Strings,
    ArgsortStrings,
}

impl Call {
    pub fn work(self) -> &'static str {
        match self {
            Call::Keys(_) => "keys",
            Call::Pairs(..) => "pairs",
            Call::Argsort(_) => "argsort",
            Call::ByKey(..) => "by key",
            Call::Segments(_) => "segments",
            Call::Strings => "strings",
            Call::ArgsortStrings => "argsort strings",
        }
    }

    pub fn key(self) -> Option<KeyType> {
        match self {
            Call::Keys(key) | Call::Pairs(key, _) | Call::Argsort(key) | Call::ByKey(key, _) => Some(key),
            Call::Segments(_) => Some(KeyType::F32),
            Call::Strings | Call::ArgsortStrings => None,
        }
    }

    /// The data next to the key, or the whole element.
    pub fn payload(self) -> &'static str {
        match self {
            Call::Pairs(_, bytes) | Call::ByKey(_, bytes) => match bytes {
                4 => "4 bytes",
                8 => "8 bytes",
                16 => "16 bytes",
                32 => "32 bytes",
                64 => "64 bytes",
                _ => unreachable!("no other size is in the lists"),
            },
            _ => "",
        }
    }

    /// The facts without the input.
    pub fn facts(self, n: usize) -> Facts {
        let length = if let Call::Segments(lengths) = self { lengths.even(n) } else { None };
        Facts {
            suite: super::SUITE,
            work: self.work(),
            key: self.key().map_or("bytes", KeyType::name),
            payload: self.payload(),
            n,
            segments: length.map(|length| n / length),
            length,
            distribution: "",
            includes: "",
        }
    }

    /// The name, such as `pairs u32 + 8 bytes`.
    pub fn title(self) -> String {
        let key = self.key().map_or(String::new(), |key| format!(" {}", key.name()));
        match self {
            Call::Pairs(..) => format!("pairs{key} + {}", self.payload()),
            Call::ByKey(..) => format!("by key{key} in {}", self.payload()),
            Call::Segments(Lengths::Even) => format!("segments{key}, {} each", Lengths::EVEN),
            Call::Segments(Lengths::PowerLaw) => format!("segments{key}, power-law lengths"),
            _ => format!("{}{key}", self.work()),
        }
    }
}
