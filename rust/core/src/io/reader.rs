//! Blocks of text in, two matrices out.

use memchr::{memchr, memrchr};
use rayon::prelude::*;

use super::row::{IdRule, RowRules, Rows, on_line, token_at, wrong_token};
use super::{Format, Options};
use crate::parallel::Control;
use crate::sparse::{CsrMatrix, Pattern};
use crate::{Error, Result};

/// Text parsed by one thread at a time: a few milliseconds, and in the cache.
const CHUNK_BYTES: usize = 1 << 19;

/// Chunks of a window for each thread, so that none waits long for the others.
const CHUNKS_PER_THREAD: usize = 4;

/// Ids are `u32` and one more than the largest must be one too.
const MAX_WIDTH: u64 = u32::MAX as u64;

/// Text worth handing to [`Reader::push`] at once in the current rayon pool.
pub(super) fn window_bytes() -> usize {
    CHUNK_BYTES * CHUNKS_PER_THREAD * rayon::current_num_threads()
}

/// Parses a text file that arrives in blocks of any size.
///
/// The result depends on the bytes alone, not on how they were cut into blocks
/// or on the number of threads.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    rules: RowRules,
    /// The three numbers of the header.
    promised: Option<[u64; 3]>,
    /// The start of a line whose end has not arrived yet.
    carry: Vec<u8>,
    n_lines: u64,
    n_empty: u64,
    n_empty_at_end: u64,
    first_empty: Option<u64>,
    x: CsrMatrix,
    y: Pattern,
}

impl Reader {
    /// Get ready for a text of the stated kind.
    ///
    /// # Errors
    /// [`Error::Data`] where a stated width is 2^32 or more.
    pub fn new(options: Options) -> Result<Self> {
        let empty = Pattern {
            n_cols: 0,
            indptr: vec![0],
            indices: Vec::new(),
        };
        Ok(Self {
            options,
            rules: RowRules {
                format: options.format,
                features: id_rule("feature", options.zero_based, options.n_features)?,
                labels: id_rule("label", options.zero_based_labels, options.n_labels)?,
            },
            promised: None,
            carry: Vec::new(),
            n_lines: 0,
            n_empty: 0,
            n_empty_at_end: 0,
            first_empty: None,
            x: CsrMatrix {
                pattern: empty.clone(),
                data: Vec::new(),
            },
            y: empty,
        })
    }

    /// Parse the lines that `block` completes and keep the rest of it for later.
    ///
    /// # Errors
    /// As [`super::parse_xmc`].
    pub fn push(&mut self, block: &[u8], control: &Control) -> Result<()> {
        let mut rest = block;
        if !self.carry.is_empty() {
            let Some(end) = memchr(b'\n', rest) else {
                self.carry.extend_from_slice(rest);
                return Ok(());
            };
            let mut line = std::mem::take(&mut self.carry);
            line.extend_from_slice(&rest[..=end]);
            self.add_lines(&line, control)?;
            rest = &rest[end + 1..];
        }
        let end = memrchr(b'\n', rest).map_or(0, |n| n + 1);
        self.add_lines(&rest[..end], control)?;
        self.carry.extend_from_slice(&rest[end..]);
        Ok(())
    }

    /// Parse what is left and hand out `X` and `Y`.
    ///
    /// # Errors
    /// As [`super::parse_xmc`]: here the number of rows is compared with the
    /// header's.
    pub fn finish(mut self, control: &Control) -> Result<(CsrMatrix, Pattern)> {
        let rest = std::mem::take(&mut self.carry);
        self.add_lines(&rest, control)?;
        if self.n_lines == 0 {
            return Err(Error::format("the file is empty"));
        }
        let n_rows = self.x.pattern.n_rows() - self.n_empty_at_end as usize;
        self.check_rows(n_rows as u64)?;
        self.x.pattern.indptr.truncate(n_rows + 1);
        self.y.indptr.truncate(n_rows + 1);
        let [_, n_features, n_labels] = self.promised.map_or([None; 3], |p| p.map(Some));
        self.x.pattern.n_cols = self
            .options
            .n_features
            .or(n_features)
            .map_or_else(|| width_of(&self.x.pattern.indices), |width| width as usize);
        self.y.n_cols = self
            .options
            .n_labels
            .or(n_labels)
            .map_or_else(|| width_of(&self.y.indices), |width| width as usize);
        self.x.pattern.indptr.shrink_to_fit();
        self.x.pattern.indices.shrink_to_fit();
        self.x.data.shrink_to_fit();
        self.y.indptr.shrink_to_fit();
        self.y.indices.shrink_to_fit();
        Ok((self.x, self.y))
    }

    fn check_rows(&self, n_rows: u64) -> Result<()> {
        let n_empty = self.n_empty - self.n_empty_at_end;
        if let Some([promised, ..]) = self.promised
            && promised != n_rows
        {
            let of_them = if n_empty > 0 {
                format!(", {n_empty} of them empty lines")
            } else {
                String::new()
            };
            return Err(on_line(
                Error::format(format!(
                    "the header says {promised} rows, the file has {n_rows}{of_them}"
                )),
                1,
            ));
        }
        match (self.promised, self.first_empty) {
            (None, Some(line)) if n_empty > 0 => Err(on_line(
                Error::format(
                    "empty line '': without a header, a row without labels and features \
                     is written as a line with one blank",
                ),
                line,
            )),
            (None, _) if n_rows == 0 => Err(Error::format("the file holds no row")),
            _ => Ok(()),
        }
    }

    fn add_lines(&mut self, lines: &[u8], control: &Control) -> Result<()> {
        let mut text = lines;
        if self.n_lines == 0 {
            text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
            if !text.is_empty() && self.options.format == Format::Xmc {
                let end = memchr(b'\n', text).map_or(text.len(), |n| n + 1);
                self.read_header(&text[..end]).map_err(|e| on_line(e, 1))?;
                self.n_lines = 1;
                text = &text[end..];
            }
        }
        let chunks: Vec<Result<Rows>> = cut(text)
            .into_par_iter()
            .map(|chunk| {
                control.check()?;
                Rows::parse(chunk, &self.rules, control)
            })
            .collect();
        for rows in chunks {
            let rows = rows.map_err(|error| on_line(error, self.n_lines))?;
            self.append(&rows);
        }
        Ok(())
    }

    fn append(&mut self, rows: &Rows) {
        let (x, y) = (&mut self.x, &mut self.y);
        let (n_x, n_y) = (x.data.len() as u64, y.indices.len() as u64);
        let pointers = &mut x.pattern.indptr;
        pointers.extend(rows.feature_ends.iter().map(|end| end + n_x));
        y.indptr.extend(rows.label_ends.iter().map(|end| end + n_y));
        x.pattern.indices.extend_from_slice(&rows.feature_ids);
        x.data.extend_from_slice(&rows.values);
        y.indices.extend_from_slice(&rows.label_ids);
        if let Some(line) = rows.first_empty {
            self.first_empty.get_or_insert(line + self.n_lines);
        }
        let all_empty = rows.n_empty_at_end == rows.feature_ends.len() as u64;
        self.n_empty_at_end = rows.n_empty_at_end + if all_empty { self.n_empty_at_end } else { 0 };
        self.n_empty += rows.n_empty;
        self.n_lines += rows.n_lines;
    }

    /// Learn the promised shape from `n_samples n_features n_labels`.
    fn read_header(&mut self, line: &[u8]) -> Result<()> {
        let line = line
            .strip_suffix(b"\n")
            .map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        let tokens: Vec<&[u8]> = line
            .split(|b| matches!(b, b' ' | b'\t'))
            .filter(|token| !token.is_empty())
            .take(4)
            .collect();
        let mut numbers = [0u64; 3];
        for (number, token) in numbers.iter_mut().zip(&tokens) {
            *number = std::str::from_utf8(token)
                .ok()
                .filter(|text| text.bytes().all(|b| b.is_ascii_digit()))
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| wrong_token(token, "the header 'n_samples n_features n_labels'"))?;
        }
        if tokens.len() != 3 {
            return Err(Error::format(format!(
                "expected the header 'n_samples n_features n_labels', found {} numbers from {} on",
                if tokens.len() > 3 {
                    "more than 3".to_owned()
                } else {
                    tokens.len().to_string()
                },
                token_at(tokens.first().copied().unwrap_or_default()),
            )));
        }
        self.promised = Some(numbers);
        promise(
            &mut self.rules.features,
            numbers[1],
            self.options.n_features,
        )?;
        promise(&mut self.rules.labels, numbers[2], self.options.n_labels)
    }
}

/// The rule before any header is seen.
fn id_rule(kind: &'static str, zero_based: bool, stated: Option<u64>) -> Result<IdRule> {
    if let Some(width) = stated.filter(|&width| width > MAX_WIDTH) {
        return Err(Error::data(format!(
            "n_{kind}s must be at most {MAX_WIDTH}, got {width}"
        )));
    }
    Ok(IdRule {
        kind,
        base: u64::from(!zero_based),
        limit: stated.unwrap_or(MAX_WIDTH),
        source: if stated.is_some() {
            "as asked for"
        } else {
            "the most supported"
        },
    })
}

/// Tighten a rule to what the header says. A wider matrix may be asked for, but
/// ids beyond the header still contradict it.
fn promise(rule: &mut IdRule, promised: u64, stated: Option<u64>) -> Result<()> {
    let kind = rule.kind;
    if let Some(width) = stated.filter(|&width| width < promised) {
        return Err(Error::format(format!(
            "the header says n_{kind}s = {promised}, more than n_{kind}s = {width} as asked for"
        )));
    }
    if promised > MAX_WIDTH {
        return Err(Error::format(format!(
            "the header says n_{kind}s = {promised}, the most supported is {MAX_WIDTH}"
        )));
    }
    rule.limit = promised;
    rule.source = "the header";
    Ok(())
}

fn width_of(ids: &[u32]) -> usize {
    ids.iter().max().map_or(0, |&id| id as usize + 1)
}

/// Chunks of whole lines, about [`CHUNK_BYTES`] each.
fn cut(text: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::with_capacity(text.len() / CHUNK_BYTES + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .get(CHUNK_BYTES..)
            .and_then(|tail| memchr(b'\n', tail))
            .map_or(rest.len(), |n| CHUNK_BYTES + n + 1);
        let (chunk, tail) = rest.split_at(end);
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}
