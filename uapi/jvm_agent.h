/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What whoever loads the agent for Java into a running JVM learns from it. */
#ifndef JITBPF_UAPI_JVM_AGENT_H
#define JITBPF_UAPI_JVM_AGENT_H

/* Results of Agent_OnAttach(). 0: the JVM reports its compiled methods. */
#define JITBPF_JVM_AGENT_LACKS_EVENTS 101 /* it does not */
#define JITBPF_JVM_AGENT_TOO_EARLY    102 /* not yet: load the agent again in a moment */
#define JITBPF_JVM_AGENT_IS_LOADED    103 /* it does, through an agent that was loaded before */

#endif
