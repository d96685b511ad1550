/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/recording/stack_tree.h"

int stack_tree_clear(struct stack_tree *tree)
{
	if (vec_reserve(&tree->nodes, JITBPF_STACK_ROOTS) ||
	    vec_reserve(&tree->is_kernel, JITBPF_STACK_ROOTS))
		return -ENOMEM;
	for (uint32_t i = 0; i < JITBPF_STACK_ROOTS; i++) {
		tree->nodes.data[i] = (struct stack_node){.parent = i};
		tree->is_kernel.data[i] = false;
	}
	tree->nodes.size = tree->is_kernel.size = JITBPF_STACK_ROOTS;
	tree->kernel_word = 0;
	return 0;
}

void stack_tree_deinit(struct stack_tree *tree)
{
	vec_deinit(&tree->nodes);
	vec_deinit(&tree->is_kernel);
}

uint64_t stack_tree_expected(const struct stack_tree *tree, uint32_t parent, bool is_kernel)
{
	const struct stack_node *node = &tree->nodes.data[parent];
	uint32_t child = node->last_child;

	if (child && tree->is_kernel.data[child] == is_kernel)
		return tree->nodes.data[child].word;
	return is_kernel && !tree->is_kernel.data[parent] ? tree->kernel_word : node->word;
}

int stack_tree_add(struct stack_tree *tree, uint32_t parent, uint64_t word, bool is_kernel,
		   uint32_t *ret)
{
	uint32_t number = (uint32_t)tree->nodes.size;
	struct stack_node node = {.word = word, .parent = parent};

	if (vec_reserve(&tree->nodes, number + 1) || vec_reserve(&tree->is_kernel, number + 1))
		return -ENOMEM;
	if (is_kernel && !tree->is_kernel.data[parent])
		tree->kernel_word = word;
	tree->nodes.data[parent].last_child = number;
	tree->nodes.data[number] = node;
	tree->is_kernel.data[number] = is_kernel;
	tree->nodes.size = tree->is_kernel.size = number + 1;
	*ret = number;
	return 0;
}
