//! The scratch of sorts of segments, computed before any of it is allocated.

use super::worker::{Content, Payload, Worker};
use crate::gpu::kernels::segments::{MOST_CLASSES, MergeProgress};

/// The size of the progress of merges, in words of scratch.
pub(super) const PROGRESS_WORDS: usize = size_of::<MergeProgress>() / size_of::<u32>();

/// The lengths of segments, as far as the scratch depends on them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lie {
    /// All have this length.
    Length(usize),
    /// This many segments between offsets, none of which is longer than `longest`.
    Offsets { segments: usize, longest: usize },
}

/// Words of scratch for a sort of `keys` keys in segments, by blocks with this much shared memory.
pub(crate) fn segments_words(content: Content, keys: usize, lie: Lie, shared: usize) -> usize {
    let least = content.least() as usize;
    match lie {
        Lie::Length(length) if keys == 0 || length < least => 0,
        Lie::Length(length) => match Worker::for_length(length, content, shared) {
            Some(_) => 0,
            None => of_one_length_words(content, keys),
        },
        Lie::Offsets { segments, longest } if segments == 0 || longest.min(keys) < least => 0,
        Lie::Offsets { segments, longest } => {
            let largest = Worker::classes(content, shared).last().map_or(0, |largest| largest.capacity());
            let any_long = longest.min(keys) > largest;
            listed_words(segments) + if any_long { copies_words(content, keys) } else { 0 }
        }
    }
}

/// Words, rounded up so that what follows is aligned for every key and payload.
pub(super) fn words(count: usize) -> usize {
    count.next_multiple_of(4)
}

/// Words of scratch for the classes of this many segments.
pub(crate) fn listed_words(segments: usize) -> usize {
    words(listed_lengths(segments).into_iter().sum())
}

/// Words of each part of it: the progress of merges, counts and cursors of classes, the list, and tiles before
/// segments.
pub(super) fn listed_lengths(segments: usize) -> [usize; 5] {
    [PROGRESS_WORDS, MOST_CLASSES, MOST_CLASSES, segments, segments + 1]
}

/// Words of scratch for long segments of one length, with this many keys in all.
pub(crate) fn of_one_length_words(content: Content, keys: usize) -> usize {
    PROGRESS_WORDS + copies_words(content, keys)
}

/// Words of scratch for the copies of this many keys, and of what moves with them, that a sort of long segments takes.
pub(crate) fn copies_words(content: Content, keys: usize) -> usize {
    let copy = words((keys * content.key_bytes).div_ceil(4));
    match content.payload {
        Payload::None => copy,
        Payload::Moved(bytes) => copy + words(keys * bytes / 4),
        Payload::Indices => 2 * copy + words(keys),
    }
}
