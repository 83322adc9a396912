# Sourced by the scripts that fetch wheels from PyPI: how they end with a message, and fetch.
# $who is the script's name in messages, $log takes pip's words.

have_command() { command -v "$1" >/dev/null 2>&1; }
have_pip() { have_command python3 && python3 -m pip --version >/dev/null 2>&1; }

# die REASON [REMEDY]...
die() {
	printf '%s: %s\n' "$who" "$1" >&2
	shift
	for line; do printf '%*s  %s\n' ${#who} '' "$line" >&2; done
	exit 1
}

# on_linux_x86_64 WHAT [LINE]...: or what the wheels would have been for
on_linux_x86_64() {
	machine=$(uname -s)-$(uname -m)
	[ "$machine" != Linux-x86_64 ] || return 0
	reason="$1 pinned for Linux-x86_64 only, and this is $machine."
	shift
	die "$reason" "$@"
}

# need_pip WHAT
need_pip() {
	have_pip || die "python3 with pip is needed to fetch $1. Run this, then make again:" \
		"  apt-get install python3 python3-pip"
}

# pip_into FOLDER REQUIREMENTS: what they name, unpacked.
pip_into() {
	PIP_USER=0 PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet \
		--disable-pip-version-check --no-input --no-deps --no-compile --only-binary :all: \
		--require-hashes --no-warn-conflicts --target "$1" -r "$2" >"$log" 2>&1 </dev/null
}

# The same, or the last words of pip and no folder.
pip_into_or_say() {
	pip_into "$@" && return
	grep -v '^WARNING: Retrying' "$log" | tail -n 12 >&2
	rm -rf "$1"
	return 1
}
