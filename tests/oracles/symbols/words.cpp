/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Much of the standard library for the compiler to inline. The program is never executed.
 * WITHOUT_REGEX: a sixth of it, which is compiled in a quarter of the time.
 */
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#ifndef WITHOUT_REGEX
#include <regex>
#endif
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/oracles/symbols/words.h"

namespace
{
struct point {
	double x, y;

	double norm() const
	{
		return x * x + y * y;
	}
};

int weight(const std::vector<int> &values)
{
	int sum = 0;

	for (int value : values)
		sum += value * 3;
	return sum;
}

#ifdef WITHOUT_REGEX
int number_in(const std::string &key)
{
	auto digit =
		std::find_if(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });

	return digit == key.end() ? 0 : std::stoi(std::string(digit, key.end()));
}
#else
int number_in(const std::string &key)
{
	static const std::regex pattern("k([0-9]+)");
	std::smatch match;

	return std::regex_match(key, match, pattern) ? std::stoi(match[1]) : 0;
}
#endif

int first_points(int count)
{
	std::vector<point> points;

	for (int i = 0; i < count; i++)
		points.push_back({i * 1.0, count * 2.0});
	std::stable_sort(points.begin(), points.end(),
			 [](const auto &a, const auto &b) { return a.norm() < b.norm(); });
	return points.empty() ? 0 : (int)points[0].norm();
}
} // namespace

int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> places;
	std::unordered_map<std::string, std::shared_ptr<std::string>> names;
	int total = 0;

	for (int i = 0; i < argc * 100; i++) {
		std::ostringstream out;

		out << argv[0] << i % 17;
		places[out.str()].push_back(i);
		names[out.str()] = std::make_shared<std::string>(out.str());
	}
	for (auto &[key, values] : places) {
		total += number_in(key);
		std::sort(values.begin(), values.end(), [](int a, int b) { return a % 7 < b % 7; });
		total += weight(values);
	}
	std::function<int(int)> add = [&](int x) { return x + total + first_points(x); };
	return add(words::count(names.size() ? names.begin()->first : ""));
}
