//! Lines of rows to ids and values, one chunk at a time.

use memchr::{memchr, memchr_iter};

use super::Format;
use super::number::{any_decimal, digits, plain_decimal};
use crate::parallel::Control;
use crate::{Error, Result};

/// Tokens between two looks at the cancel flag.
const CHECK_EVERY: usize = 1 << 16;

/// The longest part of a token that an error message shows.
const SHOWN: usize = 40;

/// Which ids are legal, and where that is said.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdRule {
    /// "feature" or "label".
    pub(super) kind: &'static str,
    /// The first legal id as written in the file.
    pub(super) base: u64,
    /// Ids less the base are below this.
    pub(super) limit: u64,
    /// Where the limit comes from.
    pub(super) source: &'static str,
}

/// What a row may look like.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowRules {
    pub(super) format: Format,
    pub(super) features: IdRule,
    pub(super) labels: IdRule,
}

/// The rows of a chunk of lines.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Where each row ends in `feature_ids` and `values`.
    pub(super) feature_ends: Vec<u64>,
    pub(super) feature_ids: Vec<u32>,
    pub(super) values: Vec<f32>,
    /// Where each row ends in `label_ids`.
    pub(super) label_ends: Vec<u64>,
    pub(super) label_ids: Vec<u32>,
    /// Lines, rows or not.
    pub(super) n_lines: u64,
    /// Completely empty lines; each is counted as a row for now.
    pub(super) n_empty: u64,
    /// How many of them stand together at the end.
    pub(super) n_empty_at_end: u64,
    /// The first of them, counted from 1 at the start of the chunk.
    pub(super) first_empty: Option<u64>,
}

impl IdRule {
    #[inline]
    fn accept(&self, id: u64, text: &[u8]) -> Result<u32> {
        // An id below the base wraps round and is too large.
        let shifted = id.wrapping_sub(self.base);
        if shifted < self.limit {
            Ok(shifted as u32)
        } else {
            Err(self.out_of_range(id, text))
        }
    }

    #[cold]
    fn out_of_range(&self, id: u64, text: &[u8]) -> Error {
        let (kind, base, token) = (self.kind, self.base, token_at(text));
        Error::format(if id < base {
            format!("{kind} id 0 in {token}, but ids were said to count from 1")
        } else {
            format!(
                "{kind} id of {token} is out of range: n_{kind}s = {} ({}), ids count from {base}",
                self.limit, self.source
            )
        })
    }
}

impl Rows {
    /// Parse whole lines; the last one may lack its line feed.
    ///
    /// Lines in errors count from 1 at the start of `text`.
    pub(super) fn parse(text: &[u8], rules: &RowRules, control: &Control) -> Result<Self> {
        let mut rows = Self::default();
        // An entry of ordinary text takes ten bytes or more.
        rows.feature_ids.reserve(text.len() / 12);
        rows.values.reserve(text.len() / 12);
        let mut start = 0;
        for end in memchr_iter(b'\n', text) {
            let line = &text[start..end];
            rows.add_line(line.strip_suffix(b"\r").unwrap_or(line), rules, control)?;
            start = end + 1;
        }
        if start < text.len() {
            rows.add_line(&text[start..], rules, control)?;
        }
        Ok(rows)
    }

    fn add_line(&mut self, line: &[u8], rules: &RowRules, control: &Control) -> Result<()> {
        self.n_lines += 1;
        let mut line = line;
        if rules.format == Format::Svmlight
            && let Some(comment) = memchr(b'#', line)
        {
            line = &line[..comment];
            if line.iter().all(|&b| is_blank(b)) {
                return Ok(());
            }
        }
        if line.is_empty() {
            self.n_empty += 1;
            self.n_empty_at_end += 1;
            self.first_empty.get_or_insert(self.n_lines);
        } else {
            self.n_empty_at_end = 0;
            self.add_row(line, rules, control)
                .map_err(|error| on_line(error, self.n_lines))?;
        }
        self.feature_ends.push(self.feature_ids.len() as u64);
        self.label_ends.push(self.label_ids.len() as u64);
        Ok(())
    }

    fn add_row(&mut self, line: &[u8], rules: &RowRules, control: &Control) -> Result<()> {
        let mut at = skip_blanks(line, 0);
        let end = token_end(line, at);
        if memchr(b':', &line[at..end]).is_none() {
            if at < end {
                self.add_labels(&line[at..end], &rules.labels)?;
            }
            at = skip_blanks(line, end);
        }
        if rules.format == Format::Svmlight && line[at..].starts_with(b"qid:") {
            at = skip_blanks(line, skip_query(line, at)?);
        }
        let first = self.feature_ids.len();
        let mut sorted = true;
        let mut zeros = false;
        while at < line.len() {
            let (id, length) = digits(&line[at..]);
            let colon = at + length;
            if length == 0 || line.get(colon) != Some(&b':') {
                return Err(no_entry(&line[at..]));
            }
            let id = rules.features.accept(id, &line[at..])?;
            let (value, end) = match plain_decimal(&line[colon + 1..]) {
                Some((value, length)) if ends_token(line, colon + 1 + length) => {
                    (value, colon + 1 + length)
                }
                _ => {
                    let end = token_end(line, at);
                    let value =
                        any_decimal(&line[colon + 1..end]).ok_or_else(|| no_value(&line[at..]))?;
                    (value, end)
                }
            };
            zeros |= value == 0.0;
            sorted &= self.feature_ids[first..]
                .last()
                .is_none_or(|&last| last < id);
            self.feature_ids.push(id);
            self.values.push(value);
            if self.values.len().is_multiple_of(CHECK_EVERY) {
                control.check()?;
            }
            at = skip_blanks(line, end);
        }
        if !sorted {
            self.sort_from(first, &rules.features)?;
        }
        if zeros {
            self.drop_zeros_from(first);
        }
        Ok(())
    }

    fn add_labels(&mut self, token: &[u8], rule: &IdRule) -> Result<()> {
        let first = self.label_ids.len();
        for part in token.split(|&b| b == b',') {
            let (id, length) = digits(part);
            if length == 0 || length != part.len() {
                return Err(no_label(token));
            }
            self.label_ids.push(rule.accept(id, token)?);
        }
        if self.label_ids[first..].windows(2).any(|w| w[0] >= w[1]) {
            let mut labels = self.label_ids.split_off(first);
            labels.sort_unstable();
            labels.dedup();
            self.label_ids.append(&mut labels);
        }
        Ok(())
    }

    fn sort_from(&mut self, first: usize, rule: &IdRule) -> Result<()> {
        let ids = self.feature_ids.drain(first..);
        let mut entries: Vec<(u32, f32)> = ids.zip(self.values.drain(first..)).collect();
        // Ids that occur once have one order, and others are refused.
        entries.sort_unstable_by_key(|entry| entry.0);
        if let Some(twice) = entries.windows(2).find(|w| w[0].0 == w[1].0) {
            let id = u64::from(twice[0].0) + rule.base;
            return Err(Error::format(format!(
                "feature {id} occurs twice, as '{id}:{}' and '{id}:{}'",
                twice[0].1, twice[1].1
            )));
        }
        self.feature_ids.extend(entries.iter().map(|entry| entry.0));
        self.values.extend(entries.iter().map(|entry| entry.1));
        Ok(())
    }

    fn drop_zeros_from(&mut self, first: usize) {
        let mut kept = first;
        for k in first..self.values.len() {
            if self.values[k] != 0.0 {
                self.values[kept] = self.values[k];
                self.feature_ids[kept] = self.feature_ids[k];
                kept += 1;
            }
        }
        self.values.truncate(kept);
        self.feature_ids.truncate(kept);
    }
}

/// Shift the line of a format error by the lines before its chunk.
pub(super) fn on_line(mut error: Error, before: u64) -> Error {
    if let Error::Format { line, .. } = &mut error {
        *line = Some(line.unwrap_or(0) + before);
    }
    error
}

#[inline]
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

#[inline]
fn ends_token(line: &[u8], at: usize) -> bool {
    line.get(at).is_none_or(|&b| is_blank(b))
}

#[inline]
fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while line.get(at).is_some_and(|&b| is_blank(b)) {
        at += 1;
    }
    at
}

fn token_end(line: &[u8], at: usize) -> usize {
    let rest = &line[at..];
    at + rest.iter().position(|&b| is_blank(b)).unwrap_or(rest.len())
}

/// Past a `qid:` token, whose number means nothing here.
fn skip_query(line: &[u8], at: usize) -> Result<usize> {
    let end = token_end(line, at);
    let number = &line[at + 4..end];
    if number.is_empty() || !number.iter().all(u8::is_ascii_digit) {
        return Err(wrong_token(&line[at..], "qid: and a whole number"));
    }
    Ok(end)
}

/// The token at the start of `text`, quoted, printable and short.
pub(super) fn token_at(text: &[u8]) -> String {
    let token = &text[..token_end(text, 0)];
    let shown = &token[..token.len().min(SHOWN)];
    let dots = if token.len() > SHOWN { "..." } else { "" };
    format!("'{}{dots}'", shown.escape_ascii())
}

/// The error for a token that is not what it should be.
#[cold]
pub(super) fn wrong_token(text: &[u8], expected: &str) -> Error {
    let token = &text[..token_end(text, 0)];
    let shown = token_at(text);
    Error::format(if let Some(byte) = token.iter().find(|b| !b.is_ascii()) {
        format!("byte 0x{byte:02X} in {shown} is not ASCII: this is no plain XMC or svmlight text")
    } else if token.contains(&b'\r') {
        format!("carriage return in {shown}: lines must end in LF or CRLF")
    } else {
        format!("expected {expected}, found {shown}")
    })
}

#[cold]
fn no_label(token: &[u8]) -> Error {
    wrong_token(token, "label ids (digits, separated by commas)")
}

#[cold]
fn no_entry(text: &[u8]) -> Error {
    wrong_token(text, "feature:value with a feature id of digits")
}

#[cold]
fn no_value(text: &[u8]) -> Error {
    wrong_token(text, "feature:value with a value that is a finite float32")
}
