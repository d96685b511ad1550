/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Merges loads of the same code from several publishers into one region. */
#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "state/code/code_described.h"

#define FORGET_STEP_NS 1000000000ull /* interval at which old late claims are dropped */

/* --- one description of two ------------------------------------------------------------ */

static struct code_string string_of(const char *s)
{
	return (struct code_string){.bytes = s, .size_bytes = strlen(s)};
}

/*
 * Set *string, of the load, to the region's string `old` if that is preferred. Returns true if the
 * result differs from `old`.
 */
static bool choose_string(struct code_string *string, const char *old, bool richer)
{
	if (!code_string_bytes(string) || (*old && !richer) || code_string_is(old, string)) {
		*string = string_of(old);
		return false;
	}
	return true;
}

static void keep_scopes(struct code_event *event, const struct code_region *region)
{
	event->scopes = code_region_scopes(region);
	event->scope_bytes = region->scope_bytes;
}

static void keep_lines(struct code_event *event, const struct code_region *region)
{
	event->lines = code_region_lines(region);
	event->line_count = region->line_count;
	event->flags |= JITBPF_EVENT_LINE_STARTS; /* the form of settled tables */
}

/*
 * Add the strings and lines of the region to *event, a load, unless the load's own are better.
 * Returns true if the result differs from the region.
 */
static bool combine(struct code_event *event, const struct code_record *record,
		    struct code_record *first)
{
	const struct code_region *region = &record->region;
	uint32_t rank = code_publisher_of(event->origin.publisher)->rank;
	bool richer = rank > code_publisher_of(region->claims[0].origin.publisher)->rank;
	bool changed = false;

	if (first) {
		first = code_record_namer(first);
		event->name = string_of(first->region.name);
		event->class_name = string_of(code_region_class(&first->region));
		event->module = string_of(code_region_module(&first->region));
		if (!code_string_bytes(&event->source))
			event->source = string_of(code_region_source(&first->region));
	}
	changed |= choose_string(&event->name, region->name, richer);
	changed |= choose_string(&event->class_name, code_region_class(region), richer);
	changed |= choose_string(&event->source, code_region_source(region), richer);
	changed |= choose_string(&event->module, code_region_module(region), richer);
	if (!event->arch || (region->arch && !richer))
		event->arch = region->arch;
	changed |= event->arch != region->arch;
	if (event->scope_bytes && (!region->scope_bytes || richer))
		changed = true;
	else
		keep_scopes(event, region);
	if (event->line_count && (!region->line_count || richer))
		return true;
	keep_lines(event, region);
	return changed;
}

/* --- changing the region ---------------------------------------------------------------- */

/*
 * Create a version of a record with copies of the strings and lines of an event, and with the
 * claims of the record. Returns 0, -EDQUOT or -ENOMEM.
 */
static int make_version(const struct code_map *map, struct code_account *account,
			const struct code_record *old, const struct code_event *event,
			struct code_record **ret)
{
	CLEANUP(code_record_putp) struct code_record *record = NULL;
	int err = code_record_create(event, NULL, code_region_identity(&old->region),
				     map->line_rules, account, &record);

	err = err ?: code_record_take_claims(record, old, map->first_number);
	err = err ?: code_layout_copy(old->region.layout, &record->region.layout);
	if (err)
		return err;
	record->region.loaded_ns = old->region.loaded_ns;
	*ret = TAKE_PTR(record);
	return 0;
}

/* Add a claim to a record, before those of poorer publishers. Returns 0 or -ENOMEM. */
static int add_claim(struct code_record *record, const struct code_claim *claim)
{
	const struct code_region *region = &record->region;
	uint32_t rank = code_publisher_of(claim->origin.publisher)->rank;
	struct code_claim claims[JITBPF_PUBLISHER_COUNT];
	uint32_t at = 0, count = region->claim_count;

	while (at < count && code_publisher_of(region->claims[at].origin.publisher)->rank > rank)
		at++;
	memcpy(claims, region->claims, at * sizeof(*claims));
	claims[at] = *claim;
	memcpy(claims + at + 1, region->claims + at, (count - at) * sizeof(*claims));
	return code_record_set_claims(record, claims, count + 1);
}

/*
 * Add a claim to a region in force: in place, or in a new version if other maps may have the
 * region. Returns 0, -EDQUOT or -ENOMEM.
 */
static int claim_region(struct code_map *map, struct code_account *account,
			const struct space_entry *entry, const struct code_claim *claim)
{
	struct code_record *record = code_record_of(entry->value);
	CLEANUP(code_record_putp) struct code_record *copy = NULL;
	struct cow_item item = {.start = claim->method_key, .value = entry->value};
	int err;

	if (record->region.number < map->own_number) {
		err = code_record_copy(record, account, map->first_number, &copy);
		err = err ?: add_claim(copy, claim);
		return err ?: code_map_enter_version(map, copy, entry, entry->from_ns);
	}
	err = cow_tree_reserve(&map->methods, 0, 1);
	err = err ?: add_claim(record, claim);
	if (err)
		return err;
	space_value_get(item.value);
	cow_tree_insert(&map->methods, &item);
	return 0;
}

/*
 * Returns the time from which a region has the strings and lines of a load. A load with another
 * name and a later, exact time may describe other code. So it applies from its own time on.
 */
static uint64_t enriched_from(const struct space_entry *entry, const struct code_event *combined)
{
	bool exact = !code_publisher_of(combined->origin.publisher)->time_error_ns &&
		     !(combined->flags & JITBPF_EVENT_LATE);

	if (exact && combined->time_ns > entry->from_ns &&
	    !code_names_agree(code_record_of(entry->value)->region.name, &combined->name))
		return combined->time_ns;
	return entry->from_ns;
}

/* Enter a version with the strings and lines that the load adds. Returns 0, -EDQUOT or -ENOMEM. */
static int enrich(struct code_map *map, struct code_account *account,
		  const struct space_entry *entry, const struct code_event *combined,
		  const struct code_claim *claim)
{
	const struct code_record *old = code_record_of(entry->value);
	CLEANUP(code_record_putp) struct code_record *record = NULL;
	bool keeps_lines = combined->lines == code_region_lines(&old->region);
	int err = make_version(map, account, old, combined, &record);

	err = err ?: add_claim(record, claim);
	if (err)
		return err;
	if (keeps_lines)
		record->line_publisher = old->line_publisher;
	return code_map_enter_version(map, record, entry, enriched_from(entry, combined));
}

/*
 * The richer publisher has the more exact time. If that is earlier, the region is in force from
 * then on, unless it has had another version since. A lack of memory is no error here: the region
 * keeps the later time.
 */
static void extend_back(struct code_map *map, const struct code_event *event)
{
	struct code_region *region;
	struct space_entry entry;
	struct space_key key;

	if (!space_map_next(map->space, event->address, &entry))
		return;
	region = &code_record_of(entry.value)->region;
	key = (struct space_key){entry.start, entry.value};
	if (region->claims[0].origin.publisher != event->origin.publisher ||
	    event->time_ns >= entry.from_ns || entry.from_ns != region->loaded_ns ||
	    space_map_replace(map->space, &key, event->time_ns, entry.value) ||
	    !space_map_next(map->space, event->address, &entry))
		return;
	region->loaded_ns = entry.from_ns;
}

static int merge_in_force(struct code_map *map, struct code_account *account,
			  const struct space_entry *entry, const struct code_event *event,
			  struct code_record *first)
{
	struct code_event combined = *event;
	struct code_claim claim = {
		.origin = event->origin,
		.method_id = event->method_id,
		.time_ns = event->time_ns,
		.before_run = !!(event->flags & JITBPF_EVENT_BEFORE_RUN),
	};
	bool has_key = code_map_next_key(map, event->method_id, &claim.method_key);
	bool refused = !has_key;
	int err = -EDQUOT;

	if (has_key && combine(&combined, code_record_of(entry->value), first)) {
		err = enrich(map, account, entry, &combined, &claim);
		refused = err == -EDQUOT;
	}
	if (err == -EDQUOT && has_key)
		err = claim_region(map, account, entry, &claim);
	if (err && err != -EDQUOT)
		return err;
	account->counts.over_budget += refused || err;
	extend_back(map, event);
	code_map_settle(map, entry->start, entry->end,
			event->time_ns > entry->from_ns ? event->time_ns : entry->from_ns, true);
	return 0;
}

/* Add a publisher's claim on code that has ended, so that its load is merged only once. */
static int claim_ended(struct code_map *map, const struct code_record *record,
		       const struct code_event *event)
{
	uint64_t key = code_late_claim_key(record, event->origin.publisher);
	struct cow_item item = {.start = key, .end = key + 1, .from_ns = event->time_ns};
	int err = cow_tree_reserve(&map->late_claims, 0, 1);

	if (!err)
		cow_tree_insert(&map->late_claims, &item);
	return err;
}

void code_map_forget_claims(struct code_map *map, uint64_t time_ns)
{
	const struct cow_item *item;

	if (!map->late_claims.size || time_ns < map->claims_forgotten_ns + FORGET_STEP_NS)
		return;
	map->claims_forgotten_ns = time_ns;
	for (uint64_t at = 0; (item = cow_tree_next(&map->late_claims, at));) {
		at = item->start + 1;
		if (item->from_ns < time_ns && !cow_tree_reserve(&map->late_claims, 1, 0))
			cow_tree_remove(&map->late_claims, at - 1);
	}
}

int code_map_merge(struct code_map *map, struct code_account *account,
		   const struct code_event *event, struct code_record *first)
{
	struct space_entry entry;
	int err;

	if (!code_map_find_described(map, event, &entry) ||
	    code_map_is_in_gap(map, &event->origin, event->time_ns))
		return 0;
	/* Code that another publisher has ended does not come into force again. */
	if (entry.to_ns == UINT64_MAX)
		err = merge_in_force(map, account, &entry, event, first);
	else
		err = claim_ended(map, code_record_of(entry.value), event);
	if (err)
		return err;
	map->publishers |= 1u << event->origin.publisher;
	account->counts.published[event->origin.publisher]++;
	account->counts.merged++;
	return 1;
}

int code_map_replace_lines(struct code_map *map, struct code_account *account,
			   const struct space_entry *entry, const struct code_event *event)
{
	const struct code_record *old = code_record_of(entry->value);
	CLEANUP(code_record_putp) struct code_record *record = NULL;
	const struct code_region *region = &old->region;
	struct code_event combined = *event;
	int err;

	if (!event->line_count ||
	    (region->line_count && code_publisher_of(event->origin.publisher)->rank <
					   code_publisher_of(old->line_publisher)->rank))
		return 0;
	combined.size_bytes = region->size_bytes;
	combined.arch = region->arch;
	combined.name = string_of(region->name);
	combined.class_name = string_of(code_region_class(region));
	combined.module = string_of(code_region_module(region));
	if (!code_string_bytes(&event->source))
		combined.source = string_of(code_region_source(region));
	keep_scopes(&combined, region);
	err = make_version(map, account, old, &combined, &record);
	if (err)
		return err;
	if (record->region.layout)
		cow_tree_deinit(&record->region.layout->replaced);
	return code_map_enter_version(map, record, entry, entry->from_ns);
}
