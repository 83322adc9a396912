/* --races and --no-races: where the emulator looks for them. */
#include "cli/cli.h"

bool cli_races(const struct race_options *o, enum race_check *out, struct err *err)
{
	*out = o->none ? RACES_OFF : o->all ? RACES_ALL : RACES_USUAL;
	if (!o->none || !o->all)
		return true;
	err_set(err, ERR_USAGE, "--races and --no-races: races are looked for or they are not");
	return err_remedy(err, "leave one of them out");
}
