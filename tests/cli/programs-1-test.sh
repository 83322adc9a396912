#!/bin/sh
# Whole programs, every fourth from number 1 on; see programs.sh.
part=1
. "$(dirname "$0")/programs.sh"
