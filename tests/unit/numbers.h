/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random elements, the same in every run: a test that moves data tells them apart. */
#ifndef TESTS_UNIT_NUMBERS_H
#define TESTS_UNIT_NUMBERS_H

#include <cstddef>
#include <random>
#include <vector>

template <typename T> std::vector<T> Numbers(size_t n)
{
    std::mt19937 random(1);
    std::vector<T> v(n);

    for (T &x : v) {
        x = (T)random();
    }
    return v;
}

#endif /* TESTS_UNIT_NUMBERS_H */
