//! Makes the help, the man page and the completions of a command whose options are in a table, with clap.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, ValueRange};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command, ValueHint};

use super::flag::{Arguments, Domain, Effect, Flag};

/// The version of the program, and whether it lacks GPUs. One that is linked statically cannot load the libraries of CUDA.
pub const VERSION: &str = if cfg!(not(feature = "gpu")) {
    concat!(env!("CARGO_PKG_VERSION"), " (built without GPUs)")
} else if cfg!(target_feature = "crt-static") {
    concat!(env!("CARGO_PKG_VERSION"), " (linked statically: without GPUs)")
} else {
    env!("CARGO_PKG_VERSION")
};

/// The command, for clap.
pub fn command<A: Arguments>() -> Command {
    let operand = Arg::new(A::OPERAND.name)
        .help(A::OPERAND.help)
        .value_hint(ValueHint::FilePath)
        .required(!A::OPERAND.any_number)
        .num_args(if A::OPERAND.any_number { ValueRange::from(0..) } else { 1.into() });
    let options = A::SECTIONS.iter().flat_map(|section| {
        let arg = |flag| Some(option(flag)?.help_heading(section.heading));
        section.flags.iter().filter_map(arg)
    });
    Command::new(A::NAME)
        .about(A::ABOUT)
        .override_usage(A::USAGE)
        .after_help(A::AFTER_HELP)
        .version(VERSION)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(operand)
        .args(options)
}

/// The option that clap takes an unknown one for, as a part of a message.
pub fn tip_for<A: Arguments>(option: OsString) -> Option<String> {
    let error = command::<A>().try_get_matches_from([A::NAME.into(), option]).err()?;
    tip(&error)
}

/// What clap suggests instead of a wrong word, as a part of a message.
pub fn tip(error: &clap::Error) -> Option<String> {
    let suggested = |kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        // The last one is the most similar.
        ContextValue::Strings(words) => words.last().cloned(),
        _ => None,
    };
    // An option of another command is suggested with that command.
    let of_command = [suggested(ContextKind::SuggestedSubcommand), suggested(ContextKind::SuggestedArg)];
    let words: Vec<_> = of_command.into_iter().flatten().collect();
    let words = if words.is_empty() { suggested(ContextKind::SuggestedValue)? } else { words.join(" ") };
    Some(format!(" (did you mean '{words}'?)"))
}

/// The option for clap, or `None` if the help does not show it.
fn option<A>(flag: &Flag<A>) -> Option<Arg> {
    let arg = Arg::new(flag.name.to_string()).long(flag.name.long()).short(flag.name.short()).help(flag.help);
    Some(match flag.effect {
        Effect::Switch(_) => arg.action(ArgAction::SetTrue),
        Effect::Value(name, domain, _) => value(arg, name, domain),
        Effect::Optional(name, domain, _) => value(arg, name, domain).num_args(0..=1).require_equals(true),
        Effect::Help => arg.action(ArgAction::Help),
        Effect::Version => arg.action(ArgAction::Version),
        Effect::Ignored(_) => return None,
    })
}

fn value(arg: Arg, name: &'static str, domain: Domain) -> Arg {
    let arg = arg.value_name(name).action(ArgAction::Append);
    match domain {
        Domain::Text => arg,
        Domain::File => arg.value_hint(ValueHint::FilePath),
        Domain::Folder => arg.value_hint(ValueHint::DirPath),
        Domain::Program => arg.value_hint(ValueHint::CommandName),
        Domain::Words(words) => arg.value_parser(PossibleValuesParser::new(words())),
        Domain::NamedWords(words) => {
            arg.value_parser(PossibleValuesParser::new(words())).hide_possible_values(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use clap_complete::Shell;

    use super::super::flag::{Arguments, Effect};
    use super::super::{
        QuantilesOptions, SegmentsOptions, SortOptions, SpectraOptions, TopOptions, UniqOptions, program,
    };
    use crate::man;

    #[test]
    fn every_option_of_the_tables_is_in_the_help_the_man_page_and_the_completions() {
        holds::<SortOptions>();
        holds::<TopOptions>();
        holds::<UniqOptions>();
        holds::<QuantilesOptions>();
        holds::<SegmentsOptions>();
        holds::<SpectraOptions>();
    }

    fn holds<A: Arguments>() {
        let mut program = program();
        program.build();
        let command = program.find_subcommand(A::NAME).unwrap();
        let help = command.clone().render_long_help().to_string();
        let page = String::from_utf8(man::render(command)).unwrap();
        let mut script = Vec::new();
        clap_complete::generate(Shell::Bash, &mut program.clone(), "sortie", &mut script);
        let script = String::from_utf8(script).unwrap();
        // Takes the first line that lists the options of the command.
        let case = script.split(&format!("sortie__subcmd__{})", A::NAME)).nth(1).unwrap();
        let completions: HashSet<_> =
            case.lines().find(|line| line.contains("opts=")).unwrap().split([' ', '"']).collect();
        let mut names = HashSet::new();
        for flag in A::SECTIONS.iter().flat_map(|section| section.flags) {
            let long = flag.name.long().map(|long| format!("--{long}"));
            let short = flag.name.short().map(|letter| format!("-{letter}"));
            assert!(!flag.help.is_empty() && !flag.help.ends_with('.'), "{flag}: {}", flag.help);
            for name in long.into_iter().chain(short) {
                assert!(names.insert(name.clone()), "two options are {name}");
                if matches!(flag.effect, Effect::Ignored(_)) {
                    continue;
                }
                assert!(help.contains(&format!(" {name}")), "{name} is not in the help");
                assert!(page.contains(&name.replace('-', "\\-")), "{name} is not in the man page");
                assert!(completions.contains(&*name), "{name} is not in the completions: {completions:?}");
            }
        }
    }
}
