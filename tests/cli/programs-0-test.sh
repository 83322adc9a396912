#!/bin/sh
# Whole programs, every fourth from number 0 on; see programs.sh.
part=0
. "$(dirname "$0")/programs.sh"
