// SPDX-License-Identifier: GPL-2.0-or-later
/* The client of qtest.h. Protocol: QEMU's docs/devel/testing/qtest.rst and system/qtest.c. */
#include "qtest.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int limit_ms = 60000; /* for any one answer, on a busy host */

int listen_at(const std::string &path)
{
    sockaddr_un address = {};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path.c_str());
    if (bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) || listen(fd, 1)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Accepts one connection and closes the listening socket; -1 after the limit. */
int accept_one(int listener)
{
    pollfd p = {listener, POLLIN, 0};
    int fd = poll(&p, 1, limit_ms) == 1 ? accept4(listener, nullptr, nullptr, SOCK_CLOEXEC) : -1;

    close(listener);
    return fd;
}

void send_all(int fd, const std::string &text)
{
    if (fd >= 0 && send(fd, text.data(), text.size(), MSG_NOSIGNAL) != ssize_t(text.size())) {
        perror("qtest: send");
    }
}

std::string hex(uint64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

} // namespace

std::string QTest::emulator()
{
    const char *set = getenv("RKNPU_QEMU");
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    std::string path;

    if (set) {
        return set;
    }
    path = std::string(self, n > 0 ? n : 0);
    for (int up = 0; up < 3; up++) { /* build/tests/device/program */
        path = path.substr(0, path.rfind('/'));
    }
    path += "/qemu/qemu-system-aarch64";
    return access(path.c_str(), X_OK) == 0 ? path : "";
}

QTest::QTest(const std::string &machine, const std::vector<std::string> &more)
{
    char name[] = "/tmp/rknpu-qtest.XXXXXX";

    level_.resize(512);
    if (mkdtemp(name)) {
        dir_ = name;
        if (!start(machine, more)) {
            fprintf(stderr, "qtest: %s -machine %s does not answer\n", emulator().c_str(),
                    machine.c_str());
        }
    }
}

bool QTest::start(const std::string &machine, const std::vector<std::string> &more)
{
    std::string qtest_path = dir_ + "/qtest", qmp_path = dir_ + "/qmp";
    int qtest_listener = listen_at(qtest_path), qmp_listener = listen_at(qmp_path);
    std::vector<std::string> arguments = {
        emulator(), "-machine", machine, "-accel", "qtest", "-qtest", "unix:" + qtest_path,
        "-qmp", "unix:" + qmp_path, "-qtest-log", "none", "-display", "none", "-nodefaults",
        "-m", "1G"};
    std::vector<char *> argv;

    arguments.insert(arguments.end(), more.begin(), more.end());
    for (auto &a : arguments) {
        argv.push_back(a.data());
    }
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(argv[0], argv.data());
        _exit(127);
    }
    qtest_ = accept_one(qtest_listener);
    qmp_ = accept_one(qmp_listener);
    return ok() && line(qmp_, qmp_rest_).find("QMP") != std::string::npos &&
           qmp("qmp_capabilities").find("return") != std::string::npos;
}

QTest::~QTest()
{
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(qtest_);
    close(qmp_);
    unlink((dir_ + "/qtest").c_str());
    unlink((dir_ + "/qmp").c_str());
    rmdir(dir_.c_str());
}

std::string QTest::line(int fd, std::string &rest)
{
    size_t end;

    while ((end = rest.find('\n')) == std::string::npos) {
        char buffer[4096];
        pollfd p = {fd, POLLIN, 0};
        ssize_t n = poll(&p, 1, limit_ms) == 1 ? recv(fd, buffer, sizeof(buffer), 0) : -1;

        if (n <= 0) {
            fprintf(stderr, "qtest: no answer\n");
            return "";
        }
        rest.append(buffer, n);
    }
    std::string result = rest.substr(0, end);
    rest.erase(0, end + 1);
    return result;
}

/* Interrupts come as lines of their own between the answers. */
std::string QTest::command(const std::string &text)
{
    send_all(qtest_, text + "\n");
    for (;;) {
        std::string answer = line(qtest_, qtest_rest_);
        unsigned number;

        if (sscanf(answer.c_str(), "IRQ raise %u", &number) == 1 && number < level_.size()) {
            level_[number] = true;
        } else if (sscanf(answer.c_str(), "IRQ lower %u", &number) == 1 && number < level_.size()) {
            level_[number] = false;
        } else {
            return answer;
        }
    }
}

uint32_t QTest::read(uint64_t address)
{
    std::string answer = command("readl " + hex(address));

    return answer.compare(0, 3, "OK ") == 0 ? strtoull(answer.c_str() + 3, nullptr, 0) : 0xdeadbeef;
}

void QTest::write(uint64_t address, uint32_t value)
{
    command("writel " + hex(address) + " " + hex(value));
}

void QTest::write64(uint64_t address, uint64_t value)
{
    command("writeq " + hex(address) + " " + hex(value));
}

void QTest::fill(uint64_t address, uint64_t size, uint8_t byte)
{
    command("memset " + hex(address) + " " + hex(size) + " " + hex(byte));
}

bool QTest::spi(unsigned number)
{
    if (!watching_) {
        command("irq_intercept_in /machine/gic");
        watching_ = true;
    }
    command("readl 0"); /* collects what is on the way */
    return level_.at(number);
}

bool QTest::wait(uint64_t address, uint32_t mask, uint32_t want)
{
    for (int i = 0; i < 500; i++) {
        if ((read(address) & mask) == want) {
            return true;
        }
        usleep(10000);
    }
    return false;
}

std::string QTest::qmp(const std::string &command, const std::string &arguments)
{
    std::string answer;

    send_all(qmp_, "{\"execute\": \"" + command + "\"" +
                       (arguments.empty() ? "" : ", \"arguments\": " + arguments) + "}\n");
    do {
        answer = line(qmp_, qmp_rest_);
    } while (answer.find("\"event\"") != std::string::npos);
    return answer;
}

bool QTest::save(const std::string &file)
{
    qmp("stop");
    qmp("migrate", "{\"uri\": \"file:" + file + "\"}");
    for (int i = 0; i < 500; i++) {
        std::string state = qmp("query-migrate");

        if (state.find("\"completed\"") != std::string::npos) {
            return true;
        }
        if (state.find("\"failed\"") != std::string::npos) {
            fprintf(stderr, "qtest: %s\n", state.c_str());
            return false;
        }
        usleep(20000);
    }
    return false;
}

void QTest::system_reset()
{
    qmp("system_reset");
    command("readl 0");
}
