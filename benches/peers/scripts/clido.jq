# The simpler job for jq and jaq: -c -f clido.jq
def block:
  if .type == "text" then {type, text}
  elif .type == "thinking" then {type, thinking}
  elif .type == "tool_use" then {type, id, name, input}
  elif .type == "image" then {type, media_type: .source.media_type, base64_data: .source.data}
  else empty end;
def blocks:
  if type == "string" then [{type: "text", text: .}]
  elif type == "array" then [.[] | block]
  else empty end;
def flat:
  if type == "string" then .
  elif type == "array" then [.[] | select(.type == "text") | .text] | join("\n")
  else "" end;
if .type == "assistant" then
  (.message.content | blocks) as $blocks
  | {type: "assistant_message", content: $blocks},
    ($blocks[] | select(.type == "tool_use")
      | {type: "tool_call", tool_use_id: .id, tool_name: .name, input})
elif .type == "user" then
  .message.content
  | (if type == "array" then
      .[] | select(.type == "tool_result")
      | {type, tool_use_id, content: (.content | flat), is_error: (.is_error == true)}
    else empty end),
    (blocks | select(length > 0) | {type: "user_message", role: "user", content: .})
else empty end
