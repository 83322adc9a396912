#!/bin/sh
# Snapshots are what src/model/snapshot.schema.json says, by a validator that is not ours
# (python3-jsonschema), and the schema refuses what is not a snapshot.
. "$(dirname "$0")/lib.sh"

schema=$TEST_ROOT/src/model/snapshot.schema.json
run prints-schema 0 export --schema
cmp -s "$dir/out" "$schema" && ok the-program-carries-it || not_ok the-program-carries-it differs

python=
for try in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! "$try" -c 'import jsonschema' 2>/dev/null || python=$try
done
if [ -z "$python" ]; then
	echo "skip snapshots-are-valid: python3-jsonschema is not installed"
	exit 0
fi
validate() { "$python" "$TEST_ROOT/tests/cli/validate.py" "$@" 2>&1; }

snapshot() { # NAME ARG...
	name=$1
	shift
	run "$name" 0 export "$@" --backend emu --out "$dir/$name.json"
	same "$name-is-valid" valid "$(validate "$schema" "$dir/$name.json")"
	same "$name-every-key-is-described" valid "$(validate --closed "$schema" "$dir/$name.json")"
}
# of a GPU without optional figures: every key of it is required
snapshot sgemm sgemm/tiled M=64 N=64 K=64 --gpu rtx4090
snapshot streams vec_add N=65536 streams=4 chunks=8
snapshot divergent diverge --gpu rtx4090
for recording in "$TEST_ROOT"/presets/*/*.json; do
	same "recording-$(basename "$(dirname "$recording")")-$(basename "$recording" .json)-is-valid" \
		valid "$(validate --closed "$schema" "$recording")"
done
same schema-refuses '0 accepted of some 300' "$(validate --broken "$schema" "$dir/sgemm.json")"
