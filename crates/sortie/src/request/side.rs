//! [`Side`]: where queries belong among equal keys.

/// On which side of equal keys a query belongs, with the names of NumPy's `searchsorted`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Side {
    /// Before them.
    #[default]
    Left,
    /// After them.
    Right,
}
