// The simpler job on node.
const fs = require("fs");

const parts = [];
let size = 0;
function flush() {
  if (parts.length) {
    const bytes = Buffer.from(parts.join(""));
    for (let done = 0; done < bytes.length; ) done += fs.writeSync(1, bytes, done);
  }
  parts.length = 0;
  size = 0;
}
function write(value) {
  const text = JSON.stringify(value) + "\n";
  parts.push(text);
  size += text.length;
  if (size > 1 << 20) flush();
}

const or = (value) => (value === undefined ? null : value);

function block(b) {
  switch (b && b.type) {
    case "text":
      return { type: "text", text: or(b.text) };
    case "thinking":
      return { type: "thinking", thinking: or(b.thinking) };
    case "tool_use":
      return { type: "tool_use", id: or(b.id), name: or(b.name), input: or(b.input) };
    case "image": {
      const source = b.source || {};
      return { type: "image", media_type: or(source.media_type), base64_data: or(source.data) };
    }
  }
}

function blocks(content) {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (Array.isArray(content)) return content.map(block).filter(Boolean);
}

function flat(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter((b) => b.type === "text").map((b) => b.text).join("\n");
}

function convert(record) {
  const content = record && record.message && record.message.content;
  if (record.type === "assistant") {
    const made = blocks(content);
    if (!made) return;
    write({ type: "assistant_message", content: made });
    for (const b of made) {
      if (b.type === "tool_use")
        write({ type: "tool_call", tool_use_id: b.id, tool_name: b.name, input: b.input });
    }
  } else if (record.type === "user") {
    if (Array.isArray(content)) {
      for (const b of content) {
        if (b && b.type === "tool_result")
          write({
            type: "tool_result",
            tool_use_id: or(b.tool_use_id),
            content: flat(b.content),
            is_error: b.is_error === true,
          });
      }
    }
    const made = blocks(content);
    if (made && made.length) write({ type: "user_message", role: "user", content: made });
  }
}

let unread = 0;
for (const name of process.argv.slice(2)) {
  const bytes = fs.readFileSync(name);
  for (let start = 0; start < bytes.length; ) {
    let end = bytes.indexOf(10, start);
    if (end < 0) end = bytes.length;
    if (end > start) {
      let record;
      try {
        record = JSON.parse(bytes.toString("utf8", start, end));
      } catch {
        unread++;
      }
      if (record) convert(record);
    }
    start = end + 1;
  }
}
flush();
if (unread) console.error(`${unread} lines not read`);
