/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JITBPF_TESTS_WORDS_H
#define JITBPF_TESTS_WORDS_H

#include <string>

namespace words
{
int count(const std::string &text);
}

#endif
