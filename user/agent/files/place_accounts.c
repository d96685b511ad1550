/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/place_accounts.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"

#define REFILL_STEP_NS 100000000ull /* after it, refill_percent ms are credited */

/* A linear search will do: only slow places have an account. */
static struct place_account *account_of(const struct place_accounts *accounts,
					struct file_place place)
{
	vec_for_each (account, &accounts->accounts) {
		if (file_place_equal(account->place, place))
			return account;
	}
	return NULL;
}

/* Give a place back the share of the time since the last refill. */
static void refill(struct place_account *account, const struct file_patience *patience,
		   uint64_t now_ns)
{
	uint64_t back_ms =
		(now_ns - account->refilled_ns) / REFILL_STEP_NS * patience->refill_percent;

	if (!back_ms)
		return;
	account->spent_ms -= back_ms < account->spent_ms ? back_ms : account->spent_ms;
	account->refilled_ns = now_ns;
}

static void forgive(struct place_accounts *accounts, uint64_t now_ns)
{
	for (; accounts->unforgiven && now_ns - accounts->forgiven_ns >= FILE_FORGIVE_NS;
	     accounts->forgiven_ns += FILE_FORGIVE_NS)
		accounts->unforgiven--;
}

/* The account of a place that owes nothing any more, such as a process that has ended. */
static struct place_account *settled(struct place_accounts *accounts,
				     const struct file_patience *patience, uint64_t now_ns)
{
	vec_for_each (account, &accounts->accounts) {
		if (account->given_up || account->unanswered || account->late_socket >= 0 ||
		    account->place.kind == FILE_PLACE_SERVERS)
			continue;
		refill(account, patience, now_ns);
		if (!account->spent_ms)
			return account;
	}
	return NULL;
}

uint64_t place_accounts_left_ms(struct place_accounts *accounts, struct file_place place,
				const struct file_patience *patience, uint64_t now_ns)
{
	struct place_account *account = account_of(accounts, place);
	uint64_t left_ms = patience->place_ms;

	if (account)
		refill(account, patience, now_ns);
	forgive(accounts, now_ns);
	if ((account && account->given_up) || (accounts->unforgiven >= FILE_PLACES_GIVEN_UP_MAX &&
					       !place_accounts_is_good(accounts, place)))
		return 0;
	if (account)
		left_ms -= account->spent_ms < left_ms ? account->spent_ms : left_ms;
	return left_ms < patience->answer_ms ? left_ms : patience->answer_ms;
}

int place_accounts_charge(struct place_accounts *accounts, struct file_place place,
			  const struct file_patience *patience, uint64_t spent_ms, bool answered,
			  uint64_t now_ns)
{
	struct place_account *account = account_of(accounts, place);

	if (answered && spent_ms < FILE_QUICK_MS) {
		if (!place_accounts_is_good(accounts, place))
			accounts->good[accounts->good_count++ % FILE_GOOD_PLACES] = place;
		return 0;
	}
	if (!account) {
		struct place_account new = {
			.place = place, .refilled_ns = now_ns, .late_socket = -1};

		account = settled(accounts, patience, now_ns);
		if (!account && vec_push(&accounts->accounts, new))
			return -ENOMEM;
		account = account ?: &accounts->accounts.data[accounts->accounts.size - 1];
		*account = new;
	}
	account->spent_ms += spent_ms;
	account->unanswered += !answered;
	return (account->spent_ms >= patience->place_ms && !patience->refill_percent) ||
	       (!answered && account->unanswered > patience->unanswered_max);
}

void place_accounts_give_up(struct place_accounts *accounts, struct file_place place, char *what,
			    int socket, uint64_t now_ns)
{
	struct place_account *account = account_of(accounts, place);

	account->given_up = true;
	if (account->late_socket >= 0)
		close(account->late_socket);
	account->late_socket = socket;
	account->owner = FILE_OWNER_UNKNOWN;
	account->what = NULL;
	if (!accounts->unforgiven++)
		accounts->forgiven_ns = now_ns;
	if (accounts->given_up_count < FILE_PLACES_GIVEN_UP_MAX)
		account->what = accounts->given_up[accounts->given_up_count++] = what;
	else
		free(what);
}

void place_accounts_set_owner(struct place_accounts *accounts, struct file_place place,
			      uint32_t owner)
{
	account_of(accounts, place)->owner = owner;
}

bool place_accounts_gave_up(const struct place_accounts *accounts, struct file_place place)
{
	const struct place_account *account = account_of(accounts, place);

	return account && account->given_up;
}

bool place_accounts_is_good(const struct place_accounts *accounts, struct file_place place)
{
	uint32_t count =
		accounts->good_count < FILE_GOOD_PLACES ? accounts->good_count : FILE_GOOD_PLACES;

	for (uint32_t i = 0; i < count; i++) {
		if (file_place_equal(accounts->good[i], place))
			return true;
	}
	return false;
}

bool place_accounts_refuses(const struct place_accounts *accounts, struct file_place place,
			    uint32_t owner)
{
	uint32_t count = 0;

	if (owner == FILE_OWNER_UNKNOWN || place_accounts_is_good(accounts, place))
		return false;
	vec_for_each (account, &accounts->accounts)
		count += account->given_up && account->owner == owner;
	return count >= FILE_OWNER_PLACES_MAX;
}

/* A place that answered late is not reported. */
static void forget_what(struct place_accounts *accounts, struct place_account *account)
{
	for (uint32_t i = 0; i < accounts->given_up_count; i++) {
		if (accounts->given_up[i] != account->what)
			continue;
		free(accounts->given_up[i]);
		accounts->given_up[i] = accounts->given_up[--accounts->given_up_count];
		return;
	}
}

int place_accounts_late_socket(const struct place_accounts *accounts, struct file_place place)
{
	const struct place_account *account = account_of(accounts, place);

	return account ? account->late_socket : -1;
}

void place_accounts_set_request(struct place_accounts *accounts, struct file_place place,
				const void *bytes, size_t size_bytes, uint64_t sent_ns)
{
	struct place_account *account = account_of(accounts, place);
	struct late_request *request = malloc(sizeof(*request) + size_bytes);

	free(account->late_request);
	account->late_request = request;
	if (!request)
		return;
	request->sent_ns = sent_ns;
	request->size_bytes = size_bytes;
	memcpy(request->bytes, bytes, size_bytes);
}

static bool has_answered(const struct place_account *account)
{
	struct pollfd late = {.fd = account->late_socket, .events = POLLIN};

	return late.fd >= 0 && poll(&late, 1, 0) > 0;
}

static void forgive_place(struct place_accounts *accounts, struct place_account *account)
{
	if (!account->given_up)
		return;
	if (account->what)
		forget_what(accounts, account);
	account->what = NULL;
	account->given_up = false;
	account->unanswered = 0;
	accounts->unforgiven -= !!accounts->unforgiven;
}

void place_accounts_see_answers(struct place_accounts *accounts)
{
	vec_for_each (account, &accounts->accounts) {
		if (account->given_up && has_answered(account))
			forgive_place(accounts, account);
	}
}

int place_accounts_take_answer(struct place_accounts *accounts, struct file_place place,
			       struct late_request **ret_request)
{
	struct place_account *account = account_of(accounts, place);

	if (!account || !has_answered(account))
		return -1;
	forgive_place(accounts, account);
	*ret_request = TAKE_PTR(account->late_request);
	return TAKE_FD(account->late_socket);
}

const char *place_accounts_given_up(const struct place_accounts *accounts, uint32_t number)
{
	return number < accounts->given_up_count ? accounts->given_up[number] : NULL;
}

void place_accounts_deinit(struct place_accounts *accounts)
{
	vec_for_each (account, &accounts->accounts) {
		if (account->late_socket >= 0)
			close(account->late_socket);
		free(account->late_request);
	}
	vec_deinit(&accounts->accounts);
	while (accounts->given_up_count)
		free(accounts->given_up[--accounts->given_up_count]);
}
