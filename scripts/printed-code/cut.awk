# Cuts the Go declarations out of a text: `func ...` and `type ...` at the start of a line, up to
# the brace that closes it. One that is never closed before the next begins is dropped: an article
# shows the head of a function alone. So are `main` and, of two with one head, the first.
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
    # -v only=NAME: the declarations whose head has it.
    for (i = 1; i <= count; i++) if (index(order[i], only)) printf "%s\n", cut[order[i]]
}
