//! The shapes of arrays: the values and the order of the keys. `kernels/grid.cu` draws them on a device, `draw.rs` on
//! the host.
//!
//! A shape consists of unsigned numbers as wide as the key. Signed integers and floats are assigned to them by rank, so
//! every shape keeps its order and its equal keys. Only log-normal floats include NaNs.

macro_rules! shapes {
    ($($(#[doc = $doc:literal])+ $shape:ident: $name:literal;)*) => {
        /// The shapes that devices draw come first, in the order of `kernels/grid.cu`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Shape {
            $($(#[doc = $doc])+ $shape,)*
        }

        impl Shape {
            pub const ALL: &[Shape] = &[$(Shape::$shape),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Shape::$shape => $name,)*
                }
            }
        }
    };
}

shapes! {
    /// Random words.
    Uniform: "uniform";
    /// The bitwise AND of two random words, the axis of CUB's own benchmarks.
    And1: "AND-1";
    /// The bitwise AND of three random words.
    And2: "AND-2";
    /// The bitwise AND of four random words.
    And3: "AND-3";
    /// The bitwise AND of five random words.
    And4: "AND-4";
    /// The bitwise AND of six random words.
    And5: "AND-5";
    /// All keys are 0.
    Zero: "zero";
    /// Two random values.
    TwoValues: "two values";
    /// 16 random values.
    SixteenValues: "16 values";
    /// Only the low quarter of the bits is random, the others are 0.
    LowBits: "low bits";
    /// Only the top quarter of the bits is random, the others are 0.
    TopBits: "top bits";
    /// The first half ascends, the second descends.
    OrganPipe: "organ pipe";
    /// The position modulo 1000.
    SawTooth: "saw-tooth";
    /// 1024 sorted runs, each over the whole range.
    SortedRuns: "1024 sorted runs";
    /// Sorted, then rotated by a third.
    Rotated: "rotated sorted";
    /// Numbers below 1000, and the greatest one once.
    Outlier: "one outlier";
    /// A random word reduced to its lowest `i % bits` bits, where `i` is the position.
    Expo: "expo";
    /// 64 clusters at random positions, each covering half as many bits as a key has.
    Clusters: "clusters";
    /// Ascending.
    Sorted: "sorted";
    /// Descending.
    Reversed: "reversed";
    /// Ascending, except for n / 1000 random swaps.
    NearlySorted: "nearly sorted";
    /// Floats of the standard normal distribution. Integers centred in the range, with a standard deviation of an eighth
    /// of it.
    Normal: "normal";
    /// Exponentials of normal floats with a standard deviation of 2. Of 64 keys, one is a NaN, one is 0.0, and one is
    /// -0.0.
    LogNormal: "log-normal, NaNs";
    /// Floats in [0, 1), evenly spaced.
    Fractions: "fractions";
    /// Numbers up to 2^20, each with a probability proportional to its inverse.
    Zipf: "zipf";
    /// Numbers of a Poisson distribution with mean 1000.
    Poisson: "poisson";
    /// The first of four shapes of Helman, Bader and JaJa, "A randomized parallel sorting algorithm with an experimental
    /// study" (1998). They divide the positions into 128 blocks, and the range into 128 slots. Here, each block has the
    /// keys of one slot: block i of slot 2i + 1; in the second half, of slot 2i - 128.
    Staggered: "staggered";
    /// Each block contains keys of all slots, in order.
    BucketSorted: "bucket sorted";
    /// 8 ascending runs, each over the whole range.
    EightRuns: "8 runs";
    /// Ascending runs of 64 keys.
    ShortRuns: "runs of 64";
    /// Ascending, with one random key at the end.
    OneAppended: "one appended";
    /// Ascending, with 1% random keys at the end.
    RandomTail: "random tail";
    /// Ascending, with another 10% of ascending keys at the end.
    SortedTail: "sorted tail";
    /// The first, middle and last key are bad pivots at every level.
    MedianKiller: "median-of-3 killer";
    /// Random, but the keys at 1024 evenly spaced positions are low.
    StridedKiller: "strided sample killer";
    /// Random, but the keys at positions that depend only on the length are low.
    SampledKiller: "seeded sample killer";
    /// The first half is the number log2 n, the next quarter log2 n - 1, and so on.
    Duplicates: "deterministic duplicates";
    /// Blocks are in groups of two. Each contains keys of the slots of another group, which is half the input away.
    GGroup: "g-group";
}

impl Shape {
    /// The shapes that devices draw.
    pub const ON_DEVICES: &[Shape] = Shape::ALL.split_at(28).0;

    /// Whether keys can have this shape.
    pub fn takes(self, floats: bool) -> bool {
        floats || !matches!(self, Shape::LogNormal | Shape::Fractions)
    }

    /// Whether the means of the summary exclude it, because it is so easy that the ratio says little.
    pub fn is_easy(self) -> bool {
        matches!(self, Shape::Zero | Shape::Sorted | Shape::Reversed | Shape::LowBits | Shape::SawTooth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels' enum must list the shapes in the same order.
    #[test]
    fn the_kernels_have_the_same_order() {
        let source = include_str!("../../kernels/grid.cu");
        let list = source.split_once("enum Shape {").unwrap().1.split_once('}').unwrap().0;
        let theirs: Vec<_> = list.split(',').map(str::trim).collect();
        let ours: Vec<_> = Shape::ON_DEVICES.iter().map(|shape| format!("{shape:?}")).collect();
        assert_eq!(theirs, ours);
    }

    #[test]
    fn names_are_unique() {
        for (at, shape) in Shape::ALL.iter().enumerate() {
            assert!(Shape::ALL[..at].iter().all(|other| other.name() != shape.name()), "{}", shape.name());
        }
    }
}
