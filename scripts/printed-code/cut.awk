# Extracts the Go declarations from a text: `func ...` and `type ...` at the start of a line, up to
# the closing brace. Dropped are a declaration that is not closed before the next begins, since
# articles also show the head of a function alone; `main`; and the first of two with the same head.
function braces(line,    opened, closed) {
    gsub(/"[^"]*"/, "", line)
    sub(/\/\/.*/, "", line)
    opened = gsub(/{/, "", line)
    closed = gsub(/}/, "", line)
    return opened - closed
}
/^(func|type) / {
    head = $0
    body = ""
    depth = 0
    inside = 1
}
inside {
    body = body $0 "\n"
    depth += braces($0)
    if (depth == 0) {
        inside = 0
        if (head !~ /^func main\(/) {
            if (!(head in cut)) order[++count] = head
            cut[head] = body
        }
    }
}
END {
    # -v only=NAME: only declarations whose head contains NAME.
    for (i = 1; i <= count; i++) if (index(order[i], only)) printf "%s\n", cut[order[i]]
}
