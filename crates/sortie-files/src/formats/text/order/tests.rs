//! Tests the order against the `sort` of this machine in the C locale, and the encoding against the comparison.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::string::bytes_regex;
use proptest::test_runner::TestRunner;

use super::{LineOrder, TextOrder};
use crate::Error;
use crate::gnu_sort::gnu_sort;

/// The order that `options`, separated by spaces, define.
fn try_order(options: &str) -> Result<LineOrder, Error> {
    let mut order = TextOrder::default();
    for word in options.split_whitespace() {
        if let Some(key) = word.strip_prefix("-k") {
            order.keys.push(key.parse().expect(word));
        } else if let Some(separator) = word.strip_prefix("-t") {
            order.separator = Some(if separator == "\\0" { 0 } else { separator.as_bytes()[0] });
        } else if let Some(path) = word.strip_prefix("--random-source=") {
            order.random_source = Some(path.into());
        } else {
            for letter in word[1..].chars() {
                match letter {
                    's' => order.stable = true,
                    'u' => order.unique = true,
                    // It says how lines end, not how they compare.
                    'z' => {}
                    letter => assert!(order.options.set(letter), "{word}"),
                }
            }
        }
    }
    LineOrder::new(&order)
}

fn order(options: &str) -> LineOrder {
    try_order(options).expect(options)
}

/// Sorts by the comparison as GNU sort would: stably, and keeping the first of equal lines under `-u`.
fn sorted(order: &LineOrder, lines: &[Vec<u8>], end: u8) -> Vec<u8> {
    let mut lines: Vec<&Vec<u8>> = lines.iter().collect();
    lines.sort_by(|a, b| order.compare(a, b));
    if order.unique() {
        lines.dedup_by(|b, a| order.compare_keys(a, b).is_eq());
    }
    lines.iter().flat_map(|line| line.iter().copied().chain([end])).collect()
}

/// Asserts that both sort `lines` the same way, and that the encoding agrees.
fn check(options: &str, lines: &[Vec<u8>]) {
    let order = order(options);
    let zero = options.split_whitespace().any(|option| option == "-z");
    let end = if zero { 0 } else { b'\n' };
    // A line may contain the byte that ends lines under the other setting of `-z`.
    let instead = |byte| if byte == 0 && zero { b'\n' } else { byte };
    let lines: Vec<Vec<u8>> = lines.iter().map(|line| line.iter().copied().map(instead).collect()).collect();
    let input: Vec<u8> = lines.iter().flat_map(|line| line.iter().copied().chain([end])).collect();
    let theirs = gnu_sort(options, &input);
    let ours = sorted(&order, &lines, end);
    if ours != theirs {
        let (ours, theirs) = (ours.split(|&b| b == end), theirs.split(|&b| b == end));
        let (place, (a, b)) = ours.zip(theirs).enumerate().find(|(_, (a, b))| a != b).expect("they differ");
        panic!("sort {options}: line {place}: ours {}, GNU's {}", a.escape_ascii(), b.escape_ascii());
    }
    for pair in lines.windows(2) {
        agree(&order, options, &pair[0], &pair[1]);
    }
}

/// Asserts that two lines compare as their encodings do.
fn agree(order: &LineOrder, options: &str, a: &[u8], b: &[u8]) {
    let [code_a, code_b] = [a, b].map(|line| {
        let mut code = Vec::new();
        order.encode(line, 0, &mut code);
        code
    });
    let shown = (a.escape_ascii().to_string(), b.escape_ascii().to_string());
    assert_eq!(order.compare_keys(a, b), code_a.cmp(&code_b), "sort {options}: {shown:?}");
}

/// A field that some option treats specially.
fn field() -> impl Strategy<Value = Vec<u8>> {
    let regex = |pattern| bytes_regex(pattern).expect("the pattern is right");
    prop_oneof![
        4 => regex(r"[ \t]{0,2}-?[0-9]{0,4}(\.[0-9]{0,3})?[KMGTPEZYRQkmg]?"),
        1 => regex(r"-?0{0,3}[0-9]{18,40}(\.[0-9]{1,20})?"),
        3 => regex(r"[ \x0b]?[+-]?(0x)?[0-9a]{0,3}(\.[0-9a]{0,3})?([ep][+-]?[0-9]{1,2})?"),
        1 => regex(r"[+-]?[0-9]{1,25}(\.[0-9]{1,25})?e[+-]?[0-4]?[0-9]{1,3}"),
        // No NaN: GNU sort orders equal NaNs arbitrarily.
        1 => select(&["inf", "-Infinity", "+inf", "infinite", "0x", ".", "e5"][..]).prop_map(Vec::from),
        2 => regex(r" ?(jan|FEB|Mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,2}"),
        4 => regex(r"\.{0,2}[ab~-]{0,2}0{0,2}[0-9]{0,2}([._~-][a-b0~]{0,2}){0,2}(\.[tz~]?[ar0~]{0,2}){0,2}"),
        2 => regex(r"[abAB_ ,\x00-\x08\x7f-\x81\xff]{0,5}"),
        1 => regex(r"(?-u)[\x00-\x09\x0b-\xff]{0,4}"),
    ]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let between = select(&[" ", "  ", "\t", ",", ",,", ":", " ,", ""][..]);
    let fields = prop::collection::vec((field(), between), 0..5);
    (fields, prop::option::of(field())).prop_map(|(fields, last)| {
        let parts = fields.into_iter().flat_map(|(field, between)| [field, between.into()]);
        parts.chain(last).flatten().filter(|&byte| byte != b'\n').collect()
    })
}

/// Letters that may be combined after a key.
fn letters() -> impl Strategy<Value = String> {
    let kind = select(&["", "", "n", "g", "h", "M", "V", "V", "R", "d", "i", "di", "Vd"][..]);
    (kind, subsequence(vec!["b", "f", "r"], 0..=3)).prop_map(|(kind, more)| kind.to_owned() + &more.concat())
}

fn key() -> impl Strategy<Value = String> {
    let start = (1..5usize, prop::option::weighted(0.3, 1..6usize), letters());
    let end = (1..6usize, prop::option::weighted(0.4, 0..6usize), any::<bool>());
    (start, prop::option::weighted(0.7, end)).prop_map(|((field, char, letters), end)| {
        let char = char.map_or(String::new(), |char| format!(".{char}"));
        let end = end.map_or(String::new(), |(field, char, blanks)| {
            let char = char.map_or(String::new(), |char| format!(".{char}"));
            format!(",{field}{char}{}", if blanks { "b" } else { "" })
        });
        format!("-k{field}{char}{letters}{end}")
    })
}

fn options() -> impl Strategy<Value = String> {
    let global =
        letters().prop_map(|letters| if letters.is_empty() { letters } else { format!("-{letters}") });
    let separator = prop::option::of(select(&["-t,", "-t:", "-t\\0", "-ta"][..]));
    let more = subsequence(vec!["-s", "-u", "-z"], 0..=2);
    (global, prop::collection::vec(key(), 0..3), separator, more).prop_map(
        |(global, keys, separator, more)| {
            let words = [global].into_iter().chain(keys);
            let words = words.chain(separator.into_iter().chain(more).map(String::from));
            // Any file of at least 16 bytes works.
            let words = words.chain(["--random-source=Cargo.toml".into()]);
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        },
    )
}

fn sample<T>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    let mut draw = || strategy.new_tree(&mut runner).expect("nothing is filtered").current();
    (0..count).map(|_| draw()).collect()
}

#[test]
fn each_option_orders_whole_lines_as_gnu_sort_does() {
    let lines = sample(line(), 400);
    let fields = sample(field(), 1000);
    for options in
        ["", "-r", "-b", "-d", "-f", "-g", "-h", "-i", "-M", "-n", "-V", "-df", "-Vf", "-hf", "-gr", "-nr"]
    {
        for more in ["", " -s", " -u", " -z"] {
            check(&format!("{options}{more}"), &fields);
            check(&format!("{options}{more}"), &lines);
        }
    }
}

#[test]
fn combined_options_order_as_gnu_sort_does() {
    for (options, lines) in sample((options(), prop::collection::vec(line(), 0..200)), 200) {
        check(&options, &lines);
    }
}

#[test]
fn debug_marks_what_gnu_sort_marks() {
    for (options, lines) in sample((options(), prop::collection::vec(line(), 0..40)), 100) {
        let options = options.replace("-z", "");
        let order = order(&options);
        let input = sorted(&order, &lines, b'\n');
        let mut marked = Vec::new();
        for line in input.split_inclusive(|&byte| byte == b'\n') {
            marked.extend(line.iter().map(|&byte| if byte == b'\t' { b'>' } else { byte }));
            order.annotate(&line[..line.len() - 1], &mut marked);
        }
        let theirs = gnu_sort(&format!("--debug {options}"), &input);
        let [ours, theirs] =
            [marked, theirs].map(|text| text.escape_ascii().to_string().replace("\\n", "\n"));
        assert!(ours == theirs, "sort --debug {options}\n{ours}\nGNU's:\n{theirs}");
    }
}

#[test]
fn nans_are_ordered_by_their_payloads() {
    let nans =
        ["nan", "-nan", "nan(2)", "-nan(1)", "nan(0x100)", "NAN(1)", "nan(077)", "nan(99999999999999999999)"];
    check("-gs", &nans.map(Vec::from));
    // If the text in the parentheses is not a number, the payload is 0.
    check("-gs", &["1", "nan(08)", "nan(1)", "-inf", "x", "-inf", "nan(12345678901)"].map(Vec::from));
}

#[test]
fn nan_is_between_what_is_no_number_and_negative_infinity() {
    check("-g", &["-inf", "x", "-nan(7)", "", "nan", "-1e5000"].map(Vec::from));
}

#[test]
fn options_that_exclude_each_other_are_refused_with_gnu_sorts_words() {
    for (options, letters) in
        [("-nd", "dn"), ("-M -i", "iM"), ("-gn", "gn"), ("-k1nV", "nV"), ("-d -k2h -k1", "d")]
    {
        let refused = try_order(options).map(|_| ());
        match letters {
            "d" => assert!(refused.is_ok(), "a key with options of its own has no others"),
            _ => assert_eq!(
                refused.expect_err(options).to_string(),
                format!("options '-{letters}' are incompatible")
            ),
        }
    }
}

/// Numbers close to the midpoint of two adjacent long doubles, and at both ends of their range.
#[test]
fn long_doubles_are_rounded_as_strtold_rounds() {
    let halves = |mantissa: u128, tail: &str| {
        ["9", "0", "49999999999999999999", "5", "50000000000000000001", tail]
            .map(|fraction| format!("{mantissa}.{fraction}").into_bytes())
    };
    let mut lines: Vec<Vec<u8>> = (0..4u128).flat_map(|n| halves((1 << 64) + n, "5000")).collect();
    lines.extend((0..4u128).flat_map(|n| halves((1 << 63) - 2 + n, "25")));
    let ends = [
        "1.18973149535723176502e4932",
        "1.18973149535723176508e4932",
        "1.18973149535723176506e+4932",
        "1e4933",
        "3.3621031431120935063e-4932",
        "3.3621031431120935062e-4932",
        "3.6e-4951",
        "1.8e-4951",
        "1.9e-4951",
        "1.82e-4951",
        "1.83e-4951",
        "5.5e-4951",
        "1e-4952",
        "0e99999999999999999999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0x1p-16445",
        "0x1p-16446",
        "0x1.8p-16446",
        "0x1.00000000000000001p-16446",
        "0x1p16383",
        "0x1p16384",
        "0x1.fffffffffffffffep16383",
        "0x1.ffffffffffffffffp16383",
        "0x1.fffffffffffffffeffffffffffffffffffffffffp16383",
        "0x.00000000000000000000000000000000000001p8",
        "0x8000000000000000.8",
        "0x8000000000000000.80000000000000000000000000000000000001",
        "0x8000000000000001",
        "0x1.fffffffffffffffp-16383",
        "0x1.ffffffffffffffffp-16383",
        "0x1p-16382",
        "0x0.8p-16382",
    ];
    lines.extend(ends.map(Vec::from));
    lines.push([b"1." as &[u8], &[b'0'; 13_000], b"1"].concat());
    lines.push([b"18446744073709551617." as &[u8], &[b'0'; 13_000], b"1"].concat());
    lines.push([&[b'1'; 5_000] as &[u8], b"e-4990"].concat());
    lines.push([b"0." as &[u8], &[b'0'; 6_000], b"7e6001"].concat());
    lines.push(b"1".to_vec());
    check("-g", &lines);
    check("-gs", &lines);
    check("-gu", &lines);
}
