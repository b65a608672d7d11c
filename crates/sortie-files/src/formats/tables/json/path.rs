//! Paths to values in JSON documents.

use super::DEEPEST;
use crate::formats::tables::key::quoted;

/// Where a value is in a document: `.a.b[0]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Path(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Index(usize),
}

impl Path {
    /// Reads `.a.b`, `.a[0]`, `."a b"` or `.["a b"]`. `.` is the whole document. A name that does not begin with a dot is that of a
    /// field.
    pub fn read(text: &str) -> Result<Path, String> {
        let wrong = |why: &str| format!("'{text}' is not a path such as .name, .a.b[0] or .\"a b\": {why}");
        let Some(mut rest) = text.strip_prefix('.') else {
            return Ok(Path(vec![Step::Field(text.to_owned())]));
        };
        let mut steps = Vec::new();
        // After the first dot, and after each other one, there may be a name.
        let mut may_name = true;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (step, after) = if inner.starts_with('"') {
                    let (name, after) = quoted(inner).map_err(|why| wrong(&why))?;
                    (Step::Field(name), after)
                } else {
                    let end = inner.find(']').ok_or_else(|| wrong("a ']' is missing"))?;
                    let index = inner[..end].parse().map_err(|_| wrong("an index is a number, from 0"))?;
                    (Step::Index(index), &inner[end..])
                };
                steps.push(step);
                rest = after.strip_prefix(']').ok_or_else(|| wrong("a ']' is missing"))?;
            } else if may_name && rest.starts_with('"') {
                let (name, after) = quoted(rest).map_err(|why| wrong(&why))?;
                steps.push(Step::Field(name));
                rest = after;
            } else if may_name {
                let end = rest.find(['.', '[', '"']).unwrap_or(rest.len());
                if end == 0 {
                    return Err(wrong("a name is missing"));
                }
                steps.push(Step::Field(rest[..end].to_owned()));
                rest = &rest[end..];
            } else {
                return Err(wrong("a '.' is missing"));
            }
            if steps.len() > DEEPEST {
                return Err(format!("a path has at most {DEEPEST} steps"));
            }
            may_name = false;
            if let Some(after) = rest.strip_prefix('.') {
                if after.is_empty() {
                    return Err(wrong("a name is missing"));
                }
                (rest, may_name) = (after, true);
            }
        }
        Ok(Path(steps))
    }
}

/// Several paths, as a tree of their steps.
#[derive(Debug, Default)]
pub struct Paths {
    /// The numbers of the paths that end here.
    pub ends: Vec<usize>,
    pub fields: Vec<(String, Paths)>,
    pub items: Vec<(usize, Paths)>,
}

impl Paths {
    pub fn of<'p>(paths: impl Iterator<Item = &'p Path>) -> Paths {
        let mut root = Paths::default();
        for (number, path) in paths.enumerate() {
            let end = path.0.iter().fold(&mut root, |paths, step| match step {
                Step::Field(name) => child(&mut paths.fields, name),
                Step::Index(index) => child(&mut paths.items, index),
            });
            end.ends.push(number);
        }
        root
    }
}

/// The paths below this step.
fn child<'p, T: Clone + PartialEq>(children: &'p mut Vec<(T, Paths)>, step: &T) -> &'p mut Paths {
    let known = children.iter().position(|(other, _)| other == step);
    let index = known.unwrap_or_else(|| {
        children.push((step.clone(), Paths::default()));
        children.len() - 1
    });
    &mut children[index].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_path_is_refused() {
        for path in [".a..b", ".a[", ".a[x]", ".a[\"b\"c]", ".a.", ".\"a", ".[0]b", &".a".repeat(129)] {
            assert!(Path::read(path).is_err(), "{path}");
        }
    }
}
