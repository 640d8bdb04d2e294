// SPDX-License-Identifier: GPL-2.0
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>
#include <net/devlink.h>
#include "health.h"

struct so_health {
	struct devlink *devlink;
	struct devlink_health_reporter *port;
	struct mutex lock;
	u32 syndrome;				/* 0: nothing was ever wrong */
	char description[120];
};

static int port_diagnose(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
			 struct netlink_ext_ack *extack)
{
	struct so_health *h = devlink_health_reporter_priv(reporter);
	int err;

	mutex_lock(&h->lock);
	err = devlink_fmsg_u32_pair_put(fmsg, "Syndrome", h->syndrome);
	if (!err && h->syndrome)
		err = devlink_fmsg_string_pair_put(fmsg, "Description", h->description);
	if (!err && h->syndrome)
		err = devlink_fmsg_string_pair_put(fmsg, "Possible Solution", "Check your cable connection.");
	if (!err && h->syndrome)
		err = devlink_fmsg_u32_pair_put(fmsg, "Port Number", 0);
	mutex_unlock(&h->lock);
	return err;
}

static const struct devlink_health_reporter_ops port_ops = { .name = "port", .diagnose = port_diagnose };
static const struct devlink_ops so_devlink_ops = {};

/* the description of an error, which is reported */
static ssize_t health_write(struct file *f, const char __user *u, size_t n, loff_t *o)
{
	struct so_health *h = f->private_data;
	char b[sizeof(h->description)] = {};

	if (n >= sizeof(b) || copy_from_user(b, u, n))
		return -EINVAL;
	mutex_lock(&h->lock);
	strscpy(h->description, strim(b), sizeof(h->description));
	h->syndrome++;
	mutex_unlock(&h->lock);
	devlink_health_report(h->port, "Port syndrome reported", NULL);
	return n;
}

static const struct file_operations health_fops = {
	.owner = THIS_MODULE, .open = simple_open, .write = health_write,
};

struct so_health *so_health_new(struct device *parent)
{
	struct devlink *devlink = devlink_alloc(&so_devlink_ops, sizeof(struct so_health), parent);
	struct so_health *h;

	if (!devlink)
		return NULL;
	h = devlink_priv(devlink);
	h->devlink = devlink;
	mutex_init(&h->lock);
	h->port = devlink_health_reporter_create(devlink, &port_ops, 0, h);
	if (IS_ERR(h->port)) {
		devlink_free(devlink);
		return NULL;
	}
	devlink_register(devlink);
	return h;
}

void so_health_file(struct so_health *h, struct dentry *dir)
{
	debugfs_create_file("health", 0200, dir, h, &health_fops);
}

void so_health_free(struct so_health *h)
{
	if (!h)
		return;
	devlink_unregister(h->devlink);
	devlink_health_reporter_destroy(h->port);
	devlink_free(h->devlink);
}
