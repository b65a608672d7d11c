//! Reads inputs one after the other.

use std::vec;

use crate::{Error, Input};

/// Inputs, of which at most one is open at a time. `R` is the reader of an open input.
pub struct Inputs<R> {
    rest: vec::IntoIter<Input>,
    open: Option<(Input, R)>,
}

impl<R> Inputs<R> {
    pub fn new(inputs: Vec<Input>) -> Self {
        Inputs { rest: inputs.into_iter(), open: None }
    }

    /// The input that is being read and its reader. If none is open, opens the next input with `open`. `None` after the
    /// last input.
    pub fn current(
        &mut self,
        open: impl FnOnce(&Input) -> Result<R, Error>,
    ) -> Result<Option<(&Input, &mut R)>, Error> {
        if self.open.is_none()
            && let Some(input) = self.rest.next()
        {
            let reader = open(&input)?;
            self.open = Some((input, reader));
        }
        Ok(self.open.as_mut().map(|(input, reader)| (&*input, reader)))
    }

    /// Whether no input is open and none follows.
    pub fn is_at_end(&self) -> bool {
        self.open.is_none() && self.rest.as_slice().is_empty()
    }

    /// Closes the input that is being read.
    pub fn close(&mut self) {
        self.open = None;
    }
}
