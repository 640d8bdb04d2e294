/* SPDX-License-Identifier: GPL-2.0 */
/* A devlink instance of a port's parent device, with one health reporter, "port", which says what ice's says
 * (drivers/net/ethernet/intel/ice/devlink/health.c).
 */
#ifndef SIMOPTICS_HEALTH_H
#define SIMOPTICS_HEALTH_H

struct dentry;
struct device;
struct so_health;

/* NULL: no memory */
struct so_health *so_health_new(struct device *parent);
/* the file "health" */
void so_health_file(struct so_health *h, struct dentry *dir);
void so_health_free(struct so_health *h);

#endif
