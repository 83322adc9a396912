#!/bin/sh
# Whole programs, every fourth from number 3 on; see programs.sh.
part=3
. "$(dirname "$0")/programs.sh"
