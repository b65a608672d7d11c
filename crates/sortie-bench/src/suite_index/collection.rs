//! The documents of suite `index`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use rand::seq::SliceRandom;
use sortie_index::{Document, Tokenizer};

use crate::Result;
use crate::distributions::Rng;

/// The texts from which all collections are made.
pub struct Texts {
    texts: Rc<Vec<Document>>,
    /// The number of words in all of them.
    pub words: usize,
}

/// Copies of the texts in random order.
pub struct Collection {
    texts: Rc<Vec<Document>>,
    /// The copies, each as the number of the copy and of the text.
    order: Vec<(usize, usize)>,
}

impl Texts {
    pub fn read() -> Result<Texts> {
        let data = std::env::var_os("SORTIE_DATA").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
            PathBuf::from,
        );
        let path = data.join("text/rfcs.jsonl.gz");
        let file = File::open(&path)
            .map_err(|e| format!("cannot read {}: {e}; give the folder in SORTIE_DATA", path.display()))?;
        let mut texts = Vec::new();
        let mut words = 0;
        for line in BufReader::new(MultiGzDecoder::new(file)).lines() {
            let line: serde_json::Value = serde_json::from_str(&line?)?;
            let field = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            let document = Document { name: field("id"), text: field("text") };
            Tokenizer::default().words(&document.text, |_| words += 1);
            texts.push(document);
        }
        Ok(Texts { texts: Rc::new(texts), words })
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn collection(&self, copies: usize, rng: &mut Rng) -> Collection {
        let copy = |copy| (0..self.len()).map(move |text| (copy, text));
        let mut order: Vec<_> = (0..copies).flat_map(copy).collect();
        order.shuffle(rng);
        Collection { texts: self.texts.clone(), order }
    }
}

impl Collection {
    /// The size of all names and texts.
    pub fn bytes(&self) -> usize {
        self.order.iter().map(|&(_, text)| self.texts[text].name.len() + self.texts[text].text.len()).sum()
    }

    /// The documents. Each is copied when it is requested, which takes 1% of the time to index it.
    pub fn documents(&self) -> impl Iterator<Item = Document> + Send + '_ {
        let texts: &[Document] = &self.texts;
        self.order.iter().map(|&(copy, text)| {
            let Document { name, text } = &texts[text];
            Document { name: format!("{copy}/{name}"), text: text.clone() }
        })
    }
}
