/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Kernel files.  Every refusal names the cause and what to give instead.
 */
#include <string.h>
#include <gio/gio.h>

#include "error.h"
#include "kernel.h"

#define DEFAULT_KERNEL "7"
#define IMAGE_MAGIC_OFFSET 56
#define IMAGE_HEADER_SIZE 64
#define IMAGE_LIMIT (512 * 1024 * 1024)
#define ZBOOT_HEADER_SIZE 28
#define X86_MAGIC_OFFSET 0x202
#define BANNER "Linux version "

static uint32_t get_le32(const uint8_t *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

GBytes *emu_gunzip(const void *data, size_t size, size_t limit, GError **error)
{
    g_autoptr(GConverter) gunzip =
        G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autofree uint8_t *chunk = g_malloc(1 << 20);
    const uint8_t *in = data;
    GConverterResult result;

    do {
        gsize taken, given;

        result = g_converter_convert(gunzip, in, size, chunk, 1 << 20,
                                     G_CONVERTER_INPUT_AT_END, &taken, &given, error);
        if (result == G_CONVERTER_ERROR) {
            return NULL;
        }
        in += taken;
        size -= taken;
        if (given > limit - out->len) {
            g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "more than %zu bytes", limit);
            return NULL;
        }
        g_byte_array_append(out, chunk, given);
    } while (result != G_CONVERTER_FINISHED);
    return g_byte_array_free_to_bytes(g_steal_pointer(&out));
}

/* Opens the gzip stream in `data` and looks at what comes out. */
static GBytes *unpack_gzip(const void *data, size_t size, const char *path, GError **error)
{
    g_autoptr(GBytes) plain = emu_gunzip(data, size, IMAGE_LIMIT, error);

    if (!plain) {
        g_prefix_error(error, "%s: the compressed kernel is damaged: ", path);
        return NULL;
    }
    if (g_bytes_get_size(plain) > 2 && memcmp(g_bytes_get_data(plain, NULL), "\x1f\x8b", 2) == 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "%s: compressed twice; give the Image",
                    path);
        return NULL;
    }
    return emu_kernel_unpack(plain, path, error);
}

/* EFI zboot: "MZ", at 4 "zimg", at 8 and 12 payload offset and size, at 24 the compression. */
static GBytes *unpack_zboot(const uint8_t *data, size_t size, const char *path, GError **error)
{
    uint64_t offset = get_le32(data + 8), length = get_le32(data + 12);

    if (strncmp((const char *)data + 24, "gzip", 4) != 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "%s: EFI zboot kernel compressed by '%.4s'; give arch/arm64/boot/Image, or "
                    "build with CONFIG_KERNEL_GZIP", path, data + 24);
        return NULL;
    }
    if (offset + length > size) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "%s: the EFI zboot kernel is cut short; copy it again", path);
        return NULL;
    }
    return unpack_gzip(data + offset, length, path, error);
}

/* Names what a file that is no arm64 kernel looks like. */
static const char *guess_format(const uint8_t *data, size_t size)
{
    if (size > X86_MAGIC_OFFSET + 4 && memcmp(data + X86_MAGIC_OFFSET, "HdrS", 4) == 0) {
        return "an x86 kernel; give an arm64 Image";
    }
    if (size > 4 && memcmp(data, "\x7f""ELF", 4) == 0) {
        return "an ELF file (vmlinux?); give arch/arm64/boot/Image";
    }
    if (size > 4 && memcmp(data, "\x27\x05\x19\x56", 4) == 0) {
        return "a U-Boot image; give arch/arm64/boot/Image";
    }
    if (size > 4 && memcmp(data, "\xd0\x0d\xfe\xed", 4) == 0) {
        return "a device tree or FIT image; give arch/arm64/boot/Image";
    }
    if (size > 6 && memcmp(data, "\xfd""7zXZ", 5) == 0) {
        return "xz-compressed; unpack it first (xz -d)";
    }
    if (size > 4 && memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0) {
        return "zstd-compressed; unpack it first (zstd -d)";
    }
    return "not an arm64 kernel (no ARM\\x64 at offset 56); give arch/arm64/boot/Image";
}

GBytes *emu_kernel_unpack(GBytes *file, const char *path, GError **error)
{
    gsize size;
    const uint8_t *data = g_bytes_get_data(file, &size);

    if (size >= IMAGE_HEADER_SIZE && memcmp(data + IMAGE_MAGIC_OFFSET, "ARM\x64", 4) == 0) {
        return g_bytes_ref(file);
    }
    if (size > ZBOOT_HEADER_SIZE && memcmp(data, "MZ", 2) == 0 &&
        memcmp(data + 4, "zimg", 4) == 0) {
        return unpack_zboot(data, size, path, error);
    }
    if (size > 2 && memcmp(data, "\x1f\x8b", 2) == 0) {
        return unpack_gzip(data, size, path, error);
    }
    g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "%s: %s", path,
                size ? guess_format(data, size) : "empty file; give arch/arm64/boot/Image");
    return NULL;
}

char *emu_kernel_release(GBytes *image)
{
    gsize size;
    const char *data = g_bytes_get_data(image, &size);
    const char *end = data + size;

    /* The format string "Linux version %s" is in the Image too; a release starts with a digit. */
    for (const char *p = data; p < end; p++) {
        p = memmem(p, end - p, BANNER, strlen(BANNER));
        if (!p) {
            return NULL;
        }
        p += strlen(BANNER);
        if (p < end && g_ascii_isdigit(*p)) {
            size_t length = 0;

            while (p + length < end && length < 128 && g_ascii_isgraph(p[length])) {
                length++;
            }
            return g_strndup(p, length);
        }
    }
    return NULL;
}

static char *find_modules(const char *kernel, const char *release)
{
    g_autofree char *dir = g_path_get_dirname(kernel);
    g_autofree char *beside = g_build_filename(dir, "modules", NULL);
    const char *roots[] = { beside, dir, "/" };

    for (size_t i = 0; release && i < G_N_ELEMENTS(roots); i++) {
        g_autofree char *path = g_build_filename(roots[i], "lib", "modules", release, NULL);

        if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            return g_steal_pointer(&path);
        }
    }
    return NULL;
}

/* A file of that name, or the prepared kernel of that name. */
static char *find_kernel(const char *name, const char *guest_dir, GError **error)
{
    const char *wanted = name ? name : DEFAULT_KERNEL;
    g_autofree char *prepared = g_build_filename(guest_dir, "kernel", wanted, "Image", NULL);

    if (name && g_file_test(name, G_FILE_TEST_IS_DIR)) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "%s: a folder; give the kernel file, arch/arm64/boot/Image", name);
        return NULL;
    }
    if (name && g_file_test(name, G_FILE_TEST_EXISTS)) {
        return g_strdup(name);
    }
    if (g_file_test(prepared, G_FILE_TEST_EXISTS)) {
        return g_steal_pointer(&prepared);
    }
    if (name) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "--kernel %s: no such file, and no prepared kernel %s", name, prepared);
    } else {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "no prepared kernel %s; run `make guest`, or give one with --kernel", prepared);
    }
    return NULL;
}

EmuKernel *emu_kernel_open(const char *name, const char *guest_dir, GError **error)
{
    g_autoptr(EmuKernel) kernel = g_new0(EmuKernel, 1);
    g_autoptr(GMappedFile) map = NULL;
    g_autoptr(GBytes) file = NULL;
    GError *local = NULL;

    kernel->path = find_kernel(name, guest_dir, error);
    if (!kernel->path) {
        return NULL;
    }
    map = g_mapped_file_new(kernel->path, FALSE, &local);
    if (!map) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "kernel: %s", local->message);
        g_error_free(local);
        return NULL;
    }
    file = g_mapped_file_get_bytes(map);
    kernel->image = emu_kernel_unpack(file, kernel->path, error);
    if (!kernel->image) {
        return NULL;
    }
    kernel->release = emu_kernel_release(kernel->image);
    kernel->modules = find_modules(kernel->path, kernel->release);
    return g_steal_pointer(&kernel);
}

void emu_kernel_free(EmuKernel *kernel)
{
    if (!kernel) {
        return;
    }
    g_free(kernel->path);
    g_clear_pointer(&kernel->image, g_bytes_unref);
    g_free(kernel->release);
    g_free(kernel->modules);
    g_free(kernel);
}
