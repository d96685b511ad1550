/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the agent for Java returns when it is loaded into a running JVM. */
#ifndef JITBPF_UAPI_JVM_AGENT_H
#define JITBPF_UAPI_JVM_AGENT_H

/* Results of Agent_OnAttach(). 0: the JVM reports its compiled methods. */
#define JITBPF_JVM_AGENT_LACKS_EVENTS 101 /* the JVM cannot report them */
#define JITBPF_JVM_AGENT_TOO_EARLY    102 /* the JVM cannot report them yet: load the agent again */
#define JITBPF_JVM_AGENT_IS_LOADED    103 /* an agent that was loaded before reports them */

#endif
