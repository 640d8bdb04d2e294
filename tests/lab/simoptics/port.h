/* SPDX-License-Identifier: GPL-2.0 */
/* One simulated port, and what the parts of the module have of each other. */
#ifndef SIMOPTICS_PORT_H
#define SIMOPTICS_PORT_H

#include <linux/ethtool.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include "health.h"

#define BANKS	4
#define PG	128
#define UNSET	ETHTOOL_STAT_NOT_SET
#define NSTR	64

struct bin { struct port *p; u8 *mem; size_t len; };
struct inj { int err; int count; };		/* count < 0: for ever */

struct port {
	struct net_device *dev;
	struct platform_device *pdev;
	struct so_health *health;
	struct port *peer;
	struct dentry *dir;
	int n;
	bool open;
	/* link */
	u8 carrier, follow_peer;
	u32 speed, lanes, speed_down;
	u8 autoneg;
	int ext_state, ext_substate;
	u32 loss_ppm, fcs_ppm;
	atomic_t drop_next;
	/* module */
	struct mutex mem_lock;
	u8 *mem;				/* [BANKS][lower + 256 pages] */
	u8 *a2;					/* i2c 0x51: lower + 256 pages */
	u8 present;
	int absent_errno;
	u32 delay_ms, short_len;
	u64 reads;
	struct inj inj[BANKS][257];		/* [256]: lower */
	struct bin bins[64];
	int nbins;
	u8 power_policy, power_mode;
	/* fec */
	u32 fec_configured, fec_active;
	struct ethtool_fec_stats fec;
	/* statistics groups */
	struct ethtool_eth_phy_stats phy;
	struct ethtool_eth_mac_stats mac;
	struct ethtool_eth_ctrl_stats ctrl;
	struct ethtool_rmon_stats rmon;
	struct ethtool_pause_stats pause;
	u64 rx_errors, tx_errors, rx_dropped, rx_crc_errors, rx_missed_errors, tx_carrier_errors;
	u8 pause_rx, pause_tx, pause_autoneg;
	/* ethtool -S */
	int nstr;
	char str[NSTR][ETH_GSTRING_LEN];
	u64 strv[NSTR];
};

#define BANKLEN ((1 + 256) * PG)

struct npriv { struct port *p; };
static inline struct port *np(struct net_device *d) { return ((struct npriv *)netdev_priv(d))->p; }

/* ports.c: of carrier, open and follow_peer of all ports */
extern spinlock_t so_link_lock;
/* the carrier of both ends; so_link_lock is held */
void so_eval(struct port *p);

/* ethtool.c */
extern const struct ethtool_ops so_eops;

/* files.c: the port's files in debugfs */
void so_files(struct port *p, struct dentry *root);

#endif
