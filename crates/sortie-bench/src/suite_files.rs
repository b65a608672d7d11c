//! Suite `files`.
pub fn cases(_: &crate::args::Args) -> crate::Result<Vec<Box<dyn crate::measure::Measurable>>> {
    Ok(vec![])
}
