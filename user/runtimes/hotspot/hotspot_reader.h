/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* HotSpot, the virtual machine of OpenJDK, as a runtime whose native frames hold functions. */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_READER_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_READER_H

#include "runtimes/runtime_reader.h"

extern const struct runtime_reader hotspot_reader;

#endif
