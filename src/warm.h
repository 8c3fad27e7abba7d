/* warm.h - going on from a model (the setting warm-start): its preparation, map, seed and lambda are those of the training. */
#ifndef KL_WARM_H
#define KL_WARM_H

#include "model/model.h"

/* The model that the settings name, or NULL: none. A setting that it contradicts is refused by its name. */
klift_status kl_warm_open(const klift_spec *spec, klift_run *run, klift_model **start);
/* Where nothing is trained, it is refused. */
klift_status kl_warm_refuse(const klift_spec *spec);
/* The settings with what is the model's; borrows their texts. */
klift_spec kl_warm_settings(const klift_spec *spec, const klift_model *start);
/* Rows that its map takes, and labels that it can go on with. */
klift_status kl_warm_check_rows(const klift_map *lift, const kl_survey *survey);

#endif
