//! tantivy with the same words. It indexes documents with frequencies and lengths, and stores names.

use sortie_index::Tokenizer;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::schema::{IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Token, TokenStream};
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument};
use tempfile::TempDir;

use super::collection::Collection;
use super::{Builds, Built, size};
use crate::Result;
use crate::args::Args;
use crate::measure::{Clock, Contender};

const TOKENIZER: &str = "words";

/// The contender, with `threads` indexing threads. The time ends when everything is committed. Segments are merged to
/// one outside the measured time, so that its size on disk is the smallest possible.
pub fn contender(args: &Args, threads: usize) -> Builds {
    let (dir, memory) = (args.dir.clone(), args.memory as usize);
    Contender::new("tantivy", threads, move |collection: &Collection, clock: &mut Clock| {
        let folder = TempDir::with_prefix_in("sortie-bench-", &dir)?;
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqs);
        let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        let name = schema.add_text_field("name", STORED);
        let index = Index::builder()
            .schema(schema.build())
            .settings(IndexSettings::default())
            .create_in_dir(folder.path())?;
        index.tokenizers().register(TOKENIZER, Words::default());
        let mut writer: IndexWriter = index.writer_with_num_threads(threads, memory)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        clock.time(|| -> Result<()> {
            for document in collection.documents() {
                let mut added = TantivyDocument::default();
                added.add_text(text, document.text);
                added.add_text(name, document.name);
                writer.add_document(added)?;
            }
            writer.commit()?;
            Ok(())
        })?;
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        writer.garbage_collect_files().wait()?;
        writer.wait_merging_threads()?;
        let searcher = index.reader()?.searcher();
        let mut terms = 0;
        for segment in searcher.segment_readers() {
            terms += segment.inverted_index(text)?.terms().num_terms() as u64;
        }
        let bytes = size(folder.path())?;
        clock.note = format!("{} segments, index of {bytes} bytes once merged", segments.len());
        Ok(Built { documents: searcher.num_docs(), terms })
    })
}

/// The words of Sortie's tokenizer, as a token stream.
#[derive(Clone, Default)]
struct Words {
    all: String,
    /// The end of each word.
    ends: Vec<usize>,
}

struct Stream<'a> {
    words: &'a Words,
    next: usize,
    token: Token,
}

impl tantivy::tokenizer::Tokenizer for Words {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        let Words { all, ends } = self;
        all.clear();
        ends.clear();
        Tokenizer::default().words(text, |word| {
            all.push_str(std::str::from_utf8(word).expect("words are UTF-8"));
            ends.push(all.len());
        });
        Stream { words: self, next: 0, token: Token::default() }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some(&end) = self.words.ends.get(self.next) else { return false };
        let start = if self.next == 0 { 0 } else { self.words.ends[self.next - 1] };
        self.token.text.clear();
        self.token.text.push_str(&self.words.all[start..end]);
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
