/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A second compilation unit. */
#include <iterator>
#include <set>
#include <sstream>

#include "tests/oracles/symbols/words.h"

static bool matters(const std::string &word)
{
	return word.size() > 2 && word.find_first_not_of("0123456789") != std::string::npos;
}

int words::count(const std::string &text)
{
	std::istringstream in(text);
	std::set<std::string> seen(std::istream_iterator<std::string>{in}, {});
	int count = 0;

	for (const std::string &word : seen)
		count += matters(word);
	return count;
}
