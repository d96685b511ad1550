/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Primitives of oneDNN 2 and 3 that a workload creates anew and runs. With the primitive cache
 * off, which kernels are generated depends on the processor: a matmul has kernels of its own with
 * AVX-512 only, and shares a few for the whole process with less. An element-wise function has a
 * kernel of its own on every processor with SSE 4.1.
 */
#ifndef JITBPF_WORKLOADS_ONEDNN_PRIMITIVES_H
#define JITBPF_WORKLOADS_ONEDNN_PRIMITIVES_H

#include <dnnl.hpp>

static inline dnnl::memory filled(const dnnl::memory::desc &desc, const dnnl::engine &eng)
{
	dnnl::memory mem(desc, eng);
	float *data = static_cast<float *>(mem.get_data_handle());

	for (size_t i = 0; i < desc.get_size() / sizeof(float); i++)
		data[i] = static_cast<float>(i % 7);
	return mem;
}

/* Multiplies an m by k matrix with a k by n matrix, some times. */
static inline void multiply(const dnnl::engine &eng, dnnl::stream &s, dnnl::memory::dim m,
			    dnnl::memory::dim n, dnnl::memory::dim k, int times)
{
	using namespace dnnl;
	memory::desc a({m, k}, memory::data_type::f32, memory::format_tag::ab);
	memory::desc b({k, n}, memory::data_type::f32, memory::format_tag::ab);
	memory::desc c({m, n}, memory::data_type::f32, memory::format_tag::ab);
#if DNNL_VERSION_MAJOR >= 3
	matmul::primitive_desc desc(eng, a, b, c);
#else
	matmul::primitive_desc desc(matmul::desc(a, b, c), eng);
#endif
	matmul primitive(desc);
	memory ma = filled(a, eng), mb = filled(b, eng), mc = filled(c, eng);

	for (int i = 0; i < times; i++)
		primitive.execute(s,
				  {{DNNL_ARG_SRC, ma}, {DNNL_ARG_WEIGHTS, mb}, {DNNL_ARG_DST, mc}});
	s.wait();
}

/* Computes tanh of an m by n matrix, some times. */
static inline void activate(const dnnl::engine &eng, dnnl::stream &s, dnnl::memory::dim m,
			    dnnl::memory::dim n, int times)
{
	using namespace dnnl;
	memory::desc md({m, n}, memory::data_type::f32, memory::format_tag::ab);
#if DNNL_VERSION_MAJOR >= 3
	eltwise_forward::primitive_desc desc(eng, prop_kind::forward_inference,
					     algorithm::eltwise_tanh, md, md);
#else
	eltwise_forward::primitive_desc desc(
		eltwise_forward::desc(prop_kind::forward_inference, algorithm::eltwise_tanh, md),
		eng);
#endif
	eltwise_forward primitive(desc);
	memory src = filled(md, eng), dst = filled(md, eng);

	for (int i = 0; i < times; i++)
		primitive.execute(s, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
	s.wait();
}

#endif
