/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A task computed by several threads leaves the bytes, the result and the first fault of one
 * thread; the bytes of one are those of plain loops (conv_test.cc).
 */
#include <gtest/gtest.h>

#include <atomic>

#include "conv_case.h"

extern "C" {
#include "kernels/isa.h"
#include "team.h"
}

namespace
{

constexpr uint32_t kConvMask = 0x1d;
constexpr unsigned kHelpers = 3;

struct Outcome {
    RknpuTaskResult result;
    std::vector<uint8_t> memory;
    std::vector<RecordedEvent> faults;
    RknpuTraffic traffic;
    uint64_t macs;
    unsigned threads;
};

/* Page to take away beforehand, or output address instead of the usual one; 0: neither. */
struct Trouble {
    uint32_t hole = 0;
    uint32_t output = 0;
};

Outcome Compute(const ConvShape &shape, unsigned helpers, const Trouble &trouble = {},
            unsigned isa = 0)
{
    FakeHost host(ConvCase::kMemory);
    RknpuHost table = host.table();
    ConvCase conv(shape, 3);
    TaskRunner task(host, rknpu_rk3588, kConvMask);
    RknpuTeam *team = rknpu_team_new(helpers, &table, host.opaque());
    Outcome out = {};

    conv.load(host, task);
    if (trouble.hole) {
        host.unmap(trouble.hole, FakeHost::kPage);
    }
    if (trouble.output) {
        task.set(RK3588_DPU_DST_BASE_ADDR, trouble.output);
    }
    task.config.force_isa = isa;
    task.job.team = team;
    out.result = task.run();
    rknpu_team_free(team);
    out.memory = host.memory();
    out.faults = host.events(RKNPU_EVENT_FAULT);
    out.traffic = task.traffic;
    out.macs = task.job.macs;
    out.threads = host.mapping_threads();
    return out;
}

void CheckSame(const Outcome &one, const Outcome &many)
{
    EXPECT_EQ(one.result, many.result);
    EXPECT_TRUE(one.memory == many.memory);
    EXPECT_EQ(0, memcmp(&one.traffic, &many.traffic, sizeof(one.traffic)));
    EXPECT_EQ(one.macs, many.macs);
}

ConvShape Big()
{
    ConvShape s;

    s.channels = 64;
    s.kernels = 96;
    s.height = 23;
    s.width = 19;
    s.kernel_height = s.kernel_width = 3;
    s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 1;
    s.pad_value = -3;
    return s;
}

std::vector<ConvShape> Shapes()
{
    std::vector<ConvShape> shapes(12, Big());

    shapes[1].add = true;
    shapes[2].stride_y = 2;
    shapes[2].kernels = 400;
    shapes[3].depthwise = true;
    shapes[3].channels = 512;
    shapes[3].width = 200;
    shapes[4].kernel_height = shapes[4].kernel_width = 1;
    shapes[4].pad_top = shapes[4].pad_left = shapes[4].pad_bottom = shapes[4].pad_right = 0;
    shapes[4].channels = 256;
    shapes[4].kernels = 256;
    shapes[5] = shapes[4];
    shapes[5].row_major = true;
    shapes[5].width = 1;
    shapes[5].height = 300;
    shapes[6].dilation_y = 2;
    shapes[6].extra_notch = 3;
    shapes[7].channels = shapes[7].packed = 3;
    shapes[7].height = shapes[7].width = 70;
    shapes[8].mul_shift = 14;
    shapes[8].relu = true;
    shapes[9].out = RKNPU_INT32;
    shapes[10].window_first = 2;
    shapes[10].window_rows = 17;
    shapes[11].stride_y = 3; /* the kernel passes over rows between */
    shapes[11].kernel_height = 1;
    shapes[11].kernels = 800;
    shapes[11].pad_top = shapes[11].pad_bottom = 0;
    return shapes;
}

/* A busy host may let the helpers come too late for their parts, but not every time. */
Outcome ComputeTogether(const ConvShape &shape, unsigned isa)
{
    Outcome many;

    for (unsigned i = 0; i < 100; i++) {
        many = Compute(shape, kHelpers, {}, isa);
        if (many.threads > 1) {
            break;
        }
    }
    EXPECT_GT(many.threads, 1u);
    return many;
}

TEST(Split, SameBytes)
{
    for (const ConvShape &shape : Shapes()) {
        SCOPED_TRACE(testing::Message() << shape);
        for (unsigned isa : {unsigned(RKNPU_ISA_NONE), 0u}) {
            Outcome one = Compute(shape, 0, {}, isa);

            ASSERT_EQ(RKNPU_TASK_OK, one.result);
            EXPECT_EQ(1u, one.threads);
            CheckSame(one, ComputeTogether(shape, isa));
        }
    }
}

/* The address of the first fault decides what a driver prints. */
TEST(Split, SameFirstFault)
{
    ConvShape shape = Big();

    shape.add = true;
    ConvCase conv(shape, 3);
    const std::pair<uint32_t, uint32_t> buffers[] = {
        { ConvCase::kInput, conv.input_bytes() },
        { ConvCase::kWeights, conv.weight_bytes() },
        { ConvCase::kAdd, conv.add_bytes() },
        { ConvCase::kOutput, conv.output_bytes() },
    };

    for (auto [base, bytes] : buffers) {
        for (uint32_t page = base; page < base + bytes; page += 5 * FakeHost::kPage) {
            Outcome one = Compute(shape, 0, { page, 0 });
            Outcome many = Compute(shape, kHelpers, { page, 0 });

            EXPECT_EQ(one.result, many.result) << std::hex << page;
            ASSERT_FALSE(many.faults.empty());
            EXPECT_EQ(one.faults[0].event.address, many.faults[0].event.address);
        }
    }
}

/* A task that overwrites what it still has to read has one order, that of one thread. */
TEST(Split, OutputOverInput)
{
    for (uint32_t behind : {0u, 0x1000u, 0x8000u}) {
        Outcome one = Compute(Big(), 0, { 0, ConvCase::kInput + behind });

        for (unsigned i = 0; i < 5; i++) {
            CheckSame(one, Compute(Big(), kHelpers, { 0, ConvCase::kInput + behind }));
        }
    }
}

/* The last rows of the input are those under the last taps of a dilated kernel. */
TEST(Split, OutputOverLastRows)
{
    ConvShape shape = Big();

    shape.dilation_y = 3;
    shape.pad_top = shape.pad_bottom = 0;
    ConvCase conv(shape, 3);
    const uint32_t last = ConvCase::kInput + conv.input_bytes() - 2 * shape.width * 16;
    Outcome one = Compute(shape, 0, { 0, last });

    for (unsigned i = 0; i < 20; i++) {
        CheckSame(one, Compute(shape, kHelpers, { 0, last }));
    }
}

TEST(Split, NoSuchRowsAndCancel)
{
    ConvShape shape = Big();
    FakeHost host(ConvCase::kMemory);
    RknpuHost table = host.table();
    ConvCase conv(shape, 3);
    RknpuTeam *team = rknpu_team_new(kHelpers, &table, host.opaque());
    TaskRunner task(host, rknpu_rk3588, kConvMask);
    int cancel = 1;

    conv.load(host, task);
    task.job.team = team;
    task.job.cancel = &cancel;
    EXPECT_EQ(RKNPU_TASK_CANCELLED, task.run());
    cancel = 0;
    task.set(RK3588_DPU_DATA_CUBE_HEIGHT, 0x1fff); /* rows far below the picture: padding */
    RknpuTaskResult r = task.run();
    EXPECT_TRUE(r == RKNPU_TASK_OK || r == RKNPU_TASK_WRITE_FAULT) << r;
    rknpu_team_free(team);
}

TEST(Team, EveryPartOnce)
{
    FakeHost host;
    RknpuHost table = host.table();
    RknpuTeam *team = rknpu_team_new(kHelpers, &table, host.opaque());

    for (unsigned i = 0; i < 2000; i++) {
        std::atomic<unsigned> times[kHelpers + 1] = {};
        unsigned taken = rknpu_team_take(team, 1 + i % (kHelpers + 2));

        EXPECT_EQ(std::min(kHelpers, 1 + i % (kHelpers + 2)), taken);
        EXPECT_EQ(0u, taken == kHelpers ? rknpu_team_take(team, 1) : 0u);
        rknpu_team_run(
            team, taken,
            [](void *opaque, unsigned part) {
                static_cast<std::atomic<unsigned> *>(opaque)[part]++;
            },
            times);
        for (unsigned part = 0; part <= kHelpers; part++) {
            EXPECT_EQ(part <= taken ? 1u : 0u, times[part].load());
        }
    }
    rknpu_team_free(team);
}

} // namespace
