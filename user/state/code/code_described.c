/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_described.h"

#include <string.h>

/*
 * A thread that is preempted between its reports to two publishers makes their times differ. If the
 * names are equal, the reports are of the same code.
 */
#define SAME_NAME_ERROR_NS 1000000000ull

/* A search for the region that describes the code of another publisher's load. */
struct search {
	const struct code_map *map;
	const struct code_event *event;
	uint64_t last_identity; /* of the previous entry, which may be a newer version */
	bool found, same_name;
	uint64_t distance_ns;
	struct space_entry entry;
};

uint64_t code_late_claim_key(const struct code_record *record, enum jitbpf_publisher publisher)
{
	_Static_assert(JITBPF_PUBLISHER_COUNT <= 8, "three bits");

	return code_region_identity(&record->region) << 3 | publisher;
}

static bool has_claim(const struct code_map *map, const struct code_record *record,
		      enum jitbpf_publisher publisher)
{
	uint64_t key = code_late_claim_key(record, publisher);
	const struct cow_item *item = cow_tree_next(&map->late_claims, key);

	return (item && item->start == key) || code_region_claim(&record->region, publisher);
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the distance in time of a load and a claim. A late load is an interval from since_ns. */
static uint64_t time_distance(const struct code_event *event, const struct code_claim *claim)
{
	uint64_t from_ns = event->flags & JITBPF_EVENT_LATE ? event->since_ns : event->time_ns;

	if (claim->before_run && event->flags & JITBPF_EVENT_BEFORE_RUN)
		return 0;
	if (claim->time_ns < from_ns)
		return from_ns - claim->time_ns;
	return claim->time_ns > event->time_ns ? claim->time_ns - event->time_ns : 0;
}

bool code_string_is(const char *a, const struct code_string *b)
{
	size_t bytes = code_string_bytes(b);

	return bytes ? strlen(a) == bytes - 1 && !memcmp(a, b->bytes, bytes - 1) : !*a;
}

/* Returns true if a string is empty or a number behind a dot. */
static bool is_number_suffix(const char *s, size_t size_bytes)
{
	if (!size_bytes)
		return true;
	for (size_t i = 1; i < size_bytes; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
	}
	return s[0] == '.' && size_bytes > 1;
}

bool code_names_agree(const char *a, const struct code_string *b)
{
	size_t a_bytes = strlen(a), b_bytes = code_string_bytes(b);
	size_t common;

	b_bytes -= b_bytes > 0;
	common = a_bytes < b_bytes ? a_bytes : b_bytes;
	if (!common)
		return a_bytes == b_bytes;
	return !memcmp(a, b->bytes, common) && is_number_suffix(a + common, a_bytes - common) &&
	       is_number_suffix(b->bytes + common, b_bytes - common);
}

/*
 * Consider a region. If several qualify, a region with the same name is preferred, then the closest
 * in time: code may be loaded again at the same place within the time error.
 */
static int consider(void *context, const struct space_entry *entry)
{
	struct search *search = context;
	const struct code_event *event = search->event;
	const struct code_record *record = code_record_of(entry->value);
	const struct code_region *region = &record->region;
	uint64_t error_ns, distance_ns;
	bool same;

	if (region->address != event->address || region->size_bytes != event->size_bytes ||
	    code_region_identity(region) == search->last_identity)
		return 0;
	search->last_identity = code_region_identity(region);
	/* Found code may have ended since it was found. */
	if (code_publisher_of(region->claims[0].origin.publisher)->identified)
		return 0;
	if (has_claim(search->map, record, event->origin.publisher) ||
	    (region->loaded_ns < search->map->cleared_ns &&
	     event->time_ns >= search->map->cleared_ns))
		return 0;
	error_ns = max_of(code_publisher_of(event->origin.publisher)->time_error_ns,
			  code_publisher_of(region->claims[0].origin.publisher)->time_error_ns);
	distance_ns = time_distance(event, &region->claims[0]);
	same = code_names_agree(region->name, &event->name);
	if (same && *region->name &&
	    region->claims[0].before_run == !!(event->flags & JITBPF_EVENT_BEFORE_RUN))
		error_ns = max_of(error_ns, SAME_NAME_ERROR_NS);
	if (distance_ns > error_ns ||
	    (search->found && (same < search->same_name ||
			       (same == search->same_name && distance_ns >= search->distance_ns))))
		return 0;
	search->found = true;
	search->same_name = same;
	search->distance_ns = distance_ns;
	search->entry = *entry;
	return 0;
}

bool code_map_find_described(const struct code_map *map, const struct code_event *event,
			     struct space_entry *ret)
{
	struct search search = {.map = map, .event = event};
	struct space_entry entry;

	if (code_publisher_of(event->origin.publisher)->identified)
		return false;
	/* Usually there is only one publisher. */
	if (!(map->publishers & ~(1u << event->origin.publisher)))
		return false;
	if (space_map_next(map->space, event->address, &entry) && entry.start <= event->address)
		consider(&search, &entry);
	space_map_for_each_past(map->space, consider, &search);
	*ret = search.entry;
	return search.found;
}
