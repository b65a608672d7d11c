//! Readers and writers of the files that Sortie sorts. No sorting happens here.

pub mod lines;
