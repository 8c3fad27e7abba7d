# manual3.awk - klift(3) from the comments of include/klift.h: the one at the top is the description, types are shown as they
# stand, a function is explained by the comment above it, the one behind it, or both.
#   awk -v version=0.1.0 -v date= -f packaging/manual3.awk include/klift.h
function escape(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/`/, "\\(ga", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    gsub(/"/, "\\(dq", text)
    sub(/^\./, "\\\\\\&.", text)
    return text
}
function bare(comment) { # the text of a comment in one line
    gsub(/\/\*|\*\//, "", comment)
    gsub(/[ \t]+/, " ", comment)
    gsub(/^ | $/, "", comment)
    return comment
}
function print_words(text,    word, words, i, line) { # in lines of a fair length
    words = split(text, word, " ")
    for (i = 1; i <= words; i++) {
        if (line != "" && length(escape(line " " word[i])) > 78) { print escape(line) (line ~ /\.$/ ? "\\&" : ""); line = "" }
        line = line (line == "" ? "" : " ") word[i]
    }
    print escape(line)
}
function capital(text) { return toupper(substr(text, 1, 1)) substr(text, 2) }
function paragraph(text) { if (text != "") { gap(); print_words(text) } }
function heading(text) { print ".SH " escape(toupper(text)); first = 1 }
function gap() { if (!first) print ".PP"; first = 0 } # .SH and .SS leave their own

# "KLIFT_API klift_status f(a, b); /* behind */" with what was above it
function show_function(text, above,    declaration, behind) {
    declaration = behind = text
    sub(/;.*/, ";", declaration)
    sub(/^KLIFT_API /, "", declaration)
    gsub(/[ \t]+/, " ", declaration)
    sub(/^[^;]*;/, "", behind)
    behind = bare(behind)
    print ".TP\n\\fB" escape(declaration) "\\fR"
    text = above (above != "" && behind != "" ? ". " : "") behind
    first = 0
    if (text != "") print_words(text (text ~ /\.$/ ? "" : ".")); else print "\\&"
}
function show_type(text, above) {
    paragraph(above)
    gap()
    print ".EX"
    printf "%s", text
    print ".EE"
}

BEGIN { part = "top" }
part == "top" { # the comment before #ifndef
    if (/^\/\*$/ || /^ \*\/$/) next
    if (/^#ifndef/) { part = "head"; open_top(); next }
    line = $0
    sub(/^ \* ?/, "", line)
    top[++tops] = line
    next
}
function open_top(    i, name, text) {
    print ".TH KLIFT 3 \"" date "\" \"klift " version "\" \"klift manual\"\n.nr HY 0\n.nh\n.ad l"
    heading("name")
    name = top[1]
    sub(/^klift\.h - /, "", name)
    sub(/:.*/, "", name)
    print "klift \\- " escape(name)
    heading("synopsis")
    print ".B #include <klift.h>\n.PP\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs klift)"
    heading("description")
    sub(/^klift\.h - /, "", top[1])
    top[1] = capital(top[1])
    for (i = 1; i <= tops; i++) {
        if (top[i] == "") { paragraph(text); text = "" } else text = text (text == "" ? "" : " ") top[i]
    }
    paragraph(text)
    heading("types")
}
types != "" && !/^typedef [^{]*;|^enum/ { show_type(types, above); types = above = "" } # one-line types that stand together
/^#|^extern "C"|^}$|^$/ { if (!inside) { if (/^$/) above = ""; next } }
/^\/\* ---- .* ---- \*\/$/ {
    if (part != "functions") heading("functions")
    part = "functions"
    title = bare($0)
    gsub(/^---- | ----$/, "", title)
    colon = index(title, ": ")
    print ".SS " escape(capital(colon ? substr(title, 1, colon - 1) : title))
    first = 1
    if (colon) paragraph(capital(substr(title, colon + 2)) ".")
    next
}
/^\/\*/ && !inside && /\*\/$/ { above = above (above == "" ? "" : " ") bare($0); next }
/^KLIFT_API/ { inside = "function"; text = "" }
/^typedef struct .*\{$|^typedef enum \{$/ { inside = "type"; text = "" }
inside == "function" {
    text = text " " $0
    sub(/^ /, "", text)
    if (text ~ /;/) { show_function(text, above); inside = above = "" }
    next
}
inside == "type" {
    text = text escape($0) "\n"
    if (/^}/) { show_type(text, above); inside = above = "" }
    next
}
/^typedef|^enum/ { types = types escape($0) "\n" }
END {
    heading("see also")
    print ".BR klift (1)"
}
