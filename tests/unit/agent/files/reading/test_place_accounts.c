/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/files/reading/place_accounts.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define SECOND 1000000000ull

static const struct file_patience patience = {.answer_ms = 500, .place_ms = 2000};
static const struct file_place disk = {
	.kind = FILE_PLACE_DEVICE, .a = 8, .b = 1, .owner = FILE_OWNER_UNKNOWN};
static const struct file_place other = {
	.kind = FILE_PLACE_DEVICE, .a = 8, .b = 2, .owner = FILE_OWNER_UNKNOWN};

static uint64_t left(struct place_accounts *accounts, struct file_place place)
{
	return place_accounts_left_ms(accounts, place, &patience, SECOND);
}

static int charge(struct place_accounts *accounts, struct file_place place, uint64_t spent_ms,
		  bool answered)
{
	return place_accounts_charge(accounts, place, &patience, spent_ms, answered, SECOND);
}

CASE(test_slow_answers_add_up)
{
	struct place_accounts accounts = {0};

	assert_int_equal(left(&accounts, disk), 500);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(charge(&accounts, disk, FILE_QUICK_MS - 1, true), 0);
	assert_int_equal(accounts.accounts.size, 0);
	assert_int_equal(charge(&accounts, disk, 1000, true), 0);
	assert_int_equal(left(&accounts, disk), 500);
	assert_int_equal(charge(&accounts, disk, 700, true), 0);
	assert_int_equal(left(&accounts, disk), 300);
	assert_int_equal(left(&accounts, other), 500);
	assert_int_equal(charge(&accounts, disk, 300, true), 1);
	place_accounts_give_up(&accounts, disk, strdup("/a"), -1, SECOND);
	assert_int_equal(left(&accounts, disk), 0);
	assert_int_equal(left(&accounts, other), 500);
	place_accounts_deinit(&accounts);
}

CASE(test_no_answer)
{
	struct place_accounts accounts = {0};

	assert_int_equal(charge(&accounts, disk, 500, false), 1);
	place_accounts_give_up(&accounts, disk, strdup("/a"), -1, SECOND);
	assert_int_equal(charge(&accounts, other, 500, false), 1);
	place_accounts_give_up(&accounts, other, strdup("/b"), -1, SECOND);
	assert_string_equal(place_accounts_given_up(&accounts, 0), "/a");
	assert_string_equal(place_accounts_given_up(&accounts, 1), "/b");
	assert_null(place_accounts_given_up(&accounts, 2));
	place_accounts_deinit(&accounts);
}

static struct file_place place_of_user(uint32_t number, uint32_t uid)
{
	return file_place_of_device(0, number, (struct owner_key){.uid = uid});
}

static void give_up(struct place_accounts *accounts, struct file_place place, uint64_t now_ns)
{
	assert_int_equal(place_accounts_charge(accounts, place, &patience, 25, false, now_ns), 1);
	place_accounts_give_up(accounts, place, strdup("/a"), -1, now_ns);
}

/*
 * A user can mount any number of file systems: two that hang are enough, but for places that have
 * answered. However many users do so, others lose nothing: not even the same places.
 */
CASE(test_owners)
{
	const struct file_place good = place_of_user(99, 1000);
	struct place_accounts accounts = {0};

	assert_int_equal(charge(&accounts, good, 1, true), 0);
	for (uint32_t uid = 1000; uid < 1010; uid++) {
		for (uint32_t i = 0; i < FILE_OWNER_PLACES_MAX; i++) {
			assert_int_equal(left(&accounts, place_of_user(50, uid)), 500);
			give_up(&accounts, place_of_user(i, uid), SECOND);
		}
		assert_int_equal(left(&accounts, place_of_user(50, uid)), 0);
	}
	assert_int_equal(left(&accounts, good), 500);
	assert_int_equal(left(&accounts, place_of_user(0, 2000)), 500);
	assert_int_equal(left(&accounts, disk), 500);
	/* Their places do not count for ever, but stay given up. */
	assert_int_equal(place_accounts_left_ms(&accounts, place_of_user(50, 1000), &patience,
						FILE_FORGIVE_NS),
			 0);
	assert_int_equal(place_accounts_left_ms(&accounts, place_of_user(50, 1000), &patience,
						SECOND + FILE_FORGIVE_NS),
			 500);
	assert_int_equal(place_accounts_left_ms(&accounts, place_of_user(0, 1000), &patience,
						SECOND + FILE_FORGIVE_NS),
			 0);
	place_accounts_deinit(&accounts);
}

/* Containers of root are owners; the cgroups of another user are not. */
CASE(test_cgroups)
{
	struct place_accounts accounts = {0};

	for (uint32_t uid = 0; uid <= 1000; uid += 1000) {
		for (uint32_t i = 0; i < FILE_OWNER_PLACES_MAX; i++)
			give_up(&accounts, file_place_of_memory(i, (struct owner_key){uid, 7}),
				SECOND);
		assert_int_equal(
			left(&accounts, file_place_of_memory(9, (struct owner_key){uid, 8})),
			uid ? 0 : 500);
	}
	place_accounts_deinit(&accounts);
}

/* Processes whose owner is not known may be of many users. */
CASE(test_unknown_owner)
{
	struct place_accounts accounts = {0};

	for (uint32_t i = 0; i < FILE_UNKNOWN_PLACES_MAX; i++) {
		assert_int_equal(left(&accounts, disk), 500);
		give_up(&accounts, file_place_of(FILE_PLACE_ROOT, i, 0, FILE_OWNER_UNKNOWN),
			SECOND);
	}
	assert_int_equal(left(&accounts, disk), 0);
	place_accounts_deinit(&accounts);
}

/* Any number of slow places of a user takes a bounded part of the time. */
CASE(test_many_places_of_a_user)
{
	const struct file_patience lasting = {
		.answer_ms = 500, .place_ms = 1000, .refill_percent = 1};
	struct place_accounts accounts = {0};
	uint64_t spent_ms = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		struct file_place place = place_of_user(i, 1000);

		if (!place_accounts_left_ms(&accounts, place, &lasting, SECOND))
			continue;
		assert_int_equal(
			place_accounts_charge(&accounts, place, &lasting, 20, true, SECOND), 0);
		spent_ms += 20;
	}
	assert_int_equal(spent_ms, FILE_OWNER_SHARE * lasting.place_ms);
	assert_int_equal(
		place_accounts_left_ms(&accounts, place_of_user(0, 1001), &lasting, SECOND), 500);
	assert_int_equal(
		place_accounts_left_ms(&accounts, place_of_user(2000, 1000), &lasting, 6 * SECOND),
		200);
	place_accounts_deinit(&accounts);
}

/* Slow answers do not end a place that gets time back; a late answer revives one. */
CASE(test_slow_but_alive)
{
	const struct file_patience lasting = {
		.answer_ms = 500, .place_ms = 1000, .refill_percent = 10};
	struct place_accounts accounts = {0};
	AUTO_FREE struct late_request *request = NULL;
	int sockets[2];

	assert_int_equal(place_accounts_charge(&accounts, disk, &lasting, 5000, true, SECOND), 0);
	assert_int_equal(place_accounts_left_ms(&accounts, disk, &lasting, SECOND), 0);
	assert_int_equal(place_accounts_left_ms(&accounts, disk, &lasting, 42 * SECOND), 100);
	assert_int_equal(place_accounts_late_socket(&accounts, disk), -1);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_int_equal(place_accounts_charge(&accounts, disk, &lasting, 10, false, 42 * SECOND),
			 1);
	place_accounts_give_up(&accounts, disk, strdup("/a"), sockets[0], 42 * SECOND);
	assert_int_equal(place_accounts_left_ms(&accounts, disk, &lasting, 52 * SECOND), 0);
	assert_int_equal(place_accounts_late_socket(&accounts, disk), sockets[0]);
	place_accounts_set_request(&accounts, disk, "request", 7, 43 * SECOND);
	place_accounts_see_answers(&accounts, 44 * SECOND);
	assert_int_equal(place_accounts_take_answer(&accounts, disk, &request), -1);
	assert_int_equal(accounts.gone, 1);
	assert_int_equal(write(sockets[1], "answer", 6), 6);
	place_accounts_see_answers(&accounts, 44 * SECOND);
	assert_int_equal(accounts.gone, 0);
	assert_int_equal(place_accounts_take_answer(&accounts, disk, &request), sockets[0]);
	assert_int_equal(request->sent_ns, 43 * SECOND);
	assert_int_equal(request->size_bytes, 7);
	assert_memory_equal(request->bytes, "request", 7);
	assert_int_equal(place_accounts_late_socket(&accounts, disk), -1);
	assert_int_equal(place_accounts_left_ms(&accounts, disk, &lasting, 62 * SECOND), 500);
	assert_int_equal(accounts.gone, 0);
	assert_null(place_accounts_given_up(&accounts, 0)); /* it has answered */
	close(sockets[0]);
	close(sockets[1]);
	place_accounts_deinit(&accounts);
}

/* Accounts of processes that are gone, which were slow once, are used again. */
CASE(test_many_slow_places)
{
	const struct file_patience lasting = {
		.answer_ms = 500, .place_ms = 1000, .refill_percent = 10};
	struct place_accounts accounts = {0};

	for (uint32_t i = 0; i < 10000; i++) {
		struct file_place place = {.kind = FILE_PLACE_MEMORY, .a = i};

		assert_int_equal(place_accounts_charge(&accounts, place, &lasting, 20, true,
						       SECOND + i * SECOND / 10),
				 0);
	}
	assert_true(accounts.accounts.size < 10);
	place_accounts_deinit(&accounts);
}

/* A place that is used for ever gets its time back, and may miss some answers. */
CASE(test_refill)
{
	const struct file_patience lasting = {
		.answer_ms = 500, .place_ms = 1000, .refill_percent = 10, .unanswered_max = 2};
	struct place_accounts accounts = {0};

	assert_int_equal(place_accounts_charge(&accounts, disk, &lasting, 400, false, SECOND), 0);
	assert_int_equal(place_accounts_charge(&accounts, disk, &lasting, 400, true, SECOND), 0);
	assert_int_equal(place_accounts_left_ms(&accounts, disk, &lasting, SECOND), 200);
	assert_int_equal(place_accounts_left_ms(&accounts, disk, &lasting, 2 * SECOND), 300);
	assert_int_equal(place_accounts_left_ms(&accounts, disk, &lasting, 2 * SECOND), 300);
	assert_int_equal(place_accounts_left_ms(&accounts, disk, &lasting, 60 * SECOND), 500);
	assert_int_equal(accounts.accounts.data[0].spent_ms, 0);
	assert_int_equal(place_accounts_charge(&accounts, disk, &lasting, 100, false, 60 * SECOND),
			 0);
	assert_int_equal(place_accounts_charge(&accounts, disk, &lasting, 100, false, 60 * SECOND),
			 1);
	place_accounts_deinit(&accounts);
}

/* Nobody asks again about the memory of a process that has ended: its helper must end, too. */
CASE(test_late_answer_that_nobody_takes)
{
	struct place_accounts accounts = {0};
	int sockets[2];
	char c;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_int_equal(charge(&accounts, disk, 500, false), 1);
	place_accounts_give_up(&accounts, disk, strdup("/a"), sockets[0], SECOND);
	place_accounts_see_answers(&accounts, 60 * SECOND);
	assert_int_equal(accounts.gone, 1);
	assert_int_equal(accounts.late, 1);
	assert_int_equal(write(sockets[1], "answer", 6), 6);
	place_accounts_see_answers(&accounts, SECOND + FILE_LATE_NS);
	assert_int_equal(accounts.gone, 0);
	assert_int_equal(accounts.late, 1);
	place_accounts_see_answers(&accounts, SECOND + FILE_LATE_NS + 1);
	assert_int_equal(accounts.late, 0);
	assert_int_equal(place_accounts_late_socket(&accounts, disk), -1);
	assert_true(read(sockets[1], &c, 1) <= 0);
	close(sockets[1]);
	place_accounts_deinit(&accounts);
}
