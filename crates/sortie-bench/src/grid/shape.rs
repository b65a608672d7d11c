//! The shapes of arrays: what the keys are, and in what order they come. `kernels/grid.cu` draws them.
//!
//! A shape is made of unsigned numbers as wide as the key. Signed integers and floats take them by rank, so every shape keeps
//! its order and its equal keys. Only log-normal floats have NaNs.

macro_rules! shapes {
    ($($(#[doc = $doc:literal])+ $shape:ident: $name:literal;)*) => {
        /// In the order of `kernels/grid.cu`.
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
    /// Of three.
    And2: "AND-2";
    /// Of four.
    And3: "AND-3";
    /// Of five.
    And4: "AND-4";
    /// Of six.
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
    /// A random word of which the lowest `i % bits` bits are kept, where `i` is the position.
    Expo: "expo";
    /// 64 clusters at random places, each of half as many bits as a key has.
    Clusters: "clusters";
    /// Ascending.
    Sorted: "sorted";
    /// Descending.
    Reversed: "reversed";
    /// Ascending, but for n / 1000 random swaps.
    NearlySorted: "nearly sorted";
    /// Floats of the standard normal distribution.
    Normal: "normal";
    /// Exponentials of normal floats with a deviation of 2; one in 64 each is a NaN, 0.0 and -0.0.
    LogNormal: "log-normal, NaNs";
}

impl Shape {
    /// Whether keys can be of this shape.
    pub fn takes(self, floats: bool) -> bool {
        floats || !matches!(self, Shape::Normal | Shape::LogNormal)
    }

    /// Whether the means of the summary leave it out: it is so easy that the ratio says little.
    pub fn is_easy(self) -> bool {
        matches!(self, Shape::Zero | Shape::Sorted | Shape::Reversed | Shape::LowBits | Shape::SawTooth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The enum of the kernels, as they have it.
    #[test]
    fn the_kernels_have_the_same_order() {
        let source = include_str!("../../kernels/grid.cu");
        let list = source.split_once("enum Shape {").unwrap().1.split_once('}').unwrap().0;
        let theirs: Vec<_> = list.split(',').map(str::trim).collect();
        let ours: Vec<_> = Shape::ALL.iter().map(|shape| format!("{shape:?}")).collect();
        assert_eq!(theirs, ours);
    }

    #[test]
    fn names_are_unique() {
        for (at, shape) in Shape::ALL.iter().enumerate() {
            assert!(Shape::ALL[..at].iter().all(|other| other.name() != shape.name()), "{}", shape.name());
        }
    }
}
