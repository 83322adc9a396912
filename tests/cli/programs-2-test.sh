#!/bin/sh
# Whole programs, every fourth from number 2 on; see programs.sh.
part=2
. "$(dirname "$0")/programs.sh"
