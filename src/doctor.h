/* doctor.h - what runs here and how fast, measured at this moment. */
#ifndef KL_DOCTOR_H
#define KL_DOCTOR_H

#include "base/run.h"

klift_status kl_doctor(klift_run *run, kl_text *json);

#endif
