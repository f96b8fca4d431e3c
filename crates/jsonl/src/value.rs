//! A scanned value: its kind, its range in the line, and its members or items.

mod buf;

pub use self::buf::ValueBuf;
use crate::{Error, ErrorKind, Line, Raw, Result, Text, scan::node::Node, text::has_backslash};

/// The kind of a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the names of JSON's own kinds")]
pub enum Kind {
    Null,
    True,
    False,
    Number,
    String,
    Array,
    Object,
}

/// A value of a scanned line.
#[derive(Clone, Copy, Debug)]
pub struct Value<'l> {
    line: &'l str,
    nodes: &'l [Node],
    /// The node of the value and the node's index.
    node: Node,
    at: u32,
    oddities: Oddities,
}

/// Parts of a line that strict readers reject, counted over the whole line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Oddities {
    /// An escape of a surrogate, in a pair or alone.
    pub surrogate_escape: bool,
    /// A number with an exponent or more than 17 digits, which may exceed an f64.
    pub wide_number: bool,
    /// The depth of the nesting; 0 for a scalar.
    pub depth: u32,
    /// More values than the index has room for, so that some have no items or members: see [`Value::is_indexed`].
    pub too_many_values: bool,
}

impl<'l> Value<'l> {
    /// Returns the value of a line at offset `base` of the input, or `None` without a node.
    pub(crate) fn root(
        line: &'l str,
        nodes: &'l [Node],
        oddities: Oddities,
        base: u64,
    ) -> Result<Self> {
        match nodes.first() {
            Some(node) => Ok(Self { line, nodes, node: *node, at: 0, oddities }),
            None => Err(Error { offset: base, kind: ErrorKind::Empty }),
        }
    }

    /// Copies the value and its index, to keep it without its line.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not JSON, which is never so for a value from a scanner.
    pub fn to_buf(&self) -> Result<ValueBuf> {
        ValueBuf::of_line(self).map_or_else(|| ValueBuf::new(self.raw().as_str()), Ok)
    }

    /// Returns the nodes of the whole line.
    pub(crate) fn nodes(&self) -> &'l [Node] {
        self.nodes
    }

    /// Returns the parts of the whole line that strict readers reject.
    pub fn oddities(&self) -> Oddities {
        self.oddities
    }

    /// Returns an error with the offset of the line if it has more values than its index has room for.
    pub fn unread(&self, line: &Line<'_>) -> Option<Error> {
        let error = Error { offset: line.offset(), kind: ErrorKind::TooManyValues };
        self.oddities.too_many_values.then_some(error)
    }

    /// Returns whether two scans found the same values at the same positions of the same bytes.
    pub fn is_same_index(&self, other: &Value<'_>) -> bool {
        self.line == other.line
            && self.nodes == other.nodes
            && self.at == other.at
            && self.oddities == other.oddities
    }

    /// Returns the index of the value's node in its line.
    pub(crate) fn place(&self) -> u32 {
        self.at
    }

    /// Returns the value of the line whose node has an index.
    pub(crate) fn at_place(&self, at: u32) -> Option<Value<'l>> {
        Some(Value { node: *self.nodes.get(at as usize)?, at, ..*self })
    }

    fn slice(&self, node: Node) -> &'l str {
        self.line.get(node.start as usize..node.end as usize).unwrap_or_default()
    }

    /// Returns the kind of the value.
    pub fn kind(&self) -> Kind {
        self.node.kind()
    }

    /// Returns the value as written.
    pub fn raw(&self) -> Raw<'l> {
        Raw::from_scanned(self.slice(self.node))
    }

    /// Returns the text, if the value is a string.
    #[inline]
    pub fn text(&self) -> Option<Text<'l>> {
        (self.kind() == Kind::String).then(|| Text::from_scanned(self.slice(self.node)))
    }

    /// Returns the boolean; `None` for other values.
    pub fn bool(&self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// Returns whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    /// Returns whether the value is an array.
    pub fn is_array(&self) -> bool {
        self.kind() == Kind::Array
    }

    /// Returns the members of an object in order. Other values have none, nor has an object that is
    /// not indexed: see [`Value::is_indexed`].
    pub fn members(&self) -> Members<'l> {
        let items = self.children(self.is_object());
        Members { items }
    }

    /// Returns the number of members of an object; 0 for other values.
    ///
    /// ```
    /// let mut scanner = jsonl::Scanner::default();
    /// let value = scanner.scan_slice(br#"{"a":{"b":[1,2]},"a":3}"#, 0)?;
    /// assert_eq!((value.n_members(), value.get("a").map(|it| it.n_members())), (2, Some(0)));
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    #[inline]
    pub fn n_members(&self) -> usize {
        let end = if self.is_object() { self.node.next() } else { 0 };
        let (mut at, mut n_members) = (self.at + 1, 0);
        // A key has no child nodes: the next node is its value.
        while at < end
            && let Some(value) = self.nodes.get(at as usize + 1)
        {
            n_members += 1;
            at = value.next();
        }
        n_members
    }

    /// Calls `read` with the key and the value of each member of an object. `read` returns whether
    /// it knows the key.
    ///
    /// An unknown key with escapes is passed a second time, unescaped. So common keys are compared
    /// without unescaping.
    ///
    /// ```
    /// let mut scanner = jsonl::Scanner::default();
    /// let value = scanner.scan_slice(br#"{"n\u0061me":"a","id":1}"#, 0)?;
    /// let mut name = None;
    /// value.read_members(|key, value| {
    ///     match key {
    ///         b"name" => name = value.text(),
    ///         _ => return false,
    ///     }
    ///     true
    /// });
    /// assert!(name.is_some_and(|name| name.is("a")));
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    #[inline]
    pub fn read_members(&self, mut read: impl FnMut(&[u8], Value<'l>) -> bool) {
        let end = if self.is_object() { self.node.next() as usize } else { 0 };
        let nodes = self.nodes.get(..end).unwrap_or_default();
        let bytes = self.line.as_bytes();
        let mut at = self.at as usize + 1;
        // A key has no child nodes: the next node is its value.
        while let Some([key, node, ..]) = nodes.get(at..) {
            let value = Value { node: *node, at: at as u32 + 1, ..*self };
            let body = bytes.get(key.start as usize + 1..key.end as usize - 1).unwrap_or_default();
            if !read(body, value) && has_backslash(body) {
                let key = Text::from_scanned(self.slice(*key)).decode();
                read(key.as_bytes(), value);
            }
            at = node.next() as usize;
        }
    }

    /// Returns the items of an array in order. Other values have none, nor has an array that is not
    /// indexed: see [`Value::is_indexed`].
    pub fn items(&self) -> Items<'l> {
        self.children(self.is_array())
    }

    /// Returns whether the values inside this one are indexed. Values below the 16th level are not.
    /// A line has room for a million nodes, one for each 9 bytes beyond 9 MiB, or one for each 14 beyond 25 MiB. If it has more
    /// values, arrays and objects with a sixteenth of them are not indexed either. A value that is
    /// not indexed is validated and available as written, but has no items or members.
    ///
    /// To read what is inside, scan its text with another scanner:
    /// [`Scanner::scan_raw`](crate::Scanner::scan_raw) of [`Value::raw`].
    pub fn is_indexed(&self) -> bool {
        let is_container = matches!(self.kind(), Kind::Array | Kind::Object);
        let has_nodes = self.node.next() > self.at + 1;
        let raw = self.slice(self.node);
        let within = raw.get(1..raw.len() - 1).unwrap_or_default();
        !is_container || has_nodes || within.trim_ascii().is_empty()
    }

    /// Returns the value whose text is `slice`, which must be a part of the line in memory; `None`
    /// if the slice is not an indexed value.
    pub fn at_slice(&self, slice: &[u8]) -> Option<Value<'l>> {
        let start = (slice.as_ptr() as usize).checked_sub(self.line.as_ptr() as usize)?;
        let at = self.nodes.partition_point(|node| (node.start as usize) < start);
        let node = *self.nodes.get(at)?;
        let is_it = node.start as usize == start && node.end as usize == start + slice.len();
        is_it.then_some(Value { node, at: u32::try_from(at).ok()?, ..*self })
    }

    /// Calls `is_fine` with each object in the value, itself included, until it returns false.
    /// Returns whether it always returned true and all inner values are indexed.
    pub fn all_objects(&self, mut is_fine: impl FnMut(Value<'l>) -> bool) -> bool {
        (self.at..self.node.next()).all(|at| {
            let Some(node) = self.nodes.get(at as usize) else { return false };
            let value = || Value { node: *node, at, ..*self };
            match node.kind() {
                Kind::Object => value().is_indexed() && is_fine(value()),
                Kind::Array => value().is_indexed(),
                _ => true,
            }
        })
    }

    /// Returns the value itself as the only item.
    pub fn alone(&self) -> Items<'l> {
        Items { parent: *self, at: self.at, end: self.at + 1 }
    }

    fn children(&self, is_container: bool) -> Items<'l> {
        let end = if is_container { self.node.next() } else { self.at + 1 };
        Items { parent: *self, at: self.at + 1, end }
    }

    /// Returns several members of an object in one pass. The last duplicate wins. All are `None` if
    /// the value is no object, or is not indexed: see [`Value::is_indexed`].
    ///
    /// ```
    /// let mut scanner = jsonl::Scanner::default();
    /// let value = scanner.scan_slice(br#"{"id":1,"name":"a","id":2}"#, 0)?;
    /// let [name, id, input] = value.get_all(["name", "id", "input"]);
    /// assert_eq!(id.and_then(|id| id.raw().as_u64()), Some(2));
    /// assert!(name.is_some() && input.is_none());
    /// let value = scanner.scan_slice(br#"{"\u0069d":1,"idea":2,"nam\u0065":3,"":4}"#, 0)?;
    /// let [name, id, empty] = value.get_all(["name", "id", ""]);
    /// let numbers = [name, id, empty].map(|it| it.and_then(|it| it.raw().as_u64()));
    /// assert_eq!(numbers, [Some(3), Some(1), Some(4)]);
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    pub fn get_all<const N: usize>(&self, names: [&str; N]) -> [Option<Value<'l>>; N] {
        let mut found = [None; N];
        self.read_members(|key, value| {
            let mut is_known = false;
            for (name, found) in names.iter().zip(&mut found) {
                if key == name.as_bytes() {
                    *found = Some(value);
                    is_known = true;
                }
            }
            is_known
        });
        found
    }

    /// Returns the member `name` of an object. The last duplicate wins. `None` if there is none, if
    /// the value is no object, or if it is not indexed: see [`Value::is_indexed`].
    pub fn get(&self, name: &str) -> Option<Value<'l>> {
        let end = if self.is_object() { self.node.next() as usize } else { 0 };
        let nodes = self.nodes.get(..end).unwrap_or_default();
        let bytes = self.line.as_bytes();
        let first = name.as_bytes().first();
        let mut at = self.at as usize + 1;
        let mut found = None;
        // A key has no child nodes: the next node is its value.
        while let Some([key, value, ..]) = nodes.get(at..) {
            // Most keys differ in length (escapes only make a key longer) or in the first byte.
            let length = (key.end - key.start).saturating_sub(2) as usize;
            if length >= name.len() {
                let begin = bytes.get(key.start as usize + 1);
                let may_be = begin == first || begin == Some(&b'\\') || first.is_none();
                if may_be && Text::from_scanned(self.slice(*key)).is(name) {
                    found = Some((*value, at as u32 + 1));
                }
            }
            at = value.next() as usize;
        }
        found.map(|(node, at)| Value { node, at, ..*self })
    }
}

/// The items of an array.
#[derive(Clone, Debug)]
pub struct Items<'l> {
    parent: Value<'l>,
    at: u32,
    end: u32,
}

impl<'l> Iterator for Items<'l> {
    type Item = Value<'l>;

    fn next(&mut self) -> Option<Value<'l>> {
        if self.at >= self.end {
            return None;
        }
        let node = *self.parent.nodes.get(self.at as usize)?;
        let value = Value { node, at: self.at, ..self.parent };
        self.at = node.next();
        Some(value)
    }
}

/// The members of an object.
#[derive(Clone, Debug)]
pub struct Members<'l> {
    items: Items<'l>,
}

impl<'l> Iterator for Members<'l> {
    type Item = (Text<'l>, Value<'l>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.items.next()?.text()?;
        Some((key, self.items.next()?))
    }
}

#[cfg(test)]
mod tests {
    use crate::Scanner;

    #[test]
    fn members_and_items_as_written() {
        let mut scanner = Scanner::default();
        let line = br#"{"a": [1.0, "x", {}, []], "b":{"c" :null}, "a":-0}"#;
        let value = scanner.scan_slice(line, 0).expect("valid");
        let keys: Vec<_> = value.members().map(|(key, _)| key.body()).collect();
        assert_eq!(keys, ["a", "b", "a"]);
        let first = value.members().next().expect("three members").1;
        let items: Vec<_> = first.items().map(|item| item.raw().as_str()).collect();
        assert_eq!(items, ["1.0", "\"x\"", "{}", "[]"]);
        assert_eq!(value.get("a").expect("the last one").raw().as_str(), "-0");
        assert!(value.get("b").and_then(|b| b.get("c")).expect("nested").is_null());
        assert_eq!(value.items().count(), 0);
    }

    #[test]
    fn keys_are_found_by_what_they_mean() {
        let mut scanner = Scanner::default();
        let line = br#"{"\u0074ype":1,"t\u0079pe":2,"type2":3,"typ":4,"":5,"\\":6,"Type":7}"#;
        let value = scanner.scan_slice(line, 0).expect("valid");
        let number = |name: &str| value.get(name).and_then(|value| value.raw().as_u64());
        assert_eq!(
            ["type", "typ", "", "\\", "ty", "u"].map(number),
            [Some(2), Some(4), Some(5), Some(6), None, None]
        );
        assert!(value.get("typ").expect("a number").get("typ").is_none());
    }

    #[test]
    fn members_are_read_by_what_their_keys_mean() {
        let mut scanner = Scanner::default();
        let line = br#"{"\u0061":1,"a":2,"b":{"a":3},"\\":4,"\u0062":[]}"#;
        let value = scanner.scan_slice(line, 0).expect("valid");
        let mut seen = Vec::new();
        value.read_members(|key, value| {
            let is_known = matches!(key, b"a" | b"b" | b"\\");
            if is_known {
                seen.push((key.to_vec(), value.raw().as_str()));
            }
            is_known
        });
        let expected = [("a", "1"), ("a", "2"), ("b", r#"{"a":3}"#), ("\\", "4"), ("b", "[]")];
        assert_eq!(seen, expected.map(|(key, value)| (key.as_bytes().to_vec(), value)));
        value.get("b").expect("an array").read_members(|_, _| unreachable!("no object"));
    }

    #[test]
    fn of_too_many_values_the_container_is_kept_as_written() {
        let n_values = crate::scan::node::MIN_LIMIT;
        let many = format!("[{}0]", "0,".repeat(n_values));
        let line = format!(r#"{{"a":{{"x":1}},"b":[{{"c":{many}}},2],"d":{many},"e":[3,{{}}]}}"#);
        for backend in [crate::Backend::Best, crate::Backend::Portable] {
            let mut scanner = Scanner::with_backend(backend);
            let value = scanner.scan_slice(line.as_bytes(), 0).expect("valid");
            let [a, b, d, e] = value.get_all(["a", "b", "d", "e"]).map(|it| it.expect("there"));
            assert_eq!(a.get("x").and_then(|x| x.raw().as_u64()), Some(1));
            let c = b.items().next().and_then(|first| first.get("c")).expect("indexed");
            for value in [c, d] {
                assert!(!value.is_indexed() && value.raw().as_str() == many);
                assert_eq!(value.items().count(), 0);
            }
            let items: Vec<_> = e.items().map(|item| item.raw().as_str()).collect();
            assert_eq!(items, ["3", "{}"]);
            assert_eq!(b.items().count(), 2);
            assert!([value, a, b, e].iter().all(|value| value.is_indexed()));
        }
        let deep = format!("{}{many}{}", "[1,".repeat(12), "]".repeat(12));
        let mut scanner = Scanner::default();
        let mut value = scanner.scan_slice(deep.as_bytes(), 0).expect("valid");
        while let Some(inner) = value.items().nth(1) {
            value = inner;
        }
        assert!(value.raw().as_str() == many);
    }

    #[test]
    fn values_are_found_by_where_they_lie_and_their_objects_within() {
        let mut scanner = Scanner::default();
        let line = br#" {"a":[{"b":{}},"c"],"d":{"e":1}}"#;
        let value = scanner.scan_slice(line, 0).expect("valid");
        let array = value.get("a").expect("there");
        let slice = array.raw().as_str().as_bytes();
        let found = value.at_slice(slice).expect("an array");
        assert_eq!(found.raw().as_str(), array.raw().as_str());
        let mut objects = Vec::new();
        let mut note = |object: super::Value<'_>| {
            objects.push(object.raw().as_str().to_owned());
            object.n_members() > 0
        };
        assert!(!found.all_objects(&mut note));
        assert!(value.get("d").expect("there").all_objects(&mut note));
        assert_eq!(objects, [r#"{"b":{}}"#, "{}", r#"{"e":1}"#]);
        assert!(value.at_slice(&slice[1..]).is_none() && value.at_slice(&slice[..2]).is_none());
        assert!(value.at_slice(b"[]").is_none(), "another line");
        let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
        let value = scanner.scan_slice(deep.as_bytes(), 0).expect("valid");
        assert!(!value.all_objects(|_| true), "not indexed");
    }

    #[test]
    fn what_lies_too_deep_is_kept_as_written() {
        let mut scanner = Scanner::default();
        let line = format!("{}{{\"x\":1}}{},[2]]", "[".repeat(40), "]".repeat(39));
        let value = scanner.scan_slice(line.as_bytes(), 0).expect("valid");
        assert_eq!(value.items().count(), 2);
        let mut depth = 0;
        let mut inner = value;
        while let Some(next) = inner.items().next() {
            inner = next;
            depth += 1;
        }
        assert_eq!(depth, crate::scan::grammar::MAX_INDEXED_DEPTH);
        assert!(inner.raw().as_str().starts_with("[[["));
    }
}
