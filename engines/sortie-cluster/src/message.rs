//! [`one_line`]: errors as users read them.
//!
//! Ballista passes the error of a task on as Rust's debug text, nested as deep as the error came through layers.

use datafusion::error::DataFusionError;

/// The text of an error in one line, without the names of the layers that it came through.
pub fn one_line(error: &DataFusionError) -> String {
    sentence(&error.to_string())
}

/// What a job's error begins with, before the debug text of the error of a task.
const TASK_ERRORS: [&str; 2] =
    ["Task failed due to runtime execution error: ", "Task failed due to IO error: "];
/// What DataFusion puts before messages.
const KINDS: [&str; 4] =
    ["Execution error: ", "External error: ", "Error during planning: ", "Arrow error: "];

fn sentence(text: &str) -> String {
    if let Some((_, debug)) = TASK_ERRORS.iter().find_map(|start| text.split_once(start)) {
        return format!("a task failed: {}", innermost(debug));
    }
    let parts = text.split("\ncaused by\n").map(|part| {
        let mut part = part.trim();
        while let Some(rest) = KINDS.iter().find_map(|kind| part.strip_prefix(kind)) {
            part = rest;
        }
        part.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    parts.collect::<Vec<_>>().join(": ")
}

/// The messages in a debug text, from the outermost to the innermost. If there is none, the name of the error as words.
fn innermost(debug: &str) -> String {
    let mut messages: Vec<String> = Vec::new();
    for literal in literals(debug) {
        let message = sentence(&literal);
        if !message.is_empty() && messages.iter().all(|earlier| !earlier.contains(&message)) {
            messages.push(message);
        }
    }
    match messages.is_empty() {
        true => words(debug),
        false => messages.join(": "),
    }
}

/// The strings in a debug text.
fn literals(debug: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut rest = debug.chars();
    while rest.by_ref().any(|c| c == '"') {
        let mut literal = String::new();
        while let Some(c) = rest.next() {
            match c {
                '"' => break,
                '\\' => match rest.next() {
                    Some('n' | 'r' | 't') => literal.push(' '),
                    Some(escaped) => literal.push(escaped),
                    None => (),
                },
                c => literal.push(c),
            }
        }
        literals.push(literal);
    }
    literals
}

/// The last name in a debug text, `DivideByZero` for instance, as words.
fn words(debug: &str) -> String {
    let mut names = debug.split(|c: char| !c.is_alphanumeric());
    let is_name = |name: &&str| name.starts_with(char::is_uppercase) && !["Some", "None"].contains(name);
    let mut words = String::new();
    for c in names.rfind(is_name).unwrap_or("unknown error").chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_texts_become_sentences() {
        let cases = [
            (
                r#"Job failed due to stage 1 failed: Task failed due to runtime execution error: DataFusionError(ArrowError(DivideByZero, Some("")))"#,
                "a task failed: divide by zero",
            ),
            (
                r#"Task failed due to IO error: DataFusionError(Shared(IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })))"#,
                "a task failed: No space left on device",
            ),
            (
                r#"Task failed due to runtime execution error: DataFusionError(Context("in file:///a \"b\"/", Execution("it was\ngiven up")))"#,
                r#"a task failed: in file:///a "b"/: it was given up"#,
            ),
            ("in s3://b/\ncaused by\nExecution error: Execution error: gone", "in s3://b/: gone"),
            ("Arrow error: Divide by zero error", "Divide by zero error"),
        ];
        for (text, message) in cases {
            assert_eq!(sentence(text), message);
        }
    }
}
