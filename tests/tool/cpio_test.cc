/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The archives are read back by GNU cpio, which is not ours.
 */
#include "cpio.h"
#include "scratch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace {

struct Archive {
    Scratch scratch;
    FILE *out = fopen(scratch.path("cpio").c_str(), "w");
    EmuCpio *cpio = emu_cpio_new(out);

    void finish()
    {
        EXPECT_TRUE(emu_cpio_finish(cpio));
        fclose(out);
    }
    std::string list() { return output_of("cpio --quiet -t <" + scratch.path("cpio")); }
    std::string extract(const std::string &name)
    {
        return output_of("cpio --quiet -i --to-stdout '" + name + "' <" + scratch.path("cpio"));
    }
};

TEST(Cpio, WritesFoldersAboveAFileOnce)
{
    Archive a;

    EXPECT_TRUE(emu_cpio_file(a.cpio, "a/b/one", 0644, "1", 1));
    EXPECT_TRUE(emu_cpio_file(a.cpio, "a/b/two", 0644, "22", 2));
    a.finish();
    EXPECT_EQ("a\na/b\na/b/one\na/b/two\n", a.list());
}

/* Header plus name and data are each padded to 4 bytes: every remainder of both. */
TEST(Cpio, KeepsNamesAndDataOfAnyLength)
{
    Archive a;

    for (unsigned n = 0; n < 9; n++) {
        std::string name(n + 1, 'n'), data(n, 'd');

        EXPECT_TRUE(emu_cpio_file(a.cpio, name.c_str(), 0644, data.data(), data.size()));
    }
    a.finish();
    for (unsigned n = 0; n < 9; n++) {
        EXPECT_EQ(std::string(n, 'd'), a.extract(std::string(n + 1, 'n')));
    }
}

TEST(Cpio, FirstEntryOfANameWins)
{
    Archive a;

    emu_cpio_file(a.cpio, "f", 0644, "first", 5);
    emu_cpio_file(a.cpio, "f", 0644, "second", 6);
    a.finish();
    EXPECT_EQ("f\n", a.list());
    EXPECT_EQ("first", a.extract("f"));
}

TEST(Cpio, KeepsModesLinksAndNodes)
{
    Archive a;
    std::string listing;

    emu_cpio_file(a.cpio, "run", 0755, "x", 1);
    emu_cpio_link(a.cpio, "link", "run");
    emu_cpio_node(a.cpio, "dev/console", S_IFCHR | 0600, 5, 1);
    a.finish();
    listing = output_of("cpio --quiet -tv <" + a.scratch.path("cpio"));
    EXPECT_NE(std::string::npos, listing.find("-rwxr-xr-x")) << listing;
    EXPECT_NE(std::string::npos, listing.find("link -> run")) << listing;
    EXPECT_NE(std::string::npos, listing.find("crw-------")) << listing;
    EXPECT_NE(std::string::npos, listing.find("5,   1")) << listing;
}

TEST(Cpio, CopiesATree)
{
    Archive a;
    Scratch tree;
    GError *error = nullptr;

    tree.write("usr/lib/one", "1");
    tree.write("usr/two", "2");
    output_of("ln -s usr/two '" + tree.path("three") + "'");
    EXPECT_TRUE(emu_cpio_tree(a.cpio, "root", tree.path("").c_str(), &error)) << take(&error);
    a.finish();
    EXPECT_EQ("1", a.extract("root/usr/lib/one"));
    EXPECT_NE(std::string::npos, a.list().find("root/three\n"));
}

TEST(Cpio, SaysWhichFileOfATreeCannotBeRead)
{
    Archive a;
    GError *error = nullptr;

    EXPECT_FALSE(emu_cpio_tree(a.cpio, "", "/nonexistent", &error));
    EXPECT_NE(std::string::npos, take(&error).find("/nonexistent"));
    a.finish();
}

} /* namespace */
