// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits this process for the rest of its life: it can compute, use the standard descriptors, and exit. It ends the
// process if a limit cannot be set; a kernel without seccomp(2) is no reason to.
void sandbox_enter(void);
