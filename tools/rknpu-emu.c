/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rknpu-emu: boots a kernel on the emulated chip and runs a command there.
 * docs/rknpu-emu.md is its manual.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <libfdt.h>

#include "dtcheck.h"
#include "dtedit.h"
#include "error.h"
#include "initramfs.h"
#include "run.h"
#include "streams.h"
#include "terminal.h"

#define BUILD_HINT "run `make` first"

/* Where the build put things: the folder above the one that holds this program. */
typedef struct {
    char *qemu;
    char *guest;
    char *init;
    char *dtbs;
} Places;

/* Everything QEMU is started with. */
typedef struct {
    const EmuOptions *options;
    Places places;
    EmuKernel *kernel;
    EmuModules *modules;
    unsigned port_modules;
    const char *tree;           /* name of the machine's device tree, NULL for virt */
    void *fdt;                  /* NULL: the machine takes its own */
    bool tty;
} Guest;

/* An environment variable of that name goes before the build's own. */
static char *place(const char *variable, const char *build, const char *name)
{
    const char *value = g_getenv(variable);

    return value ? g_strdup(value) : g_build_filename(build, name, NULL);
}

static void find_places(Places *places)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *dir = g_path_get_dirname(program ? program : ".");
    g_autofree char *build = g_path_get_dirname(dir);

    places->qemu = place("RKNPU_QEMU", build, "qemu-system-aarch64");
    places->guest = place("RKNPU_GUEST", build, "guest");
    places->init = g_build_filename(dir, "guest-init", NULL);
    places->dtbs = place("RKNPU_DTBS", build, "machines/dts");
}

static bool check_share(const EmuOptions *o, GError **error)
{
    if (!o->share) {
        return true;
    }
    if (access(o->share, F_OK) < 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "--share %s: %s; create the folder first",
                    o->share, g_strerror(errno));
        return false;
    }
    if (!g_file_test(o->share, G_FILE_TEST_IS_DIR)) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "--share %s: not a folder; give the folder that holds it", o->share);
        return false;
    }
    if (access(o->share, R_OK | X_OK) < 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP,
                    "--share %s: %s; make it readable for this user", o->share,
                    g_strerror(errno));
        return false;
    }
    return true;
}

/* The modules of the connection first, so that init can report what goes wrong with the rest. */
static bool collect_modules(Guest *guest, GError **error)
{
    static const char *const port[] = { "virtio_mmio", "virtio_console" };
    static const char *const share[] = { "virtio_mmio", "9pnet_virtio", "9p" };
    const EmuOptions *o = guest->options;
    bool ok = true;

    guest->modules = emu_modules_new(guest->kernel);
    for (size_t i = 0; ok && i < G_N_ELEMENTS(port) && !o->dry_run; i++) {
        ok = emu_modules_add_default(guest->modules, port[i], error);
    }
    guest->port_modules = guest->modules->list->len;
    for (size_t i = 0; ok && i < G_N_ELEMENTS(share) && o->share; i++) {
        ok = emu_modules_add_default(guest->modules, share[i], error);
    }
    if (ok && o->driver) {
        /* regulators of the board, then the driver where the kernel ships it */
        ok = emu_modules_add_default(guest->modules, "fixed", error) &&
             emu_modules_add_default(guest->modules, o->driver, error);
    }
    for (char **file = o->modules; ok && file && *file; file++) {
        ok = emu_modules_add_file(guest->modules, *file, error);
    }
    return ok;
}

static char *default_dtb(const Guest *guest)
{
    const EmuOptions *o = guest->options;
    g_autofree char *name = g_strdup_printf("%s-%s.dtb", o->machine->name, guest->tree);

    return g_build_filename(guest->places.dtbs, name, NULL);
}

/* The tree is loaded only when it is the user's or has to be changed. */
static bool prepare_tree(Guest *guest, GError **error)
{
    const EmuOptions *o = guest->options;
    g_autofree char *path = NULL;
    g_autoptr(GPtrArray) warnings = NULL;

    if (!o->dtb && !o->overlays && !o->has_npu_sram) {
        return true;
    }
    if (!o->dtb && !o->driver) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_USAGE,
                    "--overlay does not apply to machine %s, which makes its own device tree",
                    o->machine->name);
        return false;
    }
    path = o->dtb ? g_strdup(o->dtb) : default_dtb(guest);
    guest->fdt = emu_dt_load(path, error);
    if (!guest->fdt) {
        return false;
    }
    for (char **overlay = o->overlays; overlay && *overlay; overlay++) {
        if (!emu_dt_apply_overlay(&guest->fdt, *overlay, error)) {
            return false;
        }
    }
    if (o->has_npu_sram && !emu_dt_give_sram(&guest->fdt, o->machine->sram_base, o->sram_size,
                                             o->sram_offset, error)) {
        return false;
    }
    warnings = emu_dt_check(guest->fdt);
    for (unsigned i = 0; i < warnings->len; i++) {
        emu_say("device tree: %s", (char *)g_ptr_array_index(warnings, i));
    }
    return true;
}

static bool write_initramfs(const Guest *guest, FILE *out, GError **error)
{
    EmuInitramfs initramfs = {
        .options = guest->options,
        .guest_dir = guest->places.guest,
        .init = guest->places.init,
        .modules = guest->modules,
        .port_modules = guest->port_modules,
        .plain = guest->options->dry_run,
        .tty = guest->tty,
    };

    if (!out) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "cannot create the initramfs: %s",
                    g_strerror(errno));
        return false;
    }
    emu_terminal_size(&initramfs.rows, &initramfs.columns);
    return emu_initramfs_write(&initramfs, out, error);
}

static bool write_bytes(FILE *out, const void *data, size_t size, GError **error)
{
    if (!out || fwrite(data, 1, size, out) != size || fflush(out) != 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "cannot write a temporary file: %s",
                    g_strerror(errno));
        return false;
    }
    return true;
}

/* Whether QEMU can take the kernel from its own file. */
static bool kernel_is_plain(const EmuKernel *kernel)
{
    g_autoptr(GMappedFile) map = g_mapped_file_new(kernel->path, FALSE, NULL);

    return map && g_mapped_file_get_length(map) == g_bytes_get_size(kernel->image);
}

/* The files of a run live in memory and vanish with the last process that has them open. */
static int run_guest(const Guest *guest, FILE *log, GError **error)
{
    const char *const names[] = { "initramfs", "dtb", "kernel" };
    FILE *files[G_N_ELEMENTS(names)];
    int fds[G_N_ELEMENTS(names)];
    char *paths[G_N_ELEMENTS(names)];
    bool plain = kernel_is_plain(guest->kernel), ok;
    EmuFiles qemu_files = { .qemu = guest->places.qemu, .tree = guest->tree };
    EmuProcess process = { 0 };
    g_auto(GStrv) argv = NULL;
    gsize size;
    const void *image = g_bytes_get_data(guest->kernel->image, &size);

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        fds[i] = memfd_create(names[i], MFD_CLOEXEC);
        files[i] = fds[i] < 0 ? NULL : fdopen(fds[i], "w");
        paths[i] = g_strdup_printf("/proc/self/fd/%zu", EMU_LAUNCH_FIRST_KEPT + i);
    }
    ok = write_initramfs(guest, files[0], error) &&
         (!guest->fdt || write_bytes(files[1], guest->fdt, fdt_totalsize(guest->fdt), error)) &&
         (plain || write_bytes(files[2], image, size, error));
    if (ok) {
        qemu_files.initrd = paths[0];
        qemu_files.dtb = guest->fdt ? paths[1] : NULL;
        qemu_files.kernel = plain ? guest->kernel->path : paths[2];
        argv = emu_launch_argv(guest->options, &qemu_files, true, log != NULL);
        ok = emu_launch(argv, fds, G_N_ELEMENTS(fds), &process, error);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (files[i]) {
            fclose(files[i]);
        }
        g_free(paths[i]);
    }
    return ok ? emu_run(guest->options, &process, guest->tty, log) : EMU_STATUS_SETUP;
}

static bool keep_file(const char *path, const void *data, size_t size, GError **error)
{
    FILE *out = fopen(path, "we");
    bool ok = write_bytes(out, data, size, error);

    if (out) {
        fclose(out);
    }
    return ok;
}

/* --dry-run: the files stay, in a folder of their own, for the command that is printed. */
static bool print_command(const Guest *guest, GError **error)
{
    g_autofree char *dir = g_dir_make_tmp("rknpu-emu-XXXXXX", error);
    g_autofree char *initrd = dir ? g_build_filename(dir, "initramfs", NULL) : NULL;
    g_autofree char *dtb = dir ? g_build_filename(dir, "dtb", NULL) : NULL;
    g_autofree char *kernel = g_canonicalize_filename(guest->kernel->path, NULL);
    EmuFiles files = { guest->places.qemu, kernel, initrd, guest->tree,
                       guest->fdt ? dtb : NULL };
    g_auto(GStrv) argv = NULL;
    g_autofree char *line = NULL;
    FILE *out;
    bool ok;

    if (!dir) {
        return false;
    }
    out = fopen(initrd, "we");
    ok = write_initramfs(guest, out, error) &&
         (!guest->fdt || keep_file(dtb, guest->fdt, fdt_totalsize(guest->fdt), error));
    if (out) {
        fclose(out);
    }
    if (!ok) {
        return false;
    }
    argv = emu_launch_argv(guest->options, &files, false, false);
    line = emu_launch_quote(argv);
    printf("%s\n", line);
    emu_say("the command's files are in %s; remove it when done", dir);
    return true;
}

/* The checks and preparations that need no QEMU. */
static bool prepare(Guest *guest, GError **error)
{
    find_places(&guest->places);
    if (!check_share(guest->options, error)) {
        return false;
    }
    guest->kernel = emu_kernel_open(guest->options->kernel, guest->places.guest, error);
    if (guest->kernel) {
        guest->tree = emu_machine_tree(guest->options->machine, guest->options->driver,
                                       guest->kernel->release);
    }
    if (!guest->kernel || !collect_modules(guest, error) || !prepare_tree(guest, error)) {
        return false;
    }
    if (access(guest->places.qemu, X_OK) < 0) {
        g_set_error(error, EMU_ERROR, EMU_STATUS_SETUP, "no QEMU at %s; " BUILD_HINT,
                    guest->places.qemu);
        return false;
    }
    return true;
}

static void guest_clear(Guest *guest)
{
    emu_modules_free(guest->modules);
    emu_kernel_free(guest->kernel);
    g_free(guest->fdt);
    g_free(guest->places.qemu);
    g_free(guest->places.guest);
    g_free(guest->places.init);
    g_free(guest->places.dtbs);
}

static int command_run(char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(EmuOptions) options = emu_options_parse(argv, &error);
    Guest guest = { .options = options };
    FILE *log = NULL;
    int status = 0;

    if (options && options->log && !(log = fopen(options->log, "we"))) {
        g_set_error(&error, EMU_ERROR, EMU_STATUS_SETUP, "--log %s: %s; give a file that can be "
                    "written", options->log, g_strerror(errno));
    }
    if (!error && prepare(&guest, &error)) {
        guest.tty = !options->command && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
        if (options->dry_run) {
            print_command(&guest, &error);
        } else {
            status = run_guest(&guest, log, &error);
        }
    }
    if (log) {
        fclose(log);
    }
    if (error) {
        emu_say("%s", error->message);
        status = error->domain == EMU_ERROR ? error->code : EMU_STATUS_SETUP;
    }
    guest_clear(&guest);
    return status;
}

static void print_help(void)
{
    g_autofree char *machines = emu_machine_names();

    printf("Usage: rknpu-emu run [OPTION...] [-- COMMAND ARGS...]\n"
           "       rknpu-emu --version | --help\n"
           "\n"
           "Boots Linux on an emulated Rockchip chip with its NPU and runs COMMAND in it.\n"
           "Machines: %s.\n"
           "\n"
           "  rknpu-emu run                               a shell in the guest\n"
           "  rknpu-emu run -- uname -a                   one command; its output, its status\n"
           "  rknpu-emu run --kernel Image -- dmesg       with your own kernel\n"
           "  rknpu-emu run --share . -- /mnt/share/test  with a folder of yours\n"
           "\n"
           "rknpu-emu run --help lists the options; docs/rknpu-emu.md is the manual.\n", machines);
}

int main(int argc, char **argv)
{
    emu_hold_streams();
    g_set_prgname("rknpu-emu run");
    if (argc >= 2 && strcmp(argv[1], "run") == 0) {
        return command_run(argv + 1);
    }
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_help();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("rknpu-emu %s\n", RKNPU_VERSION);
        return 0;
    }
    if (argc >= 2) {
        emu_say("no command '%s'; there is `rknpu-emu run` (see rknpu-emu --help)", argv[1]);
    } else {
        emu_say("no command; there is `rknpu-emu run` (see rknpu-emu --help)");
    }
    return EMU_STATUS_USAGE;
}
