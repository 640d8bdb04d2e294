// SPDX-License-Identifier: GPL-2.0
/* What ethtool and its netlink say of a port. */
#include <linux/delay.h>
#include <linux/ethtool_netlink.h>
#include <linux/module.h>
#include "port.h"

static void so_drvinfo(struct net_device *d, struct ethtool_drvinfo *i)
{
	strscpy(i->driver, "simoptics", sizeof(i->driver));
	strscpy(i->fw_version, "1.0", sizeof(i->fw_version));
	strscpy(i->bus_info, dev_name(&np(d)->pdev->dev), sizeof(i->bus_info));
}

static const struct { u32 speed, lanes, bit; } modes[] = {
	{ 10000, 1, ETHTOOL_LINK_MODE_10000baseSR_Full_BIT },
	{ 25000, 1, ETHTOOL_LINK_MODE_25000baseSR_Full_BIT },
	{ 40000, 4, ETHTOOL_LINK_MODE_40000baseSR4_Full_BIT },
	{ 50000, 1, ETHTOOL_LINK_MODE_50000baseSR_Full_BIT },
	{ 50000, 2, ETHTOOL_LINK_MODE_50000baseSR2_Full_BIT },
	{ 100000, 1, ETHTOOL_LINK_MODE_100000baseLR_ER_FR_Full_BIT },
	{ 100000, 2, ETHTOOL_LINK_MODE_100000baseSR2_Full_BIT },
	{ 100000, 4, ETHTOOL_LINK_MODE_100000baseSR4_Full_BIT },
	{ 200000, 2, ETHTOOL_LINK_MODE_200000baseSR2_Full_BIT },
	{ 200000, 4, ETHTOOL_LINK_MODE_200000baseSR4_Full_BIT },
	{ 400000, 4, ETHTOOL_LINK_MODE_400000baseSR4_Full_BIT },
	{ 400000, 8, ETHTOOL_LINK_MODE_400000baseSR8_Full_BIT },
	/* 6.1 has no 800G link mode bits; speed and lanes are still reported */
};

static int so_get_ks(struct net_device *d, struct ethtool_link_ksettings *k)
{
	struct port *p = np(d);
	bool up = netif_carrier_ok(d);
	int i;

	ethtool_link_ksettings_zero_link_mode(k, supported);
	ethtool_link_ksettings_zero_link_mode(k, advertising);
	ethtool_link_ksettings_add_link_mode(k, supported, FIBRE);
	ethtool_link_ksettings_add_link_mode(k, supported, FEC_RS);
	ethtool_link_ksettings_add_link_mode(k, supported, FEC_NONE);
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (modes[i].speed > 400000)
			continue;
		__set_bit(modes[i].bit, k->link_modes.supported);
		if (modes[i].speed == p->speed && modes[i].lanes == p->lanes)
			__set_bit(modes[i].bit, k->link_modes.advertising);
	}
	k->base.port = p->present ? PORT_FIBRE : PORT_NONE;
	k->base.autoneg = p->autoneg;
	k->base.duplex = up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	k->base.speed = up ? p->speed : (p->speed_down ? p->speed_down : SPEED_UNKNOWN);
	k->lanes = up ? p->lanes : 0;
	return 0;
}

static int so_set_ks(struct net_device *d, const struct ethtool_link_ksettings *k)
{
	struct port *p = np(d);

	p->autoneg = k->base.autoneg;
	if (k->base.speed != SPEED_UNKNOWN)
		p->speed = k->base.speed;
	if (k->lanes)
		p->lanes = k->lanes;
	return 0;
}

static int so_ext(struct net_device *d, struct ethtool_link_ext_state_info *i)
{
	struct port *p = np(d);

	if (p->ext_state < 0)
		return -ENODATA;
	i->link_ext_state = p->ext_state;
	i->__link_ext_substate = p->ext_substate > 0 ? p->ext_substate : 0;
	return 0;
}

static int inject(struct port *p, int bank, int page)
{
	struct inj *j = &p->inj[bank][page];

	if (!j->err || !j->count)
		return 0;
	if (j->count > 0)
		j->count--;
	return -j->err;
}

static int rd(struct port *p, int bank, int page, int i2c, u32 off, u32 len, u8 *data)
{
	u8 *base;
	int err;

	if (p->delay_ms)
		msleep(p->delay_ms);
	p->reads++;
	if (!p->present)
		return -p->absent_errno;
	if (bank >= BANKS || off + len > 2 * PG)
		return -EINVAL;
	if (page < 0x10 || page > 0x2f)
		bank = 0;
	if (p->short_len && len > p->short_len)
		len = p->short_len;
	mutex_lock(&p->mem_lock);
	err = inject(p, bank, off < PG ? 256 : page);
	if (!err) {
		base = i2c == 0x51 ? p->a2 : p->mem + bank * BANKLEN;
		while (len && off < PG) {		/* lower half: bank 0 always */
			*data++ = (i2c == 0x51 ? p->a2 : p->mem)[off++];
			len--; err++;
		}
		memcpy(data, base + PG + page * PG + off - PG, len);
		err += len;
	}
	mutex_unlock(&p->mem_lock);
	return err;
}

static int so_eeprom_page(struct net_device *d, const struct ethtool_module_eeprom *e,
			  struct netlink_ext_ack *extack)
{
	return rd(np(d), e->bank, e->page, e->i2c_address, e->offset, e->length, e->data);
}

/* the older ioctl interface: page 0, then pages 1..3 (SFF-8636) */
static int so_modinfo(struct net_device *d, struct ethtool_modinfo *m)
{
	struct port *p = np(d);

	if (!p->present)
		return -p->absent_errno;
	if (p->mem[0] == 0x03) {
		m->type = ETH_MODULE_SFF_8472; m->eeprom_len = ETH_MODULE_SFF_8472_LEN;
	} else {
		m->type = ETH_MODULE_SFF_8636; m->eeprom_len = ETH_MODULE_SFF_8636_MAX_LEN;
	}
	return 0;
}

static int so_modeeprom(struct net_device *d, struct ethtool_eeprom *e, u8 *data)
{
	struct port *p = np(d);
	u32 off = e->offset, left = e->len;

	memset(data, 0, left);
	while (left) {
		u32 half = off / PG, o = off % PG, n = min_t(u32, left, PG - o);
		int r, i2c = 0x50, page = half > 1 ? half - 1 : 0;

		if (p->mem[0] == 0x03 && half > 1) {
			i2c = 0x51; page = 0; half -= 2;
		}
		r = rd(p, 0, page, i2c, (half ? PG : 0) + o, n, data);
		if (r < 0)
			return r;
		off += n; left -= n; data += n;
	}
	return 0;
}

static int so_get_fec(struct net_device *d, struct ethtool_fecparam *f)
{
	f->active_fec = netif_carrier_ok(d) ? np(d)->fec_active : 0;
	f->fec = np(d)->fec_configured;
	return 0;
}

static int so_set_fec(struct net_device *d, struct ethtool_fecparam *f)
{
	np(d)->fec_configured = f->fec;
	np(d)->fec_active = (f->fec & ETHTOOL_FEC_AUTO) ? ETHTOOL_FEC_RS : f->fec;
	return 0;
}

static void so_fec_stats(struct net_device *d, struct ethtool_fec_stats *s) { *s = np(d)->fec; }
static void so_phy(struct net_device *d, struct ethtool_eth_phy_stats *s) { *s = np(d)->phy; }
static void so_mac(struct net_device *d, struct ethtool_eth_mac_stats *s) { *s = np(d)->mac; }
static void so_ctrl(struct net_device *d, struct ethtool_eth_ctrl_stats *s) { *s = np(d)->ctrl; }
static void so_pause_stats(struct net_device *d, struct ethtool_pause_stats *s) { *s = np(d)->pause; }

static const struct ethtool_rmon_hist_range ranges[] = { { 64, 64 }, { 65, 9600 }, {} };
static void so_rmon(struct net_device *d, struct ethtool_rmon_stats *s,
		    const struct ethtool_rmon_hist_range **r)
{
	*s = np(d)->rmon;
	*r = ranges;
}

static void so_get_pause(struct net_device *d, struct ethtool_pauseparam *q)
{
	q->rx_pause = np(d)->pause_rx; q->tx_pause = np(d)->pause_tx; q->autoneg = np(d)->pause_autoneg;
}

static int so_set_pause(struct net_device *d, struct ethtool_pauseparam *q)
{
	np(d)->pause_rx = q->rx_pause; np(d)->pause_tx = q->tx_pause; np(d)->pause_autoneg = q->autoneg;
	return 0;
}

static int so_sset(struct net_device *d, int s)
{
	return s == ETH_SS_STATS ? np(d)->nstr : -EOPNOTSUPP;
}

static void so_strings(struct net_device *d, u32 s, u8 *b)
{
	if (s == ETH_SS_STATS)
		memcpy(b, np(d)->str, np(d)->nstr * ETH_GSTRING_LEN);
}

static void so_estats(struct net_device *d, struct ethtool_stats *s, u64 *v)
{
	memcpy(v, np(d)->strv, min_t(int, s->n_stats, NSTR) * sizeof(u64));
}

static int so_get_pm(struct net_device *d, struct ethtool_module_power_mode_params *m,
		     struct netlink_ext_ack *x)
{
	m->policy = np(d)->power_policy;
	if (np(d)->present)
		m->mode = np(d)->power_mode;
	return 0;
}

static int so_set_pm(struct net_device *d, const struct ethtool_module_power_mode_params *m,
		     struct netlink_ext_ack *x)
{
	np(d)->power_policy = m->policy;
	return 0;
}

const struct ethtool_ops so_eops = {
	.cap_link_lanes_supported = 1,
	.get_drvinfo = so_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ext_state = so_ext,
	.get_link_ksettings = so_get_ks, .set_link_ksettings = so_set_ks,
	.get_module_eeprom_by_page = so_eeprom_page,
	.get_module_info = so_modinfo, .get_module_eeprom = so_modeeprom,
	.get_module_power_mode = so_get_pm, .set_module_power_mode = so_set_pm,
	.get_fecparam = so_get_fec, .set_fecparam = so_set_fec, .get_fec_stats = so_fec_stats,
	.get_eth_phy_stats = so_phy, .get_eth_mac_stats = so_mac, .get_eth_ctrl_stats = so_ctrl,
	.get_rmon_stats = so_rmon,
	.get_pause_stats = so_pause_stats, .get_pauseparam = so_get_pause, .set_pauseparam = so_set_pause,
	.get_sset_count = so_sset, .get_strings = so_strings, .get_ethtool_stats = so_estats,
};
