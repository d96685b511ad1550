/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The notes of an ELF file: build ID and SystemTap probes. */
#include "decode/elf/elf_file.h"

#include <elf.h>
#include <string.h>

#include "base/cursor.h"
#include "base/scope.h"

#define NT_STAPSDT 3

struct elf_note {
	uint32_t type;
	const char *owner; /* owner_bytes long, including the NUL */
	uint32_t owner_bytes;
	const void *desc;
	uint32_t desc_bytes;
};

/* A search through notes. match() returns 0 to continue, 1 to stop, or a negative errno. */
struct note_search {
	int (*match)(const struct elf_file *elf, const struct elf_note *note, void *context);
	void *context;
	uint64_t budget_bytes;
};

/* Skip to the next multiple of alignment. The last note may lack its padding. */
static void cursor_align(struct cursor *c, size_t alignment)
{
	size_t padding = -cursor_offset(c) & (alignment - 1);

	if (cursor_skip(c, padding))
		c->at = c->end;
}

static int note_next(struct cursor *c, size_t alignment, struct elf_note *ret)
{
	const void *owner, *desc;
	Elf64_Nhdr header;

	if (cursor_read(c, &header, sizeof(header)) || cursor_take(c, header.n_namesz, &owner))
		return -EBADMSG;
	cursor_align(c, alignment);
	if (cursor_take(c, header.n_descsz, &desc))
		return -EBADMSG;
	cursor_align(c, alignment);
	*ret = (struct elf_note){
		.type = header.n_type,
		.owner = owner,
		.owner_bytes = header.n_namesz,
		.desc = desc,
		.desc_bytes = header.n_descsz,
	};
	return 0;
}

static bool note_is(const struct elf_note *note, const char *owner, uint32_t type)
{
	return note->type == type && note->owner_bytes == strlen(owner) + 1 &&
	       !memcmp(note->owner, owner, note->owner_bytes);
}

/* Search one area. Malformed notes end the area without an error. */
static int area_search(const struct elf_file *elf, const struct elf_note_area *area,
		       struct note_search *search)
{
	size_t alignment = area->alignment == 8 ? 8 : 4;
	AUTO_FREE void *bytes = NULL;
	struct elf_note note;
	struct cursor c;
	int err;

	if (!area->size_bytes || area->size_bytes > search->budget_bytes ||
	    !blob_has(elf->blob, area->file_offset, area->size_bytes))
		return 0;
	search->budget_bytes -= area->size_bytes;
	bytes = malloc(area->size_bytes);
	if (!bytes)
		return -ENOMEM;
	err = blob_read(elf->blob, area->file_offset, bytes, area->size_bytes);
	if (err)
		return err;
	c = cursor_of(bytes, area->size_bytes);
	while (cursor_left(&c)) {
		if (note_next(&c, alignment, &note))
			return 0;
		err = search->match(elf, &note, search->context);
		if (err)
			return err;
	}
	return 0;
}

static int segments_search(const struct elf_file *elf, struct note_search *search)
{
	int err = 0;

	vec_for_each (area, &elf->notes) {
		err = area_search(elf, area, search);
		if (err)
			break;
	}
	return err;
}

static int sections_search(const struct elf_file *elf, struct note_search *search)
{
	int err = 0;

	vec_for_each (section, &elf->sections) {
		struct elf_note_area area = {
			.file_offset = section->file_offset,
			.size_bytes = section->size_bytes,
			.alignment = section->alignment,
		};

		if (section->type != SHT_NOTE || section->flags & SHF_COMPRESSED)
			continue;
		err = area_search(elf, &area, search);
		if (err)
			break;
	}
	return err;
}

struct build_id {
	uint8_t bytes[JITBPF_BUILD_ID_MAX];
	uint32_t size_bytes;
};

static int build_id_match(const struct elf_file *elf, const struct elf_note *note, void *context)
{
	struct build_id *id = context;

	if (!note_is(note, ELF_NOTE_GNU, NT_GNU_BUILD_ID) || !note->desc_bytes ||
	    note->desc_bytes > sizeof(id->bytes))
		return 0;
	memcpy(id->bytes, note->desc, note->desc_bytes);
	id->size_bytes = note->desc_bytes;
	return 1;
}

uint32_t elf_file_build_id(const struct elf_file *elf, uint8_t ret[JITBPF_BUILD_ID_MAX])
{
	struct build_id id = {0};
	struct note_search search = {build_id_match, &id, ELF_NOTES_BYTES_MAX};

	if (segments_search(elf, &search) != 1 && sections_search(elf, &search) != 1)
		return 0;
	memcpy(ret, id.bytes, id.size_bytes);
	return id.size_bytes;
}

struct probe_search {
	const char *provider, *name;
	struct elf_probe found;
};

struct probe_addresses {
	uint64_t site, base, semaphore;
};

/*
 * prelink moves code but does not update the notes. The displacement is the
 * difference between the address of .stapsdt.base and the address in the note.
 */
static int probe_locate(const struct elf_file *elf, const struct probe_addresses *addresses,
			struct elf_probe *ret)
{
	const struct elf_section *base = elf_file_section(elf, ".stapsdt.base");
	uint64_t moved = base && addresses->base ? base->address - addresses->base : 0;
	struct elf_probe probe = {0};

	if (!elf_file_offset(elf, addresses->site + moved, &probe.offset))
		return -EBADMSG;
	if (addresses->semaphore &&
	    !elf_file_offset(elf, addresses->semaphore + moved, &probe.semaphore_offset))
		return -EBADMSG;
	*ret = probe;
	return 0;
}

static int probe_match(const struct elf_file *elf, const struct elf_note *note, void *context)
{
	struct cursor c = cursor_of(note->desc, note->desc_bytes);
	struct probe_search *search = context;
	struct probe_addresses addresses;
	const char *provider, *name;
	int err;

	if (!note_is(note, "stapsdt", NT_STAPSDT))
		return 0;
	if (cursor_read(&c, &addresses, sizeof(addresses)) || cursor_string(&c, &provider) ||
	    cursor_string(&c, &name))
		return 0;
	if (strcmp(provider, search->provider) || strcmp(name, search->name))
		return 0;
	err = probe_locate(elf, &addresses, &search->found);
	return err ? err : 1;
}

int elf_file_probe(const struct elf_file *elf, const char *provider, const char *name,
		   struct elf_probe *ret)
{
	struct probe_search probe = {.provider = provider, .name = name};
	struct note_search search = {probe_match, &probe, ELF_NOTES_BYTES_MAX};
	/* Probe notes are not loaded, so they are in no PT_NOTE segment. */
	int err = sections_search(elf, &search);

	if (err < 0)
		return err;
	if (!err)
		return -ENOENT;
	*ret = probe.found;
	return 0;
}
