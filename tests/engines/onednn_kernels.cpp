/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * onednn_kernels SECONDS: runs kernels of oneDNN 2 or 3 that realign the stack, or move it into a
 * workspace, and some that do neither. Each runs for so much CPU time. One thread.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unordered_map>
#include <vector>

#include <dnnl.hpp>

using namespace dnnl;
using type = memory::data_type;
using tag = memory::format_tag;

static const engine eng(engine::kind::cpu, 0);
static double seconds;

template <class Work> static void repeat(const char *name, Work work)
{
	clock_t end = clock() + static_cast<clock_t>(seconds * CLOCKS_PER_SEC);
	long times = 0;

	for (; clock() < end; times++)
		work();
	printf("%s: %ld times\n", name, times);
}

template <class Primitive, class... Arguments>
static typename Primitive::primitive_desc describe(const primitive_attr &attributes,
						   Arguments... arguments)
{
#if DNNL_VERSION_MAJOR >= 3
	return typename Primitive::primitive_desc(eng, arguments..., attributes);
#else
	return typename Primitive::primitive_desc(typename Primitive::desc(arguments...),
						  attributes, eng);
#endif
}

template <class Primitive>
static void run(const char *name, const typename Primitive::primitive_desc &description)
{
	static const int numbers[] = {DNNL_ARG_SRC,	   DNNL_ARG_WEIGHTS,	  DNNL_ARG_DST,
				      DNNL_ARG_SRC_ITER,   DNNL_ARG_WEIGHTS_ITER, DNNL_ARG_DST_ITER,
				      DNNL_ARG_SRC_ITER_C, DNNL_ARG_DST_ITER_C,	  DNNL_ARG_BIAS};
	std::unordered_map<int, memory> arguments;
	Primitive primitive(description);
	stream s(eng);

	for (int number : numbers) {
		memory::desc desc = description.query_md(query::exec_arg_md, number);

		if (!desc.get_size())
			continue;
		arguments[number] = memory(desc, eng);
		memset(arguments[number].get_data_handle(), 0, desc.get_size());
	}
	repeat(name, [&] {
		primitive.execute(s, arguments);
		s.wait();
	});
}

static memory::desc any(const memory::dims &dims, type t)
{
	return memory::desc(dims, t, tag::any);
}

/* A matrix multiplication with a function of its result, whose code realigns the stack. */
static void multiply(const char *name, algorithm function, type t)
{
	primitive_attr attributes;
	post_ops operations;

#if DNNL_VERSION_MAJOR >= 3
	operations.append_eltwise(function, 1.0f, 0.0f);
#else
	operations.append_eltwise(1.0f, function, 1.0f, 0.0f);
#endif
	attributes.set_post_ops(operations);
	run<matmul>(name, describe<matmul>(attributes, any({256, 128}, t), any({128, 256}, t),
					   any({256, 256}, t)));
}

static void convolve(type t, type weights)
{
	memory::dims ones = {1, 1};

	run<convolution_forward>(
		"convolution",
		describe<convolution_forward>(primitive_attr(), prop_kind::forward_inference,
					      algorithm::convolution_direct,
					      any({1, 64, 28, 28}, t), any({64, 64, 3, 3}, weights),
					      any({1, 64, 28, 28}, t), ones, ones, ones));
}

static void recur()
{
	memory::dim times = 8, batch = 16, channels = 128;
	memory::dims state = {1, 1, batch, channels}, weights = {1, 1, channels, 4, channels};

	run<lstm_forward>("lstm",
			  describe<lstm_forward>(primitive_attr(), prop_kind::forward_inference,
						 rnn_direction::unidirectional_left2right,
						 any({times, batch, channels}, type::f32),
						 any(state, type::f32), any(state, type::f32),
						 any(weights, type::f32), any(weights, type::f32),
						 any({1, 1, 4, channels}, type::f32),
						 any({times, batch, channels}, type::f32),
						 any(state, type::f32), any(state, type::f32)));
}

/* The kernel with AVX-512 has 150 kB of code or more, and moves rsp. */
static void multiply_large()
{
	memory::dim n = 240;
	std::vector<float> a(n * n), b(n * n), c(n * n);

	repeat("sgemm", [&] {
		sgemm('N', 'N', n, n, n, 1.0f, a.data(), n, b.data(), n, 0.0f, c.data(), n);
	});
}

int main(int, char **argv)
{
	seconds = atof(argv[1]);
	multiply_large();
	multiply("gelu", algorithm::eltwise_gelu_erf, type::f32);
	multiply("gelu by tanh", algorithm::eltwise_gelu_tanh, type::f32);
	multiply("swish", algorithm::eltwise_swish, type::f32);
	convolve(type::f32, type::f32);
	convolve(type::u8, type::s8);
	recur();
	return 0;
}
