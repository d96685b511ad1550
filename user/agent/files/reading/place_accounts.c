/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/reading/place_accounts.h"

#include <errno.h>
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

static struct place_owner *owner_of(const struct place_accounts *accounts, struct owner_key key)
{
	vec_for_each (owner, &accounts->owners) {
		if (file_owner_equal(owner->key, key))
			return owner;
	}
	return NULL;
}

/* Returns NULL if memory is short. */
static struct place_owner *get_owner(struct place_accounts *accounts, struct owner_key key,
				     uint64_t now_ns)
{
	struct place_owner *owner = owner_of(accounts, key);
	struct place_owner new = {.key = key, .refilled_ns = now_ns};

	if (owner || vec_push(&accounts->owners, new))
		return owner;
	return &accounts->owners.data[accounts->owners.size - 1];
}

/* Give back a share of the time since the last refill. */
static void refill(uint64_t *spent_ms, uint64_t *refilled_ns, uint64_t percent, uint64_t now_ns)
{
	uint64_t back_ms = (now_ns - *refilled_ns) / REFILL_STEP_NS * percent;

	if (!back_ms)
		return;
	*spent_ms -= back_ms < *spent_ms ? back_ms : *spent_ms;
	*refilled_ns = now_ns;
}

static void refill_account(struct place_account *account, const struct file_patience *patience,
			   uint64_t now_ns)
{
	refill(&account->spent_ms, &account->refilled_ns, patience->refill_percent, now_ns);
}

/* The account of a place that owes nothing any more, such as a process that has ended. */
static struct place_account *settled(struct place_accounts *accounts,
				     const struct file_patience *patience, uint64_t now_ns)
{
	vec_for_each (account, &accounts->accounts) {
		if (account->given_up || account->late_socket >= 0 ||
		    account->place.kind == FILE_PLACE_SERVERS)
			continue;
		refill_account(account, patience, now_ns);
		if (!account->spent_ms)
			return account;
	}
	return NULL;
}

/* Returns true if too many places of an owner were given up. */
static bool has_given_up(const struct place_accounts *accounts, struct owner_key owner,
			 uint64_t now_ns)
{
	uint32_t count = 0, most = file_owner_equal(owner, FILE_OWNER_UNKNOWN)
					   ? FILE_UNKNOWN_PLACES_MAX
					   : FILE_OWNER_PLACES_MAX;

	vec_for_each (account, &accounts->accounts)
		count += account->given_up && file_owner_equal(account->place.owner, owner) &&
			 now_ns - account->given_up_ns < FILE_FORGIVE_NS;
	return count >= most;
}

static uint64_t less(uint64_t most_ms, uint64_t spent_ms)
{
	return spent_ms < most_ms ? most_ms - spent_ms : 0;
}

/* Returns what is left of the time for all places of an owner. */
static uint64_t left_of_owner_ms(struct place_accounts *accounts, struct owner_key key,
				 const struct file_patience *patience, uint64_t now_ns)
{
	struct place_owner *owner = owner_of(accounts, key);

	if (!owner || !patience->refill_percent)
		return UINT64_MAX;
	refill(&owner->spent_ms, &owner->refilled_ns, FILE_OWNER_SHARE * patience->refill_percent,
	       now_ns);
	return less(FILE_OWNER_SHARE * patience->place_ms, owner->spent_ms);
}

uint64_t place_accounts_left_ms(struct place_accounts *accounts, struct file_place place,
				const struct file_patience *patience, uint64_t now_ns)
{
	struct place_account *account = account_of(accounts, place);
	uint64_t left_ms = patience->place_ms, of_owner_ms;

	if (account)
		refill_account(account, patience, now_ns);
	if (account && account->given_up)
		return 0;
	if (accounts->gone && has_given_up(accounts, place.owner, now_ns) &&
	    !place_accounts_is_good(accounts, place))
		return 0;
	if (account)
		left_ms = less(left_ms, account->spent_ms);
	of_owner_ms = left_of_owner_ms(accounts, place.owner, patience, now_ns);
	if (of_owner_ms < left_ms)
		left_ms = of_owner_ms;
	return left_ms < patience->answer_ms ? left_ms : patience->answer_ms;
}

int place_accounts_charge(struct place_accounts *accounts, struct file_place place,
			  const struct file_patience *patience, uint64_t spent_ms, bool answered,
			  uint64_t now_ns)
{
	struct place_account *account = account_of(accounts, place);
	struct place_owner *owner = get_owner(accounts, place.owner, now_ns);

	if (!owner)
		return -ENOMEM;
	/* Slow answers are charged, so they need not count against the place as well. */
	if (answered && !place_accounts_is_good(accounts, place))
		owner->good[owner->good_count++ % FILE_GOOD_PLACES] = place;
	if (answered && spent_ms < FILE_QUICK_MS)
		return 0;
	owner->spent_ms += spent_ms;
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

/* Close the socket of a late answer, and forget its request. */
static void drop_late(struct place_accounts *accounts, struct place_account *account)
{
	accounts->late -= account->late_socket >= 0;
	scope_close(&account->late_socket);
	account->late_socket = -1;
	free(TAKE_PTR(account->late_request));
}

void place_accounts_give_up(struct place_accounts *accounts, struct file_place place, char *what,
			    int socket, uint64_t now_ns)
{
	struct place_account *account = account_of(accounts, place);

	account->given_up = true;
	drop_late(accounts, account);
	account->late_socket = socket;
	accounts->late += socket >= 0;
	account->given_up_ns = now_ns;
	account->what = NULL;
	accounts->gone++;
	if (accounts->given_up_count < FILE_NAMED_MAX)
		account->what = accounts->given_up[accounts->given_up_count++] = what;
	else
		free(what);
}

bool place_accounts_gave_up(const struct place_accounts *accounts, struct file_place place)
{
	const struct place_account *account = account_of(accounts, place);

	return account && account->given_up;
}

bool place_accounts_is_good(const struct place_accounts *accounts, struct file_place place)
{
	const struct place_owner *owner = owner_of(accounts, place.owner);
	uint32_t count = owner ? owner->good_count : 0;

	for (uint32_t i = 0; i < count && i < FILE_GOOD_PLACES; i++) {
		if (file_place_equal(owner->good[i], place))
			return true;
	}
	return false;
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
	accounts->gone--;
}

void place_accounts_see_answers(struct place_accounts *accounts, uint64_t now_ns)
{
	vec_for_each (account, &accounts->accounts) {
		if (!has_answered(account))
			continue;
		forgive_place(accounts, account);
		if (now_ns - account->given_up_ns > FILE_LATE_NS)
			drop_late(accounts, account);
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
	accounts->late--;
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
	vec_deinit(&accounts->owners);
	while (accounts->given_up_count)
		free(accounts->given_up[--accounts->given_up_count]);
}
