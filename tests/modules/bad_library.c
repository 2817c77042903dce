/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that is no engine. */
__attribute__((visibility("default"))) int bad_library_answer(void);
int
bad_library_answer(void)
{
	return 42;
}
