/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What to do about code that engines do not publish. It is about the runtimes that a process runs,
 * not about its name.
 */
#ifndef JITBPF_SINK_ENGINE_ADVICE_H
#define JITBPF_SINK_ENGINE_ADVICE_H

#include "base/text.h"
#include "profile/ledger.h"
#include "sink/write/json.h"
#include "sink/write/text.h"

/*
 * Put advice about the code of a process that is not published: that of its runtimes, each behind
 * its name, or general advice. command: the command that was run with the variables of 'jitbpf
 * env'; "": the process was started in another way.
 */
void engine_advice_put(struct text *text, const struct ledger_process *process,
		       const char *command);

/* Returns why a process may have no JIT code, although its runtime has a JIT; or NULL. */
const char *engine_advice_without_code(const struct ledger_process *process);

/*
 * Write the member "runtimes" of a process, a list of names, versions and whether functions are
 * shown, unless it is empty.
 */
void engine_advice_write_runtimes(struct json *json, const uint64_t *runtimes);

/* Write the object of a known runtime. functions: whether these are shown; NULL: not known. */
void engine_advice_write_runtime(struct json *json, uint64_t number, const char *functions);

/*
 * Write the member "engines" for the page (page/engines.ts): a list of all engines, by index. The
 * last entry has the advice for processes of none of these.
 */
void engine_advice_write(struct json *json);

#endif
