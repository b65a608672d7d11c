//! Keys of names. They compare as the names do, byte by byte, whatever follows them.

/// Appends the key of a name that is compared by its bytes. It has no NUL.
pub fn bytes(name: &[u8], key: &mut Vec<u8>) {
    key.extend_from_slice(name);
    key.push(0);
}

/// Appends the key of a name whose numbers are compared by value. Names that differ in leading zeros alone are compared by their bytes.
pub fn natural(name: &[u8], key: &mut Vec<u8>) {
    let mut rest = name;
    while let Some(&first) = rest.first() {
        if !first.is_ascii_digit() {
            key.push(first);
            rest = &rest[1..];
            continue;
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, after) = rest.split_at(digits);
        rest = after;
        let zeros = number.iter().take_while(|&&digit| digit == b'0').count();
        let significant = &number[zeros..];
        // A number compares with other characters as a digit does, and with other numbers by its length first.
        key.push(b'0');
        key.extend(std::iter::repeat_n(u8::MAX, significant.len() / LONG));
        key.push((significant.len() % LONG) as u8);
        key.extend_from_slice(significant);
    }
    key.push(0);
    bytes(name, key);
}

/// The digits that one byte of a length counts.
const LONG: usize = u8::MAX as usize;
