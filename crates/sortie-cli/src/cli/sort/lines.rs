//! The options of the commands beside `sort` that take its options for lines.

use sortie_files::compression::Asked;

use super::SortOptions;
use crate::cli::resources::Resources;

/// The options of `sort`, and a command's own.
#[derive(Debug, Default)]
pub struct LinesOptions<O> {
    pub sort: SortOptions,
    pub own: O,
}

impl<O> AsMut<SortOptions> for LinesOptions<O> {
    fn as_mut(&mut self) -> &mut SortOptions {
        &mut self.sort
    }
}

impl<O> AsMut<Option<Asked>> for LinesOptions<O> {
    fn as_mut(&mut self) -> &mut Option<Asked> {
        &mut self.sort.compress
    }
}

impl<O> AsMut<Resources> for LinesOptions<O> {
    fn as_mut(&mut self) -> &mut Resources {
        &mut self.sort.resources
    }
}
