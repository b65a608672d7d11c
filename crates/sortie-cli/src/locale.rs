//! The locale that options or the environment name.

use sortie_files::Error;
use sortie_files::formats::text::Locale;

use crate::cli::Rules;

/// The locale of a sort. For an order by bytes, nothing is read, unless `shuffles` says that lines are hashed.
pub fn of(rules: &Rules, shuffles: bool) -> Result<Locale, Error> {
    let locale = match &rules.locale {
        Some(name) => Locale::named(name)?,
        None if Locale::environment_is_plain() && !shuffles => Locale::default(),
        None => Locale::of_environment(),
    };
    match &rules.unicode {
        Some(language) => locale.collated_by_unicode(language),
        None => Ok(locale),
    }
}
