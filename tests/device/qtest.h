/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of QEMU's qtest protocol: a machine without a guest, whose bus the test drives.
 *
 * The emulator is $RKNPU_QEMU, or qemu/qemu-system-aarch64 in the build folder. Every wait has a
 * limit; a machine that breaks it is ended by its own process id.
 */
#ifndef TESTS_DEVICE_QTEST_H
#define TESTS_DEVICE_QTEST_H

#include <cstdint>
#include <string>
#include <vector>
#include <sys/types.h>

class QTest {
public:
    /* Starts "-machine `machine`" with `more` arguments. ok() tells whether it answers. */
    explicit QTest(const std::string &machine, const std::vector<std::string> &more = {});
    ~QTest();
    QTest(const QTest &) = delete;
    QTest &operator=(const QTest &) = delete;

    static std::string emulator(); /* path, or empty when it is not built */
    bool ok() const { return qtest_ >= 0 && qmp_ >= 0; }

    uint32_t read(uint64_t address);
    void write(uint64_t address, uint32_t value);
    void write64(uint64_t address, uint64_t value);
    void fill(uint64_t address, uint64_t size, uint8_t byte);

    /* Level of the GIC's input for that SPI; watching starts with the first call. */
    bool spi(unsigned number);

    /* Reads the register until (value & mask) == want, at most five seconds. */
    bool wait(uint64_t address, uint32_t mask, uint32_t want);

    /* One QMP command, "arguments" as JSON or empty; the whole answer as text. */
    std::string qmp(const std::string &command, const std::string &arguments = "");

    /* Saves the machine into a file and stops it. */
    bool save(const std::string &file);
    void system_reset();

private:
    std::string line(int fd, std::string &rest);
    std::string command(const std::string &text);
    bool start(const std::string &machine, const std::vector<std::string> &more);

    pid_t pid_ = -1;
    int qtest_ = -1, qmp_ = -1;
    std::string dir_, qtest_rest_, qmp_rest_;
    bool watching_ = false;
    std::vector<bool> level_;
};

#endif /* TESTS_DEVICE_QTEST_H */
