# SPDX-License-Identifier: GPL-2.0-or-later
#
# The devices in our qemu-system-aarch64: our machines, and "virt" as the
# reference for boot time. Everything else stays out.

CONFIG_ARM_VIRT=y
CONFIG_RK3588=y
CONFIG_RK3576=y

CONFIG_VIRTIO_MMIO=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_NET=y
CONFIG_VIRTIO_RNG=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_PCI=y
