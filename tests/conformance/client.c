/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conformance-client rules CPU_MS             the rules of rules.c
 * conformance-client random SEED COUNT CPU_MS so many runs of random events
 *
 * Sends events as an engine does, and in between runs code at the addresses that
 * a rule asks about. Tells when it did so, and what samples of that time are to
 * say (rules.h), one line each, tabs between the fields:
 *
 *   how pid address from_ns to_ns frames about
 *
 * how: at: the leaf's pc is address; called: the second frame's return address is
 * address. frames are - where no code is known. Each rule runs in a process of
 * its own, so that none sees another's code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/conformance/payload.h"
#include "tests/conformance/random_events.h"
#include "tests/conformance/rules.h"
#include "tests/conformance/spin.h"

#define CODE_BYTES	 0x2000
#define RANDOM_STEPS	 12
#define RANDOM_QUERIES	 2 /* after each */
#define NS_PER_MS	 1000000ull
#define CHILDREN_AT_ONCE 2

struct client {
	struct payload_sender sender;
	uint8_t *code;
	uint64_t cpu_ns;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static int client_init(struct client *client, uint64_t cpu_ns)
{
	struct jit_client engine;
	jit_second_fn second;

	if (!jit_client_open(&engine))
		return -1;
	second = jit_client_second();
	client->code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	client->cpu_ns = cpu_ns;
	if (!second || client->code == MAP_FAILED)
		return -1;
	return payload_sender_init(&client->sender, &engine, second, (uintptr_t)client->code);
}

static int send_event(const struct client *client, const struct rule_event *event)
{
	unsigned int answer = payload_send(&client->sender, event);

	if (answer == 1)
		return 0;
	fprintf(stderr, "conformance-client: event %u: answer %u\n", event->kind, answer);
	return -1;
}

static void ask(const struct client *client, uint64_t at, const char *frames, const char *about)
{
	uint8_t *code = client->code + at;
	uint64_t times[3] = {now_ns()};

	spin_at(code, client->cpu_ns);
	times[1] = now_ns();
	spin_called_from(code, client->cpu_ns);
	times[2] = now_ns();
	printf("at\t%d\t%llx\t%llu\t%llu\t%s\t%s\n", getpid(), (unsigned long long)(uintptr_t)code,
	       (unsigned long long)times[0], (unsigned long long)times[1], frames ?: "-", about);
	printf("called\t%d\t%llx\t%llu\t%llu\t%s\t%s\n", getpid(),
	       (unsigned long long)(uintptr_t)code + 1, (unsigned long long)times[1],
	       (unsigned long long)times[2], frames ?: "-", about);
}

static int run_rule(const struct client *client, const struct rule *rule)
{
	for (size_t i = 1; i <= RULE_EVENTS_MAX && rule->events[i - 1].kind; i++) {
		if (send_event(client, &rule->events[i - 1]))
			return -1;
		for (size_t q = 0; q < RULE_QUERIES_MAX; q++) {
			const struct rule_query *query = &rule->queries[q];

			if (query->after == i)
				ask(client, query->at, query->frames, rule->says);
		}
	}
	return 0;
}

static int run_random(const struct client *client, uint64_t seed)
{
	struct random_events *events = random_events_create(seed);
	char about[64], text[CODE_TEXT_BYTES];
	int err = events ? 0 : -1;

	for (int step = 0; step < RANDOM_STEPS && !err; step++) {
		events->no_waiting = true;
		err = send_event(client, random_events_next(events));
		snprintf(about, sizeof(about), "seed %llu, event %u", (unsigned long long)seed,
			 events->model.number);
		for (int i = 0; i < RANDOM_QUERIES && !err; i++) {
			uint64_t unit = 1 + dice_roll(&events->dice, MODEL_UNITS);
			bool known = random_events_text(events, unit, text);

			ask(client, RANDOM_EVENTS_BASE + unit, known ? text : NULL, about);
		}
	}
	random_events_destroy(events);
	return err;
}

/* One run, in a process of its own. */
static int child(const struct rule *rule, uint64_t seed, uint64_t cpu_ns)
{
	struct client client;
	int err = client_init(&client, cpu_ns);

	if (!err)
		err = rule ? run_rule(&client, rule) : run_random(&client, seed);
	if (fflush(stdout))
		err = -1;
	return err ? 1 : 0;
}

static int wait_for_one(void)
{
	int status;

	return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	bool of_rules = argc == 3 && strcmp(argv[1], "rules") == 0;
	uint64_t seed = 0, count = rule_count, cpu_ns;
	int failed = 0;

	if (!of_rules && (argc != 5 || strcmp(argv[1], "random") != 0)) {
		fprintf(stderr, "usage: %s rules CPU_MS | random SEED COUNT CPU_MS\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* processes share it, line by line */
	cpu_ns = strtoull(argv[argc - 1], NULL, 10) * NS_PER_MS;
	if (!of_rules) {
		seed = strtoull(argv[2], NULL, 10);
		count = strtoull(argv[3], NULL, 10);
	}
	for (uint64_t i = 0; i < count; i++) {
		pid_t pid;

		if (i >= CHILDREN_AT_ONCE)
			failed |= wait_for_one();
		pid = fork();
		if (pid < 0)
			return 1;
		if (!pid)
			_exit(child(of_rules ? &rules[i] : NULL, seed + i, cpu_ns));
	}
	for (uint64_t i = 0; i < CHILDREN_AT_ONCE && i < count; i++)
		failed |= wait_for_one();
	return failed;
}
