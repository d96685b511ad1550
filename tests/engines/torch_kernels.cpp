/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * torch_kernels SECONDS: operators of PyTorch, each for so much CPU time, of which oneDNN's
 * kernels do the work. In C++: PyPI's Python module also needs 3 GB of libraries for GPUs.
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>

using Linear = at::Tensor(const at::Tensor &, const at::Tensor &, const std::optional<at::Tensor> &,
			  c10::string_view, c10::List<std::optional<at::Scalar>>,
			  std::optional<c10::string_view>);

static double seconds;

template <class Work> static void repeat(const char *name, Work work)
{
	clock_t end = clock() + static_cast<clock_t>(seconds * CLOCKS_PER_SEC);
	long times = 0;

	for (; clock() < end; times++)
		work();
	printf("%s: %ld times\n", name, times);
}

static void convolve(at::ScalarType type)
{
	at::Tensor image = at::rand({1, 64, 56, 56}).to(type);
	at::Tensor weights = at::rand({64, 64, 3, 3}).to(type);
	const int64_t ones[] = {1, 1};

	repeat("convolution", [&] { at::conv2d(image, weights, at::Tensor(), ones, ones); });
}

/* What torch.compile() makes of a linear layer and the function behind it. */
static void fused(const char *name, c10::string_view function, c10::string_view variant,
		  at::ScalarType type)
{
	auto linear = c10::Dispatcher::singleton()
			      .findSchemaOrThrow("mkldnn::_linear_pointwise", "")
			      .typed<Linear>();
	at::Tensor input = at::rand({256, 512}).to(type), weights = at::rand({512, 512}).to(type);
	c10::List<std::optional<at::Scalar>> none;

	repeat(name, [&] { linear.call(input, weights, {}, function, none, variant); });
}

int main(int, char **argv)
{
	c10::InferenceMode inference;
	at::Tensor values = at::rand({64, 1024}).to_mkldnn();

	seconds = atof(argv[1]);
	at::set_num_threads(1);
	convolve(at::kFloat);
	fused("gelu", "gelu", "none", at::kFloat);
	fused("gelu by tanh", "gelu", "tanh", at::kFloat);
	fused("swish", "swish", "", at::kFloat);
	repeat("eltwise", [&] { at::gelu(values); });
	return 0;
}
