#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks the rules of CONTRIBUTING.md that a machine can check. Prints one TAP
# line a rule, under a failed one the places that break it.
#
# Patterns are written so that this file does not match them itself.

set -u
cd "$(dirname "$0")/.." || exit 1

# Files of this project; of them: text, C and C++, and shell.
all=$(git ls-files --cached --others --exclude-standard 2>/dev/null) ||
    all=$(find . -path ./build -prune -o -path ./.git -prune -o -type f -print)
existing() {
    while read -r f; do [ -f "$f" ] && echo "$f"; done
}
text=$(echo "$all" | existing |
       grep -vE '(^|/)LICENSE$|\.(bin|gz|xz|tflite|npy|png|bmp|ppm|dtb)$')
code=$(echo "$text" | grep -E '\.(c|h|cc|S)$')
shell=$(grep -lE '^#!/bin/(ba)?sh' $text; echo "$text" | grep -E '\.sh$')

count=0
failed=0

# rule NAME: reads offending places; the rule holds when there are none.
rule() {
    local places
    places=$(cat)
    count=$((count + 1))
    if [ -z "$places" ]; then
        echo "ok $count - $1"
    else
        failed=$((failed + 1))
        echo "not ok $count - $1"
        echo "$places" | head -n 20 | sed 's/^/#   /'
    fi
}

# Prints the members of list $2 that lack pattern $1 in their first 3 lines.
lacks_in_head() {
    for f in $2; do
        head -n 3 "$f" | grep -q "$1" || echo "$f"
    done
}

# Functions whose body, from "{" to "}" in the first column, is over 80 lines.
long_functions() {
    awk 'FNR == 1 { start = 0 }
         /^\{/ && last !~ /^(class|struct|union|enum|namespace)/ { start = FNR }
         /^\}/ { if (start && FNR - start > 80)
                     print FILENAME ":" start ": " FNR - start " lines"
                 start = 0 }
         { last = $0 }' $code
}

# Headers the model may use: its own, the C library's, GLib's, intrinsics.
foreign_includes() {
    grep -nE '^ *# *include' $(echo "$code" | grep -E '^(hw/npu|include/rknpu)/') |
    while IFS=: read -r file line text; do
        name=$(echo "$text" | sed -E 's/.*[<"]([^>"]*)[>"].*/\1/')
        case $text in
        *'"'*)
            for dir in "$(dirname "$file")" hw/npu include; do
                [ -f "$dir/$name" ] && continue 2
            done ;;
        *)
            case $name in
            glib.h|glib/*|immintrin.h|arm_neon.h|arm_acle.h|cpuid.h) continue ;;
            rknpu/*) continue ;;
            */*) [ "$name" = sys/auxv.h ] && continue ;;
            *.h) continue ;;
            esac ;;
        esac
        echo "$file:$line: $name"
    done
}

words='^[^"]*(//|/?\*|#) *TO[D]O\b|\b(FIX[M]E|X[X]X|HAC[K])\b|[Pp]lace[h]older|\bfor [n]ow\b|not (yet [i]mplemented|[i]mplemented yet)'
places='(^|[^a-z.])/wor[k]/|\bshare[d]/|\bsub[a]gent|\bthe bri[e]f\b'
hosts='\b[a-z-]+\.(debia[n]|pyp[i]|pytho[n]hosted|ubunt[u])\.(org|com|net)'
unsafe='\b(strcp[y]|strca[t]|strnca[t]|sprint[f]|vsprint[f]|get[s]|strto[k]|ato[ifl]|alloc[a]|mktem[p]|tmpna[m])\('
fatal='\b(abor[t]|exi[t]|g_erro[r]|hw_erro[r]|mallo[c]|callo[c]|reallo[c])\('
guest_side=$(echo "$code" | grep -E '^(hw|include)/')

rule "every file names its licence in the first three lines" < <(
    lacks_in_head 'SPDX-License-Identifier: GPL-2.0-or-later' "$text")
rule "text is ASCII" < <(LC_ALL=C grep -nP '[^\x00-\x7F]' $text)
rule "no space at the end of a line" < <(LC_ALL=C grep -nP '[ \t\r]+$' $text)
rule "every file ends with a newline" < <(
    for f in $text; do
        [ ! -s "$f" ] || [ -z "$(tail -c 1 "$f")" ] || echo "$f"
    done)
rule "no tabs in C, C++ and shell" < <(
    grep -nP '\t' $(echo "$code $shell" | grep -v '^guest-tests/linux/driver/'))
rule "no line of C or C++ is over 100 columns, text that is quoted apart" < <(
    grep -nE '^.{101}' $code | grep -vE '^[^:]*:[0-9]+: *"')
rule "nothing is left for later in a comment" < <(grep -nE "$words" $text)
rule "the tree speaks of the product alone" < <(
    grep -nE "$places" $(echo "$text" | grep -vx '.ci/run'))
rule "no host name of a package registry" < <(grep -nE "$hosts" $text)
rule "no unsafe library function" < <(
    grep -nE "$unsafe" $(echo "$code" | grep -v '^guest-tests/'))
rule "nothing that a guest reaches can end the process" < <(
    grep -nE "(^|[^_a-z])$fatal" $guest_side)
rule "the model includes no header of QEMU" < <(foreign_includes)
rule "chip differences are data in hw/npu/chip.c" < <(
    grep -nEi '([=!]=|strcmp).*("|&rknpu_)rk35(76|88)' \
         $(echo "$code" | grep '^hw/npu/' | grep -vx 'hw/npu/chip.c'))
rule "no function is over 80 lines" < <(long_functions)
rule "shell scripts parse" < <(for f in $shell; do bash -n "$f" 2>&1; done)

echo "1..$count"
[ "$failed" = 0 ]
