/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conformance-client rules CPU_MS                    the rules of rules.c
 * conformance-client random SEED COUNT BURST CPU_MS  COUNT runs of random events, in bursts
 *                                                    of BURST events
 * conformance-client threads COUNT CPU_MS            COUNT threads call the collector at once
 * conformance-client steady SEED CPU_MS              random events, then unchanging code for
 *                                                    ever; prints when that begins
 *
 * Sends events like an engine, and between them runs code at the addresses that a rule
 * queries. Prints the times, and the expected frames of samples at these times (rules.h), one
 * query per line, with tabs between the fields:
 *
 *   how pid address from_ns to_ns frames about
 *
 * how is "at" if address is the leaf's pc, "called" if it is the second frame's return
 * address. frames is - if no code is known. Each rule runs in a process of its own, so that
 * it does not see other rules' code.
 */
#include <pthread.h>
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
#define RANDOM_BURSTS	 6
#define RANDOM_QUERIES	 3 /* after each burst */
#define RANDOM_BURST_MAX 40
#define STEADY_EVENTS	 120
#define THREADS_MAX	 64
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
	second = jit_client_second(&engine);
	/*
	 * The machine code at a place is written when it is asked for, after its load. In private
	 * memory it would be taken for code of somebody else that replaced the reported one.
	 */
	client->code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
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

static int send_random(const struct client *client, struct random_events *events, uint64_t count)
{
	int err = 0;

	while (count-- && !err)
		err = send_event(client, random_events_next(events));
	return err;
}

static void ask_unit(const struct client *client, struct random_events *events, uint64_t seed,
		     uint64_t unit)
{
	char about[64], text[CODE_TEXT_BYTES];
	bool known = random_events_text(events, unit, text);

	snprintf(about, sizeof(about), "seed %llu, event %u, unit %llu", (unsigned long long)seed,
		 events->model.number, (unsigned long long)unit);
	ask(client, RANDOM_EVENTS_BASE + unit, known ? text : NULL, about);
}

static int run_random(const struct client *client, uint64_t seed, uint64_t burst)
{
	struct random_events *events = random_events_create(seed);
	int err = events ? 0 : -1;

	for (int i = 0; i < RANDOM_BURSTS && !err; i++) {
		err = send_random(client, events, burst);
		for (int q = 0; q < RANDOM_QUERIES && !err; q++)
			ask_unit(client, events, seed, 1 + dice_roll(&events->dice, MODEL_UNITS));
	}
	random_events_destroy(events);
	return err;
}

static int run_steady(const struct client *client, uint64_t seed)
{
	struct random_events *events = random_events_create(seed);
	int err = events ? send_random(client, events, STEADY_EVENTS) : -1;

	if (!err)
		puts("steady");
	for (uint64_t i = 0; !err && !ferror(stdout); i++)
		ask_unit(client, events, seed, 1 + i % MODEL_UNITS);
	random_events_destroy(events);
	return err;
}

/* --- threads -------------------------------------------------------------------------- */

struct thread {
	pthread_t id;
	struct client own; /* allocates its own payloads */
	pthread_barrier_t *barrier;
	uint32_t number;
	int err;
};

static void *run_thread(void *context)
{
	struct thread *thread = context;
	uint64_t at = 0x100 + thread->number * 0x40;
	char name[16];
	struct rule_event event = {
		.kind = JIT_EVENT_LOAD,
		.id = thread->number + 1,
		.at = at,
		.size_bytes = 0x40,
		.name = name,
	};

	snprintf(name, sizeof(name), "t%u", thread->number);
	pthread_barrier_wait(thread->barrier);
	thread->err = send_event(&thread->own, &event);
	ask(&thread->own, at + 0x10, name, name);
	return NULL;
}

static int run_threads(const struct client *client, uint64_t count)
{
	struct thread threads[THREADS_MAX] = {0};
	struct jit_client engine = {.notify = client->sender.notify};
	pthread_barrier_t barrier;
	int err = 0;

	if (!count || count > THREADS_MAX || pthread_barrier_init(&barrier, NULL, (unsigned)count))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		struct thread *thread = &threads[i];

		*thread = (struct thread){.own = *client, .barrier = &barrier, .number = i};
		if (payload_sender_init(&thread->own.sender, &engine, NULL, client->sender.base) ||
		    pthread_create(&thread->id, NULL, run_thread, thread))
			return -1;
	}
	for (uint32_t i = 0; i < count; i++) {
		pthread_join(threads[i].id, NULL);
		err |= threads[i].err;
	}
	return err;
}

/* --- runs ----------------------------------------------------------------------------- */

/* One run, in a child process. */
static int child(const struct rule *rule, uint64_t seed, uint64_t burst, uint64_t cpu_ns)
{
	struct client client;
	int err = client_init(&client, cpu_ns);

	if (!err)
		err = rule ? run_rule(&client, rule) : run_random(&client, seed, burst);
	if (fflush(stdout))
		err = -1;
	return err ? 1 : 0;
}

static int wait_for_one(void)
{
	int status;

	return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

static int run_children(const struct rule *rule, uint64_t seed, uint64_t count, uint64_t burst,
			uint64_t cpu_ns)
{
	int failed = 0;

	for (uint64_t i = 0; i < count; i++) {
		pid_t pid;

		if (i >= CHILDREN_AT_ONCE)
			failed |= wait_for_one();
		pid = fork();
		if (pid < 0)
			return 1;
		if (!pid)
			_exit(child(rule ? &rule[i] : NULL, seed + i, burst, cpu_ns));
	}
	for (uint64_t i = 0; i < CHILDREN_AT_ONCE && i < count; i++)
		failed |= wait_for_one();
	return failed;
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	uint64_t cpu_ns = number(argv[argc - 1]) * NS_PER_MS;
	struct client client;

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* processes share standard output line by line */
	if (argc == 3 && strcmp(mode, "rules") == 0)
		return run_children(rules, 0, rule_count, 0, cpu_ns);
	if (argc == 6 && strcmp(mode, "random") == 0 && number(argv[4]) <= RANDOM_BURST_MAX)
		return run_children(NULL, number(argv[2]), number(argv[3]), number(argv[4]),
				    cpu_ns);
	if (argc == 4 && strcmp(mode, "threads") == 0)
		return client_init(&client, cpu_ns) || run_threads(&client, number(argv[2]));
	if (argc == 4 && strcmp(mode, "steady") == 0)
		return client_init(&client, cpu_ns) || run_steady(&client, number(argv[2]));
	fprintf(stderr,
		"usage: %s rules CPU_MS | random SEED COUNT BURST CPU_MS | "
		"threads COUNT CPU_MS | steady SEED CPU_MS\n",
		argv[0]);
	return 2;
}
