//! Finds the link between a name and its value: a sign, a comma, a tag, blanks.
//!
//! In: `password: str = 'x'`, from the end of the name. Out: the position of `'x'`, and that a sign links
//! both.

use memchr::memmem;

use crate::{
    announced::{is_spoken, past_announcement, past_demand, past_gap, past_prompt},
    around::{context, past_closers},
    cursor::Cursor,
    margin::past_line,
    name::{Name, is_other_tail},
    placeholder::PLACEHOLDER,
    randomness::Makeup,
    span::{Quote, bare_end, ends_line, is_blank, is_quote, past_blanks, past_break, past_colors},
    tag::{past_closing, past_tag},
};

/// The link between a name and its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Link {
    /// `=` or `:`, with or without blanks.
    Sign,
    /// A comma, a call, or a fallback. Only a quoted string counts as a value.
    Weak,
    /// Only blanks.
    Blank,
    /// The `>` of an XML tag.
    Tag,
    /// Something else: an arrow, a comma of a CSV file, a line break. Only a strong value counts.
    Apart,
}

/// Returns the link between a name and a value, and the position after it.
pub(crate) fn link<'b>(name: &Name<'b>) -> Option<(Link, Cursor<'b>)> {
    if let Some(at) = past_genitive(name.end) {
        return Some((Link::Blank, at));
    }
    let (after, has_quote) = past_closers(past_colors(name.end));
    // Few names are followed by a tag or by the size of an array.
    let after = match after.next() {
        Some(b'<') => past_closing(after),
        Some(b'[') => past_size(after),
        // `$ENV{API_KEY} = "x"`
        Some(b'}') if is_in_hash(name) => after.forward(1),
        _ => after,
    };
    if let Some(at) = past_tag(name, after) {
        return Some((Link::Tag, at));
    }
    if let Some(at) = past_log(name, after) {
        return Some((Link::Sign, at));
    }
    if let Some(at) = past_suffix(name, after) {
        return Some((Link::Apart, at));
    }
    let at = past_blanks(after, 60);
    if let Some(at) = past_item(name, at) {
        return Some((Link::Blank, at));
    }
    let at = if name.is_option() { past_continuation(at).unwrap_or(at) } else { at };
    let has_blank = at.place() > after.place();
    let at = past_dots(at);
    let at = past_default(at).or_else(|| past_note(at)).filter(|_| has_blank).unwrap_or(at);
    if let Some(at) = past_members(name) {
        return Some((Link::Sign, at));
    }
    if let Some(at) = past_field(name, after) {
        return Some((Link::Weak, at));
    }
    if let Some(at) = past_type(at).or_else(|| past_sign(name, at)) {
        return Some((Link::Sign, at));
    }
    if let Some(at) = past_value_name(name, has_quote) {
        return Some((Link::Sign, at));
    }
    match at.next()? {
        // R assigns with `<-`, and a shell passes a string to a command with `<<<`.
        b'<' if at.rest().starts_with(b"<(echo ") => Some((Link::Sign, at.forward(7))),
        b'<' if has_blank => Some((Link::Weak, at.past(b"<- ").or_else(|| at.past(b"<<< "))?)),
        // `"-Cpasses=foopass", "-Cprefer-dynamic=yes"`
        b',' if has_quote && name.start.previous() == Some(b'=') => None,
        // Ruby names the argument: `'Password', with: 'x'`.
        b',' if has_quote => {
            let next = past_blanks(at.forward(1), 4);
            Some((Link::Weak, next.past(b"with: ").unwrap_or(at.forward(1))))
        }
        b',' if name.is_option() => Some((Link::Blank, at.forward(1))),
        // PHP prints `[password] => x`.
        b']' if name.start.previous() == Some(b'[') => Some((
            Link::Sign,
            at.past(b"] =").or_else(|| at.past(b"]="))?.skip(1, |byte| byte == b'>'),
        )),
        b'(' if !has_quote && !has_blank => Some((Link::Weak, at.forward(1))),
        b'|' | b'?' if at.rest().starts_with(b"||") || at.rest().starts_with(b"??") => {
            Some((Link::Weak, at.forward(2)))
        }
        b'|' if has_blank && at.forward(1).next().is_some_and(is_blank) => {
            // A template has a function after the sign: `{{ .password | quote }}`.
            let is_template = memmem::find(context(name.start, 80), b"{{").is_some()
                || memmem::find(at.window(40), b"}}").is_some();
            (!is_template).then(|| (Link::Sign, at.forward(1)))
        }
        // `API_KEY -> x`, `password - x`
        b'-' if has_blank && !name.is_option() => {
            Some((Link::Apart, at.past(b"-> ").or_else(|| at.past(b"- "))?))
        }
        b',' if name.is_compound() => Some((Link::Apart, at.forward(1))),
        // `What should I use as password? -> x`
        b'?' if !has_blank => past_answer(at).or_else(|| past_announcement(name, at.forward(1))),
        // `it asks for the password, give it x`
        b',' if !has_blank => Some((Link::Apart, past_prompt(at)?)),
        b'\r' | b'\n' | b'\\'
            if !has_blank && (name.is_constant() || name.is_owned() || is_shown(name)) =>
        {
            Some((Link::Apart, past_line(at)?))
        }
        // The box of a table, or an arrow.
        0xe2 if has_blank => past_border(at).or_else(|| Some((Link::Apart, past_arrow(at)?))),
        b'\\' if has_blank => Some(
            past_escaped(at)
                .or_else(|| past_announcement(name, after))
                .unwrap_or((Link::Blank, at)),
        ),
        // `I set NAME to VALUE.`
        b'a' | b'h' | b'm' | b's' | b't' | b'w'
            if has_blank && (has_quote || name.is_constant() || name.is_compound()) =>
        {
            let link = if has_quote { Link::Weak } else { Link::Apart };
            Some(past_verb(at).map_or((Link::Blank, at), |at| (link, at)))
        }
        b'\r' | b'\n' | b'\\' if !has_blank && name.is_bare() => Some((Link::Apart, past_gap(at)?)),
        b'F' if has_blank => {
            Some(past_account(at).map_or((Link::Blank, at), |at| (Link::Weak, at)))
        }
        b'o' if has_quote && has_blank => Some((Link::Weak, at.past(b"or ")?)),
        // ``your CLIENT_SECRET (`x`) is old``
        b'(' if has_blank
            && (has_quote || name.is_constant())
            && Quote::open(at.forward(1)).is_some() =>
        {
            Some((Link::Weak, at.forward(1)))
        }
        // `SET app.jwt_secret TO 'x'`
        b'T' if has_blank && at.rest().starts_with(b"TO ") => Some((Link::Weak, at.forward(3))),
        b'.' | b'(' | 0xc3 | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' if has_blank => {
            let demand = past_demand(at).map(|at| (Link::Apart, at));
            Some(demand.or_else(|| past_announcement(name, after)).unwrap_or((Link::Blank, at)))
        }
        _ if has_blank => Some((Link::Blank, at)),
        _ => None,
    }
}

/// Returns the position of the value in another member of the object that has the name in a string:
/// `"selector": "#password", "text": `, `"name": "Password", "type": "textbox", "value": `.
fn past_members<'b>(name: &Name<'b>) -> Option<Cursor<'b>> {
    const VALUES: &[&[u8]] = &[
        b"value",
        b"text",
        b"content",
        b"default",
        b"defaultValue",
        b"val",
        b"v",
        b"data",
        b"string",
        b"stringValue",
    ];
    /// Limit for the members after the name.
    const MAX_MEMBERS: usize = 4;
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b" _-])'\"\\=*.".contains(&byte);
    memchr::memchr(b'"', name.end.window(24))?;
    if name.start.before().ends_with(PLACEHOLDER) {
        return None;
    }
    let end = name.end.skip(24, is_in);
    let mut at = end.past(b",").filter(|_| end.previous() == Some(b'"'))?;
    for _ in 0..MAX_MEMBERS {
        let next = past_blanks(at, 40);
        let next = past_line(next).map_or(next, |line| past_blanks(line, 60));
        let (quote, key) = Quote::open(next)?;
        let key_end = quote.close(key).filter(|end| end.since(key.place()).len() <= 32)?;
        let value = past_blanks(past_blanks(past_closers(key_end).0, 4).past(b":")?, 4);
        let is_value = VALUES.contains(&key_end.since(key.place()));
        match (value.past(b"{"), Quote::open(value)) {
            (Some(inner), _) if is_value => at = inner,
            (None, Some(_)) if is_value => return Some(value),
            (None, Some((quote, text))) => at = past_closers(quote.close(text)?).0.past(b",")?,
            (None, None) => at = value.skip(24, |byte| byte.is_ascii_alphanumeric()).past(b",")?,
            _ => return None,
        }
    }
    None
}

/// Returns the position of the answer to a question for a password, at the end of its line: `root password? x`.
fn past_answer(at: Cursor<'_>) -> Option<(Link, Cursor<'_>)> {
    let answer = at.past(b"? ")?;
    (ends_line(bare_end(answer, |_| false)) && is_spoken(answer)).then_some((Link::Apart, answer))
}

/// Returns whether a name is the key of a hash in Perl: `$ENV{NAME`.
fn is_in_hash(name: &Name<'_>) -> bool {
    let before = name.start.window_before(24).strip_suffix(b"{").unwrap_or_default();
    let n_word = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    n_word > 0
        && before
            .get(..before.len().saturating_sub(n_word))
            .is_some_and(|text| text.ends_with(b"$"))
}

/// Returns the position after the last word of a property and its sign: `user.password.default=x`, `secret.signing=x`.
fn past_suffix<'b>(name: &Name<'b>, after: Cursor<'b>) -> Option<Cursor<'b>> {
    let word = after.past(b".").filter(|_| !name.is_option())?;
    let end = word.skip(24, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let sign = past_blanks(end, 4).past(b"=").filter(|sign| sign.next() != Some(b'='))?;
    let is_other = is_other_tail(end.since(word.place()));
    (!is_other && end.place() > word.place()).then_some(sign)
}

fn past_border(at: Cursor<'_>) -> Option<(Link, Cursor<'_>)> {
    const BORDERS: &[&str] = &["│ ", "┃ ", "║ "];
    let after = BORDERS.iter().find_map(|border| at.past(border.as_bytes()))?;
    Some((Link::Sign, after))
}

/// Returns the position after a border or an arrow that JSON escapes: `DB_PASSWORD \u2502 x`.
fn past_escaped(at: Cursor<'_>) -> Option<(Link, Cursor<'_>)> {
    const BORDERS: &[&[u8]] = &[b"u2502 ", b"u2503 ", b"u2551 "];
    const ARROWS: &[&[u8]] = &[b"u2192", b"u21d2", b"u279c", b"u203a", b"u2014", b"u2013"];
    let letter = at.skip(63, |byte| byte == b'\\');
    let border = BORDERS.iter().find_map(|border| letter.past(border));
    let arrow = || Some((Link::Apart, ARROWS.iter().find_map(|arrow| letter.past(arrow))?));
    border.map(|after| (Link::Sign, after)).or_else(arrow)
}

/// Moves past the size of an array in C: `api_key[] = "x"`, `password[32] = "x"`.
fn past_size(at: Cursor<'_>) -> Cursor<'_> {
    let size = at.past(b"[").map(|at| at.skip(6, |byte| byte.is_ascii_digit()));
    let end = size.and_then(|at| at.past(b"]"));
    let is_assigned = |end: &Cursor<'_>| past_blanks(*end, 4).past(b"= ").is_some();
    end.filter(is_assigned).unwrap_or(at)
}

/// Moves past the dots between a name and its value in a form: `Password .....: x`.
fn past_dots(at: Cursor<'_>) -> Cursor<'_> {
    let dots = at.skip(60, |byte| byte == b'.');
    let is_row = dots.place() > at.place().saturating_add(2);
    if is_row { past_blanks(dots, 4) } else { at }
}

/// Returns the position after an arrow or a dash: `API_KEY  →  x`.
fn past_arrow(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const ARROWS: &[&str] = &["→", "⇒", "➜", "⟶", "➔", "▶", "›", "—", "–"];
    ARROWS.iter().find_map(|arrow| at.past(arrow.as_bytes()))
}

/// Returns the position after a word between the name of a variable and its value.
fn past_verb(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const VERBS: &[&[u8]] = &[
        b"to ",
        b"as ",
        b"was ",
        b"to be ",
        b"with ",
        b"to: ",
        b"with value ",
        b"with the value ",
        b"has the value ",
        b"should be ",
        b"must be ",
    ];
    VERBS.iter().filter_map(|verb| at.past(verb)).max_by_key(|at| at.place())
}

/// Returns the position after the `'s` of `the password's x`, which is no quote.
fn past_genitive(end: Cursor<'_>) -> Option<Cursor<'_>> {
    if !matches!(end.next(), Some(b'\'' | b' ' | 0xe2)) {
        return None;
    }
    let phrase =
        end.past(b" phrase ").filter(|_| end.window_before(4).eq_ignore_ascii_case(b"pass"));
    phrase.or_else(|| end.past(b"'s ")).or_else(|| end.past("’s ".as_bytes()))
}

/// Returns the position of the sign after a note on a name: `Deploy token (ci): `.
fn past_note(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let is_in =
        |byte: u8| byte.is_ascii_alphanumeric() || b" _-./,@!?'&+".contains(&byte) || byte > 127;
    let end = at.past(b"(")?.skip(48, is_in).past(b")")?;
    matches!(end.next(), Some(b':' | b'=')).then_some(end)
}

/// Returns whether a command prints the file or the setting with the name: `cat private.key`.
fn is_shown(name: &Name<'_>) -> bool {
    let before = context(name.start, 80);
    [&b"cat "[..], b" show "].iter().any(|word| memmem::find(before, word).is_some())
}

/// Returns the position after the account in SQL: `SET PASSWORD FOR 'ada'@'%' = `.
fn past_account(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b"'\"`@%_.-\\".contains(&byte);
    at.past(b"FOR ")?.skip(80, is_in).past(b" = ")
}

/// Returns the position after the call that fills a field with the name of a secret, or replaces a variable of that name:
/// `fill('[name=password]', `, `getByLabel('Password').fill(`, `env::var("PASSWORD").unwrap_or(`.
fn past_field<'b>(name: &Name<'b>, after: Cursor<'b>) -> Option<Cursor<'b>> {
    const CALLS: &[&[u8]] =
        &[b".fill(", b".type(", b".send_keys(", b".sendKeys(", b".setValue(", b".val("];
    // A variable of the environment that is not set.
    const FALLBACKS: &[&[u8]] = &[
        b".unwrap_or(",
        b".unwrap_or_else(|_| ",
        b".unwrap_or_else(|| ",
        b".getOrElse(",
        b".orElse(",
        b".or(",
    ];
    match (after.previous(), after.next()?) {
        // A placeholder ends in this sign too.
        (_, b']')
            if name
                .start
                .previous()
                .is_some_and(|byte| b"=[".contains(&byte) || is_quote(byte)) =>
        {
            let (closed, has_quote) = past_closers(after.forward(1));
            let comma =
                closed.past(b",").or_else(|| CALLS.iter().find_map(|call| closed.past(call)));
            let comma = comma.map(|at| at.past(b" with: ").unwrap_or(at));
            comma.filter(|_| has_quote)
        }
        (Some(b')'), b'.') => CALLS.iter().chain(FALLBACKS).find_map(|call| after.past(call)),
        _ => None,
    }
}

/// Returns the position of the colon after the default of a prompt: `Secret Access Key [None]: `.
fn past_default(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let start = at.past(b"[").filter(|_| !at.rest().starts_with(PLACEHOLDER))?;
    let end = start.skip(40, |byte| byte.is_ascii_graphic() && byte != b']').past(b"]")?;
    (end.next() == Some(b':')).then_some(end)
}

/// Returns the position after a name that YAML writes above its value, `? password`, or that a log
/// sets: `::set-env name=PASSWORD::`, `##vso[task.setvariable variable=PASSWORD]`.
fn past_log<'b>(name: &Name<'b>, after: Cursor<'b>) -> Option<Cursor<'b>> {
    match after.next()? {
        b':' if name.start.window_before(5) == b"name=" => after.past(b"::"),
        b']' | b';' if name.start.window_before(9) == b"variable=" => {
            after.skip(40, |byte| !matches!(byte, b'[' | b']' | b'\n')).past(b"]")
        }
        b'\n' | b'\\' if name.start.window_before(2) == b"? " => past_line(after)?.past(b": "),
        _ => None,
    }
}

/// Returns the position after the mark of the next item in YAML, if the name is an option in a list of arguments:
/// `- --password`, and `- x` in the next line.
fn past_item<'b>(name: &Name<'_>, at: Cursor<'b>) -> Option<Cursor<'b>> {
    if !name.is_option() || !matches!(at.next(), Some(b'\n' | b'\r' | b'\\')) {
        return None;
    }
    let before = context(name.start, 40);
    let is_mark = |byte: &u8| is_quote(*byte) || *byte == b'\\';
    let n_marks = before.iter().rev().take_while(|byte| is_mark(byte)).count();
    let before = before.get(..before.len().saturating_sub(n_marks))?;
    // In a list without indentation, the mark is read as a margin, too.
    let mut lines = [past_break(at), past_line(at)].into_iter().flatten();
    let item = lines.find_map(|line| past_blanks(line, 40).past(b"- "));
    let item = item.filter(|_| before.ends_with(b"- "))?;
    (item.next() != Some(b'-')).then_some(item)
}

/// Returns the position after the sign that continues a command on the next line.
pub(crate) fn past_continuation(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let letter = at.skip(63, |byte| byte == b'\\');
    let after = match letter.since(at.place()).len() {
        0 => return None,
        1 => letter.past(b"\n")?,
        _ => letter.past(b"\n").or_else(|| letter.past(b"n"))?,
    };
    Some(past_blanks(after, 40))
}

/// Returns the position after an operator that assigns or compares.
fn past_sign<'b>(name: &Name<'_>, at: Cursor<'b>) -> Option<Cursor<'b>> {
    const SIGNS: &[&[u8]] =
        &[b":=", b"=>", b"===", b"==", b"!==", b"!=", b"||=", b"??=", b"?=", b"+=", b"=", b":"];
    let coded = || at.past(b"%3D").or_else(|| at.past(b"%3d")).filter(|_| is_in_coded_url(name));
    let after = SIGNS.iter().find_map(|sign| at.past(sign)).or_else(coded)?;
    // `${NAME:-x}`, `${NAME:?message}`
    let after = match after.next() {
        Some(b'-' | b'=') if is_expanded(name) => after.forward(1),
        Some(b'?') if is_expanded(name) => return None,
        _ => after,
    };
    let is_other = matches!(after.window(2), [b':', ..] | [b'~', b' ' | b'/']);
    (!is_other).then_some(after)
}

/// Returns whether the name is that of a parameter in a URL whose marks have codes: `%3Fapi_key`.
fn is_in_coded_url(name: &Name<'_>) -> bool {
    const MARKS: &[&[u8]] = &[b"%3F", b"%3f", b"%26", b"%23", b"3F", b"3f", b"26", b"23"];
    let whole = name.end.since(name.start.place());
    let before = name.start.window_before(3);
    MARKS.iter().take(4).any(|mark| before == *mark)
        || before.ends_with(b"%") && MARKS.iter().skip(4).any(|mark| whole.starts_with(mark))
}

/// Returns whether a shell replaces the name by the value of its variable: `${NAME`.
fn is_expanded(name: &Name<'_>) -> bool {
    name.start.window_before(2) == b"${"
}

/// Returns the position after the type of a variable and `=`: `: &str = `, ` string = `.
fn past_type(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const GO_TYPES: &[&[u8]] = &[b"string ", b"String ", b"str ", b"NSString "];
    let start = match at.next()? {
        b':' => at.forward(1).skip(2, is_blank),
        b's' | b'S' | b'N' if GO_TYPES.iter().any(|name| at.rest().starts_with(name)) => at,
        // Basic and SQL: `As String = `, `NVARCHAR(50) = `.
        b'A' | b'a' if at.past(b"As ").or_else(|| at.past(b"as ")).is_some() => at.forward(3),
        b'/' => {
            let value = at.past(b"/t REG_SZ ").or_else(|| at.past(b"/t REG_EXPAND_SZ "));
            return value.unwrap_or(at).past(b"/d ");
        }
        // A registry has the type before the value.
        b'R' => return at.past(b"REG_SZ").or_else(|| at.past(b"REG_EXPAND_SZ")),
        b'V' | b'v' | b'C' | b'c' | b'N' | b'n' | b'T' | b't' => return past_column_type(at),
        _ => return None,
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_&'<>?.[]| ".contains(&byte);
    let sign = start.skip(40, is_name);
    let is_type = matches!(start.next(), Some(b'&' | b'A'..=b'Z' | b'a'..=b'z'));
    let after = sign.past(b"=")?;
    let is_apart = sign.previous().is_some_and(is_blank) && after.next() != Some(b'=');
    let name = sign.since(start.place());
    let is_before_quote = matches!(after.next(), Some(b'"' | b'\'' | b'\\'));
    let is_known = name.len() <= 16 && !Makeup::of(name).is_random() && is_before_quote;
    (is_type && (is_apart || is_known)).then_some(after)
}

/// Returns the position after the type of a column or of a variable in SQL, and `=` or `DEFAULT`: `VARCHAR(50) = `.
fn past_column_type(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const TYPES: &[&[u8]] =
        &[b"varchar", b"nvarchar", b"char", b"nchar", b"text", b"varchar2", b"character varying"];
    let name = at.skip(24, |byte| byte.is_ascii_alphanumeric());
    let is_type = TYPES.iter().any(|text| name.since(at.place()).eq_ignore_ascii_case(text));
    let size = name.past(b"(").map(|size| size.skip(6, |byte| byte.is_ascii_alphanumeric()));
    let end = past_blanks(size.map_or(Some(name), |size| size.past(b")"))?, 4);
    let sign = end.past(b":=").or_else(|| end.past(b"=")).or_else(|| end.past(b"DEFAULT "));
    sign.filter(|_| is_type)
}

/// Returns the position after the name of a value that follows the name of a secret: `"name":
/// "DB_PASSWORD", "value": `, `variable "password" { default = `.
fn past_value_name<'b>(name: &Name<'b>, has_quote: bool) -> Option<Cursor<'b>> {
    const NAMES: &[&[u8]] = &[b"value", b"default", b"content"];
    let mut at = name.end;
    for _ in 0..48 {
        at = match (past_line(at), at.next()) {
            (Some(after), _) => after,
            (_, Some(b' ' | b'\t' | b'"' | b'\'' | b'`' | b',' | b'{')) => at.forward(1),
            // JSON in strings of JSON has many before each quote.
            (_, Some(b'\\')) => at.skip(63, |byte| byte == b'\\'),
            _ => break,
        };
    }
    if at.place() == name.end.place() {
        return None;
    }
    // An option of the same command, or the text between a property and its value in `C#`.
    const OTHERS: &[&[u8]] = &[
        b"--body ",
        b"--value ",
        b"-Value ",
        b"--data ",
        b"-b ",
        b"-v ",
        b"get; set; } =",
        b"get; } =",
        b"is generated for root@localhost: ",
        b"is set to ",
        b"is currently set to ",
        b"was set to ",
        b"has been set to ",
        b"is currently ",
        b"is: ",
        b"is now ",
        b"is ",
        b"set to ",
        b"reset to ",
        b"changed to ",
    ];
    if let Some(after) = OTHERS.iter().find_map(|other| at.past(other)) {
        return Some(after);
    }
    if has_quote && name.start.window_before(48).windows(9).any(|text| text == b"form-data") {
        return (at.previous() == Some(b'n') || at.previous() == Some(b'\n')).then_some(at);
    }
    let word = at.skip(24, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'));
    // `value:` of YAML has its sign in the word.
    let word = word.back(usize::from(word.previous() == Some(b':')));
    let lower = word.since(at.place()).to_ascii_lowercase();
    let is_name = NAMES.iter().any(|name| lower.ends_with(name));
    let found = Some(word).filter(|_| is_name).or_else(|| {
        // A Terraform variable may have other attributes before its default.
        let block = at.window(240).split(|byte| *byte == b'}').next()?;
        let is_block = past_closers(name.end).0.past(b" {").is_some();
        let found = memmem::find(block, b"default").filter(|_| has_quote && is_block)?;
        Some(at.forward(found).forward(b"default".len()))
    })?;
    let is_whole = found.next().is_some_and(|byte| !byte.is_ascii_alphanumeric());
    past_sign(name, past_closers(found).0.skip(40, is_blank)).filter(|_| is_whole)
}
