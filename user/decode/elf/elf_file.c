/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/elf_file.h"

#include <elf.h>
#include <string.h>

#include "base/scope.h"

static int header_read(const struct blob *blob, bool relocatable, Elf64_Ehdr *ret)
{
	int err;

	if (blob->size_bytes < sizeof(*ret))
		return -ENOEXEC;
	err = blob_read(blob, 0, ret, sizeof(*ret));
	if (err)
		return err;
	if (memcmp(ret->e_ident, ELFMAG, SELFMAG) || ret->e_ident[EI_CLASS] != ELFCLASS64 ||
	    ret->e_ident[EI_DATA] != ELFDATA2LSB || ret->e_ident[EI_VERSION] != EV_CURRENT)
		return -ENOEXEC;
	if (ret->e_machine != EM_X86_64)
		return -ENOEXEC;
	if (ret->e_type == ET_EXEC || ret->e_type == ET_DYN)
		return 0;
	return relocatable && ret->e_type == ET_REL ? 0 : -ENOEXEC;
}

/*
 * The effective header counts. Counts too large for the ELF header are stored
 * in the first section header.
 */
struct header_counts {
	uint64_t segments, sections;
	uint32_t section_names;
};

static int header_counts_read(const struct blob *blob, const Elf64_Ehdr *header,
			      struct header_counts *ret)
{
	struct header_counts counts = {
		.segments = header->e_phnum,
		.sections = header->e_shnum,
		.section_names = header->e_shstrndx,
	};
	Elf64_Shdr first;
	int err;

	if (!header->e_shoff) {
		counts.sections = 0;
		*ret = counts;
		return header->e_phnum == PN_XNUM ? -EBADMSG : 0;
	}
	if (header->e_shentsize != sizeof(first))
		return -EBADMSG;
	err = blob_read(blob, header->e_shoff, &first, sizeof(first));
	if (err == -EBADMSG && header->e_phnum != PN_XNUM) {
		counts.sections = 0;
		*ret = counts;
		return 0;
	}
	if (err)
		return err;
	if (header->e_phnum == PN_XNUM)
		counts.segments = first.sh_info;
	if (!header->e_shnum)
		counts.sections = first.sh_size;
	if (header->e_shstrndx == SHN_XINDEX)
		counts.section_names = first.sh_link;
	*ret = counts;
	return 0;
}

/* Read a table of `count` entries. *ret is owned by the caller, and NULL if count is 0. */
static int headers_read(const struct blob *blob, uint64_t offset, uint64_t count,
			size_t entry_bytes, void **ret)
{
	AUTO_FREE void *table = NULL;
	int err;

	if (count > ELF_HEADERS_MAX || !blob_has(blob, offset, count * entry_bytes))
		return -EBADMSG;
	if (count) {
		table = malloc(count * entry_bytes);
		if (!table)
			return -ENOMEM;
		err = blob_read(blob, offset, table, count * entry_bytes);
		if (err)
			return err;
	}
	*ret = TAKE_PTR(table);
	return 0;
}

static int segment_add(struct elf_file *elf, const Elf64_Phdr *header)
{
	struct elf_note_area area = {
		.file_offset = header->p_offset,
		.size_bytes = header->p_filesz,
		.alignment = header->p_align,
	};
	struct elf_segment segment = {
		.file_offset = header->p_offset,
		.file_bytes = header->p_filesz,
		.address = header->p_vaddr,
		.memory_bytes = header->p_memsz,
		.executable = header->p_flags & PF_X,
	};

	if (header->p_type == PT_NOTE)
		return vec_push(&elf->notes, area);
	if (header->p_type != PT_LOAD && header->p_type != PT_GNU_EH_FRAME)
		return 0;
	/* A segment that wraps contains no usable address. */
	if (segment.file_bytes > UINT64_MAX - segment.file_offset ||
	    segment.file_bytes > UINT64_MAX - segment.address ||
	    segment.memory_bytes > UINT64_MAX - segment.address)
		return 0;
	if (header->p_type == PT_LOAD)
		return vec_push(&elf->segments, segment);
	elf->frame_header = segment;
	return 0;
}

static int segments_read(struct elf_file *elf, const Elf64_Ehdr *header, uint64_t count)
{
	AUTO_FREE void *table = NULL;
	const Elf64_Phdr *headers;
	int err;

	if (!count)
		return 0;
	if (header->e_phentsize != sizeof(*headers))
		return -EBADMSG;
	err = headers_read(elf->blob, header->e_phoff, count, sizeof(*headers), &table);
	if (err)
		return err;
	headers = table;
	for (uint64_t i = 0; i < count && !err; i++)
		err = segment_add(elf, &headers[i]);
	return err;
}

static int sections_read(struct elf_file *elf, const Elf64_Ehdr *header,
			 const struct header_counts *counts)
{
	AUTO_FREE void *table = NULL;
	const Elf64_Shdr *headers;
	int err;

	err = headers_read(elf->blob, header->e_shoff, counts->sections, sizeof(*headers), &table);
	if (err == -EBADMSG)
		return 0;
	if (err)
		return err;
	headers = table;
	if (vec_reserve(&elf->sections, counts->sections))
		return -ENOMEM;
	for (uint64_t i = 0; i < counts->sections; i++)
		elf->sections.data[i] = (struct elf_section){
			.name = headers[i].sh_name,
			.type = headers[i].sh_type,
			.flags = headers[i].sh_flags,
			.address = headers[i].sh_addr,
			.file_offset = headers[i].sh_offset,
			.size_bytes = headers[i].sh_size,
			.link = headers[i].sh_link,
			.info = headers[i].sh_info,
			.entry_bytes = headers[i].sh_entsize,
			.alignment = headers[i].sh_addralign,
		};
	elf->sections.size = counts->sections;
	if (counts->section_names < counts->sections &&
	    headers[counts->section_names].sh_type == SHT_STRTAB)
		elf->section_names = counts->section_names;
	return 0;
}

static int file_init(struct elf_file *ret, const struct blob *blob, bool relocatable)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {.blob = blob};
	struct header_counts counts;
	Elf64_Ehdr header;
	int err;

	err = header_read(blob, relocatable, &header);
	if (!err)
		err = header_counts_read(blob, &header, &counts);
	if (!err)
		err = segments_read(&elf, &header, counts.segments);
	if (!err)
		err = sections_read(&elf, &header, &counts);
	if (err)
		return err;
	elf.type = header.e_type;
	elf.machine = header.e_machine;
	elf.entry = header.e_entry;
	*ret = elf;
	elf = (struct elf_file){0};
	return 0;
}

int elf_file_init(struct elf_file *ret, const struct blob *blob)
{
	return file_init(ret, blob, false);
}

int elf_file_init_debug(struct elf_file *ret, const struct blob *blob)
{
	return file_init(ret, blob, true);
}

void elf_file_deinit(struct elf_file *elf)
{
	vec_deinit(&elf->segments);
	vec_deinit(&elf->notes);
	vec_deinit(&elf->sections);
	*elf = (struct elf_file){0};
}

bool elf_file_address(const struct elf_file *elf, uint64_t file_offset, uint64_t *ret)
{
	const struct elf_segment *found = NULL;

	vec_for_each (segment, &elf->segments) {
		if (file_offset < segment->file_offset ||
		    file_offset - segment->file_offset >= segment->file_bytes)
			continue;
		if (!found || (segment->executable && !found->executable))
			found = segment;
	}
	if (!found)
		return false;
	*ret = found->address + (file_offset - found->file_offset);
	return true;
}

bool elf_file_offset(const struct elf_file *elf, uint64_t address, uint64_t *ret)
{
	vec_for_each (segment, &elf->segments) {
		if (address < segment->address || address - segment->address >= segment->file_bytes)
			continue;
		*ret = segment->file_offset + (address - segment->address);
		return true;
	}
	return false;
}

const struct elf_section *elf_file_section(const struct elf_file *elf, const char *name)
{
	size_t wanted = strlen(name) + 1;
	const struct elf_section *names;
	char found[64];

	if (!elf->section_names || wanted > sizeof(found))
		return NULL;
	names = &elf->sections.data[elf->section_names];
	vec_for_each (section, &elf->sections) {
		if (section->name > names->size_bytes ||
		    wanted > names->size_bytes - section->name ||
		    names->file_offset > UINT64_MAX - section->name)
			continue;
		if (!blob_read(elf->blob, names->file_offset + section->name, found, wanted) &&
		    !memcmp(found, name, wanted))
			return section;
	}
	return NULL;
}
