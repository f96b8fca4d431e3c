# Lines by type for jq and jaq: -r -n -f count.jq
reduce inputs as $line ({}; .[$line.type // "null"] += 1)
| to_entries | sort_by(.key)[] | "\(.key) \(.value)"
