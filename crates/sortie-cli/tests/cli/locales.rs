//! `sortie sort` prints the same bytes as GNU sort in every locale. The locales are made from the sources of glibc's package `locales`.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use fastrand::Rng;
use tempfile::TempDir;

use crate::support::{complaint, gnu, run, same_in, sortie, text};

/// Names of locales: their source, and their encoding.
const LOCALES: [(&str, &str); 11] = [
    ("cs_CZ", "UTF-8"),
    ("cs_CZ", "ISO-8859-2"),
    ("da_DK", "UTF-8"),
    ("de_DE", "UTF-8"),
    ("en_US", "UTF-8"),
    ("es_ES", "UTF-8"),
    ("fr_FR", "UTF-8"),
    ("ja_JP", "UTF-8"),
    ("sv_SE", "UTF-8"),
    ("th_TH", "UTF-8"),
    ("tr_TR", "UTF-8"),
];

/// Options, one of which is chosen from each row.
const OPTIONS: [&[&str]; 7] = [
    &["", "", "", "-r"],
    &["", "", "-f", "-d", "-i", "-b", "-fd"],
    &["", "", "-s", "-u"],
    &["", "", "-t:", "-z"],
    &["", "", "-n", "-g", "-h", "-M", "-V"],
    &["", "", "-k1,1", "-k2,2", "-k1f,1 -k2n", "-k2.2b,3.1r", "-k1,1dfi", "-k2h -k1M"],
    &["", "", "-c", "-C", "-m"],
];

/// What words are made of: letters of several scripts, contractions, what some passes ignore, and numbers.
const WORDS: [&str; 22] = [
    "a", "A", "ab", "Ab", "ch", "CH", "ll", "aa", "é", "É", "ö", "ß", "ж", "あ", "亜", "เก", "e\u{301}", "-",
    "'", "\u{1}", "1.234,5K", "12",
];
const BETWEEN: [&str; 5] = [" ", "\t", ":", "", ", "];
const MONTHS: [&str; 6] = ["Jan", "led", "12月", "mars", "ม.ค.", "DEC"];

/// A folder with all locales.
///
/// # Panics
///
/// If a locale cannot be made: these tests need `localedef` and its sources.
pub fn locales() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        for (source, encoding) in LOCALES {
            let to = folder.path().join(format!("{source}.{encoding}"));
            let made = Command::new("localedef").args(["-c", "-i", source, "-f", encoding]).arg(&to).output();
            let is_made = made.is_ok() && to.join("LC_COLLATE").exists();
            assert!(is_made, "cannot make the locale {source}.{encoding}; install the package locales");
        }
        folder
    });
    made.path()
}

fn in_locale(command: &mut Command, name: &str) {
    command.env("LOCPATH", locales()).env("LC_ALL", name);
}

fn line(random: &mut Rng) -> Vec<u8> {
    let mut line = Vec::new();
    for _ in 0..random.usize(0..6) {
        let word = if random.u8(..) < 20 { random.choice(MONTHS) } else { random.choice(WORDS) };
        line.extend_from_slice(word.unwrap().as_bytes());
        line.extend_from_slice(random.choice(BETWEEN).unwrap().as_bytes());
        if random.u8(..) < 10 {
            // Invalid UTF-8, which ends before the line.
            line.extend([random.u8(0x80..), b'x', b'x', b'x']);
        }
    }
    line
}

/// A sample of what `locales_at_length` does.
#[test]
fn options_in_all_locales() {
    compare(LOCALES.len() * 30);
}

/// Many more combinations: `cargo test --release -p sortie-cli --test cli -- --ignored locales_at_length`.
#[test]
#[ignore = "takes many minutes"]
fn locales_at_length() {
    compare(20_000);
}

fn compare(count: usize) {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..count {
        let random = &mut Rng::with_seed(seed as u64);
        let (source, encoding) = LOCALES[seed % LOCALES.len()];
        let chosen = OPTIONS.map(|row| random.choice(row).copied().unwrap());
        let mut options: Vec<&str> = chosen.iter().flat_map(|option| option.split(' ')).collect();
        options.retain(|option| !option.is_empty());
        let end = if options.contains(&"-z") { b'\0' } else { b'\n' };
        let mut input = Vec::new();
        for _ in 0..random.usize(0..100) {
            input.extend(line(random));
            input.push(end);
        }
        same_in(folder.path(), &options, &input, |command| {
            in_locale(command, &format!("{source}.{encoding}"));
        });
    }
}

/// Lines of which many have the same letters, or the same keys: in groups of a few, of hundreds and of many thousands, most alike or all
/// different.
#[test]
fn many_lines_that_tie_are_ordered_as_by_gnu_sort() {
    let random = &mut Rng::with_seed(7);
    let mut input = Vec::new();
    for number in 0..50_000 {
        let word = ["", "", "a", "A-", "b1", "1.50", "(1)", "é"][random.usize(..8)];
        let dots = [" ", "-", ", "][random.usize(..3)].repeat(random.usize(..9));
        let name = ["Name 10.", "name 1.0", "o'name"][random.usize(..3)];
        let rest = if random.bool() { String::new() } else { format!("{dots}{}", number % 20_000) };
        input.extend(format!("{dots}{word} {name}{rest}\n").into_bytes());
    }
    let folder = tempfile::tempdir().unwrap();
    for locale in ["en_US.UTF-8", "fr_FR.UTF-8", "ja_JP.UTF-8", "cs_CZ.ISO-8859-2"] {
        for options in ["", "-u", "-k2,2", "-u -k2,2", "-s -f -k1,1", "-r -k2,2 -k1d,1", "--parallel=1 -d"] {
            let options: Vec<&str> = options.split_whitespace().collect();
            same_in(folder.path(), &options, &input, |command| in_locale(command, locale));
        }
    }
}

/// Lines that a locale does not order, in a locale and through runs on the disk. GNU uniq compares bytes.
#[test]
fn uniq_keeps_lines_that_only_a_locale_takes_for_equal() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["가", "각", "\u{378}", "a", "A", "a-b", "ab"];
    for seed in 0..LOCALES.len() as u64 {
        let random = &mut Rng::with_seed(seed);
        let (source, encoding) = LOCALES[seed as usize];
        let count = if seed == 4 { 60_000 } else { 40 };
        let mut input: Vec<u8> =
            (0..count).flat_map(|_| [random.choice(words).unwrap().as_bytes(), b"\n"].concat()).collect();
        input.extend(b"\xff\n\xfe\n\xff\n");
        std::fs::write(folder.path().join("in"), &input).unwrap();
        let locale = format!("{source}.{encoding}");
        for options in [&[][..], &["-c"], &["-d"], &["-u"], &["-c", "-S", "64K"]] {
            let of_gnu: Vec<&str> = options.iter().copied().take(1).collect();
            let pipe = format!("sort in | uniq {}", of_gnu.join(" "));
            let [mut uniq, mut gnu] = [env!("CARGO_BIN_EXE_sortie"), "sh"].map(Command::new);
            uniq.current_dir(folder.path()).args(["uniq", "in"]).args(options);
            gnu.current_dir(folder.path()).args(["-c", &pipe]);
            in_locale(&mut uniq, &locale);
            in_locale(&mut gnu, &locale);
            let (found, expected) = (run(&mut uniq, b"").stdout, run(&mut gnu, b"").stdout);
            assert!(found == expected, "{locale} {options:?}");
        }
    }
}

/// The separator of cs_CZ.ISO-8859-2 is not ASCII, and GNU sort does not skip it.
#[test]
fn a_separator_that_is_not_ascii_ends_a_number() {
    let folder = tempfile::tempdir().unwrap();
    for option in ["-n", "-h"] {
        same_in(folder.path(), &[option], b"1\xa0000\n2\n1,5\n", |command| {
            in_locale(command, "cs_CZ.ISO-8859-2");
        });
    }
}

#[test]
fn the_environment_names_the_locale() {
    let folder = tempfile::tempdir().unwrap();
    let input = "B\na\nA\nb\n";
    let sorted = |variables: &[(&str, &str)], options: &[&str]| {
        let mut command = sortie(folder.path());
        command.env("LOCPATH", locales()).env_remove("LC_ALL").env_remove("LANG").args(options);
        text(&run(command.envs(variables.iter().copied()), input.as_bytes()).stdout)
    };
    let (bytes, letters) = ("A\nB\na\nb\n", "a\nA\nb\nB\n");
    assert_eq!(sorted(&[], &[]), bytes);
    assert_eq!(sorted(&[("LANG", "en_US.UTF-8")], &[]), letters);
    assert_eq!(sorted(&[("LANG", "en_US.UTF-8"), ("LC_COLLATE", "C")], &[]), bytes);
    assert_eq!(sorted(&[("LC_ALL", "en_US.UTF-8"), ("LC_COLLATE", "C")], &[]), letters);
    assert_eq!(sorted(&[("LC_COLLATE", "en_US.UTF-8"), ("LC_PAPER", "C")], &[]), letters);
    // GNU sort takes no locale at all if a part of it is not installed.
    assert_eq!(sorted(&[("LANG", "en_US.UTF-8"), ("LC_PAPER", "xx_XX.UTF-8")], &[]), bytes);
    assert_eq!(sorted(&[("LC_ALL", "en_US.UTF-8"), ("LC_PAPER", "xx_XX.UTF-8")], &[]), letters);
    assert_eq!(sorted(&[("LC_ALL", "en_US.UTF-8")], &["--locale=C"]), bytes);
    assert_eq!(sorted(&[("LC_ALL", "C")], &["--locale=en_US.UTF-8"]), letters);
}

#[test]
fn a_locale_that_is_not_installed_means_bytes_unless_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = sortie(folder.path());
    in_locale(&mut command, "xx_XX.UTF-8");
    let output = run(command.arg("--debug"), b"b\nB\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("'xx_XX.UTF-8' is not installed"), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "B\n_\nb\n_\n");
    let output = run(sortie(folder.path()).args(["--locale", "xx_XX.UTF-8"]), b"");
    assert!(complaint(&output, 2).contains("is not installed"));
}

/// The keys of tables have all passes of a locale, where those of lines have only the first.
#[test]
fn columns_compare_as_lines_do_in_all_locales() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, (source, encoding)) in LOCALES.into_iter().enumerate() {
        let random = &mut Rng::with_seed(seed as u64);
        let mut lines = Vec::new();
        for _ in 0..600 {
            let words = (0..random.usize(1..5)).map(|_| *random.choice(&WORDS[..20]).unwrap());
            lines.extend([words.collect::<String>().as_bytes(), b"\n"].concat());
        }
        for (options, of_gnu) in
            [("--by 1:locale", "-s"), ("--by 1:locale:desc", "-sr"), ("--by 1:natural", "-s")]
        {
            let [mut ours, mut theirs] = [sortie(folder.path()), gnu(folder.path())];
            for command in [&mut ours, &mut theirs] {
                in_locale(command, &format!("{source}.{encoding}"));
            }
            ours.args(["--csv", "--no-header"]).args(options.split(' '));
            let (found, expected) = (run(&mut ours, &lines), run(theirs.arg(of_gnu), &lines));
            assert!(found.stdout == expected.stdout, "{source}.{encoding} {options}");
        }
    }
}

#[test]
fn numbers_in_a_column_count_in_natural_order() {
    let folder = tempfile::tempdir().unwrap();
    let input = "file\nb10\nB9\nb9\na1.5\na1.10\n\u{e9}1\nf\n";
    let sorted = |locale: &str| {
        let mut command = sortie(folder.path());
        in_locale(&mut command, locale);
        text(&run(command.args(["--csv", "--by", "file:natural"]), input.as_bytes()).stdout)
    };
    assert_eq!(sorted("C"), "file\nB9\na1.5\na1.10\nb9\nb10\nf\n\u{e9}1\n");
    assert_eq!(sorted("de_DE.UTF-8"), "file\na1.5\na1.10\nb9\nB9\nb10\n\u{e9}1\nf\n");
}

#[cfg(not(feature = "unicode"))]
#[test]
fn a_build_without_unicode_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for options in [&["--collate=unicode"][..], &["--csv", "--by", "1:unicode"]] {
        let output = run(sortie(folder.path()).args(options), b"b\na\n");
        assert!(complaint(&output, 2).contains("build it with the feature unicode"));
    }
    let output = run(sortie(folder.path()).arg("--collate=latin"), b"");
    assert!(complaint(&output, 2).contains("use unicode or unicode:LANGUAGE"));
}

/// The order of CLDR: punctuation counts, and a language has its own alphabet.
#[cfg(feature = "unicode")]
#[test]
fn unicode_has_the_order_of_cldr() {
    let folder = tempfile::tempdir().unwrap();
    let sorted = |options: &str, input: &[u8]| {
        let output = run(sortie(folder.path()).args(options.split(' ')), input);
        assert!(output.status.success(), "{options}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let words = "zebra\n\u{e4}rm\nab\na-c\nArm\narm\n\u{c4}rm\na c\n";
    let of_root = "a c\na-c\nab\narm\nArm\n\u{e4}rm\n\u{c4}rm\nzebra\n";
    assert_eq!(sorted("--collate=unicode", words.as_bytes()), of_root);
    assert_eq!(sorted("--collate=unicode -r", words.as_bytes()).lines().last(), Some("a c"));
    let of_swedish = "a c\na-c\nab\narm\nArm\nzebra\n\u{e4}rm\n\u{c4}rm\n";
    assert_eq!(sorted("--collate=unicode:sv", words.as_bytes()), of_swedish);
    assert_eq!(sorted("--csv --no-header --by 1:unicode", words.as_bytes()), of_root);
    assert_eq!(sorted("--csv --no-header --by 1:locale --collate=unicode:sv", words.as_bytes()), of_swedish);
    // Through runs on the disk, and as their merge and check see it.
    let random = &mut Rng::with_seed(1);
    let many: Vec<u8> = (0..30_000).flat_map(|_| [line(random), b"\n".to_vec()].concat()).collect();
    let in_memory = sorted("--collate=unicode", &many);
    assert!(sorted("--collate=unicode -S 64K", &many) == in_memory);
    assert_eq!(sorted("--collate=unicode -c", in_memory.as_bytes()), "");
    let output = run(sortie(folder.path()).arg("--collate=unicode:1"), b"");
    assert!(complaint(&output, 2).contains("'1' is no language"));
}

/// No abbreviation that GNU sort takes has another meaning.
#[test]
fn abbreviations_are_those_of_gnu_sort() {
    let folder = tempfile::tempdir().unwrap();
    for letter in 'a'..='z' {
        let option = format!("--{letter}");
        let theirs = run(gnu(folder.path()).args([&option, "/dev/null"]), b"");
        let ours = run(sortie(folder.path()).args([&option, "/dev/null"]), b"");
        assert!(!theirs.status.success() || ours.status.success(), "{option}: {}", text(&ours.stderr));
    }
}
