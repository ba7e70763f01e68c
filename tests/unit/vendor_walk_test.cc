// SPDX-License-Identifier: GPL-2.0-or-later
// How Rockchip's driver starts jobs and what it accepts as their end, with programs of our own and
// with those that Rockchip's runtime wrote (RKNPU_TEST_DATA). The commit sequence and the rule for
// the interrupt are facts of the driver, version 0.9.8.
#include "recorded.h"

#include <glib.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

extern "C" {
#include "../../guest-tests/linux/npu-program.h"
}

namespace {

constexpr unsigned kWaitMs = 60000;
constexpr uint32_t kClear = 0x1ffff;

// An entry of the driver's task list.
struct Task {
    uint32_t program, amount, int_mask;
};

// Does to the registers what the driver does, for one core.
class VendorDriver {
public:
    VendorDriver(FakeHost &host, const RknpuChip &chip, unsigned core = 0)
        : chip_(chip), core_(core)
    {
        RknpuHost table = host.table();
        npu_ = rknpu_new(&chip, &table, host.opaque(), nullptr);
    }
    ~VendorDriver() { rknpu_free(npu_); }

    RknpuNpu *npu() { return npu_; }
    uint32_t reg(uint32_t offset) { return rknpu_read(npu_, core_, offset); }

    // Without waiting: `n` tasks from the program of `first` on.
    void commit(const Task &first, const Task &last, unsigned n)
    {
        uint32_t pointer = 0xe + 0x10000000 * core_;

        put(0x10, 1);
        put(0x1004, pointer);
        put(0x3004, pointer);
        put(0x10, first.program);
        put(0x14, (first.amount + 4 + chip_.amount_scale - 1) / chip_.amount_scale - 1);
        put(0x20, last.int_mask);
        put(0x24, first.int_mask);
        put(0x30, (7u << chip_.task_number_bits) | n);
        put(0x34, 0);
        put(0x08, 1);
        put(0x08, 0);
    }

    // Waits for the end; a job that stalls is a failure with the model's words.
    bool wait()
    {
        for (unsigned ms = 0; ms < kWaitMs; ms += 10) {
            if (rknpu_wait_idle(npu_, core_, 10)) {
                return true;
            }
            if (state().job_stalled) {
                break;
            }
        }
        char *words = rknpu_describe(npu_, core_);
        ADD_FAILURE() << words;
        g_free(words);
        return false;
    }

    // The handler: status with each pair of bits widened, then everything cleared.
    uint32_t interrupt()
    {
        uint32_t status = reg(0x28), wide = 0;

        EXPECT_EQ(status != 0, rknpu_irq_level(npu_, core_));
        for (uint32_t pair = 3; pair <= 0xc00; pair <<= 2) {
            wide |= status & pair ? pair : 0;
        }
        put(0x24, kClear);
        EXPECT_FALSE(rknpu_irq_level(npu_, core_));
        return wide;
    }

    // What the driver calls "task counter".
    uint32_t counter()
    {
        return reg(chip_.task_status) & ((1u << chip_.task_number_bits) - 1);
    }

    RknpuCoreState state()
    {
        RknpuCoreState s;

        rknpu_pause(npu_);
        rknpu_get_state(npu_, core_, &s);
        rknpu_resume(npu_);
        return s;
    }

    RknpuStats stats()
    {
        RknpuStats s;

        rknpu_stats(npu_, core_, &s);
        return s;
    }

private:
    void put(uint32_t offset, uint32_t value) { rknpu_write(npu_, core_, offset, value); }

    const RknpuChip &chip_;
    unsigned core_;
    RknpuNpu *npu_;
};

// Small convolutions side by side in memory: same input and weights, an output each.
class Jobs {
public:
    static constexpr uint32_t kInput = 0x100000, kWeights = 0x110000, kCoefficients = 0x120000;
    static constexpr uint32_t kPrograms = 0x200000, kOutputs = 0x300000, kStep = 0x10000;

    explicit Jobs(FakeHost &host) : host_(host)
    {
        std::vector<int8_t> input(conv_input_bytes(&conv)), weights(conv_weight_bytes(&conv));
        std::vector<uint8_t> coefficients(conv_coefficient_bytes(&conv));

        conv_fill(&conv, input.data(), weights.data(), coefficients.data());
        host.put(kInput, input);
        host.put(kWeights, weights);
        host.put(kCoefficients, coefficients);
    }

    uint32_t program(unsigned n) const { return kPrograms + n * kStep; }
    uint32_t output(unsigned n) const { return kOutputs + n * kStep; }

    std::vector<uint64_t> words(unsigned n) const
    {
        conv_addresses at = { kInput, kWeights, kCoefficients, output(n) };
        std::vector<uint64_t> w(CONV_MAX_WORDS);

        w.resize(conv_program(&conv, &at, w.data()));
        return w;
    }

    // Writes program n, chained to the next when `next_words` is not 0.
    Task put(unsigned n, std::vector<uint64_t> w, unsigned next_words = 0)
    {
        if (next_words) {
            conv_chain(w.data(), w.size(), program(n + 1), next_words);
        }
        host_.put(program(n), w);
        return { program(n), (uint32_t)w.size() - CONV_TAIL_WORDS, 0x300 };
    }

    // "" when output n is right.
    std::string wrong(unsigned n) const
    {
        auto out = host_.get<int8_t>(output(n), conv_output_bytes(&conv));
        char why[128] = "";

        return conv_compare(&conv, out.data(), 1, why, sizeof(why)) ? why : "";
    }

    bool untouched(unsigned n) const
    {
        auto out = host_.get<uint8_t>(output(n), conv_output_bytes(&conv));

        return out == std::vector<uint8_t>(out.size());
    }

    const struct conv conv = { NPU_RK3588, 12, 8, 32, 64, 3 };

private:
    FakeHost &host_;
};

// Replaces the value of every write to a register.
void Change(std::vector<uint64_t> &words, uint32_t reg, uint32_t value)
{
    for (uint64_t &w : words) {
        if ((w & 0xffff) == reg) {
            w = (w & 0xffff00000000ffff) | (uint64_t)value << 16;
        }
    }
}

// A program with only the writes to `regs`, and the tail.
std::vector<uint64_t> Delta(const std::vector<uint64_t> &words, const std::set<uint32_t> &regs)
{
    std::vector<uint64_t> delta;

    for (size_t i = 0; i + CONV_TAIL_WORDS < words.size(); i++) {
        if (regs.count(words[i] & 0xffff)) {
            delta.push_back(words[i]);
        }
    }
    delta.insert(delta.end(), words.end() - CONV_TAIL_WORDS, words.end());
    return delta;
}

TEST(VendorWalk, OneTask)
{
    FakeHost host;
    Jobs jobs(host);
    VendorDriver driver(host, rknpu_rk3588);
    Task task = jobs.put(0, jobs.words(0));

    driver.commit(task, task, 1);
    ASSERT_TRUE(driver.wait());
    EXPECT_EQ(1u, driver.counter());
    EXPECT_EQ(0x300u, driver.interrupt());
    EXPECT_EQ("", jobs.wrong(0));
}

// Every core has a PC of its own; the pointer writes carry its number in bits 28 and up.
TEST(VendorWalk, EveryCore)
{
    for (unsigned core = 0; core < rknpu_rk3588.cores; core++) {
        FakeHost host;
        Jobs jobs(host);
        VendorDriver driver(host, rknpu_rk3588, core);
        Task task = jobs.put(0, jobs.words(0));

        driver.commit(task, task, 1);
        ASSERT_TRUE(driver.wait());
        EXPECT_EQ(0x300u, driver.interrupt());
        EXPECT_EQ("", jobs.wrong(0));
    }
}

// Three tasks in a chain, two submitted: the third program is named by the second and must not run.
TEST(VendorWalk, ChainLongerThanTheSubmit)
{
    FakeHost host;
    Jobs jobs(host);
    VendorDriver driver(host, rknpu_rk3588);
    unsigned n = jobs.words(0).size();
    Task first = jobs.put(0, jobs.words(0), n), second = jobs.put(1, jobs.words(1), n);

    jobs.put(2, jobs.words(2));
    driver.commit(first, second, 2);
    ASSERT_TRUE(driver.wait());
    EXPECT_EQ(2u, driver.counter());
    EXPECT_EQ(0x300u, driver.interrupt());
    EXPECT_EQ("", jobs.wrong(0));
    EXPECT_EQ("", jobs.wrong(1));
    EXPECT_TRUE(jobs.untouched(2));
}

// Two whole programs with different output scales, then two that write little more than an address:
// each takes the scale of the task two before it. Scale 0 makes an output of zeros.
TEST(VendorWalk, DeltasInheritFromTheTaskTwoBefore)
{
    FakeHost host;
    Jobs jobs(host);
    VendorDriver driver(host, rknpu_rk3588);
    std::set<uint32_t> address = { 0x4004, 0x5004, 0x4020 };
    std::vector<uint64_t> whole = jobs.words(0), zero = jobs.words(1);
    std::vector<uint64_t> third = Delta(jobs.words(2), address);
    std::vector<uint64_t> fourth = Delta(jobs.words(3), address);

    Change(zero, 0x4084, 0);
    Task first = jobs.put(0, whole, zero.size());
    jobs.put(1, zero, third.size());
    jobs.put(2, third, fourth.size());
    Task last = jobs.put(3, fourth);
    host.put(jobs.output(3), std::vector<uint8_t>(conv_output_bytes(&jobs.conv), 0x55));
    driver.commit(first, last, 4);
    ASSERT_TRUE(driver.wait());
    EXPECT_EQ(4u, driver.counter());
    EXPECT_EQ("", jobs.wrong(0));
    EXPECT_EQ("", jobs.wrong(2));
    EXPECT_TRUE(jobs.untouched(1)); // zeros, written or not
    EXPECT_TRUE(jobs.untouched(3)); // zeros in place of 0x55
}

// Registers stay from job to job: two whole jobs, then two jobs of a delta each.
TEST(VendorWalk, ValuesPersistBetweenJobs)
{
    FakeHost host;
    Jobs jobs(host);
    VendorDriver driver(host, rknpu_rk3588);
    std::set<uint32_t> address = { 0x4004, 0x5004, 0x4020 };

    for (unsigned n = 0; n < 4; n++) {
        auto words = n < 2 ? jobs.words(n) : Delta(jobs.words(n), address);
        Task task = jobs.put(n, words);

        driver.commit(task, task, 1);
        ASSERT_TRUE(driver.wait());
        EXPECT_EQ(0x300u, driver.interrupt());
        EXPECT_EQ("", jobs.wrong(n)) << "job " << n;
    }
}

// The amount may ask for words behind the program; what stands there is not executed.
TEST(VendorWalk, FetchesPastTheEnd)
{
    FakeHost host;
    Jobs jobs(host);
    VendorDriver driver(host, rknpu_rk3588);
    std::vector<uint64_t> words = jobs.words(0), behind = jobs.words(1);
    Task task = jobs.put(0, words);

    behind.erase(behind.begin(), behind.end() - CONV_TAIL_WORDS);
    host.put(task.program + words.size() * 8, behind);
    task.amount += 3;
    driver.commit(task, task, 1);
    ASSERT_TRUE(driver.wait());
    EXPECT_EQ(1u, driver.counter());
    EXPECT_EQ(0x300u, driver.interrupt());
    EXPECT_EQ("", jobs.wrong(0));
    EXPECT_EQ(1u, driver.stats().tasks);
}

// A 1x1 pooling job, which copies; bits as in the programs that the runtime adds to its models.
std::vector<uint64_t> PoolingCopy(uint32_t from, uint32_t to)
{
    const struct {
        unsigned target, reg;
        uint32_t value;
    } writes[] = {
        { 0x4001, 0x6004, 0xe }, { 0x8001, 0x7004, 0xe },
        { 0x4001, 0x600c, 0 }, { 0x4001, 0x6010, 0 }, { 0x4001, 0x6014, 15 },
        { 0x4001, 0x6018, 0 }, { 0x4001, 0x601c, 0 }, { 0x4001, 0x6020, 15 },
        { 0x4001, 0x6024, 0x11 }, { 0x4001, 0x6034, 0 },
        { 0x4001, 0x6038, 0x10000 }, { 0x4001, 0x603c, 0x10000 },
        { 0x4001, 0x6040, 0 }, { 0x4001, 0x6044, 0x80 }, { 0x4001, 0x6048, 7 },
        { 0x4001, 0x6070, to }, { 0x4001, 0x607c, 16 }, { 0x4001, 0x6084, 0 },
        { 0x8001, 0x700c, 0 }, { 0x8001, 0x7010, 0 }, { 0x8001, 0x7014, 15 },
        { 0x8001, 0x701c, from }, { 0x8001, 0x7024, 16 }, { 0x8001, 0x7028, 16 },
        { 0x8001, 0x7030, 1 },
        { 0x0000, 0, 0 }, { 0x0101, 0x14, 0 }, { 0x0041, 0, 0 }, { 0x0081, 8, 0x60 },
    };
    std::vector<uint64_t> words;

    for (const auto &w : writes) {
        words.push_back((uint64_t)w.target << 48 | (uint64_t)w.value << 16 | w.reg);
    }
    return words;
}

// A pooling task behind a convolution: the job's one interrupt is that of the pooling unit, and no
// bit of the DPU may be visible in the status, or the driver takes the interrupt for invalid.
TEST(VendorWalk, PoolingRaisesItsOwnBits)
{
    FakeHost host;
    Jobs jobs(host);
    VendorDriver driver(host, rknpu_rk3588);
    std::vector<uint64_t> pool = PoolingCopy(Jobs::kInput, jobs.output(1));
    Task first = jobs.put(0, jobs.words(0), pool.size()), last = jobs.put(1, pool);

    last.int_mask = 0xc00;
    driver.commit(first, last, 2);
    ASSERT_TRUE(driver.wait());
    EXPECT_EQ(2u, driver.counter());
    EXPECT_EQ(0xc00u, driver.interrupt());
    EXPECT_EQ("", jobs.wrong(0));
    EXPECT_EQ(host.get<uint8_t>(Jobs::kInput, 16), host.get<uint8_t>(jobs.output(1), 16));
}

// RK3588's TASK_CON value 0x7001 asks an RK3576 for 28,673 tasks: one runs, the job never ends.
TEST(VendorWalk, TaskNumberHasSixteenBitsOnRk3576)
{
    FakeHost host;
    RknpuHost table = host.table();
    struct conv conv = { NPU_RK3576, 12, 8, 32, 64, 3 };
    conv_addresses at = { Jobs::kInput, Jobs::kWeights, Jobs::kCoefficients, Jobs::kOutputs };
    std::vector<uint64_t> words(CONV_MAX_WORDS);
    RknpuNpu *npu = rknpu_new(&rknpu_rk3576, &table, host.opaque(), nullptr);

    words.resize(conv_program(&conv, &at, words.data()));
    host.put(Jobs::kPrograms, words);
    rknpu_write(npu, 0, 0x10, Jobs::kPrograms);
    rknpu_write(npu, 0, 0x14, words.size() / 2);
    rknpu_write(npu, 0, 0x20, 0x300);
    rknpu_write(npu, 0, 0x30, 0x7001);
    rknpu_write(npu, 0, 0x08, 1);
    EXPECT_FALSE(rknpu_wait_idle(npu, 0, 300));
    EXPECT_FALSE(rknpu_irq_level(npu, 0));
    EXPECT_EQ(1u, rknpu_read(npu, 0, 0x48) & 0xffff);
    rknpu_reset(npu, 0);
    EXPECT_TRUE(rknpu_idle(npu, 0));
    rknpu_free(npu);
}

// Who moved how much where: a 1x1 convolution 12x8x32 -> 64, by hand
//   feature 12 * 8 * 32 = 3072, weights 64 * 32 = 2048, operand 64 * 4 = 256,
//   output 12 * 8 * 64 = 6144;
// the first 4096 bytes of the output lie in SRAM, the weights in the NBUF.
TEST(VendorWalk, TrafficByKindOfMemory)
{
    FakeHost host;
    struct conv conv = { NPU_RK3588, 12, 8, 32, 64, 1 };
    conv_addresses at = { Jobs::kInput, Jobs::kWeights, Jobs::kCoefficients, Jobs::kOutputs };
    std::vector<uint64_t> words(CONV_MAX_WORDS);
    VendorDriver driver(host, rknpu_rk3588);

    words.resize(conv_program(&conv, &at, words.data()));
    host.put(Jobs::kPrograms, words);
    host.set_kind(Jobs::kOutputs, 4096, RKNPU_MEM_SRAM);
    host.set_kind(Jobs::kWeights, 4096, RKNPU_MEM_NBUF);
    Task task = { Jobs::kPrograms, (uint32_t)words.size() - CONV_TAIL_WORDS, 0x300 };
    driver.commit(task, task, 1);
    ASSERT_TRUE(driver.wait());

    RknpuStats stats = driver.stats();
    const auto &bytes = stats.traffic.bytes;
    EXPECT_EQ(3072u, bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_FEATURE]);
    EXPECT_EQ(2048u, bytes[RKNPU_MEM_NBUF][RKNPU_STREAM_WEIGHT]);
    EXPECT_EQ(256u, bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_OPERAND]);
    EXPECT_EQ(4096u, bytes[RKNPU_MEM_SRAM][RKNPU_STREAM_OUTPUT]);
    EXPECT_EQ(2048u, bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_OUTPUT]);
    EXPECT_EQ((words.size() + 1) / 2 * 2 * 8, bytes[RKNPU_MEM_DRAM][RKNPU_STREAM_COMMAND]);
    EXPECT_EQ(6144u, rknpu_traffic_written(&stats.traffic));
    EXPECT_EQ(3072u + 2048 + 256 + (words.size() + 1) / 2 * 16, rknpu_traffic_read(&stats.traffic));
}

// ---- recorded runs ----

// The registers of two groups as the programs imply them, kept without the model.
class TwoGroups {
public:
    explicit TwoGroups(const RknpuCoreState &s) : state_(s) {}

    void run(const RecordedTask &task)
    {
        for (const RegisterWrite &w : task.writes) {
            int block = Block(w.offset);

            if (block >= 0 && (w.offset & 0xfff) >= 8) {
                state_.group[block][Group(block)][(w.offset & 0xfff) / 4] =
                    w.offset == 0x1100 ? 0 : w.value;
                seen_.insert(w.offset);
            }
        }
        for (int block = 0; block < RKNPU_BLOCKS; block++) {
            if (task.unit_mask & Unit(block)) {
                turn_[block] ^= 1;
            }
        }
    }

    // Registers whose value in the model's state differs.
    std::set<uint32_t> different(const RknpuCoreState &model) const
    {
        std::set<uint32_t> found;

        for (uint32_t offset : seen_) {
            int block = Block(offset);

            for (int g = 0; g < 2; g++) {
                if (model.group[block][g][(offset & 0xfff) / 4] !=
                    state_.group[block][g][(offset & 0xfff) / 4]) {
                    found.insert(offset);
                }
            }
        }
        return found;
    }

private:
    static int Block(uint32_t offset)
    {
        static const int blocks[8] = { -1, RKNPU_CNA, -1, RKNPU_CORE, RKNPU_DPU, RKNPU_DPU_RDMA,
                                       RKNPU_PPU, RKNPU_PPU_RDMA };
        return blocks[(offset >> 12) & 7];
    }
    static uint32_t Unit(int block)
    {
        static const uint32_t units[RKNPU_BLOCKS] = { 1, 4, 8, 16, 32, 64 };
        return units[block];
    }
    int Group(int block) const { return ((state_.pointer[block] & 1) != 0) ^ turn_[block]; }

    RknpuCoreState state_;
    int turn_[RKNPU_BLOCKS] = {};
    std::set<uint32_t> seen_;
};

// Maps the last 8 MiB of the address space, where the runtime's buffers lie, and writes all
// programs. Compressed weights (DCOMP_CTRL, 0x1100) would stop the walk where their data is not at
// hand, so they are switched off: nothing here looks at values that a task computes.
void PutPrograms(FakeHost &host, const std::vector<RecordedSubmit> &submits)
{
    host.map(0xff800000, 0, 8 << 20);
    for (const RecordedSubmit &submit : submits) {
        for (const RecordedTask &task : submit.tasks) {
            std::vector<uint64_t> words;

            for (const RegisterWrite &w : task.writes) {
                uint32_t value = w.offset == 0x1100 ? 0 : w.value;

                words.push_back((uint64_t)w.target << 48 | (uint64_t)value << 16 | w.offset);
            }
            host.put(task.address, words);
        }
    }
}

// What the model said it does not know, or the guest did wrong.
std::string Reports(const FakeHost &host)
{
    std::string all;

    for (const RecordedEvent &e : host.events()) {
        if (e.event.type == RKNPU_EVENT_UNIMP || e.event.type == RKNPU_EVENT_GUEST_ERROR) {
            all += e.text + "\n";
        }
    }
    return all;
}

// Every submit of a run on one core: it ends, the interrupt is the one that the driver demands, as
// many tasks ran as were submitted, and both groups hold what the programs imply.
void Replay(const std::string &name)
{
    std::string path = RecordedPath(name);

    if (path.empty()) {
        GTEST_SKIP() << "RKNPU_TEST_DATA names no folder with " << name;
    }
    FakeHost host;
    auto submits = ReadIoctlLog(path);
    std::map<unsigned, RecordedTask> tasks;

    for (const RecordedSubmit &submit : submits) {
        for (const RecordedTask &task : submit.tasks) {
            tasks[task.number] = task;
        }
    }
    PutPrograms(host, submits);
    VendorDriver driver(host, rknpu_rk3588);
    ASSERT_FALSE(submits.empty());
    for (size_t i = 0; i < submits.size(); i++) {
        const RecordedSubmit &s = submits[i];
        const RecordedTask &first = tasks.at(s.start), &last = tasks.at(s.start + s.number - 1);
        TwoGroups groups(driver.state());

        SCOPED_TRACE("submit " + std::to_string(i));
        driver.commit({ first.address, first.amount, first.int_mask },
                      { last.address, last.amount, last.int_mask }, s.number);
        ASSERT_TRUE(driver.wait()) << Reports(host);
        EXPECT_EQ(s.number, driver.counter());
        EXPECT_EQ(last.int_mask, driver.interrupt());
        for (unsigned n = 0; n < s.number; n++) {
            groups.run(tasks.at(s.start + n));
        }
        EXPECT_EQ(std::set<uint32_t>(), groups.different(driver.state()));
    }
    EXPECT_EQ(0u, driver.stats().faults);
}

TEST(VendorWalk, RecordedMultipleInput) { Replay("vendor-runtime/mi_base.ioctl.log"); }

TEST(VendorWalk, RecordedMultipleInputInSram)
{
    Replay("vendor-runtime/mi_sram256_w128.ioctl.log");
}

TEST(VendorWalk, RecordedFp16Convolution) { Replay("vendor-runtime/ab32.ioctl.log"); }

// 98 submits, 461 tasks: pairs of whole programs, deltas of 13 to 19 registers, pooling tasks.
TEST(VendorWalk, RecordedSegmentation) { Replay("vendor-runtime/segv2.ioctl.log.gz"); }

} // namespace
