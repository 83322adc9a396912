/* For the files that need no main() of their own. */
#include "unit.h"

int main(void)
{
	return unit_run(NULL, NULL);
}
