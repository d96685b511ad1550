/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/signaller.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/roles/fd_message.h"
#include "base/scope.h"

int signaller_send(const struct broker *broker, int pidfd, int number_)
{
	AUTO_CLOSE int socket = broker_connect(broker, ROLE_SIGNALLER);
	int32_t number = number_, reply;
	int none, err = socket < 0 ? socket : 0;

	err = err ?: fd_message_send(socket, &number, sizeof(number), pidfd);
	if (!err && fd_message_receive(socket, &reply, sizeof(reply), &none) != sizeof(reply))
		err = -EPIPE;
	return err ?: reply;
}

void signaller_run(int socket)
{
	AUTO_CLOSE int pidfd = -1;
	int32_t number, reply;

	if (fd_message_receive(socket, &number, sizeof(number), &pidfd) != sizeof(number))
		return;
	reply = syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) ? -errno : 0;
	fd_message_send(socket, &reply, sizeof(reply), -1);
}
