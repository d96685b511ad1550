/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Much of the standard library for the compiler to inline. The program is never executed. */
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
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
	std::regex pattern("k([0-9]+)");
	std::smatch match;
	int total = 0;

	for (int i = 0; i < argc * 100; i++) {
		std::ostringstream out;

		out << argv[0] << i % 17;
		places[out.str()].push_back(i);
		names[out.str()] = std::make_shared<std::string>(out.str());
	}
	for (auto &[key, values] : places) {
		if (std::regex_match(key, match, pattern))
			total += std::stoi(match[1]);
		std::sort(values.begin(), values.end(), [](int a, int b) { return a % 7 < b % 7; });
		total += weight(values);
	}
	std::function<int(int)> add = [&](int x) { return x + total + first_points(x); };
	return add(words::count(names.size() ? names.begin()->first : ""));
}
