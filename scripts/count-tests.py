#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts test cases in one of meson's JSON test logs.

    count-tests.py LOG STATUS

Prints "PASSED FAILED SKIPPED". A GoogleTest program and a TAP script count as
many cases as they report, any other test as one. A program that failed in a
way its own report does not show, and a STATUS of the whole run that no case
explains, count as one failure each.
"""

import json
import re
import sys


def gtest_counts(out):
    """Counts of a GoogleTest report, or None for any other text."""
    if not re.search(r'^\[==========\] \d+ tests? from', out, re.M):
        return None
    return [sum(int(n) for n in re.findall(
        r'^\[ *%s *\] (\d+) tests?' % word, out, re.M))
        for word in ('PASSED', 'FAILED', 'SKIPPED')]


def tap_counts(out):
    """Counts of a TAP report, or None for any other text."""
    if not re.search(r'^1\.\.\d+', out, re.M):
        return None
    skipped = len(re.findall(r'^ok\b.*# *skip', out, re.M | re.I))
    skipped += len(re.findall(r'^1\.\.0\b', out, re.M))
    return [len(re.findall(r'^ok\b', out, re.M)) - skipped,
            len(re.findall(r'^not ok\b', out, re.M)), skipped]


def counts_of(test):
    out = test.get('stdout') or ''
    good = test['result'] in ('OK', 'SKIP', 'EXPECTEDFAIL')
    counts = gtest_counts(out) or tap_counts(out)
    if counts is None:
        skip = test['result'] == 'SKIP'
        return [int(good and not skip), int(not good), int(skip)]
    if not good and not counts[1]:
        counts[1] = 1
    return counts


def main():
    total = [0, 0, 0]
    try:
        with open(sys.argv[1], encoding='utf-8') as log:
            for line in log:
                total = [a + b for a, b in zip(total, counts_of(json.loads(line)))]
    except FileNotFoundError:
        pass
    if sys.argv[2] != '0' and not total[1]:
        total[1] = 1
    print(*total)


if __name__ == '__main__':
    main()
