/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What whoever loads the agent for Java into a running JVM learns from it. */
#ifndef JITBPF_UAPI_JVM_AGENT_H
#define JITBPF_UAPI_JVM_AGENT_H

/* Result of Agent_OnAttach(): the JVM does not report its compiled methods. 0: it does. */
#define JITBPF_JVM_AGENT_LACKS_EVENTS 101

#endif
