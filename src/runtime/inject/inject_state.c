/* The one of the process; see inject.h. */
#include "runtime/inject/inject.h"

struct inject inject;
