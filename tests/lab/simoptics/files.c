// SPDX-License-Identifier: GPL-2.0
/* A port's files in debugfs: README.md. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include "port.h"

/* u64 statistic: read "N" or "unset"; write N, +N or "unset" */
static ssize_t s64_read(struct file *f, char __user *u, size_t n, loff_t *o)
{
	u64 v = *(u64 *)f->private_data;
	char b[32];
	int l = v == UNSET ? sprintf(b, "unset\n") : sprintf(b, "%llu\n", v);

	return simple_read_from_buffer(u, n, o, b, l);
}

static int s64_parse(char *b, u64 *t)
{
	u64 v;

	b = strim(b);
	if (!strcmp(b, "unset")) {
		*t = UNSET;
	} else if (*b == '+') {
		if (kstrtou64(b + 1, 0, &v))
			return -EINVAL;
		*t = (*t == UNSET ? 0 : *t) + v;
	} else if (kstrtou64(b, 0, t)) {
		return -EINVAL;
	}
	return 0;
}

static ssize_t s64_write(struct file *f, const char __user *u, size_t n, loff_t *o)
{
	char b[40] = {};
	int err;

	if (n >= sizeof(b) || copy_from_user(b, u, n))
		return -EINVAL;
	err = s64_parse(b, f->private_data);
	return err ? err : n;
}

static const struct file_operations s64_fops = {
	.owner = THIS_MODULE, .open = simple_open, .read = s64_read, .write = s64_write,
};

/* raw bytes of a page */
static ssize_t bin_read(struct file *f, char __user *u, size_t n, loff_t *o)
{
	struct bin *b = f->private_data;
	ssize_t r;

	mutex_lock(&b->p->mem_lock);
	r = simple_read_from_buffer(u, n, o, b->mem, b->len);
	mutex_unlock(&b->p->mem_lock);
	return r;
}

static ssize_t bin_write(struct file *f, const char __user *u, size_t n, loff_t *o)
{
	struct bin *b = f->private_data;
	ssize_t r;

	if (*o >= b->len)
		return -EFBIG;
	mutex_lock(&b->p->mem_lock);
	r = simple_write_to_buffer(b->mem, b->len, o, u, n);
	mutex_unlock(&b->p->mem_lock);
	return r;
}

static const struct file_operations bin_fops = {
	.owner = THIS_MODULE, .open = simple_open, .read = bin_read, .write = bin_write,
	.llseek = default_llseek,
};

static void mkbin(struct port *p, struct dentry *d, const char *name, u8 *mem, size_t len)
{
	struct bin *b = &p->bins[p->nbins++];

	b->p = p; b->mem = mem; b->len = len;
	debugfs_create_file(name, 0600, d, b, &bin_fops);
}

/* carrier of this port / of both ports */
static int carrier_get(void *v, u64 *r) { *r = ((struct port *)v)->carrier; return 0; }
static int carrier_set(void *v, u64 x)
{
	struct port *p = v;

	spin_lock_bh(&so_link_lock);
	p->carrier = !!x;
	so_eval(p);
	spin_unlock_bh(&so_link_lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(carrier_fops, carrier_get, carrier_set, "%llu\n");

static int follow_get(void *v, u64 *r) { *r = ((struct port *)v)->follow_peer; return 0; }
static int follow_set(void *v, u64 x)
{
	struct port *p = v;

	spin_lock_bh(&so_link_lock);
	p->follow_peer = !!x;
	so_eval(p);
	spin_unlock_bh(&so_link_lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(follow_fops, follow_get, follow_set, "%llu\n");

static int int_get(void *v, u64 *r) { *r = (u64)(s64)*(int *)v; return 0; }
static int int_set(void *v, u64 x) { *(int *)v = (int)x; return 0; }
DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(int_fops, int_get, int_set, "%lld\n");

/* "PAGE ERRNO [COUNT [BANK]]"; PAGE: number, "lower" or "all"; ERRNO 0 clears */
static ssize_t errno_write(struct file *f, const char __user *u, size_t n, loff_t *o)
{
	struct port *p = file_inode(f)->i_private;
	char b[64] = {}, pg[16];
	int e, cnt = -1, bank = 0, lo, hi, r;
	unsigned int v;

	if (n >= sizeof(b) || copy_from_user(b, u, n))
		return -EINVAL;
	r = sscanf(b, "%15s %d %d %d", pg, &e, &cnt, &bank);
	if (r < 2 || e < 0 || e > 4095 || bank < 0 || bank >= BANKS)
		return -EINVAL;
	if (!strcmp(pg, "all")) {
		lo = 0; hi = 256;
	} else if (!strcmp(pg, "lower")) {
		lo = hi = 256;
	} else if (!kstrtouint(pg, 0, &v) && v < 256) {
		lo = hi = v;
	} else {
		return -EINVAL;
	}
	mutex_lock(&p->mem_lock);
	for (; lo <= hi; lo++) {
		p->inj[bank][lo].err = e;
		p->inj[bank][lo].count = cnt;
	}
	mutex_unlock(&p->mem_lock);
	return n;
}

static int errno_show(struct seq_file *s, void *v)
{
	struct port *p = s->private;
	int b, i;

	for (b = 0; b < BANKS; b++)
		for (i = 0; i < 257; i++)
			if (p->inj[b][i].err && p->inj[b][i].count) {
				if (i == 256)
					seq_puts(s, "lower");
				else
					seq_printf(s, "0x%02x", i);
				seq_printf(s, " %d %d %d\n", p->inj[b][i].err, p->inj[b][i].count, b);
			}
	return 0;
}

static int errno_open(struct inode *i, struct file *f)
{
	return single_open(f, errno_show, i->i_private);
}

static const struct file_operations errno_fops = {
	.owner = THIS_MODULE, .open = errno_open, .read = seq_read, .llseek = seq_lseek,
	.release = single_release, .write = errno_write,
};

/* ethtool -S: "NAME VALUE" (or +VALUE) sets, "clear" empties */
static int str_show(struct seq_file *s, void *v)
{
	struct port *p = s->private;
	int i;

	for (i = 0; i < p->nstr; i++)
		seq_printf(s, "%s %llu\n", p->str[i], p->strv[i]);
	return 0;
}

static int str_open(struct inode *i, struct file *f) { return single_open(f, str_show, i->i_private); }

static ssize_t str_write(struct file *f, const char __user *u, size_t n, loff_t *o)
{
	struct port *p = file_inode(f)->i_private;
	char b[96] = {}, name[ETH_GSTRING_LEN], val[32] = "";
	int i, err = 0;

	if (n >= sizeof(b) || copy_from_user(b, u, n))
		return -EINVAL;
	if (sscanf(b, "%31s %31s", name, val) < 1)
		return -EINVAL;
	rtnl_lock();		/* the count must not change between two ethtool callbacks */
	if (!strcmp(name, "clear") && !val[0]) {
		p->nstr = 0;
		goto out;
	}
	for (i = 0; i < p->nstr && strcmp(p->str[i], name); i++)
		;
	if (i == NSTR) {
		err = -ENOSPC;
		goto out;
	}
	if (i == p->nstr)
		p->strv[i] = 0;
	err = s64_parse(val, &p->strv[i]);
	if (!err && i == p->nstr) {
		strscpy_pad(p->str[i], name, ETH_GSTRING_LEN);
		p->nstr++;
	}
out:
	rtnl_unlock();
	return err ? err : n;
}

static const struct file_operations str_fops = {
	.owner = THIS_MODULE, .open = str_open, .read = seq_read, .llseek = seq_lseek,
	.release = single_release, .write = str_write,
};

#define S64(d, name, ptr) debugfs_create_file(name, 0600, d, ptr, &s64_fops)
#define INT(d, name, ptr) debugfs_create_file_unsafe(name, 0600, d, ptr, &int_fops)

static const char * const mac_names[] = {
	"FramesTransmittedOK", "SingleCollisionFrames", "MultipleCollisionFrames",
	"FramesReceivedOK", "FrameCheckSequenceErrors", "AlignmentErrors", "OctetsTransmittedOK",
	"FramesWithDeferredXmissions", "LateCollisions", "FramesAbortedDueToXSColls",
	"FramesLostDueToIntMACXmitError", "CarrierSenseErrors", "OctetsReceivedOK",
	"FramesLostDueToIntMACRcvError", "MulticastFramesXmittedOK", "BroadcastFramesXmittedOK",
	"FramesWithExcessiveDeferral", "MulticastFramesReceivedOK", "BroadcastFramesReceivedOK",
	"InRangeLengthErrors", "OutOfRangeLengthField", "FrameTooLongErrors",
};

static void mkfec(struct dentry *d, const char *name, struct ethtool_fec_stat *s)
{
	struct dentry *e = debugfs_create_dir(name, d);
	char b[8];
	int i;

	S64(e, "total", &s->total);
	for (i = 0; i < ETHTOOL_MAX_LANES; i++) {
		sprintf(b, "lane%d", i);
		S64(e, b, &s->lanes[i]);
	}
}

void so_files(struct port *p, struct dentry *root)
{
	char b[16];
	struct dentry *d, *e;
	int i;

	sprintf(b, "so%d", p->n);
	d = p->dir = debugfs_create_dir(b, root);
	debugfs_create_file_unsafe("carrier", 0600, d, p, &carrier_fops);
	debugfs_create_file_unsafe("follow_peer", 0600, d, p, &follow_fops);
	debugfs_create_u32("speed", 0600, d, &p->speed);
	debugfs_create_u32("speed_down", 0600, d, &p->speed_down);
	debugfs_create_u32("lanes", 0600, d, &p->lanes);
	debugfs_create_u8("autoneg", 0600, d, &p->autoneg);
	INT(d, "ext_state", &p->ext_state);
	INT(d, "ext_substate", &p->ext_substate);
	debugfs_create_u32("loss_ppm", 0600, d, &p->loss_ppm);
	debugfs_create_u32("fcs_ppm", 0600, d, &p->fcs_ppm);
	debugfs_create_atomic_t("drop_next", 0600, d, &p->drop_next);
	debugfs_create_file("ethtool_stats", 0600, d, p, &str_fops);
	so_health_file(p->health, d);

	e = debugfs_create_dir("module", d);
	debugfs_create_u8("present", 0600, e, &p->present);
	INT(e, "absent_errno", &p->absent_errno);
	debugfs_create_u32("delay_ms", 0600, e, &p->delay_ms);
	debugfs_create_u32("short_len", 0600, e, &p->short_len);
	debugfs_create_u64("reads", 0600, e, &p->reads);
	debugfs_create_u8("power_policy", 0600, e, &p->power_policy);
	debugfs_create_u8("power_mode", 0600, e, &p->power_mode);
	debugfs_create_file("errno", 0600, e, p, &errno_fops);
	mkbin(p, e, "lower", p->mem, PG);
	for (i = 0; i < 256; i++) {
		if (!(i <= 4 || (i >= 0x10 && i <= 0x2f) || i == 0x9f))
			continue;
		sprintf(b, "page%02x", i);
		mkbin(p, e, b, p->mem + PG + i * PG, PG);
	}
	for (i = 0; i < BANKS; i++) {
		sprintf(b, "bank%d", i);
		mkbin(p, e, b, p->mem + i * BANKLEN, BANKLEN);
	}
	mkbin(p, e, "a2", p->a2, BANKLEN);

	e = debugfs_create_dir("fec", d);
	debugfs_create_x32("configured", 0600, e, &p->fec_configured);
	debugfs_create_x32("active", 0600, e, &p->fec_active);
	mkfec(e, "corrected_blocks", &p->fec.corrected_blocks);
	mkfec(e, "uncorrectable_blocks", &p->fec.uncorrectable_blocks);
	mkfec(e, "corrected_bits", &p->fec.corrected_bits);

	d = debugfs_create_dir("stats", d);
	e = debugfs_create_dir("eth-phy", d);
	S64(e, "SymbolErrorDuringCarrier", &p->phy.SymbolErrorDuringCarrier);
	e = debugfs_create_dir("eth-mac", d);
	BUILD_BUG_ON(sizeof(p->mac) != ARRAY_SIZE(mac_names) * sizeof(u64));
	for (i = 0; i < ARRAY_SIZE(mac_names); i++)
		S64(e, mac_names[i], (u64 *)&p->mac + i);
	e = debugfs_create_dir("eth-ctrl", d);
	S64(e, "MACControlFramesTransmitted", &p->ctrl.MACControlFramesTransmitted);
	S64(e, "MACControlFramesReceived", &p->ctrl.MACControlFramesReceived);
	S64(e, "UnsupportedOpcodesReceived", &p->ctrl.UnsupportedOpcodesReceived);
	e = debugfs_create_dir("rmon", d);
	S64(e, "undersize_pkts", &p->rmon.undersize_pkts);
	S64(e, "oversize_pkts", &p->rmon.oversize_pkts);
	S64(e, "fragments", &p->rmon.fragments);
	S64(e, "jabbers", &p->rmon.jabbers);
	e = debugfs_create_dir("pause", d);
	S64(e, "tx_pause_frames", &p->pause.tx_pause_frames);
	S64(e, "rx_pause_frames", &p->pause.rx_pause_frames);
	e = debugfs_create_dir("rtnl", d);
	S64(e, "rx_errors", &p->rx_errors);
	S64(e, "tx_errors", &p->tx_errors);
	S64(e, "rx_dropped", &p->rx_dropped);
	S64(e, "rx_crc_errors", &p->rx_crc_errors);
	S64(e, "rx_missed_errors", &p->rx_missed_errors);
	S64(e, "tx_carrier_errors", &p->tx_carrier_errors);
}
