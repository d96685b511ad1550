/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/file_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/equal_files.h"
#include "agent/files/file_store_state.h"
#include "agent/files/helper/debuginfod.h"
#include "agent/files/helper/file_service.h"
#include "base/scope.h"

/* Time limits of the event loop and of the workers. */
static const struct file_patience meeting_patience = {
	.answer_ms = 500, .place_ms = 2000, .refill_percent = 1};
static const struct file_patience reading_patience = {
	.answer_ms = 3000, .place_ms = 15000, .refill_percent = 5};
static const struct file_patience unwinding_patience = {
	.answer_ms = 1000, .place_ms = 5000, .refill_percent = 5};
/* A userfaultfd can delay a read of memory, and requests for other processes wait meanwhile. */
static const struct file_patience memory_patience = {
	.answer_ms = 200, .place_ms = 1000, .refill_percent = 5};
/* In turns of the event loop, FILE_TURN_ANSWER_MS is the limit of an answer. */
static const struct file_patience following_patience = {
	.answer_ms = 3000, .place_ms = 6000, .refill_percent = 5, .unanswered_max = 2};
/*
 * For opening /proc/PID/map_files, which waits for the mmap lock that the process can hold. After a
 * timeout, files are searched by path. Limits for workers are lower, since workers have no turns.
 */
static const struct file_patience mapping_patience = {
	.answer_ms = 1000, .place_ms = 2000, .refill_percent = 5, .unanswered_max = 2};
static const struct file_patience worker_mapping_patience = {
	.answer_ms = 100, .place_ms = 200, .refill_percent = 5, .unanswered_max = 2};

/* Limits of the searches for an owner. Any user can map tens of thousands of files a second. */
#define SEARCHES_AT_ONCE  4096
#define SEARCHES_A_SECOND 500

/* Limits of an owner's debug files that are read for a check of their CRC: 3 s at once, then 5%. */
#define CHECKED_MAX	   (4ull << 30)
#define CHECKED_PER_SECOND (64u << 20)

/* Limits of an owner's copied text that is compared, which takes time of the event loop. */
#define COMPARED_MAX	    (512u << 20)
#define COMPARED_PER_SECOND (8u << 20)

/* Limits of an owner's waits for debuginfod servers. */
#define SERVERS_PLACE_MS       120000
#define SERVERS_REFILL_PERCENT 5

DEFINE_CLEANUP(struct file_store *, file_store_destroy);

static int create_user(struct file_store *store, const struct broker *broker,
		       struct file_patience patience, struct file_patience of_mappings,
		       struct file_user *ret)
{
	int err = file_reader_create(broker, patience, &ret->reader);

	ret->store = store;
	ret->checks.most = CHECKED_MAX;
	ret->checks.per_second = CHECKED_PER_SECOND;
	return err ?: file_reader_create(broker, of_mappings, &ret->mappings);
}

static int create_users(struct file_store *store, const struct broker *broker)
{
	const struct {
		struct file_user *user;
		struct file_patience patience, of_mappings;
	} users[] = {
		{&store->meeting, meeting_patience, mapping_patience},
		{&store->naming, reading_patience, worker_mapping_patience},
		{&store->unwinding, unwinding_patience, worker_mapping_patience},
		{&store->runtimes, unwinding_patience, worker_mapping_patience},
		{&store->annotating, unwinding_patience, worker_mapping_patience},
		{&store->packaging, reading_patience, worker_mapping_patience},
		{&store->following, following_patience, mapping_patience},
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(users) && !err; i++)
		err = create_user(store, broker, users[i].patience, users[i].of_mappings,
				  users[i].user);
	return err;
}

/* Readers of the event loop have no more time than its turn. */
static void set_turns(struct file_store *store)
{
	file_reader_set_turn(store->meeting.reader, &store->turn_end_ns);
	file_reader_set_turn(store->meeting.mappings, &store->turn_end_ns);
	file_reader_set_turn(store->following.reader, &store->turn_end_ns);
	file_reader_set_turn(store->following.mappings, &store->turn_end_ns);
	file_reader_set_turn(store->writers, &store->turn_end_ns);
	file_reader_set_turn(store->comparing, &store->turn_end_ns);
}

static void destroy_user(struct file_user *user)
{
	file_reader_destroy(user->reader);
	file_reader_destroy(user->mappings);
	file_reader_destroy(user->memory);
	owner_rates_deinit(&user->checks);
}

/* Returns the device of files that memfd_create() makes with flags, or 0. */
static dev_t memory_device(unsigned flags)
{
	AUTO_CLOSE int fd = memfd_create("jitbpf", MFD_CLOEXEC | flags);
	struct stat memory;

	return fd < 0 || fstat(fd, &memory) ? 0 : memory.st_dev;
}

static bool is_on(const struct jitbpf_mapping *mapping, dev_t device)
{
	return device && makedev(mapping->dev_major, mapping->dev_minor) == device;
}

bool file_store_is_shared_memory(const struct file_store *store,
				 const struct jitbpf_mapping *mapping)
{
	return is_on(mapping, store->shared_memory);
}

bool file_store_is_huge_memory(const struct file_store *store, const struct jitbpf_mapping *mapping)
{
	return is_on(mapping, store->huge_memory);
}

int file_store_create(const struct file_store_options *options, struct file_store **ret)
{
	static const role_fn functions[ROLE_COUNT] = {
		[ROLE_OPENER] = file_service_run,
		[ROLE_USER_OPENER] = file_service_run,
		[ROLE_FETCHER] = file_service_run_fetcher,
	};
	CLEANUP(file_store_destroyp) struct file_store *store = calloc(1, sizeof(*store));
	const struct broker *broker = options->broker;
	int err = 0;

	if (!store)
		return -ENOMEM;
	store->options = *options;
	store->shared_memory = memory_device(0);
	store->huge_memory = memory_device(MFD_HUGETLB);
	store->options.debuginfod = options->debuginfod && debuginfod_wanted();
	store->searches.most = SEARCHES_AT_ONCE;
	store->searches.per_second = SEARCHES_A_SECOND;
	store->compared.most = COMPARED_MAX;
	store->compared.per_second = COMPARED_PER_SECOND;
	late_files_init(&store->late);
	kept_files_init(&store->files);
	if (options->kept_bytes && options->kept_bytes < KEPT_FILES_BYTES_MAX)
		store->files.budget.limit = options->kept_bytes;
	store->own_broker.socket = -1;
	if (!broker) {
		broker = &store->own_broker;
		err = broker_start(functions, &store->own_broker);
	}
	err = err ?: create_users(store, broker);
	err = err ?: file_reader_create(broker, memory_patience, &store->unwinding.memory);
	err = err ?: file_reader_create(broker, memory_patience, &store->runtimes.memory);
	err = err ?: file_reader_create(broker, following_patience, &store->writers);
	err = err ?: file_reader_create(broker, following_patience, &store->comparing);
	err = err ?: process_maps_create(broker, &store->maps);
	err = err ?: process_maps_create(broker, &store->runtime_maps);
	if (err)
		return err;
	set_turns(store);
	/* One second more than the library's own limit, so that the library reports the cause. */
	file_reader_set_servers(store->naming.reader,
				(struct file_patience){
					.answer_ms = (debuginfod_maxtime_s() + 1) * 1000,
					.place_ms = SERVERS_PLACE_MS,
					.refill_percent = SERVERS_REFILL_PERCENT,
				});
	*ret = TAKE_PTR(store);
	return 0;
}

void file_store_destroy(struct file_store *store)
{
	if (!store)
		return;
	kept_files_deinit(&store->files);
	late_files_deinit(&store->late);
	vec_for_each (mapping, &store->identified)
		free(*mapping);
	vec_deinit(&store->identified);
	owner_rates_deinit(&store->searches);
	unverified_files_deinit(&store->unverified);
	destroy_user(&store->meeting);
	destroy_user(&store->naming);
	destroy_user(&store->unwinding);
	destroy_user(&store->runtimes);
	destroy_user(&store->annotating);
	destroy_user(&store->packaging);
	destroy_user(&store->following);
	file_reader_destroy(store->writers);
	file_reader_destroy(store->comparing);
	copied_texts_deinit(&store->texts);
	owner_rates_deinit(&store->compared);
	process_maps_destroy(store->maps);
	process_maps_destroy(store->runtime_maps);
	broker_stop(&store->own_broker);
	free(store);
}

bool file_request_set_path(struct file_request *request, const char *path)
{
	size_t length = strlen(path);

	if (length >= sizeof(request->path))
		return false;
	memcpy(request->path, path, length + 1);
	return true;
}

struct owner_key file_store_owner(const struct file_store *store, uint32_t pid)
{
	struct process_owner owner =
		store->owners ? process_owners_find(store->owners, pid) : PROCESS_OWNER_UNKNOWN;

	return process_owner_key(&owner);
}

struct file_place file_store_place(const struct file_store *store,
				   const struct jitbpf_mapping *mapping)
{
	return file_place_of_device(mapping->dev_major, mapping->dev_minor,
				    file_store_owner(store, mapping->pid));
}

void file_store_set_owners(struct file_store *store, const struct process_owners *owners)
{
	store->owners = owners;
}

struct jitbpf_mapping *file_store_take_identified(struct file_store *store)
{
	return store->identified.size ? store->identified.data[--store->identified.size] : NULL;
}

void file_store_begin_turn(struct file_store *store)
{
	store->turn_end_ns = clock_now_ns() + FILE_TURN_NS;
	process_maps_begin_turn(store->maps);
}

void file_store_sampled(struct file_store *store, uint32_t pid)
{
	if (store)
		unverified_files_sample(&store->unverified, pid);
}

void file_store_begun(struct file_store *store, uint32_t pid)
{
	if (store)
		unverified_files_begin(&store->unverified, pid);
}

void file_store_forget(struct file_store *store, const struct module_table *modules)
{
	uint64_t now_ns = clock_now_ns();

	if (store->late.files.size && now_ns >= store->again_ns)
		file_store_meet_again(store, now_ns);
	kept_files_forget(&store->files, modules, clock_now_ns());
}

int file_store_open_mapped(struct file_store *store, const struct jitbpf_mapping *mapping,
			   int *ret_fd, struct blob *ret)
{
	struct found_file found;
	int err = file_store_find(&store->meeting, FILE_FIND_MAPPED, mapping, 0, &found), fd;

	if (err)
		return err;
	fd = fcntl(found.fd, F_DUPFD_CLOEXEC, 0);
	err = fd < 0 ? -errno
		     : file_reader_blob(store->meeting.reader, file_store_place(store, mapping),
					&found, ret);
	if (err) {
		close(found.fd);
		if (fd >= 0)
			close(fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}

struct process_maps *file_store_maps(struct file_store *store)
{
	return store ? store->maps : NULL;
}

struct file_store_counts file_store_counts(const struct file_store *store)
{
	struct file_store_counts counts = store->counts;

	counts.over_budget += store->files.evicted;
	counts.known = store->files.files.size;
	counts.unverified = store->unverified.count.replaced;
	counts.gone = store->unverified.count.gone;
	counts.broker_lost = broker_is_lost(store->options.broker ?: &store->own_broker);
	return counts;
}

const char *file_store_given_up(const struct file_store *store, uint32_t number)
{
	/*
	 * Not the readers of map_files: a process that hides its mappings is not reported, since
	 * its files are searched by path.
	 */
	const struct file_reader *readers[] = {
		store->meeting.reader,	 store->naming.reader,	   store->unwinding.reader,
		store->unwinding.memory, store->runtimes.reader,   store->runtimes.memory,
		store->packaging.reader, store->annotating.reader, store->following.reader,
		store->writers,		 store->comparing,
	};

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		uint32_t count = 0;

		while (file_reader_given_up(readers[i], count))
			count++;
		if (number < count)
			return file_reader_given_up(readers[i], number);
		number -= count;
	}
	return NULL;
}

int file_store_mappings_error(const struct file_store *store)
{
	return store->mappings_error;
}

int file_store_debuginfod_error(const struct file_store *store)
{
	return store->debuginfod_error;
}
