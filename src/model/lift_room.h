/* lift_room.h - entries that the features of rows may have; what else of that others ask for is in lift.h. */
#ifndef KL_LIFT_ROOM_H
#define KL_LIFT_ROOM_H

#include "model/lift.h"

bool kl_lift_makes_sparse(const klift_map *lift, const kl_batch *x); /* the map makes CSR of these rows */
/* A map that makes either counts nothing but the entries of rows: of CSR that the preparation leaves as it is, all at once. */
bool kl_lift_counts_starts(const klift_map *lift, const kl_batch *x);
int64_t kl_lift_row_room(const klift_map *lift, const kl_batch *x, int64_t row);
int64_t kl_lift_whole_room(const klift_map *lift, const kl_batch *x); /* INT64_MAX: more than can be counted */

#endif
