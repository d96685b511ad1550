/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/runtimes/php/symbol_file.h"

#include <elf.h>
#include <string.h>

static int append(struct symbol_file *file, const void *bytes, size_t size_bytes)
{
	if (vec_reserve(&file->bytes, file->bytes.size + size_bytes))
		return -ENOMEM;
	memcpy(file->bytes.data + file->bytes.size, bytes, size_bytes);
	file->bytes.size += size_bytes;
	return 0;
}

int symbol_file_make(const struct runtime_symbol *symbols, size_t count, struct symbol_file *ret)
{
	Elf64_Shdr sections[3] = {
		{0},
		{.sh_type = SHT_DYNSYM, .sh_link = 2, .sh_entsize = sizeof(Elf64_Sym)},
		{.sh_type = SHT_STRTAB},
	};
	Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R};
	Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(head),
		.e_shoff = sizeof(head) + sizeof(segment),
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(segment),
		.e_phnum = 1,
		.e_shentsize = sizeof(*sections),
		.e_shnum = 3,
	};
	struct symbol_file file = {0}, names = {0};
	Elf64_Sym none = {0};
	int err = append(&names, "", 1);

	err = err ?: append(&file, &none, sizeof(none));
	for (size_t i = 0; i < count && !err; i++) {
		Elf64_Sym symbol = {
			.st_name = names.bytes.size,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = SHN_ABS,
			.st_value = symbols[i].address,
			.st_size = symbols[i].size_bytes,
		};

		if (!symbols[i].is_found)
			continue;
		err = append(&names, symbols[i].name, strlen(symbols[i].name) + 1);
		err = err ?: append(&file, &symbol, sizeof(symbol));
	}
	sections[1].sh_offset = sizeof(head) + sizeof(segment) + sizeof(sections);
	sections[1].sh_size = file.bytes.size;
	sections[2].sh_offset = sections[1].sh_offset + file.bytes.size;
	sections[2].sh_size = names.bytes.size;
	*ret = (struct symbol_file){0};
	err = err ?: append(ret, &head, sizeof(head));
	err = err ?: append(ret, &segment, sizeof(segment));
	err = err ?: append(ret, sections, sizeof(sections));
	err = err ?: append(ret, file.bytes.data, file.bytes.size);
	err = err ?: append(ret, names.bytes.data, names.bytes.size);
	vec_deinit(&file.bytes);
	vec_deinit(&names.bytes);
	return err;
}
