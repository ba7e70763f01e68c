// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rknpu_lab: a small NPU driver to read.
 *
 * It shows how an RK3588 or RK3576 NPU gets its memory, and nothing else: one job at a time, no
 * scheduling, no buffer sharing, no frequency scaling. It binds to the device tree node that
 * Rockchip's own driver uses, so the two cannot be loaded together; it is not that driver.
 *
 * The three address spaces
 *
 *   a program         mmap()     the CPU          IOMMU      the NPU
 *   virtual address ---------> physical address <--------- IOVA
 *
 *                     0xff001000  +--------+ <---- 0x80000000  object A, on-chip part first ...
 *                     system SRAM | chunk  |
 *                                 +--------+
 *                     0x00200000  +--------+ <---- 0x80080000  ... and its rest in DRAM
 *                     DRAM        | page   |
 *                                 +--------+
 *
 * SRAM is handed out in chunks of 4 KiB. One bit in a bitmap stands for one chunk, and a request
 * takes the first run of free bits that is long enough. The NPU does not know where SRAM ends and
 * DRAM begins: the IOMMU makes one range of the two.
 *
 * An object is a file: ALLOC gives a descriptor to map, and the memory goes when the last
 * descriptor and the last mapping are gone. Files in debugfs: rknpu/mm is the bitmap,
 * rknpu/version names this driver.
 *
 * Locks: lab->lock guards the bitmaps; lab->job_lock is held from the start of a job to its end.
 *
 * Facts: RK3588 TRM Part 1, chapter 36 (registers); the vendor's device tree binding (node).
 */
#include <linux/anon_inodes.h>
#include <linux/bitmap.h>
#include <linux/clk.h>
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/iommu.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>
#include <linux/pm_runtime.h>
#include <linux/reset.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "rknpu_lab.h"

#define LAB_VERSION     "rknpu_lab 1.0, the teaching driver of rknpu-emu"
#define LAB_CHUNK       4096u
#define LAB_ROW         32u		/* chunks in a row of the mm file */
#define LAB_IOVA_BASE   0x80000000ull
#define LAB_IOVA_SIZE   0x40000000ull
#define LAB_MAX_CORES   3

/* Registers of the PC block, by the manual's names. */
#define PC_VERSION           0x00
#define PC_VERSION_NUM       0x04
#define PC_OPERATION_ENABLE  0x08
#define PC_BASE_ADDRESS      0x10
#define PC_REGISTER_AMOUNTS  0x14
#define PC_INTERRUPT_MASK    0x20
#define PC_INTERRUPT_CLEAR   0x24
#define PC_INTERRUPT_STATUS  0x28
#define PC_TASK_CON          0x30
#define PC_TASK_DMA_BASE     0x34
#define CNA_S_POINTER        0x1004
#define CORE_S_POINTER       0x3004

#define PC_SEL_HOST          1		/* BASE_ADDRESS: registers are written by the CPU */
#define INTERRUPT_ALL        0x1ffff
#define S_POINTER_PINGPONG   0xe	/* pointer and executer toggle by themselves */
#define WORDS_PER_AMOUNT     2

/* What differs between the two chips. TASK_CON is the task number, then three control bits. */
struct lab_chip {
	unsigned int cores;
	unsigned int task_bits;
	u32 task_status;
	phys_addr_t nbuf_base;
	u32 nbuf_size;
};

static const struct lab_chip lab_rk3588 = {
	.cores = 3, .task_bits = 12, .task_status = 0x3c,
};

static const struct lab_chip lab_rk3576 = {
	.cores = 2, .task_bits = 16, .task_status = 0x48,
	.nbuf_base = 0x3fe80000, .nbuf_size = 0x100000,
};

/* A range of memory or of addresses, handed out in chunks. */
struct lab_pool {
	unsigned long *used;
	unsigned int chunks;
	unsigned int free;
};

struct lab_core {
	struct lab_device *lab;
	void __iomem *base;
	struct completion done;
	u32 status;
	bool busy;
};

struct lab_device {
	struct device *dev;
	const struct lab_chip *chip;
	struct lab_core core[LAB_MAX_CORES];
	struct clk_bulk_data *clocks;
	int nclocks;
	struct reset_control *resets;
	struct dev_pm_domain_list *domains;
	struct device *iommu_dev;
	struct iommu_domain *iommu;
	struct miscdevice misc;
	struct dentry *debugfs;
	struct mutex lock;
	struct mutex job_lock;
	struct lab_pool iova;
	struct lab_pool sram;
	phys_addr_t sram_base;
	u32 sram_size;
};

/* One object: [iova, iova + onchip) lies at `phys`, the rest in `pages`. */
struct lab_object {
	struct lab_device *lab;
	u64 iova;
	u64 size;
	u64 onchip;
	phys_addr_t phys;
	bool in_sram;
	unsigned int npages;
	struct page *pages[];
};

/* ---- chunks ------------------------------------------------------------------------------ */

static int pool_init(struct device *dev, struct lab_pool *pool, u64 size)
{
	pool->chunks = size / LAB_CHUNK;
	pool->free = pool->chunks;
	pool->used = devm_bitmap_zalloc(dev, pool->chunks, GFP_KERNEL);
	return pool->used ? 0 : -ENOMEM;
}

/* First fit: the first run of `chunks` free bits, or -ENOMEM, however many bits are free in all. */
static int pool_get(struct lab_pool *pool, unsigned int chunks)
{
	unsigned long first = bitmap_find_next_zero_area(pool->used, pool->chunks, 0, chunks, 0);

	if (first >= pool->chunks)
		return -ENOMEM;
	bitmap_set(pool->used, first, chunks);
	pool->free -= chunks;
	return first;
}

static void pool_put(struct lab_pool *pool, unsigned int first, unsigned int chunks)
{
	bitmap_clear(pool->used, first, chunks);
	pool->free += chunks;
}

/* ---- the mm file ------------------------------------------------------------------------- */

static void lab_show_row(struct seq_file *m, const struct lab_pool *pool, unsigned int row)
{
	unsigned int end = min((row + 1) * LAB_ROW, pool->chunks);
	unsigned int i;

	seq_printf(m, "[%03u] [", row);
	for (i = row * LAB_ROW; i < end; i++)
		seq_putc(m, test_bit(i, pool->used) ? '*' : '.');
	seq_puts(m, "]\n");
}

/* The form is that of Rockchip's guide to the RK3588's SRAM. Empty when the NPU has no SRAM. */
static int lab_mm_show(struct seq_file *m, void *unused)
{
	struct lab_device *lab = m->private;
	const struct lab_pool *pool = &lab->sram;
	unsigned int row, free;

	if (!lab->sram_size)
		return 0;
	mutex_lock(&lab->lock);
	seq_puts(m, "SRAM bitmap: \"*\" - used, \".\" - free (1bit = 4KB)\n");
	for (row = 0; row * LAB_ROW < pool->chunks; row++)
		lab_show_row(m, pool, row);
	free = pool->free * LAB_CHUNK;
	seq_printf(m, "SRAM total size: %u, used: %u, free: %u\n",
		   lab->sram_size, lab->sram_size - free, free);
	mutex_unlock(&lab->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(lab_mm);

static int lab_version_show(struct seq_file *m, void *unused)
{
	seq_puts(m, LAB_VERSION "\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(lab_version);

/* ---- objects ----------------------------------------------------------------------------- */

static phys_addr_t object_phys(const struct lab_object *obj, u64 at)
{
	return at < obj->onchip ? obj->phys + at :
				  page_to_phys(obj->pages[(at - obj->onchip) / PAGE_SIZE]);
}

/* On-chip memory: `want` bytes, 0 = all that fits. What cannot be had lies in DRAM instead. */
static void object_get_onchip(struct lab_object *obj, u32 place, u64 want)
{
	struct lab_device *lab = obj->lab;
	u64 size = min(obj->size, want ? PAGE_ALIGN(want) : obj->size);
	int first;

	if (place == RKNPU_LAB_NBUF) {
		obj->phys = lab->chip->nbuf_base;
		obj->onchip = min_t(u64, size, lab->chip->nbuf_size);
	}
	if (place != RKNPU_LAB_SRAM)
		return;
	size = min_t(u64, size, (u64)lab->sram.free * LAB_CHUNK);
	first = size ? pool_get(&lab->sram, size / LAB_CHUNK) : -ENOMEM;
	if (first < 0) {
		dev_info(lab->dev, "no %llu bytes of SRAM in one piece, %u bytes free\n",
			 size, lab->sram.free * LAB_CHUNK);
		return;
	}
	obj->in_sram = true;
	obj->phys = lab->sram_base + (u64)first * LAB_CHUNK;
	obj->onchip = size;
}

/*
 * A page for the part in DRAM. Mapping and unmapping it writes back what the CPU's caches hold of
 * the fresh zeros; that address belongs to the kernel's default IOMMU domain and is not used.
 */
static int object_get_page(struct lab_object *obj)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	dma_addr_t addr;

	if (!page)
		return -ENOMEM;
	obj->pages[obj->npages++] = page;
	addr = dma_map_page(obj->lab->dev, page, 0, PAGE_SIZE, DMA_TO_DEVICE);
	if (dma_mapping_error(obj->lab->dev, addr))
		return -ENOMEM;
	dma_unmap_page(obj->lab->dev, addr, PAGE_SIZE, DMA_TO_DEVICE);
	return 0;
}

/* One IOVA range, the on-chip part first. A free chunk behind it turns an overrun into a fault. */
static int object_map(struct lab_object *obj)
{
	struct lab_device *lab = obj->lab;
	int first = pool_get(&lab->iova, obj->size / LAB_CHUNK + 1);
	int ret = 0;
	u64 at;

	if (first < 0)
		return first;
	obj->iova = LAB_IOVA_BASE + (u64)first * LAB_CHUNK;
	for (at = 0; at < obj->size && !ret; at += PAGE_SIZE)
		ret = iommu_map(lab->iommu, obj->iova + at, object_phys(obj, at), PAGE_SIZE,
				IOMMU_READ | IOMMU_WRITE, GFP_KERNEL);
	return ret;
}

/* Also of an object that is half made: iova is 0 before it has a range. */
static void object_free(struct lab_object *obj)
{
	struct lab_device *lab = obj->lab;

	mutex_lock(&lab->lock);
	if (obj->iova) {
		iommu_unmap(lab->iommu, obj->iova, obj->size);
		pool_put(&lab->iova, (obj->iova - LAB_IOVA_BASE) / LAB_CHUNK,
			 obj->size / LAB_CHUNK + 1);
	}
	if (obj->in_sram)
		pool_put(&lab->sram, (obj->phys - lab->sram_base) / LAB_CHUNK,
			 obj->onchip / LAB_CHUNK);
	mutex_unlock(&lab->lock);
	while (obj->npages)
		__free_page(obj->pages[--obj->npages]);
	kvfree(obj);
}

static struct lab_object *object_new(struct lab_device *lab, const struct rknpu_lab_alloc *args)
{
	u64 size = PAGE_ALIGN(args->size);
	struct lab_object *obj = kvzalloc(struct_size(obj, pages, size / PAGE_SIZE), GFP_KERNEL);
	int ret = 0;

	if (!obj)
		return ERR_PTR(-ENOMEM);
	obj->lab = lab;
	obj->size = size;
	mutex_lock(&lab->lock);
	object_get_onchip(obj, args->place, args->onchip);
	while (!ret && obj->onchip + (u64)obj->npages * PAGE_SIZE < size)
		ret = object_get_page(obj);
	if (!ret)
		ret = object_map(obj);
	mutex_unlock(&lab->lock);
	if (ret)
		object_free(obj);
	return ret ? ERR_PTR(ret) : obj;
}

/* Uncached but combining, for both kinds of memory: nobody has to think of stale cache lines. */
static int object_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct lab_object *obj = filp->private_data;
	u64 size = vma->vm_end - vma->vm_start, at;
	int ret = 0;

	if (vma->vm_pgoff || size > obj->size || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	for (at = 0; at < size && !ret; at += PAGE_SIZE)
		ret = remap_pfn_range(vma, vma->vm_start + at, PHYS_PFN(object_phys(obj, at)),
				      PAGE_SIZE, vma->vm_page_prot);
	return ret;
}

static int object_release(struct inode *inode, struct file *filp)
{
	object_free(filp->private_data);
	return 0;
}

static const struct file_operations object_fops = {
	.owner = THIS_MODULE,
	.mmap = object_mmap,
	.release = object_release,
};

static int lab_alloc(struct lab_device *lab, struct rknpu_lab_alloc *args)
{
	struct lab_object *obj;

	if (!args->size || args->size > LAB_IOVA_SIZE / 2 || args->place > RKNPU_LAB_NBUF)
		return -EINVAL;
	obj = object_new(lab, args);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	args->size = obj->size;
	args->onchip = obj->onchip;
	args->iova = obj->iova;
	args->fd = anon_inode_getfd("rknpu_lab", &object_fops, obj, O_RDWR | O_CLOEXEC);
	if (args->fd < 0)
		object_free(obj);
	return min(args->fd, 0);
}

/* ---- jobs -------------------------------------------------------------------------------- */

/* The NPU shares its line with its IOMMU, so silence from the NPU is normal here. */
static irqreturn_t lab_irq(int irq, void *data)
{
	struct lab_core *core = data;
	u32 status;

	if (!READ_ONCE(core->busy))
		return IRQ_NONE;
	status = readl(core->base + PC_INTERRUPT_STATUS);
	if (!status)
		return IRQ_NONE;
	writel(INTERRUPT_ALL, core->base + PC_INTERRUPT_CLEAR);
	core->status = status;
	complete(&core->done);
	return IRQ_HANDLED;
}

static void lab_start(struct lab_device *lab, unsigned int n, const struct rknpu_lab_submit *job)
{
	void __iomem *base = lab->core[n].base;
	u32 pointer = S_POINTER_PINGPONG + (n << 28);

	writel(PC_SEL_HOST, base + PC_BASE_ADDRESS);
	writel(pointer, base + CNA_S_POINTER);
	writel(pointer, base + CORE_S_POINTER);
	writel(lower_32_bits(job->regcmd), base + PC_BASE_ADDRESS);
	writel(DIV_ROUND_UP(job->amount, WORDS_PER_AMOUNT) - 1, base + PC_REGISTER_AMOUNTS);
	writel(job->int_mask, base + PC_INTERRUPT_MASK);
	writel(INTERRUPT_ALL, base + PC_INTERRUPT_CLEAR);
	writel(7u << lab->chip->task_bits | job->tasks, base + PC_TASK_CON);
	writel(0, base + PC_TASK_DMA_BASE);
	writel(1, base + PC_OPERATION_ENABLE);
	writel(0, base + PC_OPERATION_ENABLE);
}

/* The resets name all cores. Their IOMMU banks keep the page table. */
static void lab_recover(struct lab_device *lab)
{
	reset_control_assert(lab->resets);
	udelay(10);
	reset_control_deassert(lab->resets);
}

static int lab_submit(struct lab_device *lab, struct rknpu_lab_submit *job)
{
	u32 max_tasks = BIT(lab->chip->task_bits) - 1;
	struct lab_core *core;
	int ret = 0;

	if (job->core >= lab->chip->cores || !job->tasks || job->tasks > max_tasks ||
	    job->amount < 4 || job->amount > 0x20000 || upper_32_bits(job->regcmd))
		return -EINVAL;
	if (mutex_lock_interruptible(&lab->job_lock))
		return -ERESTARTSYS;
	core = &lab->core[job->core];
	core->status = 0;
	reinit_completion(&core->done);
	WRITE_ONCE(core->busy, true);
	lab_start(lab, job->core, job);
	if (!wait_for_completion_timeout(&core->done, msecs_to_jiffies(job->timeout_ms)))
		ret = -ETIMEDOUT;
	WRITE_ONCE(core->busy, false);
	job->int_status = core->status;
	job->task_count = readl(core->base + lab->chip->task_status) & max_tasks;
	if (ret) {
		dev_err(lab->dev, "core %u: no interrupt in %u ms, %u tasks done, resetting\n",
			job->core, job->timeout_ms, job->task_count);
		lab_recover(lab);
	}
	mutex_unlock(&lab->job_lock);
	return ret;
}

/* ---- the device file --------------------------------------------------------------------- */

static void lab_info(struct lab_device *lab, struct rknpu_lab_info *info)
{
	void __iomem *base = lab->core[0].base;

	info->version = readl(base + PC_VERSION) + (readl(base + PC_VERSION_NUM) & 0xffff);
	info->cores = lab->chip->cores;
	info->sram_size = lab->sram_size;
	info->sram_free = lab->sram.free * LAB_CHUNK;
	info->nbuf_size = lab->chip->nbuf_size;
}

/* Results go back to the program also when a job timed out: it wants to know how far it came. */
static long lab_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct lab_device *lab = container_of(filp->private_data, struct lab_device, misc);
	union {
		struct rknpu_lab_info info;
		struct rknpu_lab_alloc alloc;
		struct rknpu_lab_submit submit;
	} args = {};
	unsigned int size = _IOC_SIZE(cmd);
	long ret = 0;

	if (size > sizeof(args))
		return -ENOTTY;
	if (copy_from_user(&args, (void __user *)arg, size))
		return -EFAULT;
	switch (cmd) {
	case RKNPU_LAB_INFO:
		lab_info(lab, &args.info);
		break;
	case RKNPU_LAB_ALLOC:
		ret = lab_alloc(lab, &args.alloc);
		break;
	case RKNPU_LAB_SUBMIT:
		ret = lab_submit(lab, &args.submit);
		break;
	default:
		return -ENOTTY;
	}
	return copy_to_user((void __user *)arg, &args, size) ? -EFAULT : ret;
}

static const struct file_operations lab_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = lab_ioctl,
};

/* ---- probe ------------------------------------------------------------------------------- */

/* The node's rockchip,sram names the NPU's share of the system SRAM. Having none is no error. */
static int lab_find_sram(struct lab_device *lab)
{
	struct device_node *node = of_parse_phandle(lab->dev->of_node, "rockchip,sram", 0);
	struct resource res;
	phys_addr_t end;
	int ret;

	if (!node) {
		dev_info(lab->dev, "no rockchip,sram in the device tree, working in DRAM alone\n");
		return 0;
	}
	ret = of_address_to_resource(node, 0, &res);
	of_node_put(node);
	if (ret)
		return dev_err_probe(lab->dev, ret, "the SRAM node has no usable reg\n");
	lab->sram_base = round_up(res.start, LAB_CHUNK);
	end = round_down(res.end + 1, LAB_CHUNK);
	if (end <= lab->sram_base) {
		dev_warn(lab->dev, "%pR holds no whole 4 KiB chunk, working in DRAM alone\n", &res);
		return 0;
	}
	lab->sram_size = end - lab->sram_base;
	dev_info(lab->dev, "sram region: [%pa, %pa), sram size: %#x\n",
		 &lab->sram_base, &end, lab->sram_size);
	return pool_init(lab->dev, &lab->sram, lab->sram_size);
}

/* A core's window contains the registers of its IOMMU, so it cannot be requested exclusively. */
static int lab_init_core(struct platform_device *pdev, struct lab_device *lab, unsigned int n)
{
	struct lab_core *core = &lab->core[n];
	struct resource *res = platform_get_resource(pdev, IORESOURCE_MEM, n);
	int irq = platform_get_irq(pdev, n);

	if (!res)
		return dev_err_probe(lab->dev, -ENXIO, "core %u has no register window\n", n);
	if (irq < 0)
		return irq;
	core->lab = lab;
	init_completion(&core->done);
	core->base = devm_ioremap(lab->dev, res->start, resource_size(res));
	if (!core->base)
		return -ENOMEM;
	return devm_request_irq(lab->dev, irq, lab_irq, IRQF_SHARED, dev_name(lab->dev), core);
}

static int lab_init_power(struct lab_device *lab)
{
	static const struct dev_pm_domain_attach_data no_links = { .pd_flags = PD_FLAG_NO_DEV_LINK };
	int ret;

	ret = dma_set_mask_and_coherent(lab->dev, DMA_BIT_MASK(40));
	if (ret)
		return ret;
	lab->nclocks = devm_clk_bulk_get_all(lab->dev, &lab->clocks);
	if (lab->nclocks < 0)
		return dev_err_probe(lab->dev, lab->nclocks, "no clocks\n");
	lab->resets = devm_reset_control_array_get_optional_exclusive(lab->dev);
	if (IS_ERR(lab->resets))
		return dev_err_probe(lab->dev, PTR_ERR(lab->resets), "no resets\n");
	/* One domain was attached by the bus; several are ours to attach. */
	if (!lab->dev->pm_domain)
		ret = devm_pm_domain_attach_list(lab->dev, &no_links, &lab->domains);
	if (ret < 0)
		return dev_err_probe(lab->dev, ret, "power domains\n");
	return devm_pm_runtime_enable(lab->dev);
}

/* The IOMMU's own device. It cannot go away: device links keep it bound as long as we are. */
static int lab_find_iommu(struct lab_device *lab)
{
	struct device_node *node = of_parse_phandle(lab->dev->of_node, "iommus", 0);
	struct platform_device *iommu = node ? of_find_device_by_node(node) : NULL;

	of_node_put(node);
	if (!iommu || !device_iommu_mapped(lab->dev))
		return dev_err_probe(lab->dev, -ENODEV, "the node has no working iommus\n");
	lab->iommu_dev = &iommu->dev;
	put_device(lab->iommu_dev);
	return 0;
}

/* The IOMMU is suspended some time after its user; it must be so before the power goes. */
static void lab_power_off(void *data)
{
	struct lab_device *lab = data;
	u32 i;

	pm_runtime_put_sync(lab->dev);
	pm_runtime_suspend(lab->iommu_dev);
	for (i = 0; lab->domains && i < lab->domains->num_pds; i++)
		pm_runtime_put_sync(lab->domains->pd_devs[i]);
	clk_bulk_disable_unprepare(lab->nclocks, lab->clocks);
}

/*
 * The NPU has power while this driver is bound to it. Clocks and power domains come before the
 * IOMMU, whose registers lie in the cores: resuming our device resumes the IOMMU in front of it.
 * The kernel has done that once already, for the probe, when nothing had power yet; that attempt
 * has failed ("Error during raw reset") and must be forgotten.
 */
static int lab_power_on(struct lab_device *lab)
{
	u32 i;
	int ret = clk_bulk_prepare_enable(lab->nclocks, lab->clocks);

	if (ret)
		return ret;
	for (i = 0; lab->domains && i < lab->domains->num_pds; i++)
		pm_runtime_get_sync(lab->domains->pd_devs[i]);
	pm_runtime_set_suspended(lab->iommu_dev);
	ret = pm_runtime_get_sync(lab->dev);
	if (ret < 0) {
		lab_power_off(lab);
		return ret;
	}
	return devm_add_action_or_reset(lab->dev, lab_power_off, lab);
}

static void lab_exit_iommu(void *data)
{
	struct lab_device *lab = data;

	iommu_detach_device(lab->iommu, lab->dev);
	iommu_domain_free(lab->iommu);
}

/* A domain of our own: the kernel's default one would choose the IOVAs for us. */
static int lab_init_iommu(struct lab_device *lab)
{
	int ret = pool_init(lab->dev, &lab->iova, LAB_IOVA_SIZE);

	if (ret)
		return ret;
	lab->iommu = iommu_paging_domain_alloc(lab->dev);
	if (IS_ERR(lab->iommu))
		return dev_err_probe(lab->dev, PTR_ERR(lab->iommu), "no IOMMU domain\n");
	ret = iommu_attach_device(lab->iommu, lab->dev);
	if (ret) {
		iommu_domain_free(lab->iommu);
		return ret;
	}
	return devm_add_action_or_reset(lab->dev, lab_exit_iommu, lab);
}

static void lab_unregister(void *data)
{
	struct lab_device *lab = data;

	misc_deregister(&lab->misc);
	debugfs_remove(lab->debugfs);
}

static int lab_register(struct lab_device *lab)
{
	int ret;

	lab->misc.minor = MISC_DYNAMIC_MINOR;
	lab->misc.name = "rknpu_lab";
	lab->misc.fops = &lab_fops;
	lab->misc.parent = lab->dev;
	ret = misc_register(&lab->misc);
	if (ret)
		return ret;
	lab->debugfs = debugfs_create_dir("rknpu", NULL);
	debugfs_create_file("mm", 0444, lab->debugfs, lab, &lab_mm_fops);
	debugfs_create_file("version", 0444, lab->debugfs, lab, &lab_version_fops);
	return devm_add_action_or_reset(lab->dev, lab_unregister, lab);
}

/* Everything is managed: what has been set up is taken down in reverse order. */
static int lab_probe(struct platform_device *pdev)
{
	static int (*const steps[])(struct lab_device *lab) = {
		lab_find_sram, lab_find_iommu, lab_init_power, lab_power_on, lab_init_iommu,
		lab_register,
	};
	struct lab_device *lab = devm_kzalloc(&pdev->dev, sizeof(*lab), GFP_KERNEL);
	unsigned int i;
	int ret = 0;

	if (!lab)
		return -ENOMEM;
	lab->dev = &pdev->dev;
	lab->chip = of_device_get_match_data(lab->dev);
	mutex_init(&lab->lock);
	mutex_init(&lab->job_lock);
	for (i = 0; i < lab->chip->cores && !ret; i++)
		ret = lab_init_core(pdev, lab, i);
	for (i = 0; i < ARRAY_SIZE(steps) && !ret; i++)
		ret = steps[i](lab);
	if (!ret)
		dev_info(lab->dev, LAB_VERSION ", %u cores\n", lab->chip->cores);
	return ret;
}

/* No MODULE_DEVICE_TABLE: the module is asked for by name and never replaces another driver. */
static const struct of_device_id lab_of_match[] = {
	{ .compatible = "rockchip,rk3588-rknpu", .data = &lab_rk3588 },
	{ .compatible = "rockchip,rk3576-rknpu", .data = &lab_rk3576 },
	{ }
};

static struct platform_driver lab_driver = {
	.probe = lab_probe,
	.driver = {
		.name = "rknpu_lab",
		.of_match_table = lab_of_match,
		.suppress_bind_attrs = true,
	},
};
module_platform_driver(lab_driver);

MODULE_DESCRIPTION("Teaching driver for the memory of Rockchip's NPU");
MODULE_LICENSE("GPL");
