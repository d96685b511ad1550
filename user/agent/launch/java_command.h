/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command that is a JVM itself gets the agent as an option: code compiled in its first moments
 * then shows all inlined methods, which a program that is one hot loop needs. Other JVMs, such as
 * those of a script, get it later (agent/jvm/jvm_loads.h).
 *
 * A JVM that cannot load its agent ends. So the option is only added if the program is the launcher
 * of an OpenJDK for the C library of this machine, which runs in our root, and if this process,
 * which has become the command's user, can map the agent's code. It is not added beside options
 * with which a JVM cannot have an agent, nor beside files of options.
 */
#ifndef JITBPF_AGENT_LAUNCH_JAVA_COMMAND_H
#define JITBPF_AGENT_LAUNCH_JAVA_COMMAND_H

/*
 * agent: path of libjitbpf-jvmti.so. Sets *ret to the command with the option, which borrows argv
 * and lives as long as the process; or to NULL if the command is to stay as it is. Returns 0 or
 * -ENOMEM.
 */
int java_command_make(char *const argv[], const char *agent, char ***ret);

#endif
