/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/elf_file.h"

#include <elf.h>
#include <string.h>

#include "base/scope.h"
#include "decode/elf/elf_widen.h"

static bool is_wide(const Elf64_Ehdr *header)
{
	return header->e_ident[EI_CLASS] == ELFCLASS64;
}

static int header_read(const struct blob *blob, bool any, Elf64_Ehdr *ret)
{
	int err = elf_header_read(blob, ret);

	if (err)
		return err;
	if (ret->e_ident[EI_DATA] != ELFDATA2LSB || ret->e_ident[EI_VERSION] != EV_CURRENT)
		return -ENOEXEC;
	if (!is_wide(ret) && !any)
		return -ENOEXEC;
	if (ret->e_machine != (is_wide(ret) ? EM_X86_64 : EM_386))
		return -ENOEXEC;
	if (ret->e_type == ET_EXEC || ret->e_type == ET_DYN)
		return 0;
	return any && ret->e_type == ET_REL ? 0 : -ENOEXEC;
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
	if (header->e_shentsize != (is_wide(header) ? sizeof(first) : sizeof(Elf32_Shdr)))
		return -EBADMSG;
	err = elf_sections_read(blob, is_wide(header), header->e_shoff, 1, &first);
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
	AUTO_FREE Elf64_Phdr *headers = NULL;
	size_t entry_bytes = is_wide(header) ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	int err;

	if (!count)
		return 0;
	if (header->e_phentsize != entry_bytes || count > ELF_HEADERS_MAX ||
	    !blob_has(elf->blob, header->e_phoff, count * entry_bytes))
		return -EBADMSG;
	headers = calloc(count, sizeof(*headers));
	if (!headers)
		return -ENOMEM;
	err = elf_segments_read(elf->blob, is_wide(header), header->e_phoff, count, headers);
	for (uint64_t i = 0; i < count && !err; i++)
		err = segment_add(elf, &headers[i]);
	return err;
}

static int sections_read(struct elf_file *elf, const Elf64_Ehdr *header,
			 const struct header_counts *counts)
{
	size_t entry_bytes = is_wide(header) ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	AUTO_FREE Elf64_Shdr *headers = NULL;
	int err;

	if (!counts->sections || counts->sections > ELF_HEADERS_MAX ||
	    !blob_has(elf->blob, header->e_shoff, counts->sections * entry_bytes))
		return 0;
	headers = calloc(counts->sections, sizeof(*headers));
	if (!headers)
		return -ENOMEM;
	err = elf_sections_read(elf->blob, is_wide(header), header->e_shoff, counts->sections,
				headers);
	if (err)
		return err == -EBADMSG ? 0 : err;
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

/* any: also 32-bit files, and ET_REL. */
static int file_init(struct elf_file *ret, const struct blob *blob, bool any)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {.blob = blob};
	struct header_counts counts;
	Elf64_Ehdr header;
	int err;

	err = header_read(blob, any, &header);
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

int elf_file_init_any(struct elf_file *ret, const struct blob *blob)
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
