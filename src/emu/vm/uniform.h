/* Handlers of scalar registers and predicates; see uniform.c. */
#ifndef PMPP_EMU_UNIFORM_H
#define PMPP_EMU_UNIFORM_H

#include "emu/vm/emu_vm.h"

extern const struct handler uniform_ops[E_COUNT], uniform_pred[4], uniform_select, uniform_clock;

#endif
